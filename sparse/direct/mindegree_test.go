package direct

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nabla-ad/nabla/sparsity"
)

// TestMemoryOfLists: the order does not depend on when lists are moved or marks reset.
func TestMemoryOfLists(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 16))
		n := 10 + r.IntN(200)
		var i, j []int
		for range 3 * n {
			a, b := r.IntN(n), r.IntN(n)
			i, j = append(i, a, b), append(j, b, a)
		}
		p, err := sparsity.FromEntries(n, n, i, j)
		if err != nil {
			t.Fatal(err)
		}
		want := symmetricQuotient(p).minimumDegree()
		tight := symmetricQuotient(p)
		tight.list = slices.Clip(tight.list[:tight.free])
		if got := tight.minimumDegree(); !slices.Equal(got, want) {
			t.Errorf("seed %d: another order with little memory", seed)
		}
		if len(tight.list) > 2*p.NNZ() {
			t.Errorf("seed %d: %d nodes in lists for %d entries", seed, len(tight.list), p.NNZ())
		}
		late := symmetricQuotient(p)
		late.flag = math.MaxInt32/2 - r.IntN(n)
		if got := late.minimumDegree(); !slices.Equal(got, want) {
			t.Errorf("seed %d: another order with large marks", seed)
		}
		if late.flag > math.MaxInt32/4 {
			t.Errorf("seed %d: marks were not reset", seed)
		}
	}
}

// TestMerge: variables are merged if they have the same neighbours, and not if only the hashes of these agree.
func TestMerge(t *testing.T) {
	for _, c := range []struct {
		neighbors [2]int // of variable 2; those of variable 1 are 3 and 6
		weight    int32
	}{{[2]int{4, 5}, 1}, {[2]int{3, 6}, 2}} {
		i := []int{0, 0, 1, 1, 2, 2, 3, 3, 3, 4, 4, 5}
		j := []int{1, 2, 3, 6, c.neighbors[0], c.neighbors[1], 4, 5, 6, 5, 6, 6}
		p, err := sparsity.FromEntries(7, 7, slices.Concat(i, j), slices.Concat(j, i))
		if err != nil {
			t.Fatal(err)
		}
		q := symmetricQuotient(p)
		for v := range int32(7) {
			q.enlist(v)
		}
		me := q.pick()
		if me != 0 {
			t.Fatalf("variable %d has the least degree", me)
		}
		q.eliminate(me)
		if got := max(q.weight[1], q.weight[2]); got != c.weight || q.weight[1]+q.weight[2] != 2 {
			t.Errorf("with the neighbours %v the weights are %d and %d", c.neighbors, q.weight[1], q.weight[2])
		}
	}
}
