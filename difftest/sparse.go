package difftest

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/sparse"
	"github.com/nabla-ad/nabla/sparsity"
)

// compressed returns a destination over a triangle of s or all of it, full of NaN, whose values are a part of a longer
// slice.
func compressed(s *sparsity.Pattern, uplo blas.Uplo, symmetric bool) (part, mat.Matrix) {
	s = s.Triangle(uplo)
	around := nans(s.NNZ() + 2)
	data := around[1 : len(around)-1]
	if !symmetric {
		m := sparse.NewCSC(s, data)
		return part{into: m, surrounding: around}, m
	}
	m, err := sparse.NewSymCSC(s, uplo, data)
	if err != nil {
		panic(fmt.Sprintf("difftest: the pattern of a Hessian: %v", err))
	}
	return part{into: m, surrounding: around}, m
}

// writtenBeside describes a write beside the values of a compressed destination, "" if there is none.
func (p *part) writtenBeside() string {
	for _, i := range []int{0, len(p.surrounding) - 1} {
		if v := p.surrounding[i]; !math.IsNaN(v) {
			return fmt.Sprintf("wrote %v beside the values of the destination", v)
		}
	}
	return ""
}

// copyPattern returns an equal pattern in memory of its own.
func copyPattern(s *sparsity.Pattern) *sparsity.Pattern {
	m, n := s.Dims()
	c, err := sparsity.New(m, n, s.ColPtr(), s.RowIndex())
	if err != nil {
		panic(fmt.Sprintf("difftest: a pattern that is none: %v", err))
	}
	return c
}

// sparseJacobians returns the calls of a backend that computes sparse Jacobians.
func sparseJacobians(e env, p *nabla.JacobianPrep) []variant {
	given := func(apart bool) (part, *sparse.CSC) {
		s := p.Plan().Pattern
		if apart {
			s = copyPattern(s)
		}
		q, m := compressed(s, blas.All, false)
		return q, m.(*sparse.CSC)
	}
	return []variant{
		{name: "Sparse(nil, x)", start: func(o *outcome, x, _ []float64) func() error {
			return func() (err error) { o.first.m, err = matrixOf(p.Sparse(nil, x)); return err }
		}},
		{name: "Sparse(dst, x)", hot: true, start: func(o *outcome, x, _ []float64) func() error {
			var dst *sparse.CSC
			o.first, dst = given(false)
			return func() error { m, err := p.Sparse(dst, x); o.first.m = m; return err }
		}},
		{name: "Sparse(empty, x)", start: func(o *outcome, x, _ []float64) func() error {
			dst := new(sparse.CSC)
			o.first.into = dst
			return func() (err error) { o.first.m, err = matrixOf(p.Sparse(dst, x)); return err }
		}},
		{name: "Jacobian((*sparse.CSC)(nil), x)", start: func(o *outcome, x, _ []float64) func() error {
			return func() (err error) { o.first.m, err = p.Jacobian((*sparse.CSC)(nil), x); return err }
		}},
		{name: "Jacobian(dst, x) of an equal pattern", hot: true, start: func(o *outcome, x, _ []float64) func() error {
			var dst *sparse.CSC
			o.first, dst = given(true)
			return func() (err error) { o.first.m, err = p.Jacobian(dst, x); return err }
		}},
		{name: "ValueAndJacobian(y, sparse dst, x)", hot: true, start: func(o *outcome, x, _ []float64) func() error {
			var dst *sparse.CSC
			o.first, dst = given(false)
			o.value = vector(e.outputs(len(x)), true)
			return func() (err error) {
				o.value.vec, o.first.m, err = p.ValueAndJacobian(o.value.given, dst, x)
				return err
			}
		}},
	}
}

// matrixOf returns m as a matrix, nil if there is an error: a nil *T in an interface would not be nil.
func matrixOf[M mat.Matrix](m M, err error) (mat.Matrix, error) {
	if err != nil {
		return nil, err
	}
	return m, nil
}

