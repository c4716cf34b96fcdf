package nabla_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/engine"
)

// Data that a function reads besides its argument and a bound struct, in every way in
// which a function may come to it.

// replaying are the engines that replay recordings, each in another way.
var replaying = []nabla.Backend{
	compiled,
	finitediff.Backend{Method: finitediff.Complex},
	nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: compiled},
	nabla.SecondOrder{Outer: compiled, Inner: forwarddiff.Backend{}},
	nabla.SecondOrder{Outer: tracker.Backend{}, Inner: compiled},
	nabla.SecondOrder{Outer: finitediff.Backend{}, Inner: compiled},
	forwarddiff.Backend{},
	nabla.AutoSparse{Dense: compiled},
	nabla.AutoSparse{Dense: nabla.SecondOrder{Outer: forwarddiff.Backend{Chunk: 1, Workers: 2}, Inner: compiled},
		Workers: 2},
	nabla.MixedMode{Forward: forwarddiff.Backend{}, Reverse: compiled},
}

// captures is the data of the functions below.
type captures struct {
	scale float64
	list  []float64
}

// zero is 0 at (1, 1), whatever the data is; its derivatives are not.
func (c *captures) zero(x []nabla.Real) nabla.Real {
	a, b := x[0].Sub(x[0].Sq()), x[1].Mul(x[0]).Sub(x[1].Sq())
	return a.Scale(c.scale).Add(b.Scale(c.list[1]))
}

func (c *captures) zeros(y, x []nabla.Real) {
	y[0] = c.zero(x)
	y[1] = x[0].Sub(nabla.Const(1)).Mul(x[1]).Scale(c.list[0])
}

// gradient, hessian and jacobian are those at (1, 1).
func (c *captures) gradient() []float64 {
	return []float64{-c.scale + c.list[1], -c.list[1]}
}

func (c *captures) hessian() *mat.SymDense {
	return mat.NewSymDense(2, []float64{-2 * c.scale, c.list[1], c.list[1], -2 * c.list[1]})
}

func (c *captures) jacobian() *mat.Dense {
	return mat.NewDense(2, 2, append(c.gradient(), c.list[0], 0))
}

// change is the data at call k.
func (c *captures) change(k int) {
	c.scale, c.list[0], c.list[1] = float64(k)+2, 3/float64(k+1), float64(k*k)-3
}

// capturing are ways to make one function that captures c, without a sign of it but the
// name that the function has at run time.
var capturing = map[string]func(c *captures) any{
	"a literal":      func(c *captures) any { return func(x []nabla.Real) nabla.Real { return c.zero(x) } },
	"a method value": func(c *captures) any { return c.zero },
	"a named type":   func(c *captures) any { return loss(c.zero) },
	"a generic one":  func(c *captures) any { return genericLoss[int](c) },
	"by reflection": func(c *captures) any {
		f := reflect.MakeFunc(reflect.TypeFor[func([]nabla.Real) nabla.Real](),
			func(in []reflect.Value) []reflect.Value {
				return []reflect.Value{reflect.ValueOf(c.zero(in[0].Interface().([]nabla.Real)))}
			})
		return f.Interface().(func([]nabla.Real) nabla.Real)
	},
	"bound": func(c *captures) any {
		return nabla.Bind(func(x []nabla.Real, _ *struct{}) nabla.Real { return c.zero(x) }, new(struct{}))
	},
	"in place": func(c *captures) any {
		return nabla.InPlace(1, func(y, x []nabla.Real) { y[0] = c.zero(x) })
	},
	"of a struct": func(c *captures) any {
		f, _, err := nabla.Struct(func(p *pair[nabla.Real]) nabla.Real { return c.zero(p.X[:]) }, new(pair[float64]))
		if err != nil {
			panic(err)
		}
		return f
	},
	"shared by a struct": func(c *captures) any {
		f, _, err := nabla.Struct(lossOfPair, &pair[float64]{Data: c})
		if err != nil {
			panic(err)
		}
		return f
	},
	"by another engine": func(c *captures) any { return nabla.DifferentiateWith(c.zero, compiled) },
}

type loss func([]nabla.Real) nabla.Real

func genericLoss[T any](c *captures) func(x []nabla.Real) nabla.Real {
	return func(x []nabla.Real) nabla.Real { var _ T; return c.zero(x) }
}

