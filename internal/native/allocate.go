package native

import (
	"math"
	"slices"
)

// Registers are allocated by a linear scan: a value is computed into a free register, or into that of the value with
// the furthest next use, and is stored only if it is kept, used in another segment, or loses its register. Slots are
// written once, so that a stored value stays valid.

// never is the next use of a value that is not used again.
const never = math.MaxInt32

// An allocator translates segments for an encoder.
type allocator struct {
	e     encoder
	whole values // of straight code, where a value is its slot
	v     *values
	in    int32                // number of the instruction
	slot  []int32              // register → its value; -1 if it is free
	next  [mostRegisters]int32 // next use of the value in a register
	clean [mostRegisters]bool  // the value is in the file too
	fixed uint32               // registers that keep their values through a loop
	uses  [][3]int32           // next uses of the operands of each instruction of the segment
	sum   func(k, r int8)      // adds the lanes in a register to an accumulation
	slots [mostRegisters]int32 // memory of slot
}

// Values are the results and operands of the instructions of a segment.
type values struct {
	reg    []int8  // the register, or -1
	first  []int32 // the first use in the rest of the segment, or never
	keep   []bool  // it has to be in the file after the segment
	places []place // nil if the value is its slot
	forced []int8  // the register that an instruction has to compute it into, +1; nil if there are none
	// The values in the slots behind and before its own, whose lanes are apart, or -1; nil if there are none.
	beside [][2]int32
	others []int32 // slots of the values beyond the file
}

func newValues(n int, keep []bool) values {
	v := values{reg: make([]int8, n), first: make([]int32, n), keep: keep}
	for i := range v.reg {
		v.reg[i], v.first[i] = -1, never
	}
	return v
}

// virtual returns a new value beyond the slots of a file. Its place is in a slot of the file that has no value yet.
func (v *values) virtual(slots int, in int32) int32 {
	v.reg, v.first, v.keep = append(v.reg, -1), append(v.first, never), append(v.keep, false)
	v.others = append(v.others, in)
	return int32(slots + len(v.others) - 1)
}

// at returns the place of a value.
func (v *values) at(id int32) place {
	if v.places != nil {
		return v.places[id]
	}
	if k := int(id) - (len(v.reg) - len(v.others)); k >= 0 {
		return place{slot: v.others[k]}
	}
	return place{slot: id}
}

// generate returns machine code, the position of the first instruction of each block, the number of blocks up to the
// end of each part, and whether the code can use the areas. A block ends with a return. It writes to keep.
func generate(code []Instr, ends []int, keep []bool, areas Areas) (buf []byte, starts, blocks []int, ok bool) {
	var segments []segment
	var last []int // part → number of segments up to its end
	from := 0
	for _, end := range ends {
		segments = split(segments, code, from, end)
		last = append(last, len(segments))
		from = end
	}
	writer := make([]int32, len(keep)) // slot → segment that writes it, +1
	loops := make([]*loop, len(segments))
	for i := range segments {
		s := &segments[i]
		cross(code[s.from:s.to], writer, keep, int32(i)+1)
		if s.period > 0 {
			if loops[i] = newLoop(code[s.from:s.to], s.period); loops[i] != nil {
				loops[i].cross(writer, keep, int32(i)+1)
			}
		}
	}
	a := &allocator{whole: newValues(len(keep), keep)}
	a.e.buf, a.e.areas = make([]byte, 0, 10*len(code)/4+256), areas
	from = 0
	for _, end := range last {
		length := 0
		for i, s := range segments[from:end] {
			if length == 0 {
				starts = append(starts, len(a.e.buf))
			}
			if l := loops[from+i]; l != nil {
				a.loop(l)
			} else {
				a.straight(code[s.from:s.to])
			}
			if length += s.to - s.from; length >= blockLength || from+i+1 == end {
				a.e.end()
				length = 0
			}
		}
		blocks = append(blocks, len(starts))
		from = end
	}
	return a.e.buf, starts, blocks, !a.e.mixed
}

