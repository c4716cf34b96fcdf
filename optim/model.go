package optim

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
)

// A model is the Jacobian J of the residuals at a point.
type model interface {
	// update computes J at x.
	update(p *nabla.JacobianPrep, x []float64) error
	// nonFinite returns the row and the value of an element that is NaN or infinite, -1 if there is none.
	nonFinite() (row int, v float64)
	// norms stores the norms of the columns.
	norms(dst []float64)
	// apply stores J·v, and transposed stores Jᵀ·w.
	apply(dst, v []float64)
	transposed(dst, w []float64)
	// damped stores the minimiser of ‖J·p + r‖² + ‖root·D·p‖², with D = diag(scale), among the p whose elements are
	// zero except for those of free. accuracy is the reduction of the gradient of this problem that is sufficient.
	damped(p, r []float64, root float64, scale []float64, free []bool, accuracy float64)
	// covariance returns (JᵀJ)⁻¹, or a *RankError.
	covariance() (mat.Symmetric, error)
}

// dense is a model with a dense Jacobian.
type dense struct {
	m, n int
	jac  *mat.Dense
	work []float64

	// For lmder: a copy of jac to be factorised, the right-hand side, and the factors of Q.
	qr       blas64.General
	qtb, tau []float64
	perm     []int
	// For damped: the free columns, with the rows of the damping below.
	tall  blas64.General
	rhs   []float64
	index []int
}

func newDense(m, n int) *dense {
	d := &dense{m: m, n: n, jac: mat.NewDense(m, n, nil), qr: general(m, n), qtb: make([]float64, m),
		tau: make([]float64, n), perm: make([]int, n)}
	d.reserve(d.qr)
	return d
}

func general(r, c int) blas64.General {
	return blas64.General{Rows: r, Cols: c, Stride: c, Data: make([]float64, r*c)}
}

// reserve makes the workspace for the factorisation of matrices of the shape of a.
func (d *dense) reserve(a blas64.General) {
	size := [1]float64{}
	lapack64.Geqp3(a, d.perm, d.tau, size[:], -1)
	k := int(size[0])
	lapack64.Ormqr(blas.Left, blas.Trans, a, d.tau, blas64.General{Rows: a.Rows, Cols: 1, Stride: 1,
		Data: make([]float64, a.Rows)}, size[:], -1)
	d.work = make([]float64, max(k, int(size[0]), len(d.work)))
}

func (d *dense) update(p *nabla.JacobianPrep, x []float64) error {
	_, err := p.Dense(d.jac, x)
	return err
}

func (d *dense) nonFinite() (row int, v float64) {
	for i := range d.m {
		if j := nonFinite(d.jac.RawRowView(i)); j >= 0 {
			return i, d.jac.At(i, j)
		}
	}
	return -1, 0
}

func (d *dense) norms(dst []float64) {
	raw := d.jac.RawMatrix()
	for j := range dst {
		dst[j] = blas64.Nrm2(blas64.Vector{N: d.m, Data: raw.Data[j:], Inc: raw.Stride})
	}
}

func (d *dense) apply(dst, v []float64)      { d.product(blas.NoTrans, dst, v) }
func (d *dense) transposed(dst, w []float64) { d.product(blas.Trans, dst, w) }

func (d *dense) product(t blas.Transpose, dst, v []float64) {
	blas64.Gemv(t, 1, d.jac.RawMatrix(), blas64.Vector{N: len(v), Data: v, Inc: 1}, 0,
		blas64.Vector{N: len(dst), Data: dst, Inc: 1})
}

// decompose factorises a with pivoting, in place, and replaces b by Qᵀ·b.
func (d *dense) decompose(a blas64.General, perm []int, tau, b []float64) {
	for j := range perm {
		perm[j] = -1 // free to be pivoted
	}
	lapack64.Geqp3(a, perm, tau, d.work, len(d.work))
	lapack64.Ormqr(blas.Left, blas.Trans, a, tau, blas64.General{Rows: a.Rows, Cols: 1, Stride: 1, Data: b}, d.work,
		len(d.work))
}

