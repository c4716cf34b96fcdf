package expression

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/internal/randfunc"
	"github.com/nabla-ad/nabla/program"
	"github.com/nabla-ad/nabla/rules"
)

// moderate reports whether the results of all operations that roots need at x are in the range for which bounds are
// stated.
func (g *graph) moderate(roots []int32, x []float64) bool {
	on := g.reach(roots)
	v := make([]float64, len(g.nodes))
	for id := range v {
		switch n := &g.nodes[id]; n.op {
		case program.Input:
			v[id] = x[n.k]
		case program.Const:
			v[id], _ = g.value(int32(id))
		default:
			var a [3]float64
			for i, k := range g.args(int32(id)) {
				a[i] = v[k]
			}
			v[id] = evaluate(rules.Op(n.op), a)
		}
		if m := math.Abs(v[id]); on[id] && m != 0 && !(m > 0x1p-500 && m < 0x1p500) {
			return false
		}
	}
	return true
}

// checkData compares the value and the Jacobian of the function that data makes, by all methods and with all rules,
// with those of the recorded program and its reverse sweeps. It returns the number of comparisons.
func checkData(t *testing.T, data []byte) (compared int, err error) {
	t.Helper()
	if len(data) > 0 {
		data[0] &^= 4 | 8 // moderate constants and points
	}
	f, points := randfunc.New(data, 2, randfunc.Options{M: 2})
	r, err := nabla.Record(f.Real().Vector, points[0])
	if err != nil {
		return 0, fmt.Errorf("%w: %w", longtest.ErrRefused, err)
	}
	p := r.Program()
	reverse := program.Simplify(program.Jacobian(p, program.JacobianOptions{}))
	random := rand.New(rand.NewPCG(1, 2))
	g := newGraph(bare)
	slot, err := g.load(reverse)
	if err != nil { // it has branches
		return 0, fmt.Errorf("%w: %w", longtest.ErrRefused, err)
	}
	roots := make([]int32, len(reverse.Result))
	for i, s := range reverse.Result {
		roots[i] = slot[s]
	}
	var tried []*program.Program
	for _, exact := range []bool{true, false} {
		q, err := Simplify(reverse, exact)
		if err != nil {
			t.Fatal(err)
		}
		if q.Operations() > reverse.Operations() {
			return 0, fmt.Errorf("operations: %d, and simplified %d", reverse.Operations(), q.Operations())
		}
		tried = append(tried, q)
		m, err := Differentiate(p, Options{Exact: exact})
		if err != nil || m == nil {
			t.Fatal(m, err)
		}
		if d := m.Dense(); d.Operations() > reverse.Operations() {
			return 0, fmt.Errorf("operations: %d, and by %v %d", reverse.Operations(), m.Method, d.Operations())
		}
		tried = append(tried, m.Dense())
	}
	for _, x := range points {
		want := run(t, reverse, x)
		usual := g.moderate(roots, x)
		var spreads []float64
		if usual {
			spreads = spread(t, random, reverse, x)
		}
		for i, q := range tried {
			got := run(t, q, x)
			for k, v := range got[0] {
				compared++
				if math.Float64bits(v) != math.Float64bits(want[0][k]) && (v == v || want[0][k] == want[0][k]) {
					return compared, fmt.Errorf("value: number %d of program %d is %v, want %v\n%v", k, i, v,
						want[0][k], p)
				}
			}
			for k, v := range got[1] {
				w := want[1][k]
				if i == 0 && math.Float64bits(v) != math.Float64bits(w) && (v == v || w == w) {
					return compared, fmt.Errorf("bits: entry %d is %v with rules that keep every bit, want %v\n%v",
						k, v, w, p)
				}
				if i > 0 && (!usual || !(spreads[k] < math.Inf(1))) {
					continue
				}
				compared++
				if i > 0 && !(math.Abs(v-w) <= 200*spreads[k]+1e-12*math.Abs(w)+0x1p-500) {
					return compared, fmt.Errorf(
						"derivative: at %v: entry %d of program %d is %v, want %v, roundings change it by %v\n%v\n%v",
						x, k, i, v, w, spreads[k], p, q)
				}
			}
		}
	}
	return compared, nil
}

// TestRandomFunctions searches for random functions with wrong values or derivatives.
func TestRandomFunctions(t *testing.T) {
	longtest.Serial(t)
	c := longtest.Search{Few: 50, Usual: 400, Many: 12_000, Check: func(seed uint64) (int, error) {
		r := rand.New(rand.NewPCG(seed, 3))
		data := make([]byte, 10+r.IntN(120))
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		return checkData(t, data)
	}}.Run(t)
	if c.Cases-c.Refused < c.Cases/20 {
		t.Errorf("of %d functions %d were compared", c.Cases, c.Cases-c.Refused)
	}
}

func FuzzDifferentiate(f *testing.F) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 4))
		data := make([]byte, 60)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := checkData(t, data); err != nil && !errors.Is(err, longtest.ErrRefused) {
			t.Fatal(err)
		}
	})
}
