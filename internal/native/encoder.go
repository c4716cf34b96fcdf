package native

// An encoder appends instructions of the processor. Each processor has its own, with the same methods.

// A place is where a value is in the file: in a slot, which moves on with each iteration of a loop if there is an
// index. The lanes of a vector are stride slots apart, or in slots that are listed from slot on if that is [Gather].
// The stride of other places is 0.
type place struct {
	slot   int32
	index  int8 // of the register, +1; 0 if there is none
	stride int32
}

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
