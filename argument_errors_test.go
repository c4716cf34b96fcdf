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
)

// allEngines are the engines that are tested with bad input.
var allEngines = append(slices.Clone(firstOrder), finitediff.Backend{}, finitediff.Backend{Method: finitediff.Complex},
	nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: compiled})

// A prepared operator, whichever it is: dst is its result, v its tangent, cotangent
// or vector, where it has one.
type prepared func(dst, x, v []float64) error

// operator is an operator with a function of n inputs and one output.
type operator struct {
	name    string
	prepare func(f *nabla.Func, b nabla.Backend, x []float64) (prepared, error)
	tangent func(n int) int // length of v, nil where there is none
	result  func(n int) int // length of dst, nil where it is a matrix
}

func lengthN(n int) int   { return n }
func lengthOne(n int) int { return 1 }

var operators = []operator{
	{"Gradient", func(f *nabla.Func, b nabla.Backend, x []float64) (prepared, error) {
		p, err := nabla.PrepareGradient(f, b, x)
		return func(dst, x, _ []float64) error { _, err := p.Gradient(dst, x); return err }, err
	}, nil, lengthN},
	{"ValueAndGradient", func(f *nabla.Func, b nabla.Backend, x []float64) (prepared, error) {
		p, err := nabla.PrepareGradient(f, b, x)
		return func(dst, x, _ []float64) error { _, _, err := p.ValueAndGradient(dst, x); return err }, err
	}, nil, lengthN},
	{"Pushforward", func(f *nabla.Func, b nabla.Backend, x []float64) (prepared, error) {
		p, err := nabla.PreparePushforward(f, b, x)
		return func(dst, x, v []float64) error { _, err := p.Pushforward(dst, x, v); return err }, err
	}, lengthN, lengthOne},
	{"Pullback", func(f *nabla.Func, b nabla.Backend, x []float64) (prepared, error) {
		p, err := nabla.PreparePullback(f, b, x)
		return func(dst, x, v []float64) error { _, err := p.Pullback(dst, x, v); return err }, err
	}, lengthOne, lengthN},
	{"HVP", func(f *nabla.Func, b nabla.Backend, x []float64) (prepared, error) {
		p, err := nabla.PrepareHVP(f, b, x)
		return func(dst, x, v []float64) error { _, err := p.HVP(dst, x, v); return err }, err
	}, lengthN, lengthN},
	{"ValueGradientAndHVP", func(f *nabla.Func, b nabla.Backend, x []float64) (prepared, error) {
		p, err := nabla.PrepareHVP(f, b, x)
		return func(dst, x, v []float64) error { _, _, _, err := p.ValueGradientAndHVP(nil, dst, x, v); return err },
			err
	}, lengthN, lengthN},
	{"Jacobian", func(f *nabla.Func, b nabla.Backend, x []float64) (prepared, error) {
		p, err := nabla.PrepareJacobian(f, b, x)
		return func(_, x, _ []float64) error { _, err := p.Jacobian(nil, x); return err }, err
	}, nil, nil},
	{"Hessian", func(f *nabla.Func, b nabla.Backend, x []float64) (prepared, error) {
		p, err := nabla.PrepareHessian(f, b, x)
		return func(_, x, _ []float64) error { _, err := p.Hessian(nil, x); return err }, err
	}, nil, nil},
}

// derivatives are the operators whose x is a number.
var derivatives = []struct {
	name    string
	prepare func(f *nabla.Func, b nabla.Backend, x float64) (func(x float64) error, error)
}{
	{"Derivative", func(f *nabla.Func, b nabla.Backend, x float64) (func(x float64) error, error) {
		p, err := nabla.PrepareDerivative(f, b, x)
		return func(x float64) error { _, err := p.Derivative(x); return err }, err
	}},
	{"SecondDerivative", func(f *nabla.Func, b nabla.Backend, x float64) (func(x float64) error, error) {
		p, err := nabla.PrepareSecondDerivative(f, b, x)
		return func(x float64) error { _, err := p.SecondDerivative(x); return err }, err
	}},
}

// scalarFunc is f with one output in a shape that every operator takes.
func scalarFunc(f func(x []nabla.Real) nabla.Real) *nabla.Func {
	return nabla.InPlace(1, func(y, x []nabla.Real) { y[0] = f(x) })
}

