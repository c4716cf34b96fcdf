//go:build !arm64

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
			places = append(places, place{slot: slot, index: index})
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
			visit(fmt.Sprintf("VANDPD 32(SI), X%d, X%d", x, d), func(e *encoder) { e.unary(Abs, d, x) })
			visit(fmt.Sprintf("VMULSD X%d, X%d, X%d", x, x, d), func(e *encoder) { e.unary(Sq, d, x) })
			visit(fmt.Sprintf("VSQRTSD X%d, X%d, X%d", x, x, d), func(e *encoder) { e.unary(Sqrt, d, x) })
			visit(fmt.Sprintf("VMOVSD 64(SI), X%d\nVDIVSD X%d, X%d, X%d", d, x, d, d),
				func(e *encoder) { e.unary(Inv, d, x) })
			if d != x {
				visit(fmt.Sprintf("VMOVAPD X%d, X%d", x, d), func(e *encoder) { e.unary(Move, d, x) })
			}
			visit(fmt.Sprintf("VADDSD 96(SI), X%d, X%d\nVMOVSD X%d, 8(DI)", x, d, d),
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
					visit(fmt.Sprintf("VCMPSD $%d, %s, X%d, X%d\nVANDPD 64(SI), X%d, X%d", mask, at(s), x, d, d, d),
						func(e *encoder) { e.binary(op, d, x, -1, s) })
				}
			}
			for _, y := range registers {
				for op, name := range both {
					visit(fmt.Sprintf("%s X%d, X%d, X%d", name, y, x, d),
						func(e *encoder) { e.binary(op, d, x, y, place{}) })
				}
				for op, mask := range masks {
					visit(fmt.Sprintf("VCMPSD $%d, X%d, X%d, X%d\nVANDPD 64(SI), X%d, X%d", mask, y, x, d, d, d),
						func(e *encoder) { e.binary(op, d, x, y, place{}) })
				}
				visit(fmt.Sprintf("VCMPSD $4, 96(SI), X%d, X%d\nVBLENDVPD X%d, X%d, X%d, X%d", x, d, d, y, 3, d),
					func(e *encoder) { e.selects(d, x, y, 3) })
			}
		}
	}
}

