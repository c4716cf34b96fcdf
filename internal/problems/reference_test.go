package problems

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"sort"
	"strconv"
	"testing"

	"github.com/nabla-ad/nabla"
)

// A vectorReference holds the reference values of a gradient.
type vectorReference struct {
	Norm2   float64            `json:",string"`
	Sum     *float64           `json:",string"`
	Entries map[string]decimal `json:"entries"`
	All     []decimal          `json:"all"`
}

// A decimal is a number written as a string.
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
	Gradient vectorReference
}

type blockReference struct {
	Residual []decimal
	J        [][]decimal
}

// A matrixReference holds the value, the Frobenius norm of the Jacobian and some of its elements, computed from the
// formulas with 60 digits by central differences with a step of 1e-22.
type matrixReference struct {
	Value   []decimal
	Norm    decimal
	Entries map[string]decimal
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
		Blocks    map[string]blockReference
	}
	T2 struct {
		First      decimal `json:"diag_first_last"`
		Interior   decimal `json:"diag_interior"`
		Beside     decimal `json:"offdiag"`
		NNZ        int
		Frobenius2 decimal
	}
	T4 map[string]struct {
		N, NNZ int
		Value  struct {
			Norm2, First, Last decimal
			U                  decimal `json:"at_u_10_20"`
			V                  decimal `json:"at_v_10_20"`
		}
		Jacobian struct {
			Frobenius, Sum decimal
			Entries        map[string]decimal
		}
	}
	LSTM, BA, HAND, HANDTRIANGLES matrixReference

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

