//go:build arm64

package native

import "encoding/binary"

// lanes is the number of numbers in a vector, and mostRegisters that of vector registers of values. The encoder has two
// more registers, V30 and V31.
const (
	lanes         = 2
	mostRegisters = 30
)

// An encoder appends instructions of arm64. R0 is the address of the file, R2 that of the list, R3 and R4 those of the
// areas.
type encoder struct {
	areas Areas
	mixed bool // an operand is in an area and elsewhere, so that the code is wrong
	buf   []byte
	fails []int // positions of the jumps to the end of the block where a guard fails
	width int32 // lanes of the numbers: 1 or 2
	upper bool  // has no meaning here
}

// setLanes sets the number of lanes of the numbers that instructions compute: 1, or those of a vector.
func (e *encoder) setLanes(n int32) { e.width = n }

// wide reports whether numbers are vectors.
func (e *encoder) wide() bool { return e.width > 1 }

// registers returns the number of vector registers.
func (e *encoder) registers() int { return mostRegisters }

// spareOf returns the register that holds a value that is not allocated in loops over vectors of some lanes.
func spareOf(int32) int8 { return spareRegister }

// Registers that hold addresses, and their temporary ones.
const (
	fileRegister, listRegister                         = 0, 2
	listedRegister, addressRegister, immediateRegister = 9, 12, 13
	zeroRegister, returnRegister                       = 31, 30
)

var areaRegisters = [...]int8{3, 4}

// indexRegisters hold the distances in bytes that the iterations of a loop have come, each for slots at other
// distances.
var indexRegisters = [...]int8{5, 6, 7, 8}

// countRegister holds the number of iterations that are left, and restRegister whether lanes are left after the last
// whole vector, or the number of blocks of lanes that are left.
const countRegister, restRegister = 10, 11

// spareRegister holds a value that is not allocated in loops over lanes, and scratch one of an instruction.
const spareRegister, scratch int8 = 29, 31

// Instructions on a number, and on two lanes.
type opcode struct{ one, two uint32 }

var (
	opAdd    = opcode{0x1e602800, 0x4e60d400}
	opSub    = opcode{0x1e603800, 0x4ee0d400}
	opMul    = opcode{0x1e600800, 0x6e60dc00}
	opDiv    = opcode{0x1e601800, 0x6e60fc00}
	opNeg    = opcode{0x1e614000, 0x6ee0f800}
	opAbs    = opcode{0x1e60c000, 0x4ee0f800}
	opSqrt   = opcode{0x1e61c000, 0x6ee1f800}
	opEqual  = opcode{0x5e60e400, 0x4e60e400} // masks of all bits
	opAbove  = opcode{0x7ee0e400, 0x6ee0e400}
	opNot    = opcode{0x7e60e400, 0x6e60e400} // not below
	opIsZero = opcode{0x5ee0d800, 0x4ee0d800}
	opOne    = opcode{0x1e6e1000, 0x6f03f600} // 1
)

// Instructions on whole registers.
const (
	opMove, opAnd, opChoose      = 0x4ea01c00, 0x4e201c00, 0x6e601c00
	opZero                       = 0x6f00e400
	opSpread, opInsert, opSecond = 0x4e080400, 0x6e180400, 0x5e180400 // of or to lanes
	opFirsts, opSeconds          = 0x4ec03800, 0x4ec07800             // the lanes of two registers with the same number
)

// word appends an instruction.
func (e *encoder) word(w uint32) { e.buf = binary.LittleEndian.AppendUint32(e.buf, w) }

// three appends an instruction of registers. Those that are not there are 0.
func (e *encoder) three(op uint32, d, n, m int8) {
	e.word(op | uint32(m)<<16 | uint32(n)<<5 | uint32(d))
}

// of returns the instruction for a number or a vector.
func (e *encoder) of(op opcode) uint32 {
	if e.wide() {
		return op.two
	}
	return op.one
}

// A transfer is a load or a store of 1<<size bytes, with an offset or a register that is added.
type transfer struct {
	size        uint32
	near, added uint32
}

