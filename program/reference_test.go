package program

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/nabla-ad/nabla/internal/native"
	"github.com/nabla-ad/nabla/rules"
)

// reference runs p statement by statement, lane by lane, term by term. It shares
// no code with Machine. ok is false where a guard did not come out as recorded.
func reference(p *Program, ins [][]float64, params []float64) (outs [][]float64, ok bool) {
	m, ok := referenceSlots(p, ins, params)
	return split(p, m), ok
}

func split(p *Program, m []float64) [][]float64 {
	var outs [][]float64
	at := 0
	for _, g := range p.Outs {
		y := make([]float64, g.N)
		for i := range y {
			y[i] = m[p.Result[at+i]]
		}
		at += g.N
		outs = append(outs, y)
	}
	return outs
}

// addresses lists the slots that operand o reads, n of them.
func addresses(p *Program, o Operand, n int) []int {
	list := make([]int, n)
	for l := range list {
		if o.Stride == Gather {
			list[l] = int(p.Index[int(o.Base)+l])
		} else {
			list[l] = int(o.Base) + l*int(o.Stride)
		}
	}
	return list
}

func referenceSlots(p *Program, ins [][]float64, params []float64) (m []float64, ok bool) {
	m, ok = make([]float64, p.Slots), true
	for _, s := range p.Stmts {
		ok = referenceStmt(p, &s, m, ins, params) && ok
	}
	return m, ok
}

func referenceStmt(p *Program, s *Stmt, m []float64, ins [][]float64, params []float64) (ok bool) {
	ok = true
	n, d := int(s.N), int(s.D)
	switch {
	case s.Op == Input:
		copy(m[d:d+n], ins[s.K])
	case s.Op == Param:
		copy(m[d:d+n], params)
	case s.Op == Const:
		copy(m[d:d+n], p.Consts[s.K:])
	case s.Op == Sum:
		a := addresses(p, s.A, n*int(s.K))
		for l := range n {
			terms := a[l*int(s.K) : (l+1)*int(s.K)]
			v := m[terms[0]]
			for _, t := range terms[1:] {
				v += m[t]
			}
			m[d+l] = v
		}
	case s.Op == Call:
		var x []float64
		for _, a := range addresses(p, s.A, int(s.B.Base)) {
			x = append(x, m[a])
		}
		p.Customs[s.K].Value(m[d:d+n], x)
	case s.Op.Guard():
		a, b := addresses(p, s.A, n), addresses(p, s.B, n)
		for l := range n {
			x, y := m[a[l]], m[b[l]]
			held := map[Op]bool{
				GuardLt: x < y, GuardLe: x <= y, GuardEq: x == y,
				GuardBits: math.Float64bits(x) == math.Float64bits(y) || x != x && y != y,
				GuardInt:  int(x) == int(y),
			}[s.Op]
			ok = ok && held == (p.Outcomes[int(s.C.Base)+l] == 1)
		}
	default:
		op := rules.Op(s.Op)
		ops := [3][]int{}
		for i, o := range [3]Operand{s.A, s.B, s.C} {
			if i < op.Arity() {
				ops[i] = addresses(p, o, n)
			}
		}
		for l := range n {
			switch op.Arity() {
			case 1:
				m[d+l] = rules.Value1(op, m[ops[0][l]])
			case 2:
				m[d+l] = rules.Value2(op, m[ops[0][l]], m[ops[1][l]])
			case 3:
				m[d+l] = rules.Value3(op, m[ops[0][l]], m[ops[1][l]], m[ops[2][l]])
			}
		}
	}
	return ok
}

// referenceJVP is the derivative of p's outputs along dots, one tangent for each
// input group (nil for zero), by forward mode over numbers, with the partial
// derivatives of package rules as numbers. Nothing is multiplied by a zero that
// comes from no dependence.
func referenceJVP(p *Program, ins [][]float64, params []float64, dots [][]float64) [][]float64 {
	m, _ := referenceSlots(p, ins, params)
	dot := make([]float64, p.Slots)
	moves := make([]bool, p.Slots)
	for _, s := range p.Stmts {
		n, d := int(s.N), int(s.D)
		switch {
		case s.Op == Input:
			if dots[s.K] == nil {
				continue
			}
			for l := range n {
				dot[d+l], moves[d+l] = dots[s.K][l], true
			}
		case s.Op == Sum:
			for i, t := range addresses(p, s.A, n*int(s.K)) {
				dot[d+i/int(s.K)] += dot[t]
				moves[d+i/int(s.K)] = moves[d+i/int(s.K)] || moves[t]
			}
		case s.Op == Call:
			var x, xdot []float64
			any := false
			for _, a := range addresses(p, s.A, int(s.B.Base)) {
				x, xdot, any = append(x, m[a]), append(xdot, dot[a]), any || moves[a]
			}
			if any {
				p.Customs[s.K].JVP(dot[d:d+n], x, m[d:d+n], xdot)
			}
			for l := range n {
				moves[d+l] = any
			}
		case s.Op.Elementary():
			op := rules.Op(s.Op)
			for l := range n {
				var a [3]int
				var v [3]float64
				for i, o := range [3]Operand{s.A, s.B, s.C} {
					if i < op.Arity() {
						a[i] = addresses(p, o, n)[l]
						v[i] = m[a[i]]
					}
				}
				add := func(i int, partial float64) {
					if moves[a[i]] {
						dot[d+l] += partial * dot[a[i]]
						moves[d+l] = true
					}
				}
				y := m[d+l]
				switch {
				case op == rules.Select && v[0] != 0:
					add(1, 1)
				case op == rules.Select:
					add(2, 1)
				case op.Choice():
					add(rules.Chosen(op, v[0], v[1]), 1)
				case op == rules.FMA:
					add(0, v[1])
					add(1, v[0])
					add(2, 1)
				case op.Arity() == 1 && rules.Partial(op, 0) != nil:
					add(0, rules.Partial1(op, v[0], y))
				case op.Arity() == 2:
					px, py := rules.Partials2(op, v[0], v[1], y)
					for i, partial := range [2]float64{px, py} {
						if rules.Partial(op, i) != nil {
							add(i, partial)
						}
					}
				}
			}
		}
	}
	return split(p, dot)
}

