package nabla_test

import (
	"errors"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/internal/longtest"
)

// incomparable is an engine with a setting that == panics on.
type incomparable struct {
	forwarddiff.Backend
	directions []int
}

// TestIncomparableBackend holds that backends are told apart without ==.
func TestIncomparableBackend(t *testing.T) {
	b := incomparable{directions: []int{1}}
	for _, c := range []nabla.Backend{b, nabla.SecondOrder{Outer: b, Inner: b}} {
		h, err := nabla.Hessian(func(x []nabla.Real) nabla.Real { return x[0].Sq() }, c, []float64{3})
		if err != nil {
			t.Fatalf("%s: %v", c.Name(), err)
		}
		if h.At(0, 0) != 2 {
			t.Errorf("%s: second derivative %v, want 2", c.Name(), h.At(0, 0))
		}
	}
	nested := nabla.SecondOrder{Outer: nabla.SecondOrder{Outer: b, Inner: b}, Inner: b}
	if _, err := nabla.Hessian(func(x []nabla.Real) nabla.Real { return x[0] }, nested,
		[]float64{3}); !errors.Is(err, nabla.ErrUnsupported) {
		t.Errorf("SecondOrder in SecondOrder: %v", err)
	}
}

// TestPoliciesCombine holds that both hold.
func TestPoliciesCombine(t *testing.T) {
	f := func(x []nabla.Real) nabla.Real {
		if x[0].Less(nabla.Const(0)) {
			return x[0].Neg()
		}
		return x[0]
	}
	p := mustGradient(t, f, nabla.Policy{OnGuard: nabla.Fail, Backend: nabla.Policy{Backend: compiled}}, 1)
	if _, err := p.Gradient(nil, []float64{-1}); !errors.Is(err, nabla.ErrGuard) {
		t.Errorf("on the other branch: %v, want ErrGuard", err)
	}
}

// TestAtReturnsNilWithAnError holds that At gives nothing to use after an error.
func TestAtReturnsNilWithAnError(t *testing.T) {
	bad := false
	f := func(x []nabla.Real) nabla.Real {
		if bad {
			panic("bad")
		}
		return x[0].Sq()
	}
	x := []float64{1}
	push, err1 := nabla.PreparePushforward(f, forwarddiff.Backend{}, x)
	hvp, err2 := nabla.PrepareHVP(f, compiled, x)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	bad = true
	if op, err := push.At(x); op != nil || err == nil {
		t.Errorf("PushforwardPrep.At: %v, %v", op, err)
	}
	if op, err := hvp.At(x); op != nil || err == nil {
		t.Errorf("HVPPrep.At: %v, %v", op, err)
	}
}

// TestPushforwardOfManyOutputs holds that reverse mode does not go output by output, which
// would take this test minutes, nor allocate.
func TestPushforwardOfManyOutputs(t *testing.T) {
	longtest.Serial(t)
	const m = 1 << 14
	f := nabla.InPlace(m, func(y, x []nabla.Real) {
		for i := range y {
			y[i] = x[0].Mul(x[i%3]).AddConst(float64(i))
		}
	})
	x, v := []float64{2, 3, 5}, []float64{1, 0, 7}
	want, err := nabla.Pushforward(f, forwarddiff.Backend{}, x, v)
	if err != nil {
		t.Fatal(err)
	}
	V := mat.NewDense(3, 2, []float64{1, 2, 0, 0, 7, 14})
	for _, b := range []nabla.Backend{tracker.Backend{}, reversediff.Backend{}, compiled} {
		p, err := nabla.PreparePushforward(f, b, []float64{1, 1, 1})
		if err != nil {
			t.Fatal(err)
		}
		y, dst := make([]float64, m), make([]float64, m)
		if _, _, err = p.ValueAndPushforward(y, dst, x, v); err != nil || !slices.Equal(dst, want) || y[m-1] != 4+m-1 {
			t.Errorf("%s: wrong pushforward (%v)", b.Name(), err)
		}
		batch, err := p.PushforwardBatch(nil, x, V)
		if err != nil || batch.At(m-1, 0) != want[m-1] || batch.At(m-1, 1) != 2*want[m-1] {
			t.Errorf("%s: wrong batch (%v)", b.Name(), err)
		}
		if b == (nabla.Backend)(tracker.Backend{}) {
			continue
		}
		if a := testing.AllocsPerRun(5, func() { p.ValueAndPushforward(y, dst, x, v) }); a != 0 {
			t.Errorf("%s: %v allocations", b.Name(), a)
		}
		if p.Recordings() != 1 {
			t.Errorf("%s: %d recordings, want 1", b.Name(), p.Recordings())
		}
	}
}
