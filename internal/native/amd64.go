package native

import "encoding/binary"

// registers is the number of vector registers.
const registers = 16

// An encoder appends instructions of amd64 with AVX. DI is the address of the file, SI that of the table. The forms are
// those of the Go assembler: the shortest that does not swap operands.
type encoder struct {
	buf   []byte
	fails []int // positions of the distances of jumps to the end of the block where a guard fails
}

// Prefixes and maps of opcodes, as VEX has them.
const (
	prefix66, prefixF2       = 1, 3
	map0F, map0F3A     uint8 = 1, 3
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
)

// Registers that hold addresses.
const fileRegister, tableRegister = 7, 6 // DI, SI

// indexRegisters hold the distances in bytes that the iterations of a loop have come, each for slots at other
// distances: AX, CX, DX, BX. countRegister, R8, holds the number of iterations that are left.
var indexRegisters = [...]int8{0, 1, 2, 3}

const countRegister = 0 // of R8 to R15

// Offsets in the table.
const (
	tableSign, tableValue, tableOne, tableZero = 0, 16, 32, 40
)

// vex appends the prefix and the opcode of an instruction with registers reg, second and rm. rm is 0 for an address.
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

// A place is where a value is in the file: in a slot, which moves on with each iteration of a loop if there is an
// index.
type place struct {
	slot  int32
	index int8 // of the register, +1; 0 if there is none
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
	if at.index == 0 {
		e.memory(prefix, opcode, reg, second, fileRegister, 8*at.slot)
		return
	}
	e.vex(prefix, map0F, opcode, reg, second, 0)
	e.displaced(uint8(reg&7)<<3|4, 8*at.slot, uint8(indexRegisters[at.index-1])<<3|fileRegister)
}

// load appends the load of a value.
func (e *encoder) load(r int8, from place) { e.file(prefixF2, opLoad, r, 0, from) }

// store appends the store of a register.
func (e *encoder) store(r int8, to place) { e.file(prefixF2, opStore, r, 0, to) }

// output appends the store of x + 0, by way of the register d.
func (e *encoder) output(d, x int8, to place) {
	e.memory(prefixF2, opAdd, d, x, tableRegister, tableZero)
	e.store(d, to)
}

// unary appends d = op(x).
func (e *encoder) unary(op Op, d, x int8) {
	switch op {
	case Neg:
		e.memory(prefix66, opXor, d, x, tableRegister, tableSign)
	case Abs:
		e.memory(prefix66, opAnd, d, x, tableRegister, tableValue)
	case Sq:
		e.three(prefixF2, opMul, d, x, x)
	case Sqrt:
		e.three(prefixF2, opSqrt, d, x, x)
	case Inv:
		e.memory(prefixF2, opLoad, d, 0, tableRegister, tableOne)
		e.three(prefixF2, opDiv, d, d, x)
	case Move:
		if d != x {
			e.three(prefix66, opMove, x, 0, d)
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
		e.two(prefixF2, opAdd, d, x, y, t)
	case Sub:
		e.two(prefixF2, opSub, d, x, y, t)
	case Mul:
		e.two(prefixF2, opMul, d, x, y, t)
	case Div:
		e.two(prefixF2, opDiv, d, x, y, t)
	case Lt, Le, Eq:
		e.two(prefixF2, opMask, d, x, y, t)
		e.buf = append(e.buf, [...]uint8{Lt: 1, Le: 2, Eq: 0}[op])
		e.memory(prefix66, opAnd, d, d, tableRegister, tableOne)
	}
}

// selects appends d = y if x is not 0, otherwise z. d is none of them.
func (e *encoder) selects(d, x, y, z int8) {
	e.memory(prefixF2, opMask, d, x, tableRegister, tableZero)
	e.buf = append(e.buf, 4) // not equal, or NaN
	e.vex(prefix66, map0F3A, opBlend, d, z, y)
	e.buf = append(e.buf, 0xc0|uint8(d&7)<<3|uint8(y&7), uint8(d)<<4)
}

// Conditions of jumps after a comparison. Without order below, zero, notAbove and parity hold.
const (
	below, notBelow, zero, notZero, notAbove, above, parity = 2, 3, 4, 5, 6, 7, 10
)

// guard appends a comparison of y, or the value at t if y is negative, with x, and a jump to the failing end unless it
// has the outcome. Lt and Le are x above, and not below, what they are compared with: so they are false without order.
func (e *encoder) guard(op Op, outcome bool, x, y int8, t place) {
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

// fail appends a jump to the failing end of the block.
func (e *encoder) fail(condition uint8) {
	e.buf = append(e.buf, 0x0f, 0x80|condition, 0, 0, 0, 0)
	e.fails = append(e.fails, len(e.buf))
}

// end ends the block.
func (e *encoder) end() {
	e.buf = append(e.buf, 0xb8, 1, 0, 0, 0, 0xc3) // MOVL $1, AX; RET
	for _, at := range e.fails {
		binary.LittleEndian.PutUint32(e.buf[at-4:], uint32(len(e.buf)-at))
	}
	if len(e.fails) > 0 {
		e.buf = append(e.buf, 0x31, 0xc0, 0xc3) // XORL AX, AX; RET
		e.fails = e.fails[:0]
	}
	for len(e.buf)%16 != 0 {
		e.buf = append(e.buf, 0xcc)
	}
}

// begin begins a loop of some iterations with index registers that are 0.
func (e *encoder) begin(iterations, indices int) {
	for _, r := range indexRegisters[:indices] {
		e.buf = append(e.buf, 0x31, 0xc0|uint8(r)<<3|uint8(r)) // XORL r, r
	}
	e.buf = append(e.buf, 0x41, 0xb8|countRegister) // MOVL $iterations, R8
	e.buf = binary.LittleEndian.AppendUint32(e.buf, uint32(iterations))
}

// next ends the body of a loop that begins at start, whose index registers advance by some slots.
func (e *encoder) next(start int, advance []int32) {
	for k, n := range advance {
		r := uint8(indexRegisters[k])
		if n := 8 * n; n == int32(int8(n)) {
			e.buf = append(e.buf, 0x48, 0x83, 0xc0|r, uint8(n)) // ADDQ $n, r
		} else {
			if e.buf = append(e.buf, 0x48); r == 0 {
				e.buf = append(e.buf, 0x05)
			} else {
				e.buf = append(e.buf, 0x81, 0xc0|r)
			}
			e.buf = binary.LittleEndian.AppendUint32(e.buf, uint32(n))
		}
	}
	e.buf = append(e.buf, 0x41, 0xff, 0xc8|countRegister) // DECL R8
	e.buf = append(e.buf, 0x0f, 0x80|notZero)             // JNZ start
	e.buf = binary.LittleEndian.AppendUint32(e.buf, uint32(int32(start-len(e.buf)-4)))
}
