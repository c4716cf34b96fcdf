//go:build !arm64

package native

import "encoding/binary"

// lanes is the number of numbers in a vector of AVX, and mostRegisters that of vector registers that any code has.
const (
	lanes         = 4
	mostRegisters = 32
)

// An encoder appends instructions of amd64 with AVX, or AVX-512 for vectors of eight lanes, which have twice as many
// registers. DI is the address of the file, SI that of the table, R11 and R15 those of the areas. The forms are those
// of the Go assembler: the shortest that does not swap operands.
type encoder struct {
	areas Areas
	mixed bool // an operand is in an area and elsewhere, so that the code is wrong
	buf   []byte
	fails []int // positions of the distances of jumps to the end of the block where a guard fails
	width int32 // lanes of the numbers: 1, 4 or 8
	upper bool  // the block has used the upper halves of registers
}

// setLanes sets the number of lanes of the numbers that instructions compute: 1, or those of a vector.
func (e *encoder) setLanes(n int32) { e.width = n }

// wide reports whether numbers are vectors, and large whether they have eight lanes.
func (e *encoder) wide() bool  { return e.width > 1 }
func (e *encoder) large() bool { return e.width > lanes }

// registers returns the number of vector registers.
func (e *encoder) registers() int {
	if e.large() {
		return mostRegisters
	}
	return 16
}

// spareOf returns the register that holds two lanes while a vector of some lanes is loaded or stored.
func spareOf(lanes int32) int8 {
	if lanes > 4 {
		return mostRegisters - 1
	}
	return 15
}

func (e *encoder) spare() int8 { return spareOf(e.width) }

// Prefixes and maps of opcodes, as VEX has them.
const (
	prefix66, prefixF2            = 1, 3
	vector                        = 4 // of four lanes, or eight
	map0F, map0F38, map0F3A uint8 = 1, 2, 3
)

// Further bits of the prefix of AVX-512: the number in memory is for all lanes; the result has those of the lanes in
// the mask register, and leaves the others or clears them.
const spread, masked, cleared = 8, 16, 32

// maskRegister, K1, has a bit for each lane after a comparison of large vectors.
const maskRegister = 1

// Opcodes in map 0F, with their prefixes.
const (
	opLoad, opStore                  = 0x10, 0x11 // F2
	opMove                           = 0x29       // 66, from the first register
	opCompare                        = 0x2e       // 66
	opSqrt, opAnd, opXor             = 0x51, 0x54, 0x57
	opAdd, opMul, opSub, opDiv       = 0x58, 0x59, 0x5c, 0x5e // F2
	opMask                     uint8 = 0xc2                   // F2
	opBlend                    uint8 = 0x4b                   // 66, map 0F3A
	opLoadHigh, opStoreHigh          = 0x16, 0x17             // 66, of the second of two lanes
	opMoveMask                       = 0x50                   // 66
	opBroadcast                      = 0x19                   // 66, map 0F38
	opInsert, opExtract        uint8 = 0x18, 0x19             // 66, map 0F3A
	opLow, opHigh                    = 0x14, 0x15             // 66, the first and the second of two lanes in both
	opChoose                         = 0x65                   // 66, map 0F38, by the mask register
	opTestMask                       = 0x98                   // 66, of two mask registers
)

// Registers that hold addresses.
const fileRegister, tableRegister = 7, 6 // DI, SI
var areaRegisters = [...]int8{11, 15}

// indexRegisters hold the distances in bytes that the iterations of a loop have come, each for slots at other
// distances: AX, CX, DX, BX.
var indexRegisters = [...]int8{0, 1, 2, 3}

// Of R8 to R15: countRegister holds the number of iterations that are left, listRegister the address of the list, and
// restRegister whether lanes are left after the last whole vector, or the number of blocks of lanes that are left.
const countRegister, listRegister, restRegister = 0, 1, 2

// listedRegister, BX, holds a slot from the list. Loops over vectors do not have it as an index.
const listedRegister = 3