// vectorForms is forms for instructions on four lanes, and those of the loops around them.
func vectorForms(visit func(text string, emit func(e *encoder))) {
	wide := func(text string, emit func(e *encoder)) {
		visit(text, func(e *encoder) {
			e.setLanes(lanes)
			emit(e)
			e.setLanes(1)
		})
	}
	names := []string{"AX", "CX", "DX"}
	registers := []int8{0, 3, 7, 8, 14}
	var places []place
	for _, slot := range []int32{0, 1, 15, 16, 1000, MostSlots - 100} {
		for index := range int8(len(names)) {
			places = append(places, place{slot: slot, index: index + 1, stride: 1})
		}
	}
	at := func(slot int32, index int8) string {
		if index == 0 {
			return fmt.Sprintf("%d(DI)", 8*slot)
		}
		return fmt.Sprintf("%d(DI)(%s*1)", 8*slot, names[index-1])
	}
	both := map[Op]string{Add: "VADDPD", Sub: "VSUBPD", Mul: "VMULPD", Div: "VDIVPD"}
	masks := map[Op]int{Eq: 0, Lt: 1, Le: 2}
	guards := map[Op]int{GuardLt: 14, GuardLe: 13, GuardEq: 0}
	for _, d := range registers {
		for _, p := range places {
			wide(fmt.Sprintf("VMOVUPD %s, Y%d", at(p.slot, p.index), d), func(e *encoder) { e.load(d, p) })
			wide(fmt.Sprintf("VMOVUPD Y%d, %s", d, at(p.slot, p.index)), func(e *encoder) { e.store(d, p) })
			one := place{slot: p.slot}
			wide(fmt.Sprintf("VBROADCASTSD %s, Y%d", at(p.slot, 0), d), func(e *encoder) { e.load(d, one) })
			for _, stride := range []int32{-1, 2, -3, 17, Gather} {
				if p.slot < 100 && stride < 0 && stride != Gather {
					continue
				}
				apart := place{slot: p.slot, index: p.index, stride: stride}
				var load, store string
				for l := range 4 {
					register, where := int8(15), at(p.slot+int32(l)*stride, p.index)
					if l < 2 {
						register = d
					}
					listed := ""
					if stride == Gather {
						listed = fmt.Sprintf("MOVL %d(R9)(%s*1), BX\n", 4*(p.slot+int32(l)), names[p.index-1])
						where = "(DI)(BX*8)"
					}
					if l == 2 {
						store += fmt.Sprintf("VEXTRACTF128 $1, Y%d, X15\n", d)
					}
					if l%2 == 0 {
						load += fmt.Sprintf("%sVMOVSD %s, X%d\n", listed, where, register)
						store += fmt.Sprintf("%sVMOVSD X%d, %s\n", listed, register, where)
					} else {
						load += fmt.Sprintf("%sVMOVHPD %s, X%d, X%d\n", listed, where, register, register)
						store += fmt.Sprintf("%sVMOVHPD X%d, %s\n", listed, register, where)
					}
				}
				load += fmt.Sprintf("VINSERTF128 $1, X15, Y%d, Y%d", d, d)
				wide(load, func(e *encoder) { e.load(d, apart) })
				if stride != Gather {
					wide(fmt.Sprintf("VMOVUPD %s, X15\nVINSERTF128 $1, %s, Y15, Y15\nVMOVUPD %s, X5\n"+
						"VINSERTF128 $1, %s, Y5, Y5\nVUNPCKLPD Y5, Y15, Y%d\nVUNPCKHPD Y5, Y15, Y5",
						at(p.slot, p.index), at(p.slot+2*stride, p.index), at(p.slot+stride, p.index),
						at(p.slot+3*stride, p.index), d), func(e *encoder) { e.loadBoth(d, 5, apart.lane) })
				}
				if stride != Gather && p.index == 1 { // without an index
					fixed := place{slot: p.slot, stride: stride}
					wide(fmt.Sprintf("VMOVUPD %s, X15\nVINSERTF128 $1, %s, Y15, Y15\nVMOVUPD %s, X9\n"+
						"VINSERTF128 $1, %s, Y9, Y9\nVUNPCKLPD Y9, Y15, Y%d\nVUNPCKHPD Y9, Y15, Y9",
						at(p.slot, 0), at(p.slot+2*stride, 0), at(p.slot+stride, 0), at(p.slot+3*stride, 0), d),
						func(e *encoder) { e.loadBoth(d, 9, fixed.lane) })
				}
				wide(strings.TrimSpace(store), func(e *encoder) { e.store(d, apart) })
			}
		}
		for _, x := range registers {
			wide(fmt.Sprintf("VXORPD (SI), Y%d, Y%d", x, d), func(e *encoder) { e.unary(Neg, d, x) })
			wide(fmt.Sprintf("VANDPD 32(SI), Y%d, Y%d", x, d), func(e *encoder) { e.unary(Abs, d, x) })
			wide(fmt.Sprintf("VMULPD Y%d, Y%d, Y%d", x, x, d), func(e *encoder) { e.unary(Sq, d, x) })
			wide(fmt.Sprintf("VSQRTPD Y%d, Y%d", x, d), func(e *encoder) { e.unary(Sqrt, d, x) })
			wide(fmt.Sprintf("VMOVUPD 64(SI), Y%d\nVDIVPD Y%d, Y%d, Y%d", d, x, d, d),
				func(e *encoder) { e.unary(Inv, d, x) })
			if d != x {
				wide(fmt.Sprintf("VMOVAPD Y%d, Y%d", x, d), func(e *encoder) { e.unary(Move, d, x) })
			}
			wide(fmt.Sprintf("VADDPD 96(SI), Y%d, Y%d\nVMOVUPD Y%d, 8(DI)(AX*1)", x, d, d),
				func(e *encoder) { e.output(d, x, place{slot: 1, index: 1, stride: 1}) })
			for _, first := range []bool{true, false} {
				text := func(register int8) string {
					if first {
						return fmt.Sprintf("VMOVAPD X%d, X%d", register, d)
					}
					return fmt.Sprintf("VADDSD X%d, X%d, X%d", register, d, d)
				}
				high := func(register int8) string {
					return fmt.Sprintf("VUNPCKHPD X%d, X%d, X15\n", register, register)
				}
				upper := fmt.Sprintf("VEXTRACTF128 $1, Y%d, X15\n", x)
				lanes := []string{text(x), high(x) + text(15), upper + text(15), upper + high(15) + text(15)}
				for lane, s := range lanes {
					wide(s, func(e *encoder) { e.term(d, x, int32(lane), 0, first) })
				}
			}
			for _, p := range places {
				for op, name := range both {
					wide(fmt.Sprintf("%s %s, Y%d, Y%d", name, at(p.slot, p.index), x, d),
						func(e *encoder) { e.binary(op, d, x, -1, p) })
				}
			}
			for _, y := range registers {
				for op, name := range both {
					wide(fmt.Sprintf("%s Y%d, Y%d, Y%d", name, y, x, d),
						func(e *encoder) { e.binary(op, d, x, y, place{}) })
				}
				for op, mask := range masks {
					wide(fmt.Sprintf("VCMPPD $%d, Y%d, Y%d, Y%d\nVANDPD 64(SI), Y%d, Y%d", mask, y, x, d, d, d),
						func(e *encoder) { e.binary(op, d, x, y, place{}) })
				}
				wide(fmt.Sprintf("VCMPPD $4, 96(SI), Y%d, Y%d\nVBLENDVPD Y%d, Y%d, Y%d, Y%d", x, d, d, y, 3, d),
					func(e *encoder) { e.selects(d, x, y, 3) })
			}
		}
		for op, mask := range guards {
			for outcome, test := range map[bool]string{true: "CMPL BX, $15", false: "TESTL BX, BX"} {
				wide(fmt.Sprintf("VCMPPD $%d, Y3, Y%d, Y15\nVMOVMSKPD Y15, BX\n%s", mask, d, test), func(e *encoder) {
					e.guard(op, outcome, d, 3, place{})
					e.buf = e.buf[:len(e.buf)-6] // without the jump
				})
			}
		}
		visit(fmt.Sprintf("VMOVSD 800(DI), X%d", d), func(e *encoder) { e.term(d, 0, -1, 100, true) })
		visit(fmt.Sprintf("VADDSD 800(DI), X%d, X%d", d, d), func(e *encoder) { e.term(d, 0, -1, 100, false) })
	}
	for k, name := range names {
		i := int8(k) + 1
		visit(fmt.Sprintf("MOVQ %s, CX", name), func(e *encoder) { e.setIndex(2, i) })
		visit(fmt.Sprintf("XORL %s, %s", name, name), func(e *encoder) { e.clearIndex(i) })
		for _, n := range []int32{1, 127, 128, -128, -129, 1 << 20} {
			visit(fmt.Sprintf("ADDQ $%d, %s", n, name), func(e *encoder) { e.advance(i, n) })
		}
	}
	wide("MOVQ $136, AX\nMOVQ $-68, CX", func(e *encoder) { e.set([]int32{4, -2}, 17) })
	visit("MOVL $5, R10", func(e *encoder) { e.count(restRegister, 5) })
}

