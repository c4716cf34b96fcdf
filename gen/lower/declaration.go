package lower

import (
	"cmp"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// A declarationSite is a declared function with the range of its declaration in a file.
type declarationSite struct {
	*decl
	from, to token.Position
}

// Declaration returns the function that is declared at a position of a statement: its package, its name in the package
// as package runtime has it, F, T.M or (*T).M, and the line of its declaration. Statements of function literals belong
// to the declaration around them; those in the initial value of a package variable, to init. pkg is nil if no package
// has the file.
func (p *Program) Declaration(at token.Position) (pkg *packages.Package, name string, line int) {
	if n := len(p.decls) + len(p.portables); p.declarationSites == nil || p.sitesOf != n {
		p.findDeclarationSites()
		p.sitesOf = n
	}
	list := p.declarationSites[at.Filename]
	var found *declarationSite
	for i := range list { // in ascending order: a literal in a variable follows what is around it
		if s := &list[i]; comparePositions(s.from, at) <= 0 && comparePositions(at, s.to) < 0 {
			found = s
		}
	}
	if found == nil {
		for _, pkg := range p.loaded {
			if slices.Contains(pkg.GoFiles, at.Filename) {
				return pkg, "init", at.Line
			}
		}
		return nil, "", 0
	}
	return found.pkg, runtimeName(found.fn), found.from.Line
}

// findDeclarationSites orders the declared functions by files and positions.
func (p *Program) findDeclarationSites() {
	p.declarationSites = map[string][]declarationSite{}
	add := func(d *decl) {
		s := declarationSite{d, p.fset.Position(d.node.Pos()), p.fset.Position(d.node.End())}
		p.declarationSites[s.from.Filename] = append(p.declarationSites[s.from.Filename], s)
	}
	for _, d := range p.decls {
		add(d)
	}
	for _, of := range p.portables {
		for _, d := range of {
			add(d)
		}
	}
	for _, list := range p.declarationSites {
		slices.SortFunc(list, func(a, b declarationSite) int {
			return cmp.Or(comparePositions(a.from, b.from), comparePositions(b.to, a.to),
				strings.Compare(a.fn.FullName(), b.fn.FullName()))
		})
	}
}

// runtimeName returns the name of a function in its package as package runtime has it: F, T.M or (*T).M.
func runtimeName(fn *types.Func) string {
	name := fn.Name()
	if r := fn.Signature().Recv(); r != nil {
		t := types.Unalias(r.Type())
		p, pointer := t.(*types.Pointer)
		if pointer {
			t = types.Unalias(p.Elem())
		}
		if n, ok := t.(*types.Named); ok {
			if name = n.Obj().Name() + "." + name; pointer {
				name = "(*" + n.Obj().Name() + ")." + fn.Name()
			}
		}
	}
	return name
}
