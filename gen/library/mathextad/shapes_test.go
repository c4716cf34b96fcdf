package mathextad_test

import (
	"encoding/json"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/library/mathextad"
	"github.com/nabla-ad/nabla/gen/rt"
)

// table reads testdata/shapes.json: the rows hold arguments, then derivatives as text.
func table(t *testing.T) (rows struct{ Gamma, Beta [][]any }) {
	t.Helper()
	text, err := os.ReadFile("testdata/shapes.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

func number(t *testing.T, v any) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(v.(string), 64)
	if err != nil && math.Abs(x) > 1 {
		t.Fatal(err)
	}
	return x
}

// digits reports whether got is want to 12 digits, of a scale that is larger near zeros of derivatives.
func digits(got, want, scale float64) bool {
	return math.Abs(got-want) <= 1e-12*math.Abs(want)+4e-15*math.Abs(scale)+1e-300
}

// TestShapes compares derivatives with respect to shapes with those of mpmath, in the centre and in both tails.
func TestShapes(t *testing.T) {
	rows := table(t)
	for _, r := range rows.Gamma {
		a, x := r[0].(float64), r[1].(float64)
		scale := 0.0
		for k := 1; k <= 3; k++ {
			want := number(t, r[1+k])
			got := mathextad.GammaShape(k, a, x, 1)
			if !digits(got, want, scale) {
				t.Errorf("∂%dP/∂a at a = %v, x = %v: %v, want %v", k, a, x, got, want)
			}
			// Inverses have the quotient by the density, which is there where both underflow.
			density := mathextad.GammaDensity(a, x)
			inverse := mathextad.GammaInvShape(k, a, x, 1)
			if density > 1e-290 && !digits(-inverse*density, got, scale) || inverse != inverse {
				t.Errorf("∂%dP/∂a over the density at a = %v, x = %v: %v, want %v", k, a, x, -inverse, got/density)
			}
			if scale = math.Abs(want); a < 1 {
				scale /= a
			}
		}
	}
	for _, r := range rows.Beta {
		a, b, x := r[0].(float64), r[1].(float64), r[2].(float64)
		first, second := math.Abs(number(t, r[3])), math.Abs(number(t, r[4]))
		low := min(a, b, 1)
		for i, o := range [][2]int{{1, 0}, {0, 1}, {2, 0}, {1, 1}, {0, 2}} {
			want, scale := number(t, r[3+i]), 0.0
			if i >= 2 {
				scale = (first*float64(o[0]) + second*float64(o[1])) / low
			}
			got := mathextad.BetaShape(o[0], o[1], a, b, x, 1)
			if !digits(got, want, scale) {
				t.Errorf("∂%d,%dI/∂a∂b at a = %v, b = %v, x = %v: %v, want %v", o[0], o[1], a, b, x, got, want)
			}
			density := mathextad.BetaDensity(a, b, x)
			inverse := mathextad.BetaInvShape(o[0], o[1], a, b, x, 1)
			if density > 1e-290 && !digits(-inverse*density, got, scale) || inverse != inverse {
				t.Errorf("∂%d,%dI/∂a∂b over the density at a = %v, b = %v, x = %v: %v", o[0], o[1], a, b, x, -inverse)
			}
		}
	}
}

// TestShapesClosed compares with closed forms: P(1, x) = 1-e^(-x), whose neighbour is an exponential integral, and
// finite sums for whole shapes.
func TestShapesClosed(t *testing.T) {
	for _, x := range []float64{0.125, 0.5, 0.9, 1, 1.5, 4, 20} {
		// ∂P/∂a at 1 is γ(1-e^-x) + log(x)(1-e^-x) - Ein(x), with the entire Ein(x) = Σ -(-x)^k/(k·k!), less log(x).
		ein, term := 0.0, -1.0
		for k := 1.0; k < 120; k++ {
			term *= -x / k
			ein += term / k
		}
		const gamma = 0.57721566490153286060651209
		// ∂γ(a, x)/∂a at 1 is -e^-x·log x + ∫ e^-t·log t dt by parts: ∫_0^x (1-e^-t)/t dt = Ein(x).
		want := -math.Expm1(-x)*gamma + math.Log(x)*-math.Expm1(-x) - ein
		// The terms cancel where x is large.
		if got := mathextad.GammaShape(1, 1, x, 1); !(math.Abs(got-want) <= 1e-13*(math.Abs(want)+math.Exp(x)*1e-2)) {
			t.Errorf("∂P/∂a at a = 1, x = %v: %v, want %v", x, got, want)
		}
	}
	for a := 1.0; a <= 12; a++ {
		for b := 1.0; b <= 12; b++ {
			for _, x := range []float64{0.01, 0.25, 0.5, 0.75, 0.99} {
				// I(x; a, b) = x^a·Σ (a)_k/k!·(1-x)^k for k < b, where a may vary; DLMF 8.17.24.
				sum, term, product := 0.0, math.Pow(x, a), math.Log(x)
				for k := range int(b) {
					sum += term * product
					term *= (a + float64(k)) / float64(k+1) * (1 - x)
					product += 1 / (a + float64(k))
				}
				if got := mathextad.BetaShape(1, 0, a, b, x, 1); !(math.Abs(got-sum) <= 1e-12*math.Abs(sum)+1e-15) {
					t.Errorf("∂I/∂a at a = %v, b = %v, x = %v: %v, want %v", a, b, x, got, sum)
				}
				got, want := mathextad.BetaShape(1, 1, a, b, x, 1), -mathextad.BetaShape(1, 1, b, a, 1-x, 1)
				if !digits(got, want, math.Abs(sum)) {
					t.Errorf("I(%v; %v, %v) has the mixed derivative %v, and %v by symmetry", x, a, b, got, want)
				}
			}
		}
	}
}

// TestShapesLimits checks ends of the domain, underflow, factors of 0 and the largest order.
func TestShapesLimits(t *testing.T) {
	for _, c := range []struct{ got, want float64 }{
		{mathextad.GammaShape(1, 2, 0, 1), 0}, {mathextad.GammaShape(1, 2, math.Inf(1), 1), 0},
		{mathextad.GammaShape(1, 2, 1e4, 1), 0}, {mathextad.GammaShape(2, 1e4, 1e-3, 1), 0},
		{mathextad.GammaShape(1, 0, 2, 1), math.NaN()}, {mathextad.GammaShape(1, math.NaN(), 2, 1), math.NaN()},
		{mathextad.GammaShape(1, 2, math.NaN(), 1), math.NaN()}, {mathextad.GammaShape(1, math.NaN(), 2, 0), 0},
		{mathextad.BetaShape(1, 0, 2, 3, 0, 1), 0}, {mathextad.BetaShape(0, 1, 2, 3, 1, 1), 0},
		{mathextad.BetaShape(0, 1, 1e4, 3, 1e-3, 1), 0}, {mathextad.BetaShape(1, 0, 0, 3, 0.5, 1), math.NaN()},
		{mathextad.BetaShape(1, 0, 2, 3, math.NaN(), 1), math.NaN()},
		{mathextad.BetaShape(1, 0, 2, math.NaN(), 0.5, 0), 0},
		{mathextad.GammaInvShape(1, 2, 0, 1), 0}, {mathextad.BetaInvShape(1, 0, 2, 3, 1, 1), 0},
		{mathextad.GammaInvShape(1, math.NaN(), 2, 0), 0}, {mathextad.BetaInvShape(1, 0, 2, math.NaN(), 0.5, 0), 0},
		// a·log x has the derivative log x, which is that of the function in the far tail.
		{math.Round(mathextad.GammaInvShape(1, 1e-3, 1e-300, 1) * 1e300),
			math.Round((math.Log(1e300) + rt.Digamma(1.001)) * 1e3)},
	} {
		if c.got != c.want && !(c.got != c.got && c.want != c.want) {
			t.Errorf("%v, want %v", c.got, c.want)
		}
	}
	for _, f := range []func(){
		func() { mathextad.GammaShape(13, 2, 3, 1) }, func() { mathextad.GammaBell(13, 2, 3, 1) },
		func() { mathextad.BetaShape(7, 6, 2, 3, 0.5, 1) }, func() { mathextad.BetaBell(7, 6, 2, 3, 0.5, 1) },
	} {
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.Contains(text, "up to order 12") {
					t.Errorf("order 13: %q", text)
				}
			}()
			f()
		}()
	}
}

