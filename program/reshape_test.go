package program

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func TestJoin(t *testing.T) {
	each(t, 50, anything, func(t *testing.T, rng *rand.Rand, x sample) {
		q := Join(x.p, "all", len(x.p.Outs)-1, 0)
		want := run(t, "before", x.p, x.ins, x.params)
		compare(t, "joined", run(t, "joined", q, x.ins, x.params),
			[][]float64{flatten([][]float64{want[len(want)-1], want[0]})}, sameNumber)
		if q.Outs[0].Name != "all" {
			t.Errorf("got the name %q", q.Outs[0].Name)
		}
	})
}

// Inputs that are joined to group 0 are differentiated with it.
func TestJoinInputs(t *testing.T) {
	each(t, 50, smooth.withLanes(), func(t *testing.T, rng *rand.Rand, x sample) {
		g := VJP(x.p, VJPOptions{})
		ybar := directions(rng, x.p.NumOut(), 1)
		q := JoinInputs(g, "ybar")
		want := run(t, "before", g, append(append([][]float64{}, x.ins...), ybar), x.params)
		ins := append([][]float64{append(append([]float64{}, x.ins[0]...), ybar...)}, x.ins[1:]...)
		compare(t, "joined", run(t, "joined", q, ins, x.params), want, sameNumber)

		if len(x.ins) > 1 { // a group before the last one
			q := JoinInputs(g, "captured")
			ins := [][]float64{append(append([]float64{}, x.ins[0]...), x.ins[1]...), ybar}
			compare(t, "joined", run(t, "joined", q, ins, x.params), want, sameNumber)
		}

		dots := make([][]float64, len(ins))
		dots[0] = directions(rng, len(ins[0]), 1)
		got := run(t, "JVP", JVP(q, JVPOptions{}), append(append([][]float64{}, ins...), dots[0]), x.params)
		compare(t, "JVP", got[len(got)-1:], [][]float64{flatten(referenceJVP(q, ins, x.params, dots))},
			toward(size(want)))
	})
}

// Parameters that are bound are constants.
func TestBind(t *testing.T) {
	each(t, 50, anything, func(t *testing.T, rng *rand.Rand, x sample) {
		q := Bind(x.p, x.params)
		if err := Check(q); err != nil || q.Params != 0 {
			t.Fatalf("%d parameters, %v", q.Params, err)
		}
		compare(t, "bound", run(t, "bound", q, x.ins, nil), run(t, "before", x.p, x.ins, x.params), sameNumber)
	})
}

func TestBindRefuses(t *testing.T) {
	p := mustParse(t, "%0 = input x\n%1:2 = param 0\nout y [%2]\n")
	defer func() {
		if want := "program: Bind: got 3 values for 2 parameters"; fmt.Sprint(recover()) != want {
			t.Errorf("no panic %q", want)
		}
	}()
	Bind(p, make([]float64, 3))
}

// A derivative alone has no -0.
func TestAlone(t *testing.T) {
	p, err := Parse("%0 = input x\n%1 = neg %0\nout y [%0]\nout xbar [%1 %0]", nil)
	if err != nil {
		t.Fatal(err)
	}
	q := Simplify(Alone(p, "grad", 1))
	got := run(t, "alone", q, [][]float64{{0}}, nil)
	if len(got) != 1 || len(got[0]) != 2 || math.Signbit(got[0][0]) || q.Outs[0].Name != "grad" {
		t.Errorf("got %v in %v", got, q.Outs)
	}
}
