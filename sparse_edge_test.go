package nabla_test

import (
	"errors"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/coloring"
	"github.com/nabla-ad/nabla/sparsity"
)

// sparseExact are AutoSparses that come about in different ways.
var sparseExact = []nabla.AutoSparse{
	{Dense: forwarddiff.Backend{}},
	{Dense: forwarddiff.Backend{Chunk: 1}, Workers: 3},
	{Dense: reversediff.Backend{}},
	{Dense: reversediff.Backend{Compile: true}},
	{Dense: reversediff.Backend{Compile: true}, Coloring: coloring.Greedy{}},
	{Dense: reversediff.Backend{}, Decompression: coloring.Substitution, Workers: 2},
	{Dense: tracker.Backend{}},
	{Dense: nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: reversediff.Backend{Compile: true}}},
	{Dense: nabla.SecondOrder{Outer: reversediff.Backend{Compile: true}, Inner: forwarddiff.Backend{}}},
	{Dense: nabla.MixedMode{Forward: forwarddiff.Backend{}, Reverse: tracker.Backend{}}},
	{Dense: nabla.MixedMode{Forward: reversediff.Backend{Compile: true}, Reverse: reversediff.Backend{Compile: true}},
		Decompression: coloring.Substitution},
}

var sparseDifferences = []nabla.AutoSparse{
	{Dense: finitediff.Backend{}},
	{Dense: finitediff.Backend{Method: finitediff.Forward}},
	{Dense: finitediff.Backend{Method: finitediff.Complex}},
	{Dense: nabla.SecondOrder{Outer: finitediff.Backend{}, Inner: reversediff.Backend{}}},
}

// anyProduct is a product of other inputs on each side of 0.
func anyProduct(x []nabla.Real) []nabla.Real {
	if x[0].Less(nabla.Const(0)) {
		return []nabla.Real{x[0].Mul(x[1]), x[2]}
	}
	return []nabla.Real{x[0].Mul(x[2]), x[1]}
}

// TestCallsAfterPatternError: after an error the next calls are compared too, and
// the object is right where its pattern holds.
func TestCallsAfterPatternError(t *testing.T) {
	right, wrong := []float64{2, 3, 4}, []float64{-2, 3, 4}
	scalar := func(x []nabla.Real) nabla.Real { return anyProduct(x)[0] }
	for _, b := range sparseExact {
		b.Detector = sparsity.Recorded{}
		p, err := nabla.PrepareJacobian(anyProduct, b, right)
		if err != nil {
			t.Fatalf("%s: %v", b.Name(), err)
		}
		h, err := nabla.PrepareHessian(scalar, b, right)
		if err != nil {
			t.Fatalf("%s: %v", b.Name(), err)
		}
		for k := range 9 { // the first of them is the second call
			var pe *nabla.PatternError
			if j, err := p.Jacobian(nil, wrong); !errors.As(err, &pe) {
				t.Errorf("%s: Jacobian %d: %v, %v", b.Name(), k, err, j)
			}
			if hess, err := h.Hessian(nil, wrong); !errors.As(err, &pe) {
				t.Errorf("%s: Hessian %d: %v, %v", b.Name(), k, err, hess)
			}
		}
		j, err := p.Jacobian(nil, right)
		if err != nil || j.At(0, 0) != 4 || j.At(0, 2) != 2 || j.At(1, 1) != 1 {
			t.Errorf("%s: Jacobian afterwards: %v, %v", b.Name(), j, err)
		}
		hess, err := h.Hessian(nil, right)
		if err != nil || hess.At(0, 2) != 1 || hess.At(0, 1) != 0 {
			t.Errorf("%s: Hessian afterwards: %v, %v", b.Name(), hess, err)
		}
	}
}

