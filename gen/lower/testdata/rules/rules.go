// Package rules has functions that call others whose derivatives are written by hand.
package rules

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mathext"
)

// Root is the square root by Newton's method, whose iterations are not differentiated.
//
//nabla:rule tangent=RootTangent pullback=RootPullback
func Root(x float64) float64 {
	if x <= 0 {
		return 0
	}
	y := x
	for math.Abs(y*y-x) > 1e-15*x {
		y = (y + x/y) / 2
	}
	return y
}

// RootTangent is the tangent of Root.
func RootTangent(x, xDot float64) (y, yDot float64) {
	y = Root(x)
	return y, xDot / (2 * y)
}

// RootPullback is the pullback of Root.
func RootPullback(x, yBar float64) (xBar float64) { return yBar / (2 * Root(x)) }

// Squares puts the squares of x into dst and returns their sum.
//
//nabla:rule tangent=squaresTangent pullback=squaresPullback passive=unit
func Squares(dst, x []float64, unit float64) (sum float64) {
	for i, v := range x {
		dst[i] = v * v * unit
		sum += dst[i]
	}
	return sum
}

func squaresTangent(dst, x []float64, unit float64, dstDot, xDot []float64) (sum, sumDot float64) {
	if xDot == nil {
		clear(dstDot)
	}
	for i := range xDot {
		dstDot[i] = 2 * x[i] * xDot[i] * unit
		sumDot += dstDot[i]
	}
	return Squares(dst, x, unit), sumDot
}

func squaresPullback(dst, x []float64, unit float64, dstBar, xBar []float64, sumBar float64) {
	for i, v := range x {
		t := dstBar[i] + sumBar
		dstBar[i] = 0
		if xBar != nil {
			xBar[i] += 2 * v * t * unit
		}
	}
}

// Pair has a method with a rule.
type Pair struct{ A, B []float64 }

// Inner is the inner product.
//
//nabla:rule tangent=InnerTangent pullback=InnerPullback
func (p *Pair) Inner(c float64) float64 { return c * floats.Dot(p.A, p.B) }

// InnerTangent is the tangent of Inner.
func InnerTangent(p *Pair, c float64, pDot *Pair, cDot float64) (v, vDot float64) {
	v = p.Inner(c)
	vDot = cDot * floats.Dot(p.A, p.B)
	if pDot != nil {
		vDot += c * (floats.Dot(pDot.A, p.B) + floats.Dot(p.A, pDot.B))
	}
	return v, vDot
}

// InnerPullback is the pullback of Inner.
func InnerPullback(p *Pair, c float64, pBar *Pair, vBar float64) (cBar float64) {
	if pBar != nil {
		floats.AddScaled(pBar.A, c*vBar, p.B)
		floats.AddScaled(pBar.B, c*vBar, p.A)
	}
	return vBar * floats.Dot(p.A, p.B)
}

// Roots calls Root in a loop.
func Roots(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += Root(1+v*v) * v
	}
	return sum
}

// Overwritten reads memory before and after it is written by a rule.
func Overwritten(x []float64) float64 {
	y := make([]float64, len(x))
	copy(y, x)
	s := Squares(y, y, 0.5)
	for i := range 3 {
		s += Squares(x, y, 0.5) * y[i] * x[0]
		y[i] = x[i] * s
		s *= 0.1
	}
	return s + floats.Dot(x, y)
}

// Still has a rule whose input does not move.
func Still(x []float64) float64 {
	y := []float64{1, 2, 3, 4}
	Squares(x[:4], y, 2)
	return x[0] * x[1]
}

// Method calls a method that has a rule.
func Method(x []float64, c float64) float64 {
	p := Pair{A: x[:2], B: x[2:4]}
	return p.Inner(c*c) * x[0]
}

