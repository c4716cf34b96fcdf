package nabla_test

import (
	"errors"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
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
	if _, err := nabla.Hessian(func(x []nabla.Real) nabla.Real { return x[0] }, nested, []float64{3}); !errors.Is(err, nabla.ErrUnsupported) {
		t.Errorf("SecondOrder in SecondOrder: %v", err)
	}
}

// TestPolicyInPolicy holds that both hold.
func TestPolicyInPolicy(t *testing.T) {
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

// TestNoOperatorWithAnError holds that At gives nothing to use after an error.
func TestNoOperatorWithAnError(t *testing.T) {
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
