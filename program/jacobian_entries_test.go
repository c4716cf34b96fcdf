package program

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/internal/core"
)

// Entries are those of the Jacobian, wanted at random; a nonzero entry that is left out
// is among the others.
func TestEntries(t *testing.T) {
	each(t, 150, kinked.withLanes(), func(t *testing.T, r *rand.Rand, x sample) {
		m, n := x.p.Outs[0].N, x.p.Ins[0].N
		o := EntriesOptions{Rows: r.IntN(m + 1), Cols: r.IntN(n + 1), Others: r.IntN(2) == 0, Alone: r.IntN(3) == 0}
		if r.IntN(3) == 0 { // a Hessian
			x.p = Join(x.p, "y", 0)
			x.p.Outs, x.p.Result = []Group{{"y", 1}}, x.p.Result[m-1:] // the last statement
			x.p = Join(Simplify(VJP(x.p, VJPOptions{Unit: true})), "g", 1)
			o.Rows = r.IntN(n + 1)
			o.Cols, o.Symmetric = o.Rows, true
		}
		wanted := map[Entry]bool{}
		for i := range o.Rows {
			for j := range o.Cols {
				at := Entry{i, j}
				if wanted[at] = r.IntN(3) > 0; o.Symmetric && j < i {
					wanted[at] = wanted[Entry{j, i}]
				}
			}
		}
		o.Ptr = []int{0}
		for j := range o.Cols {
			for i := range o.Rows {
				if wanted[Entry{i, j}] {
					o.Index = append(o.Index, i)
				}
			}
			o.Ptr = append(o.Ptr, len(o.Index))
		}
		outs := len(x.p.Outs)
		if o.Alone {
			outs = 1
		}
		if o.Others {
			outs++
		}
		for _, strong := range []bool{false, true} {
			full := run(t, "jacobian", Jacobian(x.p, JacobianOptions{Strong: strong}), x.ins, x.params)
			jac := full[len(full)-1]
			scale := size([][]float64{jac})
			same := func(what string, got, want float64) {
				t.Helper()
				if got == got && want == want && !closeTo(got, want, scale, 1e-8) ||
					strong && (got == got) != (want == want) {
					t.Errorf("%s is %v, want %v", what, got, want)
				}
			}
			for _, o.Forward = range []bool{false, true} {
				o.Strong = strong
				q, places := Entries(x.p, o)
				for what, q := range map[string]*Program{"entries": q, "scheduled": Schedule(Simplify(q))} {
					what = fmt.Sprintf("%s, forward %v, strong %v", what, o.Forward, strong)
					got := run(t, what, q, x.ins, x.params)
					if len(got) != outs+1 || o.Alone && len(got[0]) > 0 {
						t.Fatalf("%s: %d groups of outputs, want %d", what, len(got), outs+1)
					}
					var others []float64
					if o.Others {
						others, got = got[len(got)-1], got[:len(got)-1]
					}
					if len(others) != len(places) {
						t.Fatalf("%s: %d others in %d places", what, len(others), len(places))
					}
					entries := got[len(got)-1]
					left := map[Entry]float64{}
					for i := range o.Rows {
						for j := range o.Cols {
							if !o.Symmetric || i <= j {
								left[Entry{i, j}] = jac[i*n+j]
							}
						}
					}
					for j := range o.Cols {
						for k := o.Ptr[j]; k < o.Ptr[j+1]; k++ {
							at := Entry{o.Index[k], j}
							same(fmt.Sprintf("%s: %v", what, at), entries[k], jac[at.Row*n+at.Col])
							delete(left, at)
						}
					}
					if !o.Others {
						continue
					}
					for k, at := range places {
						want, ok := left[at]
						if !ok {
							t.Errorf("%s: %v is among the others and was asked for", what, at)
						}
						same(fmt.Sprintf("%s: other %v", what, at), others[k], want)
						delete(left, at)
					}
					for at, v := range left {
						if v != 0 {
							t.Errorf("%s: %v, which is %v, is missing", what, at, v)
						}
					}
				}
			}
		}
	})
}

