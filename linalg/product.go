package linalg

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"
)

// mulOp is the product of op(A), m×k, and op(B), k×n, where op transposes if ta or tb is set. With C = A·B the
// derivatives are Ċ = Ȧ·B + A·Ḃ, Ā = C̄·Bᵀ and B̄ = Aᵀ·C̄ (Giles 2008, section 2.2.2).
type mulOp struct {
	m, k, n int
	ta, tb  bool
}

func (o mulOp) name() string {
	return fmt.Sprintf("mul %dx%d%s %dx%d%s", o.m, o.k, tick(o.ta), o.k, o.n, tick(o.tb))
}

// tick marks a transposed operand.
func tick(t bool) string {
	if t {
		return "ᵀ"
	}
	return ""
}

func (o mulOp) outputs() int { return o.m * o.n }

func (o mulOp) value(y, x []float64) {
	a, b := x[:o.m*o.k], x[o.m*o.k:]
	switch {
	case len(y) == 0:
	case o.k == 0:
		clear(y)
	case o.m == 1 && o.n == 1:
		y[0] = blas64.Dot(vector(a), vector(b))
	case o.n == 1:
		blas64.Gemv(transposeIf(o.ta), 1, o.matrix(a, o.m, o.k, o.ta), vector(b), 0, vector(y))
	case o.m == 1:
		blas64.Gemv(transposeIf(!o.tb), 1, o.matrix(b, o.k, o.n, o.tb), vector(a), 0, vector(y))
	default:
		blas64.Gemm(transposeIf(o.ta), transposeIf(o.tb), 1, o.matrix(a, o.m, o.k, o.ta),
			o.matrix(b, o.k, o.n, o.tb), 0, dense(y, o.m, o.n))
	}
}

// matrix returns the stored matrix a, whose transpose is r×c if t is set, and which is r×c itself otherwise.
func (o mulOp) matrix(a []float64, r, c int, t bool) blas64.General {
	if t {
		r, c = c, r
	}
	return dense(a, r, c)
}

func (o mulOp) push(x, _, xdot array) array {
	k := o.m * o.k
	out := x.zeros(o.m * o.n)
	if d := xdot.part(0, k); !d.isZero() {
		out = out.plus(apply(o, d, x.part(k, x.len())))
	}
	if d := xdot.part(k, x.len()); !d.isZero() {
		out = out.plus(apply(o, x.part(0, k), d))
	}
	return out
}

func (o mulOp) pull(x, _, g array) array {
	if g.isZero() {
		return x.zeros(x.len())
	}
	a, b := x.part(0, o.m*o.k), x.part(o.m*o.k, x.len())
	var abar, bbar array
	if o.ta {
		abar = apply(mulOp{o.k, o.n, o.m, o.tb, true}, b, g)
	} else {
		abar = apply(mulOp{o.m, o.n, o.k, false, !o.tb}, g, b)
	}
	if o.tb {
		bbar = apply(mulOp{o.n, o.m, o.k, true, o.ta}, g, a)
	} else {
		bbar = apply(mulOp{o.k, o.m, o.n, !o.ta, false}, a, g)
	}
	return join(abar, bbar)
}

// groups implements groupedOp: an element of the product is bilinear in a row of op(A) and a column of op(B).
func (o mulOp) groups() (groups [][]int, outputs [][2]int, curved bool) {
	for i := range o.m {
		if o.ta {
			groups = append(groups, seq(i, o.m, o.k))
		} else {
			groups = append(groups, seq(i*o.k, 1, o.k))
		}
	}
	for j := range o.n {
		if o.tb {
			groups = append(groups, seq(o.m*o.k+j*o.k, 1, o.k))
		} else {
			groups = append(groups, seq(o.m*o.k+j, o.n, o.k))
		}
	}
	for i := range o.m {
		for j := range o.n {
			outputs = append(outputs, [2]int{i, o.m + j})
		}
	}
	return groups, outputs, false
}

