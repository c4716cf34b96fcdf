// Package funcs has what is special when numbers become Reals.
package funcs

import (
	"fmt"
	"math"
)

// Comparisons: none may be turned round, because of NaN.
func Comparisons(a, b float64, w float64) (n int, r float64) {
	if a < b {
		n += 1
	}
	if !(a < b) {
		n += 2
	}
	if a <= b {
		n += 4
	}
	if a > b || w > a {
		n += 8
	}
	if a >= b && 2 >= a {
		n += 16
	}
	if a == b {
		n += 32
	}
	if a != b {
		n += 64
	}
	if !(a != b) {
		n += 128
	}
	if 0 == a*0 {
		n += 256
	}
	return n, a + b*w
}

func Arithmetic(a, b, w float64) float64 {
	s := 1/a + w/b - 2/b
	s += a - 0.5
	s -= b - w
	s += w - a
	s -= 3
	s += 2 + b
	s *= 0.25
	s += a*3 + 4*b + w*a + a*w*w + (a-b)*(a-b) + a*a
	s = -s
	s -= -a
	s /= w*w + 1
	s += math.Pow(a*a+1, w) + math.Pow(2, b) + math.Pow(b*b+0.5, a) + math.Pi*a - (0.3-0.8)*b
	return +s * float64(a*b)
}

func Functions(a, b float64, n int) float64 {
	s := math.Abs(a) + math.Acosh(1+b*b) + math.Atanh(math.Tanh(a)/2) + math.Ceil(a)*b + math.Copysign(b, a) +
		math.Dim(a, b) + math.Erfinv(math.Erf(a)/2) + math.Erfcinv(math.Erfc(a)) + math.Exp2(b) + math.Floor(b)*a
	s += math.J0(a) + math.J1(b) + math.Jn(2, a) + math.Ldexp(a, n) + math.Log10(1+a*a) + math.Mod(a, 0.7) +
		math.Remainder(b, 0.7) + math.Round(a)*b + math.RoundToEven(b)*a + math.Trunc(a) + math.Y0(1+b*b) +
		math.Y1(1+a*a) + math.Yn(2, 1+b*b) + math.Gamma(1+a*a) + math.Asin(math.Sin(a)/2) + math.FMA(a, 2, b)
	sin, cos := math.Sincos(a)
	whole, rest := math.Modf(b)
	frac, exp := math.Frexp(a)
	l, sign := math.Lgamma(b)
	s += sin*cos + whole*rest*3 + frac*float64(exp) + l*float64(sign)
	if sin, _ = math.Sincos(0.5); sin > a {
		s += sin
	}
	return s
}

func Predicates(a, b float64) (n int) {
	if math.IsNaN(a) {
		n = 1
	}
	if math.IsInf(a, 0) || math.IsInf(b, -1) {
		n += 2
	}
	if math.Signbit(a) {
		n += 4
	}
	n += 8 * math.Ilogb(b)
	return n + int(math.Float64bits(a)>>60)
}

func Extremes(a, b, w float64) float64 {
	s := min(a, b) - max(b, a, w) + min(w, a) + max(a, 0) - min(1, b) + min(a, 1, b, 2) + min(a)
	return s + math.Min(a, w) + math.Max(3, b)*max(w, 2)
}

func NotANumber(a, b float64) float64 { return min(a, b) }

func Least(a float64, w float64) float64 { return max(w, a) }

// Indices are integers made of numbers.
func Indices(x []float64, table []float64) float64 {
	s := 0.0
	for _, v := range x {
		k := int(math.Abs(v)*3) % len(table)
		s += table[k] * v * x[int(table[k]*table[k])%len(x)]
		s += float64(int8(v)) + float64(uint16(math.Abs(v)))*v + float64(int64(v*100)) + float64(uint64(math.Abs(v)))
		for range int(v) {
			s *= 1.5
		}
	}
	switch x[0] {
	case 1, 2:
		s++
	}
	return s
}

type vec []float64

type celsius float64

type point struct {
	X, Y  float64
	tags  []int
	name  string
	temp  celsius
	inner [2]vec
}

type tree struct {
	point
	Left, Right *tree
	w           [3]float64
}

func (t *tree) sum(scale float64) float64 {
	if t == nil {
		return 0
	}
	t.X *= scale
	return t.X*t.Y + t.Left.sum(scale*0.5) + t.Right.sum(2) + t.w[1]*float64(t.temp)
}

