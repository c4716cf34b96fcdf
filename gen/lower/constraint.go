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

	"github.com/nabla-ad/nabla/gen/ir"
)

// Build constraints of targets. A target may be generated under one constraint only if all files
// that determine its meaning hold under it; this file collects those files and builds the
// conjunction.

// oldestGo is the minor version of Go that this module requires. Builds of generated code have at
// least it, so constraints such as go1.21 always hold.
const oldestGo = 26

// alwaysSet reports whether a tag is set in all builds of generated code.
func alwaysSet(tag string) bool {
	minor, ok := strings.CutPrefix(tag, "go1.")
	n, err := strconv.Atoi(minor)
	return ok && err == nil && n <= oldestGo
}

// simplify returns x without the tags that are always set, and whether x always holds. If it always
// or never holds, the expression is nil.
func simplify(x constraint.Expr) (constraint.Expr, bool) {
	switch x := x.(type) {
	case *constraint.TagExpr:
		if alwaysSet(x.Tag) {
			return nil, true
		}
	case *constraint.NotExpr:
		y, holds := simplify(x.X)
		if y == nil {
			return nil, !holds
		}
		return &constraint.NotExpr{X: y}, false
	case *constraint.AndExpr:
		a, holdsA := simplify(x.X)
		b, holdsB := simplify(x.Y)
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
		a, holdsA := simplify(x.X)
		b, holdsB := simplify(x.Y)
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

// conjuncts appends the operands of the conjunction x to list, without repetition and without those
// that always hold.
func conjuncts(list []constraint.Expr, x constraint.Expr) []constraint.Expr {
	if x == nil {
		return list
	}
	if and, ok := x.(*constraint.AndExpr); ok {
		return conjuncts(conjuncts(list, and.X), and.Y)
	}
	if x, _ = simplify(x); x == nil {
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

// conjunction returns the conjunction of the list as text that does not depend on the order of the
// list, empty for no constraint.
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

// fileConstraint returns the constraint of a file: that of its comments and that of its name. It is
// nil for a file that is part of every build.
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

// headerConstraint returns the constraint in the comments above the package clause, or nil. Lines
// // +build count only if there is no //go:build.
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

// nameConstraint returns the constraint that the name of a file implies, such as linux for
// file_linux.go, or nil.
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

// isSystem reports whether go/build knows a word as an operating system.
func isSystem(word string) bool {
	return word != "" && !compiled(word, "none", "none") && !isArchitecture(word)
}

// isArchitecture reports whether go/build knows a word as an architecture. The name of a system is
// a constraint before one of these too.
func isArchitecture(word string) bool {
	return word != "" && !compiled(word, "none", "none") && !compiled("linux_"+word, "none", word)
}

// compiled reports whether go/build includes a file whose name ends in words for a system and an
// architecture.
func compiled(words, system, arch string) bool {
	c := build.Context{GOOS: system, GOARCH: arch, Compiler: "gc", OpenFile: func(string) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader("package p\n")), nil
	}}
	ok, err := c.MatchFile(".", "x_"+words+".go")
	return ok && err == nil
}

// A declSite is the place of the declaration of a package-level object.
type declSite struct {
	pkg  *packages.Package
	file *ast.File
	node ast.Node // the specification; for a constant its group, whose values may be implicit repetitions
	fn   *ast.FuncDecl
}

// declSiteOf returns the site of o. It is zero for objects that are not package-level and for those
// of the standard library, which mean the same in every build.
func (p *Program) declSiteOf(o types.Object) declSite {
	if o == nil || o.Pkg() == nil {
		return declSite{}
	}
	pkg := p.loaded[o.Pkg().Path()]
	if pkg == nil || pkg.Types != o.Pkg() || !p.indexed[pkg] {
		return declSite{}
	}
	if p.sites[pkg] == nil {
		p.sites[pkg] = sitesOf(pkg)
	}
	return p.sites[pkg][o]
}

// sitesOf returns the declaration sites of the package-level objects of a package.
func sitesOf(pkg *packages.Package) map[types.Object]declSite {
	out := map[types.Object]declSite{}
	add := func(id *ast.Ident, s declSite) {
		if o := pkg.TypesInfo.Defs[id]; o != nil {
			out[o] = s
		}
	}
	for _, f := range pkg.Syntax {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				add(d.Name, declSite{pkg, f, nil, d})
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						add(spec.Name, declSite{pkg, f, spec, nil})
					case *ast.ValueSpec:
						s := declSite{pkg, f, spec, nil}
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

// A contributors collects the files that determine the meaning of a function: a closure over
// declarations, calls and names.
type contributors struct {
	p       *Program
	files   []*ast.File
	objects map[types.Object]bool
	entries map[*specialization]bool
	decls   map[*decl]bool
}

// file adds a file.
func (c *contributors) file(f *ast.File) {
	if !slices.Contains(c.files, f) {
		c.files = append(c.files, f)
	}
}

// entry adds a lowered function and all that it calls.
func (c *contributors) entry(e *specialization) {
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
		c.entry(to.specialization)
	}
	for _, to := range e.compared {
		c.entry(to)
	}
}

// node adds the declarations of all names in the source of a declaration.
func (c *contributors) node(pkg *packages.Package, n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			c.object(pkg.TypesInfo.Uses[id])
		}
		return true
	})
}

