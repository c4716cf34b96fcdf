package direct

import "math"

// refactorize computes the factors with the pattern and the pivots of the last ones, and reports whether all pivots are
// at least threshold times the largest entry of their column and larger than suspect.
func (f *lu) refactorize(data []float64, threshold float64) bool {
	f.valid = false
	f.equilibrate(data)
	clear(f.x)
	ptr, idx := f.pattern.ColPtr(), f.pattern.RowIndex()
	x := f.x
	for k, col := range f.q {
		largest := 0.0
		for e := ptr[col]; e < ptr[col+1]; e++ {
			v := data[e] * f.r[idx[e]]
			x[f.position[idx[e]]] = v
			largest = max(largest, math.Abs(v))
		}
		for e, end := f.up[k], f.up[k+1]; e < end; e++ {
			j := f.ui[e]
			if f.run[j] >= 3 && e+3 < end && f.ui[e+3] == j+3 {
				largest = max(largest, f.four(int(j), f.ux[e:e+4]))
				e += 3
				continue
			}
			v := x[j]
			x[j] = 0
			f.ux[e] = v
			largest = max(largest, math.Abs(v))
			if v != 0 {
				subtract(x, f.li[f.lp[j]:f.lp[j+1]], v, f.lx[f.lp[j]:f.lp[j+1]])
			}
		}
		pivot := x[k]
		x[k] = 0
		rows := f.li[f.lp[k]:f.lp[k+1]]
		column := f.lx[f.lp[k]:f.lp[k+1]][:len(rows)]
		below, check := math.Abs(pivot), 0*pivot
		for e, i := range rows {
			v := x[i]
			x[i] = 0
			below = max(below, math.Abs(v))
			check += 0 * v
			column[e] = v / pivot
		}
		if check != 0 || !(math.Abs(pivot) >= threshold*below) || math.Abs(pivot) <= suspect*largest || pivot == 0 {
			return false
		}
		f.d[k] = pivot
	}
	f.valid = true
	return true
}

// four eliminates with the columns j to j+3 of L, which have the same rows below them, and stores the entries of U in
// u. It returns the largest magnitude of these.
func (f *lu) four(j int, u []float64) float64 {
	x := f.x
	a, b := f.lx[f.lp[j]:f.lp[j+1]], f.lx[f.lp[j+1]:f.lp[j+2]]
	c, d := f.lx[f.lp[j+2]:f.lp[j+3]], f.lx[f.lp[j+3]:f.lp[j+4]]
	va := x[j]
	vb := x[j+1] - va*a[0]
	vc := x[j+2] - va*a[1] - vb*b[0]
	vd := x[j+3] - va*a[2] - vb*b[1] - vc*c[0]
	x[j], x[j+1], x[j+2], x[j+3] = 0, 0, 0, 0
	u[0], u[1], u[2], u[3] = va, vb, vc, vd
	subtract4(x, f.li[f.lp[j+3]:f.lp[j+4]], va, vb, vc, vd, a[3:], b[2:], c[1:], d)
	return max(math.Abs(va), math.Abs(vb), math.Abs(vc), math.Abs(vd))
}

// solve stores the solution of A·x = b, or of Aᵀ·x = b, in dst, which may be b.
func (f *lu) solve(dst, b []float64, trans bool) {
	if trans {
		f.solveTrans(dst, b)
		return
	}
	y := f.y
	for k, i := range f.p {
		y[k] = b[i] * f.r[i]
	}
	for j, v := range y {
		if v = y[j]; v != 0 {
			subtract(y, f.li[f.lp[j]:f.lp[j+1]], v, f.lx[f.lp[j]:f.lp[j+1]])
		}
	}
	for j := f.n - 1; j >= 0; j-- {
		v := y[j] / f.d[j]
		y[j] = v
		if v != 0 {
			subtract(y, f.ui[f.up[j]:f.up[j+1]], v, f.ux[f.up[j]:f.up[j+1]])
		}
	}
	for k, j := range f.q {
		dst[j] = y[k]
	}
}

// solveTrans stores the solution of Aᵀ·x = b in dst: UᵀLᵀ is solved, whose rows are the columns of U and L.
func (f *lu) solveTrans(dst, b []float64) {
	y := f.y
	for k, j := range f.q {
		y[k] = b[j]
	}
	for j := range y {
		y[j] = (y[j] - dot(y, f.ui[f.up[j]:f.up[j+1]], f.ux[f.up[j]:f.up[j+1]])) / f.d[j]
	}
	for j := f.n - 1; j >= 0; j-- {
		y[j] -= dot(y, f.li[f.lp[j]:f.lp[j+1]], f.lx[f.lp[j]:f.lp[j+1]])
	}
	for k, i := range f.p {
		dst[i] = y[k] * f.r[i]
	}
}

// dot returns the inner product of a with the given rows of x.
func dot(x []float64, rows []int32, a []float64) float64 {
	a = a[:len(rows)]
	sum := 0.0
	for k, i := range rows {
		sum += a[k] * x[i]
	}
	return sum
}

// logDet returns the logarithm of the magnitude of the determinant, and its sign.
func (f *lu) logDet() (det, sign float64) {
	sign = parity(f.p) * parity(f.q)
	for k, d := range f.d {
		det += math.Log(math.Abs(d)) - math.Log(f.r[k])
		sign = math.Copysign(sign, sign*d)
	}
	return det, sign
}

// parity returns the sign of a permutation.
func parity(p []int) float64 {
	seen := make([]bool, len(p))
	sign := 1.0
	for i := range p {
		for j := p[i]; !seen[i] && j != i; j = p[j] {
			seen[j] = true
			sign = -sign
		}
	}
	return sign
}
