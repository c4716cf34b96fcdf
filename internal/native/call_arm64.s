//go:build linux

#include "textflag.h"

// func call(entry uintptr, file, table, list, in, out unsafe.Pointer) bool
TEXT ·call(SB), NOSPLIT, $8-49
	MOVD entry+0(FP), R9
	MOVD file+8(FP), R0
	MOVD table+16(FP), R1
	MOVD list+24(FP), R2
	MOVD in+32(FP), R3
	MOVD out+40(FP), R4
	CALL (R9)
	MOVB R0, ret+48(FP)
	RET

// func flush(from, end uintptr)
TEXT ·flush(SB), NOSPLIT, $0-16
	MOVD from+0(FP), R0
	MOVD end+8(FP), R1
	MOVD R0, R2
data:
	WORD $0xd50b7b22 // DC CVAU, R2
	ADD $16, R2
	CMP R1, R2
	BLO data
	WORD $0xd5033b9f // DSB ISH
instructions:
	WORD $0xd50b7520 // IC IVAU, R0
	ADD $16, R0
	CMP R1, R0
	BLO instructions
	WORD $0xd5033b9f // DSB ISH
	WORD $0xd5033fdf // ISB
	RET
