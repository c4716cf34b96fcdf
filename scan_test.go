package nabla_test

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/taylor"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/internal/longtest"
)

// unrolled returns the loop of s as plain operations of the function that calls it.
func unrolled(s nabla.Scan) nabla.ScanFunc {
	return func(n int, state, params, inputs []nabla.Real) (last, outputs []nabla.Real) {
		outputs = make([]nabla.Real, n*s.Outputs)
		each := 0
		if n > 0 {
			each = len(inputs) / n
		}
		for i := range n {
			step := &nabla.ScanStep{Index: nabla.Const(float64(i)), State: state, Params: params,
				Inputs: inputs[i*each : (i+1)*each], Next: make([]nabla.Real, len(state)),
				Outputs: outputs[i*s.Outputs : (i+1)*s.Outputs]}
			s.Step(step)
			state = step.Next
		}
		return state, outputs
	}
}

// A scanCase is a function that calls a loop.
type scanCase struct {
	s                        nabla.Scan
	n, state, params, inputs int
	x                        []float64 // state, parameters and inputs
	singular                 bool
}

// over returns the case as a vector function, by the loop run.
func (c scanCase) over(run nabla.ScanFunc) func(x []nabla.Real) []nabla.Real {
	return func(x []nabla.Real) []nabla.Real {
		in := x[c.state+c.params:]
		last, out := run(c.n, x[:c.state], x[c.state:c.state+c.params], in)
		return append(append([]nabla.Real{}, last...), out...)
	}
}

// weigh returns a sum of functions of the outputs of f. It is linear for a case with a singular point: a zero
// derivative of a loop is no structural zero of the function that calls it, as for other rules.
func (c scanCase) weigh(f func(x []nabla.Real) []nabla.Real) func(x []nabla.Real) nabla.Real {
	return func(x []nabla.Real) nabla.Real {
		s, last := nabla.Const(0), nabla.Const(1)
		for i, y := range f(x) {
			s = s.Add(y.Scale(1 + float64(i)/4))
			if !c.singular {
				s = s.Add(y.Mul(last))
				last = y
			}
		}
		return s
	}
}

// sum returns a sum of functions of the outputs of the loop run.
func (c scanCase) sum(run nabla.ScanFunc) func(x []nabla.Real) nabla.Real {
	return c.weigh(c.over(run))
}

// lorenz is a step of the explicit Euler method for the Lorenz system with the parameters σ, ρ and β.
func lorenz(s *nabla.ScanStep) {
	x, y, z := s.State[0], s.State[1], s.State[2]
	sigma, rho, beta := s.Params[0], s.Params[1], s.Params[2]
	const h = 0.01
	s.Next[0] = x.Add(sigma.Mul(y.Sub(x)).Scale(h))
	s.Next[1] = y.Add(x.Mul(rho.Sub(z)).Sub(y).Scale(h))
	s.Next[2] = z.Add(x.Mul(y).Sub(beta.Mul(z)).Scale(h))
}

