package program

import (
	"math"
	"slices"

	"github.com/nabla-ad/nabla/internal/native"
	"github.com/nabla-ad/nabla/rules"
)

// Machine code of more than fewCompiled operations does not fit into caches near the processor: from there on, the
// scheduled program is interpreted if its statements have manyLanes on average. None of more than mostCompiled is made.
const (
	fewCompiled  = 1 << 17
	manyLanes    = 16
	mostCompiled = 1 << 22
)

// Compile returns the machine that runs p fastest: of machine code where the platform has it, otherwise of the
// scheduled program. It computes the same bits either way. p need not be scheduled.
func Compile(p *Program) *Machine {
	operations := p.Operations()
	compile := native.Supported() && operations <= mostCompiled
	var scheduled *Program
	if !compile || operations > fewCompiled {
		scheduled = Schedule(p)
		compile = compile && operations < manyLanes*len(scheduled.Stmts)
	}
	if compile {
		if x := newMachine(staged(p), true); x != nil {
			return x
		}
	}
	if scheduled == nil {
		scheduled = Schedule(p)
	}
	return NewMachine(scheduled)
}

// nativeOps maps an operation to that of machine code; native.None if there is none.
var nativeOps = [256]native.Op{
	rules.Add: native.Add, rules.Sub: native.Sub, rules.Mul: native.Mul, rules.Div: native.Div, rules.Neg: native.Neg,
	rules.Abs: native.Abs, rules.Sq: native.Sq, rules.Sqrt: native.Sqrt, rules.Inv: native.Inv, rules.Stop: native.Move,
	rules.Lt: native.Lt, rules.Le: native.Le, rules.Eq: native.Eq, rules.Select: native.Select,
	GuardLt: native.GuardLt, GuardLe: native.GuardLe, GuardEq: native.GuardEq,
}

// compiled reports whether s becomes machine code in a staged program.
func (s *Stmt) compiled() bool { return s.N == 1 && nativeOps[s.Op] != native.None }

// staged returns p with its arithmetic in stages: those statements that are machine code, in the order of p, and then
// those that need their results and are none, such as exponentials, one statement for all that are equal. A stage has
// the statements that depend on as many results of the latter. All are of one lane before that, and sums are additions.
func staged(p *Program) *Program {
	p = flat(p)
	own := p.owners()
	stage := make([]int32, len(p.Stmts))
	after := make([]int32, len(p.Stmts)) // the stage of what reads the result
	guards, last := int32(0), int32(0)
	for i := range p.Stmts {
		s := &p.Stmts[i]
		now := int32(0)
		ops := [3]Operand{s.A, s.B, s.C}
		for _, o := range ops[:s.Op.Arity()] {
			if o.Stride == 0 && s.terms() > 0 {
				now = max(now, after[own[o.Base]])
				continue
			}
			for l := range s.terms() {
				now = max(now, after[own[p.at(o, l)]])
			}
		}
		switch {
		case s.Op.Guard():
			guards = max(guards, now)
		case s.Op == Call: // on another branch the rule might be called with arguments it does not support
			now = max(now, guards)
		}
		stage[i], after[i] = now, now
		if s.Op.Arity() > 0 && !s.compiled() {
			after[i]++
		}
		last = max(last, now)
	}
	// The place of a statement is its stage, and there whether it is machine code, a guard, or which operation.
	order := make([]int32, 0, len(p.Stmts))
	counts := make([]int32, (last+1)*places+1)
	place := func(i int) int32 {
		s := &p.Stmts[i]
		at := stage[i] * places
		switch {
		case s.Op.Arity() == 0 || s.compiled():
			return at
		case s.Op.Guard():
			return at + 1
		}
		return at + 2 + int32(s.Op)
	}
	for i := range p.Stmts {
		counts[place(i)+1]++
	}
	for k := range counts[1:] {
		counts[k+1] += counts[k]
	}
	order = order[:len(p.Stmts)]
	next := slices.Clone(counts)
	for i := range p.Stmts {
		k := place(i)
		order[next[k]] = int32(i)
		next[k]++
	}
	r := rewrite(p)
	r.p.Outcomes = nil
	for k := range counts[1:] {
		stmts := order[counts[k]:counts[k+1]]
		if len(stmts) == 0 {
			continue
		}
		if int32(k)%places > 1 && groups(&p.Stmts[stmts[0]]) {
			r.emit(stmts)
			continue
		}
		for j := range stmts {
			r.emit(stmts[j : j+1])
		}
	}
	return r.finish()
}

// places is the number of places in a stage: machine code, guards, and each operation.
const places = 2 + int32(numOps)

