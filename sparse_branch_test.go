package nabla_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/coloring"
	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/sparsity"
)

// twoWays is the bound struct of the functions below. One of its fields, or the first input,
// selects one of their two branches.
type twoWays struct {
	Mode  int
	Level nabla.Real
	Table nabla.Vec
	way   string `nabla:"fixed"` // the field or input that selects the branch
}

func (k *twoWays) second(x []nabla.Real) bool {
	switch zero := nabla.Const(0); k.way {
	case "field":
		return k.Mode != 0
	case "parameter":
		return zero.Less(k.Level)
	case "element":
		return zero.Less(k.Table.At(1))
	case "escape":
		return x[0].Value() < 0
	case "either":
		return k.Mode != 0 || x[0].Less(zero)
	}
	return x[0].Less(nabla.Const(0))
}

// turn changes the way, and the point that x is.
func (k *twoWays) turn(x []float64, second bool) {
	x[0] = math.Abs(x[0])
	k.Mode, k.Level, k.Table = 0, nabla.Const(-1), nabla.VecOf([]float64{3, -1})
	if !second {
		return
	}
	switch k.way {
	case "field":
		k.Mode = 1
	case "parameter":
		k.Level = nabla.Const(1)
	case "element":
		k.Table = nabla.VecOf([]float64{3, 1})
	default:
		x[0] = -x[0]
	}
}

func waysVector(x []nabla.Real, k *twoWays) []nabla.Real {
	if k.second(x) {
		return []nabla.Real{x[0].Sq().Add(x[2]), x[1].Mul(x[3]), x[3]}
	}
	return []nabla.Real{x[1].Mul(x[3]), x[2], x[2].Sq()}
}

func waysScalar(x []nabla.Real, k *twoWays) nabla.Real {
	if k.second(x) {
		return x[0].Sq().Add(x[1].Mul(x[3])).Add(x[2])
	}
	return x[2].Mul(x[1]).Add(x[2].Sq())
}

func waysJacobian(x []float64, second bool) []float64 {
	if second {
		return []float64{2 * x[0], 0, 1, 0, 0, x[3], 0, x[1], 0, 0, 0, 1}
	}
	return []float64{0, x[3], 0, x[1], 0, 0, 1, 0, 0, 0, 2 * x[2], 0}
}

func waysHessian(second bool) []float64 {
	if second {
		return []float64{2, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0}
	}
	return []float64{0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 2, 0, 0, 0, 0, 0}
}

// waysWeighted is the Hessian of the combination of waysVector with weights w.
func waysWeighted(w []float64, second bool) []float64 {
	if second {
		return []float64{2 * w[0], 0, 0, 0, 0, 0, 0, w[1], 0, 0, 0, 0, 0, w[1], 0, 0}
	}
	return []float64{0, 0, 0, 0, 0, 0, 0, w[0], 0, 0, 2 * w[2], 0, 0, w[0], 0, 0}
}

// waysKKT lists the Jacobian and the Hessian of a combination of waysVector.
func waysKKT(x []float64, second bool) []float64 {
	return append(waysJacobian(x, second), waysWeighted([]float64{2, -3, 5}, second)...)
}

// elements lists those of a matrix by rows.
func elements(m mat.Matrix) (all []float64) {
	r, c := m.Dims()
	for i := range r {
		for j := range c {
			all = append(all, m.At(i, j))
		}
	}
	return all
}

// waysCall computes all elements of a derivative of the functions above at x.
type waysCall func(x []float64) ([]float64, error)

// waysOperator prepares an operator, and knows the right answer.
type waysOperator struct {
	name    string
	prepare func(k *twoWays, b nabla.AutoSparse, x []float64) (waysCall, error)
	want    func(x []float64, second bool) []float64
}