var scanCases = map[string]scanCase{
	"lorenz": {s: nabla.Scan{Step: lorenz}, n: 20, state: 3, params: 3, x: []float64{1, 2, 3, 10, 28, 8. / 3}},
	"one step": {s: nabla.Scan{Step: lorenz}, n: 1, state: 3, params: 3,
		x: []float64{1, 2, 3, 10, 28, 8. / 3}},
	"no step": {s: nabla.Scan{Step: lorenz}, n: 0, state: 3, params: 3,
		x: []float64{1, 2, 3, 10, 28, 8. / 3}},
	// A tent map, with a branch in each step and one output.
	"branches": {s: nabla.Scan{Outputs: 1, Step: func(s *nabla.ScanStep) {
		if s.State[0].Less(s.Params[0]) {
			s.Next[0] = s.State[0].Div(s.Params[0])
		} else {
			s.Next[0] = nabla.Const(1).Sub(s.State[0]).Div(nabla.Const(1).Sub(s.Params[0]))
		}
		s.Outputs[0] = nabla.Sin(s.State[0])
	}}, n: 12, state: 1, params: 1, x: []float64{0.3, 0.4}},
	// A recurrent network with an input and an output in each step.
	"network": {s: nabla.Scan{Outputs: 2, Step: func(s *nabla.ScanStep) {
		for i := range s.Next {
			a := s.Inputs[i]
			for j, h := range s.State {
				a = a.Add(s.Params[2*i+j].Mul(h))
			}
			s.Next[i] = nabla.Tanh(a)
		}
		s.Outputs[0] = s.Next[0].Mul(s.Next[1])
		s.Outputs[1] = s.Params[3]
	}}, n: 5, state: 2, params: 4, inputs: 2,
		x: []float64{0.1, -0.2, 0.5, -0.3, 0.2, 0.7, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, -0.9, 1}},
	// An integrand, with no state but the sum, that reads the number of the step.
	"index": {s: nabla.Scan{Step: func(s *nabla.ScanStep) {
		t := s.Index.Scale(0.1)
		s.Next[0] = s.State[0].Add(nabla.Sin(t.Mul(s.Params[0])).Scale(0.1))
	}}, n: 9, state: 1, params: 1, x: []float64{0, 1.3}},
	"branch of the index": {s: nabla.Scan{Step: func(s *nabla.ScanStep) {
		s.Next[0] = s.State[0].Mul(s.Params[s.Index.Int()%2])
		if s.Index.Equal(nabla.Const(3)) {
			s.Next[0] = nabla.Exp(s.State[0])
		}
	}}, n: 7, state: 1, params: 2, x: []float64{0.6, 1.1, 0.9}},
	"more branches than are kept": {s: nabla.Scan{Step: func(s *nabla.ScanStep) {
		s.Next[0] = s.State[0].Mul(s.Params[0]).AddConst(float64(s.Index.Int()))
	}}, n: 40, state: 1, params: 1, x: []float64{0.6, 1.1}},
	"without state": {s: nabla.Scan{Outputs: 1, Step: func(s *nabla.ScanStep) {
		s.Outputs[0] = nabla.Exp(s.Inputs[0].Mul(s.Params[0]))
	}}, n: 4, params: 1, inputs: 1, x: []float64{0.5, 1, 2, -1, 0.25}},
	"without parameters": {s: nabla.Scan{Step: func(s *nabla.ScanStep) {
		s.Next[0], s.Next[1] = s.State[1], s.State[0].Mul(s.State[1])
	}}, n: 6, state: 2, x: []float64{1.1, 0.9}},
	// The derivative of the square root is infinite at 0, where Where leaves it out.
	"structural zero": {s: nabla.Scan{Step: func(s *nabla.ScanStep) {
		root := nabla.Sqrt(s.Params[0])
		s.Next[0] = s.State[0].Scale(1.5).Add(nabla.Where(nabla.Lt(nabla.Const(0), s.Params[0]), root, nabla.Const(0)))
		s.Next[1] = root
	}}, n: 3, state: 2, params: 1, x: []float64{1, 2, 0}, singular: true},
	"singular": {s: nabla.Scan{Step: func(s *nabla.ScanStep) {
		s.Next[0] = nabla.Sqrt(s.State[0])
	}}, n: 3, state: 1, x: []float64{0}, singular: true},
	// The minimum of NaN and a number has the derivative of one of them, which plain programs leave open.
	"not a number": {s: nabla.Scan{Step: func(s *nabla.ScanStep) {
		s.Next[0], s.Next[1] = nabla.Min(nabla.Log(s.State[1]), s.State[0]), s.State[1]
	}}, n: 2, state: 2, x: []float64{1, -1}, singular: true},
	"nested loop": {s: nabla.Scan{Step: outerStep}, n: 3, state: 1, params: 1, x: []float64{0.4, 1.2}},
}

var innerLoop = nabla.Scan{Name: "inner", Step: func(s *nabla.ScanStep) {
	s.Next[0] = nabla.Sin(s.State[0].Mul(s.Params[0]))
}}.Func()

// outerStep is a step that calls a loop.
func outerStep(s *nabla.ScanStep) {
	last, _ := innerLoop(4, s.State, s.Params, nil)
	s.Next[0] = last[0].Add(s.Params[0])
}

// scanEngines compute first derivatives.
var scanEngines = append([]nabla.Backend{taylor.Backend{}}, firstOrder...)

// TestScan compares the value of loops with that of the unrolled loop, bit for bit, and derivatives by all engines,
// with all states kept and with little memory, with those of the unrolled loop by the same engine.
func TestScan(t *testing.T) {
	longtest.Serial(t)
	for name, c := range scanCases {
		t.Run(name, func(t *testing.T) {
			want := c.over(unrolled(c.s))
			for _, snapshots := range longtest.Sample([]int{3, 0, 2, 1}, 2) {
				c.s.Name = name
				c.s.Memory = int64(snapshots) * 8 * (4*int64(c.state) + 1)
				run := c.s.Func()
				got := c.over(run)
				for _, b := range scanEngines {
					compareFirst(t, fmt.Sprintf("%s, %d snapshots", b.Name(), snapshots), b, got, want, c.x)
				}
				for _, b := range append([]nabla.Backend{taylor.Backend{}}, secondOrder...) {
					compareSecond(t, fmt.Sprintf("%s, %d snapshots", b.Name(), snapshots), b, c.sum(run),
						c.sum(unrolled(c.s)), c.x)
				}
			}
		})
	}
}

// compareFirst compares value and Jacobian of got with those of want by b.
func compareFirst(t *testing.T, name string, b nabla.Backend, got, want func(x []nabla.Real) []nabla.Real,
	x []float64) {
	t.Helper()
	y1, j1, err := nabla.ValueAndJacobian(got, b, x)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	y2, j2, err := nabla.ValueAndJacobian(want, b, x)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range y1 {
		if math.Float64bits(v) != math.Float64bits(y2[i]) && (v == v || y2[i] == y2[i]) {
			t.Errorf("%s: value %d is %v, want %v", name, i, v, y2[i])
		}
	}
	if !closeMatrices(j1, j2) {
		t.Errorf("%s: the Jacobian is\n%v, want\n%v", name, mat.Formatted(j1), mat.Formatted(j2))
	}
}