// Vectors calls gonum's floats.
func Vectors(x []float64, a float64) float64 {
	n := len(x)
	y := floats.AddTo(make([]float64, n), x, []float64{1, 2, 3, 4})
	for range 2 {
		floats.Mul(y, x)
		floats.AddScaled(y, a*a, x)
	}
	z := floats.ScaleTo(make([]float64, n), a, y)
	floats.Div(z, y)
	floats.Add(z, z)
	w := make([]float64, n)
	floats.CumSum(w, floats.SubTo(z, y, z))
	return floats.LogSumExp(w) + floats.Norm(y, 2)*floats.Max(x) + floats.Distance(x, w, 1) + floats.Dot(y, y)
}

// Matrices calls gonum's blas64.
func Matrices(x []float64, a float64) float64 {
	m := blas64.General{Rows: 2, Cols: 2, Stride: 2, Data: x}
	c := blas64.General{Rows: 2, Cols: 2, Stride: 2, Data: make([]float64, 4)}
	blas64.Gemm(blas.NoTrans, blas.Trans, a, m, m, 0, c)
	u := blas64.Vector{N: 2, Data: x[:2], Inc: 1}
	v := blas64.Vector{N: 2, Data: make([]float64, 4), Inc: 2}
	blas64.Copy(u, v)
	blas64.Gemv(blas.Trans, a, c, u, 0.5*a, v)
	blas64.Ger(1, u, v, c)
	for i := range 2 {
		c.Data[3*i] += 30
	}
	blas64.Trsv(blas.NoTrans, blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: 2, Stride: 2, Data: c.Data}, v)
	return blas64.Nrm2(v) + blas64.Dot(u, v)*c.Data[1]
}

// Special calls functions of a number.
func Special(x, a float64) float64 {
	l, sign := math.Lgamma(x * a)
	s, c := math.Sincos(x)
	whole, frac := math.Modf(a)
	f, e := math.Frexp(x)
	y := float64(sign)*l + s*c*frac + whole + f*float64(e)
	return y + mathext.Beta(x, a) + mathext.GammaIncReg(2.5, x) + mathext.Digamma(a)*mathext.RegIncBeta(2, 3, 0.1*x)
}

// Followed calls functions whose rules do not give what is asked for in several directions
// and of shapes, and which can be looked into.
func Followed(x []float64, a float64) float64 {
	floats.Mul(x, x)
	return floats.LogSumExp(x)*floats.Prod(x) + mathext.RegIncBeta(1.5, 2, 0.3*x[0])*mathext.RegIncBeta(2, 3, 0.2*a)
}

// Carried writes in each iteration to what the next one reads.
func Carried(x []float64) (s float64) {
	y := []float64{1, 2, 3}
	for _, v := range x {
		floats.Scale(v, y)
		s += y[0] * v * floats.Sum(y)
	}
	return s
}

// Owned has memory for each iteration.
func Owned(x []float64) (s float64) {
	for _, v := range x {
		w := make([]float64, len(x))
		floats.AddScaledTo(w, x, v, x)
		floats.Mul(w, x)
		s += floats.Dot(w, w)
	}
	return s
}

// Summed adds to memory in each iteration.
func Summed(x []float64) float64 {
	y, one := []float64{1, 2, 3}, []float64{3, 1, 2}
	for _, v := range x {
		floats.AddScaled(y, v*v, one)
	}
	return floats.Dot(y, one)
}

// Windows writes to a part of a slice in each iteration, and to the arguments.
func Windows(x []float64) (s float64) {
	a := make([]float64, 2*len(x))
	for i, v := range x {
		row := a[2*i : 2*i+2]
		row[0], row[1] = v, 2*v
		floats.Scale(v, row)
		floats.Scale(v, x[:i])
		s += floats.Sum(row) * x[0]
	}
	return s
}

// Shape has a derivative by a parameter of a rule that has none.
func Shape(x float64) float64 { return mathext.Zeta(x, 2) }

// Forwards has a rule that says how to go forwards only.
//
//nabla:rule tangent=ForwardsTangent
func Forwards(x float64) float64 { return 2 * x }

// ForwardsTangent is the tangent of Forwards.
func ForwardsTangent(x, xDot float64) (y, yDot float64) { return 2 * x, 2 * xDot }

