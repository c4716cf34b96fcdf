package source_test

import (
	"errors"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/source"
)

func missing(x []float64) float64 { return x[0] }
func old(x []float64) float64     { return x[0] }
func refused(x []float64) float64 { return x[0] * x[0] }
func partial(x []float64) float64 { return x[0] * x[0] }
func nothing(x []float64) float64 { return x[0] * x[0] }
func traced(x []float64) float64  { return x[0] * x[0] }
func shifted(x []float64) float64 { return x[0]*x[0] + shift }
func broken(x []float64) float64  { return 1 / float64([]int{0, 1}[int(x[0])]) * x[0] }
func lopsided(y, x []float64) {
	y[0] = x[0]
	if x[0] < 2 {
		y[1] = x[0]
	}
}
func growing(x []float64) []float64 { return make([]float64, 2+extra) }

func over(x []nabla.Real) nabla.Real { return x[0] }

type model struct{ A float64 }

func (m *model) loss(x []float64) float64 { return m.A * x[0] }

var (
	shift float64
	extra int
	dirty int // how often code that had panicked was used again
)

func init() {
	nabla.Register(old, nabla.Generated{Version: nabla.CodeVersion + 1, New: codeOf(cubesExact)})
	register(refused, nabla.Generated{New: func() nabla.Code {
		return nabla.Code{Tangent: func(y, ydot, x, xdot []float64, _ any) int {
			y[0], ydot[0] = x[0]*x[0], 2*x[0]*xdot[0]
			return 1
		}}
	}, Refused: "loss.go:7: a goto into a loop", RefusedTraced: "loss.go:8: a conversion to int"})
	register(partial, nabla.Generated{New: func() nabla.Code {
		return nabla.Code{Adjoint: func(y, xbar, x, ybar []float64, _ any) int {
			y[0], xbar[0] = x[0]*x[0], 2*x[0]*ybar[0]
			return 1
		}}
	}, RefusedTangent: "nothing asks for the tangent", RefusedSecond: "nothing asks for second derivatives"})
	register(nothing, nabla.Generated{Refused: "loss.go:9: a channel"})
	register(traced, nabla.Generated{Traced: func(y, x []nabla.Real, _ any) int {
		y[0] = x[0].Sq()
		return 1
	}, Refused: "loss.go:7: a goto into a loop"})
	register(shifted, nabla.Generated{New: func() nabla.Code {
		c := codeOf(func(x []float64, _ any) exact {
			return exact{[]float64{x[0] * x[0]}, []float64{2 * x[0]}, []float64{2}}
		})()
		c.Gradient = func(xbar, x []float64, _ any) { xbar[0] = 2 * x[0] }
		return c
	}, Traced: func(y, x []nabla.Real, _ any) int {
		y[0] = x[0].Sq()
		return 1
	}})
	register(broken, nabla.Generated{New: func() nabla.Code {
		used := false
		return nabla.Code{Adjoint: func(y, xbar, x, ybar []float64, _ any) int {
			if used {
				dirty++
			}
			used = true
			y[0] = broken(x)
			used = false
			xbar[0] = ybar[0] / float64(int(x[0]))
			return 1
		}}
	}})
	register(lopsided, nabla.Generated{New: func() nabla.Code {
		return nabla.Code{Tangent: func(y, ydot, x, xdot []float64, _ any) int {
			lopsided(y, x)
			ydot[0], ydot[1] = xdot[0], xdot[0]
			return 2
		}, Adjoint: func(y, xbar, x, ybar []float64, _ any) int {
			lopsided(y, x)
			xbar[0] = ybar[0] + ybar[1]
			return 2
		}}
	}})
	register(growing, nabla.Generated{New: codeOf(func(x []float64, _ any) exact {
		return exact{make([]float64, 2+extra), make([]float64, 2+extra), make([]float64, 2+extra)}
	})})
}

