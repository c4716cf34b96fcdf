package lower

import (
	"go/ast"
	"go/parser"
	"go/types"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/library"
	"github.com/nabla-ad/nabla/internal/loaded"
)

// TestLibraryRules requires that every rule of the table has the types of its function, and that its derivatives can be
// lowered, for second derivatives. Each function has a form over Reals, or a plain form that can be lowered.
func TestLibraryRules(t *testing.T) {
	pkgs, err := Load("../..",
		[]string{"gonum.org/v1/gonum/floats", "gonum.org/v1/gonum/blas/blas64", "gonum.org/v1/gonum/mathext", "sort",
			"slices"}, LoadOptions{Packages: loaded.Once})
	if err != nil {
		t.Fatal(err)
	}
	p := New(pkgs, Options{})
	for _, name := range library.Names() {
		i := strings.LastIndexByte(name, '.')
		fn, _ := p.loaded[name[:i]].Types.Scope().Lookup(name[i+1:]).(*types.Func)
		if fn == nil {
			t.Errorf("no function %s", name)
			continue
		}
		if isGeneric(fn) {
			number := types.Typ[types.Float64]
			fn = p.libraryInstance(fn, []types.Type{types.NewSlice(number), number})
		}
		w := p.rule(fn)
		if w == nil || w.tangent == nil || w.pullback == nil {
			t.Errorf("%s: the rule does not fit", name)
			continue
		}
		p.resolve()
		r := w.rule
		list := []*ir.Callee{r.Tangent, r.Pullback}
		if info, _ := library.Lookup(name); info.Shapes != (r.Wider != nil) {
			t.Errorf("%s: the rule with respect to shapes is %v", name, r.Wider)
		} else if info.Shapes {
			list = append(list, r.Wider.Tangent, r.Wider.Pullback)
			if r.Wider.Real == nil || r.Source != nil || r.Wider.Source != nil {
				t.Errorf("%s: with respect to shapes over Reals %v, sources %v and %v", name, r.Wider.Real, r.Source,
					r.Wider.Source)
			}
		}
		for _, d := range list {
			if d.Func == nil {
				e := p.specialize(p.decls[d.Rule.Object], nil, nil)
				t.Errorf("%s: %v", name, e.allRefusals())
				continue
			}
			if err := ir.Check(d.Func); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		switch info, _ := library.Lookup(name); {
		case info.Real != "":
			if r.Real == nil || r.Plain != nil {
				t.Errorf("%s: over Reals %v, plain form %v", name, r.Real, r.Plain)
			}
		case r.Real != nil:
			t.Errorf("%s: %v", name, r.Real)
		case w.plain == nil:
			t.Errorf("%s has no plain form", name)
		case r.Plain == nil:
			t.Errorf("%s: %v", name, p.specialize(p.decls[w.plain], nil, nil).allRefusals())
		default:
			if err := ir.Check(r.Plain); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if strings.HasSuffix(name, ".Prod") && r.Source == nil {
			t.Errorf("%s: its source is not known", name)
		}
		// Approximations by series are not looked into.
		if strings.HasSuffix(name, ".GammaIncReg") && r.Source != nil {
			t.Errorf("%s: its source is used", name)
		}
		t.Log(name, r.ReadOnly, r.Unread, r.Returns)
	}
}

// TestSubstitutes requires that the methods of which another source is differentiated exist with the same types.
func TestSubstitutes(t *testing.T) {
	pkgs, err := Load("../..", []string{"gonum.org/v1/gonum/stat/distuv"}, LoadOptions{Packages: loaded.Once})
	if err != nil {
		t.Fatal(err)
	}
	p := New(pkgs, Options{})
	found := 0
	for fn, d := range p.decls {
		if _, name, ok := library.Substitute(fn.FullName()); ok && d.pkg == pkgs[0] {
			found++
			if s := p.substitute(d); s.fn.Name() != name {
				t.Errorf("%s is not replaced by %s", fn.FullName(), name)
			}
		}
	}
	if found != 5 {
		t.Errorf("%d methods are replaced", found)
	}
}

// TestNoDerivative requires that a function with a parameter without derivative is not differentiated through its
// source.
func TestNoDerivative(t *testing.T) {
	pkgs, err := Load("../..", []string{"gonum.org/v1/gonum/floats"},
		LoadOptions{Packages: loaded.Once, Flags: []string{"-tags=noasm"}})
	if err != nil {
		t.Fatal(err)
	}
	p := New(pkgs, Options{})
	for name, want := range map[string]bool{"Norm": false, "Distance": false, "Dot": true} {
		w := p.rule(p.loaded["gonum.org/v1/gonum/floats"].Types.Scope().Lookup(name).(*types.Func))
		p.resolve()
		if got := w.rule.Source != nil; got != want || w.rule.Plain == nil {
			t.Errorf("%s: source %v, want %v; plain form %v", name, got, want, w.rule.Plain)
		}
	}
}

// TestMatrices requires that the rules of operations on matrices can be differentiated again, that they are known to
// write no more than they do, and that no method of a type with a twin is differentiated by its own source unless it is
// known to be right.
func TestMatrices(t *testing.T) {
	const path = "gonum.org/v1/gonum/mat"
	pkgs, err := Load("../..", []string{path}, LoadOptions{Packages: loaded.Once})
	if err != nil {
		t.Fatal(err)
	}
	p := New(pkgs, Options{})
	pkg := p.libraryPackage("matad")
	if pkg == nil {
		t.Fatal("the package is refused")
	}
	for _, name := range pkg.Types.Scope().Names() {
		fn, ok := pkg.Types.Scope().Lookup(name).(*types.Func)
		if !ok || p.ruleOf[fn] == nil {
			continue
		}
		w := p.rule(fn)
		p.resolve()
		if len(w.refusals) > 0 {
			t.Error(w.refusals)
			continue
		}
		// Over Reals the memory of a factorisation has either the derivatives of its numbers, and all functions
		// that read it are followed, or those of the matrix, and none is.
		if factors := factorsIn.FindString(name); factors != "" && (w.rule.Source != nil) != (factors == "LU") {
			t.Errorf("%s: is followed over Reals: %v", name, w.rule.Source != nil)
		}
		for _, d := range []*ir.Callee{w.rule.Tangent, w.rule.Pullback} {
			if d.Func == nil {
				e := p.specialize(p.decls[d.Rule.Object], nil, nil)
				t.Errorf("%s: %v", name, e.allRefusals())
			}
		}
		if !strings.HasPrefix(name, "Factor") && !slices.Contains(w.rule.ReadOnly, true) {
			t.Errorf("%s writes all of its arguments: %v", name, w.rule.ReadOnly)
		}
	}
	for fn, d := range p.decls {
		name := fn.FullName()
		_, to, ok := library.Substitute(name)
		if fn.Pkg().Path() != path || !ok || fn.Signature().Variadic() { // Product has one for each number
			continue
		}
		if s := p.substitute(d); s.fn.Name() != to {
			t.Errorf("%s is not replaced by %s", name, to)
		}
	}
	// Those of mat.Cholesky that read the factor.
	refused := 0
	for fn, d := range p.decls {
		if fn.FullName() == "(*gonum.org/v1/gonum/mat.Cholesky).updateCond" {
			refused++
		}
		if strings.HasPrefix(fn.FullName(), "(*gonum.org/v1/gonum/mat.SVD).Solve") {
			continue // refused
		}
		if library.Reinterpreted(fn.FullName()) != "" && fn.Exported() && p.substitute(d) == d {
			t.Errorf("%s is neither replaced nor known to be right", fn.FullName())
		}
	}
	if refused != 1 {
		t.Error("the methods of Cholesky are not there")
	}
}

// factorsIn matches the names of functions that read or write the factors of a matrix, but not those that compute a
// norm or condition number.
var factorsIn = regexp.MustCompile(`(Cholesky|QR|Eigen\w*|SVD|LU|ThinQ|UpperR|ReflectedQ|Vectors|SingularValues|SolveBoth)$`)

// TestTwins requires that a twin has the fields of the original.
func TestTwins(t *testing.T) {
	pkgs, err := Load("../..", []string{"gonum.org/v1/gonum/mat"}, LoadOptions{Packages: loaded.Once})
	if err != nil {
		t.Fatal(err)
	}
	p := New(pkgs, Options{})
	for fields, want := range map[string]bool{
		"chol *mat.TriDense; cond float64":           true,
		"chol *mat.TriDense; cond float32":           false,
		"factor *mat.TriDense; cond float64":         false,
		"cond float64; chol *mat.TriDense":           false,
		"chol *mat.TriDense; cond float64; n int":    false,
		"chol *mat.Dense; cond float64":              false,
		"chol *mat.TriDense; cond float64; _ [0]int": false,
	} {
		text := `package matad; import "gonum.org/v1/gonum/mat"; var _ mat.Dense; type cholesky struct{` + fields + "}"
		f, err := parser.ParseFile(p.fset, "twin.go", text, 0)
		if err != nil {
			t.Fatal(err)
		}
		pkg := &packages.Package{Name: "matad", TypesInfo: &types.Info{}}
		conf := types.Config{Importer: importer{p}}
		if pkg.Types, err = conf.Check("matad", p.fset, []*ast.File{f}, pkg.TypesInfo); err != nil {
			t.Fatal(err)
		}
		if got := p.replaceTwins(pkg); got != want {
			t.Errorf("struct { %s } is a twin: %v", fields, got)
		}
	}
}
