package rules_test

import (
	"math"
	"math/rand/v2"
	"testing"

	. "github.com/nabla-ad/nabla/rules"
)

// derivative is Richardson's extrapolation of central differences from a step
// of relative size 1e-2, good to about 1e-10 for smooth functions.
// Source: Press et al., Numerical Recipes, §5.7 (Ridders).
func derivative(f func(float64) float64, x float64) float64 {
	const n = 8
	h := 2e-2 * max(math.Abs(x), 0.5)
	var a [n][n]float64
	best, err := math.NaN(), math.Inf(1)
	for i := range n {
		a[i][0] = (f(x+h) - f(x-h)) / (2 * h)
		h /= 1.5
		w := 1.0
		for j := 1; j <= i; j++ {
			w *= 1.5 * 1.5
			a[i][j] = (a[i][j-1]*w - a[i-1][j-1]) / (w - 1)
			e := max(math.Abs(a[i][j]-a[i][j-1]), math.Abs(a[i][j]-a[i-1][j-1]))
			if e <= err {
				best, err = a[i][j], e
			}
		}
	}
	return best
}

// intervals are where the ops are smooth, argument by argument; (-2, 2) for
// those not listed.
var intervals = map[Op][][2]float64{
	Inv: {{0.2, 3}}, Sqrt: {{0.1, 3}}, Cbrt: {{0.1, 3}}, Log: {{0.1, 3}}, Log2: {{0.1, 3}}, Log10: {{0.1, 3}},
	Log1p: {{-0.8, 3}}, Tan: {{-1, 1}}, Asin: {{-0.8, 0.8}}, Acos: {{-0.8, 0.8}}, Atanh: {{-0.8, 0.8}},
	Acosh: {{1.2, 3}}, Erfinv: {{-0.8, 0.8}}, Erfcinv: {{0.3, 1.7}}, Gamma: {{0.3, 3}}, Lgamma: {{0.3, 3}},
	Digamma: {{0.3, 3}}, Y0: {{0.5, 3}}, Y1: {{0.5, 3}}, Abs: {{0.2, 2}}, Sign: {{0.2, 2}},
	Floor: {{0.1, 0.9}}, Ceil: {{0.1, 0.9}}, Trunc: {{0.1, 0.9}}, Round: {{0.1, 0.4}}, RoundToEven: {{0.1, 0.4}},
	Logb: {{1.1, 1.9}}, GammaSign: {{-0.9, -0.1}}, Nextafter: {{1.1, 1.9}, {3, 4}},
	Div: {{-2, 2}, {0.3, 2}}, Pow: {{0.3, 2}, {-2, 2}}, PowDx: {{0.3, 2}, {-2, 2}}, PowDp: {{0.3, 2}, {-2, 2}},
	Hypot: {{0.3, 2}, {-2, 2}}, HypotDx: {{0.3, 2}, {-2, 2}}, Atan2: {{0.3, 2}, {-2, 2}},
	Max: {{0, 1}, {2, 3}}, Min: {{0, 1}, {2, 3}}, Lt: {{0, 1}, {2, 3}}, Le: {{0, 1}, {2, 3}}, Eq: {{0, 1}, {2, 3}},
	Mod: {{5.2, 5.8}, {1.4, 1.6}}, Remainder: {{5.2, 5.5}, {1.4, 1.6}}, Copysign: {{-2, -0.2}, {0.2, 2}},
	XLogY: {{-2, 2}, {0.3, 2}}, Jn: {{2, 2}, {0.5, 4}}, Yn: {{2, 2}, {0.5, 4}}, Polygamma: {{2, 2}, {0.3, 3}},
	Select: {{0.5, 1}, {-2, 2}, {-2, 2}},
}

// isOrder reports whether argument i is an integer order, which has no
// derivative.
func isOrder(o Op, i int) bool { return i == 0 && (o == Jn || o == Yn || o == Polygamma) }

// TestDifferences compares every partial with finite differences of the value,
// and the derivative of every partial's expression with finite differences of
// the partial. The formulas of the table play no part in the first.
func TestDifferences(t *testing.T) {
	const tol = 1e-8
	rng := rand.New(rand.NewPCG(1, 2))
	for o := Invalid + 1; o < NumOps; o++ {
		for range 5 {
			a := make([]float64, o.Arity())
			for i := range a {
				iv := [2]float64{-2, 2}
				if v := intervals[o]; v != nil {
					iv = v[i]
				}
				a[i] = iv[0] + (iv[1]-iv[0])*rng.Float64()
			}
			for i := range a {
				if isOrder(o, i) || o == Finite || o == Stop {
					continue
				}
				want := derivative(func(s float64) float64 { return value(o, with(a, i, s)...) }, a[i])
				got := numeric(o, i, a...)
				if math.Abs(got-want) > tol*(1+math.Abs(want)) {
					t.Errorf("d%d of %v%v: got %v, differences say %v", i, o, a, got, want)
				}
				first, _ := partialAt(o, i, i, a...)
				if relErr(first, got) > 1e-14 {
					t.Errorf("d%d of %v%v: the expression gives %v, the generated code %v", i, o, a, first, got)
				}
				for j := range a {
					if isOrder(o, j) {
						continue
					}
					want := derivative(func(s float64) float64 { return numeric(o, i, with(a, j, s)...) }, a[j])
					_, got := partialAt(o, i, j, a...)
					if math.Abs(got-want) > tol*(1+math.Abs(want)) {
						t.Errorf("d%d%d of %v%v: got %v, differences say %v", i, j, o, a, got, want)
					}
					d, used := numericSecond(o, i, j, a...)
					if used && math.Abs(d-want) > tol*(1+math.Abs(want)) {
						t.Errorf("generated d%d%d of %v%v: got %v, differences say %v", i, j, o, a, d, want)
					}
					curved := len(a) < 3 && Curved(o)&(1<<(i+j)) != 0
					if !curved && len(a) < 3 && math.Abs(want) > 1e-6 {
						t.Errorf("d%d%d of %v%v is %v, though %v is not curved", i, j, o, a, want, o)
					}
				}
			}
			if len(a) == 1 {
				v := value(o, a...)
				p, pp := Derivatives1(o, a[0], v)
				if !sameBits(p, Partial1(o, a[0], v)) || !sameBits(pp, Second1(o, a[0], v)) {
					t.Errorf("Derivatives1 of %v%v: %v, %v differ from the single ones", o, a, p, pp)
				}
			}
			if len(a) == 2 {
				px, py := Partials2(o, a[0], a[1], value(o, a...))
				if px != numeric(o, 0, a...) || py != numeric(o, 1, a...) {
					t.Errorf("Partials2 of %v%v: %v, %v differ from the single ones", o, a, px, py)
				}
			}
		}
	}
}

// with returns a copy of a with element i replaced.
func with(a []float64, i int, s float64) []float64 {
	b := append([]float64(nil), a...)
	b[i] = s
	return b
}

// sameBits does not distinguish NaNs.
func sameBits(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
}