// Offsets in the table.
const (
	tableSign, tableValue, tableOne, tableZero = 0, 32, 64, 96
)

// numbers returns the prefix of arithmetic, of a number or of four lanes.
func (e *encoder) numbers() uint8 {
	if e.wide() {
		return prefix66 | vector
	}
	return prefixF2
}

// bits returns the prefix of instructions on the bits of whole registers.
func (e *encoder) bits() uint8 {
	if e.wide() {
		return prefix66 | vector
	}
	return prefix66
}

// vex appends the prefix and the opcode of an instruction with registers reg, second and rm, or the base of an address
// in place of the last. Large vectors and registers from 16 on have the prefix of AVX-512. It returns the number of
// bytes that an offset of the address counts if it has one byte.
func (e *encoder) vex(prefix, opcodes, opcode uint8, reg, second, rm int8) (unit int32) {
	if e.large() && prefix&vector != 0 || (reg|second|rm)&16 != 0 {
		return e.evex(prefix, opcodes, opcode, reg, second, rm)
	}
	high := uint8(reg>>3&1^1) << 7
	rest := uint8(^second&15)<<3 | prefix
	if opcodes == map0F && rm < 8 {
		e.buf = append(e.buf, 0xc5, high|rest, opcode)
		return 1
	}
	e.buf = append(e.buf, 0xc4, high|1<<6|uint8(rm>>3&1^1)<<5|opcodes, rest, opcode)
	return 1
}

// evex is vex for the prefix of AVX-512.
func (e *encoder) evex(prefix, opcodes, opcode uint8, reg, second, rm int8) (unit int32) {
	bit := func(r int8, k int) uint8 { return uint8(r>>k&1 ^ 1) } // they are inverted
	last := bit(second, 4) << 3
	switch {
	case prefix&spread != 0:
		unit, last = 8, last|1<<4
	case prefix&3 == prefixF2, opcodes == map0F38, opcode == opLoadHigh, opcode == opStoreHigh:
		unit = 8
	case opcodes == map0F3A, prefix&vector == 0: // two lanes
		unit = 16
	default:
		unit = 64
	}
	if prefix&vector != 0 {
		last |= 2 << 5
	}
	if prefix&(masked|cleared) != 0 {
		last |= maskRegister
	}
	if prefix&cleared != 0 {
		last |= 1 << 7
	}
	e.buf = append(e.buf, 0x62, bit(reg, 3)<<7|bit(rm, 4)<<6|bit(rm, 3)<<5|bit(reg, 4)<<4|opcodes,
		1<<7|uint8(^second&15)<<3|1<<2|prefix&3, last, opcode)
	return unit
}

// three appends an instruction of three registers.
func (e *encoder) three(prefix, opcode uint8, reg, second, rm int8) {
	e.vex(prefix, map0F, opcode, reg, second, rm)
	e.buf = append(e.buf, 0xc0|uint8(reg&7)<<3|uint8(rm&7))
}

// constant appends an instruction of two registers and the number at an offset in the table.
func (e *encoder) constant(prefix, opcode uint8, reg, second int8, offset int32) {
	opcodes := map0F
	switch {
	case !e.large():
	case opcode == opLoad:
		opcodes, opcode = map0F38, opBroadcast
	default:
		prefix |= spread
	}
	unit := e.vex(prefix, opcodes, opcode, reg, second, 0)
	e.displaced(uint8(reg&7)<<3|tableRegister, offset, unit)
}

// displaced appends the byte for the operands of an instruction, further bytes of it, and an offset: of one byte, which
// counts units, if that can be.
func (e *encoder) displaced(mode uint8, offset, unit int32, more ...uint8) {
	short := offset / unit
	switch {
	case offset == 0:
		e.buf = append(append(e.buf, mode), more...)
	case offset == short*unit && short == int32(int8(short)):
		e.buf = append(append(append(e.buf, 1<<6|mode), more...), uint8(short))
	default:
		e.buf = binary.LittleEndian.AppendUint32(append(append(e.buf, 2<<6|mode), more...), uint32(offset))
	}
}