func product(x []nabla.Real) nabla.Real {
	y := nabla.Const(1)
	for i := range x {
		y = y.Mul(x[i]).Add(x[i].Sq())
	}
	return y
}

// eachOperator runs test for every operator on every engine.
func eachOperator(t *testing.T, test func(t *testing.T, op operator, b nabla.Backend)) {
	for _, op := range operators {
		for _, b := range allEngines {
			t.Run(op.name+"/"+b.Name(), func(t *testing.T) { test(t, op, b) })
		}
	}
}

// tangentFor is a vector that op takes besides x, nil where it takes none.
func tangentFor(op operator, n int) []float64 {
	if op.tangent == nil {
		return nil
	}
	v := make([]float64, op.tangent(n))
	for i := range v {
		v[i] = 1
	}
	return v
}

func TestNilFunction(t *testing.T) {
	var real func([]nabla.Real) nabla.Real
	var plain func([]float64) float64
	var empty nabla.Func
	var curve func(nabla.Real) nabla.Real
	x := []float64{1, 2}
	for _, b := range allEngines {
		_, e1 := nabla.Gradient(real, b, x)
		_, e2 := nabla.Gradient(plain, b, x)
		_, e3 := nabla.Gradient((*nabla.Func)(nil), b, x)
		_, e4 := nabla.Gradient(&empty, b, x)
		_, e5 := nabla.Derivative(curve, b, 1)
		_, e6 := nabla.Hessian(real, b, x)
		_, e7 := nabla.Gradient(nabla.InPlace[func(y, x []nabla.Real)](1, nil), b, x)
		for i, err := range []error{e1, e2, e3, e4, e5, e6, e7} {
			var fe *nabla.FuncError
			if !errors.As(err, &fe) {
				t.Errorf("%s, case %d: %v", b.Name(), i, err)
			}
		}
	}
	eachOperator(t, func(t *testing.T, op operator, b nabla.Backend) {
		if _, err := op.prepare(nil, b, x); err == nil {
			t.Error("no error")
		}
	})
}

func TestNilBackend(t *testing.T) {
	for _, op := range operators {
		for _, b := range []nabla.Backend{
			(*nabla.Auto)(nil), (*reversediff.Backend)(nil), (*finitediff.Backend)(nil),
			nabla.Policy{Backend: (*tracker.Backend)(nil)},
			nabla.SecondOrder{Outer: (*forwarddiff.Backend)(nil), Inner: compiled},
		} {
			if _, err := op.prepare(scalarFunc(product), b, []float64{1, 2}); !errors.Is(err, nabla.ErrUnsupported) {
				t.Errorf("%s with %v: %v", op.name, b, err)
			}
			if _, err := nabla.Gradient(product, b, []float64{1, 2}); !errors.Is(err, nabla.ErrUnsupported) {
				t.Errorf("unprepared gradient with %v: %v", b, err)
			}
		}
	}
}

func TestEmptyInput(t *testing.T) {
	f := func(x []nabla.Real) nabla.Real { return nabla.Const(3) }
	for _, b := range allEngines {
		for _, x := range [][]float64{nil, {}} {
			v, g, err := nabla.ValueAndGradient(f, b, x)
			if err != nil || v != 3 || g == nil || len(g) != 0 {
				t.Errorf("gradient with %s: %v, %v, %v", b.Name(), v, g, err)
			}
			v, g, h, err := nabla.ValueGradientAndHessian(f, b, x)
			if err != nil || v != 3 || len(g) != 0 || h.SymmetricDim() != 0 {
				t.Errorf("Hessian with %s: %v, %v, %v, %v", b.Name(), v, g, h, err)
			}
			v, g, hv, err := nabla.ValueGradientAndHVP(f, b, x, nil)
			if err != nil || v != 3 || len(g) != 0 || len(hv) != 0 {
				t.Errorf("HVP with %s: %v, %v, %v, %v", b.Name(), v, g, hv, err)
			}
			y, j, err := nabla.ValueAndJacobian(func(x []nabla.Real) []nabla.Real {
				return []nabla.Real{nabla.Const(3), nabla.Const(4)}
			}, b, x)
			if r, _ := j.Dims(); err != nil || len(y) != 2 || y[1] != 4 || r != 0 {
				t.Errorf("Jacobian with %s: %v, %v, %v", b.Name(), y, j, err)
			}
			y, dy, err := nabla.ValueAndPushforward(f, b, x, nil)
			if err != nil || y[0] != 3 || len(dy) != 1 || dy[0] != 0 {
				t.Errorf("pushforward with %s: %v, %v, %v", b.Name(), y, dy, err)
			}
			y, xbar, err := nabla.ValueAndPullback(f, b, x, []float64{1})
			if err != nil || y[0] != 3 || len(xbar) != 0 {
				t.Errorf("pullback with %s: %v, %v, %v", b.Name(), y, xbar, err)
			}
		}
		// no outputs
		y, j, err := nabla.ValueAndJacobian(func(x []nabla.Real) []nabla.Real { return nil }, b, []float64{1, 2})
		if err != nil || len(y) != 0 || j == nil {
			t.Errorf("no outputs with %s: %v, %v, %v", b.Name(), y, j, err)
		}
		xbar, err := nabla.Pullback(func(x []nabla.Real) []nabla.Real { return nil }, b, []float64{1, 2}, nil)
		if err != nil || len(xbar) != 2 || xbar[0] != 0 {
			t.Errorf("pullback of no outputs with %s: %v, %v", b.Name(), xbar, err)
		}
	}
}

