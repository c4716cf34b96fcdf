package nabla_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/source"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/coloring"
	"github.com/nabla-ad/nabla/sparse"
	"github.com/nabla-ad/nabla/sparsity"
)

// plainTypes are the exported types with methods that are no prepared objects.
var plainTypes = []any{
	nabla.Real{}, nabla.Complex{}, nabla.Cond{}, nabla.Vec{}, nabla.Scratch{}, nabla.Rule{}, nabla.Scan{},
	nabla.GuardPolicy(0),
	nabla.GuardPolicy(77),
	nabla.Policy{}, nabla.Preparation{}, nabla.SecondOrder{}, nabla.AutoSparse{}, nabla.MixedMode{},
	nabla.DenseDetector{},
	nabla.Policy{OnGuard: 77}, nabla.AutoSparse{Decompression: 77},
	&nabla.SparsePlan{}, (*nabla.SparsePlan)(nil), &nabla.SparsePlan{Pattern: new(sparsity.Pattern)},
	&nabla.SparsePlan{Pattern: new(sparsity.Pattern), Coloring: new(coloring.Coloring)},
	nabla.Auto{}, nabla.Explanation{}, &nabla.Partials{}, (*nabla.Partials)(nil),
	&nabla.Choice{}, (*nabla.Choice)(nil), &nabla.Choice{Rows: []nabla.ChoiceRow{{}}}, &nabla.ChoiceRow{},
	&nabla.AliasError{}, &nabla.FuncError{}, &nabla.PointError{}, &nabla.GuardError{},
	&nabla.Recorded{}, (*nabla.Recorded)(nil), &nabla.NonFinite{}, (*nabla.NonFinite)(nil),
}

// TestMethodsOfNilAndZeroValues calls every method of every exported type on nil and on the zero value. All methods of
// prepared objects that return an error return one that names the type and the function to call,
// and so do those of their clones.
func TestMethodsOfNilAndZeroValues(t *testing.T) {
	methods, failing := declared(t)
	known := map[string]bool{"Layout": true} // see TestMethodsOfZeroLayout
	for _, p := range preparations {
		typ := p.typ()
		known[typ.Name()] = true
		for _, o := range []any{p.nil, reflect.New(typ).Interface()} {
			refusing(t, o, methods[typ.Name()])
			if clone := reflect.ValueOf(o).MethodByName("Clone"); clone.IsValid() {
				refusing(t, clone.Call(nil)[0].Interface(), methods[typ.Name()])
			}
		}
	}
	for _, v := range plainTypes {
		typ := reflect.TypeOf(v)
		name := strings.TrimPrefix(fmt.Sprintf("%T", v), "*")
		name, _, _ = strings.Cut(strings.TrimPrefix(name, "nabla."), "[")
		known[name] = true
		for i := range typ.NumMethod() {
			if typ.Method(i).Name == "At" { // of an empty Vec: an index that is out of range, as of a slice
				continue
			}
			quietly(t, fmt.Sprintf("%T.%s of %#v", v, typ.Method(i).Name, v),
				func() { callZero(reflect.ValueOf(v).Method(i)) })
		}
	}
	for name := range methods {
		if !known[name] {
			t.Errorf("type %s has methods and is not in this test (prepared objects go to preparations)", name)
		}
	}
	for name := range failing {
		if !known[name] {
			t.Errorf("type %s has methods that return errors and is not in this test", name)
		}
	}
}

// refusing calls every method of o, a prepared object that nothing has made.
func refusing(t *testing.T, o any, methods []method) {
	t.Helper()
	kind := reflect.TypeOf(o).Elem().Name()
	state := "zero"
	if reflect.ValueOf(o).IsNil() {
		state = "nil"
	}
	for _, m := range methods {
		for _, n := range []int{0, 2} {
			quietly(t, fmt.Sprintf("%s of a %s %s", m.name, state, kind), func() {
				if m.name == "MulVecTo" { // has no error to return, and panics with it
					defer func() {
						if err, _ := recover().(error); !errors.Is(err, nabla.ErrUnsupported) {
							t.Errorf("MulVecTo of a %s %s panics with %v, want an UnsupportedError", state, kind, err)
						}
					}()
				}
				results, err := call(o, m, n)
				last := reflect.TypeFor[error]()
				if k := len(results); k == 0 || results[k-1].Type() != last {
					return
				}
				if !errors.Is(err, nabla.ErrUnsupported) || !strings.Contains(err.Error(), kind) ||
					!strings.Contains(err.Error(), "make it with") {
					t.Errorf("%s of a %s %s: %v, want an UnsupportedError that names it and how to make it", m.name,
						state, kind, err)
				}
				for _, r := range results[:len(results)-1] {
					if !r.IsZero() {
						t.Errorf("%s of a %s %s: result %v beside an error", m.name, state, kind, r)
					}
				}
			})
		}
	}
}

