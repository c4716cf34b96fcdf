package core

import (
	"math"
	"testing"

	"github.com/nabla-ad/nabla/rules"
)

// scale is the custom rule x ↦ c·x.
type scale float64

func (c scale) Name() string               { return "scale" }
func (c scale) Outputs(n int) int          { return n }
func (c scale) Value(y, x []float64)       { c.JVP(y, x, nil, x) }
func (c scale) Tangent(n int) Custom       { panic("not asked for") }
func (c scale) Cotangent(n int) Custom     { panic("not asked for") }
func (c scale) JVP(yd, x, y, xd []float64) { yd[0] = float64(c) * xd[0] }
func (c scale) VJP(xb, x, y, yb []float64) { xb[0] += float64(c) * yb[0] }

var inf, negZero = math.Inf(1), math.Copysign(0, -1)

// sweeps are functions of one number with their derivatives where a partial
// derivative is infinite, in plain and in strong mode of a sweep forwards.
var sweeps = []struct {
	name          string
	f             func(x Rep) Rep
	x             float64
	plain, strong float64
}{
	{"2x at Inf", func(x Rep) Rep { return Apply2(rules.Mul, Rep{V: 2}, x) }, inf, math.NaN(), 2},
	{"sqrt(-0·x) at 0: a zero of a rule is no structural one", func(x Rep) Rep {
		return Apply1(rules.Sqrt, Call(scale(negZero), []Rep{x})[0])
	}, 0, math.NaN(), math.NaN()},
}

func same(a, b float64) bool { return a == b || a != a && b != b }

func TestTapeForward(t *testing.T) {
	for _, c := range sweeps {
		for _, strong := range []bool{false, true} {
			var tr Tracer
			tr.StartTape(1, 0)
			y := c.f(tr.Input(0, c.x))
			got := []float64{0}
			tr.SweepForward(got, []int32{y.ID}, []float64{1}, strong)
			tr.Close()
			want := c.plain
			if strong {
				want = c.strong
			}
			if !same(got[0], want) {
				t.Errorf("%s, strong %v: got %v, want %v", c.name, strong, got[0], want)
			}
		}
	}
}

func TestTapeBackStrong(t *testing.T) {
	for _, c := range []struct {
		name string
		f    func(x Rep) Rep
		want float64
	}{
		{"0·scale(sqrt(x)) at 0", func(x Rep) Rep {
			return Apply2(rules.Mul, Call(scale(3), []Rep{Apply1(rules.Sqrt, x)})[0], Rep{})
		}, math.NaN()},
		{"where(false, scale(sqrt(x)), x) at 0", func(x Rep) Rep {
			return Apply3(rules.Select, Rep{}, Call(scale(3), []Rep{Apply1(rules.Sqrt, x)})[0], x)
		}, 1},
	} {
		var tr Tracer
		tr.StartTape(1, 0)
		y := c.f(tr.Input(0, 0))
		got := []float64{0}
		tr.SweepBack(got, []int32{y.ID}, []float64{1}, true)
		tr.Close()
		if !same(got[0], c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got[0], c.want)
		}
	}
}

func TestDualStrong(t *testing.T) {
	for _, c := range sweeps {
		var tr Tracer
		tr.StartDual(1, 1, 0, true)
		tr.Tangents(1)[0] = 1
		y := c.f(tr.Input(0, c.x))
		if got := tr.Tangents(y.ID)[0]; !same(got, c.strong) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.strong)
		}
		tr.Close()
	}
}

// A direction that moves nothing moves nothing after a custom rule either.
func TestTapeForwardKeepsStructuralZeros(t *testing.T) {
	var tr Tracer
	tr.StartTape(2, 0)
	x, u := tr.Input(0, 0), tr.Input(1, 1)
	y := Apply2(rules.Add, Apply1(rules.Sqrt, Call(scale(-3), []Rep{x})[0]), u)
	got := []float64{0}
	tr.SweepForward(got, []int32{y.ID}, []float64{0, 1}, true)
	tr.Close()
	if got[0] != 1 {
		t.Errorf("got %v, want 1", got[0])
	}
	// A sweep backwards from where the cotangent is zero.
	tr.StartTape(1, 0)
	x = tr.Input(0, 0)
	z := Call(scale(3), []Rep{Apply1(rules.Sqrt, x)})[0]
	tr.SweepBack(got, []int32{z.ID}, []float64{0}, true)
	tr.Close()
	if got[0] != 0 {
		t.Errorf("backwards: got %v, want 0", got[0])
	}
}
