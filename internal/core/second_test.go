package core

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nabla-ad/nabla/rules"
)

// TestPullAlong compares derivatives of contributions to cotangents with the second derivatives of the rules.
func TestPullAlong(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	compared := 0
	for op := rules.Invalid + 1; op < rules.NumOps; op++ {
		if op.Arity() > 2 || op.Choice() || op.Strong() {
			continue
		}
		for range 20 {
			x := Dual{0.2 + 0.6*r.Float64(), r.NormFloat64()}
			y := Dual{0.2 + 0.6*r.Float64(), r.NormFloat64()}
			bar := Dual{r.NormFloat64(), r.NormFloat64()}
			var p, s [2]float64 // first derivatives, and those along the direction
			v := Dual{}
			if op.Arity() == 1 {
				v.V = rules.Value1(op, x.V)
				p[0] = rules.Partial1(op, x.V, v.V)
				v.D, s[0] = p[0]*x.D, rules.Second1(op, x.V, v.V)*x.D
			} else {
				v.V = rules.Value2(op, x.V, y.V)
				p[0], p[1] = rules.Partials2(op, x.V, y.V, v.V)
				xx, xy, yy := rules.Seconds2(op, x.V, y.V, v.V)
				v.D = p[0]*x.D + p[1]*y.D
				s = [2]float64{xx*x.D + xy*y.D, xy*x.D + yy*y.D}
			}
			if d := Push(op, x, y, v.V); !(math.Abs(d-v.D) <= 1e-12*math.Max(1, math.Abs(v.D))) && v.V == v.V {
				t.Errorf("%v(%v, %v): derivative %g, want %g", op, x, y, d, v.D)
			}
			for i := range op.Arity() {
				got, want := PullAlong(op, i, x, y, v, bar), bar.V*s[i]+bar.D*p[i]
				scale := math.Abs(bar.V*s[i]) + math.Abs(bar.D*p[i]) + 1
				if want != want {
					continue
				}
				compared++
				if !(math.Abs(got-want) <= 1e-10*scale) {
					t.Errorf("%v(%v, %v), argument %d, cotangent %v: %g, want %g", op, x, y, i, bar, got, want)
				}
			}
		}
	}
	if compared < 1000 {
		t.Errorf("only %d derivatives are compared", compared)
	}
}

// TestPullAlongStructural: what nothing depends on is structurally zero, also beside derivatives that are not finite.
func TestPullAlongStructural(t *testing.T) {
	none := math.Copysign(0, -1)
	inf := math.Inf(1)
	for _, tt := range []struct {
		op   rules.Op
		i    int
		x, y Dual
		bar  Dual
		want float64
	}{
		{rules.Sqrt, 0, Dual{0, none}, Dual{0, none}, Dual{3, none}, none},
		{rules.Sqrt, 0, Dual{4, none}, Dual{0, none}, Dual{3, 2}, 0.5},
		{rules.Sqrt, 0, Dual{4, 1}, Dual{0, none}, Dual{3, none}, -3.0 / 32},
		{rules.Pow, 0, Dual{0, none}, Dual{1.5, none}, Dual{1, 0}, 0},
		{rules.Pow, 0, Dual{0, 1}, Dual{1.5, none}, Dual{1, none}, inf},
		{rules.Mul, 0, Dual{inf, 1}, Dual{2, none}, Dual{1, none}, none},
		{rules.Mul, 0, Dual{inf, 1}, Dual{2, 5}, Dual{1, none}, 5},
		{rules.Floor, 0, Dual{2, 1}, Dual{0, none}, Dual{1, 1}, none},
	} {
		var v Dual
		if tt.op.Arity() == 1 {
			v.V = rules.Value1(tt.op, tt.x.V)
		} else {
			v.V = rules.Value2(tt.op, tt.x.V, tt.y.V)
		}
		v.D = Push(tt.op, tt.x, tt.y, v.V)
		still := IsStructuralZero(tt.x.D) && IsStructuralZero(tt.y.D) || tt.op == rules.Floor
		if IsStructuralZero(v.D) != still {
			t.Errorf("%v(%v, %v): derivative %g, structural %v", tt.op, tt.x, tt.y, v.D, still)
		}
		got := PullAlong(tt.op, tt.i, tt.x, tt.y, v, tt.bar)
		if math.Float64bits(got) != math.Float64bits(tt.want) && !(math.Abs(got-tt.want) < 1e-15) {
			t.Errorf("%v(%v, %v), cotangent %v: %g, want %g", tt.op, tt.x, tt.y, tt.bar, got, tt.want)
		}
		if IsStructuralZero(got) != IsStructuralZero(tt.want) {
			t.Errorf("%v(%v, %v), cotangent %v: %g is structural or not, want %g", tt.op, tt.x, tt.y, tt.bar, got,
				tt.want)
		}
	}
}

// TestPullAlongCall: the derivative of a rule is asked for only if its arguments move.
func TestPullAlongCall(t *testing.T) {
	none := math.Copysign(0, -1)
	x, y, bar := []float64{2}, []float64{6}, []float64{1}
	for _, tt := range []struct{ dot, want float64 }{{5, 15}, {0, 0}, {none, none}} {
		got := PullAlongCall(scale(3), x, y, bar, []float64{none}, []float64{none}, []float64{tt.dot})
		if math.Float64bits(got[0]) != math.Float64bits(tt.want) {
			t.Errorf("cotangent along %g: got %g, want %g", tt.dot, got[0], tt.want)
		}
		if got := PushCall(scale(3), x, y, []float64{tt.dot}); math.Float64bits(got[0]) != math.Float64bits(tt.want) {
			t.Errorf("along %g: got %g, want %g", tt.dot, got[0], tt.want)
		}
	}
}