// callZero calls f with zero arguments.
func callZero(f reflect.Value) []reflect.Value {
	args := make([]reflect.Value, f.Type().NumIn())
	for i := range args {
		args[i] = reflect.Zero(f.Type().In(i))
	}
	if f.Type().IsVariadic() {
		args = args[:len(args)-1]
	}
	return f.Call(args)
}

// quietly reports a panic of f.
func quietly(t *testing.T, name string, f func()) {
	t.Helper()
	defer func() {
		if v := recover(); v != nil {
			t.Errorf("%s: panic: %v", name, v)
		}
	}()
	f()
}

// said returns the *FuncError that f panics with, as documented, or nil.
func said(f func()) (err *nabla.FuncError) {
	defer func() {
		if v := recover(); v != nil {
			err = v.(*nabla.FuncError)
		}
	}()
	f()
	return nil
}

// TestMethodsOfZeroLayout has methods of a Layout that Struct has not made: there is no error
// to return, and numbers that are missing would not be noticed.
func TestMethodsOfZeroLayout(t *testing.T) {
	type pair struct{ A, B float64 }
	_, made, err := nabla.StructPlain(func(p *pair) float64 { return p.A }, new(pair))
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func(l *nabla.Layout[pair]){
		"Name":      func(l *nabla.Layout[pair]) { l.Name(0) },
		"Flatten":   func(l *nabla.Layout[pair]) { l.Flatten(nil, new(pair)) },
		"Unflatten": func(l *nabla.Layout[pair]) { l.Unflatten(new(pair), make([]float64, 2)) },
	} {
		for _, l := range []*nabla.Layout[pair]{nil, {}} {
			if err := said(func() { f(l) }); err == nil || !strings.Contains(err.Error(), name) ||
				!strings.Contains(err.Error(), "Struct") {
				t.Errorf("%s of an unmade Layout: %v", name, err)
			}
		}
		if err := said(func() { f(made) }); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, f := range map[string]func(){
		"Flatten": func() { made.Flatten(nil, nil) }, "Unflatten": func() { made.Unflatten(nil, make([]float64, 2)) },
	} {
		if err := said(f); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s of a nil struct: %v", name, err)
		}
	}
}

// TestMalformedBackends covers malformed backends and composites: Prepare reports the mistake, in
// every operator.
func TestMalformedBackends(t *testing.T) {
	good := reversediff.Backend{Compile: true}
	f := nabla.InPlace(1, func(y, x []nabla.Real) { y[0] = nabla.Dot(x, x) })
	for _, c := range []struct {
		b    nabla.Backend
		what string
	}{
		{(*forwarddiff.Backend)(nil), "nil"}, {(*tracker.Backend)(nil), "nil"}, {(*source.Reverse)(nil), "nil"},
		{(*nabla.Policy)(nil), "nil"}, {(*nabla.Preparation)(nil), "nil"}, {(*nabla.SecondOrder)(nil), "nil"},
		{(*nabla.MixedMode)(nil), "nil"}, {(*nabla.AutoSparse)(nil), "nil"},
		{(*nabla.Auto)(nil), "nil"},
		{nabla.Policy{Backend: (*source.Reverse)(nil)}, "Policy.Backend"},
		{nabla.Preparation{Backend: (*source.Reverse)(nil)}, "Preparation.Backend"},
		{nabla.AutoSparse{Dense: (*source.Reverse)(nil)}, "AutoSparse.Dense"},
		{nabla.AutoSparse{Dense: nabla.Policy{Backend: (*source.Reverse)(nil)}}, "Policy.Backend"},
		{nabla.Policy{Backend: good, OnGuard: 77}, "Policy.OnGuard is 77"},
		{nabla.SecondOrder{Outer: nabla.Policy{Backend: good, OnGuard: 2}, Inner: good}, "Policy.OnGuard is 2"},
		{nabla.SecondOrder{Outer: (*tracker.Backend)(nil), Inner: good}, "nil"},
		{nabla.MixedMode{Forward: good, Reverse: (*tracker.Backend)(nil)}, "nil"},
	} {
		for _, p := range preparations {
			x := []float64{1, 2}[:p.n]
			quietly(t, fmt.Sprintf("%s with %T", p.typ().Name(), c.b), func() {
				_, err := p.prepare(f, c.b, x)
				if !errors.Is(err, nabla.ErrUnsupported) || !strings.Contains(err.Error(), c.what) {
					t.Errorf("%s with %#v: %v, want an UnsupportedError with %q", p.typ().Name(), c.b, err, c.what)
				}
			})
		}
		quietly(t, fmt.Sprintf("functions of Reals with %T", c.b), func() {
			for _, g := range []any{nabla.GradientFunc(f, c.b), nabla.DifferentiateWith(f, c.b)} {
				outer := func(x []nabla.Real) nabla.Real {
					if g, ok := g.(func([]nabla.Real) nabla.Real); ok {
						return g(x)
					}
					return g.(func([]nabla.Real) []nabla.Real)(x)[0]
				}
				if _, err := nabla.Gradient(outer, good, []float64{1, 2}); !errors.Is(err, nabla.ErrUnsupported) {
					t.Errorf("inside, with %#v: %v, want an UnsupportedError", c.b, err)
				}
			}
		})
	}
}

