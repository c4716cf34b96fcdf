// Package native compiles straight-line arithmetic over a file of float64 slots to machine code: [Compile] takes
// instructions, and [CompileLanes] statements of many lanes, which become vector code.
//
// The code computes the same bits as Go's float64 arithmetic, NaN payloads aside. It is in memory of its own that is
// never writable and executable at the same time, and is freed with its [Code]. A run cannot be preempted; the code is
// divided into blocks of less than 2¹⁶ instructions, between which the goroutine can be.
//
// Where there is no encoder for the processor, or the system refuses executable memory, both return nil and the caller
// interprets.
package native

import (
	"runtime"
	"slices"
	"sync/atomic"
	"unsafe"
)

// An Op is an operation.
type Op uint8

const (
	None   Op = iota
	Add       // A + B
	Sub       // A - B
	Mul       // A · B
	Div       // A / B
	Neg       // -A
	Abs       // |A|
	Sq        // A · A
	Sqrt      // √A
	Inv       // 1 / A
	Move      // A
	Lt        // 1 if A < B, otherwise 0
	Le        // 1 if A ≤ B, otherwise 0
	Eq        // 1 if A = B, otherwise 0
	Select    // B if A ≠ 0, otherwise C
	// Store and Output write A to the slot D, which no instruction reads and others may have written; Output
	// writes 0 in place of -0.
	Store
	Output
	// The guards compare A and B and end the run unless the outcome is D, 0 or 1.
	GuardLt
	GuardLe
	GuardEq
	numOps

	// accumulate adds the lanes of A to the sum D of a group.
	accumulate = numOps
)

// operands has the number of operands of each operation.
var operands = [numOps + 1]int{Add: 2, Sub: 2, Mul: 2, Div: 2, Neg: 1, Abs: 1, Sq: 1, Sqrt: 1, Inv: 1, Move: 1,
	Lt: 2, Le: 2, Eq: 2, Select: 3, Store: 1, Output: 1, GuardLt: 2, GuardLe: 2, GuardEq: 2, accumulate: 1}

func (o Op) guard() bool { return o >= GuardLt && o < numOps }

// defines reports whether o has a result that other instructions read.
func (o Op) defines() bool { return o < Store }

// An Instr is an operation on slots. D is the slot of the result, which no other instruction writes and none before
// reads; Store, Output and the guards use it otherwise.
type Instr struct {
	Op         Op
	D, A, B, C int32
}

// An Area has the N slots from First on.
type Area struct{ First, N int32 }

// Has reports whether a slot is in a.
func (a Area) Has(slot int32) bool { return slot >= a.First && slot < a.First+a.N }

// Areas are parts of a file that are elsewhere in a run, such as where the caller has its arguments. Instructions do
// not read the second one.
type Areas [2]Area

// divide reports whether slots from first to last, in either order, are in an area and beside it.
func (a *Areas) divide(first, last int32) bool {
	if first > last {
		first, last = last, first
	}
	for _, area := range a {
		if first < area.First+area.N && last >= area.First && !(area.Has(first) && area.Has(last)) {
			return true
		}
	}
	return false
}

// holds reports whether a slot is in one of the areas.
func (a *Areas) holds(slot int32) bool { return a[0].Has(slot) || a[1].Has(slot) }

// MostSlots is the largest number of slots of a file.
const MostSlots = 1 << 27

// blockLength is the number of instructions after which a block ends, and the largest number of those of a segment: so
// that less than twice as many run without return to Go.
const blockLength = 1 << 15

// A Code is compiled instructions, in one or more parts. It is immutable: several goroutines may run it over files of
// their own.
type Code struct {
	entries []uintptr // the first instruction of each block
	ends    []int     // part → number of blocks up to its end
	memory  []byte
	list    []int32 // of gathered operands
	areas   Areas
}