// runMachine runs p in a Machine.
func runMachine(p *Program, ins [][]float64, params []float64) (outs [][]float64, ok bool) {
	outs, ok = runIn(NewMachine(p), p, ins, params)
	for what, x := range machines(p) {
		for borrowed := range max(3, len(p.Outs)+1) { // 0, or the number of a group: the last run of 3 borrows nothing
			run := runIn
			if borrowed > 0 && borrowed < len(p.Outs) && len(ins) > 0 {
				run = func(x *Machine, p *Program, ins [][]float64, params []float64) ([][]float64, bool) {
					return borrowIn(x, p, ins, params, borrowed)
				}
			}
			got, holds := run(x, p, ins, params)
			if holds != ok {
				panic(fmt.Sprintf("%s: guards hold: %v, want %v, in\n%s", what, holds, ok, p))
			}
			if got := x.AnyNaN(0, len(got)-1); ok && got != anyNaN(outs) {
				panic(fmt.Sprintf("%s: a group has a NaN: %v, in\n%s", what, got, p))
			}
			for i := range got {
				nan := false
				for j, v := range got[i] {
					nan = nan || v != v
					if ok && !sameBits(v, outs[i][j]) {
						panic(fmt.Sprintf("%s: output %d of group %d is %v, want %v, in\n%s", what, j, i, v,
							outs[i][j], p))
					}
				}
				if ok && x.OutputHasNaN(i) != nan {
					panic(fmt.Sprintf("%s: group %d has a NaN: %v, want %v, in\n%s", what, i, !nan, nan, p))
				}
			}
		}
	}
	return outs, ok
}

// anyNaN reports whether one of the numbers is NaN.
func anyNaN(groups [][]float64) bool {
	return slices.ContainsFunc(groups, func(v []float64) bool { return slices.ContainsFunc(v, math.IsNaN) })
}

// machines returns machines of all kinds for p: that of Compile, and each kind of machine code that it might have
// chosen for a program of more statements.
func machines(p *Program) map[string]*Machine {
	all := map[string]*Machine{"compiled": Compile(p), "staged": NewMachine(staged(p)), "chosen": chosen(p)}
	if !native.Supported() {
		return all
	}
	// Code is made slowly: vectors of another number of lanes in each program are enough, or those that are chosen.
	widths := append(native.Widths(), 0)
	vectorLanes = widths[int(p.Slots)/4%len(widths)]
	defer func() { vectorLanes = 0 }()
	for what, x := range map[string]*Machine{
		"instructions": newMachine(staged(p), instructions, nil),
		"loops":        newMachine(staged(p), loops, nil),
		"divided":      divided(p),
		fmt.Sprintf("vectors of %d lanes", vectorLanes): newMachine(Schedule(p), vectors, nil),
	} {
		if x != nil { // the code is of another kind
			all[what] = x
		}
	}
	return all
}

// chosen returns the machine that Compile chooses for p if fewer lanes are many, and fewer operations too many, than
// for users.
func chosen(p *Program) *Machine {
	many, much, few, most := manyLanes, plenty, fewCompiled, mostCompiled
	defer func() { manyLanes, plenty, fewCompiled, mostCompiled = many, much, few, most }()
	n := int(p.Slots)
	manyLanes = 2 + n%3
	plenty, fewCompiled, mostCompiled = manyLanes+n%2, 50*(n%5), 50*(n%7)
	return Compile(p)
}

// divided returns a machine whose work three goroutines divide, even if it is little; nil if there is none.
func divided(p *Program) *Machine {
	if p.Slots%4 > 0 { // goroutines wait for each other where processors are busy: a part of all programs is enough
		return nil
	}
	p = Schedule(p)
	d := divide(p, 3, math.MaxInt32)
	if d == nil || len(p.Customs) > 0 {
		return nil
	}
	loans[3].Add(int64(len(d.ends)))
	loans[4].Add(int64(len(d.starts)))
	return newMachine(p, vectors, d)
}

