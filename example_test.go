package nabla_test

import (
	"errors"
	"fmt"
	"log"
	"math"
	"path/filepath"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/source"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/internal/network"
)

// polar is (r·cos θ, r·sin θ).
func polar(x []nabla.Real) []nabla.Real {
	sin, cos := nabla.Sincos(x[1])
	return []nabla.Real{x[0].Mul(cos), x[0].Mul(sin)}
}

func paraboloid(x []nabla.Real) nabla.Real {
	return x[0].Sq().Add(x[0].Mul(x[1])).Add(x[1].Sq().Scale(3))
}

func ExampleGradient() {
	for _, b := range []nabla.Backend{forwarddiff.Backend{}, reversediff.Backend{Compile: true}, tracker.Backend{}} {
		g, err := nabla.Gradient(paraboloid, b, []float64{1, 2})
		fmt.Println(b.Name(), g, err)
	}
	// Output:
	// forwarddiff [4 13] <nil>
	// reversediff(compile) [4 13] <nil>
	// tracker [4 13] <nil>
}

func ExamplePrepareGradient() {
	x := []float64{4, -2}
	prep, err := nabla.PrepareGradient(paraboloid, reversediff.Backend{Compile: true}, x)
	if err != nil {
		panic(err)
	}
	grad := make([]float64, 2)
	for range 100 {
		if _, err := prep.Gradient(grad, x); err != nil {
			panic(err)
		}
		for i, g := range grad {
			x[i] -= 0.2 * g
		}
	}
	fmt.Printf("%.6f\n", x)
	// Output: [0.000000 -0.000000]
}

func ExampleJacobian() {
	j, err := nabla.Jacobian(polar, forwarddiff.Backend{}, []float64{2, 0})
	fmt.Println(mat.Formatted(j), err)
	// Output:
	// ⎡1  0⎤
	// ⎣0  2⎦ <nil>
}

func ExampleHessian() {
	b := nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: reversediff.Backend{Compile: true}}
	h, err := nabla.Hessian(paraboloid, b, []float64{1, 2})
	fmt.Println(mat.Formatted(h), err)
	// Output:
	// ⎡2  1⎤
	// ⎣1  6⎦ <nil>
}

func ExampleHVP() {
	hv, err := nabla.HVP(paraboloid, reversediff.Backend{Compile: true}, []float64{1, 2}, []float64{1, -1})
	fmt.Println(hv, err)
	// Output: [1 -5] <nil>
}

func ExamplePushforward() {
	dy, err := nabla.Pushforward(polar, forwarddiff.Backend{}, []float64{2, 0}, []float64{1, 0.5})
	fmt.Println(dy, err)
	// Output: [1 1] <nil>
}

func ExamplePullback() {
	w, err := nabla.Pullback(polar, reversediff.Backend{}, []float64{2, 0}, []float64{1, 1})
	fmt.Println(w, err)
	// Output: [1 2] <nil>
}

func ExampleDerivative() {
	d, err := nabla.Derivative(nabla.Exp, forwarddiff.Backend{}, 0)
	fmt.Println(d, err)
	// Output: 1 <nil>
}

func ExampleSecondDerivative() {
	d, err := nabla.SecondDerivative(func(x nabla.Real) nabla.Real { return x.Sq().Mul(x) }, forwarddiff.Backend{}, 2)
	fmt.Println(d, err)
	// Output: 12 <nil>
}

// A tangent at many points of a curve.
func ExampleCurveDerivative() {
	circle := func(t nabla.Real) []nabla.Real {
		sin, cos := nabla.Sincos(t)
		return []nabla.Real{cos, sin}
	}
	d, err := nabla.CurveDerivative(circle, forwarddiff.Backend{}, 0)
	fmt.Println(d, err)
	// Output: [0 1] <nil>
}

// Intermediate results at a point serve many vectors, in both directions.
func ExampleLinearize() {
	j, err := nabla.Linearize(polar, tracker.Backend{}, []float64{2, 0})
	if err != nil {
		panic(err)
	}
	v, _ := j.Apply(nil, []float64{1, 1})
	w, _ := j.Transpose(nil, []float64{1, 1})
	fmt.Println(v, w)
	// Output: [1 2] [1 2]
}

// An in-place function says how many outputs it has.
func ExampleInPlace() {
	diff := func(y, x []nabla.Real) {
		for i := range y {
			y[i] = x[i+1].Sub(x[i])
		}
	}
	j, err := nabla.Jacobian(nabla.InPlace(2, diff), forwarddiff.Backend{}, []float64{1, 2, 4})
	fmt.Println(mat.Formatted(j), err)
	// Output:
	// ⎡-1   1   0⎤
	// ⎣ 0  -1   1⎦ <nil>
}