// sparseHessians returns the calls of a backend that computes sparse Hessians.
func sparseHessians(p *nabla.HessianPrep) []variant {
	given := func(uplo blas.Uplo, apart bool) (part, *sparse.SymCSC) {
		s := p.Plan().Pattern
		if apart {
			s = copyPattern(s)
		}
		q, m := compressed(s, uplo, true)
		return q, m.(*sparse.SymCSC)
	}
	only := func(uplo blas.Uplo) starter {
		return func(o *outcome, x, _ []float64) func() error {
			var dst *sparse.SymCSC
			o.second, dst = given(uplo, false)
			return func() error { m, err := p.Sparse(dst, x); o.second.m = m; return err }
		}
	}
	all := func(uplo blas.Uplo, apart bool) starter {
		return func(o *outcome, x, _ []float64) func() error {
			var dst *sparse.SymCSC
			o.second, dst = given(uplo, apart)
			o.value, o.first = number(), vector(len(x), true)
			return func() (err error) {
				var h mat.Symmetric
				o.value.vec[0], o.first.vec, h, err = p.ValueGradientAndHessian(o.first.given, dst, x)
				o.second.m = h
				return err
			}
		}
	}
	return []variant{
		{name: "Sparse(nil, x)", start: func(o *outcome, x, _ []float64) func() error {
			return func() (err error) { o.second.m, err = matrixOf(p.Sparse(nil, x)); return err }
		}},
		{name: "Sparse(dst, x)", hot: true, start: only(blas.All)},
		{name: "Sparse(upper triangle, x)", hot: true, start: only(blas.Upper)},
		{name: "Sparse(lower triangle, x)", hot: true, start: only(blas.Lower)},
		{name: "Sparse(empty, x)", start: func(o *outcome, x, _ []float64) func() error {
			dst := new(sparse.SymCSC)
			o.second.into = dst
			return func() (err error) { o.second.m, err = matrixOf(p.Sparse(dst, x)); return err }
		}},
		{name: "Hessian((*sparse.SymCSC)(nil), x)", start: func(o *outcome, x, _ []float64) func() error {
			return func() (err error) { o.second.m, err = symmetricOf(p.Hessian((*sparse.SymCSC)(nil), x)); return err }
		}},
		{name: "ValueGradientAndHessian(grad, lower triangle of an equal pattern, x)", hot: true,
			start: all(blas.Lower, true)},
		{name: "ValueGradientAndHessian(grad, upper triangle, x)", hot: true, start: all(blas.Upper, false)},
		{name: "ValueGradientAndHessian(grad, sparse dst, x)", hot: true, start: all(blas.All, false)},
	}
}

// An invalidCall must fail with an error of the type that kind points to. run reports whether it wrote to the
// destination.
type invalidCall struct {
	name string
	kind any
	run  func(x []float64) (wrote bool, err error)
}

var (
	// The types of errors of invalid calls.
	patternKind     = new(*nabla.PatternError)
	unsupportedKind = new(*nabla.UnsupportedError)
	aliasKind       = new(*nabla.AliasError)
)

// otherPatterns returns patterns that differ from s in one entry, in size, or in the place of an entry, by description.
// If s is square and symmetric, so are they.
func otherPatterns(s *sparsity.Pattern) map[string]*sparsity.Pattern {
	m, n := s.Dims()
	var is, js []int
	for j := range n {
		for _, i := range s.Col(j) {
			is, js = append(is, i), append(js, j)
		}
	}
	all := map[string]*sparsity.Pattern{
		"with a column more": sparsity.Empty(m+1, n+1), // square where s is
	}
	for _, p := range []struct {
		name string
		s    *sparsity.Pattern
	}{{"without an entry", sparsity.Empty(m, n)}, {"with every entry", sparsity.Full(m, n)}} {
		if !p.s.Equal(s) {
			all[p.name] = p.s
		}
	}
	// Move one entry within its column, so that the number of entries is the same; on the diagonal if s is symmetric.
	for k := range is {
		for to := range m {
			if m == n && s.Symmetric() && (is[k] != js[k] || s.Has(to, to)) || s.Has(to, js[k]) {
				continue
			}
			from, col := is[k], js[k]
			if m == n && s.Symmetric() {
				is[k], js[k] = to, to
			} else {
				is[k] = to
			}
			moved, err := sparsity.FromEntries(m, n, is, js)
			is[k], js[k] = from, col
			if err == nil && !moved.Equal(s) {
				all["with an entry elsewhere"] = moved
				return all
			}
		}
	}
	return all
}

// invalidJacobianCalls returns calls with destinations that do not fit.
func invalidJacobianCalls(p *nabla.JacobianPrep) []invalidCall {
	into := func(dst mat.Matrix) func(x []float64) (bool, error) {
		return func(x []float64) (bool, error) {
			_, err := p.Jacobian(dst, x)
			return false, err
		}
	}
	tri := mat.NewTriDense(1, mat.Upper, nil)
	if p.Plan() == nil {
		return []invalidCall{
			{"Jacobian(*sparse.CSC, x) of a dense backend", unsupportedKind, into(new(sparse.CSC))},
			{"Sparse(nil, x) of a dense backend", unsupportedKind, func(x []float64) (bool, error) {
				_, err := p.Sparse(nil, x)
				return false, err
			}},
			{"Jacobian(*mat.TriDense, x)", unsupportedKind, into(tri)},
		}
	}
	bads := []invalidCall{
		{"Jacobian(*mat.TriDense, x)", unsupportedKind, into(tri)},
		{"Jacobian(*sparse.SymCSC, x)", unsupportedKind, into(new(sparse.SymCSC))},
		{"Sparse(dst that holds x, x)", aliasKind, func(x []float64) (bool, error) {
			s := p.Plan().Pattern
			if s.NNZ() == 0 || len(x) == 0 {
				return false, errSkip
			}
			data := make([]float64, s.NNZ()+len(x))
			at := data[s.NNZ()-1 : s.NNZ()-1+len(x)]
			copy(at, x)
			_, err := p.Sparse(sparse.NewCSC(s, data[:s.NNZ()]), at)
			return false, err
		}},
	}
	for name, s := range otherPatterns(p.Plan().Pattern) {
		bads = append(
			bads,
			invalidCall{"Sparse(dst, x) of a pattern " + name, patternKind, func(x []float64) (bool, error) {
				data := nans(s.NNZ())
				_, err := p.Sparse(sparse.NewCSC(s, data), x)
				return !identical(data, nans(s.NNZ())), err
			}},
		)
	}
	return bads
}

