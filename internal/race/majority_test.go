package race

import (
	"math/bits"
	"testing"
)

// TestLargestClique compares with all subsets.
func TestLargestClique(t *testing.T) {
	const n = 5
	for code := range 1 << (n * (n - 1) / 2) {
		agree := make([][]bool, n)
		for i := range agree {
			agree[i] = make([]bool, n)
			agree[i][i] = true
		}
		bit := 0
		for i := range n {
			for j := range i {
				agree[i][j] = code>>bit&1 == 1
				agree[j][i] = agree[i][j]
				bit++
			}
		}
		best, count := 0, 0
		for set := range 1 << n {
			clique := true
			for i := range n {
				for j := range i {
					clique = clique && (set>>i&1 == 0 || set>>j&1 == 0 || agree[i][j])
				}
			}
			if size := bits.OnesCount(uint(set)); clique && size > best {
				best, count = size, 1
			} else if clique && size == best {
				count++
			}
		}
		if got, several := largestClique(agree); len(got) != best || several != (count > 1) {
			t.Fatalf("%v: %v, several %v; want %d, %d of them", agree, got, several, best, count)
		}
	}
}