type pair[T any] struct {
	X    [2]T
	Data any
}

func lossOfPair(p *pair[nabla.Real]) nabla.Real { return p.Data.(*captures).zero(p.X[:]) }

// prepareFor prepares f, a function of any of these types.
func prepareFor[P any](f any, b nabla.Backend, x []float64,
	raw func(func([]nabla.Real) nabla.Real, nabla.Backend, []float64) (P, error),
	named func(loss, nabla.Backend, []float64) (P, error),
	wrapped func(*nabla.Func, nabla.Backend, []float64) (P, error)) (P, error) {
	switch f := f.(type) {
	case loss:
		return named(f, b, x)
	case *nabla.Func:
		return wrapped(f, b, x)
	}
	return raw(f.(func([]nabla.Real) nabla.Real), b, x)
}

// TestCapturedData changes captured data before every call. The value at the point does not show
// the change.
func TestCapturedData(t *testing.T) {
	x := []float64{1, 1}
	for how, make := range capturing {
		for _, b := range replaying {
			c := &captures{scale: 1, list: []float64{1, 2}}
			f := make(c)
			g, err := prepareFor(f, b, x, nabla.PrepareGradient, nabla.PrepareGradient, nabla.PrepareGradient)
			if err != nil {
				t.Fatal(err)
			}
			h, err := prepareFor(f, b, x, nabla.PrepareHVP, nabla.PrepareHVP, nabla.PrepareHVP)
			if err != nil {
				t.Fatal(err)
			}
			for k := range 9 {
				c.change(k)
				got, err := g.Gradient(nil, x)
				if err != nil {
					t.Errorf("%s with %s, call %d: %v", how, b.Name(), k, err)
					continue
				}
				within(t, how, b, got, c.gradient(), 1e-12)
				c.change(k + 1)
				got, err = h.HVP(nil, x, []float64{1, 0})
				if err != nil {
					t.Errorf("HVP of %s with %s, call %d: %v", how, b.Name(), k, err)
					continue
				}
				if want := mat.Row(nil, 0, c.hessian()); math.Abs(got[0]-want[0])+math.Abs(got[1]-want[1]) > 1e-3 {
					t.Errorf("HVP of %s with %s, call %d: %v, want %v", how, b.Name(), k, got, want)
				}
			}
		}
	}
}

// TestCapturedDataOfMatrices is TestCapturedData for Jacobians, Hessians, batches and linear
// operators.
func TestCapturedDataOfMatrices(t *testing.T) {
	x := []float64{1, 1}
	for _, b := range replaying {
		c := &captures{scale: 1, list: []float64{1, 2}}
		f, v := c.zero, nabla.InPlace(2, c.zeros)
		fail := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatalf("%s: %v", b.Name(), err)
			}
		}
		h, err := nabla.PrepareHessian(f, b, x)
		fail(err)
		j, err := nabla.PrepareJacobian(v, b, x)
		fail(err)
		push, err := nabla.PreparePushforward(v, b, x)
		fail(err)
		pull, err := nabla.PreparePullback(v, b, x)
		fail(err)
		hvp, err := nabla.PrepareHVP(f, b, x)
		fail(err)
		unit := mat.NewDense(2, 2, []float64{1, 0, 0, 1})
		for k := range 6 {
			for _, op := range []struct {
				name string
				call func() (mat.Matrix, error)
				want func() mat.Matrix
			}{
				{"Hessian", func() (mat.Matrix, error) { return h.Hessian(nil, x) },
					func() mat.Matrix { return c.hessian() }},
				{"Jacobian", func() (mat.Matrix, error) { return j.Jacobian(nil, x) },
					func() mat.Matrix { return c.jacobian() }},
				{"PushforwardBatch", func() (mat.Matrix, error) { return push.PushforwardBatch(nil, x, unit) },
					func() mat.Matrix { return c.jacobian() }},
				{"PullbackBatch", func() (mat.Matrix, error) { return pull.PullbackBatch(nil, x, unit) },
					func() mat.Matrix { return c.jacobian().T() }},
				{"HVPBatch", func() (mat.Matrix, error) { return hvp.HVPBatch(nil, x, unit) },
					func() mat.Matrix { return c.hessian() }},
			} {
				c.change(k)
				got, err := op.call()
				if err != nil {
					t.Errorf("%s with %s, call %d: %v", op.name, b.Name(), k, err)
				} else if want := op.want(); !mat.EqualApprox(got, want, 1e-4) {
					t.Errorf("%s with %s, call %d: %v, want %v", op.name, b.Name(), k, mat.Formatted(got),
						mat.Formatted(want))
				}
			}
		}
	}
}