// TestMessages checks the reason and the remedy of every refusal of Prepare.
func TestMessages(t *testing.T) {
	x, m, slope := []float64{1}, &model{2}, 2.0
	forward, reverse := source.Forward{}, source.Reverse{}
	prep := func(f any, b nabla.Backend) (err error) {
		switch f := f.(type) {
		case func([]float64) float64:
			_, err = nabla.Gradient(f, b, x)
		case func([]nabla.Real) nabla.Real:
			_, err = nabla.Gradient(f, b, x)
		case *nabla.Func:
			_, err = nabla.Gradient(f, b, x)
		}
		return err
	}
	plain, _, err := nabla.StructPlain(func(m *model) float64 { return m.A }, m)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		what string
		f    any
		b    nabla.Backend
		want []string
	}{
		{"no code", missing, reverse,
			[]string{"source_test.missing", "no generated derivative code", "go tool nabla gen"}},
		{"no code, bound", nabla.BindMethod((*model).loss, m), forward,
			[]string{"loss", "no generated derivative code", "go tool nabla gen"}},
		{"another engine", missing, forwarddiff.Backend{},
			[]string{"source_test.missing", "go tool nabla gen", "nabla.Real", "finitediff"}},
		{"another instance",
			nabla.Bind(func(x []float64, _ *model) float64 { return float64(cubes([]metres{metres(x[0])})) }, m),
			reverse, []string{"literal"}},
		{"version", old, reverse, []string{"source_test.old", "version 2", "runs version 1", "go tool nabla gen"}},
		{"version, another engine", old, forwarddiff.Backend{},
			[]string{"version 2", "go tool nabla gen", "finitediff"}},
		{"literal", func(x []float64) float64 { return slope * x[0] }, reverse,
			[]string{"function literal", "package level", "nabla.Bind"}},
		{"method value", m.loss, reverse, []string{"method value", "nabla.BindMethod((*T).Method, receiver)"}},
		{"over Reals", over, reverse, []string{"source_test.over", "nabla.Real", "float64", "forwarddiff.Backend{}"}},
		{"struct", plain, reverse, []string{"function literal", "nabla.BindStructPlain"}},
		{"refused reverse code", refused, reverse,
			[]string{"source(reverse)", "refused", "no adjoint", "loss.go:7: a goto into a loop", "source.Forward{}"}},
		{"not asked for", partial, forward, []string{"no tangent", "nothing asks for the tangent"}},
		{"refused, but traced", traced, forward, []string{"no tangent", "loss.go:7", "forwarddiff.Backend{}"}},
		{"refused, another engine", refused, forwarddiff.Backend{},
			[]string{"no form over nabla.Real", "loss.go:8: a conversion to int", "source.Forward{}"}},
		{"refused as a whole", nothing, reverse,
			[]string{"nabla gen refused", "nothing: loss.go:9: a channel", "change it and run go tool nabla gen"}},
		{"refused as a whole, forward", nothing, forward,
			[]string{"nabla gen refused", "nothing: loss.go:9: a channel"}},
		{"refused as a whole, another engine", nothing, forwarddiff.Backend{},
			[]string{"nabla gen refused", "loss.go:9: a channel", "write it over nabla.Real"}},
	} {
		err := prep(tt.f, tt.b)
		if !errors.Is(err, nabla.ErrUnsupported) {
			t.Errorf("%s: got %v, want an UnsupportedError", tt.what, err)
			continue
		}
		for _, w := range tt.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q does not say %q", tt.what, err, w)
			}
		}
	}
	for _, b := range []nabla.Backend{reverse, nabla.SecondOrder{Outer: reverse, Inner: reverse}} {
		_, err := nabla.Hessian(partial, b, x)
		if !errors.Is(err, nabla.ErrUnsupported) || !strings.Contains(err.Error(), "nothing asks for second") {
			t.Errorf("Hessian with %s without code for second derivatives: %v", b.Name(), err)
		}
	}
	for _, b := range both {
		_, err := nabla.Hessian(refused, b, x)
		if !errors.Is(err, nabla.ErrUnsupported) || !strings.Contains(err.Error(), "goto into a loop") {
			t.Errorf("Hessian with %s without code for it: %v", b.Name(), err)
		}
	}
	if g, err := nabla.Gradient(refused, forward, x); err != nil || g[0] != 2 {
		t.Errorf("forward code alone: %v, %v", g, err)
	}
	h, err := nabla.Hessian(refused, nabla.SecondOrder{Outer: finitediff.Backend{}, Inner: forward}, x)
	if err != nil || math.Abs(h.At(0, 0)-2) > 1e-6 {
		t.Errorf("differences over forward code: %v, %v", h, err)
	}
	if g, err := nabla.Gradient(traced, forwarddiff.Backend{}, x); err != nil || g[0] != 2 {
		t.Errorf("traced alone: %v, %v", g, err)
	}
}

