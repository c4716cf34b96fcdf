// Package optimisation has objectives and methods of optimisation.
package optimisation

import (
	"errors"
	"fmt"
	"iter"
	"math"
)

// An Objective is a function to minimise.
type Objective interface {
	Eval(x []float64) float64
}

// Quadratic is a sum of squares.
type Quadratic struct{ Centre []float64 }

// Eval implements Objective.
func (q Quadratic) Eval(x []float64) float64 {
	s := 0.0
	for i, v := range x {
		s += (v - q.Centre[i]) * (v - q.Centre[i])
	}
	return s
}

// Penalised adds constraints to another objective.
type Penalised struct {
	Objective
	Weight      float64
	Constraints []func(x []float64) float64
}

// Eval implements Objective.
func (p *Penalised) Eval(x []float64) float64 {
	s := p.Objective.Eval(x)
	for _, c := range p.Constraints {
		if v := c(x); v > 0 {
			s += p.Weight * v * v
		}
	}
	return s
}

// Constrained is a penalised objective.
//
//corpus:at 1.2 0.7
func Constrained(x []float64) float64 {
	p := &Penalised{Objective: Quadratic{[]float64{1, 2}}, Weight: 10}
	p.Constraints = append(p.Constraints,
		func(x []float64) float64 { return x[0]*x[0] + x[1]*x[1] - 1 },
		func(x []float64) float64 { return -x[1] })
	return p.Eval(x)
}

// Ackley is a test function.
//
//corpus:at 1.2 0.7 -0.4
func Ackley(x []float64) float64 {
	n := float64(len(x))
	s, c := 0.0, 0.0
	for _, v := range x {
		s += v * v
		c += math.Cos(2 * math.Pi * v)
	}
	return -20*math.Exp(-0.2*math.Sqrt(s/n)) - math.Exp(c/n) + 20 + math.E
}

// Rastrigin and Griewank are test functions.
//
//corpus:at 1.2 0.7 -0.4
func Rastrigin(x []float64) float64 {
	sum, product := 0.0, 1.0
	for i, v := range x {
		sum += v*v - 10*math.Cos(2*math.Pi*v) + 10 + v*v/4000
		product *= math.Cos(v / math.Sqrt(float64(i+1)))
	}
	return sum + 1 - product
}

// Michalewicz is a test function with steep valleys.
//
//corpus:at 2.2 1.5
func Michalewicz(x []float64) (s float64) {
	for i, v := range x {
		s -= math.Sin(v) * math.Pow(math.Sin(float64(i+1)*v*v/math.Pi), 4)
	}
	return
}

// Golden is the least value over an inner variable by golden section.
//
//corpus:at 0.7
//corpus:tolerance 1e-5
func Golden(p float64) float64 {
	f := func(x float64) float64 { return (x-p)*(x-p) + math.Exp(0.3*x) }
	const phi = 0.6180339887498949
	a, b := -3.0, 3.0
	for b-a > 1e-9 {
		c, d := b-phi*(b-a), a+phi*(b-a)
		if f(c) < f(d) {
			b = d
		} else {
			a = c
		}
	}
	return f((a + b) / 2)
}

// Descent is the value after steps of descent with a line search.
//
//corpus:at 1.2 0.7
func Descent(x0, y0 float64) float64 {
	f := func(x, y float64) float64 { return x*x + 3*y*y + x*y }
	x, y := x0, y0
	for k := 0; k < 4; k++ {
		gx, gy := 2*x+y, 6*y+x
		step := 1.0
		for f(x-step*gx, y-step*gy) > f(x, y)-0.3*step*(gx*gx+gy*gy) {
			step /= 2
		}
		x -= step * gx
		y -= step * gy
	}
	return f(x, y)
}