// TestCapturedDataOfLinearOperators: both directions see changes of captured data.
func TestCapturedDataOfLinearOperators(t *testing.T) {
	x := []float64{1, 1}
	for _, b := range append(slices.Clone(replaying), tracker.Backend{}, reversediff.Backend{}, finitediff.Backend{}) {
		c := &captures{scale: 1, list: []float64{1, 2}}
		l, err := nabla.Linearize(nabla.InPlace(2, c.zeros), b, x)
		if err != nil {
			t.Fatal(err)
		}
		c.change(4)
		got, err := l.Apply(nil, []float64{1, 0})
		if err != nil {
			t.Fatal(err)
		}
		within(t, "Apply", b, got, mat.Col(nil, 0, c.jacobian()), 1e-12)
		c.change(5)
		if got, err = l.Transpose(nil, []float64{1, 0}); err != nil {
			t.Fatal(err)
		}
		within(t, "Transpose", b, got, mat.Row(nil, 0, c.jacobian()), 1e-12)
	}
}

var level = 1.0

// leveled reads a package variable.
func leveled(x []nabla.Real) nabla.Real { return x[0].Sub(x[0].Sq()).Scale(level) }

// TestPackageVariable holds when a function at package level is compared: at calls 1, 2, 4,
// 8, …, and at all calls once that has failed. The call at which it fails is an error
// where calls before it may have been wrong.
func TestPackageVariable(t *testing.T) {
	defer func() { level = 1 }()
	x := []float64{1}
	for _, b := range []nabla.Backend{compiled, finitediff.Backend{Method: finitediff.Complex}} {
		for _, c := range []struct {
			at        int // the call before which the variable changes
			found     int // the call that finds it
			unchecked int // calls before that, which were not compared
		}{{1, 1, 0}, {2, 2, 0}, {3, 4, 1}, {4, 4, 1}, {5, 8, 3}} {
			level = 1
			p, err := nabla.PrepareGradient(leveled, b, x)
			if err != nil {
				t.Fatal(err)
			}
			for k := 1; k <= 12; k++ {
				if k >= c.at && k <= c.found {
					level = 5
				}
				if k > c.found {
					level = float64(k) // from then on all calls are compared
				}
				g, err := p.Gradient(nil, x)
				var stale *nabla.StaleError
				switch {
				case k == c.found && c.unchecked > 0:
					if !errors.As(err, &stale) || !errors.Is(err, nabla.ErrStale) || stale.Unchecked != c.unchecked ||
						!strings.Contains(err.Error(), "leveled") {
						t.Errorf("%s, change at %d, call %d: %v, %v", b.Name(), c.at, k, g, err)
					}
				case err != nil || (k < c.at || k >= c.found) && math.Abs(g[0]+level) > 1e-12:
					t.Errorf("%s, change at %d, call %d: %v, %v, want %v", b.Name(), c.at, k, g, err, -level)
				}
			}
		}
	}
	// Settings of the user.
	for name, b := range map[string]nabla.Backend{
		"reversediff(compile)+fixedcaptures": nabla.Policy{Backend: compiled, FixedCaptures: true},
		"reversediff(compile)+nostalecheck":  nabla.Policy{Backend: compiled, NoStaleCheck: true},
	} {
		calls := 0
		p, err := nabla.PrepareGradient(func(x []nabla.Real) nabla.Real { calls++; return x[0].Sq() }, b, x)
		if err != nil || b.Name() != name {
			t.Fatal(b.Name(), err)
		}
		for range 16 {
			if _, err := p.Gradient(nil, x); err != nil {
				t.Fatal(err)
			}
		}
		if want := map[bool]int{true: 1 + 5, false: 1}[strings.Contains(name, "fixed")]; calls != want {
			t.Errorf("%s: %d evaluations, want %d", name, calls, want)
		}
	}
}

