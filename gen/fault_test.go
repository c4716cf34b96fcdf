package gen_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/internal/longtest"
)

const containedSource = `package contained

import "math"

func shared(a float64, n int) float64 {
	if n <= 0 {
		return math.Sin(a)
	}
	return shared(a, n-1) * a
}

// Constant calls shared for a number, which leaves it as it is for those that follow.
//
//nabla:differentiate
func Constant(x []float64) float64 { return x[0] + shared(2, 2) }

//nabla:differentiate
func First(x []float64) float64 { return shared(x[0], 3) + x[1]*x[1] }

//nabla:differentiate
func Bad(x []float64) float64 { return only(shared(x[0], 2)) }

func only(a float64) float64 {
	for range 3 {
		a = math.Sin(a)
	}
	return a
}

//nabla:differentiate
func Decides(x []float64) float64 {
	if s := x[0]; shared(s, 1) > 1 {
		return s * 2
	}
	return x[0]
}

//nabla:differentiate
func Last(x []float64) float64 { return shared(x[0], 2) * x[0] }
`

// TestInternalErrors makes each build panic or return ill-formed code. Only the derivative concerned is lost, with a
// problem at its function; all other derivatives are unchanged.
func TestInternalErrors(t *testing.T) {
	dir := module(t,
		map[string]string{"go.mod": "module golden/contained\n\ngo 1.26\n", "contained.go": containedSource})
	loaded, err := gen.Load(dir, []string{"."}, &gen.Options{Load: loading})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := loaded.Generate(); err != nil {
		t.Fatal(err)
	}
	run := func(breaks func(p *gen.Program)) *gen.Package {
		t.Helper()
		p := loaded.Again()
		breaks(p)
		r, err := p.Generate()
		if err != nil {
			t.Fatal(err)
		}
		return r.Packages[0]
	}
	names := func(pkg *gen.Package) (list []string) {
		for _, f := range pkg.Functions {
			list = append(list, f.Of+" "+f.Build)
		}
		slices.Sort(list)
		return list
	}
	plain := run(func(*gen.Program) {})
	all := names(plain)
	if len(all) < 25 || len(plain.Problems) > 0 {
		t.Fatalf("only %v, %v", all, plain.Problems)
	}
	bad := func(change func(fn *ir.Func)) func(of string, fn *ir.Func) {
		return func(of string, fn *ir.Func) {
			if of == "Bad" {
				change(fn)
			}
		}
	}
	changes := map[string]func(fn *ir.Func){
		"panics":       func(*ir.Func) { panic("on purpose") },
		"nil":          func(fn *ir.Func) { _ = fn.Params[99] },
		"a statement":  func(fn *ir.Func) { fn.Body = append(ir.Block{(*ir.Let)(nil)}, fn.Body...) },
		"no condition": func(fn *ir.Func) { fn.Body = append(ir.Block{&ir.If{Then: fn.Body}}, fn.Body...) },
		"undeclared": func(fn *ir.Func) {
			v := &ir.Var{Name: "undeclared", Type: types.Typ[types.Bool]}
			fn.Body = append(ir.Block{&ir.If{Cond: v.Load(), Then: ir.Block{&ir.Panic{E: v.Load()}}}}, fn.Body...)
		},
		"no parameter": func(fn *ir.Func) { fn.Params = fn.Params[1:] },
		"a callee": func(fn *ir.Func) {
			// Without an effect the call would be removed.
			effect := &ir.Clear{S: ir.Zero(types.NewSlice(types.Typ[types.Int]))}
			g := &ir.Func{Name: "g", Exit: &ir.Label{Name: "exit"}, Body: ir.Block{effect, &ir.Leave{}}}
			fn.Body = append(ir.Block{&ir.Call{Callee: &ir.Callee{Func: g}}}, fn.Body...)
		},
		"no exit": func(fn *ir.Func) { fn.Exit = nil },
	}
	for i, build := range []string{"tangent", "tangent4", "adjoint", "adjointTangent", "traced"} {
		for k, name := range slices.Sorted(maps.Keys(changes)) {
			change := changes[name]
			if !longtest.Long() && (i+k)%5 != 0 { // builds take turns with the changes
				continue
			}
			t.Run(build+" "+name, func(t *testing.T) {
				pkg := run(func(p *gen.Program) { p.Break(build, bad(change)) })
				contained(t, pkg, all, names(pkg), func(s string) bool { return strings.HasPrefix(s, "Bad ") })
			})
		}
	}
	for _, build := range []string{"tangent", "tangent4", "adjoint", "adjointTangent", "traced"} {
		t.Run(build+" of callees", func(t *testing.T) {
			pkg := run(func(p *gen.Program) { p.BreakCallees(build, "Bad") })
			contained(t, pkg, all, names(pkg), func(s string) bool { return strings.HasPrefix(s, "Bad ") })
			want := declared(t, plain.Files[0].Text)
			for name, text := range declared(t, pkg.Files[0].Text) {
				if name != "init" && text != want[name] {
					t.Errorf("got\n%s\nwant\n%s", text, want[name])
				}
			}
		})
	}
	t.Run("registration", func(t *testing.T) {
		pkg := run(func(p *gen.Program) { p.BreakRoles("tangent", "Bad") })
		contained(t, pkg, all, names(pkg), func(s string) bool { return s == "Bad tangent" })
	})
	t.Run("lowering", func(t *testing.T) {
		pkg := run(func(p *gen.Program) {
			p.BreakLowering(func(f *ir.Func) {
				if strings.HasSuffix(f.Name, ".only") {
					panic("on purpose")
				}
			})
		})
		contained(t, pkg, all, names(pkg), func(s string) bool { return strings.HasPrefix(s, "Bad ") })
		if p := pkg.Problems[0]; p.Pos.Line != 23 || p.Func != "only, which Bad calls" {
			t.Error(p)
		}
	})
	t.Run("everything", func(t *testing.T) {
		pkg := run(func(p *gen.Program) {
			for _, build := range p.Stages()[2:] {
				p.Break(build, func(string, *ir.Func) { panic("on purpose") })
			}
		})
		if len(pkg.Functions) != 0 || len(pkg.Problems) < 3 {
			t.Errorf("%v %v", pkg.Functions, pkg.Problems)
		}
	})
	t.Run("explained", func(t *testing.T) {
		p := loaded.Again()
		p.Break("adjoint", func(string, *ir.Func) { panic("on purpose") })
		var b strings.Builder
		if err := p.Dump(&b, "adjoint", "First"); err == nil || !strings.Contains(err.Error(), "on purpose") {
			t.Error(err)
		}
		p.BreakLowering(func(*ir.Func) { panic("on purpose") })
		if err := p.Explain(&b, "First"); err == nil || !strings.Contains(err.Error(), "on purpose") {
			t.Error(err)
		}
	})
}

