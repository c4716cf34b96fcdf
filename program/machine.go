package program

import (
	"slices"

	"github.com/nabla-ad/nabla/internal/native"
)

// A Machine runs a program. It owns the file of slots, so that each goroutine needs its own. Running does not allocate,
// custom rules aside.
type Machine struct {
	p     *Program
	m     []float64
	code  []instr
	in    []int32 // input group → its first slot
	param int32   // first slot of the parameters, -1 if there are none
	out   []outGroup
	args  []float64    // buffer for arguments and results of custom rules
	kept  *kept        // pullbacks of custom rules during a run, nil if none is used twice
	parts *native.Code // machine code, nil if there is none
	late  []move       // outputs that are copied to their group after a run
	loan  loan
	one   bool  // the program is one part of machine code and nothing else
	crew  *crew // goroutines that divide the work, nil if there are none
}

// instr is a statement in executable form.
type instr struct {
	op      Op
	form    form
	fast    fast // opcode in runFast, fastNo if not implemented there
	n, d, k int32
	a, b, c int32 // slots, or positions in Index if the form gathers
}

// A form is the addressing mode of the operands of an instruction: slots that all lanes share, contiguous slots, one
// for each lane, or slots listed in Index. Each form has loops of its own.
type form uint8

const (
	formOne     form = iota // one lane; each operand is a slot
	formRuns                // all operands are contiguous
	formGathers             // two operands, both listed in Index
	formRunSlot             // the first operand is contiguous, the second is one slot for all lanes
	formSlotRun             // the first operand is one slot for all lanes, the second is contiguous
	formOther               // any other instruction; operands are listed in Index
)

// NewMachine returns a machine for p, which should have been scheduled. It takes time and memory proportional to the
// size of p, and p must be well formed; see Check.
func NewMachine(p *Program) *Machine { return newMachine(p, interpreted, nil) }

// A coding selects the statements that become machine code.
type coding uint8

const (
	interpreted  coding = iota // nothing
	instructions               // arithmetic of one lane, in a staged program
	loops                      // the same, if loops make a third of it, or less
	vectors                    // arithmetic, in a scheduled program
)

// vectorLanes is the number of lanes of vectors, 0 if the fastest is chosen for each loop, as it is outside tests.
var vectorLanes int32