func TestWrongLengths(t *testing.T) {
	x := []float64{1, 2, 3}
	eachOperator(t, func(t *testing.T, op operator, b nabla.Backend) {
		p, err := op.prepare(scalarFunc(product), b, x)
		if err != nil {
			t.Fatal(err)
		}
		v := tangentFor(op, 3)
		shape := func(what string, err error, got, want int) {
			t.Helper()
			var se *nabla.ShapeError
			if !errors.As(err, &se) || se.Got != got || se.Want != want {
				t.Errorf("%s: %v", what, err)
			} else if m := err.Error(); !strings.Contains(m, fmt.Sprintf("is %d, want %d", got, want)) ||
				!strings.HasPrefix(m, "nabla: ") {
				t.Errorf("%s: message %q", what, m)
			}
			if err := p(nil, x, v); err != nil {
				t.Errorf("after %s: %v", what, err)
			}
		}
		shape("short x", p(nil, x[:2], v), 2, 3)
		shape("nil x", p(nil, nil, v), 0, 3)
		shape("long x", p(nil, []float64{1, 2, 3, 4}, v), 4, 3)
		if op.tangent != nil {
			n := op.tangent(3)
			shape("no tangent", p(nil, x, nil), 0, n)
			shape("long tangent", p(nil, x, make([]float64, 7)), 7, n)
		}
		if op.result != nil {
			n := op.result(3)
			shape("empty dst", p([]float64{}, x, v), 0, n)
			shape("long dst", p(make([]float64, 9), x, v), 9, n)
		}
	})
}

func TestWrongMatrices(t *testing.T) {
	x := []float64{1, 2}
	var se *nabla.ShapeError
	for _, b := range allEngines {
		j, err := nabla.PrepareJacobian(nabla.InPlace(3,
			func(y, x []nabla.Real) { y[0], y[1], y[2] = x[0], x[1], product(x) }), b, x)
		if err != nil {
			t.Fatal(err)
		}
		h, err := nabla.PrepareHessian(product, b, x)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []*mat.Dense{mat.NewDense(2, 3, nil), mat.NewDense(3, 3, nil), mat.NewDense(1, 2, nil)} {
			if _, err := j.Jacobian(m, x); !errors.As(err, &se) {
				t.Errorf("Jacobian with %s: %v", b.Name(), err)
			}
		}
		if _, err := h.Hessian(mat.NewSymDense(3, nil), x); !errors.As(err, &se) {
			t.Errorf("Hessian with %s: %v", b.Name(), err)
		}
		if _, err := j.Jacobian(mat.NewDiagDense(2, nil), x); !errors.Is(err, nabla.ErrUnsupported) {
			t.Errorf("Jacobian into a diagonal with %s: %v", b.Name(), err)
		}
		if _, err := h.Hessian(mat.NewDiagDense(2, nil), x); !errors.Is(err, nabla.ErrUnsupported) {
			t.Errorf("Hessian into a diagonal with %s: %v", b.Name(), err)
		}
		// destinations that count as nil
		if _, err := j.Jacobian((*mat.Dense)(nil), x); err != nil {
			t.Errorf("Jacobian into a nil matrix with %s: %v", b.Name(), err)
		}
		if m, err := j.Jacobian(new(mat.Dense), x); err != nil || m.At(0, 0) != 1 && b.Name()[0] != 'f' {
			t.Errorf("Jacobian into an empty matrix with %s: %v", b.Name(), err)
		}
		if _, err := h.Hessian((*mat.SymDense)(nil), x); err != nil {
			t.Errorf("Hessian into a nil matrix with %s: %v", b.Name(), err)
		}
		// a window of a larger matrix
		big := mat.NewDense(5, 5, nil)
		if _, err := j.Jacobian(big.Slice(1, 4, 2, 4).(*mat.Dense), x); err != nil || big.At(0, 0) != 0 ||
			big.At(1, 4) != 0 || big.At(4, 2) != 0 || math.Abs(big.At(1, 2)-1) > 1e-6 {
			t.Errorf("Jacobian into a window with %s: %v\n%v", b.Name(), err, mat.Formatted(big))
		}
	}
}

