package finitediff

import (
	"errors"
	"math"
	"testing"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/program"
	"github.com/nabla-ad/nabla/rules"
)

// scaleBy is a bound struct with one parameter; it allows one call at a time.
type scaleBy struct {
	value   *float64
	now     engine.Real
	power   int // opaque: a recording freezes it
	entered bool
}

func (c *scaleBy) Params() int              { return 1 }
func (c *scaleBy) Read(dst []float64)       { dst[0] = *c.value }
func (c *scaleBy) Snapshot(b []byte) []byte { return append(b, byte(c.power)) }
func (c *scaleBy) Clone() (engine.Context, error) {
	return &scaleBy{value: c.value, power: c.power}, nil
}
func (c *scaleBy) Beside() engine.Context { return &scaleBy{value: c.value, power: c.power} }
func (c *scaleBy) Own() error             { return nil }
func (c *scaleBy) Refresh() error         { return nil }
func (c *scaleBy) Rebind(p any) error     { c.value = p.(*float64); return nil }
func (c *scaleBy) Arg() any               { return c.value }
func (c *scaleBy) Bound() any             { return c.value }

func (c *scaleBy) Enter(t *engine.Tracer, first int32) error {
	if c.entered {
		return errors.New("entered twice")
	}
	c.entered = true
	c.now = engine.Real{V: *c.value}
	if first > 0 {
		c.now = t.Number(*c.value, first)
	}
	return nil
}

func (c *scaleBy) Leave() error {
	c.entered = false
	return nil
}

// bound is p·(x0·x1 + exp(x0) + x1).
func bound(p *float64) *engine.Function {
	return engine.NewFunction(engine.Def{Name: "bound", N: 2, M: 1, Context: &scaleBy{value: p},
		Traced: func(y, x []engine.Real, c engine.Context) error {
			s := op2(rules.Add, op2(rules.Add, op2(rules.Mul, x[0], x[1]), op1(rules.Exp, x[0])), x[1])
			y[0] = op2(rules.Mul, c.(*scaleBy).now, s)
			return nil
		}})
}

func TestBoundStructsAreReadAtEveryCall(t *testing.T) {
	x := []float64{0, 3}
	for m := Central; m < numMethods; m++ {
		for _, workers := range []int{1, 3} {
			p, q := 2.0, 10.0
			f := bound(&p)
			g, err := Backend{Method: m, Workers: workers}.PrepareGradient(f, x)
			if err != nil {
				t.Fatal(err)
			}
			grad := make([]float64, 2)
			check := func(want float64) {
				t.Helper()
				if _, err := g.ValueAndGradient(grad, x); err != nil {
					t.Fatal(err)
				}
				if far(grad[0]-4*want, 1e-5) || far(grad[1]-want, 1e-5) {
					t.Errorf("%v with %d workers: gradient %v, want %v and %v", m, workers, grad, 4*want, want)
				}
			}
			check(2)
			p = 3
			check(3)
			if err := f.Rebind(&q); err != nil {
				t.Fatal(err)
			}
			check(10)
		}
	}
}

func TestOpaqueFieldsRecordAgain(t *testing.T) {
	c := &scaleBy{value: new(float64), power: 1}
	f := engine.NewFunction(engine.Def{Name: "power", N: 1, M: 1, Context: c,
		Traced: func(y, x []engine.Real, c engine.Context) error {
			y[0] = num(1)
			for range c.(*scaleBy).power {
				y[0] = op2(rules.Mul, y[0], x[0])
			}
			return nil
		}}).With(1, 1, engine.Policy{NoStaleCheck: true})
	p, err := Backend{Method: Complex}.PrepareGradient(f, []float64{2})
	if err != nil {
		t.Fatal(err)
	}
	g := make([]float64, 1)
	for k := 1; k < 4; k++ {
		c.power = k
		y, err := p.ValueAndGradient(g, []float64{2})
		if want := math.Pow(2, float64(k)); err != nil || y != want || g[0] != want/2*float64(k) {
			t.Errorf("power %d: value %v, derivative %v, %v", k, y, g, err)
		}
	}
}

func TestTransformsReadTheBoundStruct(t *testing.T) {
	for m := Central; m < numMethods; m++ {
		p := 2.0
		f := bound(&p)
		g := transformed(t, Backend{Method: m}, f, true)
		pr, err := g.Program([]float64{1, 3})
		if err != nil {
			t.Fatal(err)
		}
		mc := program.NewMachine(pr)
		p = 5
		copy(mc.Input(0), []float64{0, 3})
		copy(mc.Params(), []float64{p})
		if !mc.Run() {
			t.Fatal("a guard failed")
		}
		got, plain := make([]float64, 3), make([]float64, 3)
		mc.Output(0, got)
		if err := g.Clone().Value(plain, []float64{0, 3}); err != nil {
			t.Fatal(err)
		}
		for _, v := range [][]float64{got, plain} {
			if far(v[0]-20, 1e-5) {
				t.Errorf("%v: gradient %v, want 20 first", m, v)
			}
		}
	}
}
