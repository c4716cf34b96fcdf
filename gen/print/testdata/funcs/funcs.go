// Package funcs has what is hard to print.
package funcs

import (
	"errors"
	"fmt"
	"math"
)

const (
	third         = 1.0 / 3
	count         = 7
	small float32 = 0.1
)

type scale float64

const double scale = 2

func Constants(x float64) float64 {
	a := x*(0.3-0.8) - third*x
	a += math.Pi * x / count
	a -= (1.0 / 2) * x
	b := 3.0
	const local = 0.25
	c := local - x - -1
	return a*b + c*(1<<3) + float64(small)*x + float64(double)*float64(scale(x)) - math.MaxInt8 + 1e-300*x
}

func Precedence(a, b int) int {
	c := a - (b - 3) - (a+b)*2
	d := a & ^b
	e := a&^b | (a^b)<<2
	f := -(-a) + +b - (-7) ^ 3
	g := c % 5 * (d / 3) * 2 / (1 + b*b)
	if !(a < b) && (a > 3 || b > 3) || a == b && b != 2 {
		g -= 1 << uint(b&3)
	}
	h := int8(a) * 100
	return c + d*e - (f - g) + int(h) + a>>1
}

func Shadows(math float64) float64 {
	rt := math * 2
	Same := rt + tanh(math)
	return Same * same(rt)
}

func tanh(x float64) float64 { return math.Tanh(x) * math.Sinh(x) }

func same(x float64) float64 { return x * x }

func Loops(x []float64) (s float64) {
	n := len(x)
	for i := n - 1; i > 0; i -= 2 {
		s += x[i]
	}
	for i := n; i > 0; i-- {
		if x[i-1] < 0 {
			s -= 1
			continue
		}
		s += x[i-1]
	}
	for i := 0; i < len(x)-1; i++ {
		if x[i] > 2 {
			continue
		}
		for j := range x {
			if j == i {
				continue
			}
			if x[j] < -1 {
				break
			}
			s += x[j] * x[i]
		}
	}
	for v := s; v < 10; v += v*v + 1 {
		if v > 4 {
			break
		}
		s += v
	}
	for i := range 3 {
		n += i
	}
	for i := 0; i < n; i++ {
		n--
		s *= 1.5
	}
	for i := range int8(4) {
		s += float64(i)
	}
	for s > 100 {
		s /= 2
	}
	return
}

func Bounds(x []float64) float64 {
	y := x
	s := 0.0
	for i := 0; i < len(y); i++ {
		s += y[i]
	}
	for i, v := range y {
		y = y[1:]
		s += v*float64(i) + y0(y)
	}
	k := 4
	p := &k
	for i := range k {
		*p = i
		s += float64(i)
	}
	for i := 0; i < int(math.Abs(s))%5; i++ {
		s -= 0.5
	}
	return s + float64(k)
}

func y0(y []float64) float64 {
	if len(y) == 0 {
		return 0
	}
	return y[0]
}

var errNegative = errors.New("negative")

func Panics(x float64, n int) float64 {
	if x < -3 {
		panic(fmt.Sprintf("%v is too small, 100%%", x))
	}
	if x < -2 {
		panic(errNegative)
	}
	if n < 0 {
		panic("negative")
	} else if n == 0 {
		panic(3)
	}
	list := []float64{x, 2 * x, 3}
	list[1] *= x
	_ = list[n]
	return list[n-1] / float64(n)
}

type inner struct{ A, b float64 }

type middle struct {
	*inner
	C [2]float64
}

type outer struct {
	middle
	D float64
}

func Embedded(x float64) float64 {
	o := outer{middle: middle{inner: &inner{x, 2 * x}}, D: 3}
	o.A *= o.b
	o.C[1] = o.A + o.D
	q := &o
	q.C[0] = q.b
	s := q.C[:]
	s[1] += s[0]
	if o.C == ([2]float64{}) {
		return 0
	}
	return o.C[1] * o.A
}

func Singles(x float32) float32 {
	y := x * 0.1
	z := float32(0.1) + y/3
	const big = 16777217
	return z*big - float32(math.Sqrt(float64(x*x)))
}

func Pairs(x float64) float64 {
	s, c := math.Sincos(0.5)
	_, e := math.Frexp(8)
	return s*x + c*x*x + float64(e)
}

func Literals(x float64) float64 {
	a := [...]float64{3: x, 1: 2}
	b := []float64{2: x, 4: 1}
	c := [][]float64{{x}, {1, x * x}}
	var e [3]float64
	e[2] = c[1][1]
	return a[3]*a[1] + b[2]*b[4]*float64(len(b)) + c[0][0] + e[2] + e[0]
}

func Named(x float64) (y, z float64) {
	y = x
	if x > 1 {
		return z + x, y * 2
	}
	z = y * y
	y, z = z, y
	if x < 0 {
		y = -y
		return
	}
	return y + z, y - z
}

func Unused(x []float64) float64 {
	a, b := 1.0, x[0]
	c := a * b
	c += 2
	_ = c
	var list []float64
	list = append(list, x...)
	d, _ := Named(b)
	_ = d
	copy(list, x)
	return x[1]
}

func Nested(x []float64) float64 {
	s := 1.0
rows:
	for i := range x {
		switch {
		case x[i] < 0:
			for j := range i {
				if x[j] > 1 {
					continue rows
				}
				if x[j] > 0.5 {
					break rows
				}
			}
			s *= 2
		case x[i] > 2:
			if s > 5 {
				break
			}
			s += x[i]
		default:
			s -= 0.5 * x[i]
		}
		s *= 1.1
	}
	return s
}

func sum(start float64, list ...float64) float64 {
	for _, v := range list {
		start += v
	}
	return start
}

func Variadic(x float64) float64 { return sum(x) + sum(1, x, x*x) }

type counter struct {
	n     int
	total float64
}

func (c *counter) add(x float64) { c.n++; c.total += x * x }

func (c counter) mean() float64 { return c.total / float64(c.n) }

func Methods(x float64) float64 {
	var c counter
	c.add(x)
	c.add(2)
	var d counter
	d.add(3)
	return c.mean() + d.mean()
}

func Shifts(x float64, n int) float64 {
	if n < 0 {
		n = -n
	}
	s := x * float64(int64(1)<<uint(n))
	k := 1 << n
	s -= 0.5
	s -= x * float64(k)
	s /= 1 + x*x
	s *= x - 2
	n--
	return s + float64(n<<1) + float64(len([3]int{}))/2
}

type named struct{ x float64 }

func (n named) Error() string { return "named" }

// Boxed makes an error of an unexported type.
func Boxed(x float64) (float64, error) { return x, named{x} }