// NelderMead is the best value of a simplex after some steps.
//
//corpus:at 1.2 0.7
func NelderMead(x, y float64) float64 {
	type vertex struct{ x, y, f float64 }
	f := func(x, y float64) float64 { return (x-1)*(x-1) + (y-x*x)*(y-x*x) }
	s := []vertex{{x, y, f(x, y)}, {x + 0.5, y, f(x+0.5, y)}, {x, y + 0.5, f(x, y+0.5)}}
	for k := 0; k < 6; k++ {
		for i := 1; i < 3; i++ {
			for j := i; j > 0 && s[j].f < s[j-1].f; j-- {
				s[j], s[j-1] = s[j-1], s[j]
			}
		}
		cx, cy := (s[0].x+s[1].x)/2, (s[0].y+s[1].y)/2
		rx, ry := 2*cx-s[2].x, 2*cy-s[2].y
		if v := f(rx, ry); v < s[2].f {
			s[2] = vertex{rx, ry, v}
			continue
		}
		mx, my := (cx+s[2].x)/2, (cy+s[2].y)/2
		s[2] = vertex{mx, my, f(mx, my)}
	}
	return math.Min(s[0].f, math.Min(s[1].f, s[2].f))
}

// ErrBounds is returned for points outside.
var ErrBounds = errors.New("out of bounds")

// Checked is an objective that recovers from panics.
//
//corpus:at 1.2 0.7
func Checked(x []float64) (v float64, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("objective: %v", r)
		}
	}()
	if len(x) != 2 {
		panic("two variables")
	}
	for _, c := range x {
		if c < -10 || c > 10 {
			return 0, fmt.Errorf("%g: %w", c, ErrBounds)
		}
	}
	return math.Pow(x[0]*x[0]+x[1]-11, 2) + math.Pow(x[0]+x[1]*x[1]-7, 2), nil
}

// pairs yields neighbours.
func pairs(x []float64) iter.Seq2[float64, float64] {
	return func(yield func(a, b float64) bool) {
		for i := 1; i < len(x); i++ {
			if !yield(x[i-1], x[i]) {
				return
			}
		}
	}
}

// Chained is the Rosenbrock function over an iterator.
//
//corpus:at 1.2 0.7 -0.4
func Chained(x []float64) float64 {
	s := 0.0
	for a, b := range pairs(x) {
		s += 100*math.Pow(b-a*a, 2) + (1-a)*(1-a)
	}
	return s
}

// Assignment is a soft cost of an assignment, by recursion over permutations.
//
//corpus:at 1.2 0.7 2.2 1.9 0.4 1.1 0.3 0.8 1.5
func Assignment(cost []float64) float64 {
	const n = 3
	total := 0.0
	var visit func(row int, used uint, sum float64)
	visit = func(row int, used uint, sum float64) {
		if row == n {
			total += math.Exp(-sum)
			return
		}
		for c := 0; c < n; c++ {
			if used&(1<<c) == 0 {
				visit(row+1, used|1<<c, sum+cost[row*n+c])
			}
		}
	}
	visit(0, 0, 0)
	return -math.Log(total)
}

// Knapsack is the best value of items with values that vary, by a table.
//
//corpus:at 3.1 4.2 5.3 2.7
func Knapsack(values []float64) float64 {
	weights := []int{2, 3, 4, 1}
	best := make([]float64, 8)
	for i, w := range weights {
		for c := len(best) - 1; c >= w; c-- {
			if v := best[c-w] + values[i]*values[i]; v > best[c] {
				best[c] = v
			}
		}
	}
	return best[len(best)-1]
}

// Barrier is the value of a logarithmic barrier over constraints given by rows.
//
//corpus:at 0.4 0.3
func Barrier(x []float64) float64 {
	rows := [][]float64{{1, 1, 1}, {-1, 0, 0}, {0, -1, 0}, {2, 1, 1.5}}
	s := x[0] + 2*x[1]
	for _, r := range rows {
		slack := r[len(r)-1]
		for j, c := range r[:len(r)-1] {
			slack -= c * x[j]
		}
		if slack <= 0 {
			return math.Inf(1)
		}
		s -= 0.1 * math.Log(slack)
	}
	return s
}

// Augmented chooses among objectives by a type switch.
//
//corpus:at 0.4 0.3
func Augmented(x []float64) float64 {
	s := 0.0
	for _, o := range []any{Quadratic{[]float64{1, 1}}, 2.5, func(x []float64) float64 { return x[0] * x[1] }} {
		switch o := o.(type) {
		case Objective:
			s += o.Eval(x)
		case float64:
			s += o * x[0]
		case func([]float64) float64:
			s += o(x)
		}
	}
	return s
}