// cross notes the segment, of number now, that writes each slot, and that slots which another segment reads are kept.
func cross(code []Instr, writer []int32, keep []bool, now int32) {
	for i := range code {
		c := &code[i]
		for k, s := range [3]int32{c.A, c.B, c.C} {
			if k < operands[c.Op] && writer[s] != 0 && writer[s] != now {
				keep[s] = true
			}
		}
		if c.Op.defines() {
			writer[c.D] = now
		}
	}
}

// straight translates straight code.
func (a *allocator) straight(code []Instr) {
	a.v = &a.whole
	a.clear()
	a.scan(code)
	for i := range code { // inputs of the segment, which no instruction of it writes
		c := &code[i]
		for k, s := range [3]int32{c.A, c.B, c.C} {
			if k < operands[c.Op] {
				a.v.first[s] = never
			}
		}
	}
	for r, s := range a.slot {
		if s >= 0 {
			a.v.reg[s], a.slot[r] = -1, -1
		}
	}
}

// clear empties the registers, those that instructions on as many lanes as now have.
func (a *allocator) clear() {
	a.slot = a.slots[:a.e.registers()]
	for r := range a.slot {
		a.slot[r] = -1
	}
	a.fixed = 0
}

// scan translates instructions.
func (a *allocator) scan(code []Instr) {
	if cap(a.uses) < len(code) {
		a.uses = make([][3]int32, len(code))
	}
	a.uses = a.uses[:len(code)]
	v := a.v
	for i := len(code) - 1; i >= 0; i-- {
		c := &code[i]
		u := &a.uses[i]
		if c.Op.defines() && !v.keep[c.D] && v.first[c.D] == never && (v.forced == nil || v.forced[c.D] == 0) {
			u[0] = -1 // nobody needs the result
			continue
		}
		n := operands[c.Op]
		for k, s := range [3]int32{c.A, c.B, c.C} {
			if k < n {
				u[k] = v.first[s]
			}
		}
		for k, s := range [3]int32{c.A, c.B, c.C} {
			if k < n {
				v.first[s] = int32(i)
			}
		}
	}
	for i := range code {
		if a.uses[i][0] >= 0 {
			a.in = int32(i)
			a.instruction(&code[i], &a.uses[i])
		}
	}
}

// instruction translates an instruction whose operands are next used at u.
func (a *allocator) instruction(c *Instr, u *[3]int32) {
	v := a.v
	switch c.Op {
	case Select:
		x, y, z := a.load(c.A, 0), int8(0), int8(0)
		y = a.load(c.B, 1<<x)
		z = a.load(c.C, 1<<x|1<<y)
		d := a.result(c, u, 1<<x|1<<y|1<<z)
		a.e.selects(d, x, y, z)
		a.finish(c, d)
		return
	case Store, Output:
		x := a.load(c.A, 0)
		if c.Op == Store {
			a.e.store(x, v.at(c.D))
		} else {
			a.e.output(a.free(1<<x), x, v.at(c.D))
		}
		a.release(c, u)
		return
	case accumulate:
		a.sum(int8(c.D), a.load(c.A, 0))
		a.release(c, u)
		return
	case Neg, Abs, Sq, Sqrt, Inv, Move:
		x := a.load(c.A, 0)
		pinned := uint32(0)
		if c.Op == Inv {
			pinned = 1 << x // it is read after the result is first written
		}
		d := a.result(c, u, pinned)
		a.e.unary(c.Op, d, x)
		a.finish(c, d)
		return
	}
	s, t, next := c.A, c.B, u[1]
	if c.Op == GuardLt || c.Op == GuardLe {
		s, t, next = t, s, u[0]
	} else if (c.Op == Add || c.Op == Mul) && v.reg[s] < 0 && (v.reg[t] >= 0 || u[0] == never && u[1] != never) {
		s, t, next = t, s, u[0]
	}
	x := a.load(s, 0)
	y := v.reg[t]
	if y < 0 && (next != never || !a.e.direct(v.at(t))) {
		y = a.load(t, 1<<x)
	}
	if c.Op.guard() {
		a.e.guard(c.Op, c.D != 0, x, y, v.at(t))
		a.release(c, u)
		return
	}
	// The result may be in the register of an operand that is not used again.
	d := a.result(c, u, 0)
	a.e.binary(c.Op, d, x, y, v.at(t))
	a.finish(c, d)
}