var waysOperators = []waysOperator{
	{"Jacobian", func(k *twoWays, b nabla.AutoSparse, x []float64) (waysCall, error) {
		p, err := nabla.PrepareJacobian(nabla.Bind(waysVector, k), b, x)
		return func(x []float64) ([]float64, error) {
			j, err := p.Jacobian(nil, x)
			if err != nil {
				return nil, err
			}
			return elements(j), nil
		}, err
	}, waysJacobian},
	{"clone of Jacobian, dense", func(k *twoWays, b nabla.AutoSparse, x []float64) (waysCall, error) {
		p, err := nabla.PrepareJacobian(nabla.Bind(waysVector, k), b, x)
		if err != nil {
			return nil, err
		}
		p = p.Clone()
		return func(x []float64) ([]float64, error) {
			j, err := p.Dense(nil, x)
			if err != nil {
				return nil, err
			}
			return elements(j), nil
		}, nil
	}, waysJacobian},
	{"Hessian", func(k *twoWays, b nabla.AutoSparse, x []float64) (waysCall, error) {
		p, err := nabla.PrepareHessian(nabla.Bind(waysScalar, k), b, x)
		return func(x []float64) ([]float64, error) {
			h, err := p.Hessian(nil, x)
			if err != nil {
				return nil, err
			}
			return elements(h), nil
		}, err
	}, func(_ []float64, second bool) []float64 { return waysHessian(second) }},
	{"value, gradient and Hessian", func(k *twoWays, b nabla.AutoSparse, x []float64) (waysCall, error) {
		p, err := nabla.PrepareHessian(nabla.Bind(waysScalar, k), b, x)
		return func(x []float64) ([]float64, error) {
			_, _, h, err := p.ValueGradientAndHessian(nil, nil, x)
			if err != nil {
				return nil, err
			}
			return elements(h), nil
		}, err
	}, func(_ []float64, second bool) []float64 { return waysHessian(second) }},
	{"WeightedHessian", func(k *twoWays, b nabla.AutoSparse, x []float64) (waysCall, error) {
		p, err := nabla.PrepareWeightedHessian(nabla.Bind(waysVector, k), b, x)
		return func(x []float64) ([]float64, error) {
			h, err := p.Hessian(nil, x, []float64{2, -3, 5})
			if err != nil {
				return nil, err
			}
			return elements(h), nil
		}, err
	}, func(_ []float64, second bool) []float64 { return waysWeighted([]float64{2, -3, 5}, second) }},
	{"KKT", func(k *twoWays, b nabla.AutoSparse, x []float64) (waysCall, error) {
		p, err := nabla.PrepareKKT(nabla.Bind(waysVector, k), b, x)
		return func(x []float64) ([]float64, error) {
			j, h, err := p.KKT(nil, nil, x, []float64{2, -3, 5})
			if err != nil {
				return nil, err
			}
			return append(elements(j), elements(h)...), nil
		}, err
	}, waysKKT},
	{"Hessians", func(k *twoWays, b nabla.AutoSparse, x []float64) (waysCall, error) {
		p, err := nabla.PrepareHessians(nabla.Bind(waysVector, k), b, x)
		return func(x []float64) ([]float64, error) {
			all, err := p.Hessians(nil, x)
			if err != nil {
				return nil, err
			}
			var list []float64
			for _, h := range all {
				list = append(list, elements(h)...)
			}
			return list, nil
		}, err
	}, func(_ []float64, second bool) (list []float64) {
		for _, w := range [][]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}} {
			list = append(list, waysWeighted(w, second)...)
		}
		return list
	}},
	{"HessianDiagonal", func(k *twoWays, b nabla.AutoSparse, x []float64) (waysCall, error) {
		p, err := nabla.PrepareHessianDiagonal(nabla.Bind(waysScalar, k), b, x)
		return func(x []float64) ([]float64, error) { return p.HessianDiagonal(nil, x) }, err
	}, func(_ []float64, second bool) []float64 {
		h := waysHessian(second)
		return []float64{h[0], h[5], h[10], h[15]}
	}},
}

