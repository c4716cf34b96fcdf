// Package interpolation has programs that interpolate and integrate.
package interpolation

import (
	"errors"
	"fmt"
	"math"
	"sort"
)

// A Point is a place of a table.
type Point struct{ X, Y float64 }

// Linear interpolates in a sorted table.
func Linear(table []Point, x float64) float64 {
	i := sort.Search(len(table), func(i int) bool { return table[i].X >= x })
	switch i {
	case 0:
		return table[0].Y
	case len(table):
		return table[len(table)-1].Y
	}
	p, q := table[i-1], table[i]
	return p.Y + (q.Y-p.Y)*(x-p.X)/(q.X-p.X)
}

// Standard is the pressure of the atmosphere from a table.
//
//corpus:at 3.7
func Standard(height float64) float64 {
	table := []Point{{0, 1013.25}, {1, 898.76}, {2, 795.01}, {3, 701.21}, {4, 616.6}, {5, 540.48}}
	return Linear(table, height)
}

// Heights interpolates in a table whose heights vary.
//
//corpus:at 1.2 0.7 2.2 1.9
func Heights(y []float64) float64 {
	var table []Point
	for i, v := range y {
		table = append(table, Point{float64(i), v})
	}
	return Linear(table, 1.3) * Linear(table, 2.6)
}

// A Spline is a cubic spline.
type Spline struct {
	points []Point
	second []float64
}

// NewSpline computes a natural spline.
func NewSpline(points []Point) (*Spline, error) {
	n := len(points)
	if n < 3 {
		return nil, fmt.Errorf("%d points", n)
	}
	s := &Spline{points: points, second: make([]float64, n)}
	u := make([]float64, n)
	for i := 1; i < n-1; i++ {
		p, q, r := points[i-1], points[i], points[i+1]
		if q.X <= p.X {
			return nil, errors.New("points are not sorted")
		}
		sig := (q.X - p.X) / (r.X - p.X)
		d := sig*s.second[i-1] + 2
		s.second[i] = (sig - 1) / d
		u[i] = (6*((r.Y-q.Y)/(r.X-q.X)-(q.Y-p.Y)/(q.X-p.X))/(r.X-p.X) - sig*u[i-1]) / d
	}
	for k := n - 2; k >= 0; k-- {
		s.second[k] = s.second[k]*s.second[k+1] + u[k]
	}
	return s, nil
}

// At is a value of the spline.
func (s *Spline) At(x float64) float64 {
	lo, hi := 0, len(s.points)-1
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		if s.points[mid].X > x {
			hi = mid
		} else {
			lo = mid
		}
	}
	h := s.points[hi].X - s.points[lo].X
	a, b := (s.points[hi].X-x)/h, (x-s.points[lo].X)/h
	return a*s.points[lo].Y + b*s.points[hi].Y +
		((a*a*a-a)*s.second[lo]+(b*b*b-b)*s.second[hi])*h*h/6
}

// Splined is a value of a spline, with respect to its heights and the place.
//
//corpus:at 1.2 0.7 2.2 1.9 0.4 2.6
func Splined(x []float64) (float64, error) {
	n := len(x) - 1
	points := make([]Point, n)
	for i := range points {
		points[i] = Point{float64(i), x[i]}
	}
	s, err := NewSpline(points)
	if err != nil {
		return 0, err
	}
	return s.At(x[n]), nil
}

var road, _ = NewSpline([]Point{{0, 0}, {1, 2}, {2, 1}, {3, 3}, {4, 2.5}})

// Road is a value of a spline that was made once.
//
//corpus:at 2.6
func Road(x float64) float64 { return road.At(x) + 0.1*road.At(x/2) }

// Newton is a polynomial by divided differences.
//
//corpus:at 1.2 0.7 2.2 1.9
func Newton(y []float64) float64 {
	x := []float64{0, 1, 2.5, 4}
	c := append([]float64{}, y...)
	for k := 1; k < len(c); k++ {
		for i := len(c) - 1; i >= k; i-- {
			c[i] = (c[i] - c[i-1]) / (x[i] - x[i-k])
		}
	}
	v := c[len(c)-1]
	for i := len(c) - 2; i >= 0; i-- {
		v = v*(1.7-x[i]) + c[i]
	}
	return v
}

// Neville is a polynomial at a place.
//
//corpus:at 1.7
func Neville(at float64) float64 {
	x, p := [4]float64{0, 1, 2.5, 4}, [4]float64{1.2, 0.7, 2.2, 1.9}
	for k := 1; k < len(x); k++ {
		for i := 0; i < len(x)-k; i++ {
			p[i] = ((at-x[i+k])*p[i] + (x[i]-at)*p[i+1]) / (x[i] - x[i+k])
		}
	}
	return p[0]
}

