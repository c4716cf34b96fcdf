package program

import (
	"cmp"
	"math"
	"slices"

	"github.com/nabla-ad/nabla/rules"
)

// Simplify returns an equivalent of p after constant folding, algebraic identities that are exact in floating point
// (such as x·1 and x + -0), common-subexpression elimination and dead-code elimination. Custom rules are not called.
//
// The results equal those of p bit for bit, signs of zeros included, except for payloads of NaNs.
func Simplify(p *Program) *Program {
	return deadCode(merge(p))
}

// rewriter builds a program statement by statement from src.
type rewriter struct {
	*builder
	src  *Program
	slot []int32 // slot of src → slot of the new program
	list []int32 // scratch
}

// rewrite returns a rewriter for a program with the groups and tables of p and no statements yet.
func rewrite(p *Program) *rewriter { return rewriteInto(p, make([]Stmt, 0, len(p.Stmts))) }

// rewriteInto is rewrite with the memory for the statements.
func rewriteInto(p *Program, stmts []Stmt) *rewriter {
	q := &Program{
		Ins: p.Ins, Outs: p.Outs, Params: p.Params, Customs: p.Customs, Outcomes: p.Outcomes,
		Stmts: stmts, task: p.task,
	}
	return &rewriter{
		builder: &builder{p: q, consts: map[uint64]int32{}},
		src:     p,
		slot:    make([]int32, p.Slots),
	}
}

// operand returns o, which has n addresses, translated to new slots.
func (r *rewriter) operand(o Operand, n int32) Operand {
	if n == 0 {
		return Operand{}
	}
	if n == 1 || o.Stride == 0 {
		return Slot(r.slot[r.src.at(o, 0)])
	}
	r.list = r.list[:0]
	for l := range n {
		r.list = append(r.list, r.slot[r.src.at(o, l)])
	}
	return r.gather(r.list)
}

// mapped returns s with its operands translated to new slots, to be added. It copies the constants of a Const.
func (r *rewriter) mapped(s *Stmt) Stmt {
	if s.N == 1 && s.Op.Elementary() && s.listsNone() {
		t := Stmt{Op: s.Op, N: 1, K: s.K, A: Slot(r.slot[s.A.Base]), B: s.B, C: s.C}
		if n := s.Op.Arity(); n > 1 {
			if t.B = Slot(r.slot[s.B.Base]); n > 2 {
				t.C = Slot(r.slot[s.C.Base])
			}
		}
		return t
	}
	t := Stmt{Op: s.Op, N: s.N, K: s.K, B: s.B, C: s.C}
	n := s.terms()
	switch {
	case s.Op.Arity() > 0:
		t.A = r.operand(s.A, n)
		if s.Op.Arity() > 1 {
			t.B = r.operand(s.B, n)
		}
		if s.Op.Arity() > 2 {
			t.C = r.operand(s.C, n)
		}
	case s.Op == Const:
		t.K = int32(len(r.p.Consts))
		r.p.Consts = append(r.p.Consts, r.src.Consts[s.K:s.K+s.N]...)
	}
	return t
}

// listsNone reports whether no operand of s is a gather.
func (s *Stmt) listsNone() bool {
	return s.A.Stride != Gather && s.B.Stride != Gather && s.C.Stride != Gather
}

// place records that the result of s is in the slots from d on.
func (r *rewriter) place(s *Stmt, d int32) {
	for l := range s.Width() {
		r.slot[s.D+l] = d + l
	}
}

// finish sets the outputs and returns the new program.
func (r *rewriter) finish() *Program {
	r.p.Result = make([]int32, len(r.src.Result))
	for i, s := range r.src.Result {
		r.p.Result[i] = r.slot[s]
	}
	return r.p
}

// known is the value of a slot of the new program; on reports that it is a constant.
type known struct {
	v  float64
	on bool
}

// Values tells which slots of the new program are constants.
type values struct {
	index  []int32 // slot → position in consts, +1; 0 if it is no constant
	consts *[]float64
}

// of returns the value of a slot.
func (v *values) of(slot int32) known {
	if k := v.index[slot]; k > 0 {
		return known{(*v.consts)[k-1], true}
	}
	return known{}
}

// all returns the value that the n lanes of o have in p, if it is the same constant.
func (v *values) all(p *Program, o Operand, n int32) known {
	first := v.of(p.at(o, 0))
	if n == 1 || o.Stride == 0 || !first.on {
		return first
	}
	for l := range n {
		if k := v.of(p.at(o, l)); !k.on || math.Float64bits(k.v) != math.Float64bits(first.v) {
			return known{}
		}
	}
	return first
}

