//go:build arm64

package native

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// neonForms calls visit with every form of instruction that the encoder emits, over registers and offsets of all kinds,
// and with its text for the GNU assembler.
func neonForms(visit func(text string, emit func(e *encoder))) {
	registers := []int8{0, 3, 7, 29}
	wide := func(text string, emit func(e *encoder)) {
		visit(text, func(e *encoder) {
			e.setLanes(lanes)
			emit(e)
			e.setLanes(1)
		})
	}
	// immediate is the load of n into x13.
	immediate := func(register string, n int64) string {
		text := fmt.Sprintf("mov %s, #%#x", register, uint16(n))
		for k := 16; k < 64; k += 16 {
			if part := uint16(n >> k); part != 0 {
				text += fmt.Sprintf("\nmovk %s, #%#x, lsl #%d", register, part, k)
			}
		}
		return text
	}
	// access is a transfer of 1<<size bytes by an instruction.
	access := func(name string, size int, offset int64, index string) string {
		switch near := offset%(1<<size) == 0 && offset>>size < 1<<12; {
		case index != "" && offset == 0:
			return fmt.Sprintf("%s, [x0,%s]", name, index)
		case index != "" && near:
			return fmt.Sprintf("add x12, x0, %s\n%s, [x12,#%d]", index, name, offset)
		case index != "":
			return fmt.Sprintf("add x12, x0, %s\n%s\n%s, [x12,x13]", index, immediate("x13", offset), name)
		case near && offset == 0:
			return name + ", [x0]"
		case near:
			return fmt.Sprintf("%s, [x0,#%d]", name, offset)
		}
		return fmt.Sprintf("%s\n%s, [x0,x13]", immediate("x13", offset), name)
	}
	indices := []string{"", "x5", "x6", "x7", "x8"}
	for _, r := range registers {
		for k, index := range indices {
			for _, slot := range []int32{0, 1, 2, 4095, 4096, 8190, 8192, 10001, MostSlots - 1} {
				p := place{slot: slot, index: int8(k)}
				d, q, at := fmt.Sprintf("d%d", r), fmt.Sprintf("q%d", r), 8*int64(slot)
				visit(access("ldr "+d, 3, at, index), func(e *encoder) { e.load(r, p) })
				visit(access("str "+d, 3, at, index), func(e *encoder) { e.store(r, p) })
				wide(access("ldr "+d, 3, at, index)+fmt.Sprintf("\ndup v%d.2d, v%d.d[0]", r, r),
					func(e *encoder) { e.load(r, p) })
				p.stride = 1
				wide(access("ldr "+q, 4, at, index), func(e *encoder) { e.load(r, p) })
				wide(access("str "+q, 4, at, index), func(e *encoder) { e.store(r, p) })
				wide(access("ldr q31", 4, at, index)+fmt.Sprintf("\nfadd v%d.2d, v%d.2d, v31.2d", r, r),
					func(e *encoder) { e.add(r, p) })
				visit(access("ldr d31", 3, at, index)+fmt.Sprintf("\nfadd d%d, d%d, d31", r, r),
					func(e *encoder) { e.add(r, p) })
				if slot+7 >= MostSlots {
					continue
				}
				p.stride = 7
				wide(access("ldr "+d, 3, at, index)+"\n"+access("ldr d31", 3, at+56, index)+
					fmt.Sprintf("\nmov v%d.d[1], v31.d[0]", r), func(e *encoder) { e.load(r, p) })
				wide(access("ldr q31", 4, at, index)+"\n"+access("ldr q5", 4, at+56, index)+
					fmt.Sprintf("\nzip1 v%d.2d, v31.2d, v5.2d\nzip2 v5.2d, v31.2d, v5.2d", r),
					func(e *encoder) { e.loadBoth(r, 5, p.lane) })
				wide(access("str "+d, 3, at, index)+fmt.Sprintf("\nmov d31, v%d.d[1]\n", r)+
					access("str d31", 3, at+56, index), func(e *encoder) { e.store(r, p) })
			}
		}
		for k, index := range indices[1:4] {
			p := place{slot: 10, index: int8(k) + 1, stride: Gather}
			listed := func(position int) string {
				return fmt.Sprintf("add x12, x2, %s\nldr w9, [x12,#%d]\n", index, 4*position)
			}
			wide(listed(10)+fmt.Sprintf("ldr d%d, [x0,x9,lsl #3]\n", r)+listed(11)+
				fmt.Sprintf("ldr d31, [x0,x9,lsl #3]\nmov v%d.d[1], v31.d[0]", r), func(e *encoder) { e.load(r, p) })
			wide(listed(10)+fmt.Sprintf("str d%d, [x0,x9,lsl #3]\nmov d31, v%d.d[1]\n", r, r)+listed(11)+
				"str d31, [x0,x9,lsl #3]", func(e *encoder) { e.store(r, p) })
			visit(listed(5)+fmt.Sprintf("ldr d%d, [x0,x9,lsl #3]", r),
				func(e *encoder) { e.addListed(r, 5, int8(k)+1, true) })
			visit(listed(5)+fmt.Sprintf("ldr d31, [x0,x9,lsl #3]\nfadd d%d, d%d, d31", r, r),
				func(e *encoder) { e.addListed(r, 5, int8(k)+1, false) })
		}
		for _, x := range registers {
			for op, name := range map[Op]string{Neg: "fneg", Abs: "fabs", Sqrt: "fsqrt"} {
				visit(fmt.Sprintf("%s d%d, d%d", name, r, x), func(e *encoder) { e.unary(op, r, x) })
				wide(fmt.Sprintf("%s v%d.2d, v%d.2d", name, r, x), func(e *encoder) { e.unary(op, r, x) })
			}
			visit(fmt.Sprintf("fmul d%d, d%d, d%d", r, x, x), func(e *encoder) { e.unary(Sq, r, x) })
			wide(fmt.Sprintf("fmul v%d.2d, v%d.2d, v%d.2d", r, x, x), func(e *encoder) { e.unary(Sq, r, x) })
			one := "#1.000000000000000000e+00"
			visit(fmt.Sprintf("fmov d31, %s\nfdiv d%d, d31, d%d", one, r, x), func(e *encoder) { e.unary(Inv, r, x) })
			wide(fmt.Sprintf("fmov v31.2d, %s\nfdiv v%d.2d, v31.2d, v%d.2d", one, r, x),
				func(e *encoder) { e.unary(Inv, r, x) })
			if r != x {
				visit(fmt.Sprintf("mov v%d.16b, v%d.16b", r, x), func(e *encoder) { e.unary(Move, r, x) })
			}
			visit(fmt.Sprintf("movi v31.2d, #0x0\nfadd d%d, d%d, d31\nstr d%d, [x0,#8]", r, x, r),
				func(e *encoder) { e.output(r, x, place{slot: 1}) })
			for _, first := range []bool{true, false} {
				text := func(from int8) string {
					if first {
						return fmt.Sprintf("mov v%d.16b, v%d.16b", r, from)
					}
					return fmt.Sprintf("fadd d%d, d%d, d%d", r, r, from)
				}
				wide(text(x), func(e *encoder) { e.term(r, x, 0, 0, first) })
				wide(fmt.Sprintf("mov d31, v%d.d[1]\n", x)+text(31), func(e *encoder) { e.term(r, x, 1, 0, first) })
				wide("ldr d31, [x0,#800]\n"+text(31), func(e *encoder) { e.term(r, x, -1, 100, first) })
			}
			for _, y := range registers {
				for op, name := range map[Op]string{Add: "fadd", Sub: "fsub", Mul: "fmul", Div: "fdiv"} {
					visit(fmt.Sprintf("%s d%d, d%d, d%d", name, r, x, y),
						func(e *encoder) { e.binary(op, r, x, y, place{}) })
					wide(fmt.Sprintf("%s v%d.2d, v%d.2d, v%d.2d", name, r, x, y),
						func(e *encoder) { e.binary(op, r, x, y, place{}) })
				}
				for op, name := range map[Op]string{Lt: "fcmgt", Le: "fcmge", Eq: "fcmeq"} {
					a, b := y, x
					if op == Eq {
						a, b = x, y
					}
					and := fmt.Sprintf("\nand v%d.16b, v%d.16b, v31.16b", r, r)
					visit(fmt.Sprintf("%s d%d, d%d, d%d\nfmov d31, %s", name, r, a, b, one)+and,
						func(e *encoder) { e.binary(op, r, x, y, place{}) })
					wide(fmt.Sprintf("%s v%d.2d, v%d.2d, v%d.2d\nfmov v31.2d, %s", name, r, a, b, one)+and,
						func(e *encoder) { e.binary(op, r, x, y, place{}) })
				}
				choose := fmt.Sprintf("\nbsl v%d.16b, v1.16b, v%d.16b", r, y)
				visit(fmt.Sprintf("fcmeq d%d, d%d, #0", r, x)+choose, func(e *encoder) { e.selects(r, x, y, 1) })
				wide(fmt.Sprintf("fcmeq v%d.2d, v%d.2d, #0", r, x)+choose, func(e *encoder) { e.selects(r, x, y, 1) })
			}
			conditions := map[Op][2]string{GuardLt: {"b.pl", "b.mi"}, GuardLe: {"b.hi", "b.ls"},
				GuardEq: {"b.ne", "b.eq"}}
			for op, condition := range conditions {
				for k, outcome := range []bool{false, true} {
					visit(fmt.Sprintf("fcmp d%d, d%d\n%s .+0x8", x, r, condition[k]), func(e *encoder) {
						e.guard(op, outcome, r, x, place{})
						e.buf, e.fails = e.buf[:len(e.buf)-4], nil // without the jump
					})
				}
			}
			for op, name := range map[Op]string{GuardLt: "fcmgt", GuardLe: "fcmge", GuardEq: "fcmeq"} {
				a, b := r, x
				if op == GuardEq {
					a, b = x, r
				}
				for outcome, test := range map[bool]string{true: "and x12, x12, x13\ncbnz x12, .+0x8",
					false: "orr x12, x12, x13\ncbz x12, .+0x8"} {
					mask := fmt.Sprintf("%s v31.2d, v%d.2d, v%d.2d\n", name, a, b)
					wide(mask+"mov x12, v31.d[0]\nmov x13, v31.d[1]\n"+test, func(e *encoder) {
						e.guard(op, outcome, r, x, place{})
						e.buf, e.fails = e.buf[:len(e.buf)-4], nil
					})
				}
			}
		}
	}
	for k, index := range indices[1:] {
		i := int8(k) + 1
		visit("mov x6, "+index, func(e *encoder) { e.setIndex(2, i) })
		visit("mov "+index+", #0x0", func(e *encoder) { e.clearIndex(i) })
		for _, n := range []int32{0, 8, 4095} {
			visit(fmt.Sprintf("add %s, %s, #%#x", index, index, n), func(e *encoder) { e.advance(i, n) })
			if n > 0 {
				visit(fmt.Sprintf("sub %s, %s, #%#x", index, index, n), func(e *encoder) { e.advance(i, -n) })
			}
		}
		visit(immediate("x13", 1<<20+8)+fmt.Sprintf("\nadd %s, %s, x13", index, index),
			func(e *encoder) { e.advance(i, 1<<20+8) })
		visit(fmt.Sprintf("mov x13, #0xfffffffffffff000\nadd %s, %s, x13", index, index),
			func(e *encoder) { e.advance(i, -4096) })
		visit(fmt.Sprintf("mov x13, #0xfffffffffffffff8\nmovk x13, #0xffef, lsl #16\nadd %s, %s, x13", index, index),
			func(e *encoder) { e.advance(i, -1<<20-8) })
	}
	visit("mov x5, #0x88\nmov x6, #0xfffffffffffffef0", func(e *encoder) { e.set([]int32{2, -4}, 17) })
	visit("mov x11, #0x5", func(e *encoder) { e.count(restRegister, 5) })
	visit("mov x5, #0x0\nmov x6, #0x0\n"+immediate("x10", 77777), func(e *encoder) { e.begin(77777, 2) })
	visit("fneg d1, d2\nadd x5, x5, #0x10\nsubs w10, w10, #0x1\nb.ne .+0xfffffffffffffff4", func(e *encoder) {
		start := len(e.buf)
		e.unary(Neg, 1, 2)
		e.next(start, []int32{2})
	})
	again := "subs w11, w11, #0x1\nb.mi .+0x10\nmov x5, #0x30\nmov x10, #0x1\nb .+0xffffffffffffffec"
	visit("fneg d1, d2\n"+again, func(e *encoder) {
		start := len(e.buf)
		e.unary(Neg, 1, 2)
		e.again(start, []int32{2}, 6)
	})
	visit("b .+0xc\nmov x0, #0x1\nret\nmov x0, #0x0\nret", func(e *encoder) {
		for range 3 { // so that there is no padding
			e.unary(Neg, 1, 2)
		}
		e.fail()
		e.end()
	})
}

