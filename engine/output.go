package engine

import (
	"fmt"

	"github.com/nabla-ad/nabla/internal/core"
)

// Output returns output i of f as a function with one output. It shares the context of f, has no generated code, and
// its buffers allow one call at a time.
func Output(f *Function, i int) *Function {
	n, m := f.Dims()
	def := Def{Name: fmt.Sprintf("output %d of %s", i, f.Name()), N: n, M: 1, Context: f.def.Context,
		TracedPlain: f.def.TracedPlain, Ungenerated: f.Ungenerated()}
	if plain := f.def.Plain; plain != nil {
		buf := make([]float64, m)
		def.Plain = func(y, x []float64, c Context) error {
			err := plain(buf, x, c)
			y[0] = buf[i]
			return err
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
	def.Fork = func() Def { return Output(f.Clone(), i).def }
	return f.Derive(def)
}