// object adds the declaration of an object. The body of a function is added if it was lowered; of
// other functions, which are called as they are, only the signature is.
func (c *contributors) object(o types.Object) {
	if fn, ok := o.(*types.Func); ok && c.p.variableOf[fn] != nil {
		o = c.p.variableOf[fn]
	} else if ok {
		o = fn.Origin()
		if d := c.p.decls[fn.Origin()]; d != nil {
			o = c.p.substitute(d).fn // the same in every build
		}
	}
	if o == nil || c.objects[o] {
		return
	}
	c.objects[o] = true
	s := c.p.declSiteOf(o)
	if s.file == nil {
		return
	}
	// A function in assembly whose form in Go is differentiated is that form in the builds that lack its file.
	if d := c.p.decls[asFunc(o)]; d == nil || c.p.portable(d) == d {
		c.file(s.file)
	}
	if s.fn == nil {
		c.node(s.pkg, s.node)
		return
	}
	if s.fn.Recv != nil {
		c.node(s.pkg, s.fn.Recv)
	}
	c.node(s.pkg, s.fn.Type)
	if w := c.p.rules[o.(*types.Func)]; w != nil && !w.library {
		// Derivatives written by hand may be differentiated again, and the function's effects
		// count.
		for _, fn := range []*types.Func{o.(*types.Func), w.tangent, w.pullback} {
			if fn != nil {
				c.object(fn)
				c.entry(c.p.specializations[c.p.instanceKey(fn, nil)])
			}
		}
	}
}

// asFunc returns o as a function, or nil.
func asFunc(o types.Object) *types.Func {
	fn, _ := o.(*types.Func)
	return fn
}

// Constraint returns the build constraint, in the syntax of //go:build, under which the result of
// [Program.Func] for a target is valid and the file that requests it is part of the build. It is
// empty if that holds in every build.
//
// It is the conjunction of the constraints of all contributing files: those of lowered functions
// and of all objects that they name, in any module. Functions with library derivatives, and
// the standard library, are the same in every build.
func (p *Program) Constraint(t Target) string {
	c := &contributors{
		p: p, objects: map[types.Object]bool{}, entries: map[*specialization]bool{}, decls: map[*decl]bool{},
	}
	fn := t.Func.Origin()
	c.object(fn)
	c.entry(p.specializations["rule "+p.funcKey(fn)])
	c.entry(p.specializations[p.instanceKey(fn, t.TypeArgs)])
	for _, arg := range t.TypeArgs {
		ir.WalkType(arg, func(u types.Type) {
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

// goBuild matches a line with a build constraint, packageClause the beginning of the package
// clause.
var (
	goBuild       = regexp.MustCompile(`(?m)^//go:build .*$`)
	packageClause = regexp.MustCompile(`(?m)^package\b`)
)

// constraintLine returns the line with the build constraint of a generated file, which may be
// broken, followed by a blank line; "" if there is none.
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

// SIMDFileName returns the name of the file with the SIMD variants of the functions in the file name.
func SIMDFileName(name string) string { return strings.TrimSuffix(name, ".go") + simdSuffix }

// VectorFileNames returns the names of the files with the forms that have kernels of the functions in the file name,
// and with the kernels, which are in assembly.
func VectorFileNames(name string) (forms, kernels string) {
	stem := strings.TrimSuffix(name, ".go")
	return stem + vectorSuffix + ".go", stem + vectorSuffix + ".s"
}

// An OutputFile is the file with the generated code for the builds that a constraint selects.
type OutputFile struct {
	Name string // without directory
	// Suffix is appended to names in the file that are not part of the documented interface, since
	// files for different constraints may be in one build.
	Suffix string
}

// OutputFor returns the file for a build constraint, empty for all builds. Short constraints are
// spelled in the name, others are represented by a hash.
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

// For returns the name of the file with the code generated for the functions of one source file:
// loss_nabla.go for loss.go, loss_nabla-linux.go under the constraint linux. Such a name implies no
// build constraint that the one of the source does not.
func (f OutputFile) For(source string) string {
	return strings.TrimSuffix(source, ".go") + sourceSuffix + strings.TrimPrefix(f.Name, outputStem)
}

// literals returns the words of a short conjunction of tags and negated tags, such as not, race,
// unix for !race && unix. It is nil for other constraints, and for tags that could give two
// constraints the same words or one file name.
func literals(text string) (words []string) {
	const most = 4 // longer names are not readable
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
