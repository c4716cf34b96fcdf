package coloring

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/nabla-ad/nabla/sparsity"
)

// TestOptimal checks that no greedy colouring beats the optimum, that the optimum is valid, and that on tiny matrices
// it equals that of an exhaustive search.
func TestOptimal(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	better := 0
	for round := range 40 {
		m, n := 1+r.IntN(4), 1+r.IntN(4)
		if round >= 30 {
			m, n = 6, 7
		}
		for _, problem := range problems {
			p := random(r, m, n, 0.5)
			if problem.Structure == Symmetric {
				p = randomSymmetric(r, n, 0.3)
			}
			best := color(t, p, problem, Optimal{})
			if err := valid(best); err != nil {
				t.Fatal(best, err)
			}
			if best.Order() != nil {
				t.Fatal("an optimal colouring has an order")
			}
			if round < 30 {
				if want := exhaust(p, problem); best.Colors() != want {
					t.Fatalf("%v: optimum %d\n%s", best, want, best.Picture())
				}
			}
			for _, order := range orders {
				c := color(t, p, problem, Greedy{Orders: []Order{order}, Postprocess: true})
				if c.Colors() < best.Colors() {
					t.Fatalf("%v beats %v", c, best)
				}
				if c.Colors() > best.Colors() {
					better++
				}
			}
		}
	}
	if better == 0 {
		t.Error("the optimum was never better than greedy: the test shows nothing")
	}
}

// exhaust returns the smallest number of colours that Constant accepts, by trying all colourings.
func exhaust(p *sparsity.Pattern, problem Problem) int {
	m, n := p.Dims()
	rows, cols := m, n
	switch problem.Partition {
	case Column:
		rows = 0
	case Row:
		cols = 0
	}
	colors := make([]int, rows+cols)
	best := rows + cols + 1
	var try func(t, topCol, topRow int)
	try = func(t, topCol, topRow int) {
		if topCol+topRow >= best {
			return
		}
		if t == len(colors) {
			given := Constant{Columns: colors[:cols], Rows: colors[cols:]}
			if _, err := given.Color(p, problem); err == nil {
				best = topCol + topRow
			}
			return
		}
		if t < cols {
			for c := 0; c <= topCol+1; c++ {
				colors[t] = c
				try(t+1, max(topCol, c), topRow)
			}
			return
		}
		for c := 0; c <= topRow+1; c++ {
			colors[t] = c
			try(t+1, topCol, max(topRow, c))
		}
	}
	try(0, 0, 0)
	return best
}

func TestOptimalValues(t *testing.T) {
	for _, c := range []struct {
		name    string
		p       *sparsity.Pattern
		problem Problem
		want    int
	}{
		{"figure 6.1, acyclic", whatFig61, Problem{Structure: Symmetric, Decompression: Substitution}, 3},
		{"figure 4.1, star", whatFig41, Problem{Structure: Symmetric}, 3},
		{"band, star", sparsity.Banded(9, 9, 1, 1), Problem{Structure: Symmetric}, 3},
		{"band, acyclic", sparsity.Banded(9, 9, 1, 1), Problem{Structure: Symmetric, Decompression: Substitution}, 2},
		{"arrowhead, columns", arrowhead(9), Problem{}, 9},
		{"arrowhead, bidirectional", arrowhead(9), Problem{Partition: Bidirectional}, 3},
		{"dense", sparsity.Full(4, 6), Problem{Partition: Bidirectional}, 4},
	} {
		got := color(t, c.p, c.problem, Optimal{})
		if got.Colors() != c.want {
			t.Errorf("%s: %d colours, want %d\n%s", c.name, got.Colors(), c.want, got.Picture())
		}
	}
}

func TestOptimalBudget(t *testing.T) {
	p := randomSymmetric(rand.New(rand.NewPCG(15, 16)), 30, 0.1)
	_, err := Optimal{Budget: 50}.Color(p, Problem{Structure: Symmetric})
	var e *BudgetError
	if !errors.As(err, &e) || e.Budget != 50 || valid(e.Best) != nil {
		t.Fatal(err)
	}
}