// waysBackends are engines that replay recordings, that trace at every call, and that
// evaluate.
func waysBackends() []nabla.AutoSparse {
	compiled := reversediff.Backend{Compile: true}
	over := func(outer, inner nabla.Backend) nabla.Backend { return nabla.SecondOrder{Outer: outer, Inner: inner} }
	return append(slices.Clone(sparseExact), []nabla.AutoSparse{
		{Dense: compiled, Coloring: coloring.Greedy{}, Workers: 2},
		{Dense: over(forwarddiff.Backend{}, tracker.Backend{})},
		{Dense: over(forwarddiff.Backend{Chunk: 1}, tracker.Backend{}), Workers: 2},
		{Dense: over(forwarddiff.Backend{}, compiled), Decompression: coloring.Substitution},
		{Dense: over(compiled, compiled)},
		{Dense: over(tracker.Backend{}, tracker.Backend{})},
		{Dense: nabla.MixedMode{Forward: forwarddiff.Backend{}, Reverse: compiled}},
		{Dense: nabla.MixedMode{Forward: forwarddiff.Backend{}, Reverse: tracker.Backend{}}, Workers: 3},
		{Dense: over(forwarddiff.Backend{}, compiled), Detector: sparsity.Recorded{}},
		{Dense: over(forwarddiff.Backend{}, tracker.Backend{}), Detector: sparsity.Local{}},
		{Dense: over(forwarddiff.Backend{}, compiled), Detector: sparsity.Local{}},
		{Dense: finitediff.Backend{}},
		{Dense: over(finitediff.Backend{}, compiled)},
		{Dense: over(finitediff.Backend{}, forwarddiff.Backend{})},
	}...)
}

// TestPatternOnOtherBranches: wherever a function takes another way than the one its pattern was found
// on, in whichever call, the matrix is right or there is an error; and it is right where
// it takes the first way again.
func TestPatternOnOtherBranches(t *testing.T) {
	longtest.Serial(t)
	for _, b := range waysBackends() {
		tol := 1e-9
		if strings.Contains(b.Name(), "finitediff") {
			tol = 1e-2
		}
		for _, op := range waysOperators {
			for _, way := range []string{"branch", "field", "parameter", "element", "escape", "either"} {
				for _, first := range longtest.Sample([]int{1, 2, 3, 4, 5, 8, 11, 16}, 2) {
					if err := takeWays(b, op, way, first, tol); err != nil {
						t.Errorf("%s of %s, %s, first at call %d: %v", op.name, b.Name(), way, first, err)
						break
					}
				}
			}
		}
	}
}

// takeWays makes calls on the first way, some on the second from call number first on, and
// more on the first.
func takeWays(b nabla.AutoSparse, op waysOperator, way string, first int, tol float64) error {
	k := &twoWays{way: way}
	x := []float64{1.5, 2, -1, 3}
	k.turn(x, false)
	call, err := op.prepare(k, b, x)
	if err != nil {
		return err
	}
	for n := 1; n < first+12; n++ {
		x := []float64{1 + float64(n)/8, 2, -float64(n), 0.5 + float64(n)/4}
		if n == first { // where the entries that are missing happen to be zero
			x[1], x[3] = 0, 0
		}
		second := n >= first && n < first+8
		k.turn(x, second)
		got, err := call(x)
		var pe *nabla.PatternError
		switch {
		case err != nil && second && errors.As(err, &pe):
		case err != nil:
			return fmt.Errorf("call %d: %w", n, err)
		case !closeTo(got, op.want(x, second), tol):
			return fmt.Errorf("call %d at %v: %v, want %v", n, x, got, op.want(x, second))
		}
	}
	return nil
}

func closeTo(got, want []float64, tol float64) bool {
	for i, w := range want {
		if !(math.Abs(got[i]-w) <= tol*(1+math.Abs(w))) {
			return false
		}
	}
	return true
}