// The data of a least-squares fit are parameters: other data need no recording.
func ExampleBind() {
	type data struct{ T, Y nabla.Vec }
	loss := func(p []nabla.Real, d *data) nabla.Real {
		var s nabla.Real
		for i := range d.T.Len() {
			s = s.Add(p[0].Mul(nabla.Exp(p[1].Mul(d.T.At(i)))).Sub(d.Y.At(i)).Sq())
		}
		return s
	}
	d := &data{T: nabla.VecOf([]float64{0, 1}), Y: nabla.VecOf([]float64{1, 2})}
	prep, err := nabla.PrepareGradient(nabla.Bind(loss, d), reversediff.Backend{Compile: true}, []float64{1, 0})
	if err != nil {
		panic(err)
	}
	g, err := prep.Gradient(nil, []float64{1, 0})
	fmt.Println(g, err)
	d.Y = nabla.VecOf([]float64{3, 4})
	g, err = prep.Gradient(g, []float64{1, 0})
	fmt.Println(g, err, "recordings:", prep.Recordings())
	// Output:
	// [-2 -2] <nil>
	// [-10 -6] <nil> recordings: 1
}

// Several arguments are the fields of a struct.
func ExampleStruct() {
	model := func(p *exampleParams[nabla.Real]) nabla.Real {
		return nabla.Dot(p.W, p.W).Mul(p.B)
	}
	params := &exampleParams[float64]{W: []float64{1, 2}, B: 3}
	f, layout, err := nabla.Struct(model, params)
	if err != nil {
		panic(err)
	}
	g, err := nabla.Gradient(f, forwarddiff.Backend{}, layout.Flatten(nil, params))
	grad := &exampleParams[float64]{W: make([]float64, 2)}
	layout.Unflatten(grad, g)
	fmt.Println(grad.W, grad.B, layout.Name(1), err)
	// Output: [6 12] 5 W[1] <nil>
}

// A perceptron of package network, which nabla gen has generated code for, with its weights in a struct and data in
// another one:
//
//	type Perceptron struct { W []float64; B float64 }
//	type Batch struct{ X, Y [][]float64 }
//	func UnitLoss(m *Perceptron, d *Batch) float64
func ExampleBindStructPlain() {
	m := &network.Perceptron{W: []float64{0, 0}}
	d := &network.Batch{X: [][]float64{{1, 2}, {-1, 1}, {2, -1}}, Y: [][]float64{{1}, {0}, {1}}}
	f, layout, err := nabla.BindStructPlain(network.UnitLoss, m, d)
	if err != nil {
		panic(err)
	}
	x := layout.Flatten(nil, m)
	prep, err := nabla.PrepareGradient(f, source.Reverse{}, x)
	if err != nil {
		panic(err)
	}
	var g []float64
	for range 20 {
		if g, err = prep.Gradient(g, x); err != nil {
			panic(err)
		}
		for i := range x {
			x[i] -= g[i]
		}
	}
	layout.Unflatten(m, x)
	fmt.Printf("%.2f %s\n", network.UnitLoss(m, d), layout.Name(2))

	bar := network.UnitLossShadow(m) // zeros in the shape of m
	network.UnitLossAdjoint(m, d, bar, 1, nil)
	g, err = prep.Gradient(g, x)
	fmt.Println(bar.W[0] == g[0], bar.B == g[2], err)
	// Output:
	// 0.04 B
	// true true <nil>
}

// A model that may fail: the error comes back from the call.
func ExampleStructWithError() {
	errRate := errors.New("negative rate")
	model := func(p *exampleParams[nabla.Real]) (nabla.Real, error) {
		if p.B.Less(nabla.Const(0)) {
			return nabla.Const(0), errRate
		}
		return p.W[0].Mul(p.B), nil
	}
	params := &exampleParams[float64]{W: []float64{2}, B: 3}
	f, layout, err := nabla.StructWithError(model, params)
	if err != nil {
		panic(err)
	}
	fmt.Println(nabla.Gradient(f, forwarddiff.Backend{}, layout.Flatten(nil, params)))
	_, err = nabla.Gradient(f, forwarddiff.Backend{}, []float64{2, -1})
	fmt.Println(errors.Is(err, errRate))
	// Output:
	// [3 2] <nil>
	// true
}

type exampleParams[T any] struct {
	W []T
	B T
}

