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
