package expression

import (
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
// with those of the recorded program and its reverse sweeps. It reports whether there was something to compare.
func checkData(t *testing.T, data []byte) bool {
	t.Helper()
	if len(data) > 0 {
		data[0] &^= 4 | 8 // moderate constants and points
	}
	f, points := randfunc.New(data, 2, randfunc.Options{M: 2})
	r, err := nabla.Record(f.Real().Vector, points[0])
	if err != nil {
		return false
	}
	p := r.Program()
	reverse := program.Simplify(program.Jacobian(p, program.JacobianOptions{}))
	random := rand.New(rand.NewPCG(1, 2))
	g := newGraph(bare)
	slot, err := g.load(reverse)
	if err != nil { // it has branches
		return false
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
			t.Errorf("%d operations, and simplified %d", reverse.Operations(), q.Operations())
		}
		tried = append(tried, q)
		m, err := Differentiate(p, Options{Exact: exact})
		if err != nil || m == nil {
			t.Fatal(m, err)
		}
		if d := m.Dense(); d.Operations() > reverse.Operations() {
			t.Errorf("%d operations, and by %v %d", reverse.Operations(), m.Method, d.Operations())
		}
		tried = append(tried, m.Dense())
	}
	compared := false
	for _, x := range points {
		want := run(t, reverse, x)
		usual := g.moderate(roots, x)
		var errors []float64
		if usual {
			errors = spread(t, random, reverse, x)
		}
		for i, q := range tried {
			got := run(t, q, x)
			for k, v := range got[0] {
				if math.Float64bits(v) != math.Float64bits(want[0][k]) && (v == v || want[0][k] == want[0][k]) {
					t.Fatalf("value %d of program %d is %v, want %v\n%v", k, i, v, want[0][k], p)
				}
			}
			for k, v := range got[1] {
				w := want[1][k]
				if i == 0 && math.Float64bits(v) != math.Float64bits(w) && (v == v || w == w) {
					t.Fatalf("entry %d is %v with rules that keep every bit, want %v\n%v", k, v, w, p)
				}
				if !usual || !(errors[k] < math.Inf(1)) {
					continue
				}
				compared = true
				if !(math.Abs(v-w) <= 200*errors[k]+1e-12*math.Abs(w)+0x1p-500) {
					t.Fatalf("at %v: entry %d of program %d is %v, want %v, and roundings change it by %v\n%v\n%v",
						x, k, i, v, w, errors[k], p, q)
				}
			}
		}
	}
	return compared
}

// TestRandomFunctions searches for random functions with wrong values or derivatives.
func TestRandomFunctions(t *testing.T) {
	longtest.Serial(t)
	compared := 0
	n := uint64(longtest.Cases(0, 50, 400, 12_000))
	for seed := range n {
		r := rand.New(rand.NewPCG(seed, 3))
		data := make([]byte, 10+r.IntN(120))
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		if checkData(t, data) {
			compared++
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if compared < int(n)/20 {
		t.Errorf("%d of %d functions were compared", compared, n)
	}
	t.Logf("%d of %d functions were compared", compared, n)
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
	f.Fuzz(func(t *testing.T, data []byte) { checkData(t, data) })
}