// A function with a derivative of its own, for every engine.
func ExampleRule() {
	cube := nabla.Rule{
		Name: "cube",
		Out:  func(n int) int { return 1 },
		Value: func(y, x []float64) {
			y[0] = x[0] * x[0] * x[0]
		},
		VJP: func(xbar, x, y, ybar []float64) {
			xbar[0] += 3 * x[0] * x[0] * ybar[0]
		},
	}.Func()
	f := func(x nabla.Real) nabla.Real { return cube(x)[0].Add(x) }
	for _, b := range []nabla.Backend{forwarddiff.Backend{}, reversediff.Backend{Compile: true}} {
		d, err := nabla.Derivative(f, b, 2)
		fmt.Println(d, err)
	}
	// Output:
	// 13 <nil>
	// 13 <nil>
}

// A rule whose value and pullback share the work: the hypotenuse is computed once for a value and its gradient. The
// third input chooses between two norms, and has no derivative.
func ExampleRule_together() {
	norm := nabla.Rule{
		Name:      "norm",
		NoTangent: []int{2},
		Value: func(y, x []float64) {
			if y[0] = math.Hypot(x[0], x[1]); x[2] == 1 {
				y[0] = math.Abs(x[0]) + math.Abs(x[1])
			}
		},
		ValueVJP: func(y, x []float64) func(xbar, ybar []float64) {
			h := math.Hypot(x[0], x[1])
			a, b := x[0]/h, x[1]/h
			if y[0] = h; x[2] == 1 {
				y[0] = math.Abs(x[0]) + math.Abs(x[1])
				a, b = math.Copysign(1, x[0]), math.Copysign(1, x[1])
			}
			return func(xbar, ybar []float64) {
				xbar[0] += a * ybar[0]
				xbar[1] += b * ybar[0]
			}
		},
	}.Func()
	f := func(x []nabla.Real) nabla.Real { return norm(x[0], x[1], nabla.Const(2))[0] }
	g, err := nabla.Gradient(f, reversediff.Backend{}, []float64{3, -4})
	fmt.Println(g, err)
	asks := func(x []nabla.Real) nabla.Real { return norm(x...)[0] }
	_, err = nabla.Gradient(asks, reversediff.Backend{}, []float64{3, -4, 2})
	var mistake *nabla.FuncError
	if errors.As(err, &mistake) {
		fmt.Println(mistake.Problem)
	}
	// Output:
	// [0.6 -0.8] <nil>
	// input 2 has no derivative by NoTangent, and the number passed for it has one; pass a constant, or nabla.StopGradient(x) if the derivative is to be left out
}

// A table of rules, as a package exports it for functions of another one. Functions over Reals find a rule by the full
// name of its function; nabla gen uses the table in packages that import its package.
func ExampleRules() {
	table := nabla.Rules{
		"math.Cbrt": {
			Name:   "Cbrt",
			Value:  func(y, x []float64) { y[0] = math.Cbrt(x[0]) },
			VJP:    func(xbar, x, y, ybar []float64) { xbar[0] += ybar[0] / (3 * y[0] * y[0]) },
			Points: [][]float64{{8}, {-0.5}},
		},
	}
	root := table["math.Cbrt"].Func()
	f := func(x nabla.Real) nabla.Real { return root(x)[0] }
	fmt.Println(nabla.Derivative(f, reversediff.Backend{}, 8))
	// Output:
	// 0.08333333333333333 <nil>
}

// The inner minimiser's gradient, differentiated by the outer one.
func ExampleGradientFunc() {
	f := func(x []nabla.Real) nabla.Real {
		inner := func(z []nabla.Real) nabla.Real { return z[0].Sq().Mul(x[1]) }
		return nabla.GradientFunc(inner, reversediff.Backend{})(x[:1])[0] // 2·x0·x1
	}
	g, err := nabla.Gradient(f, forwarddiff.Backend{}, []float64{3, 5})
	fmt.Println(g, err)
	// Output: [10 6] <nil>
}

// The residuals of a library, a black box with two outputs, are differentiated by finite differences inside a function
// in reverse mode.
func ExampleDifferentiateVectorWith() {
	library := func(x []float64) []float64 { return []float64{x[0] * x[1], x[1] * x[1]} }
	residuals := nabla.DifferentiateVectorWith(library, finitediff.Backend{})
	f := func(x []nabla.Real) nabla.Real {
		r := residuals(x)
		return r[0].Sq().Add(nabla.Sin(r[1]))
	}
	g, err := nabla.Gradient(f, reversediff.Backend{}, []float64{3, 1})
	fmt.Printf("%.6f %v\n", g, err)
	// Output: [6.000000 19.080605] <nil>
}

