package sparsity

import (
	"maps"
	"math"
	"math/rand/v2"
	"testing"
)

// randomGraph has n inputs, about size nodes and m outputs. Operands are near, so
// that patterns are sparse, or anywhere.
func randomGraph(r *rand.Rand, n, size, m int, near bool) *graph {
	g := &graph{n: n}
	pick := func() int32 {
		switch {
		case near && g.size() > 20:
			return int32(g.size() - 1 - r.IntN(20))
		case r.IntN(3) == 0:
			return int32(r.IntN(n + 1))
		}
		return int32(r.IntN(g.size()))
	}
	all := classes()
	for range size {
		c := all[1+r.IntN(len(all)-1)]
		if r.IntN(2) == 0 {
			c = linear
		}
		g.apply(c, pick(), pick())
	}
	for range m {
		g.outs = append(g.outs, int32(r.IntN(g.size())))
	}
	return g
}

// set is a set of inputs or of pairs of inputs.
type set map[[2]int]bool

// naive propagates sets of inputs and of pairs through every node, as one would
// write it first.
func naive(g *graph) (grads, hesses []set) {
	grads, hesses = make([]set, g.size()), make([]set, g.size())
	for v := range g.size() {
		grads[v], hesses[v] = set{}, set{}
		n := g.node(int32(v))
		switch {
		case v == 0:
		case v <= g.n:
			grads[v][[2]int{v - 1, 0}] = true
		}
		union := func(bit class, from int32) {
			if n.class&bit != 0 {
				maps.Copy(grads[v], grads[from])
				maps.Copy(hesses[v], hesses[from])
			}
		}
		union(first1, n.a)
		union(first2, n.b)
		product := func(bit class, a, b int32) {
			if n.class&bit == 0 {
				return
			}
			for i := range grads[a] {
				for j := range grads[b] {
					hesses[v][[2]int{i[0], j[0]}] = true
					hesses[v][[2]int{j[0], i[0]}] = true
				}
			}
		}
		product(second11, n.a, n.a)
		product(second22, n.b, n.b)
		product(second12, n.a, n.b)
	}
	return grads, hesses
}

func TestAgainstNaiveSets(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 7))
		n := 1 + r.IntN(150)
		switch seed % 10 {
		case 0:
			n = 64 * (1 + r.IntN(2))
		case 1:
			n += 64 * smallBlocks
		}
		g := randomGraph(r, n, r.IntN(300), r.IntN(150), seed%2 == 0)
		grads, hesses := naive(g)

		var i, j []int
		for k, v := range g.outs {
			for e := range grads[v] {
				i, j = append(i, k), append(j, e[0])
			}
		}
		want := entries(t, len(g.outs), n, i, j)
		check(t, seed, "Jacobian by sweeps", g.sweepJacobian(), want)
		p, ok := g.walkJacobian(math.MaxInt64)
		if !ok {
			t.Fatal("a walk gave up")
		}
		check(t, seed, "Jacobian by walks", p, want)
		check(t, seed, "Jacobian", g.jacobian(), want)
		check(t, seed, "transposed Jacobian by walks", p.Transpose(), entries(t, n, len(g.outs), j, i))

		i, j = nil, nil
		for _, v := range g.outs {
			for e := range hesses[v] {
				i, j = append(i, e[0]), append(j, e[1])
			}
		}
		want = entries(t, n, n, i, j)
		g.clearDead()
		check(t, seed, "Hessian by sweeps", g.sweepHessian(), want)
		if p, ok = g.coneHessian(math.MaxInt64); !ok {
			t.Fatal("a cone gave up")
		}
		check(t, seed, "Hessian by cones", p, want)
		check(t, seed, "Hessian", g.hessian(), want)
	}
}

func TestBudgets(t *testing.T) {
	g := randomGraph(rand.New(rand.NewPCG(1, 1)), 100, 1000, 100, false)
	g.clearDead()
	for budget := int64(1); budget < 1<<30; budget *= 2 {
		if p, ok := g.walkJacobian(budget); ok {
			check(t, 0, "Jacobian", p, g.sweepJacobian())
		}
		if p, ok := g.coneHessian(budget); ok {
			check(t, 0, "Hessian", p, g.sweepHessian())
			return
		} else if p != nil {
			t.Fatal("gave up with a pattern")
		}
	}
	t.Fatal("gave up whatever the budget")
}

func entries(t *testing.T, rows, cols int, i, j []int) *Pattern {
	t.Helper()
	p, err := FromEntries(rows, cols, i, j)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func check(t *testing.T, seed uint64, what string, got, want *Pattern) {
	t.Helper()
	if _, err := New(got.rows, got.cols, got.ptr, got.idx); err != nil {
		t.Fatalf("seed %d: %s: %v", seed, what, err)
	}
	if !got.Equal(want) {
		t.Fatalf("seed %d: %s: %d entries, want %d", seed, what, got.NNZ(), want.NNZ())
	}
}
