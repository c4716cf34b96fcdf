package series

import (
	"math"
	"testing"

	"github.com/nabla-ad/nabla/rules"
)

// TestSpaces compares all spaces and both modes with one direction in plain mode, which TestReference tests.
func TestSpaces(t *testing.T) {
	const order = 10
	line := NewArithmetic(Line(order))
	three := NewArithmetic(Lines(order, 3))
	single := NewArithmetic(Powers(order, []int{order}))
	list := references(t)
	for i := range list {
		r := &list[i]
		op, x, y, v := r.operands(t)
		want := make([]float64, order)
		line.Apply(op, want, v, x, y)
		for _, strong := range []bool{false, true} {
			zero := 0.0
			if strong {
				zero = structural
			}
			for _, m := range []*Arithmetic{line, single, three} {
				lanes := m.space.Size() / order
				// The first lane is structurally zero and the last one is that of the case.
				spread := func(s Series) Series {
					if s.Degree == 0 {
						return s
					}
					c := make([]float64, order*lanes)
					for k := range c {
						if c[k] = zero; k%lanes == lanes-1 && (k/lanes < s.Degree || !strong) {
							c[k] = s.C[k/lanes]
						}
					}
					if strong {
						s.Degree = order
					}
					return Series{s.Value, c, s.Degree}
				}
				m.Start(order, strong)
				got := make([]float64, order*lanes)
				degree := m.Apply(op, got, v, spread(x), spread(y))
				m.Start(order, false)
				for k := range want {
					g := got[k*lanes+lanes-1]
					if e := math.Abs(g - want[k]); !(e <= 1e-13*math.Abs(want[k])) && !(e <= 1e-25) {
						t.Errorf("%v, %d lanes, strong %v: coefficient %d is %v, want %v", r, lanes, strong, k+1, g,
							want[k])
					}
					if first := got[k*lanes]; lanes > 1 && math.Float64bits(first) != math.Float64bits(zero) &&
						(strong || first != 0) {
						t.Errorf("%v, strong %v: coefficient %d of a constant lane is %v", r, strong, k+1, first)
					}
				}
				if degree < 1 {
					t.Errorf("%v: the degree is %d", r, degree)
				}
			}
		}
	}
}

// TestPowers compares polynomials in two variables with series along directions.
func TestPowers(t *testing.T) {
	const order = 6
	space := Powers(order, []int{order, order})
	plane, line := NewArithmetic(space), NewArithmetic(Line(order))
	list := references(t)
	for i := range list {
		r := &list[i]
		op, x, y, v := r.operands(t)
		// x = x0 + g + g², y = y0 + h - g·h along g = a·t, h = b·t.
		on := [2]bool{x.Degree > 0, y.Degree > 0}
		poly := func(value float64, exps ...[3]int) Series {
			c := make([]float64, space.Size())
			for _, e := range exps {
				k, _ := space.Find(e[:2])
				c[k] = float64(e[2])
			}
			return Series{value, c, 2}
		}
		px, py := Series{Value: x.Value}, Series{Value: y.Value}
		if on[0] {
			px = poly(x.Value, [3]int{1, 0, 1}, [3]int{2, 0, 1})
		}
		if on[1] {
			py = poly(y.Value, [3]int{0, 1, 1}, [3]int{1, 1, -1})
		}
		got := make([]float64, space.Size())
		plane.Apply(op, got, v, px, py)
		for _, dir := range [][2]float64{{0.125, 0}, {0, 0.125}, {0.0625, -0.125}, {0.1, 0.05}} {
			a, b := dir[0], dir[1]
			lx, ly := Series{Value: x.Value}, Series{Value: y.Value}
			if on[0] {
				lx = Series{x.Value, []float64{a, a * a, 0, 0, 0, 0}, 2}
			}
			if on[1] {
				ly = Series{y.Value, []float64{b, -a * b, 0, 0, 0, 0}, 2}
			}
			want := make([]float64, order)
			line.Apply(op, want, v, lx, ly)
			for k := 1; k <= order; k++ {
				sum, size := 0.0, 0.0
				from, end := space.Block(k)
				for c := from; c < end; c++ {
					e := space.Monomial(nil, c)
					term := got[c] * math.Pow(a, float64(e[0])) * math.Pow(b, float64(e[1]))
					sum, size = sum+term, size+math.Abs(term)
				}
				if e := math.Abs(sum - want[k-1]); !(e <= 1e-12*max(size, math.Abs(want[k-1]))) && !(e <= 1e-20) {
					t.Errorf("%v along (%v, %v): part %d is %v, want %v", r, a, b, k, sum, want[k-1])
				}
			}
		}
	}
}

