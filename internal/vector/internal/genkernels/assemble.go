package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// assembler makes machine instructions of a kernel: it assigns registers, which are free again behind the last use of
// their values. Some constants stay in registers, others are operands in memory.
type assembler struct {
	*code
	lines  []string
	vector []bool          // which registers are taken
	mask   []bool          // which registers of masks are; K0 selects all lanes and is not used
	held   map[value]int   // registers of constants
	last   map[value]int   // the operation that uses the value last
	in     []map[value]int // registers of the values of each vector
	failed bool            // there were too few registers
}

// assemble returns the kernel, whose loop computes so many vectors at once, and a second loop those that are left.
func (c *code) assemble(times int) ([]string, error) {
	order := c.byUse()
	for n := len(order); n >= 0; n-- {
		if lines, ok := c.hold(order[:n], times); ok {
			return lines, nil
		}
	}
	return nil, fmt.Errorf("%s: too few registers for %d vectors of %d", c.name, times, c.lanes)
}

// byUse returns the constants, those that save the most instructions in a register first.
func (c *code) byUse() []value {
	uses := make([]int, len(c.constants))
	for _, op := range c.ops {
		for i, v := range op.args {
			if v < 0 && op.inMemory(i) {
				uses[-1-v]++
			} else if v < 0 {
				uses[-1-v] += 100
			}
		}
	}
	order := make([]value, len(c.constants))
	for i := range order {
		order[i] = value(-1 - i)
	}
	slices.SortStableFunc(order, func(a, b value) int { return uses[-1-b] - uses[-1-a] })
	return order
}

// inMemory reports whether an operand may be in memory.
func (op operation) inMemory(i int) bool {
	return i == op.memory(len(op.args)) || op.commutes || op.fused && i > 0
}

func (c *code) hold(constants []value, times int) ([]string, bool) {
	a := &assembler{code: c, vector: make([]bool, 16), held: map[value]int{}}
	if c.lanes == 8 {
		a.vector, a.mask = make([]bool, 32), make([]bool, 8)
		a.mask[0] = true
	}
	a.last = map[value]int{}
	for i, op := range c.ops {
		for _, v := range append(op.args, op.mask) {
			a.last[v] = i
		}
	}
	a.printf("// blocks of %d numbers", c.lanes)
	a.printf("TEXT ·%s%d<>(SB), NOSPLIT, $0-40", c.name, c.lanes)
	a.printf("MOVQ dst+8(FP), DI")
	a.printf("MOVQ src+16(FP), SI")
	a.printf("MOVQ blocks+24(FP), CX")
	for _, v := range constants {
		r, ok := take(a.vector)
		if !ok {
			return nil, false
		}
		a.held[v] = r
		a.fetch(v, r)
	}
	if times > 1 {
		a.printf("SUBQ $%d, CX", times)
		a.printf("JLT rest")
		a.printf("PCALIGN $32")
		a.printf("several:")
		a.vectors(times, "rest")
		a.printf("SUBQ $%d, CX", times)
		a.printf("JGE several")
		a.printf("rest:")
		a.printf("ADDQ $%d, CX", times)
		a.printf("JEQ end")
	}
	a.printf("PCALIGN $32")
	a.printf("next:")
	a.vectors(1, "end")
	a.printf("DECQ CX")
	a.printf("JNE next")
	a.printf("end:")
	a.printf("VZEROUPPER")
	a.printf("MOVQ blocks+24(FP), AX")
	a.printf("SUBQ CX, AX")
	a.printf("MOVQ AX, ret+32(FP)")
	a.printf("RET")
	return a.lines, !a.failed
}

func (a *assembler) printf(format string, args ...any) {
	a.lines = append(a.lines, fmt.Sprintf(format, args...))
}

// take returns the first register that is free.
func take(taken []bool) (int, bool) {
	r := slices.Index(taken, false)
	if r < 0 {
		return 0, false
	}
	taken[r] = true
	return r, true
}

func (a *assembler) take(k class) int {
	registers := a.vector
	if k == mask {
		registers = a.mask
	}
	r, ok := take(registers)
	a.failed = a.failed || !ok
	return r
}

