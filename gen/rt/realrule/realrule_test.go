package realrule

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/reversediff"
)

// TestLayout compares the layouts of random slices of two arrays with the sets of elements that they have in common.
func TestLayout(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	arrays := [2][]nabla.Real{make([]nabla.Real, 9), make([]nabla.Real, 9)}
	for range 2000 {
		var of [][]nabla.Real
		for range 1 + rnd.IntN(4) {
			from := rnd.IntN(9)
			of = append(of, arrays[rnd.IntN(2)][from:from+rnd.IntN(10-from)])
		}
		of = append(of, nil)
		l := layoutOf(of)
		all := make([]int, l.size)
		for i := range all {
			all[i] = i
		}
		used := map[int]bool{}
		for i, a := range of {
			views := memoryAt(l, all, i)
			if len(views) != len(a) || l.places[i].missing != (a == nil) {
				t.Fatalf("slice %d of %d elements has %d, missing: %v", i, len(a), len(views), l.places[i].missing)
			}
			for x, p := range views {
				used[p] = true
				for j, b := range of {
					for y, q := range memoryAt(l, all, j) {
						if (p == q) != (&a[x] == &b[y]) {
							t.Fatalf("element %d of slice %d and %d of %d: at %d and %d", x, i, y, j, p, q)
						}
					}
				}
			}
		}
		if len(used) != l.size {
			t.Fatalf("%d of %d numbers are in slices", len(used), l.size)
		}
	}
}

// double is a rule that doubles a slice, and returns by times the first element before.
func double(by float64, calls *int) Rule {
	*calls++
	return Rule{
		Name: "double", Writes: []bool{true},
		Value: func(f *Frame[float64]) {
			f.Results[0] = by * f.Slices[0][0]
			for i := range f.Slices[0] {
				f.Slices[0][i] *= 2
			}
		},
		Pullback: func(_, d *Frame[float64]) {
			for i := range d.Slices[0] {
				d.Slices[0][i] *= 2
			}
			d.Slices[0][0] += by * d.Results[0]
		},
	}
}

// TestCall: calls write results and memory, with derivatives by the rule, and calls with equal data share the rule.
func TestCall(t *testing.T) {
	var op Operation
	calls := 0
	f := func(x []nabla.Real) nabla.Real {
		y := slices.Clone(x)
		sum := nabla.Const(0)
		for _, by := range []float64{3, 5, 3} {
			f := Frame[nabla.Real]{Slices: [][]nabla.Real{y}, Results: make([]nabla.Real, 1)}
			op.Call(&f, [...]any{by}, func() Rule { return double(by, &calls) })
			sum = sum.Add(f.Results[0])
		}
		return sum.Mul(y[1]) // (3+10+12)·x[0] · 8·x[1]
	}
	g, err := nabla.Gradient(f, reversediff.Backend{}, []float64{2, 7})
	if err != nil || g[0] != 25*8*7 || g[1] != 25*8*2 {
		t.Errorf("%v, %v", g, err)
	}
	if calls != 2 {
		t.Errorf("the rule was made %d times, want 2", calls)
	}
}

// TestMost: data that are always other ones do not fill the memory, and data that cannot be compared are allowed.
func TestMost(t *testing.T) {
	var op Operation
	calls := 0
	call := func(data any) {
		f := Frame[nabla.Real]{Slices: [][]nabla.Real{{nabla.Const(2)}}, Results: make([]nabla.Real, 1)}
		op.Call(&f, data, func() Rule { return double(1, &calls) })
		if v := f.Results[0].Value(); v != 2 || f.Slices[0][0].Value() != 4 {
			t.Errorf("%v and %v, want 2 and 4", v, f.Slices[0][0])
		}
	}
	for i := range 3 * most {
		call([...]any{fmt.Sprint(i)})
	}
	if n := len(op.known); n > most {
		t.Errorf("%d rules are kept, want %d at most", n, most)
	}
	n := len(op.known)
	call([...]any{[]int{1}})
	if len(op.known) != n {
		t.Error("a rule for data that cannot be compared is kept")
	}
}
