package nabla_test

import (
	"errors"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/taylor"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/coloring"
)

// TestResultsBesideErrors: every method of every prepared object that returns an error returns nil and 0 beside it,
// whether the function panics, or a custom rule does, or an argument or a destination has a wrong length.
func TestResultsBesideErrors(t *testing.T) {
	methods, _ := declared(t)
	failure := errors.New("broken")
	over := func(outer, inner nabla.Backend) nabla.Backend { return nabla.SecondOrder{Outer: outer, Inner: inner} }
	for _, b := range []nabla.Backend{
		forwarddiff.Backend{}, tracker.Backend{}, reversediff.Backend{}, compiled, finitediff.Backend{},
		over(forwarddiff.Backend{}, compiled), over(tracker.Backend{}, tracker.Backend{}),
		over(finitediff.Backend{}, compiled),
		nabla.AutoSparse{Dense: compiled}, nabla.AutoSparse{Dense: compiled, Coloring: coloring.Greedy{}},
		nabla.AutoSparse{Dense: over(forwarddiff.Backend{}, tracker.Backend{}), Workers: 2},
		nabla.AutoSparse{Dense: finitediff.Backend{}},
	} {
		for k := range 2 * len(preparations) {
			p, inRule := preparations[k/2], k%2 == 1
			broken := false
			check := func() {
				if broken {
					panic(failure)
				}
			}
			square := nabla.Rule{Name: "square",
				Value: func(y, x []float64) { check(); y[0] = x[0] * x[0] },
				JVP:   func(ydot, x, y, xdot []float64) { check(); ydot[0] = 2 * x[0] * xdot[0] },
			}.Func()
			f := nabla.InPlace(1, func(y, x []nabla.Real) { check(); y[0] = nabla.Dot(x, x) })
			if inRule {
				f = nabla.InPlace(1, func(y, x []nabla.Real) { y[0] = square(x[0])[0] })
			}
			x := []float64{1, 2}[:p.n]
			o, err := p.prepare(f, b, x)
			if errors.Is(err, nabla.ErrUnsupported) { // an operator of Taylor series
				o, err = p.prepare(f, taylor.Backend{}, x)
			}
			if err != nil {
				t.Fatalf("%s of %s: %v", p.typ().Name(), b.Name(), err)
			}
			failed := 0
			for _, m := range methods[p.typ().Name()] {
				if m.name == "MulVecTo" { // has no results and panics; see TestMulVecTo
					continue
				}
				for way := range 3 {
					broken = way == 0
					f, _ := reflect.TypeOf(o).MethodByName(m.name)
					args := arguments(f.Type, m, p.n)
					switch way {
					case 1:
						args = arguments(f.Type, m, p.n+1)
					case 2:
						wrongDestinations(args)
					}
					results := f.Func.Call(append([]reflect.Value{reflect.ValueOf(o)}, args...))
					last := len(results) - 1
					if last < 0 || results[last].IsZero() || results[last].Type() != reflect.TypeFor[error]() {
						continue
					}
					failed++
					for i, r := range results[:last] {
						if !r.IsZero() {
							t.Errorf("%s.%s with %s, way %d to fail: result %d is %v beside %v", p.typ().Name(), m.name,
								b.Name(), way, i, r, results[last])
						}
					}
				}
			}
			broken = false
			if typ := p.typ(); failed == 0 && typ != reflect.TypeFor[nabla.LinearOp]() {
				t.Errorf("%s with %s never fails", typ.Name(), b.Name())
			}
		}
	}
}

// wrongDestinations makes destinations that are nil ones of another size than the results.
func wrongDestinations(args []reflect.Value) {
	for i, a := range args {
		switch {
		case a.Kind() != reflect.Slice && a.Kind() != reflect.Pointer && a.Kind() != reflect.Interface || !a.IsNil():
		case a.Type() == reflect.TypeFor[[]float64]():
			args[i] = reflect.ValueOf(make([]float64, 7))
		case reflect.TypeFor[*mat.SymDense]().AssignableTo(a.Type()):
			args[i] = reflect.ValueOf(mat.NewSymDense(7, nil))
		case reflect.TypeFor[*mat.Dense]().AssignableTo(a.Type()):
			args[i] = reflect.ValueOf(mat.NewDense(7, 7, nil))
		}
	}
}