// merge folds constants, applies identities and eliminates common subexpressions and repeated guards, in one forward
// pass.
func merge(p *Program) *Program {
	r := rewrite(p)
	vals := &values{index: make([]int32, 0, p.Slots), consts: &r.p.Consts}
	// Constants that folding creates need an entry in vals too.
	constant := func(v float64) int32 {
		s := r.constant(v)
		if int(s) == len(vals.index) {
			vals.index = append(vals.index, int32(len(r.p.Consts)))
		}
		return s
	}
	seen := newTable(len(p.Stmts))
	guards := map[Stmt]bool{}
	for i := range p.Stmts {
		s := &p.Stmts[i]
		if s.Op == Const && s.N == 1 {
			r.slot[s.D] = constant(p.Consts[s.K])
			continue
		}
		t := r.mapped(s)
		if s.Op.Elementary() || s.Op == Sum {
			if to, ok := r.fold(&t, vals, constant); ok {
				for l := range s.N {
					r.slot[s.D+l] = r.p.at(to, l)
				}
				continue
			}
		}
		if s.Op.Guard() && s.N == 1 {
			key := t
			key.C.Base = int32(p.Outcomes[t.C.Base])
			if guards[key] {
				continue
			}
			guards[key] = true
		}
		merges, h := s.Op.Elementary() || s.Op == Sum || s.Op == Const, uint64(0)
		if merges {
			h = hash(r.p, &t)
			if d, ok := seen.find(r.p, &t, h); ok {
				r.place(s, d)
				continue
			}
		}
		d := r.add(t)
		for l := range t.Width() {
			at := int32(0)
			if t.Op == Const {
				at = t.K + l + 1
			}
			vals.index = append(vals.index, at)
		}
		if merges {
			seen.put(int32(len(r.p.Stmts)-1), h)
		}
		r.place(s, d)
	}
	return r.finish()
}

// fold returns an operand that already has the value of t, if there is one. It may replace t by a cheaper or canonical
// form.
func (r *rewriter) fold(t *Stmt, vals *values, constant func(float64) int32) (Operand, bool) {
	if t.Op == Sum {
		return t.A, t.K == 1
	}
	op := rules.Op(t.Op)
	a := vals.all(r.p, t.A, t.N)
	switch op.Arity() {
	case 1:
		if a.on {
			return Slot(constant(rules.Value1(op, a.v))), true
		}
		if op == rules.Neg && t.A.Stride != Gather { // -(-x)
			s := defining(r.p.Stmts, t.A.Base)
			if s.Op == Op(rules.Neg) && s.N == t.N && s.D == t.A.Base && (s.N == 1 || t.A.Stride == 1) {
				return s.A, true
			}
		}
		return Operand{}, false
	case 3:
		b, c := vals.all(r.p, t.B, t.N), vals.all(r.p, t.C, t.N)
		if a.on && b.on && c.on {
			return Slot(constant(rules.Value3(op, a.v, b.v, c.v))), true
		}
		if op == rules.Select && a.on {
			if a.v != 0 {
				return t.B, true
			}
			return t.C, true
		}
		return Operand{}, false
	}
	b := vals.all(r.p, t.B, t.N)
	if a.on && b.on {
		return Slot(constant(rules.Value2(op, a.v, b.v))), true
	}
	switch op {
	case rules.Add:
		// Only -0 is neutral: -0 + 0 is 0, and 1/x distinguishes the two.
		if a.on && isNegZero(a.v) {
			return t.B, true
		}
		if b.on && isNegZero(b.v) {
			return t.A, true
		}
	case rules.Sub:
		if b.on && b.v == 0 && !math.Signbit(b.v) {
			return t.A, true
		}
		if a.on && isNegZero(a.v) {
			return negated(t, t.B)
		}
	case rules.Mul, rules.MulZ:
		switch {
		case a.on && a.v == 1 && op == rules.Mul: // MulZ(1, -0) is 0, and no structural zero
			return t.B, true
		case b.on && b.v == 1:
			return t.A, true
		case a.on && a.v == -1 && op == rules.Mul:
			return negated(t, t.B)
		case b.on && b.v == -1 && op == rules.Mul:
			return negated(t, t.A)
		case a.on && op == rules.MulZ && isNegZero(a.v):
			return t.A, true
		}
	case rules.Div, rules.DivZ:
		if b.on && b.v == 1 || a.on && op == rules.DivZ && isNegZero(a.v) {
			return t.A, true
		}
	}
	// Canonical order for the hash table: constants second, so that equal operations can be merged into lanes wherever
	// their constants were written.
	if commutes(op) && (a.on || !b.on && t.N == 1 && t.A.Base > t.B.Base) {
		t.A, t.B = t.B, t.A
	}
	return Operand{}, false
}

// isNegZero reports whether v is -0.
func isNegZero(v float64) bool { return v == 0 && math.Signbit(v) }

// negated replaces t by the negative of a.
func negated(t *Stmt, a Operand) (Operand, bool) {
	*t = Stmt{Op: Op(rules.Neg), N: t.N, A: a}
	return Operand{}, false
}

// commutes reports whether op is exactly commutative.
func commutes(op rules.Op) bool { return op == rules.Add || op == rules.Mul }

// defining returns the statement that writes slot, found by bisection: the first of those that end behind it.
func defining(stmts []Stmt, slot int32) *Stmt {
	i, _ := slices.BinarySearchFunc(stmts, slot+1, func(s Stmt, end int32) int {
		return cmp.Compare(s.D+s.Width(), end)
	})
	return &stmts[i]
}

