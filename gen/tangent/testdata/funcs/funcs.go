// Package funcs has functions with every construct that a tangent goes through.
package funcs

import "math"

func Scalars(a, b float64) float64 {
	c := a*b - a/b
	c += math.Sin(a) * math.Exp(-b*b)
	d := -c
	return math.Sqrt(d*d+1) + math.Atan2(a, b) + math.Pow(b, a) - math.Hypot(a, 3)
}

func More(a, b float64) float64 {
	return math.Tanh(a) + math.Log1p(a*a) + math.Cosh(b) + math.Erf(a) + math.Asinh(b) + math.Abs(a-2*b) +
		math.Cbrt(b) + math.Expm1(-a) + math.Log2(b) + math.Tan(a/4) + math.Acos(a/9) + math.Gamma(b) + math.FMA(a, b, a)
}

func Least(a, b, c float64) float64 {
	return min(a*b, c, b*b) + max(a, b)*c + math.Max(a, c) + math.Min(b, 3*a)
}

func Sum(x []float64) float64 {
	s := 0.0
	for i, v := range x {
		s += v * v * float64(i+1)
	}
	return s
}

func InPlace(x []float64) {
	for i := 1; i < len(x); i++ {
		x[i] = x[i]*x[i-1] + math.Sin(x[i])
		x[i-1] += 2 * x[i]
	}
}

func Views(x []float64) float64 {
	a, b := x[1:], x[:len(x)-1]
	for i := range a {
		a[i] *= b[i]
	}
	a, b = b, a
	a[0], b[0] = b[0]*a[1], a[0]
	return a[1] - b[1]
}

func Appends(x []float64) []float64 {
	y := make([]float64, 0, 2)
	for i := 0; i < len(x); i++ {
		y = append(y, x[i]*x[0], 3)
	}
	z := append(y[:1], x...)
	z[0] += y[1]
	copy(z[1:], y)
	clear(z[len(z)-1:])
	return append(z, y...)
}

func Branches(x []float64, k int) (r float64) {
	defer0 := 1.0
outer:
	for i := 0; ; i++ {
		for _, v := range x {
			switch {
			case v < 0:
				r -= v * defer0
				continue outer
			case i > k:
				break outer
			case v > 2:
				r += v * v
				fallthrough
			default:
				r += math.Log(v)
			}
			if r > 50 {
				return r * v
			}
		}
		if i > 3 {
			return r / 2
		}
		defer0 *= 1.5 + r/10
	}
	r *= 2
	return
}

type point struct {
	X, Y float64
	N    int
	Next *point
}

func (p point) norm() float64 { return math.Hypot(p.X, p.Y) }

func (p *point) move(d float64) {
	p.X += d * p.Y
	p.Y *= p.X
	p.N++
}

func Structs(a, b float64) float64 {
	p := point{X: a, Y: b}
	q := p
	q.Next = &p
	q.move(a)
	q.Next.move(b)
	pp := &q.Y
	*pp *= 2
	list := [3]point{p, q}
	list[2] = list[0]
	list[2].X = list[1].X * list[0].Y
	other := list
	other[0].X = 7
	return list[2].norm() + p.X*q.Next.Y + float64(p.N) + other[2].X + list[0].X
}

func Several(a, b float64) (float64, float64) { return a * b, a / b }

func Calls(x []float64) float64 {
	p, q := Several(x[0], x[1])
	_, s := Several(q, p)
	t, _ := Several(3, 4)
	return power(s, 3)*t + fib(x[0], 6) + apply(func(v float64) float64 { return v * x[1] }, p)
}

func power(x float64, n int) float64 {
	if n == 0 {
		return 1
	}
	return x * power(x, n-1)
}

func fib(x float64, n int) float64 {
	if n < 2 {
		return x
	}
	return math.Sin(fib(x, n-1)) + fib(x, n-2)*x
}

func apply(f func(float64) float64, v float64) float64 { return f(v) + f(2*v) }