// file appends an instruction of two registers and a value in the file.
func (e *encoder) file(prefix, opcode uint8, reg, second int8, at place) {
	base, _ := e.base(at.slot)
	if prefix&vector != 0 && e.large() && at.stride == 0 {
		prefix |= spread
	}
	unit := e.vex(prefix, map0F, opcode, reg, second, base)
	e.address(reg, at, unit)
}

// address appends the bytes for a register and the address of a value.
func (e *encoder) address(reg int8, at place, unit int32) {
	base, number := e.base(at.slot)
	low := uint8(base & 7)
	if at.index == 0 {
		e.displaced(uint8(reg&7)<<3|low, 8*number, unit)
		return
	}
	e.displaced(uint8(reg&7)<<3|4, 8*number, unit, uint8(indexRegisters[at.index-1])<<3|low)
}

// load appends the load of a value.
func (e *encoder) load(r int8, from place) {
	switch {
	case !e.wide() || from.stride == 1:
		e.file(e.numbers(), opLoad, r, 0, from)
	case from.stride == 0:
		base, _ := e.base(from.slot)
		unit := e.vex(prefix66|vector, map0F38, opBroadcast, r, 0, base)
		e.address(r, from, unit)
	default: // two lanes each in r and the spare register, which are joined
		for l := int32(0); l < e.width; l += 2 {
			to := r
			if l > 0 {
				to = e.spare()
			}
			e.lane(prefixF2, opLoad, to, 0, from, l)
			e.lane(prefix66, opLoadHigh, to, to, from, l+1)
			if l > 0 {
				e.vex(prefix66|vector, map0F3A, opInsert, r, r, to)
				e.buf = append(e.buf, 0xc0|uint8(r&7)<<3|uint8(to&7), uint8(l/2))
			}
		}
	}
}

// loadBoth appends the loads of a value whose lanes are at two, and of the one in the slots behind them: two neighbours
// at a time, which are put in order.
func (e *encoder) loadBoth(r, next int8, two func(lane int32) place) {
	spare := e.spare()
	for k, to := range [2]int8{spare, next} {
		e.file(prefix66, opLoad, to, 0, two(int32(k)))
		for l := int32(2); l < e.width; l += 2 {
			upper := two(int32(k) + l)
			base, _ := e.base(upper.slot)
			unit := e.vex(prefix66|vector, map0F3A, opInsert, to, to, base)
			e.address(to, upper, unit)
			e.buf = append(e.buf, uint8(l/2))
		}
	}
	e.three(prefix66|vector, opLow, r, spare, next)
	e.three(prefix66|vector, opHigh, next, spare, next)
}

// lane appends an instruction of two registers and lane l of a value, a place at a stride or listed.
func (e *encoder) lane(prefix, opcode uint8, reg, second int8, at place, l int32) {
	if at.stride != Gather {
		e.file(prefix, opcode, reg, second, at.lane(l))
		return
	}
	e.listed(at.slot+l, at.index)
	e.vex(prefix, map0F, opcode, reg, second, 0)
	e.buf = append(e.buf, uint8(reg&7)<<3|4, 3<<6|listedRegister<<3|fileRegister)
}

// listed appends the load of an element of the list, which moves on with an index, to BX.
func (e *encoder) listed(position int32, index int8) {
	e.buf = append(e.buf, 0x41, 0x8b) // MOVL
	e.displaced(listedRegister<<3|4, 4*position, 1, uint8(indexRegisters[index-1])<<3|listRegister)
}

// direct reports whether arithmetic can read a place, without a load.
func (e *encoder) direct(at place) bool {
	return !e.wide() || at.stride == 1 || at.stride == 0 && e.large()
}

