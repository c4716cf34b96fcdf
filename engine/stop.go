package engine

import (
	"fmt"

	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/rules"
)

// Difference quotients see the values of a function and not its operations, so that a number whose derivative is
// stopped would count with its derivative. A function that an [Approximator] evaluates therefore is an error if it
// stops one: [Function.Probe] finds those at the point of preparation, and later evaluations those on other branches.

// Approximate makes evaluations of f an *[UnsupportedError] if they stop a derivative.
func (f *Function) Approximate() { f.inexact = true }

// watched returns how many derivatives have been stopped, 0 if it does not matter to f.
func (f *Function) watched(x []Real) uint64 {
	if !f.inexact {
		return 0
	}
	return core.Stops(x)
}

// stopped returns an error if f is evaluated by an approximating engine and has stopped a derivative since watched was
// before. Over constants another goroutine may have done so; then a run of f at x over traced numbers decides.
func (f *Function) stopped(before uint64, x []Real) error {
	if f.watched(x) == before {
		return nil
	}
	at := make([]float64, len(x))
	for i, r := range x {
		at[i] = r.V
		if r.ID != 0 { // within the trace of another engine a hook cannot run
			return f.stops()
		}
	}
	if stops, err := f.hooked(at); stops || err != nil { // f may read numbers of the trace around it
		return f.stops()
	}
	return nil
}

func (f *Function) stops() error {
	return &UnsupportedError{
		What: fmt.Sprintf("function %s calls nabla.StopGradient, which finite differences cannot follow: they see "+
			"values only", f.def.Name),
		Remedy: "use an engine that runs the function over nabla.Real, such as forwarddiff.Backend{}",
	}
}

// hooked runs f at x over traced numbers, and reports the error and whether f stopped a derivative of one of them.
func (f *Function) hooked(x []float64) (stops bool, err error) {
	inexact := f.inexact
	f.inexact = false
	defer func() { f.inexact = inexact }()
	xs, ys := make([]Real, f.def.N), make([]Real, f.def.M)
	p := new(probe)
	t := Overload(p)
	defer t.Close()
	for i, v := range x {
		xs[i] = t.Number(v, 1)
	}
	err = f.OverIn(t, ys, xs)
	return p.stops, err
}

// probe is a Hook that gives every result the id 1, so that all numbers that depend on the inputs are traced, and
// notes only whether a derivative is stopped.
type probe struct{ stops bool }

func (p *probe) Unary(op rules.Op, _ int32, _, _ float64) int32 {
	p.stops = p.stops || op == rules.Stop
	return 1
}

func (*probe) Binary(rules.Op, int32, int32, float64, float64, float64) int32 { return 1 }