// TestRebindComparesAgain: a change of the pattern by another struct is detected in the next call,
// whichever it is.
func TestRebindComparesAgain(t *testing.T) {
	type context struct{ Which int }
	f := func(x []nabla.Real, c *context) []nabla.Real {
		return []nabla.Real{x[0].Mul(x[c.Which]), x[1], x[2]}
	}
	g := func(x []nabla.Real, c *context) nabla.Real { return x[0].Mul(x[c.Which]) }
	x := []float64{2, 3, 4}
	for _, b := range sparseExact {
		for calls := range 9 {
			p, err := nabla.PrepareJacobian(nabla.Bind(f, &context{1}), b, x)
			if err != nil {
				t.Fatalf("%s: %v", b.Name(), err)
			}
			h, err := nabla.PrepareHessian(nabla.Bind(g, &context{1}), b, x)
			if err != nil {
				t.Fatalf("%s: %v", b.Name(), err)
			}
			for range calls {
				if _, err := p.Jacobian(nil, x); err != nil {
					t.Fatal(err)
				}
				if _, err := h.Hessian(nil, x); err != nil {
					t.Fatal(err)
				}
			}
			if err := errors.Join(p.Rebind(&context{2}), h.Rebind(&context{2})); err != nil {
				t.Fatal(err)
			}
			var pe *nabla.PatternError
			if j, err := p.Jacobian(nil, x); !errors.As(err, &pe) {
				t.Errorf("%s: Jacobian %d: %v, %v", b.Name(), calls, err, j)
			}
			if hess, err := h.Hessian(nil, x); !errors.As(err, &pe) {
				t.Errorf("%s: Hessian %d: %v, %v", b.Name(), calls, err, hess)
			}
		}
	}
}

// TestDifferencesThatAreErrors: the errors of differences in a zero derivative are not taken for a
// missing entry. A missing entry is detected nevertheless.
func TestDifferencesThatAreErrors(t *testing.T) {
	squares := func(x []nabla.Real) []nabla.Real {
		y := make([]nabla.Real, len(x))
		for i := range x {
			y[i] = x[i].Sq()
		}
		return y
	}
	sum := func(x []nabla.Real) nabla.Real { return nabla.Sum(x...) }
	power := func(x []nabla.Real) nabla.Real {
		var four, six nabla.Real
		for _, v := range x {
			p := v.Sq().Sq()
			four, six = four.Add(p), six.Add(p.Mul(v.Sq()))
		}
		return four.Mul(six)
	}
	chain := func(x []nabla.Real) nabla.Real {
		var s nabla.Real
		for i := range len(x) - 1 {
			s = s.Add(x[i].Mul(x[i+1]))
		}
		return s
	}
	zeros, some := make([]float64, 6), []float64{1, 2, 3, 4, 5, 6}
	tridiagonal := sparsity.Banded(6, 6, 1, 1)
	for _, b := range sparseDifferences {
		p, err := nabla.PrepareJacobian(squares, b, zeros)
		for k := 0; k < 20 && err == nil; k++ {
			_, err = p.Jacobian(nil, zeros)
		}
		if err != nil {
			t.Errorf("%s: squares: %v", b.Name(), err)
		}
		for name, f := range map[string]func([]nabla.Real) nabla.Real{"sum": sum, "power": power, "chain": chain} {
			for _, x := range [][]float64{zeros, some} {
				h, err := nabla.PrepareHessian(f, b, x)
				for k := 0; k < 20 && err == nil; k++ {
					_, err = h.Hessian(nil, x)
				}
				if err != nil {
					t.Errorf("%s: %s at %v: %v", b.Name(), name, x, err)
				}
			}
		}
		var pe *nabla.PatternError
		b.Detector = sparsity.Known{J: sparsity.Empty(6, 6), H: sparsity.Banded(6, 6, 0, 0)}
		if _, err := nabla.PrepareJacobian(squares, b, some); !errors.As(err, &pe) {
			t.Errorf("%s: nothing found: %v", b.Name(), err)
		}
		if _, err := nabla.PrepareHessian(chain, b, some); !errors.As(err, &pe) {
			t.Errorf("%s: nothing found: %v", b.Name(), err)
		}
		b.Detector = sparsity.Known{H: tridiagonal}
		if _, err := nabla.PrepareHessian(power, b, some); !errors.As(err, &pe) {
			t.Errorf("%s: nothing found: %v", b.Name(), err)
		}
	}
}