// largeForms is forms for instructions on eight lanes.
func largeForms(visit func(text string, emit func(e *encoder))) {
	large := func(text string, emit func(e *encoder)) {
		visit(strings.TrimSpace(text), func(e *encoder) {
			e.setLanes(8)
			emit(e)
			e.setLanes(1)
		})
	}
	names := []string{"AX", "CX", "DX"}
	registers := []int8{0, 7, 8, 15, 16, 23, 24, 30}
	var places []place
	for _, slot := range []int32{0, 1, 8, 1016, 1017, 1024, 5000, MostSlots - 200} {
		for index := range int8(len(names)) {
			places = append(places, place{slot: slot, index: index + 1, stride: 1})
		}
	}
	at := func(slot int32, index int8) string {
		if index == 0 {
			return fmt.Sprintf("%d(DI)", 8*slot)
		}
		return fmt.Sprintf("%d(DI)(%s*1)", 8*slot, names[index-1])
	}
	both := map[Op]string{Add: "VADDPD", Sub: "VSUBPD", Mul: "VMULPD", Div: "VDIVPD"}
	masks := map[Op]int{Eq: 0, Lt: 1, Le: 2}
	guards := map[Op]int{GuardLt: 14, GuardLe: 13, GuardEq: 0}
	for _, d := range registers {
		for _, p := range places {
			large(fmt.Sprintf("VMOVUPD %s, Z%d", at(p.slot, p.index), d), func(e *encoder) { e.load(d, p) })
			large(fmt.Sprintf("VMOVUPD Z%d, %s", d, at(p.slot, p.index)), func(e *encoder) { e.store(d, p) })
			one := place{slot: p.slot}
			large(fmt.Sprintf("VBROADCASTSD %s, Z%d", at(p.slot, 0), d), func(e *encoder) { e.load(d, one) })
			for _, stride := range []int32{-1, 2, -3, 16, 17, Gather} {
				if p.slot < 100 && stride < 0 && stride != Gather {
					continue
				}
				apart := place{slot: p.slot, index: p.index, stride: stride}
				var load, store, pair string
				for l := range int32(8) {
					register, where := int8(31), at(p.slot+l*stride, p.index)
					if l < 2 {
						register = d
					}
					listed := ""
					if stride == Gather {
						listed = fmt.Sprintf("MOVL %d(R9)(%s*1), BX\n", 4*(p.slot+l), names[p.index-1])
						where = "(DI)(BX*8)"
					}
					if l > 0 && l%2 == 0 {
						store += fmt.Sprintf("VEXTRACTF64X2 $%d, Z%d, X31\n", l/2, d)
					}
					if l%2 == 0 {
						load += fmt.Sprintf("%sVMOVSD %s, X%d\n", listed, where, register)
						store += fmt.Sprintf("%sVMOVSD X%d, %s\n", listed, register, where)
					} else {
						load += fmt.Sprintf("%sVMOVHPD %s, X%d, X%d\n", listed, where, register, register)
						store += fmt.Sprintf("%sVMOVHPD X%d, %s\n", listed, register, where)
						if l > 1 {
							load += fmt.Sprintf("VINSERTF64X2 $%d, X31, Z%d, Z%d\n", l/2, d, d)
						}
					}
				}
				large(load, func(e *encoder) { e.load(d, apart) })
				large(store, func(e *encoder) { e.store(d, apart) })
				if stride == Gather {
					continue
				}
				for _, next := range []int8{5, 21} {
					pair = ""
					for k, to := range []int8{31, next} {
						for l := int32(k); l < 8; l += 2 {
							where := at(p.slot+l*stride, p.index)
							if l < 2 {
								pair += fmt.Sprintf("VMOVUPD %s, X%d\n", where, to)
							} else {
								pair += fmt.Sprintf("VINSERTF64X2 $%d, %s, Z%d, Z%d\n", l/2, where, to, to)
							}
						}
					}
					large(fmt.Sprintf("%sVUNPCKLPD Z%d, Z31, Z%d\nVUNPCKHPD Z%d, Z31, Z%d", pair, next, d, next, next),
						func(e *encoder) { e.loadBoth(d, next, apart.lane) })
				}
			}
		}
		for _, x := range registers {
			large(fmt.Sprintf("VXORPD.BCST (SI), Z%d, Z%d", x, d), func(e *encoder) { e.unary(Neg, d, x) })
			large(fmt.Sprintf("VANDPD.BCST 32(SI), Z%d, Z%d", x, d), func(e *encoder) { e.unary(Abs, d, x) })
			large(fmt.Sprintf("VMULPD Z%d, Z%d, Z%d", x, x, d), func(e *encoder) { e.unary(Sq, d, x) })
			large(fmt.Sprintf("VSQRTPD Z%d, Z%d", x, d), func(e *encoder) { e.unary(Sqrt, d, x) })
			large(fmt.Sprintf("VBROADCASTSD 64(SI), Z%d\nVDIVPD Z%d, Z%d, Z%d", d, x, d, d),
				func(e *encoder) { e.unary(Inv, d, x) })
			if d != x {
				large(fmt.Sprintf("VMOVAPD Z%d, Z%d", x, d), func(e *encoder) { e.unary(Move, d, x) })
			}
			large(fmt.Sprintf("VADDPD.BCST 96(SI), Z%d, Z%d\nVMOVUPD Z%d, 8(DI)(AX*1)", x, d, d),
				func(e *encoder) { e.output(d, x, place{slot: 1, index: 1, stride: 1}) })
			for _, p := range places {
				one := place{slot: p.slot}
				for op, name := range both {
					large(fmt.Sprintf("%s %s, Z%d, Z%d", name, at(p.slot, p.index), x, d),
						func(e *encoder) { e.binary(op, d, x, -1, p) })
					large(fmt.Sprintf("%s.BCST %s, Z%d, Z%d", name, at(p.slot, 0), x, d),
						func(e *encoder) { e.binary(op, d, x, -1, one) })
				}
				for op, mask := range masks {
					large(fmt.Sprintf("VCMPPD $%d, %s, Z%d, K1\nVBROADCASTSD.Z 64(SI), K1, Z%d", mask,
						at(p.slot, p.index), x, d), func(e *encoder) { e.binary(op, d, x, -1, p) })
				}
				for op, mask := range guards {
					large(fmt.Sprintf("VCMPPD.BCST $%d, %s, Z%d, K1\nKORTESTB K1, K1", mask, at(p.slot, 0), x),
						func(e *encoder) {
							e.guard(op, true, x, -1, one)
							e.buf = e.buf[:len(e.buf)-6] // without the jump
						})
				}
			}
			for _, y := range registers {
				for op, name := range both {
					large(fmt.Sprintf("%s Z%d, Z%d, Z%d", name, y, x, d),
						func(e *encoder) { e.binary(op, d, x, y, place{}) })
				}
				for op, mask := range masks {
					large(fmt.Sprintf("VCMPPD $%d, Z%d, Z%d, K1\nVBROADCASTSD.Z 64(SI), K1, Z%d", mask, y, x, d),
						func(e *encoder) { e.binary(op, d, x, y, place{}) })
				}
				for _, z := range []int8{3, 19} {
					large(fmt.Sprintf("VCMPPD.BCST $4, 96(SI), Z%d, K1\nVBLENDMPD Z%d, Z%d, K1, Z%d", x, y, z, d),
						func(e *encoder) { e.selects(d, x, y, z) })
				}
			}
		}
		for op, mask := range guards {
			for _, outcome := range []bool{true, false} {
				large(fmt.Sprintf("VCMPPD $%d, Z3, Z%d, K1\nKORTESTB K1, K1", mask, d), func(e *encoder) {
					e.guard(op, outcome, d, 3, place{})
					e.buf = e.buf[:len(e.buf)-6] // without the jump
				})
			}
		}
	}
	for _, sum := range []int8{28, 30} { // lanes of 0 and of 23 are added to sums
		for _, x := range []int8{0, 23} {
			for _, first := range []bool{true, false} {
				for lane := range int32(8) {
					var text string
					from := x
					if lane > 1 {
						text, from = fmt.Sprintf("VEXTRACTF64X2 $%d, Z%d, X31\n", lane/2, x), 31
					}
					if lane%2 > 0 {
						text += fmt.Sprintf("VUNPCKHPD X%d, X%d, X31\n", from, from)
						from = 31
					}
					if first {
						text += fmt.Sprintf("VMOVAPD X%d, X%d", from, sum)
					} else {
						text += fmt.Sprintf("VADDSD X%d, X%d, X%d", from, sum, sum)
					}
					large(text, func(e *encoder) { e.term(sum, x, lane, 0, first) })
				}
			}
		}
		for _, slot := range []int32{0, 100, 127, 128, 5000} {
			large(fmt.Sprintf("VMOVSD %d(DI), X%d", 8*slot, sum), func(e *encoder) { e.term(sum, 0, -1, slot, true) })
			large(fmt.Sprintf("VADDSD %d(DI), X%d, X%d", 8*slot, sum, sum),
				func(e *encoder) { e.term(sum, 0, -1, slot, false) })
			one := place{slot: slot}
			visit(fmt.Sprintf("VMOVSD %d(DI), X%d", 8*slot, sum), func(e *encoder) { e.load(sum, one) })
			visit(fmt.Sprintf("VMOVSD X%d, %d(DI)", sum, 8*slot), func(e *encoder) { e.store(sum, one) })
		}
	}
	large("MOVQ $68, AX\nMOVQ $-34, CX", func(e *encoder) { e.set([]int32{4, -2}, 17) })
}

// bases are the registers that addresses of slots begin with, and the areas that they are in.
var bases = map[string]Areas{"DI": {}, "R11": {{0, MostSlots}, {}}, "R15": {{}, {0, MostSlots}}}

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
	for _, list := range []func(func(string, func(*encoder))){forms, vectorForms, largeForms} {
		list(func(s string, emit func(e *encoder)) {
			for base, areas := range bases {
				if base != "DI" && (!strings.Contains(s, "(DI)") || strings.Contains(s, "(DI)(BX*8)")) {
					continue // slots from the list are in the file
				}
				s := strings.ReplaceAll(s, "(DI)", "("+base+")")
				text.WriteString(s + "\n")
				e.areas = areas
				emit(&e)
				names, ends = append(names, s), append(ends, len(e.buf))
			}
		})
	}
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
