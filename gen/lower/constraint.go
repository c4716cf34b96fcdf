package lower

import (
	"crypto/sha256"
	"encoding/hex"
	"go/ast"
	"go/build"
	"go/build/constraint"
	"go/token"
	"go/types"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/tools/go/packages"
)

// oldestGo is the minor version of Go that this module asks for. Whoever builds generated
// code has it, so constraints such as go1.21 always hold.
const oldestGo = 26

// always reports whether a tag is set in all builds of generated code.
func always(tag string) bool {
	minor, ok := strings.CutPrefix(tag, "go1.")
	n, err := strconv.Atoi(minor)
	return ok && err == nil && n <= oldestGo
}

// simplified leaves out of x the tags that are always set. The second result is whether x
// always holds; if it never does, both are zero.
func simplified(x constraint.Expr) (constraint.Expr, bool) {
	switch x := x.(type) {
	case *constraint.TagExpr:
		if always(x.Tag) {
			return nil, true
		}
	case *constraint.NotExpr:
		y, holds := simplified(x.X)
		if y == nil {
			return nil, !holds
		}
		return &constraint.NotExpr{X: y}, false
	case *constraint.AndExpr:
		a, holdsA := simplified(x.X)
		b, holdsB := simplified(x.Y)
		switch {
		case holdsA:
			return b, holdsB
		case holdsB:
			return a, false
		case a == nil || b == nil:
			return nil, false
		}
		return &constraint.AndExpr{X: a, Y: b}, false
	case *constraint.OrExpr:
		a, holdsA := simplified(x.X)
		b, holdsB := simplified(x.Y)
		switch {
		case holdsA || holdsB:
			return nil, true
		case a == nil:
			return b, false
		case b == nil:
			return a, false
		}
		return &constraint.OrExpr{X: a, Y: b}, false
	}
	return x, false
}

// conjuncts appends the operands of the conjunction x to list, each once and without those
// that always hold.
func conjuncts(list []constraint.Expr, x constraint.Expr) []constraint.Expr {
	if x == nil {
		return list
	}
	if and, ok := x.(*constraint.AndExpr); ok {
		return conjuncts(conjuncts(list, and.X), and.Y)
	}
	if x, _ = simplified(x); x == nil {
		return list
	}
	if and, ok := x.(*constraint.AndExpr); ok {
		return conjuncts(list, and)
	}
	if !slices.ContainsFunc(list, func(y constraint.Expr) bool { return x.String() == y.String() }) {
		list = append(list, x)
	}
	return list
}

// conjunction returns the constraint under which all of the list hold, as text that does
// not depend on their order. It is empty for none.
func conjunction(list ...constraint.Expr) string {
	var all []constraint.Expr
	for _, x := range list {
		all = conjuncts(all, x)
	}
	if len(all) == 0 {
		return ""
	}
	slices.SortFunc(all, func(x, y constraint.Expr) int { return strings.Compare(x.String(), y.String()) })
	out := all[0]
	for _, x := range all[1:] {
		out = &constraint.AndExpr{X: out, Y: x}
	}
	return out.String()
}

// fileConstraint returns the constraint on a file of a package: that of its comments and
// that of its name. It is nil for a file of every build.
func (p *Program) fileConstraint(f *ast.File) constraint.Expr {
	text := headerConstraint(f)
	name := nameConstraint(filepath.Base(p.fset.Position(f.Package).Filename))
	switch {
	case text == nil:
		return name
	case name == nil:
		return text
	}
	return &constraint.AndExpr{X: text, Y: name}
}

// headerConstraint returns the constraint that the comments above the package clause of a
// file set, and nil if there is none. Go reads lines // +build only without //go:build.
func headerConstraint(f *ast.File) constraint.Expr {
	var plus constraint.Expr
	for _, g := range f.Comments {
		if g.Pos() > f.Package {
			break
		}
		for _, c := range g.List {
			x, err := constraint.Parse(c.Text)
			switch {
			case err != nil:
			case constraint.IsGoBuild(c.Text):
				return x
			case g == f.Doc: // no blank line follows
			case plus == nil:
				plus = x
			default:
				plus = &constraint.AndExpr{X: plus, Y: x}
			}
		}
	}
	return plus
}

