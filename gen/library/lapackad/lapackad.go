// Package lapackad has auxiliary functions of gonum's package lapack/gonum that have derivatives where those search
// vectors for their last element that is not 0, or return early if a number is 0. The values are those of gonum. The
// source of these functions is differentiated in place of that of the methods; in the same way that of Drotg in place
// of the method of package blas/gonum.
//
// Householder reflections and plane rotations jump at some points, see [Unreflected], [Unrotated] and [Unencoded].
// Derivatives in a direction that leaves such a point are NaN there, and others are right.
package lapackad

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	blasgonum "gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/gonum"
)

const (
	badDirect = "lapack: bad Direct"
	badIncX   = "lapack: incX <= 0"
	badLdC    = "lapack: bad leading dimension of C"
	badLdV    = "lapack: bad leading dimension of V"
	badSide   = "lapack: bad Side"
	badStoreV = "lapack: bad StoreV"
	kLT1      = "lapack: k < 1"
	mLT0      = "lapack: m < 0"
	nLT0      = "lapack: n < 0"
	shortC    = "lapack: insufficient length of c"
	shortT    = "lapack: insufficient length of t"
	shortTau  = "lapack: insufficient length of tau"
	shortV    = "lapack: insufficient length of v"
	shortWork = "lapack: insufficient length of work"
	shortX    = "lapack: insufficient length of x"
	zeroIncV  = "lapack: incv == 0"
)

// The least number whose reciprocal is finite, divided by the relative rounding error, below which Dlarfg scales.
const (
	epsilon = 0x1p-53
	safmin  = 0x1p-1022
)

// Dlarf applies the reflection H = I - tau·v·vᵀ to C, from the left or the right.
func Dlarf(_ gonum.Implementation, side blas.Side, m, n int, v []float64, incv int, tau float64, c []float64, ldc int,
	work []float64) {
	switch {
	case side != blas.Left && side != blas.Right:
		panic(badSide)
	case m < 0:
		panic(mLT0)
	case n < 0:
		panic(nLT0)
	case incv == 0:
		panic(zeroIncV)
	case ldc < max(1, n):
		panic(badLdC)
	}
	if m == 0 || n == 0 {
		return
	}
	left := side == blas.Left
	lenV, lenW := n, m
	if left {
		lenV, lenW = m, n
	}
	inc := incv
	if inc < 0 {
		inc = -inc
	}
	switch {
	case len(v) < 1+(lenV-1)*inc:
		panic(shortV)
	case len(c) < (m-1)*ldc+n:
		panic(shortC)
	case len(work) < lenW:
		panic(shortWork)
	}
	x := blas64.Vector{N: lenV, Data: v, Inc: incv}
	w := blas64.Vector{N: lenW, Data: work, Inc: 1}
	a := blas64.General{Rows: m, Cols: n, Stride: ldc, Data: c}
	if left {
		blas64.Gemv(blas.Trans, 1, a, x, 0, w)
		blas64.Ger(-tau, x, w, a)
	} else {
		blas64.Gemv(blas.NoTrans, 1, a, x, 0, w)
		blas64.Ger(-tau, w, x, a)
	}
}

// Dlarft computes the triangular factor T of a block of reflections with the vectors in v.
func Dlarft(_ gonum.Implementation, direct lapack.Direct, store lapack.StoreV, n, k int, v []float64, ldv int,
	tau, t []float64, ldt int) {
	mv, nv := n, k
	if store == lapack.RowWise {
		mv, nv = k, n
	}
	switch {
	case direct != lapack.Forward && direct != lapack.Backward:
		panic(badDirect)
	case store != lapack.RowWise && store != lapack.ColumnWise:
		panic(badStoreV)
	case n < 0:
		panic(nLT0)
	case k < 1:
		panic(kLT1)
	case ldv < max(1, nv):
		panic(badLdV)
	case len(tau) < k:
		panic(shortTau)
	case ldt < max(1, k):
		panic(shortT)
	}
	if n == 0 {
		return
	}
	switch {
	case len(v) < (mv-1)*ldv+nv:
		panic(shortV)
	case len(t) < (k-1)*ldt+k:
		panic(shortT)
	}
	// The distances in memory between the vectors, and between the elements of one.
	next, along := 1, ldv
	if store == lapack.RowWise {
		next, along = ldv, 1
	}
	if direct == lapack.Forward {
		for i := 0; i < k; i++ {
			column(i, next, along, 0, i, i, i+1, n, v, tau, t, ldt)
		}
		return
	}
	for i := k - 1; i >= 0; i-- {
		column(i, next, along, i+1, k, n-k+i, 0, n-k+i, v, tau, t, ldt)
	}
}

