package nabla

import (
	"slices"
	"sync"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/program"
	"github.com/nabla-ad/nabla/sparsity"
)

// Gradient returns the gradient of a function with one output, which has n outputs. The error is a [ShapeError] if the
// function has another number of outputs. An evaluation costs at most a few evaluations of the function.
func (r *Recorded) Gradient() (*Recorded, error) {
	if err := r.one("Recorded.Gradient"); err != nil {
		return nil, err
	}
	return r.derive("gradient", nil, gradientProgram)
}

// Jacobian returns the Jacobian, whose m·n entries are in row-major order.
func (r *Recorded) Jacobian() (*Recorded, error) {
	if err := r.made("Recorded.Jacobian"); err != nil {
		return nil, err
	}
	n, m := r.Dims()
	return r.derive("Jacobian", nil, func(p *program.Program, strong bool) *program.Program {
		p = program.Jacobian(p, program.JacobianOptions{Forward: n < m, Strong: strong})
		return program.Alone(p, "jac", 1)
	})
}

// Hessian returns the Hessian of a function with one output, whose n·n entries are in row-major order. The error is a
// [ShapeError] if the function has another number of outputs.
func (r *Recorded) Hessian() (*Recorded, error) {
	if err := r.one("Recorded.Hessian"); err != nil {
		return nil, err
	}
	n, _ := r.Dims()
	return r.derive("Hessian", nil, func(p *program.Program, strong bool) *program.Program {
		return selectedEntries(gradientProgram(p, strong), sparsity.Full(n, n), true, strong, "hess")
	})
}

// Pushforward returns (x, xdot) ↦ J(x)·xdot, with the groups of inputs x and xdot.
func (r *Recorded) Pushforward() (*Recorded, error) {
	if err := r.made("Recorded.Pushforward"); err != nil {
		return nil, err
	}
	return r.derive("pushforward", r.seeds(r.program.NumIn()), func(p *program.Program, strong bool) *program.Program {
		return program.Alone(program.JVP(p, program.JVPOptions{Strong: strong}), "ydot", 1)
	})
}

// Pullback returns (x, ybar) ↦ J(x)ᵀ·ybar, with the groups of inputs x and ybar.
func (r *Recorded) Pullback() (*Recorded, error) {
	if err := r.made("Recorded.Pullback"); err != nil {
		return nil, err
	}
	return r.derive("pullback", r.seeds(r.program.NumOut()), func(p *program.Program, strong bool) *program.Program {
		return program.Alone(program.VJP(p, program.VJPOptions{Strong: strong}), "xbar", 1)
	})
}

// HVP returns (x, xdot) ↦ ∇²f(x)·xdot for a function with one output, with the groups of inputs x and xdot. The error
// is a [ShapeError] if the function has another number of outputs.
func (r *Recorded) HVP() (*Recorded, error) {
	if err := r.one("Recorded.HVP"); err != nil {
		return nil, err
	}
	return r.derive("Hessian-vector product", r.seeds(r.program.NumIn()),
		func(p *program.Program, strong bool) *program.Program {
			g := gradientProgram(p, strong)
			return program.Alone(program.JVP(g, program.JVPOptions{Strong: strong}), "hv", 1)
		})
}

// SparseJacobian returns the entries of the Jacobian that the recording does not show to be zero. Pattern of the result
// has their positions; it is valid wherever the guards hold.
func (r *Recorded) SparseJacobian() (*Recorded, error) {
	if err := r.made("Recorded.SparseJacobian"); err != nil {
		return nil, err
	}
	pattern, err := sparsity.OfProgram(r.joined(r.program))
	if err != nil {
		return nil, err
	}
	q, err := r.derive("sparse Jacobian", nil, func(p *program.Program, strong bool) *program.Program {
		return selectedEntries(p, pattern, false, strong, "jac")
	})
	if q != nil {
		q.pattern = pattern
	}
	return q, err
}