// store appends the store of a register. The spare register is used for lanes apart.
func (e *encoder) store(r int8, to place) {
	if !e.wide() || to.stride == 1 {
		e.file(e.numbers(), opStore, r, 0, to)
		return
	}
	for l := int32(0); l < e.width; l += 2 {
		from := r
		if l > 0 {
			from = e.extract(r, l/2)
		}
		e.lane(prefixF2, opStore, from, 0, to, l)
		e.lane(prefix66, opStoreHigh, from, 0, to, l+1)
	}
}

// extract appends the copy of one of the pairs of lanes of a vector to the spare register, which it returns.
func (e *encoder) extract(r int8, pair int32) int8 {
	spare := e.spare()
	e.vex(prefix66|vector, map0F3A, opExtract, r, 0, spare)
	e.buf = append(e.buf, 0xc0|uint8(r&7)<<3|uint8(spare&7), uint8(pair))
	return spare
}

// output appends the store of x + 0, by way of the register d.
func (e *encoder) output(d, x int8, to place) {
	e.constant(e.numbers(), opAdd, d, x, tableZero)
	e.store(d, to)
}

// unary appends d = op(x).
func (e *encoder) unary(op Op, d, x int8) {
	switch op {
	case Neg:
		e.constant(e.bits(), opXor, d, x, tableSign)
	case Abs:
		e.constant(e.bits(), opAnd, d, x, tableValue)
	case Sq:
		e.three(e.numbers(), opMul, d, x, x)
	case Sqrt:
		second := x // the upper half of a number's register comes from it
		if e.wide() {
			second = 0
		}
		e.three(e.numbers(), opSqrt, d, second, x)
	case Inv:
		e.constant(e.numbers(), opLoad, d, 0, tableOne)
		e.three(e.numbers(), opDiv, d, d, x)
	case Move:
		if d != x {
			e.three(e.bits(), opMove, x, 0, d)
		}
	}
}

// two appends an instruction with the operands x and y, or the value at t if y is negative.
func (e *encoder) two(prefix, opcode uint8, reg, second, y int8, t place) {
	if y >= 0 {
		e.three(prefix, opcode, reg, second, y)
	} else {
		e.file(prefix, opcode, reg, second, t)
	}
}

// binary appends d = x op y, where y is the value at t if it is negative.
func (e *encoder) binary(op Op, d, x, y int8, t place) {
	switch op {
	case Add:
		e.two(e.numbers(), opAdd, d, x, y, t)
	case Sub:
		e.two(e.numbers(), opSub, d, x, y, t)
	case Mul:
		e.two(e.numbers(), opMul, d, x, y, t)
	case Div:
		e.two(e.numbers(), opDiv, d, x, y, t)
	case Lt, Le, Eq:
		mask := d
		if e.large() {
			mask = maskRegister
		}
		e.two(e.numbers(), opMask, mask, x, y, t)
		e.buf = append(e.buf, [...]uint8{Lt: 1, Le: 2, Eq: 0}[op])
		if e.large() {
			e.constant(e.bits()|cleared, opLoad, d, 0, tableOne)
		} else {
			e.constant(e.bits(), opAnd, d, d, tableOne)
		}
	}
}

// selects appends d = y if x is not 0, otherwise z. d is none of them.
func (e *encoder) selects(d, x, y, z int8) {
	const notEqual = 4 // or NaN
	if e.large() {
		e.constant(e.numbers(), opMask, maskRegister, x, tableZero)
		e.buf = append(e.buf, notEqual)
		e.vex(e.bits()|masked, map0F38, opChoose, d, z, y)
		e.buf = append(e.buf, 0xc0|uint8(d&7)<<3|uint8(y&7))
		return
	}
	e.constant(e.numbers(), opMask, d, x, tableZero)
	e.buf = append(e.buf, notEqual)
	e.vex(e.bits(), map0F3A, opBlend, d, z, y)
	e.buf = append(e.buf, 0xc0|uint8(d&7)<<3|uint8(y&7), uint8(d)<<4)
}

// Conditions of jumps after a comparison. Without order below, zero, notAbove and parity hold.
const (
	below, notBelow, zero, notZero, notAbove, above, parity = 2, 3, 4, 5, 6, 7, 10
)