// table is a hash table of statements by operation and operands. Open addressing over statement numbers keeps it free
// of pointers.
type table []tagged

// A tagged is the number of a statement, +1, and above it 32 bits of its hash, so that other statements need not be
// read to be told apart; 0 if there is none.
type tagged uint64

// newTable returns a table with room for n statements.
func newTable(n int) table {
	size := 64
	for 4*size < 5*n {
		size *= 2
	}
	return make(table, size)
}

// find returns the first slot of a statement of p equal to s, whose hash is h.
func (t table) find(p *Program, s *Stmt, h uint64) (int32, bool) {
	mask := uint64(len(t) - 1)
	for at := h & mask; t[at] != 0; at = (at + 1) & mask {
		if e := t[at]; uint32(e>>32) == uint32(h) {
			if c := &p.Stmts[uint32(e)-1]; same(p, c, s) {
				return c.D, true
			}
		}
	}
	return 0, false
}

// put adds statement i, whose hash is h, at the first free place from that of its hash on.
func (t table) put(i int32, h uint64) {
	mask := uint64(len(t) - 1)
	at := h & mask
	for t[at] != 0 {
		at = (at + 1) & mask
	}
	t[at] = tagged(h<<32 | uint64(i+1))
}

// mix adds v to the hash h.
func mix(h, v uint64) uint64 {
	h = (h ^ v) * 0x9e3779b97f4a7c15
	return h ^ h>>29
}

// hash returns a hash of s, whose operands a rewriter has translated, that agrees with same.
func hash(p *Program, s *Stmt) uint64 {
	if s.N == 1 && s.Op.Elementary() {
		h := mix(uint64(s.Op), uint64(uint32(s.A.Base)))
		if n := s.Op.Arity(); n > 1 {
			if h ^= uint64(uint32(s.B.Base)) << 32; n > 2 {
				h = mix(h, uint64(uint32(s.C.Base)))
			}
			h = mix(h, 0)
		}
		return h ^ h>>32
	}
	h := mix(uint64(s.Op)<<32|uint64(uint32(s.N)), uint64(s.terms()))
	if s.Op == Const {
		for _, v := range p.Consts[s.K : s.K+s.N] {
			h = mix(h, math.Float64bits(v))
		}
	}
	ops := [3]Operand{s.A, s.B, s.C}
	for _, o := range ops[:s.Op.Arity()] {
		if o.Stride != Gather {
			h = mix(h, uint64(uint32(o.Base))<<32|uint64(uint32(o.Stride)))
			continue
		}
		for _, x := range p.Index[o.Base : o.Base+s.terms()] {
			h = mix(h, uint64(uint32(x)))
		}
	}
	return h ^ h>>32
}

// same reports whether s and t, whose operands a rewriter has translated, perform the same operation on the same slots
// or constants.
func same(p *Program, s, t *Stmt) bool {
	if s.Op != t.Op || s.N != t.N {
		return false
	}
	if s.N == 1 && s.Op.Elementary() {
		n := s.Op.Arity()
		return s.A.Base == t.A.Base && (n < 2 || s.B.Base == t.B.Base) && (n < 3 || s.C.Base == t.C.Base)
	}
	if s.terms() != t.terms() {
		return false
	}
	if s.Op == Const {
		for l := range s.N {
			if math.Float64bits(p.Consts[s.K+l]) != math.Float64bits(p.Consts[t.K+l]) {
				return false
			}
		}
	}
	so, to := [3]Operand{s.A, s.B, s.C}, [3]Operand{t.A, t.B, t.C}
	for i := range s.Op.Arity() {
		x, y := so[i], to[i]
		if x.Stride != Gather || y.Stride != Gather {
			if x != y {
				return false
			}
			continue
		}
		if !slices.Equal(p.Index[x.Base:x.Base+s.terms()], p.Index[y.Base:y.Base+s.terms()]) {
			return false
		}
	}
	return true
}

// deadCode returns p, whose statements it overwrites, without those on which neither an output nor a guard depends,
// found by one backward liveness pass. A statement is live if one of its lanes is. Inputs and parameters are kept.
func deadCode(p *Program) *Program {
	live := make([]bool, p.Slots)
	for _, s := range p.Result {
		live[s] = true
	}
	keep := make([]bool, len(p.Stmts))
	var reads []int32
	for i := len(p.Stmts) - 1; i >= 0; i-- {
		s := &p.Stmts[i]
		keep[i] = s.Op == Input || s.Op == Param || s.Op.Guard()
		for l := range s.Width() {
			keep[i] = keep[i] || live[s.D+l]
		}
		if !keep[i] {
			continue
		}
		reads = p.reads(reads[:0], s)
		for _, slot := range reads {
			live[slot] = true
		}
	}
	r := rewriteInto(p, p.Stmts[:0])
	for i, kept := range keep {
		if kept {
			s := p.Stmts[i] // a copy: the new statement may be in its place
			r.place(&s, r.add(r.mapped(&s)))
		}
	}
	return r.finish()
}
