package difftest_test

import (
	"testing"

	"github.com/nabla-ad/nabla/difftest"
	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/program"
	"github.com/nabla-ad/nabla/rules"
)

// The two engines below are complete: every operator of package nabla works on
// them. Each implements one method of package engine. Copy one to begin your own.

// tape is reverse mode by operator overloading: it runs the function over numbers
// of its own, notes the partial derivatives of each operation, and sweeps back.
type tape struct{}

// Name shows in messages and tells engines apart.
func (tape) Name() string { return "tape" }

// PreparePullback does the work that does not depend on the point, and refuses functions that are not written over
// Reals.
func (tape) PreparePullback(f *engine.Function, x []float64, lanes int) (engine.Pullback, error) {
	n, m := f.Dims()
	return &reverse{f: f, xs: make([]engine.Real, n), ys: make([]engine.Real, m)}, f.Untraceable()
}

type reverse struct {
	f      *engine.Function
	xs, ys []engine.Real
	nodes  []node // of operations; numbers 1 … n are the inputs
	adj    []float64
}

// node is an operation on numbers a and b, 0 for none, with its partials.
type node struct {
	a, b   int32
	pa, pb float64
}

func (r *reverse) push(d node) int32 {
	r.nodes = append(r.nodes, d)
	return int32(len(r.xs) + len(r.nodes))
}

// Unary implements engine.Hook: op was applied to number a, whose value is av, and
// gave v.
func (r *reverse) Unary(op rules.Op, a int32, av, v float64) int32 {
	return r.push(node{a: a, pa: rules.Partial1(op, av, v)})
}

// Binary implements engine.Hook. A constant has number 0.
func (r *reverse) Binary(op rules.Op, a, b int32, av, bv, v float64) int32 {
	pa, pb := rules.Partials2(op, av, bv, v)
	return r.push(node{a, b, pa, pb})
}

// Pullback implements engine.Pullback: y = f(x) and xbar = J(x)ᵀ·ybar, column by
// column.
func (r *reverse) Pullback(y []float64, xbar engine.Block, x []float64, ybar engine.Block) error {
	r.nodes = r.nodes[:0]
	t := engine.Overload(r)
	defer t.Close()
	for i, v := range x {
		r.xs[i] = t.Number(v, int32(i+1))
	}
	if err := r.f.OverIn(t, r.ys, r.xs); err != nil {
		return err
	}
	for i, v := range r.ys {
		y[i] = v.V
	}
	n := len(x)
	r.adj = append(r.adj[:0], make([]float64, n+len(r.nodes)+1)...)
	for k := range ybar.B {
		clear(r.adj)
		for i, v := range r.ys {
			r.adj[v.ID] += ybar.Row(i)[k]
		}
		for j := len(r.nodes) - 1; j >= 0; j-- {
			d, g := r.nodes[j], r.adj[n+1+j]
			if g != 0 { // 0·Inf is not a derivative
				r.adj[d.a] += g * d.pa
				r.adj[d.b] += g * d.pb
			}
		}
		for i := range n {
			xbar.Row(i)[k] = r.adj[i+1]
		}
	}
	return nil
}

// transformed is forward mode by a transformation of the recorded program.
type transformed struct{}

func (transformed) Name() string { return "transformed" }

func (transformed) PreparePushforward(f *engine.Function, x []float64, lanes int) (engine.Pushforward, error) {
	_, m := f.Dims()
	return &forward{f: f, column: make([]float64, m)}, f.Untraceable()
}

type forward struct {
	f      *engine.Function
	column []float64
}

// Pushforward implements engine.Pushforward. It records in every call, and so is right for any function;
// engine.NewCompiled replays a recording if that is safe.
func (p *forward) Pushforward(y []float64, ydot engine.Block, x []float64, xdot engine.Block) error {
	f, err := p.f.Program(x)
	if err != nil {
		return err
	}
	// Inputs x and xdot, outputs y and ydot.
	m := program.NewMachine(program.Simplify(program.JVP(f, program.JVPOptions{})))
	copy(m.Input(0), x)
	if c := p.f.Context(); c != nil {
		c.Read(m.Params())
	}
	for k := range max(xdot.B, 1) {
		if xdot.B > 0 {
			for i := range x {
				m.Input(1)[i] = xdot.Row(i)[k]
			}
		}
		if !m.Run() {
			return engine.ErrGuard
		}
		m.Output(0, y)
		m.Output(1, p.column)
		for i, v := range p.column {
			ydot.Row(i)[k] = v
		}
	}
	return nil
}

// TestExampleEngines is the conformance test of the two engines.
func TestExampleEngines(t *testing.T) {
	elsewhere(t)
	o := &difftest.Options{NoModifiers: !longtest.Long()}
	t.Run("tape", func(t *testing.T) { difftest.Run(t, tape{}, o) })
	t.Run("transformed", func(t *testing.T) { difftest.Run(t, transformed{}, o) })
}