// TestMissingEntries: whatever a pattern misses is an error when it is prepared: one that
// is small beside others, in a row with an infinite one, or all there are.
func TestMissingEntries(t *testing.T) {
	type R = nabla.Real
	for _, c := range []struct {
		name   string
		f      func(x []R) []R
		x      []float64
		is, js []int
	}{
		{"all", func(x []R) []R { return []R{x[0], x[1]} }, []float64{3, 2}, nil, nil},
		{"one of two", func(x []R) []R { return []R{x[0].Add(x[1]), x[0].Sub(x[1])} }, []float64{3, 2}, []int{0, 1},
			[]int{0, 0}},
		{"of equal outputs", func(x []R) []R { a := x[0].Sq(); return []R{a, a} }, []float64{3, 2}, []int{0}, []int{0}},
		{"small in its row", func(x []R) []R { return []R{x[0].Scale(1e9).Add(x[1])} }, []float64{1, 2}, []int{0},
			[]int{0}},
		{"in a small row", func(x []R) []R { return []R{x[0].Scale(1e14), x[1].Scale(2)} }, []float64{1, 2}, []int{0},
			[]int{0}},
		{"tiny", func(x []R) []R { return []R{x[0].Scale(1e-200), x[1].Scale(1e-200)} }, []float64{1, 2}, []int{0},
			[]int{0}},
		{"beside an infinite one",
			func(x []R) []R { return []R{nabla.Sqrt(x[0]), x[0], x[1].Add(x[2]), x[3].Add(nabla.Sqrt(x[0]))} },
			[]float64{0, 1, 2, 3}, []int{0, 1, 2, 3}, []int{0, 0, 1, 0}},
	} {
		s, err := sparsity.FromEntries(len(c.f(make([]R, len(c.x)))), len(c.x), c.is, c.js)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range sparseExact {
			b.Detector = sparsity.Known{J: s}
			var pe *nabla.PatternError
			if _, err := nabla.PrepareJacobian(c.f, b, c.x); !errors.As(err, &pe) {
				t.Errorf("%s: %s: %v", c.name, b.Name(), err)
			}
		}
	}
}

// TestRoundingIsNoEntry: the rounding errors of a derivative that cancels are not taken for a
// missing entry of the pattern.
func TestRoundingIsNoEntry(t *testing.T) {
	type R = nabla.Real
	one := func(x []R) R { v := x[0].Sq().AddConst(0.5); return v.Div(v) }
	big := func(x []R) []R {
		return []R{x[0].Scale(1e10).Add(x[1]).Sub(x[0].Scale(1e10)),
			x[0].Scale(1e16).Add(x[1].Scale(3)).Sub(x[0].Scale(1e16)), x[1]}
	}
	for _, b := range sparseExact {
		h, err := nabla.PrepareHessian(one, b, []float64{1, 0})
		if err != nil {
			t.Errorf("%s: Hessian: %v", b.Name(), err)
			continue
		}
		j, err := nabla.PrepareJacobian(big, b, []float64{1, 2})
		if err != nil {
			t.Errorf("%s: Jacobian: %v", b.Name(), err)
			continue
		}
		for k := range 64 {
			x := []float64{-1.31817626953125 + 0.037*float64(k), float64(k)}
			if _, err := h.Hessian(nil, x); err != nil {
				t.Errorf("%s: Hessian at %v: %v", b.Name(), x, err)
			}
			if _, err := j.Jacobian(nil, x); err != nil {
				t.Errorf("%s: Jacobian at %v: %v", b.Name(), x, err)
			}
		}
	}
}