// TestComparisonNearTheDomain has functions for which not every point near x is like x: no
// false alarm there, and a change is found.
func TestComparisonNearTheDomain(t *testing.T) {
	c := 1.0
	for name, f := range map[string]func(x []nabla.Real) nabla.Real{
		"a square root at 0": func(x []nabla.Real) nabla.Real { return nabla.Sqrt(x[0]).Add(x[1].Scale(c)) },
		"a logarithm": func(x []nabla.Real) nabla.Real {
			return nabla.Log1p(x[0].Neg()).Add(x[1].Scale(c))
		},
		"a pole nearby": func(x []nabla.Real) nabla.Real {
			return x[0].AddConst(-1e-3).Inv().Add(x[1].Scale(c))
		},
		"a value as it is": func(x []nabla.Real) nabla.Real {
			return nabla.Const(x[0].Value()).Add(x[1].Scale(c))
		},
		"a comparison for equals": func(x []nabla.Real) nabla.Real {
			return pick(x[0].Equal(nabla.Const(0)), x[1].Scale(c), x[0])
		},
		"an index": func(x []nabla.Real) nabla.Real { return x[1-x[0].Int()].Scale(c) },
		"a rule that panics": func(x []nabla.Real) nabla.Real {
			return exactly0(x[0])[0].Add(x[1].Scale(c))
		},
		"a panic": func(x []nabla.Real) nabla.Real {
			if x[0].String() != "0" {
				panic("not 0")
			}
			return x[1].Scale(c)
		},
		"NaN":      func(x []nabla.Real) nabla.Real { return nabla.Log(x[0].AddConst(-1)).Add(x[1].Scale(c)) },
		"infinity": func(x []nabla.Real) nabla.Real { return nabla.Exp(x[0].Inv()).Scale(0).Add(x[1].Scale(c)) },
	} {
		for _, b := range []nabla.Backend{compiled, nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: compiled}} {
			c = 1
			p := mustGradient(t, f, b, 0, 1)
			for k := range 20 {
				if k > 10 {
					c = float64(k)
				}
				g, err := p.Gradient(nil, []float64{0, 1})
				if name != "NaN" && name != "infinity" && (err != nil || g[1] != c) || name == "NaN" && err != nil {
					t.Errorf("%s, call %d: %v, %v", name, k, g, err)
				}
				// If one value of a coordinate has a branch of its own, points nearby do not show its effect.
				pinned := strings.HasPrefix(name, "a comparison") || strings.HasSuffix(name, "it is") ||
					strings.HasSuffix(name, "panics") || strings.HasSuffix(name, "panic")
				if k <= 10 && p.Recordings() > 1 && !pinned && name != "NaN" && name != "infinity" {
					t.Errorf("%s, call %d: %d recordings", name, k, p.Recordings())
				}
			}
		}
	}
}

func pick(c bool, a, b nabla.Real) nabla.Real {
	if c {
		return a
	}
	return b
}

// exactly0 is defined at 0 only.
var exactly0 = nabla.Rule{
	Name: "exactly0",
	Value: func(y, x []float64) {
		if x[0] != 0 {
			panic("not 0")
		}
		y[0] = 0
	},
	VJP: func(xbar, x, y, ybar []float64) { xbar[0] += ybar[0] },
}.Func()

// TestFunctionOfChangingValue: a function that never gives the same twice is an error.
func TestFunctionOfChangingValue(t *testing.T) {
	n := 0.0
	p := mustGradient(t, func(x []nabla.Real) nabla.Real { n++; return x[0].Scale(n) }, compiled, 1)
	if _, err := p.Gradient(nil, []float64{1}); !errors.Is(err, nabla.ErrStale) ||
		!strings.Contains(err.Error(), "at one point") {
		t.Errorf("got %v", err)
	}
}

