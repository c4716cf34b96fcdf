package coloring

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestOrders(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 10 {
		sym := randomSymmetric(r, 15, 0.15)
		gen := random(r, 10, 14, 0.2)
		for _, problem := range problems {
			p := gen
			if problem.Structure == Symmetric {
				p = sym
			}
			for _, order := range orders {
				perm := must(Permutation(p, problem, order))
				sorted := slices.Clone(perm)
				slices.Sort(sorted)
				for v, w := range sorted {
					if v != w {
						t.Fatalf("%v is no permutation: %v", order, perm)
					}
				}
				if d, ok := order.(Dynamic); ok {
					if err := ValidDynamicOrder(p, problem, d, perm); err != nil {
						t.Fatalf("%v: %v", problem, err)
					}
				}
			}
			near := competitors(p, problem)
			for sign, order := range map[int]Order{1: LargestFirst{}, -1: SmallestFirst{}} {
				perm := must(Permutation(p, problem, order))
				for k := 1; k < len(perm); k++ {
					a, b := sign*count(near[perm[k-1]]), sign*count(near[perm[k]])
					if a < b || a == b && perm[k-1] > perm[k] {
						t.Fatalf("%v, %v: %d stands before %d", problem, order, perm[k-1], perm[k])
					}
				}
			}
		}
	}
}

func count(b []bool) (n int) {
	for _, v := range b {
		if v {
			n++
		}
	}
	return n
}

func TestRandomOrderIsReproducible(t *testing.T) {
	p := grid(10)
	one := must(Permutation(p, Problem{}, Random{1}))
	if !slices.Equal(one, must(Permutation(p, Problem{}, Random{1}))) {
		t.Error("one seed, two orders")
	}
	if slices.Equal(one, must(Permutation(p, Problem{}, Random{2}))) {
		t.Error("two seeds, one order")
	}
}

// TestTies: both ways to break ties are orders by the same rule, and different.
func TestTies(t *testing.T) {
	p := randomSymmetric(rand.New(rand.NewPCG(1, 1)), 60, 0.1)
	problem := Problem{Structure: Symmetric}
	if slices.Equal(must(Permutation(p, problem, SmallestLast)),
		must(Permutation(p, problem, Dynamic{Descending: true, ColPack: true}))) {
		t.Error("ties are broken in the same way")
	}
}

func TestValidDynamicOrderRefuses(t *testing.T) {
	p := arrowhead(5)
	problem := Problem{Structure: Symmetric}
	for _, c := range []struct {
		order    Dynamic
		perm     []int
		position int
	}{
		{DynamicLargestFirst, []int{1, 0, 2, 3, 4}, 0}, // the hub comes first
		{SmallestLast, []int{1, 2, 3, 4, 0}, 4},        // and never last
		{IncidenceDegree, []int{1, 2, 0, 3, 4}, 1},     // next to 1 stands only 0
		{IncidenceDegree, []int{0, 1, 1, 3, 4}, 2},
		{IncidenceDegree, []int{0, 1, 5, 3, 4}, 2},
	} {
		var e *OrderError
		if err := ValidDynamicOrder(p, problem, c.order, c.perm); !errors.As(err, &e) || e.Position != c.position {
			t.Errorf("%v %v: %v", c.order, c.perm, err)
		}
	}
	var e *LengthError
	if err := ValidDynamicOrder(p, problem, SmallestLast, []int{0}); !errors.As(err, &e) {
		t.Error(err)
	}
}