// TestDisassembler: all instructions are those that an independent disassembler reads.
func TestDisassembler(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var text strings.Builder
	var want []string
	var e encoder
	text.WriteString("#include \"textflag.h\"\nTEXT ·code(SB), NOSPLIT, $0\n")
	forms := 0
	neonForms(func(s string, emit func(e *encoder)) {
		e.buf = e.buf[:0]
		emit(&e)
		lines := strings.Split(s, "\n")
		if extra := len(e.buf)/4 - len(lines); extra > 0 { // before the end
			e.buf = e.buf[4*extra:]
		}
		for at := 0; at < len(e.buf); at += 4 {
			fmt.Fprintf(&text, "WORD $%#x\n", binary.LittleEndian.Uint32(e.buf[at:]))
		}
		if len(lines) != len(e.buf)/4 {
			t.Fatalf("%d instructions, want\n%s", len(e.buf)/4, s)
		}
		want = append(want, lines...)
		forms++
	})
	write("go.mod", "module forms\n\ngo 1.26\n")
	write("forms_arm64.s", text.String())
	write("main.go", "package main\n\nfunc code()\n\nfunc main() { code() }\n")
	run := func(arguments ...string) string {
		t.Helper()
		cmd := exec.Command("go", arguments...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GOOS=linux", "GOARCH=arm64")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	run("build", "-o", "forms")
	lines := strings.Split(run("tool", "objdump", "-gnu", "-s", `^main\.code`, "forms"), "\n")[1:]
	for i, w := range want {
		_, got, _ := strings.Cut(lines[i], "// ")
		if got = strings.TrimSpace(got); got != w {
			t.Fatalf("got  %s\nwant %s", lines[i], w)
		}
	}
	t.Logf("%d forms, %d instructions", forms, len(want))
}