// symMulOp is the product of the symmetric matrix with lower triangle S, n×n, and B, n×m.
type symMulOp struct{ n, m int }

func (o symMulOp) name() string { return fmt.Sprintf("symmul %dx%d %dx%d", o.n, o.n, o.n, o.m) }
func (o symMulOp) outputs() int { return o.n * o.m }

func (o symMulOp) value(y, x []float64) {
	s, b := x[:packed(o.n)], x[packed(o.n):]
	if len(y) == 0 {
		return
	}
	w := borrow(o.n * o.n)
	unpackSymmetric(w.f, s, o.n)
	mulOp{o.n, o.n, o.m, false, false}.apply(y, w.f, b)
	works.Put(w)
}

// apply is value for two arguments that are not contiguous.
func (o mulOp) apply(y, a, b []float64) {
	if o.n == 1 {
		blas64.Gemv(transposeIf(o.ta), 1, o.matrix(a, o.m, o.k, o.ta), vector(b), 0, vector(y))
		return
	}
	blas64.Gemm(transposeIf(o.ta), transposeIf(o.tb), 1, o.matrix(a, o.m, o.k, o.ta),
		o.matrix(b, o.k, o.n, o.tb), 0, dense(y, o.m, o.n))
}

func (o symMulOp) push(x, _, xdot array) array {
	k := packed(o.n)
	out := x.zeros(o.n * o.m)
	if d := xdot.part(0, k); !d.isZero() {
		out = out.plus(apply(o, d, x.part(k, x.len())))
	}
	if d := xdot.part(k, x.len()); !d.isZero() {
		out = out.plus(apply(o, x.part(0, k), d))
	}
	return out
}

func (o symMulOp) pull(x, _, g array) array {
	if g.isZero() {
		return x.zeros(x.len())
	}
	s, b := x.part(0, packed(o.n)), x.part(packed(o.n), x.len())
	return join(apply(symOuterOp(o), g, b), apply(o, s, g))
}

// symOuterOp is the adjoint of symMulOp with respect to S: the lower triangle of W·Xᵀ + X·Wᵀ with the diagonal halved,
// for W and X, n×m.
type symOuterOp struct{ n, m int }

func (o symOuterOp) name() string { return fmt.Sprintf("symouter %dx%d", o.n, o.m) }
func (o symOuterOp) outputs() int { return packed(o.n) }

func (o symOuterOp) value(y, x []float64) {
	w, v := x[:o.n*o.m], x[o.n*o.m:]
	switch {
	case o.n == 0:
		return
	case o.m == 0:
		clear(y)
		return
	case o.m == 1:
		for i := range o.n {
			row := y[tri(i, 0):tri(i+1, 0)]
			wi, vi := w[i], v[i]
			for j := range row {
				row[j] = wi*v[j] + w[j]*vi
			}
			row[i] = wi * vi
		}
		return
	}
	t := borrow(o.n * o.n)
	mulOp{o.n, o.m, o.n, false, true}.apply(t.f, w, v)
	for i := range o.n {
		row := y[tri(i, 0):tri(i+1, 0)]
		for j := range i {
			row[j] = t.f[i*o.n+j] + t.f[j*o.n+i]
		}
		row[i] = t.f[i*o.n+i]
	}
	works.Put(t)
}

func (o symOuterOp) push(x, _, xdot array) array {
	k := o.n * o.m
	out := x.zeros(packed(o.n))
	if d := xdot.part(0, k); !d.isZero() {
		out = out.plus(apply(o, d, x.part(k, 2*k)))
	}
	if d := xdot.part(k, 2*k); !d.isZero() {
		out = out.plus(apply(o, x.part(0, k), d))
	}
	return out
}

func (o symOuterOp) pull(x, _, g array) array {
	if g.isZero() {
		return x.zeros(x.len())
	}
	k := o.n * o.m
	return join(apply(symMulOp(o), g, x.part(k, 2*k)), apply(symMulOp(o), g, x.part(0, k)))
}