// TestStale changes the function without generating its code again.
func TestStale(t *testing.T) {
	defer func() { shift = 0 }()
	x := []float64{3}
	for _, b := range []nabla.Backend{source.Forward{}, source.Reverse{}, forwarddiff.Backend{}} {
		for _, tt := range []struct {
			name string
			call func(p *nabla.GradientPrep) error
		}{
			{"Gradient", func(p *nabla.GradientPrep) error { _, err := p.Gradient(nil, x); return err }},
			{"ValueAndGradient",
				func(p *nabla.GradientPrep) error { _, _, err := p.ValueAndGradient(nil, x); return err }},
		} {
			shift = 0
			p, err := nabla.PrepareGradient(shifted, b, x)
			if err != nil {
				t.Fatal(err)
			}
			quiet, err := nabla.PrepareGradient(shifted, nabla.Policy{Backend: b, NoStaleCheck: true}, x)
			if err != nil {
				t.Fatal(err)
			}
			for call := 1; call <= 20; call++ {
				shift = 0
				if call >= 6 {
					shift = 1e-6
				}
				var stale *nabla.StaleCodeError
				err := tt.call(p)
				switch {
				case call < 8 && err != nil:
					t.Errorf("%s with %s: call %d: %v", tt.name, b.Name(), call, err)
				case call >= 8 && (!errors.As(err, &stale) || !errors.Is(err, nabla.ErrStale)):
					t.Errorf("%s with %s: call %d: got %v, want a StaleCodeError", tt.name, b.Name(), call, err)
				case call >= 8 &&
					(stale.Got != 9 || stale.Want != 9+1e-6 || !strings.Contains(err.Error(), "go tool nabla gen")):
					t.Errorf("%s with %s: %v", tt.name, b.Name(), err)
				}
				if err := tt.call(quiet); err != nil {
					t.Errorf("%s with %s and NoStaleCheck: call %d: %v", tt.name, b.Name(), call, err)
				}
			}
		}
	}
}

// edited and its code, of an earlier version, are equal at 0 and on the line x₁ = 0, where their gradients are not.
func edited(x []float64) float64 { return (x[0]-1)*(x[0]-1) + 5*x[1] + x[1]*x[1] }

func init() {
	register(edited, nabla.Generated{New: func() nabla.Code {
		value := func(x []float64) float64 { return (x[0]-1)*(x[0]-1) + x[1]*x[1] }
		return nabla.Code{
			Tangent: func(y, ydot, x, xdot []float64, _ any) int {
				y[0], ydot[0] = value(x), 2*(x[0]-1)*xdot[0]+2*x[1]*xdot[1]
				return 1
			},
			Adjoint: func(y, xbar, x, ybar []float64, _ any) int {
				y[0], xbar[0], xbar[1] = value(x), 2*(x[0]-1)*ybar[0], 2*x[1]*ybar[0]
				return 1
			},
		}
	}})
}

// TestStaleAtZero: code of an older version is found out at a point where it has the value of the function.
func TestStaleAtZero(t *testing.T) {
	for _, b := range []nabla.Backend{source.Forward{}, source.Reverse{}} {
		for _, x := range [][]float64{{0, 0}, {1, 0}, {-7, 0}} {
			g, err := nabla.Gradient(edited, b, x)
			if !errors.Is(err, nabla.ErrStale) {
				t.Errorf("%s at %v: gradient %v, error %v, want a StaleCodeError", b.Name(), x, g, err)
			}
		}
	}
}

// half has a value at 1 only.
func half(x []float64) float64 {
	if x[0] != 1 {
		panic("another number")
	}
	return x[0] / 2
}

func init() {
	register(half, nabla.Generated{New: func() nabla.Code {
		return nabla.Code{
			Adjoint: func(y, xbar, x, ybar []float64, _ any) int {
				y[0], xbar[0] = half(x), ybar[0]/2
				return 1
			},
		}
	}})
}

// TestNoNeighbours: a function that has no value beside x has a derivative at x.
func TestNoNeighbours(t *testing.T) {
	if g, err := nabla.Gradient(half, source.Reverse{}, []float64{1}); err != nil || g[0] != 0.5 {
		t.Error(g, err)
	}
}

// cancel is rounding and nothing else at 1: there its code and the function agree in
// no digit.
func cancel(x []float64) float64 { return math.FMA(x[0], x[0], -1.21) }

func undefined(x []float64) float64 { return math.Sqrt(x[0]) / x[1] }

func init() {
	register(cancel, nabla.Generated{New: codeOf(func(x []float64, _ any) exact {
		square := x[0] * x[0]
		return exact{[]float64{square - 1.21}, []float64{2 * x[0]}, []float64{2}}
	})})
	register(undefined, nabla.Generated{New: codeOf(func(x []float64, _ any) exact {
		s := math.Sqrt(x[0])
		return exact{[]float64{s / x[1]}, []float64{0.5 / s / x[1], -s / x[1] / x[1]}, make([]float64, 4)}
	})})
}