func Captured(x []float64) float64 {
	total, n := 0.0, 0
	add := func(v float64) {
		total += v * total
		total += v
		n++
	}
	for _, v := range x {
		add(v)
	}
	return total * float64(n)
}

func Passive(x []float64, w []float64) float64 {
	s := 0.0
	scratch := make([]float64, len(w))
	copy(scratch, w)
	for i := range w {
		scratch[i] *= 2
		s += scratch[i] * x[i%len(x)]
	}
	scratch = x
	return s * scratch[0]
}

func Small(a float64) float64 {
	f := float32(a)
	return float64(f*f) + a
}

func Kink(a float64) float64 { return math.Sqrt(a*a) + math.Sqrt(0*a) }

func Matrix(x []float64) float64 {
	var m [2][2]float64
	rows := make([][]float64, 2)
	for i := range rows {
		rows[i] = x[2*i : 2*i+2]
	}
	for i := range rows {
		for j := range rows[i] {
			m[i][j] = rows[i][j] * rows[j][i]
		}
	}
	rows[0], rows[1] = rows[1], rows[0]
	rows[0][1] = m[0][1]
	return m[0][0]*m[1][1] - m[0][1]*m[1][0] + x[3]
}

func Ends(a float64) float64 {
	s := []float64{a, 0.5, 2}
	t := append(s, a*a)
	return t[0]*t[3] + s[2]
}

func plain(w []float64) ([]float64, []float64) { return append([]float64{}, w...), make([]float64, 2) }

func Filled(a float64, w []float64) float64 {
	s, t := plain(w)
	s[1] = a * s[0]
	u, _ := plain(s)
	t[0] = u[1] * a
	return s[1]*w[1] + t[0]
}

var weights = []float64{0.5, -0.25, 1.5}

var unit = &point{X: 1}

type pair struct{ A, B float64 }

var first = &pair{1, 2}

func Constants(x []float64, k int) float64 {
	w, p := x, &pair{x[0], 1}
	if k > 0 {
		w = weights[1:]
	}
	if k > 1 {
		p = first
	}
	return w[0]*x[1] + w[len(w)-1] + p.A*x[2] - p.B
}

func Joined(x []float64) float64 {
	p := &point{X: x[0]}
	if x[0] > 0 {
		p = unit
	}
	return p.X
}

func Made(x []float64) float64 {
	a, b := pieces(4)
	a[2] = x[0] * x[1]
	b[1] *= x[2]
	return a[3]*b[0] + a[2]*b[1]
}

// pieces are two views of memory that holds no derivatives yet.
func pieces(n int) (a, b []float64) {
	a = make([]float64, n)
	for i := range a {
		a[i] = float64(i) + 1
	}
	return a, a[2:]
}

type body struct {
	Name     string
	At, Last vector
	Mass     float64
	Next     *body
	Trail    []vector
	scales   map[string]float64
}

type vector [2]float64

type tagged[T any] struct {
	Kind int
	V    T
	vector
}

func Lists(x []float64) float64 {
	var first *body
	for i, v := range x {
		b := &body{Name: "b", Mass: v * v, Next: first}
		b.At = vector{v, 2 * v * x[0]}
		b.At = vector{b.At[1], b.At[0]}
		b.Last[i%2] = v
		first = b
	}
	all := make([]body, 0, 2)
	for b := first; b != nil; b = b.Next {
		b.Trail = append(b.Trail, b.At, vector{b.Mass})
		b.Trail[0][1] *= b.Last[0] + 3
		b.Next.drag(b.Mass)
		all = append(all, *b)
	}
	all[1], all[0] = all[0], all[1]
	s := 0.0
	for i := range all {
		all[i].At[i%2] += all[len(all)-1-i].Mass
		for _, p := range all[i].Trail {
			s += p[0]*all[i].At[1] - p[1]*all[i].At[0]
		}
	}
	return s
}

func (b *body) drag(d float64) {
	if b != nil {
		b.Mass += d * b.At[0]
	}
}

