//go:build linux || darwin

#include "textflag.h"

// func call(entry uintptr, file, table, list unsafe.Pointer) bool
TEXT ·call(SB), NOSPLIT, $8-33
	MOVQ entry+0(FP), AX
	MOVQ file+8(FP), DI
	MOVQ table+16(FP), SI
	MOVQ list+24(FP), R9
	CALL AX
	MOVB AX, ret+32(FP)
	RET
