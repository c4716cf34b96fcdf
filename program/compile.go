package program

import (
	"math"
	"slices"

	"github.com/nabla-ad/nabla/internal/native"
	"github.com/nabla-ad/nabla/rules"
)

// Statements of a scheduled program have manyLanes lanes on average from which machine code computes them by vectors.
// Programs of less run as the flat ones that they were, up to mostCompiled operations, and so do those of less than
// plenty lanes, or of many operands that are listed, up to fewCompiled operations, if the flat code is mostly loops: a
// long body, in which values stay in registers, is faster than many short ones, and a listed operand takes as long as
// some of the others. They are variables for tests, which set them to less.
var (
	manyLanes    = 16
	plenty       = 256
	fewCompiled  = 1 << 17
	mostCompiled = 1 << 22
)

// Compile returns the machine that runs p fastest: of machine code where the platform has it, otherwise of the
// scheduled program. It computes the same bits either way, but for the payload and the sign of a NaN. p need not be
// scheduled.
func Compile(p *Program) *Machine { return compile(p, nil) }

// compile is Compile for a program whose schedule may be known.
func compile(p, scheduled *Program) *Machine {
	if native.Supported() {
		lanes := 0
		if scheduled != nil || p.lanesPossible() {
			if scheduled == nil {
				scheduled = Schedule(p)
			}
			lanes = scheduled.Operations() / max(1, len(scheduled.Stmts))
		}
		var x *Machine
		operations := p.Operations()
		switch {
		case lanes < manyLanes && operations <= mostCompiled:
			x = newMachine(staged(single(p)), instructions, nil)
		case lanes >= manyLanes && operations <= fewCompiled && (lanes < plenty || scheduled.listsMany()):
			x = newMachine(staged(single(p)), loops, nil)
		}
		if x == nil && lanes >= manyLanes {
			x = newMachine(scheduled, vectors, nil)
		}
		if x != nil {
			return x
		}
	}
	if scheduled == nil {
		scheduled = Schedule(p)
	}
	return NewMachine(scheduled)
}

// listsMany reports whether an eighth of the operands of p, or more, are listed lane by lane. The terms of a single sum
// are added one by one in any case.
func (p *Program) listsMany() bool {
	listed, all := 0, 0
	for i := range p.Stmts {
		s := &p.Stmts[i]
		for _, o := range s.Operands() {
			n := int(s.terms())
			if all += n; o.Stride != Gather || s.N == 1 {
				continue
			}
			if s.Op != Sum {
				listed += n
				continue
			}
			for t := range s.K { // each is an operand
				if !p.equidistant(o.Base+t, s.K, s.N) {
					listed += int(s.N)
				}
			}
		}
	}
	return 8*listed >= all
}

// equidistant reports whether n elements of the index, a step apart from one on, are at equal distances.
func (p *Program) equidistant(from, step, n int32) bool {
	for l := int32(2); l < n; l++ {
		if at := from + l*step; p.Index[at]-p.Index[at-step] != p.Index[from+step]-p.Index[from] {
			return false
		}
	}
	return true
}

