package gen

import (
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/print"
)

// vector is what a function is in vectors, nil if it is nothing or none are asked for.
func (u *unit) vector(f *ir.Func) *print.SIMDVariant {
	l := u.sides[ir.VectorLanes]
	if l == nil {
		return nil
	}
	v := l.Vector(f)
	if v == nil {
		return nil
	}
	return &print.SIMDVariant{Func: v.Func, Kernel: v.Kernel}
}

// checkVectors checks what f and the functions that it calls are in vectors.
func (u *unit) checkVectors(f *ir.Func) error {
	for _, g := range reached(f) {
		if v := u.vector(g); v != nil {
			for _, h := range []*ir.Func{v.Func, v.Kernel} {
				if err := ir.Check(h); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