// declared are the functions in Go source by their names.
func declared(t *testing.T, src []byte) map[string]string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "", src, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, d := range f.Decls {
		if d, ok := d.(*ast.FuncDecl); ok {
			out[d.Name.Name] = string(src[d.Pos()-1 : d.End()-1])
		}
	}
	return out
}

// contained checks that got lacks some of the derivatives all, only such for which lost reports true, and that the
// problems of pkg name them.
func contained(t *testing.T, pkg *gen.Package, all, got []string, lost func(name string) bool) {
	t.Helper()
	missing := slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(got, s) })
	if len(missing) == 0 || slices.ContainsFunc(missing, func(s string) bool { return !lost(s) }) {
		t.Errorf("lost %v", missing)
	}
	if len(pkg.Problems) == 0 {
		t.Fatal("no problem")
	}
	for _, p := range pkg.Problems {
		text := fmt.Sprint(p)
		if p.Pos.Line == 0 || p.Func == "" || p.Remedy == "" || p.Severity == gen.Note ||
			!strings.Contains(text, "internal error of nabla gen") || strings.Contains(text, "\n") {
			t.Error(text)
		}
	}
	for _, name := range []string{"func FirstTangent(", "func LastAdjoint(", "func FirstAdjointTangent(",
		"nabla.Register("} {
		if !strings.Contains(string(pkg.Files[0].Text), name) {
			t.Errorf("no %s", name)
		}
	}
}
