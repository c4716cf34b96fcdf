//go:build !arm64

package native

import "encoding/binary"

// registers is the number of vector registers, and lanes that of numbers in a vector.
const (
	registers = 16
	lanes     = 4
)

// An encoder appends instructions of amd64 with AVX. DI is the address of the file, SI that of the table, R11 and R15
// those of the areas. The forms are those of the Go assembler: the shortest that does not swap operands.
type encoder struct {
	areas Areas
	mixed bool // an operand is in an area and elsewhere, so that the code is wrong
	buf   []byte
	fails []int // positions of the distances of jumps to the end of the block where a guard fails
	wide  bool  // numbers are vectors of four lanes
	upper bool  // the block has used the upper halves of registers
}

// Prefixes and maps of opcodes, as VEX has them.
const (
	prefix66, prefixF2            = 1, 3
	vector                        = 4 // of four lanes
	map0F, map0F38, map0F3A uint8 = 1, 2, 3
)

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
	if e.wide {
		return prefix66 | vector
	}
	return prefixF2
}

// bits returns the prefix of instructions on the bits of whole registers.
func (e *encoder) bits() uint8 {
	if e.wide {
		return prefix66 | vector
	}
	return prefix66
}

// vex appends the prefix and the opcode of an instruction with registers reg, second and rm, or the base of an address
// in place of the last.
func (e *encoder) vex(prefix, opcodes, opcode uint8, reg, second, rm int8) {
	high := uint8(reg>>3&1^1) << 7
	rest := uint8(^second&15)<<3 | prefix
	if opcodes == map0F && rm < 8 {
		e.buf = append(e.buf, 0xc5, high|rest, opcode)
		return
	}
	e.buf = append(e.buf, 0xc4, high|1<<6|uint8(rm>>3&1^1)<<5|opcodes, rest, opcode)
}

// three appends an instruction of three registers.
func (e *encoder) three(prefix, opcode uint8, reg, second, rm int8) {
	e.vex(prefix, map0F, opcode, reg, second, rm)
	e.buf = append(e.buf, 0xc0|uint8(reg&7)<<3|uint8(rm&7))
}

// memory appends an instruction of two registers and the number at an offset from the address in base.
func (e *encoder) memory(prefix, opcode uint8, reg, second int8, base uint8, offset int32) {
	e.vex(prefix, map0F, opcode, reg, second, 0)
	e.displaced(uint8(reg&7)<<3|base, offset)
}

// displaced appends the byte for the operands of an instruction, further bytes of it, and an offset.
func (e *encoder) displaced(mode uint8, offset int32, more ...uint8) {
	switch {
	case offset == 0:
		e.buf = append(append(e.buf, mode), more...)
	case offset == int32(int8(offset)):
		e.buf = append(append(append(e.buf, 1<<6|mode), more...), uint8(offset))
	default:
		e.buf = binary.LittleEndian.AppendUint32(append(append(e.buf, 2<<6|mode), more...), uint32(offset))
	}
}

// file appends an instruction of two registers and a value in the file.
func (e *encoder) file(prefix, opcode uint8, reg, second int8, at place) {
	base, _ := e.base(at.slot)
	e.vex(prefix, map0F, opcode, reg, second, base)
	e.address(reg, at)
}

// address appends the bytes for a register and the address of a value.
func (e *encoder) address(reg int8, at place) {
	base, number := e.base(at.slot)
	low := uint8(base & 7)
	if at.index == 0 {
		e.displaced(uint8(reg&7)<<3|low, 8*number)
		return
	}
	e.displaced(uint8(reg&7)<<3|4, 8*number, uint8(indexRegisters[at.index-1])<<3|low)
}

// load appends the load of a value.
func (e *encoder) load(r int8, from place) {
	switch {
	case !e.wide || from.stride == 1:
		e.file(e.numbers(), opLoad, r, 0, from)
	case from.stride == 0:
		base, _ := e.base(from.slot)
		e.vex(prefix66|vector, map0F38, opBroadcast, r, 0, base)
		e.address(r, from)
	default: // two lanes each in r and the spare register, which are joined
		e.lane(prefixF2, opLoad, r, 0, from, 0)
		e.lane(prefix66, opLoadHigh, r, r, from, 1)
		e.lane(prefixF2, opLoad, spareRegister, 0, from, 2)
		e.lane(prefix66, opLoadHigh, spareRegister, spareRegister, from, 3)
		e.vex(prefix66|vector, map0F3A, opInsert, r, r, spareRegister)
		e.buf = append(e.buf, 0xc0|uint8(r&7)<<3|spareRegister&7, 1)
	}
}

// loadBoth appends the loads of a value whose lanes are apart, and of the one in the slots behind them: two neighbours
// at a time, which are put in order.
func (e *encoder) loadBoth(r, next int8, from place) {
	for k, to := range [2]int8{spareRegister, next} {
		two := func(l int32) place { return place{slot: from.slot + l*from.stride, index: from.index} }
		e.file(prefix66, opLoad, to, 0, two(int32(k)))
		upper := two(int32(k) + 2)
		base, _ := e.base(upper.slot)
		e.vex(prefix66|vector, map0F3A, opInsert, to, to, base)
		e.address(to, upper)
		e.buf = append(e.buf, 1)
	}
	e.three(prefix66|vector, opLow, r, spareRegister, next)
	e.three(prefix66|vector, opHigh, next, spareRegister, next)
}

