package source_test

import (
	"strings"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/source"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/difftest"
)

// held is a function of the conformance kit, bound to a plain one that evaluates it.
// Its code computes with other engines: what is tested is what becomes of that.
type held struct {
	into    func(y, x []nabla.Real)
	outputs func(n int) int
}

func (h *held) value(y, x []float64) {
	xs, ys := make([]nabla.Real, len(x)), make([]nabla.Real, len(y))
	for i, v := range x {
		xs[i] = nabla.Const(v)
	}
	h.into(ys, xs)
	for i, v := range ys {
		y[i] = v.Value()
	}
}

func heldScalar(x []float64, h *held) float64 {
	var y [1]float64
	h.value(y[:], x)
	return y[0]
}

func heldVector(x []float64, h *held) []float64 {
	y := make([]float64, h.outputs(len(x)))
	h.value(y, x)
	return y
}

func heldInPlace(y, x []float64, h *held) { h.value(y, x) }

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// heldCode is the code of any held function. Of x and ybar it makes sure that they
// are left alone, by writing to what it may write to.
func heldCode() nabla.Code {
	tangent := func(y, ydot, x, xdot []float64, p any) int {
		m := p.(*held).outputs(len(x))
		_, _, err := prepared(nabla.PreparePushforward(nabla.InPlace(m, p.(*held).into), forwarddiff.Backend{}, x)).ValueAndPushforward(y, ydot, x, xdot)
		must(err)
		return m
	}
	adjoint := func(y, xbar, x, ybar []float64, p any) int {
		m := p.(*held).outputs(len(x))
		_, _, err := prepared(nabla.PreparePullback(nabla.InPlace(m, p.(*held).into), tracker.Backend{}, x)).ValueAndPullback(y, xbar, x, ybar)
		must(err)
		return m
	}
	return nabla.Code{
		Tangent: tangent,
		Tangent4: func(y []float64, ydot [][4]float64, x []float64, xdot [][4]float64, p any) int {
			in, out := make([]float64, len(xdot)), make([]float64, len(ydot))
			for k := range 4 {
				for i := range in {
					in[i] = xdot[i][k]
				}
				tangent(y, out, x, in, p)
				for i := range out {
					ydot[i][k] = out[i]
				}
			}
			return len(out)
		},
		Adjoint: adjoint,
		AdjointTangent: func(y, xbar, xbardot, x, xdot, ybar []float64, p any) int {
			m := tangent(y, make([]float64, len(y)), x, xdot, p)
			weighted := func(x []nabla.Real) nabla.Real {
				ys, s := make([]nabla.Real, m), nabla.Const(0)
				p.(*held).into(ys, x)
				for i, v := range ys {
					s = s.Add(v.Scale(ybar[i]))
				}
				return s
			}
			_, _, _, err := prepared(nabla.PrepareHVP(weighted, tracker.Backend{}, x)).ValueGradientAndHVP(xbar, xbardot, x, xdot)
			must(err)
			return m
		},
	}
}

func prepared[P any](p P, err error) P {
	must(err)
	return p
}

func init() {
	g := nabla.Generated{
		Version: nabla.CodeVersion, New: heldCode,
		Traced: func(y, x []nabla.Real, p any) int {
			p.(*held).into(y, x)
			return len(y)
		},
	}
	nabla.Register(heldScalar, g)
	nabla.Register(heldVector, g)
	nabla.Register(heldInPlace, g)
}

// catalogue is the scenarios of a group of the conformance kit with held functions.
// Those for a given and for an allocated result differ in their names only, and the
// wider bands of a quadratic form take long by this code.
func catalogue(group string) (all []difftest.Scenario) {
	for _, s := range difftest.Scenarios(group) {
		if s.Func == nil || strings.HasSuffix(s.Name, "/out") || strings.Contains(s.Name, "quadraticform_band") && !strings.Contains(s.Name, "band5") {
			continue
		}
		outputs := s.Outputs
		if m := s.M(); outputs == nil || s.InPlace {
			outputs = func(int) int { return m }
		}
		h := &held{s.Func, outputs}
		switch {
		case s.InPlace:
			s.Form = func(bool) any { return nabla.BindInPlace(h.outputs(0), heldInPlace, h) }
		case s.YShape.Number || s.Operator == "gradient" || s.Operator == "hvp" || s.Operator == "hessian":
			s.Form = func(bool) any { return nabla.Bind(heldScalar, h) }
		default:
			s.Form = func(bool) any { return nabla.Bind(heldVector, h) }
		}
		all = append(all, s)
	}
	return all
}

func TestConformance(t *testing.T) {
	dense, wide := append(catalogue("default"), catalogue("empty")...), catalogue("sparse")
	if len(dense) < 50 || len(wide) < 15 {
		t.Fatalf("%d dense and %d sparse scenarios of the catalogue", len(dense), len(wide))
	}
	for _, b := range []nabla.Backend{
		source.Forward{}, source.Reverse{},
		nabla.SecondOrder{Outer: source.Forward{}, Inner: source.Reverse{}},
		nabla.SecondOrder{Outer: source.Reverse{}, Inner: source.Forward{}},
		nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: source.Reverse{}},
		nabla.SecondOrder{Outer: source.Forward{}, Inner: tracker.Backend{}},
		nabla.AutoSparse{Dense: source.Reverse{}},
		nabla.AutoSparse{Dense: source.Forward{}},
	} {
		t.Run(b.Name(), func(t *testing.T) {
			o := difftest.Options{Scenarios: dense}
			switch b.(type) {
			case nabla.SecondOrder:
				o.NoFirstOrder = true
			case nabla.AutoSparse:
				o.Scenarios = wide
			}
			difftest.Run(t, b, &o)
		})
	}
}
