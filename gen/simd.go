package gen

import (
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/print"
)

// simdVariant returns the SIMD variant of f, nil if there is none or none is requested.
func (u *unit) simdVariant(f *ir.Func) *print.SIMDVariant {
	l := u.vectorizers[ir.VectorLanes]
	if l == nil {
		return nil
	}
	v := l.Vector(f)
	if v == nil {
		return nil
	}
	return &print.SIMDVariant{Func: v.Func, Kernel: v.Kernel}
}

// checkSIMDVariants checks that the SIMD variants of f and of its callees are well-formed.
func (u *unit) checkSIMDVariants(f *ir.Func) error {
	for _, g := range reached(f) {
		if v := u.simdVariant(g); v != nil {
			for _, h := range []*ir.Func{v.Func, v.Kernel} {
				if err := ir.Check(h); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