// lanesPossible estimates whether a schedule of p has manyLanes lanes on average: it has a statement for each operation
// of each level, as a rule, since the statements on a level need a result of the one before, apart from additions to a
// sum.
func (p *Program) lanesPossible() bool {
	most := p.Operations() / manyLanes
	uses := p.uses()
	level := make([]int32, p.Slots)
	sums := make([]bool, p.Slots) // an addition, whose only use may continue the sum
	var seen [][4]uint64          // level → the operations on it, as bits
	classes := 0
	var reads []int32
	for i := range p.Stmts {
		s := &p.Stmts[i]
		if s.Op.Arity() == 0 {
			continue
		}
		adds := s.Op == Op(rules.Add) && s.N < fewLanes
		now := int32(0)
		reads = p.reads(reads[:0], s)
		for _, slot := range reads {
			if adds && sums[slot] && uses[slot] == 1 {
				now = max(now, level[slot])
			} else {
				now = max(now, level[slot]+1)
			}
		}
		for l := range s.Width() {
			level[s.D+l], sums[s.D+l] = now, adds
		}
		for int(now) >= len(seen) {
			seen = append(seen, [4]uint64{})
		}
		if word, bit := &seen[now][s.Op/64], uint64(1)<<(s.Op%64); *word&bit == 0 {
			*word |= bit
			if classes++; classes > most {
				return false
			}
		}
	}
	return true
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
	if !p.interrupted() {
		return p
	}
	own := p.owners()
	stage := make([]int32, len(p.Stmts))
	after := make([]int32, len(p.Stmts)) // the stage of what reads the result
	guards, last := int32(0), int32(0)
	var reads []int32
	for i := range p.Stmts {
		s := &p.Stmts[i]
		now := int32(0)
		reads = p.reads(reads[:0], s)
		for _, slot := range reads {
			now = max(now, after[own[slot]])
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

// interrupted reports whether p has operations that are no machine code.
func (p *Program) interrupted() bool {
	for i := range p.Stmts {
		if s := &p.Stmts[i]; s.Op.Arity() > 0 && !s.compiled() {
			return true
		}
	}
	return false
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
	r := rewriteInto(p, make([]Stmt, 0, len(p.Stmts)+p.Operations()))
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
			if !s.Op.Guard() {
				r.lane(s, l)
				continue
			}
			r.add(Stmt{Op: s.Op, N: 1, K: s.K, A: Slot(r.slot[p.at(s.A, l)]), B: Slot(r.slot[p.at(s.B, l)]),
				C: Operand{Base: s.C.Base + l}})
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

// vectorised reports whether s becomes machine code in a scheduled program.
func (p *Program) vectorised(s *Stmt) bool {
	switch {
	case s.Op == Sum:
		return true
	case s.Op.Guard(): // the code compares all lanes with one outcome
		outcomes := p.Outcomes[s.C.Base:][:s.N]
		return nativeOps[s.Op] != native.None && !slices.Contains(outcomes, 1-outcomes[0])
	}
	return nativeOps[s.Op] != native.None
}

// lanes returns s for compilation.
func (p *Program) lanes(s *Stmt) native.Stmt {
	c := native.Stmt{Op: nativeOps[s.Op], N: s.N, D: s.D, A: native.Operand(s.A), B: native.Operand(s.B),
		C: native.Operand(s.C)}
	switch {
	case s.Op == Sum:
		c.Op, c.Terms = native.Add, s.K
	case s.Op.Guard():
		c.D = int32(p.Outcomes[s.C.Base])
	}
	return c
}

// marks sets read for the slots that s reads.
func (p *Program) marks(read []bool, s *Stmt) {
	for _, slot := range p.reads(nil, s) {
		read[slot] = true
	}
}

// regions returns the number of slots behind those of p in which machine code leaves the outputs, group after group.
func regions(p *Program, c coding) int {
	if c == interpreted {
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
func newStores(p *Program, c coding) *stores {
	if c == interpreted {
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
		code = append(code, native.Instr{Op: s.op(j), D: s.p.Slots + j - 1, A: slot})
		s.done[j-1] = true
	}
	return code
}

// op returns the operation that stores output j, +1: the value is kept bit for bit.
func (s *stores) op(j int32) native.Op {
	if int(j) <= s.p.Outs[0].N {
		return native.Store
	}
	return native.Output
}

// ofLanes is of for the values in the n slots from d on. list is that of the operands.
func (s *stores) ofLanes(code []native.Stmt, list *[]int32, d, n int32) []native.Stmt {
	add := func(j, slot, lanes int32, to native.Operand) {
		code = append(code, native.Stmt{Op: s.op(j), N: lanes, A: native.Operand{Base: slot, Stride: 1}, B: to})
	}
	region := s.p.Slots - 1 // output j, +1, is in slot region + j
	var places []int32
	alike := true
	for l := range n {
		j := s.first[d+l]
		if alike = alike && j > 0 && s.op(j) == s.op(s.first[d]); alike {
			places = append(places, region+j)
		}
		if j == 0 {
			continue
		}
		s.done[j-1] = true
		for j = s.next[j-1]; j > 0; j = s.next[j-1] { // further outputs of the slot
			add(j, d+l, 1, native.Operand{Base: region + j})
			s.done[j-1] = true
		}
	}
	if alike {
		if stride, ok := progression(places); ok {
			add(s.first[d], d, n, native.Operand{Base: places[0], Stride: stride})
			return code
		}
		add(s.first[d], d, n, native.Operand{Base: int32(len(*list)), Stride: Gather})
		*list = append(*list, places...)
		return code
	}
	for l := int32(0); l < n; {
		j := s.first[d+l]
		k := int32(1) // lanes that are outputs next to each other, in this order
		for j > 0 && l+k < n && s.first[d+l+k] == j+k && s.op(j+k) == s.op(j) {
			k++
		}
		if j > 0 {
			add(j, d+l, k, native.Operand{Base: region + j, Stride: 1})
		}
		l += k
	}
	return code
}

// progression returns the distance of neighbours in list, and whether it is the same for all.
func progression(list []int32) (stride int32, ok bool) {
	if len(list) > 1 {
		stride = list[1] - list[0]
	}
	for k := 1; k < len(list); k++ {
		if list[k]-list[k-1] != stride {
			return 0, false
		}
	}
	return stride, true
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