// TestMissingEntryAtNaN: the programs of entries name a place also where they run in the
// form that tells structural zeros from others, which has other entries.
func TestMissingEntryAtNaN(t *testing.T) {
	f := func(x []nabla.Real) nabla.Real {
		v := x[1]
		if x[0].Less(x[1]) {
			v = nabla.Const(0)
		}
		return nabla.XLogY(v, x[2])
	}
	b := nabla.AutoSparse{Dense: reversediff.Backend{Compile: true}}
	p, err := nabla.PrepareHessian(f, b, []float64{0, 1, 0, 0})
	if err != nil {
		t.Fatal(err)
	}
	var pe *nabla.PatternError
	if _, _, h, err := p.ValueGradientAndHessian(nil, nil, []float64{0, 0, 0, 0}); !errors.As(err, &pe) {
		t.Errorf("%v, %v", err, h)
	} else if pe.Row < 1 || pe.Col > 2 || pe.Col < pe.Row {
		t.Errorf("place of %v", err)
	}
}

// TestSparseMatricesOfUnusualShapes: derivatives without entries, with empty rows and columns, of one row
// or one column, and of outputs that are equal or are inputs, at several points.
func TestSparseMatricesOfUnusualShapes(t *testing.T) {
	type R = nabla.Real
	point := func(n, k int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = 0.5 + 0.25*float64(i%7) + 0.1*float64(k)
		}
		return x
	}
	squares := nabla.Rule{
		Name:  "squares",
		Out:   func(n int) int { return n },
		Value: func(y, x []float64) { each(x, func(i int, v float64) { y[i] = v * v }) },
		VJPReal: func(xbar, x, _, ybar []R) {
			for i, v := range x {
				xbar[i] = xbar[i].Add(v.Mul(ybar[i]).Scale(2))
			}
		},
	}
	diagonal := squares
	diagonal.Pattern = func(n int) *sparsity.Pattern { return sparsity.Banded(n, n, 0, 0) }
	var jacobians = []struct {
		name string
		n    int
		f    func(x []R) []R
	}{
		{"zero", 3, func([]R) []R { return []R{nabla.Const(1), nabla.Const(2)} }},
		{"no outputs", 3, func([]R) []R { return nil }},
		{"no inputs", 0, func([]R) []R { return []R{nabla.Const(1), nabla.Const(2)} }},
		{"nothing", 0, func([]R) []R { return nil }},
		{"one row", 9, func(x []R) []R { return []R{nabla.Dot(x, x)} }},
		{"one column", 1, func(x []R) []R { return []R{x[0], x[0].Sq(), nabla.Sin(x[0]), nabla.Const(3)} }},
		{"empty rows and columns", 5,
			func(x []R) []R { return []R{nabla.Const(0), x[1].Mul(x[3]), nabla.Const(2), x[3]} }},
		{"equal outputs", 4, func(x []R) []R { a := x[0].Mul(x[1]); return []R{a, a, x[2], a} }},
		{"inputs", 4, func(x []R) []R { return x }},
		{"inputs turned", 3, func(x []R) []R { return []R{x[2], x[1], x[0], x[2]} }},
		{"arrow", 12, func(x []R) []R {
			y := make([]R, len(x))
			for i := range x {
				y[i] = x[i].Mul(x[0])
				y[0] = y[0].Add(x[i].Sq())
			}
			return y
		}},
		{"derivative inside", 3,
			nabla.GradientFunc(func(z []R) R { return z[0].Mul(z[1]).Mul(z[0]).Add(z[2].Sq()) },
				forwarddiff.Backend{})},
		{"rule", 5, func(x []R) []R { return squares.Func()(x...) }},
		{"rule with a pattern", 5, func(x []R) []R { return diagonal.Func()(x...) }},
	}
	hessians := []struct {
		name string
		n    int
		f    func(x []R) R
	}{
		{"constant", 3, func([]R) R { return nabla.Const(1) }},
		{"no inputs", 0, func([]R) R { return nabla.Const(1) }},
		{"linear", 4, func(x []R) R { return x[0].Scale(2).Add(x[2]) }},
		{"an input", 2, func(x []R) R { return x[1] }},
		{"one input", 1, func(x []R) R { return nabla.Exp(x[0]) }},
		{"empty rows", 6, func(x []R) R { return x[1].Mul(x[3]).Add(nabla.Sin(x[0])) }},
		{"rule", 5, func(x []R) R { return nabla.Sum(squares.Func()(x...)...) }},
		{"rule with a pattern", 5, func(x []R) R { return nabla.Sum(diagonal.Func()(x...)...) }},
	}
	for _, b := range append(slices.Clone(sparseExact), sparseDifferences...) {
		tol := 1e-12
		if slices.Contains(sparseDifferences, b) {
			tol = 1e-4
		}
		for _, c := range jacobians {
			dense, err := nabla.PrepareJacobian(c.f, forwarddiff.Backend{}, point(c.n, 0))
			if err != nil {
				t.Fatal(err)
			}
			p, err := nabla.PrepareJacobian(c.f, b, point(c.n, 0))
			if err != nil {
				t.Errorf("%s: %s: %v", b.Name(), c.name, err)
				continue
			}
			for k := range 5 {
				x := point(c.n, k)
				wantY, want, _ := dense.ValueAndJacobian(nil, nil, x)
				y, j, err := p.ValueAndJacobian(nil, nil, x)
				if err != nil || !slices.Equal(y, wantY) {
					t.Errorf("%s: %s: %v, want %v: %v", b.Name(), c.name, y, wantY, err)
				} else if m, n := want.Dims(); m*n > 0 && !mat.EqualApprox(j, want, tol) {
					t.Errorf("%s: %s:\n%v\nwant\n%v", b.Name(), c.name, mat.Formatted(j), mat.Formatted(want))
				} else if rows, cols := j.Dims(); rows != len(wantY) || cols != c.n {
					t.Errorf("%s: %s: %d×%d", b.Name(), c.name, rows, cols)
				}
			}
		}
		for _, c := range hessians {
			dense, err := nabla.PrepareHessian(c.f, reversediff.Backend{}, point(c.n, 0))
			if err != nil {
				t.Fatal(err)
			}
			p, err := nabla.PrepareHessian(c.f, b, point(c.n, 0))
			if err != nil {
				t.Errorf("%s: Hessian of %s: %v", b.Name(), c.name, err)
				continue
			}
			if c.name == "linear" && (p.Plan().Pattern.NNZ() != 0 || p.Plan().Products() != 0) {
				t.Errorf("%s: linear: %v", b.Name(), p.Plan())
			}
			for k := range 5 {
				x := point(c.n, k)
				wantY, wantG, want, _ := dense.ValueGradientAndHessian(nil, nil, x)
				y, g, h, err := p.ValueGradientAndHessian(nil, nil, x)
				if err != nil || y != wantY || !floats.EqualApprox(g, wantG, tol) {
					t.Errorf("%s: Hessian of %s: %v, %v, want %v, %v: %v", b.Name(), c.name, y, g, wantY, wantG, err)
				} else if c.n > 0 && !mat.EqualApprox(h, want, 100*tol) {
					t.Errorf("%s: Hessian of %s:\n%v\nwant\n%v", b.Name(), c.name, mat.Formatted(h),
						mat.Formatted(want))
				}
			}
		}
	}
}