func build(x []float64, n int) *tree {
	if n >= len(x) {
		return nil
	}
	t := &tree{point: point{X: x[n], Y: float64(n), temp: celsius(x[0])}, Left: build(x, 2*n+1)}
	t.Right = build(x, 2*n+2)
	t.w = [3]float64{1, x[n], 3}
	return t
}

func Trees(x []float64) float64 {
	t := build(x, 0)
	u := *t
	u.Y += float64(u.temp * 2)
	return t.sum(0.9) + u.sum(x[1])
}

// Lifted: what was plain comes to stand among Reals.
func Lifted(x []float64, w []float64) float64 {
	p := point{X: 1, Y: 2, name: "p"}
	q := p
	q.X = x[0]
	if len(w) > 2 {
		q = p
	}
	var grid [2][2]float64
	grid[1][0] = w[1]
	g := grid
	g[0][1] = x[1]
	g2 := g
	g = grid
	list := append([]float64{x[0]}, w...)
	copy(list[2:], w)
	list = append(list, w[0], x[0])
	buffer := constants(len(x))
	buffer[0] *= x[0]
	corners := [3][2]float64{{1, 2}, {w[0], 4}, {5, 6}}
	points := make([][2]float64, 1, 4)
	points = append(points, [2]float64{x[0], 1})
	points = append(points, corners[:2]...)
	s := q.X*q.Y + g[1][0]*x[0] + g2[0][1] + points[2][1]*x[0] + points[1][0]
	for i, v := range list {
		s += v * float64(i) * list[0]
	}
	for _, v := range buffer {
		s += v
	}
	v, k := scaled(w, x[1])
	return s + v*x[0] + float64(k)
}

// constants gives memory that is passive by itself.
func constants(n int) []float64 {
	c := make([]float64, n)
	for i := range c {
		c[i] = float64(i) + 0.5
	}
	return c
}

// scaled is called with plain numbers and gives plain ones.
func scaled(w []float64, x float64) (float64, int) {
	s, v := 0.0, 1.0
	for _, u := range w {
		s += u
	}
	v, s = s, s*2
	_ = x
	return v, len(w)
}

func Equalities(a, b float64) (n int) {
	p, q := point2{A: a, B: [2]float64{b, 1}}, point2{A: b, B: [2]float64{a, 1}}
	if p == q {
		n++
	}
	if p != q {
		n += 2
	}
	if p.B == q.B || p.B != [2]float64{} {
		n += 4
	}
	r := &p
	if r != nil && r == &p && *r == p {
		n += 8
	}
	return n
}

type point2 struct {
	A float64
	B [2]float64
	_ float64
}

func Messages(x []float64) float64 {
	if x[0] < 0 {
		panic(fmt.Sprintf("%v is negative", x[0]))
	}
	if x[1] > 2 {
		panic(x[1])
	}
	return x[len(x)-1] * x[0]
}

type pair[T any] struct{ first, second T }

func (p *pair[T]) swap() { p.first, p.second = p.second, p.first }

func Generic(a, b float64) float64 {
	p := pair[float64]{a, 2 * b}
	p.swap()
	q := pair[vec]{vec{a}, nil}
	q.swap()
	if q.first == nil {
		return p.first * q.second[0]
	}
	return p.second
}

func Methods(v vec) float64 { return v.norm() + vec(v[1:]).norm() }

func (v vec) norm() float64 {
	s := 0.0
	for _, x := range v {
		s += x * x
	}
	return math.Sqrt(s)
}

func InPlace(y, x []float64) {
	for i := range y {
		y[i] = 0
	}
	for i, v := range x {
		y[i%len(y)] += v * x[0]
	}
	y[0] = 3
}

// Names that the file needs for something else.
func Names(nabla, pointReal float64) float64 {
	math := nabla * pointReal
	return math * Trees([]float64{math, pointReal})
}

type node struct{ A float64 }

// Node is another type than node, though with a small letter in front it has its name.
type Node struct{ B float64 }

type mark struct{ C float64 }

type markReal struct{ D float64 }

// Alike has types whose twins would have a name that there is.
func Alike(x float64) float64 {
	a, b, c, d := node{x}, Node{2 * x}, mark{3 * x}, markReal{4}
	p, q, r := &a, &b, &c
	p.A *= q.B
	return p.A * q.B * r.C * d.D
}
