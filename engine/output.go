package engine

import (
	"fmt"

	"github.com/nabla-ad/nabla/internal/core"
)

// Output returns output i of f as a function with one output. Its derivatives are those of a function that does not
// compute the other outputs: an infinite derivative of one of them does not matter. It shares the context of f, and its
// buffers allow one call at a time.
func Output(f *Function, i int) *Function {
	n, m := f.Dims()
	def := Def{Name: fmt.Sprintf("output %d of %s", i, f.Name()), N: n, M: 1, Context: f.def.Context,
		TracedPlain: f.def.TracedPlain, Ungenerated: f.Ungenerated()}
	def.Generated = f.Generated().derive(def.Name, n, 1, func(c Code) Code { return outputCode(c, i, m) })
	if plain := f.def.Plain; plain != nil {
		buf := make([]float64, m)
		def.Plain = func(y, x []float64, c Context) error {
			if err := plain(buf, x, c); err != nil {
				return err
			}
			y[0] = buf[i]
			return nil
		}
	}
	if traced := f.def.Traced; traced != nil {
		buf := make([]Real, m)
		def.Traced = func(y, x []Real, c Context) error {
			for k := range buf {
				buf[k] = core.Poison()
			}
			if err := traced(buf, x, c); err != nil {
				return err
			}
			for k, r := range buf {
				if r.Poisoned() {
					return fmt.Errorf("nabla: function %s: output %d: %w", f.def.Name, k, ErrOutputNotWritten)
				}
			}
			y[0] = buf[i]
			return nil
		}
	}
	def.Fork = func() Def { return Output(f.Clone(), i).def } // f updates and rebinds the struct of the clone
	return f.Derive(def)
}

// outputCode returns the code of output i of a function of m outputs with the code c. The cotangents of the other
// outputs are structural zeros.
func outputCode(c Code, i, m int) Code {
	fy, fydot, seed := make([]float64, m), make([]float64, m), make([]float64, m)
	seeded := func(v float64) []float64 {
		seed[i] = core.Seed(v)
		return seed
	}
	var g Code
	if f := c.Tangent; f != nil {
		g.Tangent = func(y, ydot, x, xdot []float64, p any) int {
			same(f(fy, fydot, x, xdot, p), m)
			y[0], ydot[0] = fy[i], fydot[i]
			return 1
		}
	}
	if f := c.Tangent4; f != nil {
		dots := make([][4]float64, m)
		g.Tangent4 = func(y []float64, ydot [][4]float64, x []float64, xdot [][4]float64, p any) int {
			same(f(fy, dots, x, xdot, p), m)
			y[0], ydot[0] = fy[i], dots[i]
			return 1
		}
	}
	if f := c.Adjoint; f != nil {
		g.Adjoint = func(y, xbar, x, ybar []float64, p any) int {
			same(f(fy, xbar, x, seeded(ybar[0]), p), m)
			y[0] = fy[i]
			return 1
		}
	}
	if f := c.AdjointTangent; f != nil {
		g.AdjointTangent = func(y, xbar, xbardot, x, xdot, ybar []float64, p any) int {
			same(f(fy, xbar, xbardot, x, xdot, seeded(ybar[0]), p), m)
			y[0] = fy[i]
			return 1
		}
	}
	return g
}
