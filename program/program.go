package program

import (
	"math"
	"slices"
	"unsafe"

	"github.com/nabla-ad/nabla/rules"
)

// Op is the operation of a statement: an elementary function of package rules or one of the operations below.
type Op uint8

const (
	// Input, Param and Const define inputs, parameters and constants. K is the index of the group, of the first
	// parameter, or of the first constant.
	Input Op = Op(rules.NumOps) + iota
	Param
	Const
	// Sum is an ordered reduction: lane l is the sum of the K values
	// A[l·K], A[l·K+1], … taken in that order.
	Sum
	// Call applies custom rule K to the addresses of A; N is its number of outputs
	// and B.Base the number of its inputs.
	Call
	// GuardLt to GuardInt compare A and B lane by lane with the outcomes in the recording, Outcomes[C.Base:][:N]. They
	// have no result.
	GuardLt
	GuardLe
	GuardEq
	GuardBits
	GuardInt
	numOps
)

var opNames = [numOps - Input]string{"input", "param", "const", "sum", "call", "guardlt", "guardle", "guardeq",
	"guardbits", "guardint"}

func (o Op) String() string {
	if o < Op(rules.NumOps) {
		return rules.Op(o).String()
	}
	if o < numOps {
		return opNames[o-Input]
	}
	return "invalid"
}

// Elementary reports whether o is a function of package rules.
func (o Op) Elementary() bool { return o > 0 && o < Op(rules.NumOps) }

// Arity returns the number of operands of a statement with operation o.
func (o Op) Arity() int {
	switch {
	case o.Elementary():
		return rules.Op(o).Arity()
	case o.Guard():
		return 2
	case o == Sum, o == Call:
		return 1
	}
	return 0
}

// Gather is the Stride of an operand whose addresses are listed in Program.Index from Base on.
const Gather = math.MinInt32

// Operand is an addressing mode: lane l reads slot Base + l·Stride, or slot Index[Base+l] if Stride is Gather. Stride 0
// broadcasts one slot to all lanes.
type Operand struct{ Base, Stride int32 }

// Slot returns the operand that reads slot s in every lane.
func Slot(s int32) Operand { return Operand{Base: s} }

// Run returns the operand that reads contiguous slots from s on.
func Run(s int32) Operand { return Operand{Base: s, Stride: 1} }

// Stmt is one operation over N lanes. Its result is in the N slots from D on; guards have no result.
type Stmt struct {
	Op      Op
	N, D, K int32   // lanes, first slot of the result, and an index or a count that depends on Op
	A, B, C Operand // the first Op.Arity are read; Call and guards use others as counts and indices
}

// Width returns the number of slots that s writes.
func (s *Stmt) Width() int32 {
	if s.Op.Guard() {
		return 0
	}
	return s.N
}

// Operands returns the operands of s, in order.
func (s *Stmt) Operands() []Operand {
	return []Operand{s.A, s.B, s.C}[:s.Op.Arity()]
}

// terms returns the number of addresses of each operand of s.
func (s *Stmt) terms() int32 {
	switch s.Op {
	case Sum:
		return s.N * s.K
	case Call:
		return s.B.Base
	}
	return s.N
}

// part returns n lanes of s, an elementary function or a sum, from a lane on.
func (s *Stmt) part(from, n int32) Stmt {
	t := *s
	t.N, t.D = n, s.D+from
	if s.Op == Sum {
		from *= s.K
	}
	for _, o := range []*Operand{&t.A, &t.B, &t.C}[:s.Op.Arity()] {
		if o.Stride == Gather {
			o.Base += from
		} else {
			o.Base += from * o.Stride
		}
	}
	return t
}

// Group is a named part of the inputs or outputs with N numbers.
type Group struct {
	Name string
	N    int
}

// Program is a straight-line program in static single assignment form over a file of float64 slots. Statements are in
// order of their slots: a statement reads only slots below its own. A Program is immutable; transformations return new
// ones, which may share tables such as Index and Consts.
type Program struct {
	Ins      []Group // groups of inputs
	Outs     []Group // groups of outputs
	Params   int     // number of parameters
	Stmts    []Stmt
	Index    []int32   // slots read by operands with Stride Gather
	Consts   []float64 // values of Const statements
	Outcomes []uint8   // 1 or 0 for each lane of a guard: the comparison was true or false in the recording
	Customs  []Custom  // rules of Call statements
	Result   []int32   // slots of all outputs, group after group
	Slots    int32     // size of the file of slots
	task     *Task     // the preparation it belongs to, or nil
}

// Task returns the preparation that the program belongs to, or nil.
func (p *Program) Task() *Task { return p.task }

// NumIn returns the number of inputs in all groups.
func (p *Program) NumIn() int { return total(p.Ins) }

// NumOut returns the number of outputs in all groups.
func (p *Program) NumOut() int { return total(p.Outs) }

// total returns the number of values in all groups of gs.
func total(gs []Group) int {
	n := 0
	for _, g := range gs {
		n += g.N
	}
	return n
}

// at returns the slot that lane l of operand o reads.
func (p *Program) at(o Operand, l int32) int32 {
	if o.Stride == Gather {
		return p.Index[o.Base+l]
	}
	return o.Base + l*o.Stride
}