// register returns the name of a register.
func (a *assembler) register(k class, r int) string {
	switch {
	case k == mask:
		return fmt.Sprint("K", r)
	case k == half:
		return fmt.Sprint("X", r)
	case a.lanes == 8:
		return fmt.Sprint("Z", r)
	}
	return fmt.Sprint("Y", r)
}

func (a *assembler) symbol(v value) string { return fmt.Sprintf("c%016x<>(SB)", a.constants[-1-v]) }

// fetch sets a register to a constant.
func (a *assembler) fetch(v value, r int) {
	name := "VMOVUPD"
	if a.lanes == 8 {
		name = "VBROADCASTSD"
	}
	a.printf("%s %s, %s", name, a.symbol(v), a.register(vector, r))
}

// vectors computes some vectors at once: one instruction for each of them, and then the next one. It goes on at exit if
// one is left out.
func (a *assembler) vectors(times int, exit string) {
	a.in = make([]map[value]int, times)
	for i := range a.in {
		a.in[i] = map[value]int{}
	}
	for i, op := range a.ops {
		for t := range times {
			a.operation(op, i, t, exit)
		}
	}
	a.printf("ADDQ $%d, SI", 8*a.lanes*times)
	a.printf("ADDQ $%d, DI", 8*a.lanes*times)
}

func (a *assembler) operation(op operation, i, t int, exit string) {
	switch op.name {
	case "load":
		a.printf("VMOVUPD %d(SI), %s", 8*a.lanes*t, a.result(op, t))
		return
	case "store":
		a.printf("VMOVUPD %s, %d(DI)", a.operand(op.args[0], t), 8*a.lanes*t)
		a.release(op, i, t, none)
		return
	case "require":
		m := a.operand(op.args[0], t)
		if a.lanes == 8 {
			a.printf("KORTESTB %s, %s", m, m)
			a.printf("JCC %s", exit)
		} else {
			a.printf("VMOVMSKPD %s, AX", m)
			a.printf("CMPL AX, $15")
			a.printf("JNE %s", exit)
		}
		a.release(op, i, t, none)
		return
	}
	name, args, first := op.name, op.args, none
	switch {
	case op.fused:
		// The product and sum overwrites one of its operands: a factor, or the term that is added.
		x, y, z := args[0], args[1], args[2]
		if first, args, name = x, args[1:], name+"213PD"; a.dies(z, i) && (a.memory(y) || !a.dies(x, i)) {
			first, args, name = z, []value{x, y}, op.name+"231PD"
		}
	case op.merges:
		first, args = args[0], args[1:]
	case op.commutes && a.memory(args[0]) && !a.memory(args[1]):
		args = []value{args[1], args[0]}
	}
	reused := none
	if first != none { // the result is in the register of this operand if that is not used later, otherwise in a copy
		if a.dies(first, i) {
			reused = first
			a.in[t][op.to] = a.in[t][first]
		} else if to := a.result(op, t); a.memory(first) {
			a.fetch(first, a.in[t][op.to])
		} else {
			a.printf("VMOVAPD %s, %s", a.operand(first, t), to)
		}
	}
	var loaded []int
	var text []string
	for j, v := range args {
		switch {
		case v < 0 && !a.memory(v) && a.classes[op.to] == half:
			text = append(text, a.register(half, a.held[v]))
		case !a.memory(v):
			text = append(text, a.operand(v, t))
		case name == "VMOVAPD.Z":
			name = "VBROADCASTSD.Z"
			text = append(text, a.symbol(v))
		case j == op.memory(len(args)):
			if a.lanes == 8 {
				name += ".BCST"
			}
			text = append(text, a.symbol(v))
		default:
			r := a.take(vector)
			loaded = append(loaded, r)
			a.fetch(v, r)
			text = append(text, a.register(vector, r))
		}
	}
	slices.Reverse(text) // the order of Go's assembler
	if op.imm != "" {
		text = slices.Insert(text, 0, op.imm)
	}
	if op.mask != none {
		text = append(text, a.operand(op.mask, t))
	}
	for _, r := range loaded {
		a.vector[r] = false
	}
	a.release(op, i, t, reused)
	if first == none {
		a.result(op, t)
	}
	a.printf("%s %s", name, strings.Join(append(text, a.operand(op.to, t)), ", "))
}