// column computes column i of T from the products of vector i with the vectors from j0 to j1, whose columns of T are
// done. Element at of vector i is 1, those from lo to hi are stored in v, and the others are 0.
func column(i, next, along, j0, j1, at, lo, hi int, v, tau, t []float64, ldt int) {
	t[i*ldt+i] = tau[i]
	n := j1 - j0
	if n == 0 {
		return
	}
	for j := j0; j < j1; j++ {
		sum := v[j*next+at*along]
		for l := lo; l < hi; l++ {
			sum += v[j*next+l*along] * v[i*next+l*along]
		}
		t[j*ldt+i] = -tau[i] * sum
	}
	uplo := blas.Upper
	if j0 > 0 {
		uplo = blas.Lower
	}
	blas64.Trmv(blas.NoTrans,
		blas64.Triangular{Uplo: uplo, Diag: blas.NonUnit, N: n, Stride: ldt, Data: t[j0*ldt+j0:]},
		blas64.Vector{N: n, Data: t[j0*ldt+i:], Inc: ldt})
}

// Dlarfg computes beta, tau and v, in place of x, such that the reflection I - tau·(1, v)·(1, v)ᵀ maps (alpha, x) to
// (beta, 0).
func Dlarfg(_ gonum.Implementation, n int, alpha float64, x []float64, incX int) (beta, tau float64) {
	switch {
	case n < 0:
		panic(nLT0)
	case incX <= 0:
		panic(badIncX)
	}
	if n <= 1 {
		return alpha, 0
	}
	if len(x) < 1+(n-2)*incX {
		panic(shortX)
	}
	vec := blas64.Vector{N: n - 1, Data: x, Inc: incX}
	norm := blas64.Nrm2(vec)
	if norm == 0 {
		return Unreflected(alpha, vec)
	}
	beta = -math.Copysign(math.Hypot(alpha, norm), alpha)
	scaled := 0
	const least = safmin / epsilon
	if math.Abs(beta) < least {
		for {
			scaled++
			blas64.Scal(1/least, vec)
			beta *= 1 / least
			alpha *= 1 / least
			if math.Abs(beta) >= least {
				break
			}
		}
		beta = -math.Copysign(math.Hypot(alpha, blas64.Nrm2(vec)), alpha)
	}
	tau = (beta - alpha) / beta
	blas64.Scal(1/(alpha-beta), vec)
	for j := 0; j < scaled; j++ {
		beta *= least
	}
	return beta, tau
}

// Unreflected returns alpha and 0, the results of Dlarfg for x = 0, where it makes no reflection. If x moves, beta
// jumps to -alpha and tau to 2. So derivatives with respect to x are NaN.
//
//nabla:rule tangent=UnreflectedTangent pullback=UnreflectedPullback source=none writes=x
func Unreflected(alpha float64, x blas64.Vector) (beta, tau float64) { return alpha, 0 }

// UnreflectedTangent returns the tangent of alpha and 0 as those of beta and tau, and NaN for both and x if x moves.
func UnreflectedTangent(alpha float64, x blas64.Vector, alphaDot float64, xDot blas64.Vector) (beta, tau, betaDot,
	tauDot float64) {
	betaDot = alphaDot
	if xDot.Data == nil {
		return alpha, 0, betaDot, 0
	}
	for i := 0; i < x.N; i++ {
		if xDot.Data[i*x.Inc] != 0 {
			betaDot, tauDot = math.NaN(), math.NaN()
			xDot.Data[i*x.Inc] = math.NaN()
		}
	}
	return alpha, 0, betaDot, tauDot
}

// UnreflectedPullback returns the cotangent of beta. The cotangents of x are NaN unless all cotangents of results are
// 0.
func UnreflectedPullback(alpha float64, x, xBar blas64.Vector, betaBar, tauBar float64) (alphaBar float64) {
	if xBar.Data == nil {
		return betaBar
	}
	for i := 0; i < x.N; i++ {
		if betaBar != 0 || tauBar != 0 || xBar.Data[i*x.Inc] != 0 {
			xBar.Data[i*x.Inc] = math.NaN()
		}
	}
	return betaBar
}

// Dlartg returns cosine and sine of the plane rotation that maps (f, g) to (r, 0). The sign of r, which jumps with that
// of f, is constant in derivatives.
func Dlartg(_ gonum.Implementation, f, g float64) (cs, sn, r float64) {
	if f == 0 && g == 0 {
		return Unrotated(f, g)
	}
	const (
		rtmin = 0x1p-511
		rtmax = 0x1p510 * math.Sqrt2
	)
	sign := 1.0
	if f < 0 {
		sign = -1
	}
	inRange := func(v float64) bool { return v == 0 || rtmin < v && v < rtmax }
	f1, g1 := math.Abs(f), math.Abs(g)
	if inRange(f1) && inRange(g1) {
		d := math.Sqrt(f*f + g*g)
		r = sign * d
		return sign * f / d, g / r, r
	}
	u := math.Min(math.Max(safmin, math.Max(f1, g1)), 1/safmin)
	fs, gs := f/u, g/u
	d := math.Sqrt(fs*fs + gs*gs)
	r = sign * d
	return sign * fs / d, gs / r, r * u
}

// Unrotated returns 1, 0 and f, the results of Dlartg and Drotg for f = g = 0. If g moves, they jump, so derivatives
// with respect to g are NaN.
//
//nabla:rule tangent=UnrotatedTangent pullback=UnrotatedPullback source=none
func Unrotated(f, g float64) (cs, sn, r float64) { return 1, 0, f }