func init() { leastDivided, cacheLine = 6, 2 }

// loans are the numbers of runs that read an input, and wrote an output group, where the caller has them, of those
// after which such a group was copied when NaNs were sought, and of stages and tasks of divided machines.
var loans [5]atomic.Int64

// borrowIn is runIn with input group 0 and an output group where the caller has them.
func borrowIn(x *Machine, p *Program, ins [][]float64, params []float64, group int) (outs [][]float64, ok bool) {
	var in []float64
	for i, v := range ins {
		at := x.Input(i)
		if i > 0 {
			copy(at, v)
			continue
		}
		in = slices.Clone(v)
		for j := range at {
			at[j] = math.NaN() // not read
		}
	}
	copy(x.Params(), params)
	out := make([]float64, p.Outs[group].N+1)
	for j := range out {
		out[j] = 1.25e-77
	}
	if p.Slots%3 == 0 {
		x.Borrow(in, group, nil)
	} else {
		x.Borrow(in, group, out)
	}
	for k, on := range [2]bool{x.loan.in != nil, x.loan.out != nil} {
		if on {
			loans[k].Add(1)
		}
	}
	ok = x.Run()
	if !slices.EqualFunc(in, ins[0], sameNumber) || out[len(out)-1] != 1.25e-77 {
		panic(fmt.Sprintf("a run wrote to its input %v, want %v, or behind its output %v, in\n%s", in, ins, out, p))
	}
	for i, g := range p.Outs {
		y := make([]float64, g.N)
		if i == group && g.N%2 == 0 {
			y = out[:g.N]
		}
		searched := g.N%3 != 0
		nan := searched && x.OutputHasNaN(i)
		if x.Output(i, y); searched && nan != slices.ContainsFunc(y, math.IsNaN) && ok {
			panic(fmt.Sprintf("group %d has a NaN: %v, but is %v, in\n%s", i, nan, y, p))
		}
		if i == group && x.loan.delivered != nil {
			loans[2].Add(1)
		}
		outs = append(outs, y)
	}
	return outs, ok
}

// runIn runs p in x.
func runIn(x *Machine, p *Program, ins [][]float64, params []float64) (outs [][]float64, ok bool) {
	for i, v := range ins {
		copy(x.Input(i), v)
	}
	copy(x.Params(), params)
	if ok = x.Run(); x.loan.in != nil || x.loan.out != nil {
		panic("a run used memory that was borrowed for another one")
	}
	for i, g := range p.Outs {
		y := make([]float64, g.N)
		for j := range y {
			y[j] = math.NaN()
		}
		x.Output(i, y)
		outs = append(outs, y)
	}
	return outs, ok
}

// sameNumber compares bit for bit, but takes all NaNs for one and, as
// Machine.Output does, both zeros.
func sameNumber(a, b float64) bool {
	return math.Float64bits(a+0) == math.Float64bits(b+0) || a != a && b != b
}

// closeTo compares with a tolerance relative to scale or the numbers, whichever
// is larger.
func closeTo(a, b, scale, tol float64) bool {
	if sameNumber(a, b) {
		return true
	}
	return math.Abs(a-b) <= tol*max(math.Abs(a), math.Abs(b), scale)
}

func compare(t *testing.T, what string, got, want [][]float64, same func(a, b float64) bool) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: got %d groups of outputs, want %d", what, len(got), len(want))
	}
	for i := range want {
		if len(got[i]) != len(want[i]) {
			t.Fatalf("%s: group %d: got %d numbers, want %d", what, i, len(got[i]), len(want[i]))
		}
		for j := range want[i] {
			if !same(got[i][j], want[i][j]) {
				t.Errorf("%s: group %d, output %d: got %v, want %v", what, i, j, got[i][j], want[i][j])
			}
		}
	}
}

// mustParse reads and checks a program.
func mustParse(t *testing.T, text string) *Program {
	t.Helper()
	p, err := Parse(text, testCustoms)
	if err != nil {
		t.Fatal(err)
	}
	mustCheck(t, "parsed", p)
	return p
}

func mustCheck(t *testing.T, what string, p *Program) {
	t.Helper()
	if err := Check(p); err != nil {
		t.Fatalf("%s: %v\n%s", what, err, p)
	}
}

// pass names a transformation that keeps the values of a program.
type pass struct {
	name string
	do   func(*Program) *Program
}

var passes = []pass{
	{"none", func(p *Program) *Program { return p }},
	{"simplify", Simplify},
	{"schedule", Schedule},
	{"simplify, schedule", func(p *Program) *Program { return Schedule(Simplify(p)) }},
	{"schedule, simplify", func(p *Program) *Program { return Simplify(Schedule(p)) }},
	{"schedule twice", func(p *Program) *Program { return Schedule(Schedule(p)) }},
}

func (x pass) String() string { return fmt.Sprintf("after %s", x.name) }