// TestEntriesCostOfRandom compares the costs of random programs with the numbers of statements that can be reached.
func TestEntriesCostOfRandom(t *testing.T) {
	each(t, 100, kinked.withLanes(), func(t *testing.T, r *rand.Rand, x sample) {
		m, n := x.p.Outs[0].N, x.p.Ins[0].N
		o := EntriesOptions{Rows: m, Cols: n, Ptr: make([]int, n+1), Others: r.IntN(2) == 0}
		for j := range n {
			o.Ptr[j+1] = o.Ptr[j]
			for i := range m {
				if r.IntN(4) == 0 {
					o.Index = append(o.Index, i)
					o.Ptr[j+1]++
				}
			}
		}
		p := single(x.p)
		on, own, in := p.depends(false), p.owners(), p.Stmts[p.activeInput()].D
		outs := p.Result[:m]
		leading := make([]bool, len(p.Stmts)) // an output depends on it
		cost := func(k int) (forward, reverse int) {
			s := &p.Stmts[k]
			return 1 + int(s.terms())/8 + p.inlinedCost(s),
				1 + int(s.terms())/8*len(s.Operands()) + p.inlinedCost(s)
		}
		// reached returns the statements that a slot depends on, by way of slots that are on.
		reached := func(from int32, on func(slot int32) bool) []bool {
			seen := make([]bool, len(p.Stmts))
			seen[own[from]] = true
			for k := len(p.Stmts) - 1; k >= 0; k-- {
				if !seen[k] {
					continue
				}
				for _, slot := range p.reads(nil, &p.Stmts[k]) {
					seen[own[slot]] = seen[own[slot]] || on(slot)
				}
			}
			return seen
		}
		forward, reverse := 0, 0
		for i, s := range outs {
			for k, yes := range reached(s, func(int32) bool { return true }) {
				leading[k] = leading[k] || yes
			}
			if !on[s] || !o.Others && !slices.Contains(o.Index, i) {
				continue
			}
			for k, yes := range reached(s, func(slot int32) bool { return on[slot] }) {
				if yes {
					_, c := cost(k)
					reverse += c
				}
			}
		}
		for j := range n {
			if !o.Others && o.Ptr[j] == o.Ptr[j+1] {
				continue
			}
			depends := make([]bool, p.Slots)
			depends[in+int32(j)] = true
			for k := range p.Stmts {
				s := &p.Stmts[k]
				reads := func(slot int32) bool { return depends[slot] }
				if leading[k] && slices.ContainsFunc(p.reads(nil, s), reads) {
					c, _ := cost(k)
					forward += c
					for l := range s.N {
						depends[s.D+l] = true
					}
				}
			}
		}
		if f, r := EntriesCost(x.p, o, 1<<30); f != forward || r != reverse {
			t.Errorf("got costs %d forward and %d in reverse, want %d and %d", f, r, forward, reverse)
		}
	})
}

// differences is y[i] = (x[i+1]-x[i])², i < n-1, one statement each, and their sum.
func differences(n int) *Program {
	var b strings.Builder
	fmt.Fprintf(&b, "%%0:%d = input x\n", n)
	at := n
	var out []string
	for i := range n - 1 {
		fmt.Fprintf(&b, "%%%d = sub %%%d %%%d\n%%%d = sq %%%d\n", at, i+1, i, at+1, at)
		out = append(out, fmt.Sprintf("%%%d", at+1))
		at += 2
	}
	fmt.Fprintf(&b, "out y [%s]\n", strings.Join(out, " "))
	p, err := Parse(b.String(), nil)
	if err != nil {
		panic(err)
	}
	return p
}

// The sweeps for the entries of a banded matrix visit a number of statements that
// grows with the entries, and not with their square.
func TestEntriesCost(t *testing.T) {
	var forward, reverse []int
	for _, n := range []int{500, 1000} {
		p := differences(n)
		o := EntriesOptions{Rows: n - 1, Cols: n, Ptr: make([]int, n+1), Others: true}
		f, r := EntriesCost(p, o, 1<<30)
		forward, reverse = append(forward, f), append(reverse, r)
		if f, r := EntriesCost(p, o, n); f != n || r != n {
			t.Errorf("with a limit of %d: %d and %d", n, f, r)
		}
		for _, o.Forward = range []bool{false, true} {
			q, places := Entries(p, o)
			if len(places) != 2*(n-1) || len(q.Stmts) > 12*n {
				t.Errorf("%d entries and %d statements for n = %d", len(places), len(q.Stmts), n)
			}
			if !slices.ContainsFunc(places, func(e Entry) bool { return e == Entry{n - 2, n - 1} }) {
				t.Error("the last entry is missing")
			}
		}
	}
	for _, v := range [][]int{forward, reverse} {
		if v[0] < 1000 || v[1] > 2*v[0]+20 {
			t.Errorf("%d visits for 500 inputs and %d for 1000", v[0], v[1])
		}
	}
}

// asked is a context that counts how often it is asked whether to go on.
type asked struct {
	context.Context
	times int
}

func (a *asked) Err() error { a.times++; return a.Context.Err() }

// TestEntriesCostHearsCancellation: each of the two sweeps asks at its first row or column, so
// that a small one asks too, and at every 64th.
func TestEntriesCostHearsCancellation(t *testing.T) {
	for _, c := range []struct{ n, want int }{{2, 2}, {64, 2}, {65, 3}, {66, 4}, {129, 5}} {
		p := differences(c.n)
		on := &asked{Context: t.Context()}
		p.task = &core.Task{Op: "Jacobian", Context: on}
		p.task.Begin()
		EntriesCost(p, EntriesOptions{Rows: c.n - 1, Cols: c.n, Ptr: make([]int, c.n+1), Others: true}, 1<<30)
		if on.times != c.want {
			t.Errorf("n = %d: asked %d times, want %d", c.n, on.times, c.want)
		}
	}
}