// UnrotatedTangent returns the tangents of results too.
func UnrotatedTangent(f, g, fDot, gDot float64) (cs, sn, r, csDot, snDot, rDot float64) {
	if gDot != 0 {
		return 1, 0, f, math.NaN(), math.NaN(), math.NaN()
	}
	return 1, 0, f, 0, 0, fDot
}

// UnrotatedPullback returns the cotangents of f and g.
func UnrotatedPullback(f, g, csBar, snBar, rBar float64) (fBar, gBar float64) {
	if csBar != 0 || snBar != 0 || rBar != 0 {
		gBar = math.NaN()
	}
	return rBar, gBar
}

// Drotg returns cosine and sine of the plane rotation that maps (a, b) to (r, 0), and the number z that encodes it.
func Drotg(_ blasgonum.Implementation, a, b float64) (c, s, r, z float64) {
	anorm, bnorm := math.Abs(a), math.Abs(b)
	if anorm == 0 && bnorm == 0 {
		c, s, r = Unrotated(a, b)
		return c, s, r, s
	}
	scl := math.Min(math.Max(safmin, math.Max(anorm, bnorm)), 1/safmin)
	sigma := math.Copysign(1, b)
	if anorm > bnorm {
		sigma = math.Copysign(1, a)
	}
	ascl, bscl := a/scl, b/scl
	r = sigma * (scl * math.Sqrt(ascl*ascl+bscl*bscl))
	c, s = a/r, b/r
	switch {
	case anorm > bnorm:
		z = s
	case c != 0:
		z = 1 / c
	default:
		z = Unencoded(c)
	}
	return c, s, r, z
}

// Unencoded returns 1, the number z of Drotg if the cosine c is 0, where z jumps from 1/c. So its derivative is NaN.
//
//nabla:rule tangent=UnencodedTangent pullback=UnencodedPullback source=none
func Unencoded(c float64) float64 { return 1 }

// UnencodedTangent returns 1 and NaN, or 0 if c does not move.
func UnencodedTangent(c, cDot float64) (z, zDot float64) {
	if cDot != 0 {
		return 1, math.NaN()
	}
	return 1, 0
}

// UnencodedPullback returns NaN, or 0 if the cotangent of z is 0.
func UnencodedPullback(c, zBar float64) float64 {
	if zBar != 0 {
		return math.NaN()
	}
	return 0
}

// Dlassq returns scl and smsq such that scl²·smsq = scale²·sumsq + Σ xᵢ². Numbers out of the range in which their
// squares are accurate are scaled, as gonum does, after E. Anderson, Algorithm 978: Safe Scaling in the Level 1 BLAS,
// ACM Trans. Math. Softw. 44 (2017).
func Dlassq(_ gonum.Implementation, n int, x []float64, incx int, scale, sumsq float64) (scl, smsq float64) {
	switch {
	case n < 0:
		panic(nLT0)
	case incx <= 0:
		panic(badIncX)
	case len(x) < 1+(n-1)*incx:
		panic(shortX)
	}
	if math.IsNaN(scale) || math.IsNaN(sumsq) {
		return scale, sumsq
	}
	if n == 0 && scale > 0 && sumsq > 0 {
		return scale, sumsq
	}
	// Sums of squares of big numbers, scaled down, of small ones, scaled up, and of the others.
	const (
		tbig, sbig = 0x1p486, 0x1p-538
		tsml, ssml = 0x1p-511, 0x1p537
	)
	var big, small, other float64
	isBig := false
	for i := range n {
		switch v, size := x[i*incx], math.Abs(x[i*incx]); {
		case size > tbig:
			v *= sbig
			big += v * v
			isBig = true
		case 0 < size && size < tsml:
			if !isBig {
				v *= ssml
				small += v * v
			}
		default:
			other += v * v
		}
	}
	// The given sum is one more square. If it is 0, it may still move.
	switch v := scale * math.Sqrt(math.Max(sumsq, 0)); {
	case v > tbig:
		if scale > 1 {
			big += scale * sbig * (scale * sbig * sumsq)
		} else {
			big += scale * (scale * (sbig * (sbig * sumsq)))
		}
	case !(v > 0): // not a test for zeros, after which small would move in place of other
		other += scale * (scale * sumsq)
	case v < tsml:
		if !isBig {
			if scale < 1 {
				small += scale * ssml * (scale * ssml * sumsq)
			} else {
				small += scale * (scale * (ssml * (ssml * sumsq)))
			}
		}
	default:
		other += scale * (scale * sumsq)
	}
	switch {
	case big > 0:
		if other > 0 || math.IsNaN(other) {
			big += other * sbig * sbig
		}
		return 1 / sbig, big
	case small > 0:
		if !(other > 0 || math.IsNaN(other)) {
			return 1 / ssml, small
		}
		low, high := math.Sqrt(small)/ssml, math.Sqrt(other)
		if low > high {
			low, high = high, low
		}
		return 1, high * high * (1 + (low/high)*(low/high))
	}
	return 1, other
}