// newMachine returns a machine for p, or nil if machine code is wanted, and refused or of another kind. If d is not
// nil, its workers run p.
func newMachine(p *Program, c coding, d *division) *Machine {
	x := &Machine{p: p, m: make([]float64, int(p.Slots)+regions(p, c)), in: make([]int32, len(p.Ins)), param: -1}
	q := *p
	q.Index = slices.Clone(p.Index)
	args := 0
	var code []native.Instr // of all parts
	var ends []int
	var read []bool // slot → it is read by others than machine code
	if c != interpreted {
		read = make([]bool, len(x.m))
	}
	if c == instructions || c == loops {
		code = make([]native.Instr, 0, len(p.Stmts)+len(p.Result))
	}
	stores := newStores(p, c)
	var lanes []native.Stmt // of all parts
	list := slices.Clip(p.Index)
	part := func(n int) { // statement number n of the machine code comes next
		if n == 0 || len(ends) > 0 && ends[len(ends)-1] == n {
			x.code = append(x.code, instr{op: machineCode, k: int32(len(ends))})
		}
	}
	end := func(n int) { // what comes next is none
		if n > 0 && (len(ends) == 0 || ends[len(ends)-1] != n) {
			ends = append(ends, n)
		}
	}
	stmts := p.Stmts
	if d != nil {
		stmts = d.stmts
		x.crew = newCrew(x, d)
	}
	for i := range stmts {
		if d != nil && d.begins(i) {
			end(len(code) + len(lanes))
			x.crew.starts = append(x.crew.starts, len(x.code))
		}
		s := stmts[i]
		switch s.Op {
		case Input:
			x.in[s.K] = s.D
			continue
		case Param:
			x.param = s.D
			continue
		case Const:
			copy(x.m[s.D:s.D+s.N], p.Consts[s.K:s.K+s.N])
			continue
		}
		switch c {
		case instructions, loops:
			if s.compiled() {
				part(len(code))
				code = append(code, p.instruction(&s))
				if !s.Op.Guard() {
					code = stores.of(code, s.D)
				}
				continue
			}
			end(len(code))
			p.marks(read, &s)
		case vectors:
			if p.vectorised(&s) {
				part(len(lanes))
				if lanes = append(lanes, p.lanes(&s)); !s.Op.Guard() {
					lanes = stores.ofLanes(lanes, &list, s.D, s.N)
				}
				continue
			}
			end(len(lanes))
			p.marks(read, &s)
		}
		switch s.Op {
		case Call:
			args = max(args, int(s.B.Base)+int(s.N))
		}
		if s.N < fewLanes && s.Op.Elementary() && scalarKind[s.Op] != fastNo {
			for l := range s.N {
				t := Stmt{Op: s.Op, N: 1, D: s.D + l, A: Slot(p.at(s.A, l))}
				if s.Op.Arity() > 1 {
					t.B = Slot(p.at(s.B, l))
				}
				x.code = append(x.code, ready(&q, t))
			}
			continue
		}
		if s.N > 1 && s.N < fewLanes && s.Op == Sum {
			a := q.gathered(s.A, s.terms())
			for l := range s.N {
				x.code = append(x.code, instr{op: Sum, form: formOther, n: 1, d: s.D + l, k: s.K, a: a + l*s.K})
			}
			continue
		}
		x.code = append(x.code, ready(&q, s))
	}
	end(len(code) + len(lanes))
	if c == loops && 3*native.Length(code, ends) > len(code) {
		return nil
	}
	if c != interpreted {
		x.out, x.late = stores.groups(x.m)
	} else {
		x.out = outGroups(p, x.m)
	}
	areas := x.areas(read)
	if len(code) > 0 {
		x.parts = native.Compile(code, ends, read, areas)
	} else if len(lanes) > 0 {
		x.parts = native.CompileLanes(lanes, list, ends, read, areas, vectorLanes)
	}
	if len(ends) > 0 && x.parts == nil {
		return nil
	}
	for i := range x.code {
		x.code[i].fast = x.code[i].kind()
	}
	x.p = &q
	x.args = make([]float64, args)
	x.kept = newKept(p)
	if x.parts != nil {
		x.loan.areas = x.parts.Areas()
	}
	x.loan.unread = x.constant()
	x.one = d == nil && len(x.code) == 1 && x.code[0].op == machineCode && len(x.late) == 0
	return x
}

// ready returns s as an instruction. Strided operands, and mixed addressing modes for which there is no kernel, become
// gathers, for which it appends to p.Index.
func ready(p *Program, s Stmt) instr {
	c := instr{op: s.Op, n: s.N, d: s.D, k: s.K}
	if s.Op == Call {
		c.c = s.B.Base
	}
	if s.N == 1 && s.Op != Sum && s.Op != Call {
		c.a, c.b = p.at(s.A, 0), p.at(s.B, 0)
		switch {
		case s.Op.Guard():
			c.c = s.C.Base
		case s.Op.Arity() == 3:
			c.c = p.at(s.C, 0)
		}
		return c
	}
	c.form = formOther
	if s.Op.Elementary() && s.Op.Arity() == 2 {
		switch {
		case s.A.Stride == 1 && s.B.Stride == 1:
			c.form = formRuns
		case s.A.Stride == 1 && s.B.Stride == 0:
			c.form = formRunSlot
		case s.A.Stride == 0 && s.B.Stride == 1:
			c.form = formSlotRun
		default:
			c.form = formGathers
		}
		c.a, c.b = s.A.Base, s.B.Base
		if c.form == formGathers {
			c.a, c.b = p.gathered(s.A, s.N), p.gathered(s.B, s.N)
		}
		return c
	}
	if s.Op.Elementary() && s.Op.Arity() == 1 && s.A.Stride == 1 {
		c.form = formRuns
		c.a = s.A.Base
		return c
	}
	if s.Op == Sum && s.N == 1 && s.A.Stride == 1 {
		c.form = formRuns
		c.a = s.A.Base
		return c
	}
	c.a = p.gathered(s.A, s.terms())
	if s.Op.Arity() > 1 {
		c.b = p.gathered(s.B, s.N)
	}
	switch {
	case s.Op.Arity() > 2:
		c.c = p.gathered(s.C, s.N)
	case s.Op.Guard():
		c.c = s.C.Base
	}
	return c
}

