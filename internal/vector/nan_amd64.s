#include "textflag.h"

// func nanBlocks(src *float64, blocks int) bool
TEXT ·nanBlocks(SB), NOSPLIT, $0-17
	MOVQ src+0(FP), SI
	MOVQ blocks+8(FP), CX
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
next:
	VMOVUPD (SI), Y2
	VMOVUPD 64(SI), Y3
	VCMPPD $3, 32(SI), Y2, Y2 // one of them is NaN
	VCMPPD $3, 96(SI), Y3, Y3
	VORPD Y2, Y0, Y0
	VORPD Y3, Y1, Y1
	ADDQ $128, SI
	DECQ CX
	JNZ next
	VORPD Y1, Y0, Y0
	VMOVMSKPD Y0, AX
	VZEROUPPER
	TESTL AX, AX
	SETNE ret+16(FP)
	RET

// func copyBlocks(dst, src *float64, blocks int) bool
TEXT ·copyBlocks(SB), NOSPLIT, $0-25
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ blocks+16(FP), CX
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
next:
	VMOVUPD (SI), Y2
	VMOVUPD 32(SI), Y3
	VMOVUPD 64(SI), Y4
	VMOVUPD 96(SI), Y5
	VMOVUPD Y2, (DI)
	VMOVUPD Y3, 32(DI)
	VMOVUPD Y4, 64(DI)
	VMOVUPD Y5, 96(DI)
	VCMPPD $3, Y3, Y2, Y2 // one of them is NaN
	VCMPPD $3, Y5, Y4, Y4
	VORPD Y2, Y0, Y0
	VORPD Y4, Y1, Y1
	ADDQ $128, SI
	ADDQ $128, DI
	DECQ CX
	JNZ next
	VORPD Y1, Y0, Y0
	VMOVMSKPD Y0, AX
	VZEROUPPER
	TESTL AX, AX
	SETNE ret+24(FP)
	RET
