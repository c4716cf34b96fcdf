package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// An assembler makes instructions of a kernel. It assigns registers, which are free again behind the last use of their
// values. Constants are operands in memory: as many loads before a loop would take longer than a call with 16 numbers
// gains by them.
type assembler struct {
	*code
	lines   []string
	vectors []bool          // the registers of vectors that are taken
	masks   []bool          // and those of masks, of which K0 selects all lanes
	last    map[value]int   // the operation that uses a value last
	in      []map[value]int // the registers of values, for each vector that is computed at once
	failed  bool            // there were too few registers
}

// assemble returns the kernel: a loop over pairs of vectors, if there are registers for two, and a loop over single
// ones for the last vector, and for a pair of which one is left out. The instructions of a pair alternate, so that
// those of one fill the time that those of the other wait for results.
func (c *code) assemble() ([]string, error) {
	for _, pairs := range []bool{true, false} {
		if a := c.attempt(pairs); !a.failed {
			return a.lines, nil
		}
	}
	return nil, fmt.Errorf("%s has too few registers", c.symbol())
}

func (c *code) attempt(pairs bool) *assembler {
	a := &assembler{code: c, vectors: make([]bool, 16), last: map[value]int{}}
	if c.lanes == 8 {
		a.vectors, a.masks = make([]bool, 32), make([]bool, 8)
		a.masks[0] = true
	}
	for i, op := range c.ops {
		for _, v := range append(op.args, op.mask) {
			a.last[v] = i
		}
	}
	a.lines = append(a.lines, fmt.Sprintf("TEXT ·%s(SB), NOSPLIT, $0-40", c.symbol()))
	a.print("MOVQ dst+8(FP), DI")
	a.print("MOVQ src+16(FP), SI")
	a.print("MOVQ blocks+24(FP), CX")
	if pairs {
		a.print("SUBQ $2, CX")
		a.print("JLT rest")
		a.label("pair")
		a.compute(2, "rest")
		a.print("SUBQ $2, CX")
		a.print("JGE pair")
		a.label("rest")
		a.print("ADDQ $2, CX")
		a.print("JEQ end")
	}
	a.label("single")
	a.compute(1, "end")
	a.print("DECQ CX")
	a.print("JNE single")
	a.label("end")
	a.print("VZEROUPPER")
	a.print("MOVQ blocks+24(FP), AX")
	a.print("SUBQ CX, AX")
	a.print("MOVQ AX, ret+32(FP)")
	a.print("RET")
	return a
}

// symbol returns the name of the kernel in assembly.
func (c *code) symbol() string { return fmt.Sprintf("%s%d<>", c.name, c.lanes) }

func (a *assembler) print(format string, args ...any) {
	a.lines = append(a.lines, "\t"+fmt.Sprintf(format, args...))
}

func (a *assembler) label(name string) { a.lines = append(a.lines, name+":") }

// compute computes some vectors at once: one instruction for each of them, and then the next one. It continues at exit
// if one is left out.
func (a *assembler) compute(count int, exit string) {
	a.in = make([]map[value]int, count)
	for t := range a.in {
		a.in[t] = map[value]int{}
	}
	for i, op := range a.ops {
		for t := range a.in {
			a.operation(op, i, t, exit)
		}
	}
	a.print("ADDQ $%d, SI", 8*a.lanes*count)
	a.print("ADDQ $%d, DI", 8*a.lanes*count)
}

// operation prints operation number i for vector t.
func (a *assembler) operation(op operation, i, t int, exit string) {
	switch op.name {
	case "load":
		a.print("VMOVUPD %d(SI), %s", 8*a.lanes*t, a.result(op, t))
	case "store":
		a.print("VMOVUPD %s, %d(DI)", a.operand(op.args[0], t), 8*a.lanes*t)
		a.release(op, i, t, none)
	case "require":
		m := a.operand(op.args[0], t)
		if a.lanes == 8 {
			a.print("KORTESTB %s, %s", m, m)
			a.print("JCC %s", exit)
		} else {
			a.print("VMOVMSKPD %s, AX", m)
			a.print("CMPL AX, $15")
			a.print("JNE %s", exit)
		}
		a.release(op, i, t, none)
	default:
		a.instruction(op, i, t)
	}
}