// spareRegister holds two lanes while a vector is loaded.
const spareRegister = 15

// lane appends an instruction of two registers and lane l of a value, a place at a stride or listed.
func (e *encoder) lane(prefix, opcode uint8, reg, second int8, at place, l int32) {
	if at.stride != Gather {
		e.file(prefix, opcode, reg, second, place{slot: at.slot + l*at.stride, index: at.index})
		return
	}
	e.listed(at.slot+l, at.index)
	e.vex(prefix, map0F, opcode, reg, second, 0)
	e.buf = append(e.buf, uint8(reg&7)<<3|4, 3<<6|listedRegister<<3|fileRegister)
}

// listed appends the load of an element of the list, which moves on with an index, to BX.
func (e *encoder) listed(position int32, index int8) {
	e.buf = append(e.buf, 0x41, 0x8b) // MOVL
	e.displaced(listedRegister<<3|4, 4*position, uint8(indexRegisters[index-1])<<3|listRegister)
}

// direct reports whether arithmetic can read a place, without a load.
func (e *encoder) direct(at place) bool { return !e.wide || at.stride == 1 }

// store appends the store of a register. The spare register is used for lanes apart.
func (e *encoder) store(r int8, to place) {
	if !e.wide || to.stride == 1 {
		e.file(e.numbers(), opStore, r, 0, to)
		return
	}
	e.lane(prefixF2, opStore, r, 0, to, 0)
	e.lane(prefix66, opStoreHigh, r, 0, to, 1)
	e.vex(prefix66|vector, map0F3A, opExtract, r, 0, spareRegister)
	e.buf = append(e.buf, 0xc0|uint8(r&7)<<3|spareRegister&7, 1)
	e.lane(prefixF2, opStore, spareRegister, 0, to, 2)
	e.lane(prefix66, opStoreHigh, spareRegister, 0, to, 3)
}

// output appends the store of x + 0, by way of the register d.
func (e *encoder) output(d, x int8, to place) {
	e.memory(e.numbers(), opAdd, d, x, tableRegister, tableZero)
	e.store(d, to)
}

// unary appends d = op(x).
func (e *encoder) unary(op Op, d, x int8) {
	switch op {
	case Neg:
		e.memory(e.bits(), opXor, d, x, tableRegister, tableSign)
	case Abs:
		e.memory(e.bits(), opAnd, d, x, tableRegister, tableValue)
	case Sq:
		e.three(e.numbers(), opMul, d, x, x)
	case Sqrt:
		second := x // the upper half of a number's register comes from it
		if e.wide {
			second = 0
		}
		e.three(e.numbers(), opSqrt, d, second, x)
	case Inv:
		e.memory(e.numbers(), opLoad, d, 0, tableRegister, tableOne)
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
		e.two(e.numbers(), opMask, d, x, y, t)
		e.buf = append(e.buf, [...]uint8{Lt: 1, Le: 2, Eq: 0}[op])
		e.memory(e.bits(), opAnd, d, d, tableRegister, tableOne)
	}
}

// selects appends d = y if x is not 0, otherwise z. d is none of them.
func (e *encoder) selects(d, x, y, z int8) {
	e.memory(e.numbers(), opMask, d, x, tableRegister, tableZero)
	e.buf = append(e.buf, 4) // not equal, or NaN
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
	if e.wide {
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

// guards is guard for the four lanes of vectors, by way of the spare register.
func (e *encoder) guards(op Op, outcome bool, x, y int8, t place) {
	e.two(prefix66|vector, opMask, spareRegister, x, y, t)
	// x is the second operand of Lt and Le, as for numbers: so these are "greater", without order false.
	e.buf = append(e.buf, [...]uint8{GuardLt: 0x0e, GuardLe: 0x0d, GuardEq: 0}[op])
	e.three(prefix66|vector, opMoveMask, listedRegister, 0, spareRegister)
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

// set appends that index registers, which advance by some slots for four lanes, get their values for a lane.
func (e *encoder) set(advance []int32, lane int32) {
	for k, n := range advance {
		e.buf = append(e.buf, 0x48, 0xc7, 0xc0|uint8(indexRegisters[k])) // MOVQ $, r
		e.buf = binary.LittleEndian.AppendUint32(e.buf, uint32(8/lanes*n*lane))
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
	if lane > 1 { // the upper half
		e.vex(prefix66|vector, map0F3A, opExtract, x, 0, spareRegister)
		e.buf = append(e.buf, 0xc0|uint8(x&7)<<3|spareRegister&7, 1)
		y = spareRegister
	}
	if lane%2 > 0 {
		e.three(prefix66, opHigh, spareRegister, y, y)
		y = spareRegister
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