// nameConstraint returns the constraint that the name of a file sets, such as linux for
// file_linux.go, and nil if there is none.
func nameConstraint(name string) constraint.Expr {
	name, _, _ = strings.Cut(name, ".")
	_, name, _ = strings.Cut(name, "_")
	parts := strings.Split(strings.TrimSuffix("_"+name, "_test"), "_")
	last, before := parts[len(parts)-1], ""
	if len(parts) > 1 {
		before = parts[len(parts)-2]
	}
	switch {
	case isArchitecture(last) && isSystem(before):
		return &constraint.AndExpr{X: &constraint.TagExpr{Tag: before}, Y: &constraint.TagExpr{Tag: last}}
	case isArchitecture(last) || isSystem(last):
		return &constraint.TagExpr{Tag: last}
	}
	return nil
}

// isSystem reports whether Go knows a word as an operating system.
func isSystem(word string) bool {
	return word != "" && !compiled(word, "none", "none") && !isArchitecture(word)
}

// isArchitecture reports whether Go knows a word as a processor architecture: only before
// one of these does the name of a system count too.
func isArchitecture(word string) bool {
	return word != "" && !compiled(word, "none", "none") && !compiled("linux_"+word, "none", word)
}

// compiled reports whether a file with words at the end of its name is compiled for a system
// and an architecture, as package go/build has it.
func compiled(words, system, arch string) bool {
	c := build.Context{GOOS: system, GOARCH: arch, Compiler: "gc", OpenFile: func(string) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader("package p\n")), nil
	}}
	ok, err := c.MatchFile(".", "x_"+words+".go")
	return ok && err == nil
}

// A site is where an object of a package is declared.
type site struct {
	pkg  *packages.Package
	file *ast.File
	node ast.Node // the whole group of a constant, whose values may be repeated ones
	fn   *ast.FuncDecl
}

// site returns where an object is declared. It is zero for objects of no package scope and
// for those of the standard library, which means the same in every build.
func (p *Program) site(o types.Object) site {
	if o == nil || o.Pkg() == nil {
		return site{}
	}
	pkg := p.loaded[o.Pkg().Path()]
	if pkg == nil || pkg.Types != o.Pkg() || !p.indexed[pkg] {
		return site{}
	}
	if p.sites[pkg] == nil {
		p.sites[pkg] = sitesOf(pkg)
	}
	return p.sites[pkg][o]
}

func sitesOf(pkg *packages.Package) map[types.Object]site {
	out := map[types.Object]site{}
	add := func(id *ast.Ident, s site) {
		if o := pkg.TypesInfo.Defs[id]; o != nil {
			out[o] = s
		}
	}
	for _, f := range pkg.Syntax {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				add(d.Name, site{pkg, f, nil, d})
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						add(spec.Name, site{pkg, f, spec, nil})
					case *ast.ValueSpec:
						s := site{pkg, f, spec, nil}
						if d.Tok.String() == "const" {
							s.node = d
						}
						for _, id := range spec.Names {
							add(id, s)
						}
					}
				}
			}
		}
	}
	return out
}

// contributors finds the files that the meaning of a function depends on.
type contributors struct {
	p       *Program
	files   []*ast.File
	objects map[types.Object]bool
	entries map[*entry]bool
	decls   map[*decl]bool
}

func (c *contributors) file(f *ast.File) {
	if !slices.Contains(c.files, f) {
		c.files = append(c.files, f)
	}
}

// entry adds a function that was lowered, with all that it calls.
func (c *contributors) entry(e *entry) {
	if e == nil || c.entries[e] {
		return
	}
	c.entries[e] = true
	if e.f.Object != nil {
		c.object(e.f.Object)
	}
	for _, d := range e.sources {
		c.object(d.fn)
		if !c.decls[d] {
			c.decls[d] = true
			c.node(d.pkg, d.node)
		}
	}
	for _, to := range e.calls {
		c.entry(to.entry)
	}
}

// node adds what the source of a declaration names.
func (c *contributors) node(pkg *packages.Package, n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			c.object(pkg.TypesInfo.Uses[id])
		}
		return true
	})
}