func (a *assembler) instruction(op operation, i, t int) {
	name, args, first := op.name, op.args, none // the operand that the result overwrites
	switch {
	case op.fused:
		x, y, z := args[0], args[1], args[2]
		if a.dies(z, i) && (y < 0 || !a.dies(x, i)) {
			name, first, args = name+"231PD", z, []value{x, y}
		} else {
			name, first, args = name+"213PD", x, []value{y, z}
		}
	case op.merges:
		first, args = args[0], args[1:]
	case op.commutes && args[0] < 0:
		args = []value{args[1], args[0]}
	}
	kept := none
	switch {
	case first == none:
	case a.dies(first, i):
		kept = first
		a.in[t][op.to] = a.in[t][first]
	case first < 0:
		a.fetch(first, a.result(op, t))
	default:
		a.print("VMOVAPD %s, %s", a.operand(first, t), a.result(op, t))
	}
	var operands []string
	var loaded []int
	for j, v := range args {
		memory := len(args) - 1
		if name == "VBLENDVPD" {
			memory--
		}
		switch {
		case v > 0:
			operands = append(operands, a.operand(v, t))
		case name == "VMOVAPD.Z":
			name = "VBROADCASTSD.Z"
			operands = append(operands, a.constant(v))
		case j == memory:
			if a.lanes == 8 {
				name += ".BCST"
			}
			operands = append(operands, a.constant(v))
		default:
			r := a.take(vector)
			loaded = append(loaded, r)
			operands = append(operands, a.fetch(v, a.register(vector, r)))
		}
	}
	slices.Reverse(operands) // the order of Go's assembler
	if op.immediate != "" {
		operands = slices.Insert(operands, 0, op.immediate)
	}
	if op.mask != none {
		operands = append(operands, a.operand(op.mask, t))
	}
	for _, r := range loaded {
		a.vectors[r] = false
	}
	a.release(op, i, t, kept)
	if first == none {
		a.result(op, t)
	}
	a.print("%s %s", name, strings.Join(append(operands, a.operand(op.to, t)), ", "))
}

// dies reports whether v is no constant, and no operation after i uses it.
func (a *assembler) dies(v value, i int) bool { return v > 0 && a.last[v] == i }

// release frees the registers of operands that no operation after i uses, except one.
func (a *assembler) release(op operation, i, t int, except value) {
	for _, v := range append(op.args, op.mask) {
		if !a.dies(v, i) || v == except {
			continue
		}
		if a.classes[v] == mask {
			a.masks[a.in[t][v]] = false
		} else {
			a.vectors[a.in[t][v]] = false
		}
	}
}

// fetch sets a register to a constant, and returns the name of the register.
func (a *assembler) fetch(v value, register string) string {
	name := "VMOVUPD"
	if a.lanes == 8 {
		name = "VBROADCASTSD"
	}
	a.print("%s %s, %s", name, a.constant(v), register)
	return register
}

func (a *assembler) constant(v value) string { return constantName(a.constants[-1-v]) + "<>(SB)" }

func constantName(bits uint64) string { return fmt.Sprintf("c%016x", bits) }

// result takes a register for the result, and returns its name.
func (a *assembler) result(op operation, t int) string {
	a.in[t][op.to] = a.take(a.classes[op.to])
	return a.operand(op.to, t)
}

// take returns the first register that is free.
func (a *assembler) take(k class) int {
	registers := a.vectors
	if k == mask {
		registers = a.masks
	}
	r := slices.Index(registers, false)
	if r < 0 {
		a.failed = true
		return 0
	}
	registers[r] = true
	return r
}

// operand returns the name of the register of a value.
func (a *assembler) operand(v value, t int) string { return a.register(a.classes[v], a.in[t][v]) }

func (a *assembler) register(k class, r int) string {
	name := "Y"
	switch {
	case k == mask:
		name = "K"
	case k == half:
		name = "X"
	case a.lanes == 8:
		name = "Z"
	}
	return fmt.Sprint(name, r)
}

// source returns the file of kernels, with a table of their entries: two for each function.
func source() ([]byte, error) {
	var text, table strings.Builder
	var constants []uint64
	for i, f := range functions {
		for j, lanes := range []int{4, 8} {
			c := newCode(f.name, lanes)
			f.build(c)
			lines, err := c.assemble()
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&text, "\n%s\n", strings.Join(lines, "\n"))
			fmt.Fprintf(&table, "DATA entries<>+%d(SB)/8, $·%s(SB)\n", 16*i+8*j, c.symbol())
			for _, k := range c.constants {
				if !slices.Contains(constants, k) {
					constants = append(constants, k)
				}
			}
		}
	}
	var b strings.Builder
	b.WriteString(head)
	for _, k := range constants {
		comment := ""
		if x := math.Float64frombits(k); math.Abs(x) > 1e-100 && math.Abs(x) < 1e100 {
			comment = fmt.Sprintf(" // %v", x)
		}
		fmt.Fprintf(&b, "CONSTANT(%s, 0x%016x)%s\n", constantName(k), k, comment)
	}
	fmt.Fprintf(&b, "%s\n%sGLOBL entries<>(SB), NOPTR, $%d\n%s", &text, &table, 16*len(functions), tail)
	return []byte(b.String()), nil
}

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
// func entry(function, lanes int) uintptr
TEXT ·entry(SB), NOSPLIT, $0-24
	MOVQ function+0(FP), AX
	MOVQ lanes+8(FP), CX
	SHRQ $3, CX
	LEAQ (CX)(AX*2), AX
	LEAQ entries<>(SB), CX
	MOVQ (CX)(AX*8), AX
	MOVQ AX, ret+16(FP)
	RET

// func run(entry uintptr, dst, src *float64, blocks int) int
TEXT ·run(SB), NOSPLIT, $0-40
	MOVQ entry+0(FP), AX
	JMP AX
`
