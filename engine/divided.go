package engine

import "github.com/nabla-ad/nabla/internal/team"

// A SweptJacobian is a Jacobian that consists of independent sweeps, which [Policy].Workers divide among themselves.
type SweptJacobian interface {
	Jacobian
	// Sweeps returns the number of sweeps.
	Sweeps() int
	// Sweep writes the value and the rows or columns of J(x) that sweep i computes.
	Sweep(i int, y []float64, jac Block, x []float64) error
}

// A SweptHessian is a Hessian that consists of independent sweeps, which [Policy].Workers divide among themselves.
type SweptHessian interface {
	Hessian
	// Sweeps returns the number of sweeps.
	Sweeps() int
	// Sweep writes the columns of ∇²f(x), or the rows, that sweep i computes. Unless grad is nil it writes the gradient
	// too, and returns f(x). Entries (i, j) and (j, i) may differ in rounding.
	Sweep(i int, grad []float64, hess Block, x []float64) (float64, error)
}

// divideJacobian returns j, prepared for f at x, or a Jacobian that divides the sweeps of j and of others like it,
// which prepare prepares for clones of f.
func divideJacobian(j Jacobian, f *Function, prepare func(f *Function) (Jacobian, error)) (Jacobian, error) {
	first, ok := j.(SweptJacobian)
	if !ok || f.policy.Workers < 2 || first.Sweeps() < 2 {
		return j, nil
	}
	others, err := prepareOthers(f, first.Sweeps(), prepare)
	if err != nil {
		return nil, err
	}
	_, m := f.Dims()
	d := &dividedJacobian{workers: []SweptJacobian{first}, ys: [][]float64{nil}, sweeps: first.Sweeps()}
	for _, w := range others {
		d.workers, d.ys = append(d.workers, w.(SweptJacobian)), append(d.ys, make([]float64, m))
	}
	d.team = team.New(len(d.workers), PanicHandler(f.Name()), func(worker, sweep int) error {
		y := d.ys[worker]
		if worker == 0 { // the first sweep is one of this worker
			y = d.y
		}
		return d.workers[worker].Sweep(sweep, y, d.jac, d.x)
	})
	return d, nil
}

// prepareOthers prepares an operator with some sweeps for clones of f, one for each worker after the first.
func prepareOthers[T any](f *Function, sweeps int, prepare func(f *Function) (T, error)) (list []T, err error) {
	for range min(f.policy.Workers, sweeps) - 1 {
		g := f.Clone()
		if err := g.Broken(); err != nil {
			return nil, err
		}
		w, err := prepare(g)
		if err != nil {
			return nil, err
		}
		list = append(list, w)
	}
	return list, nil
}

type dividedJacobian struct {
	workers []SweptJacobian
	team    *team.Team
	sweeps  int
	ys      [][]float64 // values of the workers after the first
	// Arguments of a call.
	y, x []float64
	jac  Block
}

func (d *dividedJacobian) ValueAndJacobian(y []float64, jac Block, x []float64) error {
	d.y, d.jac, d.x = y, jac, x
	err := d.team.Run(d.sweeps)
	d.y, d.jac, d.x = nil, Block{}, nil
	return err
}

func (d *dividedJacobian) Recordings() (n int) {
	for _, w := range d.workers {
		n += recordings(w)
	}
	return n
}

// divideHessian is [divideJacobian] for a Hessian.
func divideHessian(h Hessian, f *Function, prepare func(f *Function) (Hessian, error)) (Hessian, error) {
	first, ok := h.(SweptHessian)
	if !ok || f.policy.Workers < 2 || first.Sweeps() < 2 {
		return h, nil
	}
	others, err := prepareOthers(f, first.Sweeps(), prepare)
	if err != nil {
		return nil, err
	}
	d := &dividedHessian{workers: []SweptHessian{first}, sweeps: first.Sweeps()}
	for _, w := range others {
		d.workers = append(d.workers, w.(SweptHessian))
	}
	d.team = team.New(len(d.workers), PanicHandler(f.Name()), func(worker, sweep int) error {
		var grad []float64
		if sweep == 0 {
			grad = d.grad
		}
		y, err := d.workers[worker].Sweep(sweep, grad, d.hess, d.x)
		if sweep == 0 {
			d.value = y
		}
		return err
	})
	return d, nil
}

type dividedHessian struct {
	workers []SweptHessian
	team    *team.Team
	sweeps  int
	value   float64
	// Arguments of a call.
	grad, x []float64
	hess    Block
}

func (d *dividedHessian) ValueGradientAndHessian(grad []float64, hess Block, x []float64) (float64, error) {
	d.grad, d.hess, d.x = grad, hess, x
	err := d.team.Run(d.sweeps)
	d.grad, d.hess, d.x = nil, Block{}, nil
	if err != nil {
		return 0, err
	}
	Symmetrise(hess)
	return d.value, nil
}

func (d *dividedHessian) Recordings() (n int) {
	for _, w := range d.workers {
		n += recordings(w)
	}
	return n
}