// flat returns p with statements of one lane in place of elementary ones and guards of many, and additions in place of
// sums.
func flat(p *Program) *Program {
	wide := func(s Stmt) bool { return s.Op == Sum || s.N > 1 && (s.Op.Elementary() || s.Op.Guard()) }
	if !slices.ContainsFunc(p.Stmts, wide) {
		return p
	}
	r := rewrite(p)
	for i := range p.Stmts {
		s := &p.Stmts[i]
		if !wide(*s) {
			r.place(s, r.add(r.mapped(s)))
			continue
		}
		for l := range s.N {
			if s.Op == Sum {
				d := r.slot[p.at(s.A, l*s.K)]
				for k := int32(1); k < s.K; k++ {
					d = r.op2(rules.Add, 1, Slot(d), Slot(r.slot[p.at(s.A, l*s.K+k)]))
				}
				r.slot[s.D+l] = d
				continue
			}
			t := Stmt{Op: s.Op, N: 1, K: s.K}
			ops := [3]*Operand{&t.A, &t.B, &t.C}
			for k, o := range s.Operands() {
				*ops[k] = Slot(r.slot[p.at(o, l)])
			}
			if s.Op.Guard() {
				t.C.Base = s.C.Base + l
				r.add(t)
			} else {
				r.slot[s.D+l] = r.add(t)
			}
		}
	}
	return r.finish()
}

// machineCode is the operation of an instruction that runs a part of the machine code, of number k.
const machineCode = numOps

// instruction returns s, of one lane, for compilation.
func (p *Program) instruction(s *Stmt) native.Instr {
	c := native.Instr{Op: nativeOps[s.Op], D: s.D, A: p.at(s.A, 0)}
	switch {
	case s.Op.Guard():
		c.B, c.D = p.at(s.B, 0), int32(p.Outcomes[s.C.Base])
	case s.Op.Arity() > 1:
		c.B = p.at(s.B, 0)
		if s.Op.Arity() > 2 {
			c.C = p.at(s.C, 0)
		}
	}
	return c
}

// marks sets read for the slots that s reads.
func (p *Program) marks(read []bool, s *Stmt) {
	for _, o := range s.Operands() {
		for l := range s.terms() {
			read[p.at(o, l)] = true
		}
	}
}

// regions returns the number of slots behind those of p in which machine code leaves the outputs, group after group.
func regions(p *Program, compile bool) int {
	if !compile {
		return 0
	}
	return len(p.Result)
}

// A stores is where machine code stores the values of a program that are outputs: each group is contiguous.
type stores struct {
	p     *Program
	first []int32 // slot → the first output that has it, +1
	next  []int32 // output → the next one with the same slot, +1
	done  []bool  // output → machine code stores it
}

// newStores returns the stores of p, nil if there are none.
func newStores(p *Program, compile bool) *stores {
	if !compile {
		return nil
	}
	s := &stores{p: p, first: make([]int32, p.Slots), next: make([]int32, len(p.Result)),
		done: make([]bool, len(p.Result))}
	for j := len(p.Result) - 1; j >= 0; j-- {
		at := p.Result[j]
		s.next[j], s.first[at] = s.first[at], int32(j)+1
	}
	return s
}

// of appends the stores of the value in a slot, which has just been computed, to code.
func (s *stores) of(code []native.Instr, slot int32) []native.Instr {
	for j := s.first[slot]; j > 0; j = s.next[j-1] {
		op := native.Output
		if int(j) <= s.p.Outs[0].N {
			op = native.Store
		}
		code = append(code, native.Instr{Op: op, D: s.p.Slots + j - 1, A: slot})
		s.done[j-1] = true
	}
	return code
}

// groups returns the output groups, and the outputs that are copied after a run since other statements compute them.
// It writes those that are constants to the file m.
func (s *stores) groups(m []float64) (out []outGroup, late []move) {
	p := s.p
	constant := p.constants()
	out = make([]outGroup, len(p.Outs))
	at := int32(0)
	for i, g := range p.Outs {
		o := outGroup{slots: p.Result[at : at+int32(g.N)], run: p.Slots + at, ready: true}
		zero := 0.0
		if i == 0 {
			zero = math.Copysign(0, -1)
		}
		for j, slot := range o.slots {
			to := o.run + int32(j)
			if constant[slot] {
				m[to] = m[slot] + zero
				o.nan = o.nan || m[to] != m[to]
				continue
			}
			if !s.done[at+int32(j)] {
				late = append(late, move{to, slot, zero})
			}
			if n := len(o.varying); n > 0 && o.varying[n-1].to == to {
				o.varying[n-1].to++
			} else {
				o.varying = append(o.varying, slotRange{to, to + 1})
			}
		}
		out[i] = o
		at += int32(g.N)
	}
	return out, late
}