func Tags(x []float64) (r float64) {
	t := tagged[float64]{Kind: 3, V: x[0], vector: vector{x[1], x[2]}}
	list := []tagged[float64]{t, {V: t.V * x[3]}, 3: {Kind: 1}}
	list[2].vector = t.vector
	list[3].V += list[1].V
	anonymous := struct {
		N int
		X [2]float64
	}{X: [2]float64{x[0], math.Exp(x[1])}}
	other := anonymous
	other.X[0] *= x[2]
	for i := range list {
		r += list[i].V * list[(i+1)%4].vector[i%2] * anonymous.X[i%2] * other.X[0]
	}
	return r
}

// Addressed has numbers whose address is taken in its signature.
func Addressed(a, b float64) (r, s float64) {
	p, q := &a, &r
	*p *= b
	*q = a + b
	if b > 1 {
		*q *= *p
		s = r
		return r, s * 2
	}
	t := &s
	*t, *q = *q, *p**p
	half(q, 3)
	half(&b, a)
	s += b
	return
}

func half(x *float64, y float64) { *x = *x*0.5 + y**x }

func Arrays(x []float64) float64 {
	a := turned([3]float64{x[0], x[1], x[2]}, x[3])
	b := a
	a = [3]float64{a[1], a[2] * b[0], a[0]}
	for i := range a {
		b[i] += a[i] * float64(i)
		j := (i + 1) % 3
		b[j] = b[i] * b[j]
		j = i
		a[j] -= b[i]
	}
	view := b[1:]
	view[0] += view[1] * a[2]
	c := [2][3]float64{a, b}
	c[1] = c[0]
	c[0][2] = x[0] * x[0]
	m := [3]float64{1: x[1]}
	return c[1][2]*b[1] + a[0]*c[0][2] + m[1]*m[0] + m[1]*b[2]
}

func turned(a [3]float64, by float64) [3]float64 {
	a[0], a[1] = a[0]*by-a[1], a[1]+a[0]*math.Sqrt(by)
	return a
}

// Straight has statements that can be put off behind others, and some that cannot.
func Straight(x []float64, n int) float64 {
	a, b := x[0], x[1]
	c := a * b
	a = a*c + b
	i := n % 2
	d := x[i] * a
	i++
	d += x[i] * c
	x[i] = a - d
	c, d = d*c, c/d
	x[0] += x[1] * x[1]
	a /= 3
	e := -(a*a - x[i]*2) * 4 / (c + 5)
	f := (a + b + c) * e
	g := (a - a*2 + c*c - c*c*c) * 0.5
	return -f - g - min(f, g*d)
}

func Infinite(a, b float64) float64 { return math.Sqrt(a) + math.Exp(b) + math.Pow(a, 0.5) }

// Pairs calls the functions of package math with two results.
func Pairs(a, b float64) float64 {
	s, c := math.Sincos(a * b)
	l, sign := math.Lgamma(b + s)
	frac, exp := math.Frexp(a + c)
	whole, rest := math.Modf(3 * b)
	_, again := math.Sincos(b)
	_, minus := math.Lgamma(a)
	half, _ := math.Frexp(a * b)
	_, twice := math.Frexp(b)
	return s*c + float64(sign)*l + frac*float64(exp) + whole*rest*a + again + float64(minus)*half + float64(twice)*a
}

// Kind is a bool with a name of its own.
type Kind bool

// Kinds branches on it.
func Kinds(x []float64, n int) (s float64) {
	k := Kind(n > 2)
	for i, v := range x {
		if k && i < n {
			s += v * v
		} else if !k {
			s += math.Sin(v)
		}
	}
	return s
}

// Found calls a function whose loop is only ever left by a return.
func Found(x []float64, n int) float64 {
	limit := x[0] * 2
	if n == 0 {
		return limit
	}
	return firstOver(x, limit) * x[1]
}

func firstOver(x []float64, limit float64) float64 {
	sum := 0.0
	for i, v := range x {
		sum += v * v
		if sum >= limit {
			return (sum - limit) * x[i]
		}
	}
	panic("none")
}