var (
	loadNumber  = transfer{3, 0xfd400000, 0xfc606800}
	storeNumber = transfer{3, 0xfd000000, 0xfc206800}
	loadVector  = transfer{4, 0x3dc00000, 0x3ce06800}
	storeVector = transfer{4, 0x3d800000, 0x3ca06800}
	loadSlot    = transfer{2, 0xb9400000, 0xb8606800}
)

// memory appends a transfer of a register at an offset from an address, to which index is added if it is not negative.
func (e *encoder) memory(t transfer, r, base, index int8, offset int32) {
	near := offset&(1<<t.size-1) == 0 && offset>>t.size < 1<<12
	switch {
	case index >= 0 && offset == 0:
		e.three(t.added, r, base, index)
		return
	case index >= 0:
		e.three(0x8b000000, addressRegister, base, index) // ADD
		base = addressRegister
	}
	if near {
		e.word(t.near | uint32(offset>>t.size)<<10 | uint32(base)<<5 | uint32(r))
		return
	}
	e.immediate(immediateRegister, int64(offset))
	e.three(t.added, r, base, immediateRegister)
}

// immediate appends the load of a number into a register.
func (e *encoder) immediate(r int8, n int64) {
	first := uint32(0xd2800000) // MOVZ
	rest := uint64(n)
	if n < 0 {
		first, rest = 0x92800000, ^rest // MOVN
	}
	e.word(first | uint32(rest&0xffff)<<5 | uint32(r))
	for k := uint32(1); k < 4; k++ {
		if part := uint32(rest >> (16 * k) & 0xffff); part != 0 {
			if n < 0 {
				part ^= 0xffff
			}
			e.word(0xf2800000 | k<<21 | part<<5 | uint32(r)) // MOVK
		}
	}
}

// number appends a transfer of a number or, if all is set, of neighbouring lanes.
func (e *encoder) number(one, two transfer, r int8, at place, all bool) {
	base, slot := e.base(at.slot)
	index := int8(-1)
	if at.index > 0 {
		index = indexRegisters[at.index-1]
	}
	if all {
		one = two
	}
	e.memory(one, r, base, index, 8*slot)
}

// lane appends a transfer of lane l of a value, a place at a stride or listed.
func (e *encoder) lane(t transfer, r int8, at place, l int32) {
	if at.stride != Gather {
		e.number(t, t, r, at.lane(l), false)
		return
	}
	e.listed(at.slot+l, at.index)
	e.three(t.added|1<<12, r, fileRegister, listedRegister) // the slot, times 8
}

// listed appends the load of an element of the list, which moves on with an index.
func (e *encoder) listed(position int32, index int8) {
	e.memory(loadSlot, listedRegister, listRegister, indexRegisters[index-1], 4*position)
}

// load appends the load of a value.
func (e *encoder) load(r int8, from place) {
	switch {
	case !e.wide() || from.stride == 1:
		e.number(loadNumber, loadVector, r, from, e.wide())
	case from.stride == 0:
		e.number(loadNumber, loadVector, r, from, false)
		e.three(opSpread, r, r, 0)
	default:
		e.lane(loadNumber, r, from, 0)
		e.lane(loadNumber, scratch, from, 1)
		e.three(opInsert, r, scratch, 0)
	}
}

// loadBoth appends the loads of a value whose lanes are at two, and of the one in the slots behind them: two neighbours
// at a time, which are put in order.
func (e *encoder) loadBoth(r, next int8, two func(lane int32) place) {
	for k, to := range [2]int8{scratch, next} {
		e.number(loadNumber, loadVector, to, two(int32(k)), true)
	}
	e.three(opFirsts, r, scratch, next)
	e.three(opSeconds, next, scratch, next)
}

// direct reports whether arithmetic can read a place, without a load.
func (e *encoder) direct(place) bool { return false }

// store appends the store of a register.
func (e *encoder) store(r int8, to place) {
	if !e.wide() || to.stride == 1 {
		e.number(storeNumber, storeVector, r, to, e.wide())
		return
	}
	e.lane(storeNumber, r, to, 0)
	e.three(opSecond, scratch, r, 0)
	e.lane(storeNumber, scratch, to, 1)
}