// TestAgreement has values that are not stale though they do not agree digit by
// digit, or are not numbers.
func TestAgreement(t *testing.T) {
	x := []float64{1.1}
	if cancel(x) == x[0]*x[0]-1.21 {
		t.Log("this machine does not tell the two apart")
	}
	for _, b := range both[:2] {
		if g, err := nabla.Gradient(cancel, b, x); err != nil || g[0] != 2.2 {
			t.Errorf("%s: %v, %v", b.Name(), g, err)
		}
		for _, x := range [][]float64{{-1, 1}, {1, 0}, {0, 0}, {math.Inf(1), 1}, {math.NaN(), 1}} {
			if _, err := nabla.Gradient(undefined, b, x); err != nil {
				t.Errorf("%s at %v: %v", b.Name(), x, err)
			}
		}
	}
}

// TestPanics has a function that panics at some points: an error with the name of
// the function, and a fresh workspace afterwards.
func TestPanics(t *testing.T) {
	p, err := nabla.PrepareGradient(broken, source.Reverse{}, []float64{1})
	if err != nil {
		t.Fatal(err)
	}
	for range 4 {
		if g, err := p.Gradient(nil, []float64{1}); err != nil || g[0] != 1 {
			t.Fatalf("%v, %v", g, err)
		}
		var panicked *nabla.PanicError
		if _, err := p.Gradient(nil, []float64{5}); !errors.As(err, &panicked) ||
			panicked.Function != "source_test.broken" || len(panicked.Stack) == 0 {
			t.Errorf("got %v, want a PanicError of the function", err)
		}
	}
	if dirty > 0 {
		t.Errorf("code was used %d times after it had panicked", dirty)
	}
}

// TestOutputs has code that leaves an output out, and a function whose number of
// outputs changes.
func TestOutputs(t *testing.T) {
	f := nabla.InPlace(2, lopsided)
	for _, b := range both[:2] {
		p, err := nabla.PreparePushforward(f, b, []float64{1})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // the third call is not compared
			if _, err := p.Pushforward(nil, []float64{1}, []float64{1}); err != nil {
				t.Error(err)
			}
		}
		_, err = p.Pushforward(nil, []float64{3}, []float64{1})
		if !errors.Is(err, nabla.ErrOutputNotWritten) || !strings.Contains(err.Error(), "output 1") ||
			!strings.Contains(err.Error(), "lopsided") {
			t.Errorf("%s: got %v, want ErrOutputNotWritten", b.Name(), err)
		}
		extra = 0
		q, err := nabla.PreparePullback(growing, nabla.Policy{Backend: b, NoStaleCheck: true}, []float64{1})
		if err != nil {
			t.Fatal(err)
		}
		extra = -1
		var shape *nabla.ShapeError
		if _, err := q.Pullback(nil, []float64{1}, []float64{1, 1}); !errors.As(err, &shape) || shape.Got != 1 ||
			shape.Want != 2 {
			t.Errorf("%s: got %v, want a ShapeError", b.Name(), err)
		}
		extra = 0
	}
}

// TestClones has goroutines with clones of one object, each with code of its own.
func TestClones(t *testing.T) {
	x := []float64{0.4, -1.2, 0.9}
	for _, b := range both {
		p, err := nabla.PrepareHVP(valley, b, x)
		if err != nil {
			t.Fatal(err)
		}
		want, err := p.HVP(nil, x, x)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 4 {
			q := p.Clone()
			wg.Go(func() {
				for range 50 {
					if got, err := q.HVP(nil, x, x); err != nil || got[0] != want[0] || got[2] != want[2] {
						t.Errorf("%s: %v, %v; want %v", b.Name(), got, err, want)
					}
				}
			})
		}
		wg.Wait()
	}
}

// TestRebind checks that calls use the current contents of the bound struct, and of another struct.
func TestRebind(t *testing.T) {
	r := &rates{1, 2}
	y := []float64{3, 5}
	for _, b := range both[:2] {
		*r = rates{1, 2}
		p, err := nabla.PrepareJacobian(nabla.BindInPlace(2, lotka, r), b, y)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range []*rates{r, r, {7, 8}} {
			r.A += float64(i)
			if err := p.Rebind(s); err != nil {
				t.Fatal(err)
			}
			j, err := p.Jacobian(nil, y)
			if err != nil || j.At(0, 0) != s.A-5 || j.At(1, 1) != 3-s.B {
				t.Errorf("%s: %v, %v with %v", b.Name(), j, err, s)
			}
		}
	}
}
