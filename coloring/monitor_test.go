package coloring

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/sparsity"
)

// hubPattern is that of a graph with n vertices of which a few have edges to most others.
func hubPattern(t *testing.T, n int) *sparsity.Pattern {
	r := rand.New(rand.NewPCG(5, 6))
	var is, js []int
	for i := range n {
		is, js = append(is, i), append(js, i)
		for range 3 {
			j := int(float64(n) * r.Float64() * r.Float64() * r.Float64() * r.Float64() * r.Float64() * r.Float64())
			is, js = append(is, i, j), append(js, j, i)
		}
	}
	p, err := sparsity.FromEntries(n, n, is, js)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestMonitor: the monitor of a search sees it go on, in every problem and order, and its
// error ends it at once.
func TestMonitor(t *testing.T) {
	longtest.Serial(t)
	p := hubPattern(t, 10_000)
	orders := []Order{SmallestFirst{}, Natural{}, Random{1}}
	for _, problem := range []Problem{
		{}, {Partition: Row}, {Partition: Bidirectional}, {Structure: Symmetric},
		{Structure: Symmetric, Decompression: Substitution}, {Partition: Bidirectional, Decompression: Substitution},
	} {
		calls, last := 0, 0
		a := Greedy{Orders: orders, Postprocess: true, Monitor: func(done, total int) error {
			if done < last || done > total || total < 10_000 {
				t.Errorf("%v: %d of %d after %d", problem, done, total, last)
			}
			calls, last = calls+1, done
			return nil
		}}
		c, err := a.Color(p, problem)
		if err != nil || calls < 2 {
			t.Errorf("%v: %d calls, %v", problem, calls, err)
			continue
		}
		a.Monitor = nil
		if d, err := a.Color(p, problem); err != nil || d.Colors() != c.Colors() {
			t.Errorf("%v: %v with a monitor, %v without, %v", problem, c, d, err)
		}
		stop := errors.New("stop")
		for _, at := range []int{1, 2, calls} {
			n := 0
			a.Monitor = func(done, total int) error {
				if n++; n == at {
					return stop
				}
				return nil
			}
			if _, err := a.Color(p, problem); !errors.Is(err, stop) || n != at {
				t.Errorf("%v: stopped at call %d: %v after %d calls", problem, at, err, n)
			}
		}
	}
}

// TestGivenUp: an order that takes many more colours than one before it is given up, and
// one that takes fewer is not.
func TestGivenUp(t *testing.T) {
	longtest.Serial(t)
	p := hubPattern(t, 20_000)
	problem := Problem{Structure: Symmetric}
	seen := func(orders ...Order) (*Coloring, int) {
		visited, before := 0, 0
		c, err := Greedy{Orders: orders, Monitor: func(done, _ int) error {
			visited += done - before
			before = done
			return nil
		}}.Color(p, problem)
		if err != nil {
			t.Fatal(err)
		}
		return c, visited
	}
	few, _ := seen(SmallestFirst{})
	many, _ := seen(LargestFirst{})
	if many.Colors() < 4*few.Colors() {
		t.Fatalf("%d and %d colours", few.Colors(), many.Colors())
	}
	for _, orders := range [][]Order{{SmallestFirst{}, LargestFirst{}}, {LargestFirst{}, SmallestFirst{}}} {
		if c, _ := seen(orders...); c.Colors() != few.Colors() {
			t.Errorf("%v: %d colours, want %d", orders, c.Colors(), few.Colors())
		}
	}
	w := &watch{limit: few.Colors()}
	g := newGraph(p, problem)
	if star(g, LargestFirst{}.permute(g), w) != nil || w.done > g.n/2 {
		t.Errorf("given up after %d of %d vertices", w.done, g.n)
	}
}
