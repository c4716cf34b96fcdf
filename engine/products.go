package engine

import "github.com/nabla-ad/nabla/program"

// compiledPushforward is a Pushforward that runs the tangent program of a function.
type compiledPushforward struct {
	c    *Compiled
	part Block
}

// CompilePushforward returns a Pushforward that replays the tangent of the program of f in vector mode of width lanes.
// limit is that of [NewCompiled]. More tangents than lanes take several runs; missing ones are filled up with zeros.
func CompilePushforward(f *Function, x []float64, lanes, limit int) (Pushforward, error) {
	c, err := NewCompiled(f, x, 1, limit, func(p *program.Program, strong bool) *program.Program {
		return program.Simplify(program.JVP(p, program.JVPOptions{Lanes: lanes, Strong: strong}))
	})
	if err != nil {
		return nil, err
	}
	return PushforwardOf(c, lanes), nil
}

// PushforwardOf returns a Pushforward that runs c, whose derived program is a tangent in vector mode of width lanes, or
// computes the same from the same inputs.
func PushforwardOf(c *Compiled, lanes int) Pushforward {
	n, m := c.f.Dims()
	return &compiledPushforward{c: c, part: NewBlock(max(n, m), lanes)}
}

func (p *compiledPushforward) Recordings() int { return p.c.records }

func (p *compiledPushforward) Pushforward(y []float64, ydot Block, x []float64, xdot Block) error {
	n, m := p.c.f.Dims()
	lanes := p.part.B
	for first := 0; first < xdot.B; first += lanes {
		k := min(lanes, xdot.B-first)
		in := xdot.Cols(first, k)
		if k < lanes { // a last partial batch is filled up with zero tangents
			part := Block{N: n, B: lanes, Stride: lanes, Data: p.part.Data}
			for i := range n {
				row := part.Row(i)
				clear(row[copy(row, in.Row(i)):])
			}
			in = part
		}
		var into []float64
		if ydot.B == lanes && ydot.Whole() {
			into = ydot.Data
		}
		machine, err := p.c.Into(1, into).Run(x, in)
		if err != nil {
			return err
		}
		machine.Output(0, y)
		if into != nil {
			machine.Output(1, into)
			continue
		}
		out := Block{N: m, B: lanes, Stride: lanes, Data: p.part.Data}
		machine.Output(1, out.Data[:m*lanes])
		for i := range m {
			copy(ydot.Row(i)[first:first+k], out.Row(i))
		}
	}
	return nil
}

// CompilePullback returns a Pullback that replays the reverse of the program of f in vector mode of width lanes. limit
// is that of [NewCompiled]. More cotangents than lanes take several runs; missing ones are filled up with zeros.
func CompilePullback(f *Function, x []float64, lanes, limit int) (Pullback, error) {
	c, err := NewCompiled(f, x, 1, limit, func(p *program.Program, strong bool) *program.Program {
		return program.Simplify(program.VJP(p, program.VJPOptions{Lanes: lanes, Strong: strong}))
	})
	if err != nil {
		return nil, err
	}
	return PullbackOf(c, lanes), nil
}

// PullbackOf returns a Pullback that runs c, whose derived program is a reverse sweep in vector mode of width lanes, or
// computes the same from the same inputs.
func PullbackOf(c *Compiled, lanes int) Pullback {
	n, m := c.f.Dims()
	return &compiledPullback{c: c, part: NewBlock(max(n, m), lanes), n: n, m: m}
}

// compiledPullback is a Pullback that runs the reverse program of a function.
type compiledPullback struct {
	c    *Compiled
	part Block
	n, m int
}

func (p *compiledPullback) Recordings() int { return p.c.records }

func (p *compiledPullback) Pullback(y []float64, xbar Block, x []float64, ybar Block) error {
	lanes := p.part.B
	for first := 0; first < ybar.B; first += lanes {
		k := min(lanes, ybar.B-first)
		in := ybar.Cols(first, k)
		if k < lanes { // a last partial batch is filled up with zero cotangents
			in = Block{N: p.m, B: lanes, Stride: lanes, Data: p.part.Data}
			for i := range p.m {
				row := in.Row(i)
				clear(row[copy(row, ybar.Row(i)[first:]):])
			}
		}
		var into []float64
		if xbar.B == lanes && xbar.Whole() {
			into = xbar.Data
		}
		machine, err := p.c.Into(1, into).Run(x, in)
		if err != nil {
			return err
		}
		machine.Output(0, y)
		if into != nil {
			machine.Output(1, into)
			continue
		}
		out := Block{N: p.n, B: lanes, Stride: lanes, Data: p.part.Data}
		machine.Output(1, out.Data[:p.n*lanes])
		for i := range p.n {
			copy(xbar.Row(i)[first:first+k], out.Row(i))
		}
	}
	return nil
}
