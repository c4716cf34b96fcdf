package nabla_test

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/difftest/zero"
	"github.com/nabla-ad/nabla/internal/longtest"
)

// chained is a function with branches, elementary functions and scratch memory.
func chained(x []nabla.Real) nabla.Real {
	s := nabla.Const(0)
	for i := range len(x) - 1 {
		a := x[i+1].Sub(x[i].Sq())
		b := nabla.Const(1).Sub(x[i])
		s = s.Add(a.Sq().Scale(100)).Add(b.Sq())
		if a.Less(b) {
			s = s.Add(nabla.Sin(a).Mul(nabla.Exp(nabla.Tanh(b))))
		}
	}
	return nabla.Max(s, nabla.Hypot(x[0], x[1]))
}

func chainedPair(y, x []nabla.Real) {
	y[0] = chained(x)
	y[1] = nabla.Dot(x, x)
	y[2] = x[0]
}

func chainedCurve(t nabla.Real) nabla.Real { return nabla.Sin(t).Mul(nabla.Exp(t)).Add(t.Sq()) }

// functions are those of a test of all operators: from numbers to a number, from numbers to three, and of a number.
type functions struct {
	scalar func(x []nabla.Real) nabla.Real
	triple func(y, x []nabla.Real)
	curve  func(t nabla.Real) nabla.Real
}

// chainedFunctions take time and memory in every engine.
var chainedFunctions = functions{chained, chainedPair, chainedCurve}

// trivialFunctions take no time to speak of.
var trivialFunctions = functions{
	func(x []nabla.Real) nabla.Real { return x[0] },
	func(y, x []nabla.Real) { y[0], y[1], y[2] = x[0], x[1], x[0] },
	func(t nabla.Real) nabla.Real { return t },
}