// checkNear compares got with want, with a tolerance relative to scale.
func checkNear(t *testing.T, what string, got, want, scale, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*scale) {
		t.Errorf("%s = %.17g, want %.17g (error %.2g of %.3g, tolerance %g)", what, got, want, math.Abs(got-want)/scale,
			scale, tol)
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

func checkVector(t *testing.T, g []float64, want vectorReference, tol float64) {
	t.Helper()
	if want.Norm2 != 0 {
		checkNear(t, "norm", norm(g), want.Norm2, want.Norm2, tol)
	}
	if want.Sum != nil {
		s, abs := 0.0, 0.0
		for _, v := range g {
			s += v
			abs += math.Abs(v)
		}
		checkNear(t, "sum", s, *want.Sum, abs, tol)
	}
	if len(want.All) > 0 && len(want.All) != len(g) {
		t.Fatalf("%d components, want %d", len(g), len(want.All))
	}
	for i, v := range want.All {
		checkNear(t, fmt.Sprintf("component %d", i), g[i], float64(v), largest(g), tol)
	}
	for k, v := range want.Entries {
		i, err := strconv.Atoi(k)
		if err != nil {
			t.Fatal(err)
		}
		checkNear(t, "component "+k, g[i], float64(v), largest(g), tol)
	}
}

// TestReference compares the handwritten derivatives with numbers computed with at least 40 digits.
func TestReference(t *testing.T) {
	ref := loadReference(t)
	check := func(p *Problem, want scalarFacts) {
		t.Helper()
		t.Run(fmt.Sprintf("%s/n=%d", p.Name, p.N), func(t *testing.T) {
			c := p.Cases[0]
			checkNear(t, "value", c.Value[0], float64(want.Value), math.Abs(float64(want.Value)), 1e-15)
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
		checkNear(t, "T5: norm of "+name, norm(part), want, want, 1e-12)
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
		checkNear(t, fmt.Sprintf("component %d", i), v, c.Derivative[i], math.Abs(c.Derivative[i]), 1e-12)
	}
}

func TestDiffSquaresReference(t *testing.T) {
	c := T2(1000).Cases[0]
	checkNear(t, "value", c.Value[0], 999, 999, 0)
	for i, v := range c.Derivative {
		want := 0.0
		switch i {
		case 0:
			want = -2
		case 999:
			want = 2
		}
		checkNear(t, fmt.Sprintf("component %d", i), v, want, 1, 0)
	}
}

func checkBlock(t *testing.T, what string, y, jac []float64, want blockReference, tol float64) {
	t.Helper()
	for i, v := range want.Residual {
		checkNear(t, fmt.Sprintf("%s: residual %d", what, i), y[i], float64(v), largest(y), tol)
	}
	for i, row := range want.J {
		for j, v := range row {
			checkNear(t, fmt.Sprintf("%s: J[%d,%d]", what, i, j), jac[15*i+j], float64(v), largest(jac), tol)
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
	// The norms are those of the blocks with the largest rounding errors.
	var all, residuals, norms []float64
	for _, c := range p.Cases {
		all = append(all, c.Derivative...)
		residuals = append(residuals, c.Value...)
		norms = append(norms, norm(c.Derivative))
	}
	sort.Float64s(norms)
	frob, res, top := float64(ref.T6.Frobenius), float64(ref.T6.Norm2), float64(ref.T6.MaxAbs)
	median := float64(ref.T6.Median)
	checkNear(t, "Frobenius norm", norm(all), frob, frob, 1e-9)
	checkNear(t, "norm of the residuals", norm(residuals), res, res, 1e-9)
	checkNear(t, "largest", largest(all), top, top, 1e-9)
	checkNear(t, "median of the blocks' norms", norms[len(norms)/2], median, median, 1e-9)

	b := ref.BA1
	x := append(append(append([]float64(nil), b.Camera...), b.Point...), b.Weight)
	y, jac := reprojectionJacobian(x, b.Feature)
	// The residual is the difference of numbers a thousand times as large.
	checkBlock(t, "ba1", y, jac, blockReference{J: b.Block}, 1e-12)
	checkBlock(t, "ba1", y, jac, blockReference{Residual: b.Residual}, 1e-11)
}

// place parses "row,column".
func place(t *testing.T, s string) (i, j int) {
	t.Helper()
	if _, err := fmt.Sscanf(s, "%d,%d", &i, &j); err != nil {
		t.Fatal(err)
	}
	return i, j
}

func TestADBenchReference(t *testing.T) {
	ref := loadReference(t)
	for _, c := range []struct {
		p    *Problem
		want matrixReference
	}{
		{LSTM(), ref.LSTM}, {BA(), ref.BA}, {HandSimple(), ref.HAND}, {HandTriangles(), ref.HANDTRIANGLES},
	} {
		y, jac := c.p.Cases[0].Value, c.p.Cases[0].Derivative
		if len(c.want.Value) != len(y) || len(c.want.Entries) < 40 {
			t.Errorf("%s: reference with %d values and %d elements", c.p.Name, len(c.want.Value), len(c.want.Entries))
		}
		for i, v := range c.want.Value {
			checkNear(t, fmt.Sprintf("%s: output %d", c.p.Name, i), y[i], float64(v), largest(y), 1e-15*4)
		}
		checkNear(t, c.p.Name+": norm", norm(jac), float64(c.want.Norm), float64(c.want.Norm), 1e-14)
		for k, v := range c.want.Entries {
			i, j := place(t, k)
			checkNear(t, c.p.Name+": element "+k, jac[i*c.p.N+j], float64(v), largest(jac), 1e-14)
		}
	}
}

// TestAdjustmentOfADBench has several cameras, points and observations, all equal to those of ADBench's input ba1.
func TestAdjustmentOfADBench(t *testing.T) {
	b := loadReference(t).BA1
	const seen = 7
	a := &Adjustment{Cameras: 2, Points: 3}
	var x []float64
	for range a.Cameras {
		x = append(x, b.Camera...)
	}
	for range a.Points {
		x = append(x, b.Point...)
	}
	for range seen {
		x, a.Features = append(x, b.Weight), append(a.Features, b.Feature...)
	}
	n, m := a.Dims()
	y, jac := AdjustmentJacobian(x, a)
	plain := make([]float64, m)
	AdjustmentPlain(plain, x, a)
	if len(x) != n || len(y) != 3*seen || len(jac) != 31*seen {
		t.Fatalf("%d inputs, %d outputs, %d elements", len(x), len(y), len(jac))
	}
	full := dense(jac, m, n)
	for i := range seen {
		cols := a.columns(i)
		for r := range 2 {
			checkNear(t, "residual", plain[2*i+r], float64(b.Residual[r]), largest(y), 1e-11)
			for k, c := range cols {
				checkNear(t, fmt.Sprintf("observation %d, row %d, column %d", i, r, k), full[(2*i+r)*n+c],
					float64(b.Block[r][k]), 2000, 1e-13)
			}
		}
		checkNear(t, "weight", plain[2*seen+i], 0.826092651516, 1, 1e-15)
		checkNear(t, "weight's derivative", full[(2*seen+i)*n+cols[14]], -0.834044, 1, 1e-15)
	}
}

func TestBrusselatorReference(t *testing.T) {
	for name, want := range loadReference(t).T4 {
		var n int
		if _, err := fmt.Sscanf(name, "%d", &n); err != nil {
			t.Fatal(err)
		}
		s := seed
		x := s.draw(2 * n * n)
		if name == "32_sciml_initial_state" {
			bump := func(k int) float64 {
				v := float64(k) / float64(n-1)
				return math.Pow(v*(1-v), 1.5)
			}
			for j := range n {
				for i := range n {
					x[i+n*j], x[n*n+i+n*j] = 22*bump(j), 27*bump(i)
				}
			}
		}
		y := make([]float64, 2*n*n)
		BrusselatorPlain(y, x, n)
		norm2, big := float64(want.Value.Norm2), largest(y)
		checkNear(t, name+": norm", norm(y), norm2, norm2, 1e-13)
		checkNear(t, name+": first", y[0], float64(want.Value.First), big, 1e-14)
		if want.Value.Last != 0 {
			checkNear(t, name+": last", y[len(y)-1], float64(want.Value.Last), big, 1e-14)
		}
		if want.Value.U != 0 {
			checkNear(t, name+": u", y[10+20*n], float64(want.Value.U), big, 1e-13)
			checkNear(t, name+": v", y[n*n+10+20*n], float64(want.Value.V), big, 1e-13)
		}
		jac := BrusselatorJacobian(x, n)
		if len(y) != want.N || len(jac) != want.NNZ {
			t.Errorf("%s: %d outputs, %d elements; want %d, %d", name, len(y), len(jac), want.N, want.NNZ)
		}
		at := map[[2]int]float64{}
		frob, sum := 0.0, 0.0
		for _, e := range jac {
			at[[2]int{e.Row, e.Col}] += e.Value
			frob = math.Hypot(frob, e.Value)
			sum += e.Value
		}
		if len(at) != len(jac) {
			t.Errorf("%s: %d places for %d elements", name, len(at), len(jac))
		}
		checkNear(t, name+": Frobenius norm", frob, float64(want.Jacobian.Frobenius), frob, 1e-13)
		checkNear(t, name+": sum", sum, float64(want.Jacobian.Sum), frob, 1e-11)
		for k, v := range want.Jacobian.Entries {
			i, j := place(t, k)
			checkNear(t, name+": element "+k, at[[2]int{i, j}], float64(v), math.Abs(float64(v)), 1e-12)
		}
	}
}

func TestDiffSquaresHessianReference(t *testing.T) {
	want := loadReference(t).T2
	h := DiffSquaresHessian(1000)
	sum2 := 0.0
	for _, e := range h {
		v := want.Interior
		switch {
		case e.Row != e.Col:
			v = want.Beside
		case e.Row == 0 || e.Row == 999:
			v = want.First
		}
		if e.Value != float64(v) {
			t.Errorf("element %d, %d is %v, want %v", e.Row, e.Col, e.Value, v)
		}
		sum2 += e.Value * e.Value
	}
	if len(h) != want.NNZ || sum2 != float64(want.Frobenius2) {
		t.Errorf("%d elements, sum of squares %v; want %d, %v", len(h), sum2, want.NNZ, want.Frobenius2)
	}
}

// TestHandStraight requires that a hand without bent fingers has its vertices at the positions of the model, and that a
// rotation by a tiny angle takes the branch for none.
func TestHandStraight(t *testing.T) {
	s := seed
	h := randomHand(&s)
	x, y := make([]float64, handPose), make([]float64, len(h.Points))
	HandPlain(y, x, h)
	for j, v := range h.Vertices {
		for k := range 3 {
			checkNear(t, fmt.Sprintf("point %d", j), y[3*j+k], h.Points[3*j+k]-h.Skin[3*v+k], 10, 1e-14)
		}
	}
	x[0] = 9e-5
	z := make([]float64, len(y))
	HandPlain(z, x, h)
	for i, v := range handJacobian(x, h) {
		if i%handPose < 3 && v != 0 {
			t.Errorf("the derivative by the rotation is %v", v)
		}
	}
	for i := range z {
		checkNear(t, "hardly turned", z[i], y[i], 1, 0)
	}
}

// TestHandTurnedAboutOneAxis requires that a rotation about any axis keeps the points' distances from the origin and
// moves them.
func TestHandTurnedAboutOneAxis(t *testing.T) {
	s := seed
	h := randomHand(&s)
	clear(h.Points) // the residuals are the vertices then
	at := func(x []float64) (y, z []float64) {
		y, z = make([]float64, len(h.Points)), make([]float64, len(h.Points))
		HandPlain(y, x, h)
		xs, zs := make([]nabla.Real, len(x)), make([]nabla.Real, len(z))
		for i, v := range x {
			xs[i] = nabla.Const(v)
		}
		HandResidual(zs, xs, h)
		for i := range z {
			z[i] = zs[i].Value()
		}
		return y, z
	}
	rest, _ := at(make([]float64, handPose))
	for axis := range 3 {
		x := make([]float64, handPose)
		x[axis] = 0.75
		plain, traced := at(x)
		for j := 0; j < len(rest); j += 3 {
			for _, y := range [][]float64{plain, traced} {
				checkNear(t, "length", norm(y[j:j+3]), norm(rest[j:j+3]), 10, 1e-13)
				checkNear(t, "along the axis", y[j+axis], rest[j+axis], 10, 1e-13)
				if k := (axis + 1) % 3; y[j+k] == rest[j+k] {
					t.Errorf("axis %d: point %d has not moved", axis, j/3)
				}
			}
		}
	}
}
