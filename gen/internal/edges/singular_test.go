package edges

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/source"
	"github.com/nabla-ad/nabla/backend/tracker"
)

// forward and reverse are the engines by the direction of their first derivatives: within
// a direction all operations are the same.
var (
	forward = []nabla.Backend{forwarddiff.Backend{}, forwarddiff.Backend{Chunk: 1}, source.Forward{}}
	reverse = []nabla.Backend{reversediff.Backend{Compile: true}, reversediff.Backend{}, tracker.Backend{}, source.Reverse{}}
)

// singular are the numbers at which and near which functions have infinite derivatives,
// kinks and zeros.
var singular = []float64{0, math.Copysign(0, -1), 1, -1, 0.5, 2, -0.5, 3}

// random is a chain over n numbers. Every second step is used only where a register is
// above 0.
func random(r *rand.Rand, n, steps int) *Chain {
	c := &Chain{}
	for i := range steps {
		s := Step{Op: r.IntN(len(Names)), A: r.IntN(n + i), B: r.IntN(n + i), Use: -1}
		if r.IntN(2) == 0 { // nearer to the last one
			s.A = n + i - 1
		}
		if r.IntN(2) == 0 {
			s.Use = r.IntN(n + i)
		}
		c.Steps = append(c.Steps, s)
	}
	return c
}

func (c *Chain) String() (s string) {
	for _, t := range c.Steps {
		s += fmt.Sprintf("%s(%d, %d) if %d; ", Names[t.Op], t.A, t.B, t.Use)
	}
	return s
}

// alike reports whether two derivatives by engines of one direction are the same.
func alike(a, b float64) bool {
	return a == b || a != a && b != b || math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b))
}

// agree reports whether two derivatives by engines of two directions are one answer:
// where one is a number so is the other. Infinities may meet in one direction only, as
// in 2√x - √x forwards, and NaN says so.
func agree(a, b float64) bool {
	return alike(a, b) || a-a != 0 && b-b != 0 && (a != a || b != b)
}

// TestSingular compares the gradients of random compositions at singular points between
// all engines, and with the value of every element where nothing depends on it.
func TestSingular(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 26))
	counts := map[string]int{}
	for range 1500 {
		n := 2
		c := random(r, n, 3)
		f, name := nabla.Bind(Three, c), "Three"
		if r.IntN(2) == 0 {
			n = 1 + r.IntN(3)
			c = random(r, n, 1+r.IntN(5))
			f, name = nabla.Bind(Run, c), "Run"
		}
		x := make([]float64, n)
		for i := range x {
			x[i] = singular[r.IntN(len(singular))]
		}
		gradient := func(b nabla.Backend) []float64 {
			g, err := nabla.Gradient(f, b, x)
			if err != nil {
				t.Fatalf("%s of %v at %v by %s: %v", name, c, x, b.Name(), err)
			}
			return g
		}
		ahead, back := gradient(forward[0]), gradient(reverse[0])
		for i := range x {
			if !agree(ahead[i], back[i]) {
				t.Errorf("%s of %v at %v: %v by %s, %v by %s", name, c, x, ahead, forward[0].Name(), back, reverse[0].Name())
				break
			}
			switch d := back[i]; {
			case d != d:
				counts["NaN"]++
			case math.IsInf(d, 0):
				counts["Inf"]++
			case d == 0:
				counts["0"]++
			default:
				counts["number"]++
			}
		}
		for _, group := range []struct {
			want    []float64
			engines []nabla.Backend
		}{{ahead, forward[1:]}, {back, reverse[1:]}} {
			for _, b := range group.engines {
				got := gradient(b)
				for i := range got {
					if !alike(got[i], group.want[i]) {
						t.Errorf("%s of %v at %v: %v by %s, want %v", name, c, x, got, b.Name(), group.want)
						break
					}
				}
			}
		}
		if t.Failed() && r.IntN(4) == 0 {
			break
		}
	}
	for _, k := range []string{"NaN", "Inf", "0", "number"} {
		if counts[k] < 100 {
			t.Errorf("%d derivatives are %s, of %v: too few", counts[k], k, counts)
		}
	}
}
