//go:build linux || darwin

#include "textflag.h"

// func call(entry uintptr, file, table unsafe.Pointer) bool
TEXT ·call(SB), NOSPLIT, $8-25
	MOVQ entry+0(FP), AX
	MOVQ file+8(FP), DI
	MOVQ table+16(FP), SI
	CALL AX
	MOVB AX, ret+24(FP)
	RET

// func cpuid(leaf, sub uint32) (ax, bx, cx, dx uint32)
TEXT ·cpuid(SB), NOSPLIT, $0-24
	MOVL leaf+0(FP), AX
	MOVL sub+4(FP), CX
	CPUID
	MOVL AX, ax+8(FP)
	MOVL BX, bx+12(FP)
	MOVL CX, cx+16(FP)
	MOVL DX, dx+20(FP)
	RET

// func xgetbv() (ax uint32)
TEXT ·xgetbv(SB), NOSPLIT, $0-4
	MOVL $0, CX
	XGETBV
	MOVL AX, ax+0(FP)
	RET