// factorise stores the triangle and the permutation of J in f, and the first n elements of Qᵀ·r in qtr.
func (d *dense) factorise(f *secular, qtr, r []float64) {
	raw := d.jac.RawMatrix()
	copy(d.qr.Data, raw.Data)
	copy(d.qtb, r)
	d.decompose(d.qr, f.pivot, d.tau, d.qtb)
	copy(qtr, d.qtb)
	for i := range d.n {
		copy(f.r[i*d.n+i:(i+1)*d.n], d.qr.Data[i*d.n+i:(i+1)*d.n])
	}
}

func (d *dense) damped(p, r []float64, root float64, scale []float64, free []bool, _ float64) {
	if d.index == nil {
		d.tall = general(d.m+d.n, d.n)
		d.rhs, d.index = make([]float64, d.m+d.n), make([]int, 0, d.n)
		d.reserve(d.tall)
	}
	d.index = d.index[:0]
	for j, f := range free {
		if f {
			d.index = append(d.index, j)
		}
	}
	clear(p)
	k := len(d.index)
	if k == 0 {
		return
	}
	a := blas64.General{Rows: d.m, Cols: k, Stride: k, Data: d.tall.Data}
	for i := range d.m {
		from, to := d.jac.RawRowView(i), a.Data[i*k:(i+1)*k]
		for at, j := range d.index { // of the unknowns D·p: columns of one size, whose rank is meaningful
			to[at] = from[j] / scale[j]
		}
		d.rhs[i] = -r[i]
	}
	if root > 0 {
		a.Rows += k
		clear(a.Data[d.m*k : a.Rows*k])
		clear(d.rhs[d.m:a.Rows])
		for at := range k {
			a.Data[(d.m+at)*k+at] = root
		}
	}
	a.Data = a.Data[:a.Rows*k]
	perm, tau, b := d.perm[:k], d.tau[:k], d.rhs[:a.Rows]
	d.decompose(a, perm, tau, b)
	rank := rankOf(a, k)
	b = b[:rank]
	if rank > 0 {
		blas64.Trsv(blas.NoTrans, blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: rank, Stride: k,
			Data: a.Data}, blas64.Vector{N: rank, Data: b, Inc: 1})
	}
	for i, v := range b {
		j := d.index[perm[i]]
		p[j] = v / scale[j]
	}
}

// rankOf returns the numerical rank of the triangle of a factorisation with pivoting.
func rankOf(a blas64.General, n int) int {
	tol := eps * float64(max(a.Rows, n)) * math.Abs(a.Data[0])
	for j := range n {
		if !(math.Abs(a.Data[j*a.Stride+j]) > tol) {
			return j
		}
	}
	return n
}

// covariance returns (JᵀJ)⁻¹ = D⁻¹·P·R⁻¹·R⁻ᵀ·Pᵀ·D⁻¹, from a factorisation of J·D⁻¹ whose columns have the norm 1.
func (d *dense) covariance() (mat.Symmetric, error) {
	scale := make([]float64, d.n)
	d.norms(scale)
	for i := range d.m {
		row := d.qr.Data[i*d.n : (i+1)*d.n]
		copy(row, d.jac.RawRowView(i))
		for j, v := range scale {
			if v > 0 {
				row[j] /= v
			}
		}
	}
	d.decompose(d.qr, d.perm, d.tau, d.qtb)
	if rank := rankOf(d.qr, d.n); rank < d.n {
		return nil, &RankError{rank, d.n}
	}
	lapack64.Trtri(blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: d.n, Stride: d.n, Data: d.qr.Data})
	cov := mat.NewSymDense(d.n, nil)
	for i, a := range d.perm {
		for j := i; j < d.n; j++ {
			b := d.perm[j]
			row, other := d.qr.Data[i*d.n+j:(i+1)*d.n], d.qr.Data[j*d.n+j:(j+1)*d.n]
			cov.SetSym(a, b, floats.Dot(row, other)/scale[a]/scale[b])
		}
	}
	return cov, nil
}