// guard appends a comparison of y, or the value at t if y is negative, with x, and a jump to the failing end unless it
// has the outcome. Lt and Le are x above, and not below, what they are compared with: so they are false without order.
func (e *encoder) guard(op Op, outcome bool, x, y int8, t place) {
	if e.wide() {
		e.guards(op, outcome, x, y, t)
		return
	}
	if op == GuardEq {
		e.two(prefix66, opCompare, x, 0, y, t)
		if outcome {
			e.fail(notZero)
			e.fail(parity)
			return
		}
		e.buf = append(e.buf, 0x70|parity, 6) // over the next jump
		e.fail(zero)
		return
	}
	e.two(prefix66, opCompare, x, 0, y, t)
	switch {
	case op == GuardLt && outcome:
		e.fail(notAbove)
	case op == GuardLt:
		e.fail(above)
	case outcome:
		e.fail(below)
	default:
		e.fail(notBelow)
	}
}

// guards is guard for the lanes of vectors, by way of the spare register or the mask register.
func (e *encoder) guards(op Op, outcome bool, x, y int8, t place) {
	mask := e.spare()
	if e.large() {
		mask = maskRegister
	}
	e.two(prefix66|vector, opMask, mask, x, y, t)
	// x is the second operand of Lt and Le, as for numbers: so these are "greater", without order false.
	e.buf = append(e.buf, [...]uint8{GuardLt: 0x0e, GuardLe: 0x0d, GuardEq: 0}[op])
	if e.large() {
		e.buf = append(e.buf, 0xc5, 0xf9, opTestMask, 0xc0|maskRegister<<3|maskRegister) // KORTESTB K1, K1
		if outcome {
			e.fail(notBelow) // not all
		} else {
			e.fail(notZero)
		}
		return
	}
	e.three(prefix66|vector, opMoveMask, listedRegister, 0, mask)
	if outcome {
		e.buf = append(e.buf, 0x83, 0xf8|listedRegister, 15) // CMPL BX, $15
	} else {
		e.buf = append(e.buf, 0x85, 0xc0|listedRegister<<3|listedRegister) // TESTL BX, BX
	}
	e.fail(notZero)
}

// fail appends a jump to the failing end of the block.
func (e *encoder) fail(condition uint8) {
	e.buf = append(e.buf, 0x0f, 0x80|condition, 0, 0, 0, 0)
	e.fails = append(e.fails, len(e.buf))
}

// end ends the block.
func (e *encoder) end() {
	vzeroupper := []byte{0xc5, 0xf8, 0x77} // scalar instructions of Go are slow while upper halves are not 0
	if !e.upper {
		vzeroupper = nil
	}
	e.upper = false
	e.buf = append(append(e.buf, vzeroupper...), 0xb8, 1, 0, 0, 0, 0xc3) // MOVL $1, AX; RET
	for _, at := range e.fails {
		binary.LittleEndian.PutUint32(e.buf[at-4:], uint32(len(e.buf)-at))
	}
	if len(e.fails) > 0 {
		e.buf = append(append(e.buf, vzeroupper...), 0x31, 0xc0, 0xc3) // XORL AX, AX; RET
		e.fails = e.fails[:0]
	}
	for len(e.buf)%16 != 0 {
		e.buf = append(e.buf, 0xcc)
	}
}

// again ends a loop, which begins at start, whose body runs once more for the lanes from a number on.
func (e *encoder) again(start int, advance []int32, lane int32) {
	e.buf = append(e.buf, 0x41, 0xff, 0xc8|restRegister) // DECL R10
	e.buf = append(e.buf, 0x0f, 0x88, 0, 0, 0, 0)        // JMI over the rest
	over := len(e.buf)
	e.set(advance, lane)
	e.count(countRegister, 1)
	e.buf = append(e.buf, 0xe9) // JMP start
	e.buf = binary.LittleEndian.AppendUint32(e.buf, uint32(int32(start-len(e.buf)-4)))
	binary.LittleEndian.PutUint32(e.buf[over-4:], uint32(len(e.buf)-over))
}

