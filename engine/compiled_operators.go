package engine

import "github.com/nabla-ad/nabla/program"

// Operators that run a Compiled. The first output group of its programs is the value, those after it are named by each
// function.

// GradientOf returns a Gradient that runs c, whose output group 1 is the gradient.
func GradientOf(c *Compiled) Gradient { return &compiledGradient{c, make([]float64, 1)} }

type compiledGradient struct {
	c *Compiled
	y []float64
}

func (g *compiledGradient) Recordings() int { return g.c.records }

func (g *compiledGradient) ValueAndGradient(grad, x []float64) (float64, error) {
	m, err := g.c.Into(1, grad).Run(x, Block{})
	if err != nil {
		return 0, err
	}
	m.Output(0, g.y)
	m.Output(1, grad)
	return g.y[0], nil
}

// HVPOf returns an HVP that runs c, whose programs are tangents, in vector mode of width lanes, of the value and the
// gradient: output group 1 is the gradient, and group 2 has the tangents of the value and of the gradient.
func HVPOf(c *Compiled, lanes int) HVP {
	n, _ := c.f.Dims()
	return &compiledHVP{c: c, y: make([]float64, 1), dot: NewBlock(n+1, lanes)}
}

type compiledHVP struct {
	c   *Compiled
	y   []float64
	dot Block // tangents of the value and the gradient
}

func (h *compiledHVP) Recordings() int { return h.c.records }

func (h *compiledHVP) ValueGradientAndHVP(grad []float64, hv Block, x []float64, v Block) (float64, error) {
	n, lanes := len(x), h.dot.B
	for first := 0; first < v.B || first == 0; first += lanes {
		k := min(lanes, v.B-first)
		in := Block{N: n, B: lanes, Stride: lanes, Data: h.dot.Data}
		for i := range n {
			row := in.Row(i)
			clear(row[copy(row, v.Row(i)[first:first+k]):])
		}
		m, err := h.c.Run(x, in)
		if err != nil {
			return 0, err
		}
		m.Output(0, h.y)
		if grad != nil {
			m.Output(1, grad)
		}
		m.Output(2, h.dot.Data)
		for i := range n {
			copy(hv.Row(i)[first:first+k], h.dot.Row(i+1))
		}
	}
	return h.y[0], nil
}

// JacobianOf returns a Jacobian that runs c, whose output group 1 is the Jacobian by rows.
func JacobianOf(c *Compiled) Jacobian {
	n, m := c.f.Dims()
	return &compiledJacobian{c, make([]float64, n*m)}
}

type compiledJacobian struct {
	c   *Compiled
	buf []float64
}

func (j *compiledJacobian) Recordings() int { return j.c.records }

func (j *compiledJacobian) ValueAndJacobian(y []float64, jac Block, x []float64) error {
	var into []float64
	if jac.Stride == jac.B { // as Whole, which copies jac
		into = jac.Data
	}
	m, err := j.c.Into(1, into).Run(x, Block{})
	if err != nil {
		return err
	}
	m.Output(0, y)
	rows(m, 1, &jac, j.buf)
	return nil
}

// rows writes output group i, a matrix by rows, to dst. buf has room for it.
func rows(m *program.Machine, i int, dst *Block, buf []float64) {
	if dst.Stride == dst.B {
		m.Output(i, dst.Data)
		return
	}
	m.Output(i, buf)
	for k := range dst.N {
		copy(dst.Row(k), buf[k*dst.B:])
	}
}

// HessianOf returns a Hessian that runs c, whose output group 1 is the gradient, and group 2 the Hessian by rows, of
// which the mean of the two triangles is taken.
func HessianOf(c *Compiled) Hessian {
	n, _ := c.f.Dims()
	return &compiledHessian{c, make([]float64, 1), make([]float64, n*n)}
}

type compiledHessian struct {
	c      *Compiled
	y, buf []float64
}

func (h *compiledHessian) Recordings() int { return h.c.records }

func (h *compiledHessian) ValueGradientAndHessian(grad []float64, hess Block, x []float64) (float64, error) {
	m, err := h.c.Run(x, Block{})
	if err != nil {
		return 0, err
	}
	m.Output(0, h.y)
	if grad != nil {
		m.Output(1, grad)
	}
	rows(m, 2, &hess, h.buf)
	Symmetrise(hess)
	return h.y[0], nil
}
