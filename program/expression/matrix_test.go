package expression

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/program"
	"github.com/nabla-ad/nabla/rules"
)

// randomProgram returns a random acyclic graph of smooth operations with n inputs and m outputs. Operations prefer
// recent values, so that paths are long and share nodes.
func randomProgram(r *rand.Rand, n, m, size int) *program.Program {
	p := &program.Program{Ins: []program.Group{{Name: "x", N: n}}, Outs: []program.Group{{Name: "y", N: m}}}
	add := func(s program.Stmt) {
		s.D = p.Slots
		p.Stmts = append(p.Stmts, s)
		p.Slots += s.N
	}
	add(program.Stmt{Op: program.Input, N: int32(n)})
	unary := []rules.Op{rules.Sin, rules.Cos, rules.Tanh, rules.Neg, rules.Sq, rules.Atan, rules.Exp, rules.Abs}
	binary := []rules.Op{rules.Add, rules.Sub, rules.Mul, rules.Mul, rules.Add, rules.Max, rules.Div}
	slot := func() program.Operand {
		back := int32(r.IntN(6))
		if r.IntN(3) == 0 {
			back = int32(r.IntN(int(p.Slots)))
		}
		return program.Slot(max(0, p.Slots-1-back))
	}
	for range size {
		switch k := r.IntN(10); {
		case k < 3:
			add(program.Stmt{Op: program.Op(unary[r.IntN(len(unary))]), N: 1, A: slot()})
			if p.Stmts[len(p.Stmts)-1].Op == program.Op(rules.Exp) { // keep values moderate
				p.Stmts[len(p.Stmts)-1].Op = program.Op(rules.Logistic)
			}
		case k < 4:
			p.Consts = append(p.Consts, float64(r.IntN(7)-3)/2)
			add(program.Stmt{Op: program.Const, N: 1, K: int32(len(p.Consts) - 1)})
		default:
			op := binary[r.IntN(len(binary))]
			s := program.Stmt{Op: program.Op(op), N: 1, A: slot(), B: slot()}
			if op == rules.Div { // by something between 1 and 2
				add(program.Stmt{Op: program.Op(rules.Logistic), N: 1, A: s.B})
				s.B = program.Slot(p.Slots - 1)
			}
			add(s)
			add(program.Stmt{Op: program.Op(rules.Tanh), N: 1, A: program.Slot(p.Slots - 1)})
		}
	}
	for i := range m {
		p.Result = append(p.Result, max(0, p.Slots-1-int32(i*r.IntN(4))))
	}
	return p
}

// run returns the output groups of p at x.
func run(t *testing.T, p *program.Program, x []float64) [][]float64 {
	t.Helper()
	if err := program.Check(p); err != nil {
		t.Fatalf("%v\n%v", err, p)
	}
	machine := program.NewMachine(program.Schedule(p))
	copy(machine.Input(0), x)
	if !machine.Run() {
		t.Fatal("a guard failed")
	}
	out := make([][]float64, len(p.Outs))
	for i, g := range p.Outs {
		out[i] = make([]float64, g.N)
		machine.Output(i, out[i])
	}
	return out
}

// point returns a random point.
func point(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	return x
}

func allFinite(v []float64) bool {
	for _, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}

// spread returns how much the entries of the last output group of p change at x if each operation is changed by up to a
// unit in the last place: what rounding errors may be expected.
func spread(t *testing.T, r *rand.Rand, p *program.Program, x []float64) []float64 {
	t.Helper()
	g := newGraph(bare)
	slot, err := g.load(p)
	if err != nil {
		t.Fatal(err)
	}
	last := p.Outs[len(p.Outs)-1].N
	out := make([]float64, last)
	none, noise := func() float64 { return 0 }, func() float64 { return 2*r.Float64() - 1 }
	for i, s := range p.Result[len(p.Result)-last:] {
		v := g.noisy(slot[s], x, none)
		for range 8 {
			out[i] = math.Max(out[i], math.Abs(g.noisy(slot[s], x, noise)-v))
		}
	}
	return out
}

// agree compares entries up to rounding errors.
func agree(got, want, spread []float64) bool {
	for i, v := range want {
		if !(math.Abs(got[i]-v) <= 100*spread[i]+1e-13*math.Abs(v)+0x1p-1000) {
			return false
		}
	}
	return true
}

// TestDerivatives compares the Jacobian by each method with that of sweeps in reverse, on random graphs, and counts
// operations: the method that is taken never needs more than the better of the sweeps.
func TestDerivatives(t *testing.T) {
	longtest.Serial(t)
	r := rand.New(rand.NewPCG(3, 4))
	methods := [3]int{}
	for range longtest.Cases(0, 30, 250, 2000) {
		n, m := 1+r.IntN(4), 1+r.IntN(4)
		p := randomProgram(r, n, m, 2+r.IntN(30))
		x := point(r, n)
		reverse := program.Simplify(program.Jacobian(p, program.JacobianOptions{}))
		forward := program.Simplify(program.Jacobian(p, program.JacobianOptions{Forward: true}))
		want := run(t, reverse, x)
		if !allFinite(want[1]) { // a quotient by a number that underflows
			continue
		}
		errors := spread(t, r, reverse, x)
		for _, exact := range []bool{false, true} {
			d, err := Differentiate(p, Options{Exact: exact})
			if err != nil {
				t.Fatal(err)
			}
			methods[d.Method]++
			q := d.Dense()
			got := run(t, q, x)
			if !agree(got[1], want[1], errors) {
				t.Fatalf("exact %v, %v: %v, want %v\n%v", exact, d.Method, got[1], want[1], p)
			}
			for i, v := range got[0] {
				if math.Float64bits(v) != math.Float64bits(want[0][i]) {
					t.Fatalf("value %v, want %v", v, want[0][i])
				}
			}
			if ops, least := q.Operations(), min(reverse.Operations(), forward.Operations()); ops > least {
				t.Errorf("exact %v, %v: %d operations, want at most %d", exact, d.Method, ops, least)
			}
			// The factorisation itself, whether or not it is the cheapest.
			g := newGraph(levelOf(exact))
			slot, err := g.load(p)
			if err != nil {
				t.Fatal(err)
			}
			var roots, leaves []int32
			for _, s := range p.Result {
				for j := range n {
					roots, leaves = append(roots, slot[s]), append(leaves, g.input(j))
				}
			}
			v, ok, done := g.derivatives(roots, leaves, DefaultLimit)
			if !done {
				t.Fatal("the limit of work")
			}
			nodes := make([]int32, len(v))
			for k := range v {
				nodes[k] = g.constant(0)
				if ok[k] {
					nodes[k] = g.node(v[k])
				}
			}
			if got := run(t, g.program([]output{{"none", nil}, {"jac", nodes}}), x)[1]; !agree(got, want[1], errors) {
				t.Fatalf("exact %v: D* gives %v, want %v\n%v", exact, got, want[1], p)
			}
		}
	}
	t.Logf("factorised %d, forward %d, reverse %d", methods[0], methods[1], methods[2])
}