// BenchmarkComparison measures the cost of comparing a recording with the function at a call: the
// time of a prepared gradient less that of one which never compares, in evaluations of the function
// over untraced Reals. The three take turns.
func BenchmarkComparison(b *testing.B) {
	start := 0.0 // captured
	waves := func(x []nabla.Real) nabla.Real {
		s := nabla.Const(start)
		for i := range len(x) - 1 {
			s = s.Add(nabla.Sin(x[i]).Mul(nabla.Exp(x[i+1].Neg())))
		}
		return s
	}
	for _, c := range []struct {
		name string
		n    int
		f    func(x []nabla.Real) nabla.Real
	}{
		{"rosenbrock", 10, func(x []nabla.Real) nabla.Real { return rosenbrock(x).AddConst(start) }},
		{"rosenbrock", 100, func(x []nabla.Real) nabla.Real { return rosenbrock(x).AddConst(start) }},
		{"rosenbrock", 1000, func(x []nabla.Real) nabla.Real { return rosenbrock(x).AddConst(start) }},
		{"waves", 10, waves},
		{"waves", 100, waves},
		{"waves", 1000, waves},
	} {
		for _, how := range []string{"one point", "moving", "moving after a change"} {
			b.Run(fmt.Sprintf("%s/n=%d/%s", c.name, c.n, how), func(b *testing.B) {
				n, f := c.n, c.f
				x := numbers(n)
				xs, g := make([]nabla.Real, n), make([]float64, n)
				gradient := func(backend nabla.Backend) func() {
					prep, err := nabla.PrepareGradient(f, backend, x)
					if err != nil {
						b.Fatal(err)
					}
					return func() {
						if _, err := prep.Gradient(g, x); err != nil {
							b.Fatal(err)
						}
					}
				}
				turns := []func(){
					func() {
						for i, v := range x {
							xs[i] = nabla.Const(v)
						}
						f(xs)
					},
					gradient(compiled),
					gradient(nabla.Policy{Backend: compiled, NoStaleCheck: true}),
				}
				if how == "moving after a change" { // all comparisons are near x
					start++
					turns[1]()
				}
				times := make([][]float64, len(turns))
				b.ReportAllocs()
				for b.Loop() {
					for k, call := range turns {
						start := time.Now()
						for range 32 {
							if how != "one point" {
								x[0] += 0x1p-20
							}
							call()
						}
						times[k] = append(times[k], float64(time.Since(start).Nanoseconds())/32)
					}
				}
				for k := range times {
					slices.Sort(times[k])
				}
				median := func(k int) float64 { return times[k][len(times[k])/2] }
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(median(0), "ns/evaluation")
				b.ReportMetric(median(1), "ns/gradient")
				b.ReportMetric(median(1)-median(2), "ns/check")
				b.ReportMetric((median(1)-median(2))/median(0), "evaluations/check")
			})
		}
	}
}

// noGradient is reverse mode that must not be asked for a gradient over numbers.
type noGradient struct {
	reversediff.Backend
	t *testing.T
}

func (b noGradient) PrepareGradient(*engine.Function, []float64) (engine.Gradient, error) {
	b.t.Error("a gradient was prepared")
	return nil, engine.ErrUnsupported
}

func (b noGradient) GradientFunction(f *engine.Function) (*engine.Function, error) {
	return engine.GradientFunction(f, b, true)
}

// TestStaleCheckOfGradient holds that comparing the replayed gradient function with
// the function takes a value of that, not a gradient that has to be prepared first.
func TestStaleCheckOfGradient(t *testing.T) {
	scale := 1.0
	f := func(x []nabla.Real) nabla.Real { return nabla.Exp(x[0]).Mul(x[1]).Scale(scale) }
	b := nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: noGradient{compiled, t}}
	p, err := nabla.PrepareHVP(f, b, []float64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, scale = range []float64{1, 3} {
		hv, err := p.HVP(nil, []float64{0, 1}, []float64{1, 0})
		if err != nil || hv[0] != scale || hv[1] != scale {
			t.Errorf("scale %v: %v, %v", scale, hv, err)
		}
	}
}

// TestCapturedDataOfFaintValues: captured data that changes is noticed although values near the point are too small to
// differ, where the value at the point is not.
func TestCapturedDataOfFaintValues(t *testing.T) {
	for _, b := range replaying {
		sign := 1.0
		f := func(x []nabla.Real) nabla.Real { return nabla.Const(5e-324).Div(x[0]).Scale(sign) }
		x := []float64{0}
		p, err := nabla.PrepareGradient(f, b, x)
		if err != nil {
			t.Errorf("%s: %v", b.Name(), err)
			continue
		}
		for k := range 40 {
			if k%3 == 2 {
				sign = -sign
			}
			if y, _, err := p.ValueAndGradient(nil, x); err != nil || y != sign*math.Inf(1) {
				t.Errorf("%s: call %d: %v, %v, want %v", b.Name(), k+1, y, err, sign*math.Inf(1))
				break
			}
		}
	}
}