// output appends the store of x + 0, by way of the register d.
func (e *encoder) output(d, x int8, to place) {
	e.word(opZero | uint32(scratch))
	e.three(e.of(opAdd), d, x, scratch)
	e.store(d, to)
}

// unary appends d = op(x).
func (e *encoder) unary(op Op, d, x int8) {
	switch op {
	case Neg:
		e.three(e.of(opNeg), d, x, 0)
	case Abs:
		e.three(e.of(opAbs), d, x, 0)
	case Sq:
		e.three(e.of(opMul), d, x, x)
	case Sqrt:
		e.three(e.of(opSqrt), d, x, 0)
	case Inv:
		e.word(e.of(opOne) | uint32(scratch))
		e.three(e.of(opDiv), d, scratch, x)
	case Move:
		if d != x {
			e.three(opMove, d, x, x)
		}
	}
}

// binary appends d = x op y.
func (e *encoder) binary(op Op, d, x, y int8, _ place) {
	switch op {
	case Add:
		e.three(e.of(opAdd), d, x, y)
	case Sub:
		e.three(e.of(opSub), d, x, y)
	case Mul:
		e.three(e.of(opMul), d, x, y)
	case Div:
		e.three(e.of(opDiv), d, x, y)
	case Lt, Le, Eq:
		e.mask(op, d, x, y)
		e.word(e.of(opOne) | uint32(scratch))
		e.three(opAnd, d, d, scratch)
	}
}

// mask appends the comparison of x with y: all bits of d where it holds, and otherwise none.
func (e *encoder) mask(op Op, d, x, y int8) {
	switch op {
	case Lt, GuardLt:
		e.three(e.of(opAbove), d, y, x)
	case Le, GuardLe:
		e.three(e.of(opNot), d, y, x)
	default:
		e.three(e.of(opEqual), d, x, y)
	}
}

// selects appends d = y if x is not 0, otherwise z. d is none of them.
func (e *encoder) selects(d, x, y, z int8) {
	e.three(e.of(opIsZero), d, x, 0)
	e.three(opChoose, d, z, y)
}

// Conditions of jumps. Without order, notZero alone holds.
const notZero, below, notAbove, zero = 1, 4, 9, 0

// guard appends a comparison of y with x, or of x and y, and a jump to the failing end unless it has the outcome.
func (e *encoder) guard(op Op, outcome bool, x, y int8, _ place) {
	if e.wide() {
		e.mask(op, scratch, y, x)
		e.word(0x4e083c00 | uint32(scratch)<<5 | addressRegister)   // UMOV of lane 0
		e.word(0x4e183c00 | uint32(scratch)<<5 | immediateRegister) // and of lane 1
		if outcome {
			e.three(0x8a000000, addressRegister, addressRegister, immediateRegister) // AND
			e.word(0xb5000000 | 2<<5 | addressRegister)                              // CBNZ over the jump
		} else {
			e.three(0xaa000000, addressRegister, addressRegister, immediateRegister) // ORR
			e.word(0xb4000000 | 2<<5 | addressRegister)                              // CBZ
		}
		e.fail()
		return
	}
	e.three(0x1e602000, 0, y, x) // FCMP
	condition := map[Op]uint32{GuardLt: below, GuardLe: notAbove, GuardEq: zero}[op]
	if !outcome {
		condition ^= 1
	}
	e.word(0x54000000 | 2<<5 | condition) // over the jump
	e.fail()
}

// fail appends a jump to the failing end of the block.
func (e *encoder) fail() {
	e.fails = append(e.fails, len(e.buf))
	e.word(0)
}

// jumpTo writes a jump from a position to another.
func (e *encoder) jumpTo(from, to int) {
	binary.LittleEndian.PutUint32(e.buf[from:], 0x14000000|uint32((to-from)>>2)&(1<<26-1))
}