// SparseHessian returns the entries of the Hessian of a function with one output that the recording does not show to be
// zero, on both sides of the diagonal. Pattern of the result has their positions; it is valid wherever the guards hold.
// The error is a [ShapeError] if the function has another number of outputs.
func (r *Recorded) SparseHessian() (*Recorded, error) {
	if err := r.one("Recorded.SparseHessian"); err != nil {
		return nil, err
	}
	pattern, err := sparsity.HessianOfProgram(r.joined(r.program))
	if err != nil {
		return nil, err
	}
	q, err := r.derive("sparse Hessian", nil, func(p *program.Program, strong bool) *program.Program {
		return selectedEntries(gradientProgram(p, strong), pattern, true, strong, "hess")
	})
	if q != nil {
		q.pattern = pattern
	}
	return q, err
}

// Strong returns the derivative r as a program that computes with structural zeros at once, so that it has no NaN where
// what does not depend on an input meets an infinite factor. It is slower than r. The directions and seeds of an
// exported Strong program must have -0 for components that are zero. For a function that is no derivative it is r
// itself.
func (r *Recorded) Strong() *Recorded {
	if r.made("") != nil || r.strong == nil {
		return r
	}
	return &Recorded{name: r.name, program: r.strong(), strong: r.strong, dots: r.dots, number: r.number,
		scalar: r.scalar, pattern: r.pattern}
}

// one returns an error if r has several outputs or none.
func (r *Recorded) one(op string) error {
	if err := r.made(op); err != nil {
		return err
	}
	if m := r.program.NumOut(); m != 1 {
		return &ShapeError{Op: op, Arg: "outputs of f", Got: m, Want: 1}
	}
	return nil
}

// seeds returns the dots of a derivative of r with k more inputs, directions or seeds.
func (r *Recorded) seeds(k int) []bool {
	return append(append(make([]bool, 0, r.program.NumIn()+k), r.structural()...), slices.Repeat([]bool{true}, k)...)
}

// structural returns r.dots, or as many false ones.
func (r *Recorded) structural() []bool {
	if r.dots != nil {
		return r.dots
	}
	return make([]bool, r.program.NumIn())
}

// joined returns p, a program of r, with one group of inputs.
func (r *Recorded) joined(p *program.Program) *program.Program {
	for len(p.Ins) > 1 {
		p = program.JoinInputs(p, p.Ins[1].Name)
	}
	return p
}

// derive returns the derivative that d makes of r, in plain and in strong form. dots are the dots of its inputs; nil
// for those of r. The error is that of a custom rule.
func (r *Recorded) derive(what string, dots []bool,
	d func(p *program.Program, strong bool) *program.Program) (_ *Recorded, err error) {
	defer func() { engine.Recovered(r.name, recover(), &err) }()
	if dots == nil {
		dots = r.dots
	}
	q := &Recorded{name: what + " of " + r.name, dots: dots,
		program: program.Simplify(d(r.joined(r.program), false))}
	q.number = r.number && q.program.NumIn() == 1
	q.strong = sync.OnceValue(func() *program.Program {
		p := r.program
		if r.strong != nil {
			p = r.strong()
		}
		return program.Simplify(d(r.joined(p), true))
	})
	return q, nil
}

// gradientProgram returns the gradient of a program with one output.
func gradientProgram(p *program.Program, strong bool) *program.Program {
	return program.Simplify(program.Alone(program.VJP(p, program.VJPOptions{Unit: true, Strong: strong}), "grad", 1))
}

// selectedEntries returns the entries of the Jacobian of p in a pattern, column after column, in the cheaper mode.
func selectedEntries(p *program.Program, s *sparsity.Pattern, symmetric, strong bool, name string) *program.Program {
	rows, cols := s.Dims()
	o := program.EntriesOptions{Rows: rows, Cols: cols, Ptr: s.ColPtr(), Index: s.RowIndex(), Symmetric: symmetric,
		Alone: true, Strong: strong}
	const limit = 1 << 30
	forward, reverse := program.EntriesCost(p, o, limit)
	o.Forward = forward < reverse
	q, _ := program.Entries(p, o)
	return program.Alone(q, name, 1)
}