// inPlace returns every prepared call that writes to a given destination.
func inPlace(t testing.TB, b nabla.Backend, n int, of functions) map[string]func() error {
	x, v := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], v[i] = 0.3+float64(i%7)/10, float64(i%3)-0.5
	}
	must := func(err error) {
		if err != nil {
			t.Fatalf("%s: %v", b.Name(), err)
		}
	}
	y, w, grad, hv := make([]float64, 3), []float64{1, -2, 0.5}, make([]float64, n), make([]float64, n)
	fast := map[string]func() error{}

	gp, err := nabla.PrepareGradient(of.scalar, b, x)
	must(err)
	fast["Gradient"] = func() error { _, err := gp.Gradient(grad, x); return err }
	fast["ValueAndGradient"] = func() error { _, _, err := gp.ValueAndGradient(grad, x); return err }
	fast["GradientPrep.Value"] = func() error { _, err := gp.Value(x); return err }

	f := nabla.InPlace(3, of.triple)
	push, err := nabla.PreparePushforward(f, b, x)
	must(err)
	dy := make([]float64, 3)
	V, JV := mat.NewDense(n, 5, nil), mat.NewDense(3, 5, nil)
	V.Apply(func(i, j int, _ float64) float64 { return float64(i - j) }, V)
	fast["Pushforward"] = func() error { _, err := push.Pushforward(dy, x, v); return err }
	fast["ValueAndPushforward"] = func() error { _, _, err := push.ValueAndPushforward(y, dy, x, v); return err }
	fast["PushforwardBatch"] = func() error { _, err := push.PushforwardBatch(JV, x, V); return err }

	pull, err := nabla.PreparePullback(f, b, x)
	must(err)
	xbar := make([]float64, n)
	W, JW := mat.NewDense(3, 5, nil), mat.NewDense(n, 5, nil)
	W.Apply(func(i, j int, _ float64) float64 { return float64(i - j) }, W)
	fast["Pullback"] = func() error { _, err := pull.Pullback(xbar, x, w); return err }
	fast["ValueAndPullback"] = func() error { _, _, err := pull.ValueAndPullback(y, xbar, x, w); return err }
	fast["PullbackBatch"] = func() error { _, err := pull.PullbackBatch(JW, x, W); return err }

	jp, err := nabla.PrepareJacobian(f, b, x)
	must(err)
	J := mat.NewDense(3, n, nil)
	fast["Jacobian"] = func() error { _, err := jp.Jacobian(J, x); return err }
	fast["JacobianPrep.Value"] = func() error { _, err := jp.Value(y, x); return err }
	fast["Jacobian.Dense"] = func() error { _, err := jp.Dense(J, x); return err }
	fast["ValueAndDense"] = func() error { _, _, err := jp.ValueAndDense(y, J, x); return err }
	fast["ValueAndJacobian"] = func() error { _, _, err := jp.ValueAndJacobian(y, J, x); return err }

	hp, err := nabla.PrepareHVP(of.scalar, b, x)
	must(err)
	HV := mat.NewDense(n, 5, nil)
	fast["HVP"] = func() error { _, err := hp.HVP(hv, x, v); return err }
	fast["ValueGradientAndHVP"] = func() error { _, _, _, err := hp.ValueGradientAndHVP(grad, hv, x, v); return err }
	fast["HVPBatch"] = func() error { _, err := hp.HVPBatch(HV, x, V); return err }

	hess, err := nabla.PrepareHessian(of.scalar, b, x)
	must(err)
	H := mat.NewSymDense(n, nil)
	fast["Hessian"] = func() error { _, err := hess.Hessian(H, x); return err }
	fast["ValueGradientAndDense"] = func() error { _, _, _, err := hess.ValueGradientAndDense(grad, H, x); return err }
	fast["Hessian.Dense"] = func() error { _, err := hess.Dense(H, x); return err }
	fast["ValueGradientAndHessian"] = func() error {
		_, _, _, err := hess.ValueGradientAndHessian(grad, H, x)
		return err
	}

	op, err := push.At(x)
	must(err)
	fast["LinearOp.Apply"] = func() error { _, err := op.Apply(dy, v); return err }
	fast["LinearOp.ApplyBatch"] = func() error { _, err := op.ApplyBatch(JV, V); return err }
	fast["LinearOp.TransposeBatch"] = func() error { _, err := op.TransposeBatch(JW, W); return err }
	fast["LinearOp.Transpose"] = func() error { _, err := op.Transpose(xbar, w); return err }
	dyVec, wVec := mat.NewVecDense(3, dy), mat.NewVecDense(3, w)
	vVec, xbarVec := mat.NewVecDense(n, v), mat.NewVecDense(n, xbar)
	column := HV.ColView(2)
	fast["LinearOp.MulVecTo"] = func() error { op.MulVecTo(dyVec, false, vVec); return nil }
	fast["LinearOp.MulVecTo of a column"] = func() error { op.MulVecTo(dyVec, false, column); return nil }
	fast["LinearOp.MulVecTo, transposed"] = func() error { op.MulVecTo(xbarVec, true, wVec); return nil }
	hop, err := hp.At(x)
	must(err)
	fast["HessianOp.ApplyBatch"] = func() error { _, err := hop.ApplyBatch(HV, V); return err }
	fast["HessianOp.Apply"] = func() error { _, err := hop.Apply(hv, v); return err }
	fast["HessianOp.MulVecTo"] = func() error { hop.MulVecTo(xbarVec, false, xbarVec); return nil }

	d, err := nabla.PrepareDerivative(of.curve, b, 0.5)
	must(err)
	fast["Derivative"] = func() error { _, err := d.Derivative(0.7); return err }
	d2, err := nabla.PrepareSecondDerivative(of.curve, b, 0.5)
	must(err)
	fast["SecondDerivative"] = func() error { _, err := d2.SecondDerivative(0.7); return err }
	fast["ValueDerivativeAndSecondDerivative"] = func() error {
		_, _, _, err := d2.ValueDerivativeAndSecondDerivative(0.7)
		return err
	}
	return fast
}

// TestNoAllocation holds that a prepared call that is given its results' memory
// takes none of its own. With the engines of package zero that is what the interface takes.
func TestNoAllocation(t *testing.T) {
	longtest.Serial(t)
	for _, b := range []nabla.Backend{
		zero.Forward{}, zero.Reverse{}, nabla.SecondOrder{Outer: zero.Forward{}, Inner: zero.Reverse{}},
		forwarddiff.Hyper{}, forwarddiff.Hyper{Chunk: 4},
		forwarddiff.Backend{}, forwarddiff.Backend{Chunk: 1}, forwarddiff.Backend{Chunk: 3}, compiled,
		nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: compiled},
		nabla.SecondOrder{Outer: compiled, Inner: forwarddiff.Backend{}},
		nabla.SecondOrder{Outer: compiled, Inner: compiled}, finitediff.Backend{},
		finitediff.Backend{Method: finitediff.Complex},
		nabla.SecondOrder{Outer: finitediff.Backend{}, Inner: compiled},
	} {
		for _, n := range []int{2, 15} {
			for name, call := range inPlace(t, b, n, chainedFunctions) {
				for range 4 { // the first calls make room
					if err := call(); err != nil {
						t.Fatalf("%s of %d numbers with %s: %v", name, n, b.Name(), err)
					}
				}
				if got := testing.AllocsPerRun(20, func() { _ = call() }); got != 0 {
					t.Errorf("%s of %d numbers with %s: %v allocations", name, n, b.Name(), got)
				}
			}
		}
	}
}
