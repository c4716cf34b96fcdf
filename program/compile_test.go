package program

import (
	"testing"

	"github.com/nabla-ad/nabla/rules"
)

// TestLanesPossible: programs of equal parts may have as many lanes as parts, and a long sum as many as terms.
func TestLanesPossible(t *testing.T) {
	// sines returns n chains of k sines, and adds the results in their order. Partial sums are outputs if read is set.
	sines := func(n, k int, read bool) *Program {
		b := derive(&Program{})
		x := b.input("x", n)
		var y []int32
		sum := int32(-1)
		for i := range n {
			s := x + int32(i)
			for range k {
				s = b.op1(rules.Sin, 1, Slot(s))
			}
			if sum < 0 {
				sum = s
				continue
			}
			if sum = b.op2(rules.Add, 1, Slot(sum), Slot(s)); read {
				y = append(y, sum, sum)
			}
		}
		b.output("y", append(y, sum))
		return b.p
	}
	for _, c := range []struct {
		n, k int
		read bool
		want bool
	}{
		{100, 3, false, true}, {10, 3, false, false}, {100, 0, false, true}, {100, 1, true, false},
		{2, 100, false, false},
	} {
		p := sines(c.n, c.k, c.read)
		if got := p.lanesPossible(); got != c.want {
			t.Errorf("%d chains of %d sines, partial sums are read %v: got %v", c.n, c.k, c.read, got)
		}
		s := Schedule(p)
		if many := s.Operations() >= manyLanes*(len(s.Stmts)-1); many != c.want { // without the input
			t.Errorf("%d chains of %d sines, partial sums are read %v: the schedule has many lanes: %v", c.n, c.k,
				c.read, many)
		}
	}
}