// Backwards has a rule that says how to go backwards only.
//
//nabla:rule pullback=BackwardsPullback
func Backwards(x float64) float64 { return 2 * x }

// BackwardsPullback is the pullback of Backwards.
func BackwardsPullback(x, yBar float64) float64 { return 2 * yBar }

// OneWay calls Forwards.
func OneWay(x float64) float64 { return Forwards(x) }

// OtherWay calls Backwards.
func OtherWay(x float64) float64 { return Backwards(x) }

// Additions overwrites memory by what no pullback reads.
func Additions(x []float64) float64 {
	for range 3 {
		floats.Add(x, x)
	}
	return floats.Sum(x)
}

// Products overwrites memory that pullbacks read.
func Products(x []float64) float64 {
	for range 3 {
		floats.Mul(x, x)
	}
	return floats.Sum(x)
}

// Returned writes to memory under the name that a rule gave back.
func Returned(x []float64) float64 {
	d := make([]float64, 4)
	one := []float64{1, 2, 3, 4}
	r := floats.AddTo(d, one, one)
	r[1] = x[0] * x[1]
	s := r[0] * r[1] * x[2]
	d[1] = 7 * x[3]
	return s + d[1]*r[1]
}

// Addressed puts what a rule gives where there is a pointer to.
func Addressed(x float64) float64 {
	s, c := math.Sincos(x)
	p := &s
	*p *= c
	x, _ = math.Modf(s)
	x, s = math.Sincos(s + x)
	return x * *p
}

// Least is the least of some numbers.
//
//nabla:rule tangent=LeastTangent pullback=LeastPullback
func Least(x ...float64) float64 { return x[floats.MinIdx(x)] }

// LeastTangent is the tangent of Least.
func LeastTangent(x, xDot []float64) (v, vDot float64) {
	i := floats.MinIdx(x)
	return x[i], xDot[i]
}

// LeastPullback is the pullback of Least.
func LeastPullback(x, xBar []float64, vBar float64) { xBar[floats.MinIdx(x)] += vBar }

// Point is a point.
type Point struct {
	X, Y float64
	Name string
}

// Turn turns a point.
//
//nabla:rule tangent=TurnTangent pullback=TurnPullback
func Turn(p Point, by float64) (q Point, radius float64) {
	s, c := math.Sincos(by)
	return Point{c*p.X - s*p.Y, s*p.X + c*p.Y, p.Name}, math.Hypot(p.X, p.Y)
}

// TurnTangent is the tangent of Turn.
func TurnTangent(p Point, by float64, pDot Point, byDot float64) (q Point, radius float64, qDot Point, radiusDot float64) {
	q, radius = Turn(p, by)
	s, c := math.Sincos(by)
	qDot = Point{X: c*pDot.X - s*pDot.Y - q.Y*byDot, Y: s*pDot.X + c*pDot.Y + q.X*byDot}
	return q, radius, qDot, (p.X*pDot.X + p.Y*pDot.Y) / radius
}

// TurnPullback is the pullback of Turn.
func TurnPullback(p Point, by float64, qBar Point, radiusBar float64) (pBar Point, byBar float64) {
	q, radius := Turn(p, by)
	s, c := math.Sincos(by)
	pBar.X = c*qBar.X + s*qBar.Y + p.X/radius*radiusBar
	pBar.Y = c*qBar.Y - s*qBar.X + p.Y/radius*radiusBar
	return pBar, q.X*qBar.Y - q.Y*qBar.X
}

// Values calls functions of any number of numbers and of structs.
func Values(x []float64) float64 {
	p := Point{X: x[0], Y: x[1] * x[2]}
	sum := 0.0
	for range 2 {
		var r float64
		p, r = Turn(p, x[3])
		sum += r * Least(x[0]*x[1], 5*x[2], p.X+2)
		_, _ = Turn(p, r)
	}
	q, _ := Turn(p, 2)
	_, r := Turn(q, x[0])
	return sum*p.Y + q.X*r
}