func TestAliases(t *testing.T) {
	buf := []float64{1, 2, 3, 4, 5}
	var ae *nabla.AliasError
	eachOperator(t, func(t *testing.T, op operator, b nabla.Backend) {
		if op.result == nil {
			return
		}
		x := buf[:3]
		p, err := op.prepare(scalarFunc(product), b, x)
		if err != nil {
			t.Fatal(err)
		}
		v := tangentFor(op, 3)
		n := op.result(3)
		before := slices.Clone(buf)
		for _, dst := range [][]float64{buf[:n], buf[2 : 2+n]} {
			if err := p(dst, x, v); !errors.As(err, &ae) {
				t.Errorf("dst in x: %v", err)
			}
		}
		if v != nil && len(v) >= n {
			if err := p(v[:n], x, v); !errors.As(err, &ae) {
				t.Errorf("dst in tangent: %v", err)
			}
		}
		if !slices.Equal(buf, before) {
			t.Errorf("x is %v after", buf)
		}
		if err := p(nil, x, v); err != nil {
			t.Errorf("after: %v", err)
		}
		if len(v) == 3 { // reading from one place twice is no harm
			if err := p(nil, x, x); err != nil {
				t.Errorf("x as tangent: %v", err)
			}
		}
	})
	for _, b := range allEngines { // the storage of a matrix
		j, err := nabla.PrepareJacobian(scalarFunc(product), b, buf[:3])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := j.Dense(mat.NewDense(1, 3, buf[2:5]), buf[:3]); !errors.As(err, &ae) {
			t.Errorf("Jacobian over x with %s: %v", b.Name(), err)
		}
	}
}

// TestNonFiniteInput checks that derivatives at NaN and Inf follow IEEE arithmetic.
func TestNonFiniteInput(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	f := func(x []nabla.Real) nabla.Real { return x[0].Mul(x[1]).Add(nabla.Exp(x[1])) }
	for _, c := range []struct{ x, grad []float64 }{
		{[]float64{nan, 2}, []float64{2, nan}},
		{[]float64{2, nan}, []float64{nan, nan}},
		{[]float64{inf, 2}, []float64{2, inf}},
		{[]float64{2, -inf}, []float64{-inf, 2}},
		{[]float64{0, inf}, []float64{inf, inf}},
	} {
		gradientsAgree(t, f, c.x, c.grad, nil)
		for _, b := range firstOrder {
			v, _, err := nabla.ValueAndGradient(f, b, c.x)
			if want := c.x[0]*c.x[1] + math.Exp(c.x[1]); err != nil || !sameNumber(v, want) {
				t.Errorf("%s at %v: %v, %v", b.Name(), c.x, v, err)
			}
		}
	}
	for _, b := range allEngines { // difference engines too: an error is no answer
		for _, op := range operators {
			p, err := op.prepare(scalarFunc(f), b, []float64{1, nan})
			if err == nil {
				err = p(nil, []float64{inf, nan}, tangentFor(op, 2))
			}
			if err != nil {
				t.Errorf("%s with %s: %v", op.name, b.Name(), err)
			}
		}
	}
}

