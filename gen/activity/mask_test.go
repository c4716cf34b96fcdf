package activity_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/activity"
)

// TestMask compares masks with maps.
func TestMask(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	names := map[string]activity.Mask{}
	for range 300 {
		n := 1 + r.IntN(200)
		var m activity.Mask
		in := map[int]bool{}
		var list []int
		for range r.IntN(12) {
			i := r.IntN(n)
			m, in[i], list = m.With(i), true, append(list, i)
		}
		if m.Empty() != (len(in) == 0) {
			t.Fatalf("%v: %v is empty", list, m)
		}
		for i := range n + 70 {
			if m.Has(i) != in[i] {
				t.Fatalf("%v: Has(%d) is %v", list, i, m.Has(i))
			}
		}
		var other activity.Mask // in another order
		for i := len(list) - 1; i >= 0; i-- {
			other = other.With(list[i])
		}
		if other != m {
			t.Fatalf("%v: %v and %v differ", list, m, other)
		}
		if old, ok := names[m.String()]; ok && old != m {
			t.Fatalf("two masks have the name %v", m)
		}
		names[m.String()] = m
	}
	for n, want := range map[uint64]string{0: "0", 1: "1", 6: "110", 1 << 63: "1" + strings.Repeat("0", 63)} {
		if m := activity.Bits(n); m.String() != want || n == 6 && m != (activity.Mask{}).With(2).With(1) {
			t.Errorf("Bits(%d) is %v", n, m)
		}
	}
	if m := (activity.Mask{}).With(64).With(0); m.String() != "x10000000000000001" {
		t.Errorf("a long mask is %v", m)
	}
}