// Compile returns code for the instructions, or nil if that is not possible here. They are in the order of the run;
// ends has the end of each part, ascending. kept tells for each slot of the file whether its value has to be there
// after a part: because it is read between parts, or after the run. Instructions whose results are neither kept nor
// used are left out. Areas that an operand is in only in a part of the iterations of a loop are not used; see
// [Code.Areas].
func Compile(code []Instr, ends []int, kept []bool, areas Areas) *Code {
	if !Supported() || len(kept) > MostSlots || len(code) == 0 {
		return nil
	}
	buf, starts, blocks, ok := generate(code, ends, slices.Clone(kept), areas)
	if !ok {
		areas = Areas{}
		buf, starts, blocks, _ = generate(code, ends, slices.Clone(kept), areas)
	}
	return newCode(buf, starts, blocks, areas)
}

// Length returns the number of instructions, those of loops once, that [Compile] translates, at a fraction of its cost.
func Length(code []Instr, ends []int) (n int) {
	from := 0
	for _, end := range ends {
		for _, s := range split(nil, code, from, end) {
			if s.period > 0 && newLoop(code[s.from:s.to], s.period) != nil {
				n += s.period
			} else {
				n += s.to - s.from
			}
		}
		from = end
	}
	return n
}

// newCode returns code in memory of its own, nil if the system refuses that.
func newCode(buf []byte, starts, blocks []int, areas Areas) *Code {
	memory, err := executable(buf)
	if err != nil {
		return nil
	}
	mapped.Add(1)
	c := &Code{memory: memory, entries: make([]uintptr, len(starts)), ends: blocks, areas: areas}
	for i, at := range starts {
		c.entries[i] = uintptr(unsafe.Pointer(&memory[at]))
	}
	runtime.AddCleanup(c, free, memory)
	return c
}

// mapped is the number of codes whose memory is not freed.
var mapped atomic.Int64

func free(memory []byte) {
	release(memory)
	mapped.Add(-1)
}

// Supported reports whether this package has code for the processor and the system.
func Supported() bool { return supported() }

// Size returns the number of bytes of the code.
func (c *Code) Size() int { return len(c.memory) }

// Areas returns the areas that the code uses: those that it was compiled for, or none.
func (c *Code) Areas() Areas { return c.areas }

// Run runs a part over a file, which has as many slots as it was compiled for. The slots of the areas are at in and
// out, which are not used if the code has none. It reports whether all guards hold; if one fails, results are
// undefined.
func (c *Code) Run(part int, file []float64, in, out *float64) bool {
	from := 0
	if part > 0 {
		from = c.ends[part-1]
	}
	entries := c.entries[from:c.ends[part]]
	if len(entries) == 0 { // nothing is kept
		return true
	}
	list := unsafe.SliceData(c.list)
	ok := step(entries[0], &file[0], list, in, out)
	for k := 1; k < len(entries) && ok; k++ {
		ok = again(entries[k], &file[0], list, in, out)
	}
	runtime.KeepAlive(c)
	return ok
}

// step runs a block.
func step(entry uintptr, file *float64, list *int32, in, out *float64) bool {
	return call(entry, unsafe.Pointer(file), unsafe.Pointer(&table), unsafe.Pointer(list), unsafe.Pointer(in),
		unsafe.Pointer(out))
}

// again is step for a block after another one. It is not inlined, so that the goroutine can be preempted before it.
//
//go:noinline
func again(entry uintptr, file *float64, list *int32, in, out *float64) bool {
	return step(entry, file, list, in, out)
}

// table has the constants of the code, four times each: the masks of Neg and Abs, 1, and 0.
var table = [...]uint64{
	1 << 63, 1 << 63, 1 << 63, 1 << 63,
	1<<63 - 1, 1<<63 - 1, 1<<63 - 1, 1<<63 - 1,
	0x3ff0000000000000, 0x3ff0000000000000, 0x3ff0000000000000, 0x3ff0000000000000,
	0, 0, 0, 0,
}