var sink float64

// BenchmarkShapes prints the time of a derivative with respect to a shape, and beside it that with respect to x.
func BenchmarkShapes(b *testing.B) {
	for _, c := range []struct {
		name string
		f    func()
	}{
		{"gamma/density", func() { sink = mathextad.GammaDensity(2.5, 1.5) }},
		{"gamma/first", func() { sink = mathextad.GammaShape(1, 2.5, 1.5, 1) }},
		{"gamma/second", func() { sink = mathextad.GammaShape(2, 2.5, 1.5, 1) }},
		{"gamma/passive", func() { _, sink = mathextad.GammaIncRegShapeTangent(2.5, 1.5, 0, 1) }},
		{"gamma/x alone", func() { _, sink = mathextad.GammaIncRegTangent(2.5, 1.5, 1) }},
		{"beta/density", func() { sink = mathextad.BetaDensity(2.5, 1.5, 0.25) }},
		{"beta/first", func() { sink = mathextad.BetaShape(1, 0, 2.5, 1.5, 0.25, 1) }},
		{"beta/mixed", func() { sink = mathextad.BetaShape(1, 1, 2.5, 1.5, 0.25, 1) }},
		{"beta/x alone", func() { _, sink = mathextad.RegIncBetaTangent(2.5, 1.5, 0.25, 1) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.f()
			}
		})
	}
}
