package problems

import (
	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/program"
)

// Program returns the recorded program of the function at its first point, as an engine receives it. Data that Func is
// bound to are its parameters.
func (p *Problem) Program() (*program.Program, error) {
	x := p.Select(0).X
	var r recorder
	var err error
	switch {
	case p.Func != nil:
		_, err = nabla.PreparePullback(p.Func, &r, x)
	case p.Traced != nil:
		_, err = nabla.PreparePullback(p.Traced, &r, x)
	default:
		_, err = nabla.PreparePullback(nabla.InPlace(p.M, p.TracedVector), &r, x)
	}
	return r.program, err
}

// A recorder is an engine that stores the program it is given and differentiates nothing.
type recorder struct{ program *program.Program }

func (*recorder) Name() string { return "recorder" }

func (r *recorder) PreparePullback(f *engine.Function, x []float64, _ int) (engine.Pullback, error) {
	p, err := f.Program(x)
	r.program = p
	return nil, err
}
