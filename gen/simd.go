package gen

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/print"
	"github.com/nabla-ad/nabla/gen/simplify"
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

// vectorForms returns the forms of functions of derivatives with loops in assembly, if they are requested. A package
// with cgo has none: its assembly is that of the C compiler.
func (u *unit) vectorForms() (map[*ir.Func]*print.VectorForm, error) {
	if !u.simd || u.cyclic {
		return nil, nil
	}
	if cgo, err := u.hasCgo(); cgo || err != nil {
		return nil, err
	}
	forms := map[*ir.Func]*print.VectorForm{}
	var err error
	u.eachDerivative(func(b *built, f *ir.Func) {
		if u.simdVariant(f) != nil {
			return
		}
		distinct, work := u.memoryOf(b, f)
		g, kernels := simplify.Vectors(f, distinct, work)
		if g == nil {
			return
		}
		for _, h := range append([]*ir.Func{g}, kernels...) {
			if e := ir.Check(h); e != nil && err == nil {
				err = e
			}
		}
		forms[f] = &print.VectorForm{Func: g, Kernels: kernels}
	})
	return forms, err
}

// hasCgo reports whether a file of the package imports C, also one of other builds.
func (h *home) hasCgo() (bool, error) {
	names, err := filepath.Glob(filepath.Join(directory(h.pkg), "*.go"))
	if err != nil {
		return false, err
	}
	for _, name := range names {
		// A file with errors, or an old generated one, imports no C.
		f, _ := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if f != nil && slices.ContainsFunc(f.Imports, func(s *ast.ImportSpec) bool { return s.Path.Value == `"C"` }) {
			return true, nil
		}
	}
	return false, nil
}
