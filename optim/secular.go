package optim

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// A secular has a factorisation J·P = Q·R and finds the Levenberg–Marquardt parameter for it (Moré 1978): the par ≥ 0
// for which the solution p of
//
//	min ‖J·p - b‖² + par·‖D·p‖²
//
// has ‖D·p‖ within a tenth of delta, or 0 if the solution with par = 0 is shorter. It applies Newton's method to
// 1/‖D·p‖, which is nearly linear in par, within bounds.
type secular struct {
	n                int
	r                []float64 // the upper triangle R, n×n by rows
	pivot            []int     // column j of R is column pivot[j] of J
	diag             []float64 // D, which the caller may change
	s                []float64 // the triangle of R with par·D eliminated
	row, w, v, sdiag []float64
}

func newSecular(n int, diag []float64) *secular {
	f := &secular{n: n, diag: diag, pivot: make([]int, n)}
	room := make([]float64, 2*n*n+4*n)
	next := func(k int) (part []float64) { part, room = room[:k:k], room[k:]; return part }
	f.r, f.s = next(n*n), next(n*n)
	f.row, f.w, f.v, f.sdiag = next(n), next(n), next(n), next(n)
	return f
}

// solve writes the solution for the right-hand side with qtb, the first n elements of Qᵀb, to p, and returns the
// parameter. It starts from par.
func (f *secular) solve(p, qtb []float64, delta, par float64) float64 {
	const tiny = 0x1p-1022
	full := f.gaussNewton(p, qtb)
	length := norm2(f.v, f.diag, p)
	excess := length - delta
	if excess <= 0.1*delta {
		return 0
	}
	// The Newton step for par = 0 is a lower bound if J has full rank; the gradient gives an upper one.
	lower := 0.0
	if full {
		t := f.derivative(f.r, nil, length)
		lower = excess / delta / t / t
	}
	for j, at := range f.pivot {
		sum := 0.0
		for i := range j + 1 {
			sum += f.r[i*f.n+j] * qtb[i]
		}
		f.w[j] = sum / f.diag[at]
	}
	gnorm := floats.Norm(f.w, 2)
	upper := gnorm / delta
	if upper == 0 {
		upper = tiny / min(delta, 0.1)
	}
	par = min(max(par, lower), upper)
	if par == 0 {
		par = gnorm / length
	}
	for iteration := 1; ; iteration++ {
		if par == 0 {
			par = max(tiny, 0.001*upper)
		}
		f.damped(p, qtb, math.Sqrt(par))
		length = norm2(f.v, f.diag, p)
		before := excess
		excess = length - delta
		if math.Abs(excess) <= 0.1*delta || lower == 0 && excess <= before && before < 0 || iteration == 10 {
			return par
		}
		t := f.derivative(f.s, f.sdiag, length)
		correction := excess / delta / t / t
		if excess > 0 {
			lower = max(lower, par)
		} else if excess < 0 {
			upper = min(upper, par)
		}
		par = max(lower, par+correction)
	}
}

// gaussNewton writes the solution with par = 0 to p, the basic one if R is singular, and reports whether it is not.
func (f *secular) gaussNewton(p, qtb []float64) (full bool) {
	rank := f.n
	for j := range f.n {
		if f.r[j*f.n+j] == 0 {
			rank = j
			break
		}
	}
	copy(f.w, qtb)
	clear(f.w[rank:])
	f.back(f.w[:rank], f.r, nil)
	for j, at := range f.pivot {
		p[at] = f.w[j]
	}
	return rank == f.n
}

// back solves T·y = w in place, for the leading triangle of t whose diagonal is diag, or in t if that is nil.
func (f *secular) back(w, t, diag []float64) {
	for i := len(w) - 1; i >= 0; i-- {
		row := t[i*f.n : i*f.n+len(w)]
		sum := w[i]
		for j := i + 1; j < len(w); j++ {
			sum -= row[j] * w[j]
		}
		if diag != nil {
			w[i] = sum / diag[i]
		} else {
			w[i] = sum / row[i]
		}
	}
}

// derivative returns ‖T⁻ᵀ·Pᵀ·D²·p‖/‖D·p‖, by which the parameter of the next Newton step follows. f.v is D·p, of the
// length given.
func (f *secular) derivative(t, diag []float64, length float64) float64 {
	n := f.n
	for j, at := range f.pivot {
		f.w[j] = f.diag[at] * (f.v[at] / length)
	}
	for j := range n { // Tᵀ·y = w, by rows of T
		d := t[j*n+j]
		if diag != nil {
			d = diag[j]
		}
		f.w[j] /= d
		for i := j + 1; i < n; i++ {
			f.w[i] -= t[j*n+i] * f.w[j]
		}
	}
	return floats.Norm(f.w, 2)
}

// damped writes the solution with the rows root·D below R to p. Givens rotations eliminate these rows; the triangle is
// then in f.s, with its diagonal in f.sdiag.
func (f *secular) damped(p, qtb []float64, root float64) {
	n := f.n
	copy(f.s, f.r)
	copy(f.w, qtb)
	for j, at := range f.pivot {
		clear(f.row[j:])
		f.row[j] = root * f.diag[at]
		extra := 0.0 // the right-hand side of the row
		for k := j; k < n; k++ {
			if f.row[k] == 0 {
				continue
			}
			a, b := f.s[k*n+k], f.row[k]
			h := math.Hypot(a, b)
			c, s := a/h, b/h
			row := f.s[k*n : (k+1)*n]
			row[k] = h
			f.w[k], extra = c*f.w[k]+s*extra, c*extra-s*f.w[k]
			for i := k + 1; i < n; i++ {
				row[i], f.row[i] = c*row[i]+s*f.row[i], c*f.row[i]-s*row[i]
			}
		}
	}
	rank := n
	for j := range n {
		if f.sdiag[j] = f.s[j*n+j]; f.sdiag[j] == 0 && rank == n {
			rank = j
		}
	}
	clear(f.w[rank:])
	f.back(f.w[:rank], f.s, f.sdiag)
	for j, at := range f.pivot {
		p[at] = f.w[j]
	}
}

// applyR writes R·Pᵀ·p to dst.
func (f *secular) applyR(dst, p []float64) {
	for i := range f.n {
		sum := 0.0
		for j := i; j < f.n; j++ {
			sum += f.r[i*f.n+j] * p[f.pivot[j]]
		}
		dst[i] = sum
	}
}
