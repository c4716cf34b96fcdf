package engine

import (
	"fmt"

	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/rules"
)

// Weighted returns (x, w) ↦ Σ wᵢ·fᵢ(x), with n+m inputs and one output. Its gradient is Jᵀ·w with respect to x and f(x)
// with respect to w. It shares the context of f, and its buffers allow one call at a time.
func Weighted(f *Function) *Function {
	n, m := f.Dims()
	def := Def{Name: "weighted sum of " + f.Name(), N: n + m, M: 1, Context: f.def.Context,
		TracedPlain: f.def.TracedPlain}
	def.Generated = f.Generated().derive(def.Name, n, 1, func(c Code) Code { return weightedCode(c, n, m) })
	def.Ungenerated = f.Ungenerated()
	if plain := f.def.Plain; plain != nil {
		buf := make([]float64, m)
		def.Plain = func(y, x []float64, c Context) error {
			if err := plain(buf, x[:n], c); err != nil {
				return err
			}
			y[0] = 0
			for i, v := range buf {
				y[0] += x[n+i] * v
			}
			return nil
		}
	}
	if traced := f.def.Traced; traced != nil {
		buf := make([]Real, m)
		def.Traced = func(y, x []Real, c Context) error {
			for i := range buf {
				buf[i] = core.Poison()
			}
			if err := traced(buf, x[:n], c); err != nil {
				return err
			}
			y[0] = Real{}
			for i, r := range buf {
				if r.Poisoned() {
					return fmt.Errorf("nabla: function %s: output %d: %w", f.def.Name, i, ErrOutputNotWritten)
				}
				y[0] = core.Apply2(rules.Add, y[0], core.Apply2(rules.Mul, x[n+i], r))
			}
			return nil
		}
	}
	def.Fork = func() Def { return Weighted(f.Clone()).def } // f updates and rebinds the struct of the clone
	return f.Derive(def)
}
