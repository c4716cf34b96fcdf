package problems

import (
	"testing"

	"github.com/nabla-ad/nabla/internal/timing/timingtest"
)

// TestByHand compares values and derivatives by hand with the references of all cases. They do not allocate.
func TestByHand(t *testing.T) {
	for _, e := range Benchmarked() {
		for _, n := range e.Sizes {
			p, err := e.New(n)
			if err != nil {
				t.Fatal(err)
			}
			hand := p.ByHand()
			size := p.Rows() * p.N
			if hand.Pattern != nil {
				size = hand.Pattern.NNZ()
			} else if e.Sparse {
				t.Errorf("%s: the derivative by hand is dense", p.Name)
			}
			y, d := make([]float64, p.M), make([]float64, size)
			for i := range p.Cases {
				c := p.Select(i)
				hand.Call(y, d, c.X)
				if !p.Hessian {
					checkClose(t, p, "value", y, c.Value)
				}
				want := c.Derivative
				if hand.Pattern != nil {
					want = make([]float64, size)
					for _, e := range c.Elements {
						k, ok := hand.Pattern.Index(e.Row, e.Col)
						if !ok {
							t.Fatalf("%s: no entry (%d, %d)", p.Name, e.Row, e.Col)
						}
						want[k] += e.Value
					}
				}
				checkClose(t, p, "derivative", d, want)
			}
			x := p.Select(0).X
			if n := testing.AllocsPerRun(2, func() { hand.Call(y, d, x) }); n != 0 {
				t.Errorf("%s: %v allocations", p.Name, n)
			}
		}
	}
}

// checkClose compares vectors relative to their largest element.
func checkClose(t *testing.T, p *Problem, what string, got, want []float64) {
	t.Helper()
	scale := largest(want)
	for i, v := range want {
		if !(abs(got[i]-v) <= p.Tolerance*scale) {
			t.Fatalf("%s: element %d of the %s is %v, want %v", p.Name, i, what, got[i], v)
		}
	}
}

func abs(v float64) float64 { return max(v, -v) }

// BenchmarkByHand measures values and derivatives by hand beside the functions.
func BenchmarkByHand(b *testing.B) {
	for _, e := range Benchmarked() {
		p, err := e.New(e.Sizes[len(e.Sizes)-1])
		if err != nil {
			b.Fatal(err)
		}
		b.Run(p.Name, func(b *testing.B) {
			hand, c := p.ByHand(), p.Select(0)
			size := p.Rows() * p.N
			if hand.Pattern != nil {
				size = hand.Pattern.NNZ()
			}
			y, d := make([]float64, p.M), make([]float64, size)
			timingtest.Ratio(b, func() { hand.Call(y, d, c.X) }, func() { p.Eval(y, c.X) })
		})
	}
}