// TestMonomials pins the order of monomials, and bounds by variable.
func TestMonomials(t *testing.T) {
	s := Powers(3, []int{3, 1})
	want := [][]int{{1, 0}, {0, 1}, {2, 0}, {1, 1}, {3, 0}, {2, 1}}
	if s.Size() != len(want) {
		t.Fatalf("%d monomials, want %d", s.Size(), len(want))
	}
	for i, w := range want {
		if got := s.Monomial(nil, i); got[0] != w[0] || got[1] != w[1] {
			t.Errorf("monomial %d is %v, want %v", i, got, w)
		}
		if at, ok := s.Find(w); !ok || at != i {
			t.Errorf("Find(%v) = %d, %v", w, at, ok)
		}
	}
	for _, e := range [][]int{{0, 2}, {4, 0}, {2, 2}, {-1, 0}, {1}} {
		if _, ok := s.Find(e); ok {
			t.Errorf("Find(%v) is found", e)
		}
	}
	for _, c := range []struct {
		order  int
		orders []int
	}{{3, []int{3, 1}}, {4, []int{4, 4, 4}}, {2, []int{2, 2, 2, 2, 2}}, {5, []int{2, 0, 3}}} {
		s := Powers(c.order, c.orders)
		size, terms := ProductTerms(s.Order(), c.orders)
		count := 2*s.Size() + 1 // products with the value
		for _, row := range s.powers.tables {
			for _, table := range row {
				count += len(table)
			}
		}
		if size != s.Size()+1 || terms != count {
			t.Errorf("ProductTerms(%v) = %d, %d; the space has %d and %d", c, size, terms, s.Size()+1, count)
		}
	}
	if size, terms := ProductTerms(50, make50()); size != math.MaxInt || terms != math.MaxInt {
		t.Errorf("order 50 of 50 variables has %d coefficients", size)
	}
}

func make50() []int {
	o := make([]int, 50)
	for i := range o {
		o[i] = 50
	}
	return o
}

// TestPlans: a plan is made once for the choices that it depends on, and most operations have few recurrences.
func TestPlans(t *testing.T) {
	m := NewArithmetic(Line(20))
	dst := make([]float64, 20)
	x := Series{C: append([]float64{1, 2, 3}, make([]float64, 17)...), Degree: 3}
	for _, v := range []float64{0.5, 1, 0, 2, 0, 3} {
		x.Value = v
		m.Apply(rules.Pow, dst, v*v*v, x, Series{Value: 3})
	}
	if n := len(*m.planned(rules.Pow, true, false)); n != 2 {
		t.Errorf("x³ at 0 and elsewhere has %d plans, want 2", n)
	}
	for op, most := range map[rules.Op]int{rules.Exp: 2, rules.Sin: 3, rules.Log: 3, rules.Tan: 4, rules.Erf: 6} {
		x.Value = 0.5
		p := m.find(op, value(op, [3]float64{0.5}), x, Series{})
		if len(p.code) > most {
			t.Errorf("%v has %d recurrences, want at most %d", op, len(p.code), most)
		}
	}
	x.Value = 0.75
	m.Apply(rules.Jn, dst, 0, Series{Value: 2}, x)
	if p := (*m.planned(rules.Jn, false, true))[0]; len(p.nodes) > 200 {
		t.Errorf("jn to order 20 has %d nodes: equal orders are not recognised", len(p.nodes))
	}
	if n := testing.AllocsPerRun(100, func() { m.Apply(rules.Jn, dst, 0, Series{Value: 2}, x) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
