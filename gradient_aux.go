package nabla

import "github.com/nabla-ad/nabla/engine"

// GradientWithAux returns f₀(x), ∇f₀(x) and the outputs after f₀, the auxiliary ones: what the function computes on the
// way to f₀ and the caller wants to see, such as the terms of a loss. It differentiates f₀ alone. See
// [PrepareGradientWithAux].
func GradientWithAux[F VectorFunc](f F, b Backend, x []float64) (y float64, grad, aux []float64, err error) {
	p, err := PrepareGradientWithAux(f, single(b), x)
	if err != nil {
		return 0, nil, nil, err
	}
	return p.GradientWithAux(nil, nil, x)
}

// PrepareGradientWithAux prepares the gradient of output 0 of f, with all outputs, on b for points of the length of x.
// A call costs as much as one of a prepared [Pullback], from which the outputs come; infinite derivatives of
// auxiliary outputs do not matter. f has at least one output.
func PrepareGradientWithAux[F VectorFunc](f F, b Backend, x []float64) (*GradientWithAuxPrep, error) {
	return newOperator[GradientWithAuxPrep]("GradientWithAux", f, wantVector, b, x)
}

// GradientWithAuxPrep computes gradients with auxiliary outputs of one function on one backend. It is for one goroutine
// at a time.
type GradientWithAuxPrep struct {
	prep
	pull    engine.Pullback
	y, seed []float64
}

func (p *GradientWithAuxPrep) base() *prep {
	if p == nil || p.op == "" {
		return unmade("GradientWithAuxPrep", "PrepareGradientWithAux")
	}
	return &p.prep
}

func (p *GradientWithAuxPrep) prepare() (err error) {
	if p.m == 0 {
		return &ShapeError{Op: p.op, Arg: "outputs of f", Got: 0, Want: 1}
	}
	p.y, p.seed = make([]float64, p.m), make([]float64, p.m)
	p.seed[0] = 1
	p.pull, err = engine.PreparePullback(p.backend.inner, p.f, p.x, 1)
	p.native = p.pull
	return err
}

// GradientWithAux returns f₀(x), writes ∇f₀(x) to grad and the other outputs to aux, and returns them. Both are
// allocated if nil; aux has one element less than f has outputs.
func (p *GradientWithAuxPrep) GradientWithAux(grad, aux, x []float64) (
	y float64, gradOut, auxOut []float64, err error,
) {
	if err := p.base().begin(x); err != nil {
		return 0, nil, nil, err
	}
	defer p.end(&err)
	if grad, err = p.vector("grad", grad, p.n, x); err != nil {
		return 0, nil, nil, err
	}
	if aux, err = p.vector("aux", aux, p.m-1, x); err != nil {
		return 0, nil, nil, err
	}
	if err := p.apart(2, named{"grad", grad}, named{"aux", aux}); err != nil {
		return 0, nil, nil, err
	}
	if err := p.pull.Pullback(p.y, engine.Column(grad), x, engine.Column(p.seed)); err != nil {
		return 0, nil, nil, err
	}
	copy(aux, p.y[1:])
	return p.y[0], grad, aux, nil
}

// Recordings returns how often the function was recorded; see [GradientPrep.Recordings].
func (p *GradientWithAuxPrep) Recordings() int { return p.base().recordings() }

// Explain returns how p computes its operator. See [Auto].
func (p *GradientWithAuxPrep) Explain() Explanation { return p.base().explain() }

// Clone returns a prepared object for use in another goroutine; see [GradientPrep.Clone].
func (p *GradientWithAuxPrep) Clone() *GradientWithAuxPrep { return clone(p) }

// Rebind makes later calls read the bound struct from q, a pointer to another struct of the same type; see
// [GradientPrep.Rebind].
func (p *GradientWithAuxPrep) Rebind(q any) error { return p.base().rebind(q) }

// Resize prepares p again for points of the length of x. On an error p keeps its old size.
func (p *GradientWithAuxPrep) Resize(x []float64) error { return p.base().resizeTo(x) }
