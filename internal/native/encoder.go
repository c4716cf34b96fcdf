package native

// An encoder appends instructions of the processor. Each processor has its own, with the same methods.

// mostLanes is the number of lanes of the largest vectors that the processor has.
var mostLanes = largest()

// A place is where a value is in the file: in a slot, which moves on with each iteration of a loop if there is an
// index. The lanes of a vector are stride slots apart, or in slots that are listed from slot on if that is [Gather].
// The stride of other places is 0.
type place struct {
	slot   int32
	index  int8 // of the register, +1; 0 if there is none
	stride int32
}

// lane returns the place of lane l.
func (p place) lane(l int32) place { return place{slot: p.slot + l*p.stride, index: p.index} }

// span notes that one address is used for slots from first to last, in either order.
func (e *encoder) span(first, last int32) {
	e.mixed = e.mixed || e.areas.divide(first, last)
}

// base returns the register that the address of a slot begins with, and the number of the slot from there.
func (e *encoder) base(slot int32) (register int8, number int32) {
	for k, a := range e.areas {
		if a.Has(slot) {
			return areaRegisters[k], slot - a.First
		}
	}
	return fileRegister, slot
}

// begin begins a loop of some iterations with index registers that are 0.
func (e *encoder) begin(iterations, indices int) {
	for i := range indices {
		e.clearIndex(int8(i) + 1)
	}
	e.count(countRegister, iterations)
}

// next ends the body of a loop that begins at start, whose index registers advance by some slots.
func (e *encoder) next(start int, advance []int32) {
	e.move(advance)
	e.jump(countRegister, start)
}

// move appends that index registers advance by some slots.
func (e *encoder) move(advance []int32) {
	for k, n := range advance {
		e.advance(int8(k)+1, 8*n)
	}
}