// TestPatternErrorInEveryLaterCall: a change that only the comparisons of calls 1, 2, 4, 8, … show is,
// once one of them has shown it, an error of every call.
func TestPatternErrorInEveryLaterCall(t *testing.T) {
	for _, b := range waysBackends() {
		second := false // captured
		f := func(x []nabla.Real) nabla.Real {
			if second {
				return x[0].Sq().Add(x[1].Mul(x[3]))
			}
			return x[2].Mul(x[1])
		}
		x := []float64{1.5, 2, -1, 3}
		p, err := nabla.PrepareHessian(f, b, x)
		if err != nil {
			t.Fatalf("%s: %v", b.Name(), err)
		}
		second = true
		noticed := false
		for k := 1; k <= 16; k++ {
			_, err := p.Hessian(nil, x)
			var pe *nabla.PatternError
			switch {
			case errors.As(err, &pe):
				noticed = true
			case err != nil:
				t.Fatalf("%s: call %d: %v", b.Name(), k, err)
			case noticed:
				t.Errorf("%s: call %d: no error after one", b.Name(), k)
			}
		}
		if !noticed {
			t.Errorf("%s: never an error", b.Name())
		}
	}
}

// TestCostOfComparisons: a pattern of all branches is compared in calls 1, 2, 4, 8, … and in
// no others; where every call is compared, the function is run no more often for that.
func TestCostOfComparisons(t *testing.T) {
	for _, c := range []struct {
		b          nabla.AutoSparse
		due, other int // runs of f in a call that is compared whatever f does, and in another
		every      int // in a call where nothing tells which branch f takes
	}{
		{b: nabla.AutoSparse{Dense: forwarddiff.Backend{}}, due: 2, other: 1, every: 1},
		{b: nabla.AutoSparse{Dense: tracker.Backend{}}, due: 2, other: 1, every: 1},
		{b: nabla.AutoSparse{Dense: finitediff.Backend{Method: finitediff.Forward}}, due: 5, other: 3, every: 4},
	} {
		for _, branches := range []bool{false, true} {
			runs := 0
			p, err := nabla.PrepareJacobian(func(x []nabla.Real) []nabla.Real {
				runs++
				if branches && x[0].Less(nabla.Const(0)) {
					return []nabla.Real{x[1], x[2], x[0]}
				}
				return []nabla.Real{x[0].Mul(x[1]), x[1].Mul(x[2]), x[2]}
			}, c.b, []float64{1, 2, 3})
			if err != nil {
				t.Fatal(err)
			}
			for k := 1; k <= 32; k++ {
				runs = 0
				if _, err := p.Jacobian(nil, []float64{float64(k), 2, 3}); err != nil {
					t.Fatal(err)
				}
				want := c.other
				switch {
				case branches:
					want = c.every
				case k&(k-1) == 0:
					want = c.due
				}
				if runs != want {
					t.Errorf("%s, branches %v, call %d: %d runs of f, want %d", c.b.Name(), branches, k, runs, want)
				}
			}
		}
	}
}

// TestBranchWithinThePatternIsAccepted: a branch of which the pattern has all entries is, after some calls that
// were compared, one like that of the preparation.
func TestBranchWithinThePatternIsAccepted(t *testing.T) {
	for _, b := range []nabla.AutoSparse{
		{Dense: nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: reversediff.Backend{Compile: true}}},
		{Dense: nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: tracker.Backend{}}},
	} {
		k := &twoWays{way: "field"}
		f := func(x []nabla.Real, k *twoWays) nabla.Real {
			if k.Mode != 0 {
				return x[0].Mul(x[1])
			}
			return x[0].Mul(x[1]).Add(x[1].Mul(x[2]))
		}
		x := []float64{1, 2, 3}
		p, err := nabla.PrepareHessian(nabla.Bind(f, k), b, x)
		if err != nil {
			t.Fatal(err)
		}
		k.Mode = 1
		for range 20 {
			if _, err := p.Hessian(nil, x); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := p.Hessian(nil, x); err != nil || nabla.ComparedForTest(p) {
			t.Errorf("%s: compared after 20 calls, %v", b.Name(), err)
		}
	}
}