// TestUnusualFunctions has functions that ignore x, return it, or return one number
// twice.
func TestUnusualFunctions(t *testing.T) {
	x := []float64{3, 4}
	for _, b := range allEngines {
		tol := 0.0
		if strings.HasPrefix(b.Name(), "finitediff") {
			tol = 1e-6
		}
		check := func(what string, f func(x []nabla.Real) []nabla.Real, want ...float64) {
			t.Helper()
			p, err := nabla.PrepareJacobian(f, b, x)
			if err != nil {
				t.Errorf("%s with %s: %v", what, b.Name(), err)
				return
			}
			for range 3 {
				j := mat.NewDense(len(want)/2, 2, nil)
				for i := range want {
					j.RawMatrix().Data[i] = math.NaN()
				}
				if _, err := p.Dense(j, x); err != nil || !mat.EqualApprox(j, mat.NewDense(len(want)/2, 2, want), tol) {
					t.Errorf("%s with %s: %v, %v", what, b.Name(), j.RawMatrix().Data, err)
				}
			}
		}
		check("constants", func(x []nabla.Real) []nabla.Real { return []nabla.Real{nabla.Const(1), {}} }, 0, 0, 0, 0)
		check("x itself", func(x []nabla.Real) []nabla.Real { return x }, 1, 0, 0, 1)
		check("one number twice", func(x []nabla.Real) []nabla.Real {
			y := x[0].Mul(x[1])
			return []nabla.Real{y, y, x[1], x[1]}
		}, 4, 3, 4, 3, 0, 1, 0, 1)
		check("x overwritten", func(x []nabla.Real) []nabla.Real {
			x[0], x[1] = x[1], x[0].Sq()
			return x
		}, 0, 1, 6, 0)
		_, g, err := nabla.ValueAndGradient(func(x []nabla.Real) nabla.Real { return nabla.Const(7) }, b, x)
		if err != nil || g[0] != 0 || g[1] != 0 {
			t.Errorf("gradient of a constant with %s: %v, %v", b.Name(), g, err)
		}
		h, err := nabla.Hessian(func(x []nabla.Real) nabla.Real { return x[1] }, b, x)
		if err != nil || math.Abs(h.At(0, 1)) > tol || math.Abs(h.At(1, 1)) > tol {
			t.Errorf("Hessian of a linear function with %s: %v, %v", b.Name(), h, err)
		}
		if x[0] != 3 || x[1] != 4 {
			t.Fatalf("%s changed x: %v", b.Name(), x)
		}
	}
}

// TestErrorsNameTheNextStep checks that messages about lengths and settings give the mistake, the
// expected value and the next step.
func TestErrorsNameTheNextStep(t *testing.T) {
	x := []float64{1, 2}
	p, err := nabla.PrepareGradient(product, forwarddiff.Backend{}, x)
	if err != nil {
		t.Fatal(err)
	}
	_, short := p.Gradient(nil, x[:1])
	_, long := p.Gradient(make([]float64, 3), x)
	_, two := nabla.Gradient(nabla.InPlace(2, func(y, x []nabla.Real) { copy(y, x) }), forwarddiff.Backend{}, x)
	_, negative := nabla.Jacobian(nabla.InPlace(-2, func(y, x []nabla.Real) {}), forwarddiff.Backend{}, x)
	_, chunk := nabla.Gradient(product, forwarddiff.Backend{Chunk: -1}, x)
	_, step := nabla.Gradient(product, finitediff.Backend{RelStep: -1}, x)
	_, method := nabla.Gradient(product, finitediff.Backend{Method: 17}, x)
	for _, c := range []struct {
		err  error
		want []string
	}{
		{short, []string{"Gradient", "len(x)", "1", "2", "Resize"}},
		{long, []string{"Gradient", "len(dst)", "3", "2", "nil"}},
		{two, []string{"Gradient", "outputs", "2", "1", "Jacobian"}},
		{negative, []string{"InPlace", "m is -2", "0 or more"}},
		{chunk, []string{"Chunk is -1", "0 or more"}},
		{step, []string{"RelStep is -1", "positive"}},
		{method, []string{"method(17)", "Central"}},
	} {
		if c.err == nil {
			t.Errorf("no error, want one with %q", c.want)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(c.err.Error(), w) {
				t.Errorf("%q says nothing of %q", c.err, w)
			}
		}
	}
}
