package native

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// forms calls visit with every form of instruction that the encoder emits, over registers and offsets of all kinds, and
// with its text for the Go assembler.
func forms(visit func(text string, emit func(e *encoder))) {
	registers := []int8{0, 3, 7, 8, 12, 15}
	var places []place
	for _, slot := range []int32{0, 1, 15, 16, 31, 1000, MostSlots - 1} {
		for index := range int8(len(indexRegisters) + 1) {
			places = append(places, place{slot, index})
		}
	}
	at := func(p place) string {
		return fmt.Sprintf("%d(DI)%s", 8*p.slot, []string{"", "(AX*1)", "(CX*1)", "(DX*1)", "(BX*1)"}[p.index])
	}
	for k, name := range []string{"AX", "CX", "DX", "BX"} {
		for _, n := range []int32{1, -1, 15, 16, -16, -17, 1000, -1000} {
			visit(fmt.Sprintf("ADDQ $%d, %s", 8*n, name), func(e *encoder) {
				advance := make([]int32, k+1)
				advance[k] = n
				before := encoder{}
				before.next(0, make([]int32, k))
				at := len(e.buf)
				e.next(at, advance)
				e.buf = e.buf[:len(e.buf)-9]                                // without the jump
				e.buf = append(e.buf[:at], e.buf[at+len(before.buf)-9:]...) // and the other registers
			})
		}
	}
	visit("XORL AX, AX\nXORL CX, CX\nXORL DX, DX\nXORL BX, BX\nMOVL $77777, R8",
		func(e *encoder) { e.begin(77777, 4) })
	both := map[Op]string{Add: "VADDSD", Sub: "VSUBSD", Mul: "VMULSD", Div: "VDIVSD"}
	masks := map[Op]int{Eq: 0, Lt: 1, Le: 2}
	for _, d := range registers {
		for _, s := range places {
			visit(fmt.Sprintf("VMOVSD %s, X%d", at(s), d), func(e *encoder) { e.load(d, s) })
			visit(fmt.Sprintf("VMOVSD X%d, %s", d, at(s)), func(e *encoder) { e.store(d, s) })
		}
		for _, x := range registers {
			visit(fmt.Sprintf("VXORPD (SI), X%d, X%d", x, d), func(e *encoder) { e.unary(Neg, d, x) })
			visit(fmt.Sprintf("VANDPD 16(SI), X%d, X%d", x, d), func(e *encoder) { e.unary(Abs, d, x) })
			visit(fmt.Sprintf("VMULSD X%d, X%d, X%d", x, x, d), func(e *encoder) { e.unary(Sq, d, x) })
			visit(fmt.Sprintf("VSQRTSD X%d, X%d, X%d", x, x, d), func(e *encoder) { e.unary(Sqrt, d, x) })
			visit(fmt.Sprintf("VMOVSD 32(SI), X%d\nVDIVSD X%d, X%d, X%d", d, x, d, d),
				func(e *encoder) { e.unary(Inv, d, x) })
			if d != x {
				visit(fmt.Sprintf("VMOVAPD X%d, X%d", x, d), func(e *encoder) { e.unary(Move, d, x) })
			}
			visit(fmt.Sprintf("VADDSD 40(SI), X%d, X%d\nVMOVSD X%d, 8(DI)", x, d, d),
				func(e *encoder) { e.output(d, x, place{slot: 1}) })
			visit(fmt.Sprintf("VUCOMISD X%d, X%d", d, x),
				func(e *encoder) { e.two(prefix66, opCompare, x, 0, d, place{}) })
			for _, s := range places {
				visit(fmt.Sprintf("VUCOMISD %s, X%d", at(s), x),
					func(e *encoder) { e.two(prefix66, opCompare, x, 0, -1, s) })
				for op, name := range both {
					visit(fmt.Sprintf("%s %s, X%d, X%d", name, at(s), x, d),
						func(e *encoder) { e.binary(op, d, x, -1, s) })
				}
				for op, mask := range masks {
					visit(fmt.Sprintf("VCMPSD $%d, %s, X%d, X%d\nVANDPD 32(SI), X%d, X%d", mask, at(s), x, d, d, d),
						func(e *encoder) { e.binary(op, d, x, -1, s) })
				}
			}
			for _, y := range registers {
				for op, name := range both {
					visit(fmt.Sprintf("%s X%d, X%d, X%d", name, y, x, d),
						func(e *encoder) { e.binary(op, d, x, y, place{}) })
				}
				for op, mask := range masks {
					visit(fmt.Sprintf("VCMPSD $%d, X%d, X%d, X%d\nVANDPD 32(SI), X%d, X%d", mask, y, x, d, d, d),
						func(e *encoder) { e.binary(op, d, x, y, place{}) })
				}
				visit(fmt.Sprintf("VCMPSD $4, 40(SI), X%d, X%d\nVBLENDVPD X%d, X%d, X%d, X%d", x, d, d, y, 3, d),
					func(e *encoder) { e.selects(d, x, y, 3) })
			}
		}
	}
}

// TestAssembler: all instructions have the bytes that the Go assembler gives them.
func TestAssembler(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("needs the assembler of amd64, and runs what it has made")
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var text strings.Builder
	var e encoder
	var names []string
	var ends []int
	text.WriteString("#include \"textflag.h\"\nDATA ·address(SB)/8, $·code(SB)\nGLOBL ·address(SB), NOPTR, $8\n" +
		"TEXT ·code(SB), NOSPLIT, $0\n")
	forms(func(s string, emit func(e *encoder)) {
		text.WriteString(s + "\n")
		emit(&e)
		names, ends = append(names, s), append(ends, len(e.buf))
	})
	text.WriteString("RET\n")
	write("go.mod", "module forms\n\ngo 1.26\n")
	write("forms_amd64.s", text.String())
	write("main.go", fmt.Sprintf(`package main

import (
	"fmt"
	"unsafe"
)

func code()

var address unsafe.Pointer

func main() { fmt.Printf("%%x", unsafe.Slice((*byte)(address), %d)) }
`, len(e.buf)))
	cmd := exec.Command("go", "run", ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.Bytes())
	}
	want, err := hex.DecodeString(string(out))
	if err != nil {
		t.Fatal(err)
	}
	from := 0
	for i, name := range names {
		if got := e.buf[from:ends[i]]; !bytes.Equal(got, want[from:ends[i]]) {
			t.Fatalf("%s: got % x, want % x", name, got, want[from:ends[i]])
		}
		from = ends[i]
	}
	t.Logf("%d forms", len(names))
}