// Plain Go over float64 is a black box; the error names the remedy.
func ExampleUnsupportedError() {
	f := func(x []float64) float64 { return x[0] * x[0] }
	_, err := nabla.Gradient(f, reversediff.Backend{}, []float64{3})
	fmt.Println(errors.Is(err, nabla.ErrUnsupported))
	g, err := nabla.Gradient(f, finitediff.Backend{}, []float64{3})
	fmt.Printf("%.6f %v\n", g, err)
	// Output:
	// true
	// [6.000000] <nil>
}

func ExampleTrace() {
	norm := func(x []nabla.Real) nabla.Real { return nabla.Sqrt(nabla.Dot(x, x)) }
	bad, err := nabla.Trace(norm, []float64{0, 0})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(bad.Op, bad.Args, bad.Values, "in", filepath.Base(bad.File))
	fmt.Println("the derivative is not finite:", bad.Derivative)
	// Output:
	// sqrt [0] [0] in example_test.go
	// the derivative is not finite: true
}

func ExampleTraceHessian() {
	// The distance to the power of 1.5 has a first derivative where two points meet, and no second one.
	f := func(x []nabla.Real) nabla.Real { return nabla.Hypot(x[0], x[1]).PowConst(1.5).Scale(2) }
	bad, err := nabla.TraceHessian(f, []float64{0, 0})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(bad.Op, bad.Args, "inputs", bad.Input, bad.Input2)
	fmt.Printf("second derivative with respect to operands %d and %d, times %g times %g\n", bad.Arg, bad.Arg2,
		bad.Cotangent, bad.Tangent)
	// Output:
	// pow [0 1.5] inputs 0 0
	// second derivative with respect to operands 0 and 0, times 2 times 0
}

// The sensitivity of a pendulum, integrated for a hundred thousand steps, with respect to its first state and to its
// damping. The reverse sweep keeps at most a mebibyte of states.
func ExampleScan() {
	pendulum := nabla.Scan{
		Name: "pendulum",
		Step: func(s *nabla.ScanStep) {
			const h = 1e-4
			angle, speed, damping := s.State[0], s.State[1], s.Params[0]
			speed = speed.Sub(nabla.Sin(angle).Add(damping.Mul(speed)).Scale(h))
			s.Next[0], s.Next[1] = angle.Add(speed.Scale(h)), speed
		},
		Memory: 1 << 20,
	}.Func()
	end := func(x []nabla.Real) nabla.Real {
		last, _ := pendulum(100_000, x[:2], x[2:], nil)
		return last[0]
	}
	g, err := nabla.Gradient(end, reversediff.Backend{}, []float64{1, 0, 0.1})
	fmt.Printf("%.4f %v\n", g, err)
	// Output:
	// [-0.6255 -0.1144 3.0580] <nil>
}

// A loop with an input and an output in each step: an exponential average of a series.
func ExampleScanFunc() {
	average := nabla.Scan{
		Outputs: 1,
		Step: func(s *nabla.ScanStep) {
			s.Next[0] = s.State[0].Add(s.Params[0].Mul(s.Inputs[0].Sub(s.State[0])))
			s.Outputs[0] = s.Next[0]
		},
	}.Func()
	series := func(x []nabla.Real) []nabla.Real {
		_, averages := average(3, x[:1], x[1:2], x[2:])
		return averages
	}
	y, jac, err := nabla.ValueAndJacobian(series, reversediff.Backend{}, []float64{0, 0.5, 8, 4, 2})
	fmt.Println(y, err)
	fmt.Println(mat.Formatted(jac))
	// Output:
	// [4 4 3] <nil>
	// ⎡  0.5      8    0.5      0      0⎤
	// ⎢ 0.25      4   0.25    0.5      0⎥
	// ⎣0.125      0  0.125   0.25    0.5⎦
}

// Each layer runs again in the reverse sweep, so that the recording holds the numbers between layers only.
func ExampleCheckpoint() {
	layer := nabla.Checkpoint(func(x []nabla.Real) []nabla.Real {
		y := make([]nabla.Real, len(x))
		for i := range x {
			y[i] = nabla.Tanh(nabla.Dot(x, x).Add(x[i]))
		}
		return y
	})
	f := func(x []nabla.Real) nabla.Real { return layer(layer(x))[0] }
	g, err := nabla.Gradient(f, reversediff.Backend{Compile: true}, []float64{0.1, -0.2})
	fmt.Printf("%.4f %v\n", g, err)
	// Output:
	// [1.4112 -0.6575] <nil>
}
