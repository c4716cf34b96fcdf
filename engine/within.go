package engine

import (
	"errors"
	"fmt"

	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/rules"
)

// Within runs f over Reals inside a call of a function that an engine derived from
// it: c is the context that Def.Traced of the derived function was given, which is
// that of f and has been entered. Over would enter it again.
func (f *Function) Within(y, x []Real, c Context) error {
	if f.def.Traced == nil {
		return f.run(nil, y, x) // the error that says so
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

// Nest runs f over numbers of traces that may be open, constants included, from
// inside another function that is being traced: what it reads of outer traces it
// may use. Panics of f pass through to the outer call.
func (f *Function) Nest(y, x []Real) error {
	c := f.def.Context
	if f.def.Traced == nil {
		for _, r := range x {
			if r.ID != 0 {
				return f.run(nil, y, x) // the error that says so
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

// probe answers every operation with a number, so that all that depends on the
// inputs is traced, and keeps nothing.
type probe struct{}

func (probe) Unary(rules.Op, int32, float64, float64) int32 { return 1 }

func (probe) Binary(rules.Op, int32, int32, float64, float64, float64) int32 { return 1 }

// Probe runs f twice at x over traced numbers and reports a number that it kept
// from one call for the next. An engine that only evaluates f would compute with it
// as with a constant, and be wrong. Whatever else goes wrong under a trace is no
// concern of such an engine.
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
