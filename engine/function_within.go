package engine

import (
	"errors"
	"fmt"

	"github.com/nabla-ad/nabla/internal/core"
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
	stops := f.watched(x)
	if err := f.def.Traced(y, x, c); err != nil {
		return err
	}
	if err := f.stopped(stops, x); err != nil {
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

// Probe runs f twice at x over traced numbers. It returns [ErrForeignReal] if f keeps a number from one call for the
// next: an engine that only evaluates f would treat such a number as a constant and compute wrong derivatives. It
// returns an *[UnsupportedError] if f stops a derivative, of which such an engine learns nothing. Other errors are
// ignored: they do not concern such an engine.
func (f *Function) Probe(x []float64) error {
	if f.def.Traced == nil || f.def.Plain != nil { // evaluated over plain numbers
		return nil
	}
	f.Approximate()
	for range 2 {
		stops, err := f.hooked(x)
		if errors.Is(err, ErrForeignReal) {
			return err
		}
		if stops {
			return f.stops()
		}
	}
	return nil
}