// Bilinear interpolates on a grid.
//
//corpus:at 1.3 0.6
func Bilinear(x, y float64) float64 {
	grid := [][]float64{{1, 2, 4}, {0.5, 3, 2}, {2, 1, 0}}
	i, j := int(math.Floor(x)), int(math.Floor(y))
	u, v := x-float64(i), y-float64(j)
	return (1-u)*(1-v)*grid[i][j] + u*(1-v)*grid[i+1][j] + (1-u)*v*grid[i][j+1] + u*v*grid[i+1][j+1]
}

// Scattered interpolates by inverse distances.
//
//corpus:at 0.4 0.7
func Scattered(x, y float64) float64 {
	type station struct{ x, y, v float64 }
	stations := []station{{0, 0, 1}, {1, 0, 3}, {0.2, 1, 2}}
	sum, weight := 0.0, 0.0
	for _, s := range stations {
		d2 := (x-s.x)*(x-s.x) + (y-s.y)*(y-s.y)
		if d2 < 1e-12 {
			return s.v
		}
		sum += s.v / d2
		weight += 1 / d2
	}
	return sum / weight
}

// adaptive integrates by Simpson's rule with recursion.
func adaptive(f func(float64) float64, a, b, fa, fm, fb, whole, eps float64) float64 {
	m := (a + b) / 2
	fl, fr := f((a+m)/2), f((m+b)/2)
	left, right := (m-a)/6*(fa+4*fl+fm), (b-m)/6*(fm+4*fr+fb)
	if math.Abs(left+right-whole) < 15*eps {
		return left + right + (left+right-whole)/15
	}
	return adaptive(f, a, m, fa, fl, fm, left, eps/2) + adaptive(f, m, b, fm, fr, fb, right, eps/2)
}

// Arc is the length of a sine by adaptive integration.
//
//corpus:at 1.3 0.8
func Arc(end, k float64) float64 {
	f := func(x float64) float64 { return math.Sqrt(1 + k*k*math.Cos(k*x)*math.Cos(k*x)) }
	fa, fm, fb := f(0), f(end/2), f(end)
	return adaptive(f, 0, end, fa, fm, fb, end/6*(fa+4*fm+fb), 1e-9)
}

// Gauss integrates with nodes in a table.
//
//corpus:at 1.3 0.8
func Gauss(end, k float64) float64 {
	nodes := map[float64]float64{-0.7745966692414834: 5. / 9, 0: 8. / 9, 0.7745966692414834: 5. / 9}
	sum := 0.0
	for x, w := range nodes {
		sum += w * math.Exp(-k*end*(x+1)/2)
	}
	return sum * end / 2
}

// Romberg extrapolates trapezoids.
//
//corpus:at 1.3 0.8
func Romberg(end, k float64) float64 {
	f := func(x float64) float64 { return math.Sin(k*x) / (1 + x) }
	var rows [][]float64
	h := end
	for n := 0; n < 5; n++ {
		row := make([]float64, n+1)
		if n == 0 {
			row[0] = h * (f(0) + f(end)) / 2
		} else {
			sum := 0.0
			for i := 1; i < 1<<n; i += 2 {
				sum += f(float64(i) * h)
			}
			row[0] = rows[n-1][0]/2 + h*sum
			factor := 1.0
			for j := 1; j <= n; j++ {
				factor *= 4
				row[j] = (factor*row[j-1] - rows[n-1][j-1]) / (factor - 1)
			}
		}
		rows = append(rows, row)
		h /= 2
	}
	return rows[4][4]
}

// RK45 is a solution with steps that adapt, of the logistic equation.
//
//corpus:at 0.1 1.4
//corpus:tolerance 1e-4
func RK45(y0, rate float64) float64 {
	f := func(y float64) float64 { return rate * y * (1 - y) }
	t, y, h := 0.0, y0, 0.1
	for t < 2 {
		if t+h > 2 {
			h = 2 - t
		}
		k1 := f(y)
		k2 := f(y + h*k1/2)
		k3 := f(y + h*3*k2/4)
		next := y + h*(2*k1+3*k2+4*k3)/9
		k4 := f(next)
		err := math.Abs(h * (-5*k1/72 + k2/12 + k3/9 - k4/8))
		if err < 1e-6 {
			t += h
			y = next
		}
		h *= math.Min(2, math.Max(0.3, 0.9*math.Cbrt(1e-6/(err+1e-300))))
	}
	return y
}

// Chebyshev is a sum of Chebyshev polynomials by Clenshaw's method.
//
//corpus:at 0.4 1.2 0.7 -0.3
func Chebyshev(c []float64) float64 {
	x := c[0]
	b1, b2 := 0.0, 0.0
	for k := len(c) - 1; k >= 1; k-- {
		b1, b2 = 2*x*b1-b2+c[k], b1
	}
	return b1 - x*b2
}

// Pade is a continued fraction of coefficients.
//
//corpus:at 1.2 0.7 2.2 1.9
func Pade(c []float64) float64 {
	var eval func(i int) float64
	eval = func(i int) float64 {
		if i == len(c)-1 {
			return c[i]
		}
		return c[i] + 0.5/eval(i+1)
	}
	return eval(0)
}