// set appends that index registers, which advance by some slots for a vector, get their values for a lane.
func (e *encoder) set(advance []int32, lane int32) {
	for k, n := range advance {
		e.buf = append(e.buf, 0x48, 0xc7, 0xc0|uint8(indexRegisters[k])) // MOVQ $, r
		e.buf = binary.LittleEndian.AppendUint32(e.buf, uint32(8/e.width*n*lane))
	}
}

// term appends the addition of a term to a sum: of a lane of the vector x, or of the value in a slot if lane is
// negative. The first one becomes the sum. The spare register is used.
func (e *encoder) term(sum, x int8, lane, slot int32, first bool) {
	if lane < 0 {
		if first {
			e.file(prefixF2, opLoad, sum, 0, place{slot: slot})
		} else {
			e.file(prefixF2, opAdd, sum, sum, place{slot: slot})
		}
		return
	}
	y := x
	if lane > 1 {
		y = e.extract(x, lane/2)
	}
	if lane%2 > 0 {
		e.three(prefix66, opHigh, e.spare(), y, y)
		y = e.spare()
	}
	if first {
		e.three(prefix66, opMove, y, 0, sum)
	} else {
		e.three(prefixF2, opAdd, sum, sum, y)
	}
}

// add appends the addition of the value in a place to a register.
func (e *encoder) add(sum int8, at place) { e.file(e.numbers(), opAdd, sum, sum, at) }

// addListed appends the addition of the value in the slot that an element of the list has, which moves on with an
// index. The first one becomes the sum.
func (e *encoder) addListed(sum int8, position int32, index int8, first bool) {
	e.listed(position, index)
	if first {
		e.vex(prefixF2, map0F, opLoad, sum, 0, 0)
	} else {
		e.vex(prefixF2, map0F, opAdd, sum, sum, 0)
	}
	e.buf = append(e.buf, uint8(sum&7)<<3|4, 3<<6|listedRegister<<3|fileRegister)
}

// setIndex appends the copy of an index register to another.
func (e *encoder) setIndex(to, from int8) {
	e.buf = append(e.buf, 0x48, 0x89, 0xc0|uint8(indexRegisters[from-1])<<3|uint8(indexRegisters[to-1])) // MOVQ
}

// clearIndex appends that an index register becomes 0.
func (e *encoder) clearIndex(i int8) {
	r := uint8(indexRegisters[i-1])
	e.buf = append(e.buf, 0x31, 0xc0|r<<3|r) // XORL r, r
}

// advance appends that an index register moves on by a number of bytes.
func (e *encoder) advance(i int8, bytes int32) {
	r := uint8(indexRegisters[i-1])
	if bytes == int32(int8(bytes)) {
		e.buf = append(e.buf, 0x48, 0x83, 0xc0|r, uint8(bytes)) // ADDQ $n, r
		return
	}
	if e.buf = append(e.buf, 0x48); r == 0 {
		e.buf = append(e.buf, 0x05)
	} else {
		e.buf = append(e.buf, 0x81, 0xc0|r)
	}
	e.buf = binary.LittleEndian.AppendUint32(e.buf, uint32(bytes))
}

// count appends the load of a number into a counter, countRegister or restRegister.
func (e *encoder) count(register uint8, n int) {
	e.buf = append(e.buf, 0x41, 0xb8|register) // MOVL
	e.buf = binary.LittleEndian.AppendUint32(e.buf, uint32(n))
}

// jump appends that a counter is decremented, and a jump to start unless it is 0.
func (e *encoder) jump(register uint8, start int) {
	e.buf = append(e.buf, 0x41, 0xff, 0xc8|register) // DECL
	e.buf = append(e.buf, 0x0f, 0x80|notZero)        // JNZ
	e.buf = binary.LittleEndian.AppendUint32(e.buf, uint32(int32(start-len(e.buf)-4)))
}
