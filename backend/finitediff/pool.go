package finitediff

import (
	"sync"

	"github.com/nabla-ad/nabla/engine"
)

// A worker holds the state of one goroutine that evaluates f.
type worker struct {
	id     int
	f      *engine.Function
	x      []float64 // the point f is evaluated at; never the user's slice
	v      []float64 // a direction
	yp, yq []float64 // values at two nodes
	acc    []float64
}

// A pool holds the workers of a prepared object. The first one uses the function itself, the others clones.
type pool struct {
	workers []*worker
	errs    []error
	wg      sync.WaitGroup
}

// A task is a number of independent pieces of work.
type task interface{ do(w *worker, j int) error }

func newPool(f *engine.Function, workers int) *pool {
	n, m := f.Dims()
	p := &pool{workers: make([]*worker, workers), errs: make([]error, workers)}
	for i := range p.workers {
		g := f
		if i > 0 {
			g = f.Clone()
		}
		b := make([]float64, 2*n+3*m)
		p.workers[i] = &worker{id: i, f: g, x: b[:n:n], v: b[n : 2*n : 2*n], yp: b[2*n : 2*n+m : 2*n+m],
			yq: b[2*n+m : 2*n+2*m : 2*n+2*m], acc: b[2*n+2*m:]}
	}
	return p
}

// newLanes makes workers that do not evaluate f.
func newLanes(f *engine.Function, workers int) *pool {
	n, _ := f.Dims()
	p := &pool{workers: make([]*worker, workers), errs: make([]error, workers)}
	for i := range p.workers {
		p.workers[i] = &worker{id: i, v: make([]float64, n)}
	}
	return p
}

// at moves all workers to x and writes y = f(x).
func (p *pool) at(y, x []float64) error {
	for _, w := range p.workers {
		copy(w.x, x)
	}
	return p.workers[0].f.Value(y, p.workers[0].x)
}

// run does the pieces 0 … n-1 of t. The error is that of the first piece that
// failed, as one worker would find it.
func (p *pool) run(t task, n int) error {
	k := min(len(p.workers), n)
	if k <= 1 {
		for j := range n {
			if err := t.do(p.workers[0], j); err != nil {
				return err
			}
		}
		return nil
	}
	for i := 1; i < k; i++ {
		p.wg.Add(1)
		go func() {
			defer p.wg.Done()
			p.part(t, i, i*n/k, (i+1)*n/k)
		}()
	}
	p.part(t, 0, 0, n/k)
	p.wg.Wait()
	for _, err := range p.errs[:k] {
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *pool) part(t task, i, from, to int) {
	w := p.workers[i]
	p.errs[i] = nil
	for j := from; j < to; j++ {
		if p.errs[i] = t.do(w, j); p.errs[i] != nil {
			return
		}
	}
}
