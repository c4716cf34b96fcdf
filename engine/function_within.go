package engine

import (
	"errors"
	"fmt"

	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/rules"
)

// Within runs f over Reals inside a call of a function that an engine derived from it. c is the context that Def.Traced
// of the derived function received; it is that of f and has been entered, so that Over, which would enter it again,
// must not be used.
func (f *Function) Within(y, x []Real, c Context) error {
	if f.def.Traced == nil {
		return f.run(nil, y, x) // returns the error
	}
	f.calls++
	for i := range y {
		y[i] = core.Poison()
	}
	if err := f.def.Traced(y, x, c); err != nil {
		return err
	}
	for i, r := range y {
		if r.Poisoned() {
			return fmt.Errorf("nabla: function %s: output %d: %w", f.def.Name, i, ErrOutputNotWritten)
		}
	}
	return f.current(y, x)
}

// Nest runs f inside another function that is being traced. x may hold numbers of any open trace and constants, and f
// may read numbers of outer traces. A function over plain numbers is evaluated if x holds only constants. A panic of f
// is not recovered.
func (f *Function) Nest(y, x []Real) error {
	c := f.def.Context
	if f.def.Traced == nil {
		for _, r := range x {
			if r.ID != 0 {
				return f.run(nil, y, x) // returns the error
			}
		}
		f.calls++
		v := make([]float64, len(x)+len(y))
		for i, r := range x {
			v[i] = r.V
		}
		if err := f.def.Plain(v[len(x):], v[:len(x)], c); err != nil {
			return err
		}
		for i := range y {
			y[i] = Real{V: v[len(x)+i]}
		}
		return nil
	}
	if c == nil {
		return f.Within(y, x, nil)
	}
	if err := c.Enter(nil, 0); err != nil {
		return err
	}
	if err := f.Within(y, x, c); err != nil {
		return err
	}
	return c.Leave()
}

// probe is a Hook that gives every result the id 1, so that all numbers that depend on the inputs are traced, and
// stores nothing.
type probe struct{}

func (probe) Unary(rules.Op, int32, float64, float64) int32 { return 1 }

func (probe) Binary(rules.Op, int32, int32, float64, float64, float64) int32 { return 1 }

// Probe runs f twice at x over traced numbers and returns [ErrForeignReal] if f keeps a number from one call for the
// next. An engine that only evaluates f would treat such a number as a constant and compute wrong derivatives. Other
// errors are ignored: they do not concern such an engine.
func (f *Function) Probe(x []float64) error {
	if f.def.Traced == nil || f.def.Plain != nil { // evaluated over plain numbers
		return nil
	}
	xs, ys := make([]Real, f.def.N), make([]Real, f.def.M)
	for range 2 {
		t := Overload(probe{})
		for i, v := range x {
			xs[i] = t.Number(v, 1)
		}
		err := f.OverIn(t, ys, xs)
		t.Close()
		if errors.Is(err, ErrForeignReal) {
			return err
		}
	}
	return nil
}
