package program

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// whole takes every stretch as it is.
func whole(s stretch, end int) (stretch, bool, int) { return s, true, end }

func TestStretches(t *testing.T) {
	repeat := func(body string, n int) []byte { return slices.Repeat([]byte(body), n) }
	long := make([]byte, 3000)
	for i := range long {
		long[i] = byte(i % 251)
	}
	for _, c := range []struct {
		name  string
		codes []byte
		want  string
	}{
		{"nothing", nil, "[]"},
		{"no loop", []byte("abcdefghijklmnopqrstuvwxyz"), "[]"},
		{"too few iterations", repeat("abcdefgh", 15), "[]"},
		{"one", repeat("abcdefgh", 16), "[{0 8 16}]"},
		{"before and after", slices.Concat([]byte("xyz"), repeat("abcd", 20), []byte("zzy")), "[{3 4 20}]"},
		{"two", slices.Concat(repeat("abcd", 30), []byte("?"), repeat("fgh", 40)), "[{0 4 30} {121 3 40}]"},
		{"an exception", slices.Concat(repeat("abcd", 30), []byte("abXcd"), repeat("abcd", 30)),
			"[{0 4 30} {123 4 30}]"},
		{"the outer one of two", repeat("abababababxyz", 50), "[{0 13 50}]"},
		{"the inner one of two", slices.Concat(slices.Repeat(slices.Concat(repeat("ab", 1000), []byte("x")), 20)),
			fmt.Sprint(func() (s []stretch) {
				for i := range 20 {
					s = append(s, stretch{i * 2001, 2, 1000})
				}
				return s
			}())},
		{"longer than a window", repeat("abcdefghi", 100000), "[{0 9 100000}]"},
		{"a long body", slices.Repeat(long, 40), "[{0 3000 40}]"},
	} {
		got := stretches(c.codes, []gap{{0, len(c.codes)}}, whole, func() {})
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: got %v, want %s", c.name, got, c.want)
		}
	}
	// Not over the end of a part, and not where they are refused.
	codes := repeat("abcd", 100)
	divided := stretches(codes, []gap{{0, 100}, {130, 400}}, whole, func() {})
	if got := fmt.Sprint(divided); got != "[{0 4 25} {130 4 67}]" {
		t.Error(got)
	}
	refuse := func(s stretch, end int) (stretch, bool, int) { return s, s.period > 4, end }
	if got := fmt.Sprint(stretches(codes, []gap{{0, 400}}, refuse, func() {})); got != "[]" {
		t.Error(got)
	}
}

// Stretches repeat, do not overlap, and are in the parts, whatever the codes.
func TestStretchesHold(t *testing.T) {
	found := 0
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 3))
		var codes []byte
		for range 1 + rng.IntN(6) {
			body := make([]byte, 1+rng.IntN(12))
			for i := range body {
				body[i] = byte(rng.IntN(3))
			}
			codes = append(codes, slices.Repeat(body, rng.IntN(60))...)
		}
		var parts []gap
		for lo := 0; lo < len(codes); {
			hi := min(lo+1+rng.IntN(400), len(codes))
			parts = append(parts, gap{lo, hi})
			lo = hi + rng.IntN(3)
		}
		last := 0
		shifted := func(s stretch, end int) (stretch, bool, int) { // as a phase does
			begin := s.start
			s.start += rng.IntN(s.period)
			s.count = rng.IntN((end-s.start)/s.period + 1)
			if s.count == 0 || rng.IntN(5) == 0 {
				return s, false, begin + 1 + rng.IntN(end-begin)
			}
			return s, true, s.end() + rng.IntN(end-s.end()+1)
		}
		for _, s := range stretches(codes, parts, shifted, func() {}) {
			found++
			in := slices.ContainsFunc(parts, func(g gap) bool { return g.lo <= s.start && s.end() <= g.hi })
			if s.start < last || !in {
				t.Fatalf("seed %d: %v begins before %d or is in no part", seed, s, last)
			}
			for i := s.start + s.period; i < s.end(); i++ {
				if codes[i] != codes[i-s.period] {
					t.Fatalf("seed %d: %v does not repeat at %d", seed, s, i)
				}
			}
			last = s.end()
		}
	}
	if found < 1000 {
		t.Errorf("%d stretches: the test sees too few", found)
	}
}

// Nodes are in one component if and only if each leads to the other, and a component follows those that it leads to.
func TestComponents(t *testing.T) {
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 5))
		n := 1 + rng.IntN(12)
		successors := make([][]int32, n)
		leads := make([][]bool, n)
		for i := range n {
			leads[i] = make([]bool, n)
			leads[i][i] = true
		}
		for range rng.IntN(2 * n) {
			i, j := rng.IntN(n), rng.IntN(n)
			if i != j {
				successors[i] = append(successors[i], int32(j))
				leads[i][j] = true
			}
		}
		for k := range n {
			for i := range n {
				for j := range n {
					leads[i][j] = leads[i][j] || leads[i][k] && leads[k][j]
				}
			}
		}
		got := components(successors)
		of := make([]int, n) // node → component, +1
		for c, nodes := range got {
			if !slices.IsSorted(nodes) {
				t.Fatalf("seed %d: %v does not ascend", seed, nodes)
			}
			for _, i := range nodes {
				if of[i] != 0 {
					t.Fatalf("seed %d: node %d is in two components", seed, i)
				}
				of[i] = c + 1
			}
		}
		for i := range n {
			for j := range n {
				switch {
				case of[i] == 0:
					t.Fatalf("seed %d: node %d is in no component", seed, i)
				case (of[i] == of[j]) != (leads[i][j] && leads[j][i]):
					t.Fatalf("seed %d: nodes %d and %d: components %v", seed, i, j, got)
				case leads[i][j] && of[j] > of[i]:
					t.Fatalf("seed %d: node %d leads to %d, which comes later: %v", seed, i, j, got)
				}
			}
		}
	}
}