// load returns the register of a value, which it loads if it has none. It does not take one of the pinned registers, a
// set of bits.
func (a *allocator) load(id int32, pinned uint32) int8 {
	if r := a.v.reg[id]; r >= 0 {
		return r
	}
	r := a.free(pinned)
	a.slot[r], a.v.reg[id], a.clean[r], a.next[r] = id, r, true, a.in
	if a.v.beside != nil {
		for side, other := range a.v.beside[id] {
			next := a.beside(id, other)
			if next < 0 {
				continue
			}
			a.slot[next], a.v.reg[other], a.clean[next], a.next[next] = other, next, true, a.v.first[other]
			if side == 0 {
				a.e.loadBoth(r, next, a.v.at(id).lane)
			} else {
				a.e.loadBoth(next, r, a.v.at(other).lane)
			}
			return r
		}
	}
	a.e.load(r, a.v.at(id))
	return r
}

// soon is the number of instructions in which a value that is loaded with another one has to be used.
const soon = 16

// beside returns the register of a value that is loaded with another one, since its lanes are beside those and it is
// used soon. It is negative if that does not hold, or there is no register for it.
func (a *allocator) beside(id, other int32) int8 {
	v := a.v
	if other < 0 || v.reg[other] >= 0 || v.first[other] <= a.in || v.first[other] > a.in+soon {
		return -1
	}
	one, _ := a.e.base(v.at(id).slot)
	two, _ := a.e.base(v.at(other).slot)
	r := slices.Index(a.slot, -1)
	if one != two || r < 0 || a.fixed>>r&1 != 0 {
		return -1
	}
	return int8(r)
}

// free returns a register that is not pinned, and stores the value that it holds if that is needed.
func (a *allocator) free(pinned uint32) int8 {
	best, furthest := int8(-1), int32(-1)
	for r := range a.slot {
		if (pinned|a.fixed)>>r&1 != 0 {
			continue
		}
		if a.slot[r] < 0 {
			return int8(r)
		}
		if n := a.next[r]; n > furthest {
			best, furthest = int8(r), n
		}
	}
	s := a.slot[best]
	if !a.clean[best] {
		a.e.store(best, a.v.at(s))
	}
	a.v.reg[s], a.slot[best] = -1, -1
	return best
}

// release notes the next uses of the operands, and frees the registers of those that are not used again.
func (a *allocator) release(c *Instr, u *[3]int32) {
	for k, s := range [3]int32{c.A, c.B, c.C} {
		if k >= operands[c.Op] {
			break
		}
		r := a.v.reg[s]
		if r < 0 || a.fixed>>r&1 != 0 {
			continue
		}
		a.next[r] = u[k]
		if u[k] == never {
			a.v.reg[s], a.slot[r] = -1, -1
		}
	}
}

// result returns the register for the result of c, none of the pinned ones.
func (a *allocator) result(c *Instr, u *[3]int32, pinned uint32) int8 {
	a.release(c, u)
	if f := a.v.forced; f != nil && f[c.D] > 0 {
		return f[c.D] - 1
	}
	return a.free(pinned)
}

// finish notes that the result of c is in register d, and stores it if it is kept.
func (a *allocator) finish(c *Instr, d int8) {
	v := a.v
	keep := v.keep[c.D]
	if keep {
		a.e.store(d, v.at(c.D))
	}
	next := v.first[c.D]
	if a.fixed>>d&1 != 0 {
		v.reg[c.D] = d
		return
	}
	if next == never {
		return
	}
	a.slot[d], v.reg[c.D], a.clean[d], a.next[d] = c.D, d, keep, next
}