// memory returns which of n operands may be in memory.
func (op operation) memory(n int) int {
	if op.name == "VBLENDVPD" {
		return 1
	}
	return n - 1
}

// dies reports whether no operation after i uses v, which is no constant.
func (a *assembler) dies(v value, i int) bool { return v >= 0 && a.last[v] == i }

// release frees the registers of operands that are not used later, except one.
func (a *assembler) release(op operation, i, t int, except value) {
	for _, v := range append(op.args, op.mask) {
		if !a.dies(v, i) || v == except {
			continue
		}
		if a.classes[v] == mask {
			a.mask[a.in[t][v]] = false
		} else {
			a.vector[a.in[t][v]] = false
		}
	}
}

// memory reports whether v is a constant in memory.
func (a *assembler) memory(v value) bool {
	_, held := a.held[v]
	return v < 0 && !held
}

// operand returns the register of a value.
func (a *assembler) operand(v value, t int) string {
	if v < 0 {
		return a.register(vector, a.held[v])
	}
	return a.register(a.classes[v], a.in[t][v])
}

// result takes a register for the result.
func (a *assembler) result(op operation, t int) string {
	a.in[t][op.to] = a.take(a.classes[op.to])
	return a.operand(op.to, t)
}

// source returns the file of kernels.
func source() ([]byte, error) {
	var text, table strings.Builder
	var constants []uint64
	for _, f := range functions {
		for j, lanes := range []int{4, 8} {
			c := &code{name: f.name, lanes: lanes}
			f.build(c)
			lines, err := c.assemble(times(f.name, lanes))
			if err != nil {
				return nil, err
			}
			text.WriteString("\n")
			for _, line := range lines {
				if !strings.HasSuffix(line, ":") && !strings.HasPrefix(line, "TEXT") && !strings.HasPrefix(line, "//") {
					line = "\t" + line
				}
				text.WriteString(line + "\n")
			}
			for _, k := range c.constants {
				if !slices.Contains(constants, k) {
					constants = append(constants, k)
				}
			}
			_ = j
		}
	}
	for lanes := 4; lanes <= 8; lanes += 4 {
		for i, f := range functions {
			fmt.Fprintf(&table, "DATA entries<>+%d(SB)/8, $·%s%d<>(SB)\n", 8*(i+(lanes/4-1)*len(functions)), f.name, lanes)
		}
	}
	var b strings.Builder
	b.WriteString(head)
	for _, k := range constants {
		if x := math.Float64frombits(k); math.Abs(x) > 1e-100 && math.Abs(x) < 1e100 {
			fmt.Fprintf(&b, "CONSTANT(c%016x, %#016[1]x) // %v\n", k, x)
		} else {
			fmt.Fprintf(&b, "CONSTANT(c%016x, %#016[1]x)\n", k)
		}
	}
	b.WriteString(text.String())
	fmt.Fprintf(&b, "\n%sGLOBL entries<>(SB), NOPTR, $%d\n", table.String(), 16*len(functions))
	b.WriteString(tail)
	return []byte(b.String()), nil
}

func times(name string, lanes int) int { return 1 }

const head = `// Code generated by go generate; DO NOT EDIT.

#include "textflag.h"

#define CONSTANT(name, value) \
	DATA name<>+0(SB)/8, $value \
	DATA name<>+8(SB)/8, $value \
	DATA name<>+16(SB)/8, $value \
	DATA name<>+24(SB)/8, $value \
	GLOBL name<>(SB), RODATA|NOPTR, $32

`

const tail = `
// func entry(number int) uintptr
TEXT ·entry(SB), NOSPLIT, $0-16
	MOVQ number+0(FP), AX
	LEAQ entries<>(SB), CX
	MOVQ (CX)(AX*8), AX
	MOVQ AX, ret+8(FP)
	RET

// func run(entry uintptr, dst, src *float64, blocks int) int
TEXT ·run(SB), NOSPLIT, $0-40
	MOVQ entry+0(FP), AX
	JMP AX
`
