package implicit

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"
)

// A dense is the factorisation of a square matrix whose rows and columns are scaled to a largest element of about 1, so
// that its condition does not depend on the units of equations and unknowns. All factors are powers of 2.
type dense struct {
	n         int
	symmetric bool
	square    *mat.Dense    // diag(rows)·A·diag(cols)
	lower     *mat.SymDense // the same of a symmetric A, with equal factors
	rows      []float64
	cols      []float64
	lu        mat.LU
	chol      mat.Cholesky
	b, x      *mat.VecDense
}

// errSingular is returned for matrices that are singular, or symmetric ones that are not positive definite, to working
// precision.
var errSingular = errors.New("singular")

func newDense(n int, symmetric bool) *dense {
	d := &dense{n: n, symmetric: symmetric, rows: make([]float64, n), cols: make([]float64, n),
		b: mat.NewVecDense(n, nil), x: mat.NewVecDense(n, nil)}
	if symmetric {
		d.lower = mat.NewSymDense(n, nil)
	} else {
		d.square = mat.NewDense(n, n, nil)
	}
	return d
}

// factorize factorises the leading square of a, of which the mean with its transpose if it is symmetric.
func (d *dense) factorize(a mat.Matrix) error {
	cond := 0.0
	if d.symmetric {
		for i := range d.n {
			v := a.At(i, i)
			if !(v > 0) {
				return errSingular
			}
			d.rows[i] = power(math.Sqrt(v))
		}
		for i, r := range d.rows {
			for k := i; k < d.n; k++ {
				d.lower.SetSym(i, k, r*((a.At(i, k)+a.At(k, i))/2)*d.rows[k])
			}
		}
		if !d.chol.Factorize(d.lower) {
			return errSingular
		}
		copy(d.cols, d.rows)
		cond = d.chol.Cond()
	} else {
		clear(d.rows)
		clear(d.cols)
		for i := range d.n {
			for k := range d.n {
				d.rows[i] = max(d.rows[i], math.Abs(a.At(i, k)))
			}
			d.rows[i] = power(d.rows[i])
		}
		for i, r := range d.rows {
			for k := range d.n {
				v := r * a.At(i, k)
				d.cols[k] = max(d.cols[k], math.Abs(v))
				d.square.Set(i, k, v)
			}
		}
		for k, c := range d.cols {
			d.cols[k] = power(c)
			for i := range d.n {
				d.square.Set(i, k, d.square.At(i, k)*d.cols[k])
			}
		}
		d.lu.Factorize(d.square)
		cond = d.lu.Cond()
	}
	// The rounding errors of the elements alone change solutions by cond·ε relatively.
	if !(cond < 1/(16*0x1p-52*float64(d.n))) {
		return errSingular
	}
	return nil
}

// power returns a power of 2 near 1/v, and 1 if v is 0 or not finite.
func power(v float64) float64 {
	if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return 1
	}
	_, e := math.Frexp(v)
	return math.Ldexp(1, max(-1022, min(1022, -e)))
}

// solve writes the solution for the right-hand side b, of the transposed matrix if trans is set, to dst.
func (d *dense) solve(dst, b []float64, trans bool) error {
	left, right := d.rows, d.cols
	if trans {
		left, right = right, left
	}
	for i, v := range b {
		d.b.SetVec(i, left[i]*v)
	}
	var err error
	if d.symmetric {
		err = d.chol.SolveVecTo(d.x, d.b)
	} else {
		err = d.lu.SolveVecTo(d.x, trans, d.b)
	}
	if c := mat.Condition(0); errors.As(err, &c) {
		err = nil // matrices near singular ones are refused by factorize
	}
	for i, r := range right {
		dst[i] = r * d.x.AtVec(i)
	}
	return err
}