// TestSparseWithManyInputs has 10 000 inputs, whose dense matrices would take 800 MB.
func TestSparseWithManyInputs(t *testing.T) {
	const n = 10_000
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i % 11)
	}
	for _, b := range []nabla.AutoSparse{sparseExact[3], sparseExact[7], {Dense: forwarddiff.Backend{}, Workers: 2}} {
		f := func(x []nabla.Real) []nabla.Real {
			y := make([]nabla.Real, n-1)
			for i := range y {
				y[i] = x[i].Mul(x[i+1])
			}
			return y
		}
		j, err := nabla.PrepareJacobian(f, b, x)
		if err != nil {
			t.Fatal(err)
		}
		a, err := j.Sparse(nil, x)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n - 1 {
			if a.At(i, i) != x[i+1] || a.At(i, i+1) != x[i] {
				t.Fatalf("%s: row %d", b.Name(), i)
			}
		}
		if a.NNZ() != 2*(n-1) || j.Plan().Products() > 2 {
			t.Errorf("%s: %v", b.Name(), j.Plan())
		}
		if b.Workers > 0 { // forward over forward takes a while
			continue
		}
		h, err := nabla.PrepareHessian(func(x []nabla.Real) nabla.Real { return nabla.Sum(f(x)...) }, b, x)
		if err != nil {
			t.Fatal(err)
		}
		s, err := h.Sparse(nil, x)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n - 1 {
			if s.At(i, i) != 0 || s.At(i+1, i) != 1 {
				t.Fatalf("%s: row %d of the Hessian", b.Name(), i)
			}
		}
	}
}

