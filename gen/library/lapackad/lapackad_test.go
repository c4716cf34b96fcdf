package lapackad_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	blasgonum "gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/gonum"

	"github.com/nabla-ad/nabla/gen/library/lapackad"
)

var impl gonum.Implementation

// numbers returns n random numbers, of which some are 0.
func numbers(r *rand.Rand, n int, scale float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		if r.IntN(3) > 0 {
			x[i] = scale * r.NormFloat64()
		}
	}
	return x
}

// near reports whether numbers agree up to the rounding of sums in another order.
func near(a, b []float64) bool {
	size := 0.0
	for _, v := range b {
		size = math.Max(size, math.Abs(v))
	}
	return slices.EqualFunc(a, b, func(x, y float64) bool {
		return x == y || x != x && y != y || math.Abs(x-y) <= 1e-14*size
	})
}

// outcome returns the results of f or the text of its panic.
func outcome(f func() []float64) (out []float64, text string) {
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprint(r)
		}
	}()
	return f(), ""
}

// same requires the values or the panic of gonum.
func same(t *testing.T, name string, got, want func() []float64) {
	t.Helper()
	w, why := outcome(want)
	g, reason := outcome(got)
	if reason != why || !near(g, w) {
		t.Errorf("%s: %v %s, want %v %s", name, g, reason, w, why)
	}
}

// TestDlarf compares reflections with those of gonum, with zeros at the ends of vectors and with arguments that do not
// fit.
func TestDlarf(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		side := []blas.Side{blas.Left, blas.Right, 'x'}[r.IntN(20)/9]
		m, n, inc := r.IntN(5)-r.IntN(30)/29, r.IntN(5), []int{1, 2, -1, 0}[r.IntN(13)/4]
		ldc := max(1, n) + r.IntN(2) - r.IntN(20)/19
		v, c := numbers(r, 10-r.IntN(3), 1), numbers(r, max(0, m*ldc), 1)
		if inc < 0 {
			v[0] = 0.75 // gonum shortens a vector from the other end otherwise
		}
		work := make([]float64, 5-r.IntN(2))
		tau := numbers(r, 1, 1)[0]
		run := func(f func(side blas.Side, m, n int, v []float64, inc int, tau float64, c []float64, ldc int,
			work []float64)) func() []float64 {
			c := slices.Clone(c)
			return func() []float64 {
				f(side, m, n, v, inc, tau, c, ldc, slices.Clone(work))
				return c
			}
		}
		same(t, fmt.Sprint(side, m, n, v, inc, tau, c, ldc), run(func(side blas.Side, m, n int, v []float64, inc int,
			tau float64, c []float64, ldc int, work []float64) {
			lapackad.Dlarf(impl, side, m, n, v, inc, tau, c, ldc, work)
		}), run(impl.Dlarf))
	}
}

// TestDlarft compares triangular factors with those of gonum. Gonum is wrong for three and more vectors of which the
// second has more zeros at its end than the first, so these end in numbers that are not 0.
func TestDlarft(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		direct := []lapack.Direct{lapack.Forward, lapack.Backward, 'x'}[r.IntN(20)/9]
		store := []lapack.StoreV{lapack.ColumnWise, lapack.RowWise, 'x'}[r.IntN(20)/9]
		k := 1 + r.IntN(4)
		n := k + r.IntN(4)
		ldv, ldt := n+1-r.IntN(20)/19, k+r.IntN(2)
		v := numbers(r, n*ldv+n+k, 1)
		for i := range k {
			if k > 2 {
				v[(n-1)*ldv+i], v[i*ldv+n-1], v[i], v[i*ldv] = 1.5, -0.5, 0.7, 0.3
			}
		}
		tau, size := numbers(r, k, 1), k*ldt-r.IntN(20)/19
		run := func(f func(direct lapack.Direct, store lapack.StoreV, n, k int, v []float64, ldv int, tau, t []float64,
			ldt int)) func() []float64 {
			out := make([]float64, size)
			for i := range out {
				out[i] = float64(i)
			}
			return func() []float64 {
				f(direct, store, n, k, v, ldv, tau, out, ldt)
				return out
			}
		}
		same(t, fmt.Sprint(direct, store, n, k, v, ldv, tau, ldt), run(func(direct lapack.Direct, store lapack.StoreV,
			n, k int, v []float64, ldv int, tau, t []float64, ldt int) {
			lapackad.Dlarft(impl, direct, store, n, k, v, ldv, tau, t, ldt)
		}), run(impl.Dlarft))
	}
}