// compareSecond compares gradient and Hessian of got with those of want, and the product of the Hessian with a vector.
func compareSecond(t *testing.T, name string, b nabla.Backend, got, want func(x []nabla.Real) nabla.Real,
	x []float64) {
	t.Helper()
	_, g1, h1, err := nabla.ValueGradientAndHessian(got, b, x)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	_, g2, h2, err := nabla.ValueGradientAndHessian(want, b, x)
	if err != nil {
		t.Fatal(err)
	}
	if !closeMatrices(mat.NewVecDense(len(g1), g1), mat.NewVecDense(len(g2), g2)) || !closeMatrices(h1, h2) {
		t.Errorf("%s: gradient %v, Hessian\n%v, want %v\n%v", name, g1, mat.Formatted(h1), g2, mat.Formatted(h2))
	}
	v := make([]float64, len(x))
	for i := range v {
		v[i] = 1 - float64(i%3)
	}
	p1, err := nabla.HVP(got, b, x, v)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	p2, err := nabla.HVP(want, b, x, v)
	if err != nil {
		t.Fatal(err)
	}
	if !closeMatrices(mat.NewVecDense(len(p1), p1), mat.NewVecDense(len(p2), p2)) {
		t.Errorf("%s: the product with the Hessian is %v, want %v", name, p1, p2)
	}
}

// closeMatrices reports whether a and b are the same to rounding, relative to the largest entry of b. NaN equals NaN.
func closeMatrices(a, b mat.Matrix) bool { return closeUpTo(a, b, 0) }

// closeUpTo is closeMatrices for elements that may also differ by slack.
func closeUpTo(a, b mat.Matrix, slack float64) bool {
	r, c := b.Dims()
	if p, q := a.Dims(); p != r || q != c {
		return false
	}
	scale := 0.0
	for i := range r {
		for j := range c {
			if v := math.Abs(b.At(i, j)); !math.IsInf(v, 1) && v > scale {
				scale = v
			}
		}
	}
	for i := range r {
		for j := range c {
			v, w := a.At(i, j), b.At(i, j)
			if v != w && !(v != v && w != w) && !(math.Abs(v-w) <= 1e-12*scale+slack) {
				return false
			}
		}
	}
	return true
}

// TestScanByDifferences compares the gradient of a loop by differences, which call the loop over plain numbers.
func TestScanByDifferences(t *testing.T) {
	c := scanCases["network"]
	f := c.sum(c.s.Func())
	want, err := nabla.Gradient(f, reversediff.Backend{}, c.x)
	if err != nil {
		t.Fatal(err)
	}
	got, err := nabla.Gradient(f, finitediff.Backend{}, c.x)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range want {
		if math.Abs(got[i]-v) > 1e-7*(1+math.Abs(v)) {
			t.Errorf("component %d is %v, differences are %v", i, v, got[i])
		}
	}
}

// TestScanOfHighOrder compares third derivatives, as Hessians of derivatives within the function, and Taylor
// coefficients, with those of the unrolled loop.
func TestScanOfHighOrder(t *testing.T) {
	longtest.Serial(t)
	for _, name := range []string{"lorenz", "network", "branches", "structural zero", "without state"} {
		c := scanCases[name]
		inner := func(run nabla.ScanFunc) func(x []nabla.Real) []nabla.Real {
			return nabla.GradientFunc(c.sum(run), reversediff.Backend{})
		}
		for _, b := range []nabla.Backend{
			forwarddiff.Backend{}, tracker.Backend{}, reversediff.Backend{Compile: true}, forwarddiff.Hyper{},
		} {
			compareSecond(t, name+", "+b.Name(), b, c.weigh(inner(c.s.Func())), c.weigh(inner(unrolled(c.s))), c.x)
		}
		v := make([]float64, len(c.x))
		for i := range v {
			v[i] = 0.5 + float64(i%4)
		}
		got, err := nabla.TaylorCoefficients(c.sum(c.s.Func()), c.x, v, 6)
		if err != nil {
			t.Fatal(err)
		}
		want, err := nabla.TaylorCoefficients(c.sum(unrolled(c.s)), c.x, v, 6)
		if err != nil {
			t.Fatal(err)
		}
		if !closeMatrices(mat.NewVecDense(7, got), mat.NewVecDense(7, want)) {
			t.Errorf("%s: coefficients %v, want %v", name, got, want)
		}
		series := taylorOfGradient(t, inner(c.s.Func()), c.x, v)
		if wantSeries := taylorOfGradient(t, inner(unrolled(c.s)), c.x, v); !closeMatrices(series, wantSeries) {
			t.Errorf("%s: series of the gradient %v, want %v", name, series, wantSeries)
		}
	}
}

// taylorOfGradient returns the Taylor coefficients of g along v, as a vector.
func taylorOfGradient(t *testing.T, g func(x []nabla.Real) []nabla.Real, x, v []float64) mat.Matrix {
	t.Helper()
	c, err := nabla.VectorTaylorCoefficients(g, x, v, 3)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