// object adds the declaration of an object. The body of a function counts where it was
// lowered; of others, which are called as they are, only the declaration does.
func (c *contributors) object(o types.Object) {
	if fn, ok := o.(*types.Func); ok {
		o = fn.Origin()
	}
	if o == nil || c.objects[o] {
		return
	}
	c.objects[o] = true
	s := c.p.site(o)
	if s.file == nil {
		return
	}
	c.file(s.file)
	if s.fn == nil {
		c.node(s.pkg, s.node)
		return
	}
	if s.fn.Recv != nil {
		c.node(s.pkg, s.fn.Recv)
	}
	c.node(s.pkg, s.fn.Type)
	if w := c.p.rules[o.(*types.Func)]; w != nil && !w.shipped {
		// Derivatives by hand are derived again, and what the function writes matters.
		for _, fn := range []*types.Func{o.(*types.Func), w.tangent, w.pullback} {
			if fn != nil {
				c.object(fn)
				c.entry(c.p.entries[instanceKey(fn, nil)])
			}
		}
	}
}

// Constraint returns the build constraint under which what [Program.Func] lowers for a target
// means what it means in this build, as //go:build has it, and whatever the target was found
// in is there. It is empty if that is so in every build.
//
// It is the conjunction of the constraints of all files that contribute: of functions that
// are lowered and of everything that they name, in whatever module. Functions with rules that
// come with nabla, and the standard library, are the same in every build.
func (p *Program) Constraint(t Target) string {
	c := &contributors{p: p, objects: map[types.Object]bool{}, entries: map[*entry]bool{}, decls: map[*decl]bool{}}
	fn := t.Func.Origin()
	c.object(fn)
	c.entry(p.entries["rule "+fn.FullName()])
	c.entry(p.entries[instanceKey(fn, t.TypeArgs)])
	for _, arg := range t.TypeArgs {
		walkType(arg, map[types.Type]bool{}, func(u types.Type) {
			if n, ok := u.(*types.Named); ok {
				c.object(n.Origin().Obj())
			}
		})
	}
	var list []constraint.Expr
	for _, f := range c.files {
		list = append(list, p.fileConstraint(f))
	}
	return conjunction(append(list, t.where)...)
}

var (
	goBuild       = regexp.MustCompile(`(?m)^//go:build .*$`)
	packageClause = regexp.MustCompile(`(?m)^package\b`)
)

// constraintLine returns the line with the build constraint of a generated file, which may
// be broken, with a blank line behind; empty if there is none.
func constraintLine(text []byte) string {
	if i := packageClause.FindIndex(text); i != nil {
		text = text[:i[0]]
	}
	line := strings.TrimSpace(string(goBuild.Find(text)))
	if _, err := constraint.Parse(line); err != nil {
		return ""
	}
	return line + "\n\n"
}

// TwinOf returns the name of the file with the same functions in vectors.
func TwinOf(name string) string { return strings.TrimSuffix(name, ".go") + twinSuffix }

// An OutputFile is where generated code for the builds that a constraint selects goes to.
type OutputFile struct {
	Name string // without directory
	// Suffix is behind the names in the file that are not promised to users: files for
	// different builds may meet in one.
	Suffix string
}

// OutputFor returns the file for a build constraint. An empty one stands for all builds.
func OutputFor(text string) OutputFile {
	if text == "" {
		return OutputFile{Name: Output}
	}
	words := literals(text)
	if words == nil {
		sum := sha256.Sum256([]byte(text))
		words = []string{"x" + hex.EncodeToString(sum[:4])}
	}
	base, suffix := outputPrefix+strings.Join(words, "-"), "For"
	for _, w := range words {
		between := func(r rune) bool { return !token.IsIdentifier("a"+string(r)) || r == '_' }
		for part := range strings.FieldsFuncSeq(w, between) {
			suffix += strings.ToUpper(part[:1]) + part[1:]
		}
	}
	return OutputFile{Name: base + ".go", Suffix: suffix}
}

// literals returns the words of a short conjunction of tags and negated tags, such as not,
// race, unix for !race && unix. It is nil for other constraints, and for tags that would
// make two constraints have the same words or one file name.
func literals(text string) (words []string) {
	const most = 4 // a name is to be read
	parts := strings.Split(text, " && ")
	if len(parts) > most {
		return nil
	}
	for _, part := range parts {
		tag := strings.TrimPrefix(part, "!")
		if tag == "not" || strings.ContainsFunc(tag, func(r rune) bool {
			return r > unicode.MaxASCII || unicode.IsUpper(r) || strings.ContainsRune("!&|() ", r)
		}) {
			return nil
		}
		if tag != part {
			words = append(words, "not")
		}
		words = append(words, tag)
	}
	return words
}