// TestScalars compares reflections, rotations and sums of squares with those of gonum, for zeros and numbers that have
// to be scaled.
func TestScalars(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	for range 5000 {
		scale := []float64{1, 1, 1, 1e-200, 1e200, 1e-310}[r.IntN(6)]
		n, inc := r.IntN(5), r.IntN(4)
		x := numbers(r, 12, scale)
		y := numbers(r, 2, []float64{scale, 1}[r.IntN(2)])
		name := fmt.Sprint(n, inc, x, y)
		larfg := func(f func(n int, alpha float64, x []float64, inc int) (beta, tau float64)) func() []float64 {
			x := slices.Clone(x)
			return func() []float64 {
				beta, tau := f(n, y[0], x, inc)
				return append(x, beta, tau)
			}
		}
		same(t, "Dlarfg "+name, larfg(func(n int, alpha float64, x []float64, inc int) (beta, tau float64) {
			return lapackad.Dlarfg(impl, n, alpha, x, inc)
		}), larfg(impl.Dlarfg))
		same(t, "Dlartg "+name, func() []float64 {
			c, s, r := lapackad.Dlartg(impl, y[0], y[1])
			return []float64{c, s, r / scale}
		}, func() []float64 {
			c, s, r := impl.Dlartg(y[0], y[1])
			return []float64{c, s, r / scale}
		})
		same(t, "Drotg "+name, func() []float64 {
			c, s, r, z := lapackad.Drotg(blasgonum.Implementation{}, y[0], y[1])
			return []float64{c, s, r / scale, z}
		}, func() []float64 {
			c, s, r, z := blasgonum.Implementation{}.Drotg(y[0], y[1])
			return []float64{c, s, r / scale, z}
		})
		if sum := math.Abs(y[1]); n > 0 || y[0] != 0 && sum != 0 {
			same(t, "Dlassq "+name, func() []float64 {
				scl, sq := lapackad.Dlassq(impl, n, x, inc, math.Abs(y[0]), sum)
				return []float64{scl * math.Sqrt(sq) / scale, sq}
			}, func() []float64 {
				scl, sq := impl.Dlassq(n, x, inc, math.Abs(y[0]), sum)
				return []float64{scl * math.Sqrt(sq) / scale, sq}
			})
		}
	}
}

// TestJumps requires that derivatives where a function jumps are NaN exactly in directions that leave the point.
func TestJumps(t *testing.T) {
	x := blas64.Vector{N: 2, Data: []float64{0, 0, 0}, Inc: 2}
	for _, moves := range []float64{0, 1} {
		nan := func(name string, v, fixed float64) {
			if moves == 0 && v != fixed || moves != 0 && v == v {
				t.Errorf("%s is %v in a direction with %v", name, v, moves)
			}
		}
		xDot := blas64.Vector{Data: []float64{0, 0, moves}}
		_, _, beta, tau := lapackad.UnreflectedTangent(3, x, 2, xDot)
		nan("tangent of beta", beta, 2)
		nan("tangent of tau", tau, 0)
		nan("tangent of x", xDot.Data[2], 0)
		xBar := blas64.Vector{Data: []float64{0, 5, 0}}
		if alpha := lapackad.UnreflectedPullback(3, x, xBar, moves, 0); alpha != moves {
			t.Errorf("cotangent of alpha is %v", alpha)
		}
		nan("cotangent of x", xBar.Data[2], 0)
		if xBar.Data[1] != 5 {
			t.Errorf("the pullback writes between the elements")
		}
		_, _, _, c, s, r := lapackad.UnrotatedTangent(0, 0, 2, moves)
		nan("tangent of c", c, 0)
		nan("tangent of s", s, 0)
		nan("tangent of r", r, 2)
		f, g := lapackad.UnrotatedPullback(0, 0, 0, moves, 2)
		if f != 2 || g == g {
			t.Errorf("cotangents of f and g are %v and %v", f, g)
		}
		_, z := lapackad.UnencodedTangent(0, moves)
		nan("tangent of z", z, 0)
		nan("cotangent of c", lapackad.UnencodedPullback(0, moves), 0)
	}
}