// invalidHessianCalls returns calls with destinations that do not fit.
func invalidHessianCalls(p *nabla.HessianPrep) []invalidCall {
	into := func(dst mat.Symmetric) func(x []float64) (bool, error) {
		return func(x []float64) (bool, error) {
			_, err := p.Hessian(dst, x)
			return false, err
		}
	}
	diagonal := mat.NewDiagDense(1, nil)
	if p.Plan() == nil {
		return []invalidCall{
			{"Hessian(*sparse.SymCSC, x) of a dense backend", unsupportedKind, into(new(sparse.SymCSC))},
			{"Sparse(nil, x) of a dense backend", unsupportedKind, func(x []float64) (bool, error) {
				_, err := p.Sparse(nil, x)
				return false, err
			}},
			{"Hessian(*mat.DiagDense, x)", unsupportedKind, into(diagonal)},
		}
	}
	bads := []invalidCall{{"Hessian(*mat.DiagDense, x)", unsupportedKind, into(diagonal)}}
	for name, s := range otherPatterns(p.Plan().Pattern) {
		for _, uplo := range []blas.Uplo{blas.All, blas.Upper, blas.Lower} {
			t := s.Triangle(uplo)
			if t.Equal(p.Plan().Pattern.Triangle(uplo)) {
				continue
			}
			bads = append(bads,
				invalidCall{fmt.Sprintf("Sparse(dst, x) that stores %c of a pattern %s", uplo, name), patternKind,
					func(x []float64) (bool, error) {
						data := nans(t.NNZ())
						dst, err := sparse.NewSymCSC(t, uplo, data)
						if err == nil {
							_, err = p.Sparse(dst, x)
						}
						return !identical(data, nans(t.NNZ())), err
					}})
		}
	}
	return bads
}

// checkInvalidDestinations makes calls with destinations that do not fit. They must fail, write nothing, and leave the
// object usable.
func (c *checker) checkInvalidDestinations(p *prepared, want Results) {
	if p.invalidCalls == nil {
		return
	}
	for _, b := range p.invalidCalls() {
		wrote, err := b.run(append([]float64{}, c.x...))
		switch {
		case err == errSkip:
			continue
		case err == nil:
			c.failf("pattern", b.name, "is accepted, want a %s", kindName(b.kind))
		case !errors.As(err, b.kind):
			c.failf("pattern", b.name, "gives %T (%v), want a %s", err, err, kindName(b.kind))
		case wrote:
			c.failf("pattern", b.name, "wrote to the destination that it refused")
		}
		c.call("after error", p.variants[0], c.x, c.t, want)
		c.call("after error", p.variants[len(p.variants)-1], c.x, c.t, want)
	}
}

// kindName returns the name of the type that kind points to.
func kindName(kind any) string { return fmt.Sprintf("%T", kind)[1:] }

// checkPlan requires that an object and its clone return matrices over the pattern of the plan.
func (c *checker) checkPlan(p *prepared) {
	if p.plan == nil || p.plan() == nil {
		return
	}
	s := p.plan().Pattern
	if q := p.clone(); q.plan() == nil || q.plan().Pattern != s {
		c.failf("pattern", "Clone", "has not the pattern of its original")
	}
	for _, v := range p.variants {
		o := c.invoke("pattern", v, c.x, c.t)
		if o == nil || o.first.into != nil || o.second.into != nil {
			continue
		}
		for _, m := range []mat.Matrix{o.first.m, o.second.m} {
			if m, ok := m.(interface{ Pattern() *sparsity.Pattern }); ok && m.Pattern() != s {
				c.failf("pattern", v.name, "gives a matrix whose pattern is not the one of Plan")
			}
		}
	}
}

// isExpectedPatternError reports whether err is a correct answer: a pattern that was detected in another branch may
// miss entries, which is a *nabla.PatternError.
func (c *checker) isExpectedPatternError(err error) bool {
	return c.s.otherBranch && sparseBackend(c.b) && errors.As(err, patternKind)
}

// sparseBackend reports whether b is an AutoSparse.
func sparseBackend(b nabla.Backend) bool {
	switch b := b.(type) {
	case nabla.AutoSparse:
		return true
	case nabla.Policy:
		return sparseBackend(b.Backend)
	}
	return false
}