// gathered returns the position in p.Index of the n addresses of o, which it appends unless o is a gather.
func (p *Program) gathered(o Operand, n int32) int32 {
	if o.Stride == Gather {
		return o.Base
	}
	at := int32(len(p.Index))
	for l := range n {
		p.Index = append(p.Index, o.Base+l*o.Stride)
	}
	return at
}

// Program returns the program that the machine runs. The caller must not modify it.
func (x *Machine) Program() *Program { return x.p }

// Input returns the storage of input group i, to be filled before a run. It aliases memory of x; runs leave it
// unchanged.
func (x *Machine) Input(i int) []float64 {
	at, n := int(x.in[i]), x.p.Ins[i].N
	return x.m[at : at+n : at+n]
}

// Params returns the storage of the parameters, to be filled before a run; nil if there are none. It aliases memory of
// x.
func (x *Machine) Params() []float64 {
	if x.param < 0 {
		return nil
	}
	return x.m[x.param : int(x.param)+x.p.Params]
}

// Run executes the program. It returns false if a guard failed; the outputs are then undefined.
func (x *Machine) Run() bool {
	x.loan.begin()
	switch {
	case x.one:
		in, out := x.loan.memory(x.m)
		return x.parts.Run(0, x.m, in, out)
	case x.kept == nil:
		return x.run()
	}
	x.kept.clear() // of a run that ended by a panic
	ok := x.run()
	x.kept.clear()
	return ok
}

// run is Run, without the end of pullbacks.
func (x *Machine) run() bool {
	in, out := x.loan.memory(x.m)
	if x.crew != nil {
		if !x.crew.run(in, out) {
			return false
		}
	} else if !x.execute(x.code, in, out) {
		return false
	}
	for _, v := range x.late {
		x.m[v.to] = x.m[v.slot] + v.zero
	}
	return true
}

// execute runs instructions, with the loans at in and out.
func (x *Machine) execute(code []instr, in, out *float64) bool {
	m, index := x.m, x.p.Index
	for i := 0; i < len(code); i++ {
		if code[i].fast != fastNo {
			if i = runFast(code, i, m, index); i == len(code) {
				break
			}
		}
		c := &code[i]
		switch {
		case c.op == machineCode:
			if !x.parts.Run(int(c.k), m, in, out) {
				return false
			}
		case c.form == formOne && c.op.Elementary():
			m[c.d] = scalar(c, m)
		case c.op.Elementary():
			lanes(c, m, index)
		case c.op == Sum:
			sum(c, m, index)
		case c.op == Call:
			x.call(c)
		default:
			if !x.guard(c) {
				return false
			}
		}
	}
	return true
}

// call runs a custom rule.
func (x *Machine) call(c *instr) {
	n := int(c.c)
	in, out := x.args[:n], x.args[n:n+int(c.n)]
	for l := range in {
		in[l] = x.m[x.p.Index[int(c.a)+l]]
	}
	clear(out)
	if x.kept == nil || !x.kept.call(c.k, out, in) {
		x.p.Customs[c.k].Value(out, in)
	}
	copy(x.m[c.d:], out)
}
