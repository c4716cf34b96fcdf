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