// TestNilPartsOfAutoSparse has detectors, colourings and destinations that are nil pointers or
// zero values.
func TestNilPartsOfAutoSparse(t *testing.T) {
	f := func(x []nabla.Real) nabla.Real { return x[0].Sq().Add(x[1].Sq()) }
	fv := func(x []nabla.Real) []nabla.Real { return []nabla.Real{x[0].Sq(), x[1].Sq()} }
	x := []float64{1, 2}
	dense := reversediff.Backend{}
	for _, b := range []nabla.AutoSparse{
		{Dense: dense, Detector: (*sparsity.Known)(nil)}, {Dense: dense, Detector: (*sparsity.Local)(nil)},
		{Dense: dense, Detector: (*sparsity.Global)(nil)}, {Dense: dense, Detector: (*nabla.DenseDetector)(nil)},
		{Dense: dense, Detector: nabla.DenseDetector{Backend: (*source.Reverse)(nil)}},
		{Dense: dense, Detector: sparsity.Known{}},
		{Dense: dense, Detector: sparsity.Known{J: new(sparsity.Pattern), H: new(sparsity.Pattern)}},
		{Dense: dense, Coloring: (*coloring.Greedy)(nil)},
		{Dense: dense, Coloring: coloring.Greedy{Orders: []coloring.Order{nil}}},
		{Dense: dense, Decompression: 77}, {Dense: dense, Workers: -1},
	} {
		quietly(t, fmt.Sprintf("%+v", b), func() {
			_, e1 := nabla.PrepareHessian(f, b, x)
			_, e2 := nabla.PrepareJacobian(fv, b, x)
			for _, err := range []error{e1, e2} {
				if err == nil ||
					!strings.HasPrefix(err.Error(), "nabla: ") && !strings.HasPrefix(err.Error(), "sparsity: ") {
					t.Errorf("%T %T: %v, want an error of nabla", b.Detector, b.Coloring, err)
				}
			}
		})
	}
	jac, err := nabla.PrepareJacobian(fv, nabla.AutoSparse{Dense: dense}, x)
	if err != nil {
		t.Fatal(err)
	}
	hess, err := nabla.PrepareHessian(f, nabla.AutoSparse{Dense: dense}, x)
	if err != nil {
		t.Fatal(err)
	}
	for _, dst := range []mat.Matrix{nil, (*sparse.CSC)(nil), new(sparse.CSC), (*mat.Dense)(nil), new(mat.Dense)} {
		quietly(t, fmt.Sprintf("Jacobian into %#v", dst), func() {
			if j, err := jac.Jacobian(dst, x); err != nil || j.At(1, 1) != 4 {
				t.Errorf("Jacobian into a %T: %v, %v", dst, j, err)
			}
		})
	}
	for _, dst := range []mat.Symmetric{nil, (*sparse.SymCSC)(nil), new(sparse.SymCSC), (*mat.SymDense)(nil),
		new(mat.SymDense)} {
		quietly(t, fmt.Sprintf("Hessian into %#v", dst), func() {
			if h, err := hess.Hessian(dst, x); err != nil || h.At(1, 1) != 2 {
				t.Errorf("Hessian into a %T: %v, %v", dst, h, err)
			}
		})
	}
	if _, err := nabla.Choose(f, x); err == nil {
		t.Error("Choose of no candidates gave no error")
	}
	if _, err := nabla.Choose(f, x, (*source.Reverse)(nil), (*finitediff.Backend)(nil)); err == nil {
		t.Error("Choose of nil candidates gave no error")
	}
}