// reads appends the slots that s reads to list, one that all lanes of an operand share once, and returns the result.
func (p *Program) reads(list []int32, s *Stmt) []int32 {
	if s.N == 1 && s.Op.Elementary() && s.listsNone() {
		ops := [3]int32{s.A.Base, s.B.Base, s.C.Base}
		return append(list, ops[:s.Op.Arity()]...)
	}
	n := s.terms()
	if n == 0 {
		return list
	}
	ops := [3]Operand{s.A, s.B, s.C}
	for _, o := range ops[:s.Op.Arity()] {
		switch o.Stride {
		case 0:
			list = append(list, o.Base)
		case Gather:
			list = append(list, p.Index[o.Base:o.Base+n]...)
		default:
			for l := range n {
				list = append(list, o.Base+l*o.Stride)
			}
		}
	}
	return list
}

// Operations returns the number of operations that a run executes, counted per lane, without inputs, parameters and
// constants.
func (p *Program) Operations() int {
	n := 0
	for i := range p.Stmts {
		switch s := &p.Stmts[i]; s.Op {
		case Input, Param, Const:
		case Sum:
			n += int(s.N * max(s.K-1, 1))
		default:
			n += int(s.N)
		}
	}
	return n
}

// stepEvery is the number of statements between two reports to the task of a program. As many lanes of a statement
// as lanesPerStep count as another one.
const (
	stepEvery    = 1 << 12
	lanesPerStep = 8
)

// copies is the number of programs of about the same size that exist at the same time: a derived program with its
// tables, and those that it is derived from.
const copies = 4

// step reports the number of statements to the task and checks the memory limit. It panics with a core.Abort if the
// task is cancelled or the limit exceeded.
func (p *Program) step() {
	if p.task == nil {
		return
	}
	p.task.Step("derivation", len(p.Stmts), 0)
	bytes := int64(len(p.Stmts))*int64(unsafe.Sizeof(Stmt{})) + 4*int64(len(p.Index)) + 8*int64(p.Slots)
	p.task.Fits("the programs derived from a recording", copies*bytes)
}

// builder appends statements to a Program.
type builder struct {
	p       *Program
	consts  map[uint64]int32 // bits of a constant → slot of a one-lane Const
	factors []factor         // of the last partial
	since   int              // statements since the last report to the task
}

// derive returns a builder of a program that starts with the statements of p, in the same slots, and has no outputs.
func derive(p *Program) *builder {
	q := &Program{
		Ins:      slices.Clone(p.Ins),
		Params:   p.Params,
		Stmts:    append(make([]Stmt, 0, 3*len(p.Stmts)), p.Stmts...),
		Index:    slices.Clone(p.Index),
		Consts:   slices.Clone(p.Consts),
		Outcomes: slices.Clone(p.Outcomes),
		Customs:  slices.Clone(p.Customs),
		Slots:    p.Slots,
		task:     p.task,
	}
	return &builder{p: q, consts: map[uint64]int32{}}
}

// add appends a statement and returns its first slot.
func (b *builder) add(s Stmt) int32 {
	s.D = b.p.Slots
	b.p.Stmts = append(b.p.Stmts, s)
	b.p.Slots += s.Width()
	if b.since += 1 + int(s.N)/lanesPerStep; b.since >= stepEvery {
		b.since = 0
		b.p.step()
	}
	return s.D
}

// op1 appends op of a over n lanes and returns its first slot.
func (b *builder) op1(op rules.Op, n int32, a Operand) int32 {
	return b.add(Stmt{Op: Op(op), N: n, A: a})
}

// op2 appends op of x and y over n lanes and returns its first slot.
func (b *builder) op2(op rules.Op, n int32, x, y Operand) int32 {
	return b.add(Stmt{Op: Op(op), N: n, A: x, B: y})
}

// op3 appends op of x, y and z over n lanes and returns its first slot.
func (b *builder) op3(op rules.Op, n int32, x, y, z Operand) int32 {
	return b.add(Stmt{Op: Op(op), N: n, A: x, B: y, C: z})
}

// input appends a group of inputs and returns its first slot.
func (b *builder) input(name string, n int) int32 {
	b.p.Ins = append(b.p.Ins, Group{name, n})
	return b.add(Stmt{Op: Input, N: int32(n), K: int32(len(b.p.Ins) - 1)})
}

// constant returns the slot of the one-lane constant v.
func (b *builder) constant(v float64) int32 {
	bits := math.Float64bits(v)
	if s, ok := b.consts[bits]; ok {
		return s
	}
	b.p.Consts = append(b.p.Consts, v)
	s := b.add(Stmt{Op: Const, N: 1, K: int32(len(b.p.Consts) - 1)})
	b.consts[bits] = s
	return s
}

// gather returns an operand that reads the given slots, strided if they are an arithmetic progression.
func (b *builder) gather(slots []int32) Operand {
	if len(slots) == 0 {
		return Operand{}
	}
	if len(slots) == 1 {
		return Operand{Base: slots[0]}
	}
	stride := slots[1] - slots[0]
	for i := 2; i < len(slots); i++ {
		if slots[i]-slots[i-1] != stride {
			o := Operand{Base: int32(len(b.p.Index)), Stride: Gather}
			b.p.Index = append(b.p.Index, slots...)
			return o
		}
	}
	return Operand{Base: slots[0], Stride: stride}
}

// output appends a group of outputs.
func (b *builder) output(name string, slots []int32) {
	b.p.Outs = append(b.p.Outs, Group{name, len(slots)})
	b.p.Result = append(b.p.Result, slots...)
}