// TestSparseFunctionErrors: a function that panics gives an error, and a prepared object
// that is in a call refuses another.
func TestSparseFunctionErrors(t *testing.T) {
	x := []float64{1, 2, 3}
	for _, b := range sparseExact {
		bad := false
		f := func(x []nabla.Real) []nabla.Real {
			if bad {
				panic("bad")
			}
			return []nabla.Real{x[0].Mul(x[1]), x[2]}
		}
		p, err := nabla.PrepareJacobian(f, b, x)
		if err != nil {
			t.Fatal(err)
		}
		bad = true
		var pe *nabla.PanicError
		if _, err := p.Jacobian(nil, x); !errors.As(err, &pe) {
			t.Errorf("%s: %v", b.Name(), err)
		}
		if _, err := nabla.PrepareJacobian(f, b, x); !errors.As(err, &pe) {
			t.Errorf("%s: preparing: %v", b.Name(), err)
		}
		bad = false
		if j, err := p.Jacobian(nil, x); err != nil || j.At(0, 1) != 1 {
			t.Errorf("%s: afterwards: %v, %v", b.Name(), j, err)
		}
		var inside error
		var q *nabla.JacobianPrep
		g := func(x []nabla.Real) []nabla.Real {
			if q != nil {
				_, err := q.Jacobian(nil, []float64{1, 2, 3})
				inside = errors.Join(inside, err)
			}
			return []nabla.Real{x[0].Mul(x[1]), x[2]}
		}
		b.Workers = 0
		if q, err = nabla.PrepareJacobian(g, b, x); err != nil {
			t.Fatal(err)
		}
		if _, err := q.Jacobian(nil, x); err != nil || !errors.Is(inside, nabla.ErrBusy) {
			t.Errorf("%s: busy: %v, inside %v", b.Name(), err, inside)
		}
	}
}

func each(x []float64, f func(i int, v float64)) {
	for i, v := range x {
		f(i, v)
	}
}

// TestRuleWithWrongPattern: the dependencies that a rule declares are compared too.
func TestRuleWithWrongPattern(t *testing.T) {
	type R = nabla.Real
	rule := nabla.Rule{
		Name:    "product",
		Out:     func(n int) int { return n },
		Value:   func(y, x []float64) { each(x, func(i int, v float64) { y[i] = v * x[0] }) },
		Pattern: func(n int) *sparsity.Pattern { return sparsity.Banded(n, n, 0, 0) },
		JVPReal: func(ydot, x, _, xdot []R) {
			for i, v := range x {
				ydot[i] = v.Mul(xdot[0]).Add(x[0].Mul(xdot[i]))
			}
		},
	}
	linear := rule
	linear.Pattern, linear.Linear = nil, true
	f := func(x []R) []R { return rule.Func()(x...) }
	g := func(x []R) R { return nabla.Sum(linear.Func()(x...)...) }
	x := []float64{1, 2, 3}
	for _, b := range sparseExact {
		var pe *nabla.PatternError
		if _, err := nabla.PrepareJacobian(f, b, x); !errors.As(err, &pe) {
			t.Errorf("%s: %v", b.Name(), err)
		}
		if _, err := nabla.PrepareHessian(g, b, x); !errors.As(err, &pe) {
			t.Errorf("%s: Hessian: %v", b.Name(), err)
		}
	}
}
