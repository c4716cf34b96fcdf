package native

import "slices"

// A loop is the code of a segment that repeats: the instructions of its first iteration, over values of its own.
type loop struct {
	code       []Instr
	iterations int
	origin     []origin
	defined    []int32   // value → the instruction that computes it, +1
	carried    []carried // values that stay in registers from one iteration to the next
	constant   []int32   // values that all iterations read, and that stay in registers
	strides    []int32   // of the index registers
}

// An origin is where a value is in the first iteration, and the distance of that in the next.
type origin struct{ slot, stride int32 }

// A carried is a value that is read, and the result of the iteration before.
type carried struct{ in, out int32 }

// Registers that values may keep through a loop, so that enough are left for the others.
const mostCarried, mostConstant = 5, 4

// newLoop returns the loop of code, which repeats with a period, or nil if it has slots at too many distances.
func newLoop(code []Instr, period int) *loop {
	l := &loop{iterations: len(code) / period}
	known := map[origin]int32{}
	value := func(o origin) int32 {
		id, ok := known[o]
		if !ok {
			id = int32(len(l.origin))
			known[o] = id
			l.origin, l.defined = append(l.origin, o), append(l.defined, 0)
		}
		return id
	}
	reads := map[int32]int{}    // value from before → number of uses
	lastRead := map[int32]int{} // value → its last use
	for j := range period {
		c, n := code[j], code[j+period]
		for k, to := range []*int32{&c.A, &c.B, &c.C}[:operands[c.Op]] {
			id := value(origin{*to, *[]*int32{&n.A, &n.B, &n.C}[k] - *to})
			if l.defined[id] == 0 {
				reads[id]++
			}
			lastRead[id] = j
			*to = id
		}
		if !c.Op.guard() {
			id := value(origin{c.D, n.D - c.D})
			if c.Op.defines() {
				l.defined[id] = int32(j) + 1
			}
			c.D = id
		}
		l.code = append(l.code, c)
	}
	for id, o := range l.origin {
		id := int32(id)
		if reads[id] == 0 {
			continue
		}
		if o.stride == 0 {
			if len(l.constant) < mostConstant {
				l.constant = append(l.constant, id)
			}
			continue
		}
		out, ok := known[origin{o.slot + o.stride, o.stride}]
		if !ok || l.defined[out] == 0 || len(l.carried) == mostCarried {
			continue
		}
		at := int(l.defined[out]) - 1
		if op := l.code[at].Op; lastRead[id] <= at && op != Inv && op != Select {
			l.carried = append(l.carried, carried{id, out})
		}
	}
	return l.indexed()
}

// indexed finds the distances that values in the file have, and returns l, or nil if they are too many.
func (l *loop) indexed() *loop {
	for _, o := range l.origin {
		if o.stride != 0 && l.index(o.stride) == 0 {
			if len(l.strides) == len(indexRegisters) {
				return nil
			}
			l.strides = append(l.strides, o.stride)
		}
	}
	return l
}

// index returns the number of the index register for a distance, +1; 0 if there is none.
func (l *loop) index(stride int32) int8 {
	for k, s := range l.strides {
		if s == stride {
			return int8(k) + 1
		}
	}
	return 0
}

// cross notes in keep the results of the loop that later iterations read from the file.
func (l *loop) cross(writer []int32, keep []bool, now int32) {
	inRegister := map[int32]bool{}
	// Values that are loaded before the loop must not be computed in it.
	l.carried = slices.DeleteFunc(l.carried, func(c carried) bool { return writer[l.origin[c.in].slot] == now })
	l.constant = slices.DeleteFunc(l.constant, func(id int32) bool { return writer[l.origin[id].slot] == now })
	for _, c := range l.carried {
		inRegister[c.in] = true
	}
	for id, o := range l.origin {
		if l.defined[id] > 0 || inRegister[int32(id)] {
			continue
		}
		for k := range int32(l.iterations) {
			if s := o.slot + k*o.stride; s >= 0 && int(s) < len(writer) && writer[s] == now {
				keep[s] = true
			}
		}
	}
}

// loop translates a loop.
func (a *allocator) loop(l *loop) {
	v := newValues(len(l.origin), make([]bool, len(l.origin)))
	v.places, v.forced = make([]place, len(l.origin)), make([]int8, len(l.origin))
	for id, o := range l.origin {
		v.places[id] = place{slot: o.slot, index: l.index(o.stride)}
		a.e.span(o.slot, o.slot+int32(l.iterations-1)*o.stride)
		if l.defined[id] > 0 {
			for k := range int32(l.iterations) {
				v.keep[id] = v.keep[id] || a.whole.keep[o.slot+k*o.stride]
			}
		}
	}
	a.v = &v
	a.clear()
	a.e.begin(l.iterations, len(l.strides))
	top := int8(len(a.slot))
	hold := func(id int32) int8 {
		top--
		a.e.load(top, place{slot: l.origin[id].slot})
		a.fixed |= 1 << top
		a.slot[top], v.reg[id] = id, top
		return top
	}
	for _, c := range l.carried {
		v.forced[c.out] = hold(c.in) + 1
	}
	for _, id := range l.constant {
		hold(id)
	}
	start := len(a.e.buf)
	a.scan(l.code)
	a.e.next(start, l.strides)
}
