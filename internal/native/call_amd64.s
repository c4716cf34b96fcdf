//go:build linux || darwin

#include "textflag.h"

// func call(entry uintptr, file, table, list, in, out unsafe.Pointer) bool
TEXT ·call(SB), NOSPLIT, $8-49
	MOVQ entry+0(FP), AX
	MOVQ file+8(FP), DI
	MOVQ table+16(FP), SI
	MOVQ list+24(FP), R9
	MOVQ in+32(FP), R11
	MOVQ out+40(FP), R15
	CALL AX
	MOVB AX, ret+48(FP)
	RET