// end ends the block.
func (e *encoder) end() {
	e.word(0xd2800020) // MOVZ $1, R0
	e.word(0xd65f03c0) // RET
	if len(e.fails) > 0 {
		for _, at := range e.fails {
			e.jumpTo(at, len(e.buf))
		}
		e.word(0xd2800000) // MOVZ $0, R0
		e.word(0xd65f03c0)
		e.fails = e.fails[:0]
	}
	for len(e.buf)%16 != 0 {
		e.word(0)
	}
}

// again ends a loop, which begins at start, whose body runs once more for the lanes from a number on.
func (e *encoder) again(start int, advance []int32, lane int32) {
	e.word(0x71000400 | restRegister<<5 | restRegister) // SUBS $1
	over := len(e.buf)
	e.word(0)
	e.set(advance, lane)
	e.count(countRegister, 1)
	e.word(0)
	e.jumpTo(len(e.buf)-4, start)
	binary.LittleEndian.PutUint32(e.buf[over:], 0x54000000|uint32(len(e.buf)-over)>>2<<5|below)
}

// set appends that index registers, which advance by some slots for a vector, get their values for a lane.
func (e *encoder) set(advance []int32, lane int32) {
	for k, n := range advance {
		e.immediate(indexRegisters[k], int64(8/lanes*n*lane))
	}
}

// term appends the addition of a term to a sum: of a lane of the vector x, or of the value in a slot if lane is
// negative. The first one becomes the sum.
func (e *encoder) term(sum, x int8, lane, slot int32, first bool) {
	width := e.width
	e.width = 1
	defer func() { e.width = width }()
	y := x
	switch {
	case lane < 0:
		y = scratch
		e.load(y, place{slot: slot})
	case lane == 1:
		y = scratch
		e.three(opSecond, y, x, 0)
	}
	if first {
		e.three(opMove, sum, y, y)
	} else {
		e.three(opAdd.one, sum, sum, y)
	}
}

// add appends the addition of the value in a place to a register.
func (e *encoder) add(sum int8, at place) {
	e.load(scratch, at)
	e.three(e.of(opAdd), sum, sum, scratch)
}

// addListed appends the addition of the value in the slot that an element of the list has, which moves on with an
// index. The first one becomes the sum.
func (e *encoder) addListed(sum int8, position int32, index int8, first bool) {
	e.listed(position, index)
	to := scratch
	if first {
		to = sum
	}
	e.three(loadNumber.added|1<<12, to, fileRegister, listedRegister)
	if !first {
		e.three(opAdd.one, sum, sum, scratch)
	}
}

// setIndex appends the copy of an index register to another.
func (e *encoder) setIndex(to, from int8) {
	e.three(0xaa000000, indexRegisters[to-1], zeroRegister, indexRegisters[from-1]) // ORR
}

// clearIndex appends that an index register becomes 0.
func (e *encoder) clearIndex(i int8) { e.immediate(indexRegisters[i-1], 0) }

// advance appends that an index register moves on by a number of bytes.
func (e *encoder) advance(i int8, bytes int32) {
	r := indexRegisters[i-1]
	switch {
	case bytes >= 0 && bytes < 1<<12:
		e.word(0x91000000 | uint32(bytes)<<10 | uint32(r)<<5 | uint32(r)) // ADD
	case bytes < 0 && -bytes < 1<<12:
		e.word(0xd1000000 | uint32(-bytes)<<10 | uint32(r)<<5 | uint32(r)) // SUB
	default:
		e.immediate(immediateRegister, int64(bytes))
		e.three(0x8b000000, r, r, immediateRegister)
	}
}

// count appends the load of a number into a counter.
func (e *encoder) count(register int8, n int) { e.immediate(register, int64(n)) }

// jump appends that a counter is decremented, and a jump to start unless it is 0.
func (e *encoder) jump(register int8, start int) {
	e.word(0x71000400 | uint32(register)<<5 | uint32(register)) // SUBS $1
	e.word(0x54000000 | uint32((start-len(e.buf))>>2)&(1<<19-1)<<5 | notZero)
}
