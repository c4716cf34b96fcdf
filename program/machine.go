package program

import "slices"

// A Machine runs a program. It owns the file of slots; a second goroutine needs a
// Machine of its own. Running does not allocate, custom rules aside.
type Machine struct {
	p     *Program
	m     []float64
	code  []instr
	in    []int32 // first slot of each input group
	param int32
	out   []outGroup
	args  []float64 // arguments and results of custom rules
}

// instr is a statement made ready to run.
type instr struct {
	op      Op
	form    form
	fast    fast // how runFast does it, fastNo if it does not
	n, d, k int32
	a, b, c int32 // a slot, or a position in Index where the form says gather
}

// form says how the operands of a binary statement are read.
type form uint8

const (
	formOne     form = iota // one lane
	formRuns                // both contiguous
	formGathers             // both gathered
	formRunSlot             // contiguous and broadcast
	formSlotRun
	formOther
)

// NewMachine prepares p, which is usually scheduled, to be run.
func NewMachine(p *Program) *Machine {
	x := &Machine{p: p, m: make([]float64, p.Slots), in: make([]int32, len(p.Ins)), param: -1, out: outGroups(p)}
	q := *p
	q.Index = slices.Clone(p.Index)
	args := 0
	for i := range p.Stmts {
		s := p.Stmts[i]
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
	for i := range x.code {
		x.code[i].fast = x.code[i].kind()
	}
	x.p = &q
	x.args = make([]float64, args)
	constant := p.constants()
	for i := range x.out {
		x.out[i].fix(constant, x.m)
	}
	return x
}

// ready chooses the form of s. Strided operands, and patterns mixed in a way that
// no kernel reads, become gathers.
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

// gathered is the position in Index of the n addresses of o.
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

// Program is the program the machine runs.
func (x *Machine) Program() *Program { return x.p }

// Input is the storage of input group i, to be filled before a run.
func (x *Machine) Input(i int) []float64 {
	at, n := int(x.in[i]), x.p.Ins[i].N
	return x.m[at : at+n : at+n]
}

// Params is the storage of the parameters, to be filled before a run.
func (x *Machine) Params() []float64 {
	if x.param < 0 {
		return nil
	}
	return x.m[x.param : int(x.param)+x.p.Params]
}

// Output copies output group i to dst. Group 0, the value, comes bit for bit; in the
// others a -0 is a 0.
func (x *Machine) Output(i int, dst []float64) {
	o := &x.out[i]
	dst = dst[:len(o.slots)]
	switch {
	case o.fixed != nil && i > 0:
		copy(dst, o.fixed)
	case i == 0:
		for j, s := range o.slots {
			dst[j] = x.m[s]
		}
	case o.run >= 0:
		src := x.m[o.run:]
		src = src[:len(dst)]
		for j, v := range src {
			dst[j] = v + 0
		}
	default: // people do not expect -0 in a derivative
		for j, s := range o.slots {
			dst[j] = x.m[s] + 0
		}
	}
}

// outGroup is where an output group stands: in slots or, where run is not -1,
// contiguously from there.
type outGroup struct {
	slots []int32
	run   int32
	fixed []float64 // the numbers, where no run changes them
	nan   bool      // one of these is a NaN
}

func outGroups(p *Program) []outGroup {
	out := make([]outGroup, len(p.Outs))
	at := 0
	for i, g := range p.Outs {
		o := &out[i]
		o.slots = p.Result[at : at+g.N]
		at += g.N
		o.run = -1
		if g.N > 0 {
			o.run = o.slots[0]
		}
		for j, s := range o.slots {
			if s != o.run+int32(j) {
				o.run = -1
				break
			}
		}
	}
	return out
}

// constants marks the slots of constants.
func (p *Program) constants() []bool {
	constant := make([]bool, p.Slots)
	for i := range p.Stmts {
		if s := &p.Stmts[i]; s.Op == Const {
			for l := range s.N {
				constant[s.D+l] = true
			}
		}
	}
	return constant
}

// fix keeps the numbers of a group that has constants only. m has them.
func (o *outGroup) fix(constant []bool, m []float64) {
	if len(o.slots) == 0 {
		return
	}
	for _, s := range o.slots {
		if !constant[s] {
			return
		}
	}
	o.fixed = make([]float64, len(o.slots))
	for j, s := range o.slots {
		v := m[s] + 0
		o.fixed[j], o.nan = v, o.nan || v != v
	}
}

// Run executes the program. It returns false where a guard failed; the outputs are
// then not defined.
func (x *Machine) Run() bool {
	m, index := x.m, x.p.Index
	for i := 0; ; i++ {
		if i = runFast(x.code, i, m, index); i == len(x.code) {
			return true
		}
		c := &x.code[i]
		switch {
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
}

func (x *Machine) call(c *instr) {
	n := int(c.c)
	in, out := x.args[:n], x.args[n:n+int(c.n)]
	for l := range in {
		in[l] = x.m[x.p.Index[int(c.a)+l]]
	}
	clear(out)
	x.p.Customs[c.k].Value(out, in)
	copy(x.m[c.d:], out)
}

func (x *Machine) guard(c *instr) bool {
	for l := range c.n {
		a, b := c.a, c.b
		if c.form != formOne {
			a, b = x.p.Index[a+l], x.p.Index[b+l]
		}
		if holds(c.op, x.m[a], x.m[b]) != (x.p.Outcomes[c.c+l] != 0) {
			return false
		}
	}
	return true
}

// holds evaluates the comparison of a guard.
func holds(op Op, a, b float64) bool {
	switch op {
	case GuardLt:
		return a < b
	case GuardLe:
		return a <= b
	case GuardEq:
		return a == b
	case GuardBits:
		return sameBits(a, b)
	}
	return int(a) == int(b) // as the function that was recorded does
}

// OutputHasNaN reports whether output group i has a NaN.
func (x *Machine) OutputHasNaN(i int) bool {
	o := &x.out[i]
	if o.fixed != nil {
		return o.nan
	}
	if o.run >= 0 {
		for _, v := range x.m[o.run : int(o.run)+len(o.slots)] {
			if v != v {
				return true
			}
		}
		return false
	}
	for _, s := range o.slots {
		if v := x.m[s]; v != v {
			return true
		}
	}
	return false
}
