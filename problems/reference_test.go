package problems

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"sort"
	"strconv"
	"testing"
)

// vectorFacts is what the reference file says about a gradient.
type vectorFacts struct {
	Norm2   float64            `json:",string"`
	Sum     *float64           `json:",string"`
	Entries map[string]decimal `json:"entries"`
	All     []decimal          `json:"all"`
}

// decimal is a number written as a string.
type decimal float64

func (d *decimal) UnmarshalJSON(b []byte) error {
	v, err := strconv.Unquote(string(b))
	if err != nil {
		return err
	}
	f, err := strconv.ParseFloat(v, 64)
	*d = decimal(f)
	return err
}

type scalarFacts struct {
	Value    decimal
	Gradient vectorFacts
}

type blockFacts struct {
	Residual []decimal
	J        [][]decimal
}

type reference struct {
	LCG struct{ First10 []decimal }
	T1  map[string]scalarFacts
	T3  scalarFacts
	T5  struct {
		scalarFacts
		Norms map[string]decimal `json:"gradient_block_norms"`
	}
	T6 struct {
		Frobenius decimal `json:"jacobian_frobenius"`
		Norm2     decimal `json:"residual_norm2"`
		MaxAbs    decimal `json:"max_abs"`
		Median    decimal `json:"median_block_norm"`
		Blocks    map[string]blockFacts
	}
	T7, T8, GMM scalarFacts
	BA1         struct {
		Camera, Point, Feature []float64
		Weight                 float64
		Residual               []decimal
		Block                  [][]decimal
	}
}

func loadReference(t *testing.T) *reference {
	t.Helper()
	raw, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	r := new(reference)
	if err := json.Unmarshal(raw, r); err != nil {
		t.Fatal(err)
	}
	return r
}

// near checks got against want, where the size of the numbers around is scale.
func near(t *testing.T, what string, got, want, scale, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*scale) {
		t.Errorf("%s = %.17g, want %.17g (error %.2g of %.3g, tolerance %g)", what, got, want, math.Abs(got-want)/scale, scale, tol)
	}
}

func norm(v []float64) float64 {
	s := 0.0
	for _, e := range v {
		s = math.Hypot(s, e)
	}
	return s
}

func largest(v []float64) float64 {
	m := 0.0
	for _, e := range v {
		m = max(m, math.Abs(e))
	}
	return m
}

func checkVector(t *testing.T, g []float64, want vectorFacts, tol float64) {
	t.Helper()
	if want.Norm2 != 0 {
		near(t, "norm", norm(g), want.Norm2, want.Norm2, tol)
	}
	if want.Sum != nil {
		s, abs := 0.0, 0.0
		for _, v := range g {
			s += v
			abs += math.Abs(v)
		}
		near(t, "sum", s, *want.Sum, abs, tol)
	}
	if len(want.All) > 0 && len(want.All) != len(g) {
		t.Fatalf("%d components, want %d", len(g), len(want.All))
	}
	for i, v := range want.All {
		near(t, fmt.Sprintf("component %d", i), g[i], float64(v), largest(g), tol)
	}
	for k, v := range want.Entries {
		i, err := strconv.Atoi(k)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "component "+k, g[i], float64(v), largest(g), tol)
	}
}

// TestReference compares the derivatives written by hand with numbers computed with
// at least 40 digits.
func TestReference(t *testing.T) {
	ref := loadReference(t)
	check := func(p *Problem, want scalarFacts) {
		t.Helper()
		t.Run(fmt.Sprintf("%s/n=%d", p.Name, p.N), func(t *testing.T) {
			c := p.Cases[0]
			near(t, "value", c.Value[0], float64(want.Value), math.Abs(float64(want.Value)), 1e-15)
			tol := 1e-12
			if p.Name == "T8" {
				tol = 1e-15 // the digits themselves
			}
			checkVector(t, c.Derivative, want.Gradient, tol)
		})
	}
	for k, want := range ref.T1 {
		n, err := strconv.Atoi(k)
		if err != nil {
			t.Fatal(err)
		}
		check(T1(n), want)
	}
	check(T3(1000), ref.T3)
	check(T5(), ref.T5.scalarFacts)
	check(GMM(), ref.GMM)
	check(T7(), ref.T7)
	check(T8(), ref.T8)

	g := T5().Cases[0].Derivative
	for name, part := range map[string][]float64{"alphas": g[:5], "means": g[5:55], "icf": g[55:]} {
		want := float64(ref.T5.Norms[name])
		near(t, "T5: norm of "+name, norm(part), want, want, 1e-12)
	}
}

func TestGenerator(t *testing.T) {
	s := seed
	for i, want := range loadReference(t).LCG.First10 {
		if got := s.next(); got != float64(want) {
			t.Errorf("number %d is %v, want %v", i, got, want)
		}
	}
}

func TestLorenzAdjoint(t *testing.T) {
	c := T8().Cases[0]
	for i, v := range lorenzGradient(c.X) {
		near(t, fmt.Sprintf("component %d", i), v, c.Derivative[i], math.Abs(c.Derivative[i]), 1e-12)
	}
}

func TestDiffSquaresReference(t *testing.T) {
	c := T2(1000).Cases[0]
	near(t, "value", c.Value[0], 999, 999, 0)
	for i, v := range c.Derivative {
		want := 0.0
		switch i {
		case 0:
			want = -2
		case 999:
			want = 2
		}
		near(t, fmt.Sprintf("component %d", i), v, want, 1, 0)
	}
}

func checkBlock(t *testing.T, what string, y, jac []float64, want blockFacts, tol float64) {
	t.Helper()
	for i, v := range want.Residual {
		near(t, fmt.Sprintf("%s: residual %d", what, i), y[i], float64(v), largest(y), tol)
	}
	for i, row := range want.J {
		for j, v := range row {
			near(t, fmt.Sprintf("%s: J[%d,%d]", what, i, j), jac[15*i+j], float64(v), largest(jac), tol)
		}
	}
}

func TestBundleReference(t *testing.T) {
	ref, p := loadReference(t), T6()
	for k, want := range ref.T6.Blocks {
		i, err := strconv.Atoi(k)
		if err != nil {
			t.Fatal(err)
		}
		checkBlock(t, "block "+k, p.Cases[i].Value, p.Cases[i].Derivative, want, 1e-12)
	}
	// The norms are those of the blocks that rounding hits hardest.
	var all, residuals, norms []float64
	for _, c := range p.Cases {
		all = append(all, c.Derivative...)
		residuals = append(residuals, c.Value...)
		norms = append(norms, norm(c.Derivative))
	}
	sort.Float64s(norms)
	frob, res, top := float64(ref.T6.Frobenius), float64(ref.T6.Norm2), float64(ref.T6.MaxAbs)
	median := float64(ref.T6.Median)
	near(t, "Frobenius norm", norm(all), frob, frob, 1e-9)
	near(t, "norm of the residuals", norm(residuals), res, res, 1e-9)
	near(t, "largest", largest(all), top, top, 1e-9)
	near(t, "median of the blocks' norms", norms[len(norms)/2], median, median, 1e-9)

	b := ref.BA1
	x := append(append(append([]float64(nil), b.Camera...), b.Point...), b.Weight)
	y, jac := reprojectionJacobian(x, b.Feature)
	// The residual is the difference of numbers a thousand times its size.
	checkBlock(t, "ba1", y, jac, blockFacts{J: b.Block}, 1e-12)
	checkBlock(t, "ba1", y, jac, blockFacts{Residual: b.Residual}, 1e-11)
}
