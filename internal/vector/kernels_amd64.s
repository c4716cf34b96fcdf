#include "textflag.h"

// Each kernel goes through blocks of four numbers, and ends at the first one with a number that it leaves out. Constants
// and the order of operations are those of package math: archExp and archLog of amd64, log1p, expm1,
// sin, cos and tanh.

#define CONSTANT(name, value) \
	DATA name<>+0(SB)/8, $value \
	DATA name<>+8(SB)/8, $value \
	DATA name<>+16(SB)/8, $value \
	DATA name<>+24(SB)/8, $value \
	GLOBL name<>(SB), RODATA|NOPTR, $32

CONSTANT(value, 0x7fffffffffffffff)
CONSTANT(mantissa, 0x000fffffffffffff)
CONSTANT(half, 0.5)
CONSTANT(one, 1.0)
CONSTANT(two, 2.0)

CONSTANT(largest, 708.0)
CONSTANT(log2e, 1.4426950408889634073599246810018920)
CONSTANT(ln2u, 0.69314718055966295651160180568695068359375)
CONSTANT(ln2l, 0.28235290563031577122588448175013436025525412068e-12)
CONSTANT(sixteenth, 0.0625)
CONSTANT(e3, 1.6666666666666666667e-1)
CONSTANT(e4, 4.1666666666666666667e-2)
CONSTANT(e5, 8.3333333333333333333e-3)
CONSTANT(e6, 1.3888888888888888889e-3)
CONSTANT(e7, 1.9841269841269841270e-4)
CONSTANT(e8, 2.4801587301587301587e-5)
CONSTANT(bias, 1023)

// func expBlocks(dst, src *float64, blocks int) int
TEXT ·expBlocks(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ blocks+16(FP), CX
	XORQ AX, AX
	VMOVUPD log2e<>(SB), Y15
	VMOVUPD ln2u<>(SB), Y14
	VMOVUPD ln2l<>(SB), Y13
	VMOVUPD sixteenth<>(SB), Y12
	VMOVUPD e8<>(SB), Y11
	VMOVUPD e7<>(SB), Y10
	VMOVUPD e6<>(SB), Y9
	VMOVUPD e5<>(SB), Y8
	VMOVUPD e4<>(SB), Y7
	VMOVUPD e3<>(SB), Y6
	VMOVUPD half<>(SB), Y5
	VMOVUPD one<>(SB), Y4
	VMOVUPD two<>(SB), Y3
loop:
	CMPQ AX, CX
	JGE end
	VMOVUPD (SI), Y0
	VANDPD value<>(SB), Y0, Y1
	VCMPPD $6, largest<>(SB), Y1, Y1 // not at most, or NaN
	VMOVMSKPD Y1, BX
	TESTL BX, BX
	JNE end
	VMULPD Y15, Y0, Y1
	VCVTPD2DQY Y1, X2
	VCVTDQ2PD X2, Y1
	VFNMADD231PD Y14, Y1, Y0
	VFNMADD231PD Y13, Y1, Y0
	VMULPD Y12, Y0, Y0
	VMOVAPD Y11, Y1
	VFMADD213PD Y10, Y0, Y1
	VFMADD213PD Y9, Y0, Y1
	VFMADD213PD Y8, Y0, Y1
	VFMADD213PD Y7, Y0, Y1
	VFMADD213PD Y6, Y0, Y1
	VFMADD213PD Y5, Y0, Y1
	VFMADD213PD Y4, Y0, Y1
	VMULPD Y1, Y0, Y0
	VADDPD Y3, Y0, Y1
	VMULPD Y1, Y0, Y0
	VADDPD Y3, Y0, Y1
	VMULPD Y1, Y0, Y0
	VADDPD Y3, Y0, Y1
	VMULPD Y1, Y0, Y0
	VADDPD Y3, Y0, Y1
	VFMADD213PD Y4, Y1, Y0
	VPMOVSXDQ X2, Y2
	VPADDQ bias<>(SB), Y2, Y2
	VPSLLQ $52, Y2, Y2
	VMULPD Y2, Y0, Y0
	VMOVUPD Y0, (DI)
	ADDQ $32, SI
	ADDQ $32, DI
	INCQ AX
	JMP loop
end:
	VZEROUPPER
	MOVQ AX, ret+24(FP)
	RET

CONSTANT(belowNormal, 0x000fffffffffffff)
CONSTANT(infinity, 0x7ff0000000000000)
CONSTANT(exponent52, 0x4330000000000000) // the bits of 2⁵²
CONSTANT(offset1022, 4503599627371518.0) // 2⁵² + 1022
CONSTANT(halfRoot, 7.07106781186547524401e-01)
CONSTANT(ln2Hi, 6.93147180369123816490e-01)
CONSTANT(ln2Lo, 1.90821492927058770002e-10)
CONSTANT(l1, 6.666666666666735130e-01)
CONSTANT(l2, 3.999999999940941908e-01)
CONSTANT(l3, 2.857142874366239149e-01)
CONSTANT(l4, 2.222219843214978396e-01)
CONSTANT(l5, 1.818357216161805012e-01)
CONSTANT(l6, 1.531383769920937332e-01)
CONSTANT(l7, 1.479819860511658591e-01)

// func logBlocks(dst, src *float64, blocks int) int
TEXT ·logBlocks(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ blocks+16(FP), CX
	XORQ AX, AX
	VMOVUPD one<>(SB), Y15
	VMOVUPD two<>(SB), Y14
	VMOVUPD half<>(SB), Y13
	VMOVUPD infinity<>(SB), Y12
	VMOVUPD halfRoot<>(SB), Y11
	VMOVUPD l7<>(SB), Y10
	VMOVUPD l6<>(SB), Y9
loop:
	CMPQ AX, CX
	JGE end
	VMOVUPD (SI), Y0
	VPCMPGTQ belowNormal<>(SB), Y0, Y1
	VPCMPGTQ Y0, Y12, Y2
	VPAND Y1, Y2, Y1
	VMOVMSKPD Y1, BX
	CMPL BX, $15
	JNE end
	VPSRLQ $52, Y0, Y1
	VPOR exponent52<>(SB), Y1, Y1
	VSUBPD offset1022<>(SB), Y1, Y1  // k
	VANDPD mantissa<>(SB), Y0, Y2
	VORPD Y13, Y2, Y2                // f1, from 1/2 to 1
	VCMPPD $5, Y2, Y11, Y3           // halfRoot is not below f1
	VANDPD Y15, Y3, Y3
	VSUBPD Y3, Y1, Y1
	VADDPD Y15, Y3, Y3
	VMULPD Y3, Y2, Y2
	VSUBPD Y15, Y2, Y2               // f
	VADDPD Y2, Y14, Y0
	VDIVPD Y0, Y2, Y3                // s
	VMULPD Y3, Y3, Y4                // s2
	VMULPD Y4, Y4, Y5                // s4
	VMULPD Y5, Y10, Y6
	VADDPD l5<>(SB), Y6, Y6
	VMULPD Y5, Y6, Y6
	VADDPD l3<>(SB), Y6, Y6
	VMULPD Y5, Y6, Y6
	VADDPD l1<>(SB), Y6, Y6
	VMULPD Y6, Y4, Y4                // t1
	VMULPD Y5, Y9, Y6
	VADDPD l4<>(SB), Y6, Y6
	VMULPD Y5, Y6, Y6
	VADDPD l2<>(SB), Y6, Y6
	VMULPD Y6, Y5, Y5                // t2
	VADDPD Y5, Y4, Y4                // R
	VMULPD Y2, Y13, Y0
	VMULPD Y2, Y0, Y0                // hfsq
	VADDPD Y0, Y4, Y4
	VMULPD Y4, Y3, Y3
	VMULPD ln2Lo<>(SB), Y1, Y4
	VADDPD Y4, Y3, Y3
	VSUBPD Y3, Y0, Y0
	VSUBPD Y2, Y0, Y0
	VMULPD ln2Hi<>(SB), Y1, Y1
	VSUBPD Y0, Y1, Y1
	VMOVUPD Y1, (DI)
	ADDQ $32, SI
	ADDQ $32, DI
	INCQ AX
	JMP loop
end:
	VZEROUPPER
	MOVQ AX, ret+24(FP)
	RET

CONSTANT(small, 1.862645149230957e-09)   // 2⁻²⁹
CONSTANT(two53, 9007199254740992.0)
CONSTANT(minusOne, -1.0)
CONSTANT(rootM1, 4.142135623730950488017e-01)
CONSTANT(halfRootM1, -2.928932188134524755992e-01)
CONSTANT(offset1023, 4503599627371519.0) // 2⁵² + 1023
CONSTANT(belowRoot, 0x0006a09e667f3bcc)  // the mantissa of √2, -1
CONSTANT(nearTwo, 0x000ffffffffffffc)    // mantissas above are treated as 2
CONSTANT(lowerHalf, 0x0010000000000000)  // the difference of the exponents of 1 and 1/2

// func log1pBlocks(dst, src *float64, blocks int) int
TEXT ·log1pBlocks(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ blocks+16(FP), CX
	XORQ AX, AX
	VMOVUPD one<>(SB), Y15
	VMOVUPD two<>(SB), Y14
	VMOVUPD half<>(SB), Y13
	VMOVUPD mantissa<>(SB), Y12
	VXORPD Y11, Y11, Y11
loop:
	CMPQ AX, CX
	JGE end
	VMOVUPD (SI), Y0                     // x
	VANDPD value<>(SB), Y0, Y1           // |x|
	VCMPPD $13, small<>(SB), Y1, Y2      // at least 2⁻²⁹
	VCMPPD $1, two53<>(SB), Y1, Y3       // below 2⁵³
	VANDPD Y3, Y2, Y2
	VCMPPD $14, minusOne<>(SB), Y0, Y3   // above -1
	VANDPD Y3, Y2, Y2
	VCMPPD $1, rootM1<>(SB), Y1, Y3
	VCMPPD $14, halfRootM1<>(SB), Y0, Y4
	VANDPD Y4, Y3, Y3                    // mask: x is f
	VADDPD Y0, Y15, Y4                   // u
	VANDPD Y12, Y4, Y5                   // its mantissa
	VPCMPEQQ Y11, Y5, Y6
	VPCMPGTQ nearTwo<>(SB), Y5, Y7
	VPOR Y7, Y6, Y6                      // left out, unless x is f
	VANDNPD Y6, Y3, Y6
	VANDNPD Y2, Y6, Y2
	VMOVMSKPD Y2, BX
	CMPL BX, $15
	JNE end
	VPSRLQ $52, Y4, Y6
	VPOR exponent52<>(SB), Y6, Y6
	VSUBPD offset1023<>(SB), Y6, Y6      // k
	VCMPPD $14, Y11, Y6, Y7              // mask: k > 0
	VSUBPD Y0, Y4, Y8
	VSUBPD Y8, Y15, Y8                   // 1 - (u - x)
	VSUBPD Y15, Y4, Y9
	VSUBPD Y9, Y0, Y9                    // x - (u - 1)
	VBLENDVPD Y7, Y8, Y9, Y8
	VDIVPD Y4, Y8, Y8                    // c
	VPCMPGTQ belowRoot<>(SB), Y5, Y7     // mask: u is halved
	VPOR Y15, Y5, Y5                     // from 1 to 2
	VANDPD lowerHalf<>(SB), Y7, Y9
	VPSUBQ Y9, Y5, Y5
	VANDPD Y15, Y7, Y9
	VADDPD Y9, Y6, Y6                    // k + 1 then
	VSUBPD Y15, Y5, Y5                   // f
	VBLENDVPD Y3, Y0, Y5, Y5
	VANDNPD Y6, Y3, Y6                   // k = 0 if x is f
	VCMPPD $4, Y11, Y6, Y7               // mask: k ≠ 0
	VANDPD Y7, Y8, Y8                    // c
	VMULPD Y5, Y13, Y0
	VMULPD Y5, Y0, Y0                    // hfsq
	VADDPD Y5, Y14, Y1
	VDIVPD Y1, Y5, Y1                    // s
	VMULPD Y1, Y1, Y2                    // z
	VMULPD l7<>(SB), Y2, Y3
	VADDPD l6<>(SB), Y3, Y3
	VMULPD Y3, Y2, Y3
	VADDPD l5<>(SB), Y3, Y3
	VMULPD Y3, Y2, Y3
	VADDPD l4<>(SB), Y3, Y3
	VMULPD Y3, Y2, Y3
	VADDPD l3<>(SB), Y3, Y3
	VMULPD Y3, Y2, Y3
	VADDPD l2<>(SB), Y3, Y3
	VMULPD Y3, Y2, Y3
	VADDPD l1<>(SB), Y3, Y3
	VMULPD Y3, Y2, Y3                    // R
	VADDPD Y3, Y0, Y3
	VMULPD Y3, Y1, Y1                    // s(hfsq + R)
	VMULPD ln2Lo<>(SB), Y6, Y2
	VADDPD Y8, Y2, Y2
	VADDPD Y2, Y1, Y1
	VSUBPD Y1, Y0, Y0
	VSUBPD Y5, Y0, Y0
	VMULPD ln2Hi<>(SB), Y6, Y6
	VSUBPD Y0, Y6, Y0
	VMOVUPD Y0, (DI)
	ADDQ $32, SI
	ADDQ $32, DI
	INCQ AX
	JMP loop
end:
	VZEROUPPER
	MOVQ AX, ret+24(FP)
	RET

CONSTANT(signs, 0x8000000000000000)
CONSTANT(reduceThreshold, 536870912.0)  // 2²⁹
CONSTANT(fourOverPi, 1.2732395447351626862)
CONSTANT(pi4A, 7.85398125648498535156e-1)
CONSTANT(pi4B, 3.77489470793079817668e-8)
CONSTANT(pi4C, 2.69515142907905952645e-15)
CONSTANT(sin0, 1.58962301576546568060e-10)
CONSTANT(sin1, -2.50507477628578072866e-8)
CONSTANT(sin2, 2.75573136213857245213e-6)
CONSTANT(sin3, -1.98412698295895385996e-4)
CONSTANT(sin4, 8.33333333332211858878e-3)
CONSTANT(sin5, -1.66666666666666307295e-1)
CONSTANT(cos0, -1.13585365213876817300e-11)
CONSTANT(cos1, 2.08757008419747316778e-9)
CONSTANT(cos2, -2.75573141792967388112e-7)
CONSTANT(cos3, 2.48015872888517045348e-5)
CONSTANT(cos4, -1.38888888888730564116e-3)
CONSTANT(cos5, 4.16666666666665929218e-2)
DATA ones<>+0(SB)/4, $1
DATA ones<>+4(SB)/4, $1
DATA ones<>+8(SB)/4, $1
DATA ones<>+12(SB)/4, $1
GLOBL ones<>(SB), RODATA|NOPTR, $16

// REDUCE loads x to Y0, and leaves out numbers from 2²⁹ on. Y1 is |x|, Y2 the even octant j, and Y3 the rest of |x|.
#define REDUCE \
	VMOVUPD (SI), Y0 \
	VANDPD value<>(SB), Y0, Y1 \
	VCMPPD $5, reduceThreshold<>(SB), Y1, Y2 /* not below, or NaN */ \
	VMOVMSKPD Y2, BX \
	TESTL BX, BX \
	JNE end \
	VMULPD fourOverPi<>(SB), Y1, Y2 \
	VCVTTPD2DQY Y2, X2 \
	VPAND ones<>(SB), X2, X3 \
	VPADDD X3, X2, X2 \
	VCVTDQ2PD X2, Y4 \
	VPMOVSXDQ X2, Y2 \
	VMULPD pi4A<>(SB), Y4, Y5 \
	VSUBPD Y5, Y1, Y3 \
	VMULPD pi4B<>(SB), Y4, Y5 \
	VSUBPD Y5, Y3, Y3 \
	VMULPD pi4C<>(SB), Y4, Y5 \
	VSUBPD Y5, Y3, Y3

// SERIES sets Y5 to the sine of Y3, and Y6 to its cosine.
#define SERIES \
	VMULPD Y3, Y3, Y4 \
	VMULPD sin0<>(SB), Y4, Y5 \
	VADDPD sin1<>(SB), Y5, Y5 \
	VMULPD Y4, Y5, Y5 \
	VADDPD sin2<>(SB), Y5, Y5 \
	VMULPD Y4, Y5, Y5 \
	VADDPD sin3<>(SB), Y5, Y5 \
	VMULPD Y4, Y5, Y5 \
	VADDPD sin4<>(SB), Y5, Y5 \
	VMULPD Y4, Y5, Y5 \
	VADDPD sin5<>(SB), Y5, Y5 \
	VMULPD Y4, Y3, Y6 \
	VMULPD Y5, Y6, Y5 \
	VADDPD Y5, Y3, Y5 \
	VMULPD cos0<>(SB), Y4, Y6 \
	VADDPD cos1<>(SB), Y6, Y6 \
	VMULPD Y4, Y6, Y6 \
	VADDPD cos2<>(SB), Y6, Y6 \
	VMULPD Y4, Y6, Y6 \
	VADDPD cos3<>(SB), Y6, Y6 \
	VMULPD Y4, Y6, Y6 \
	VADDPD cos4<>(SB), Y6, Y6 \
	VMULPD Y4, Y6, Y6 \
	VADDPD cos5<>(SB), Y6, Y6 \
	VMULPD Y4, Y4, Y7 \
	VMULPD Y6, Y7, Y6 \
	VMULPD half<>(SB), Y4, Y7 \
	VSUBPD Y7, Y15, Y7 \
	VADDPD Y6, Y7, Y6

// func sinBlocks(dst, src *float64, blocks int) int
TEXT ·sinBlocks(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ blocks+16(FP), CX
	XORQ AX, AX
	VMOVUPD one<>(SB), Y15
	VMOVUPD signs<>(SB), Y14
	VXORPD Y13, Y13, Y13
loop:
	CMPQ AX, CX
	JGE end
	REDUCE
	SERIES
	VPSLLQ $62, Y2, Y7        // the sign of Y7: the octant is 2 or 6
	VBLENDVPD Y7, Y6, Y5, Y5
	VPSLLQ $61, Y2, Y7        // it is 4 or 6
	VXORPD Y0, Y7, Y7
	VANDPD Y14, Y7, Y7
	VXORPD Y7, Y5, Y5
	VCMPPD $0, Y13, Y0, Y7    // the sine of a zero is that zero
	VBLENDVPD Y7, Y0, Y5, Y5
	VMOVUPD Y5, (DI)
	ADDQ $32, SI
	ADDQ $32, DI
	INCQ AX
	JMP loop
end:
	VZEROUPPER
	MOVQ AX, ret+24(FP)
	RET

// func cosBlocks(dst, src *float64, blocks int) int
TEXT ·cosBlocks(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ blocks+16(FP), CX
	XORQ AX, AX
	VMOVUPD one<>(SB), Y15
	VMOVUPD signs<>(SB), Y14
loop:
	CMPQ AX, CX
	JGE end
	REDUCE
	SERIES
	VPSLLQ $62, Y2, Y7        // the sign of Y7: the octant is 2 or 6
	VBLENDVPD Y7, Y5, Y6, Y5
	VPSLLQ $61, Y2, Y2        // it is 4 or 6
	VXORPD Y2, Y7, Y7
	VANDPD Y14, Y7, Y7
	VXORPD Y7, Y5, Y5
	VMOVUPD Y5, (DI)
	ADDQ $32, SI
	ADDQ $32, DI
	INCQ AX
	JMP loop
end:
	VZEROUPPER
	MOVQ AX, ret+24(FP)
	RET

CONSTANT(tanhOne, 44.0) // the result is 1 from there on
CONSTANT(tanhSmall, 0.625)
CONSTANT(p0, -9.64399179425052238628e-1)
CONSTANT(p1, -9.92877231001918586564e1)
CONSTANT(p2, -1.61468768441708447952e3)
CONSTANT(q0, 1.12811678491632931402e2)
CONSTANT(q1, 2.23548839060100448583e3)
CONSTANT(q2, 4.84406305325125486048e3)

// func tanhBlocks(dst, src *float64, blocks int) int
TEXT ·tanhBlocks(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ blocks+16(FP), CX
	XORQ AX, AX
	VMOVUPD log2e<>(SB), Y15
	VMOVUPD ln2u<>(SB), Y14
	VMOVUPD ln2l<>(SB), Y13
	VMOVUPD sixteenth<>(SB), Y12
	VMOVUPD two<>(SB), Y11
	VMOVUPD one<>(SB), Y10
	VXORPD Y9, Y9, Y9
loop:
	CMPQ AX, CX
	JGE end
	VMOVUPD (SI), Y0
	VCMPPD $3, Y0, Y0, Y1 // NaN
	VMOVMSKPD Y1, BX
	TESTL BX, BX
	JNE end
	VANDPD value<>(SB), Y0, Y8
	VMINPD tanhOne<>(SB), Y8, Y2
	VADDPD Y2, Y2, Y2
	VMULPD Y15, Y2, Y1    // the exponential, as in expBlocks
	VCVTPD2DQY Y1, X3
	VCVTDQ2PD X3, Y1
	VFNMADD231PD Y14, Y1, Y2
	VFNMADD231PD Y13, Y1, Y2
	VMULPD Y12, Y2, Y2
	VMOVUPD e8<>(SB), Y1
	VFMADD213PD e7<>(SB), Y2, Y1
	VFMADD213PD e6<>(SB), Y2, Y1
	VFMADD213PD e5<>(SB), Y2, Y1
	VFMADD213PD e4<>(SB), Y2, Y1
	VFMADD213PD e3<>(SB), Y2, Y1
	VFMADD213PD half<>(SB), Y2, Y1
	VFMADD213PD Y10, Y2, Y1
	VMULPD Y1, Y2, Y2
	VADDPD Y11, Y2, Y1
	VMULPD Y1, Y2, Y2
	VADDPD Y11, Y2, Y1
	VMULPD Y1, Y2, Y2
	VADDPD Y11, Y2, Y1
	VMULPD Y1, Y2, Y2
	VADDPD Y11, Y2, Y1
	VFMADD213PD Y10, Y1, Y2
	VPMOVSXDQ X3, Y3
	VPADDQ bias<>(SB), Y3, Y3
	VPSLLQ $52, Y3, Y3
	VMULPD Y3, Y2, Y2
	VADDPD Y10, Y2, Y2
	VDIVPD Y2, Y11, Y2
	VSUBPD Y2, Y10, Y2    // 1 - 2/(s+1)
	VANDPD signs<>(SB), Y0, Y1
	VORPD Y1, Y2, Y2
	VMULPD Y0, Y0, Y3     // s
	VMULPD p0<>(SB), Y3, Y4
	VADDPD p1<>(SB), Y4, Y4
	VMULPD Y3, Y4, Y4
	VADDPD p2<>(SB), Y4, Y4
	VMULPD Y3, Y0, Y5
	VMULPD Y4, Y5, Y4
	VADDPD q0<>(SB), Y3, Y5
	VMULPD Y3, Y5, Y5
	VADDPD q1<>(SB), Y5, Y5
	VMULPD Y3, Y5, Y5
	VADDPD q2<>(SB), Y5, Y5
	VDIVPD Y5, Y4, Y4
	VADDPD Y4, Y0, Y4
	VCMPPD $1, tanhSmall<>(SB), Y8, Y5
	VBLENDVPD Y5, Y4, Y2, Y2
	VCMPPD $0, Y9, Y0, Y5 // that of a zero is that zero
	VBLENDVPD Y5, Y0, Y2, Y2
	VMOVUPD Y2, (DI)
	ADDQ $32, SI
	ADDQ $32, DI
	INCQ AX
	JMP loop
end:
	VZEROUPPER
	MOVQ AX, ret+24(FP)
	RET

CONSTANT(expm1Huge, 0x4043687a9f1af2b1)
CONSTANT(ln2HalfX3, 0x3ff0a2b23f3bab73)
CONSTANT(ln2Half, 0x3fd62e42fefa39ef)
CONSTANT(invLn2, 0x3ff71547652b82fe)
CONSTANT(tiny, 0x3c90000000000000)
CONSTANT(bit53, 0x0020000000000000)
CONSTANT(m1, 0xbfa11111111110f4)
CONSTANT(m2, 0x3f5a01a019fe5585)
CONSTANT(m3, 0xbf14ce199eaadbb7)
CONSTANT(m4, 0x3ed0cfca86e65239)
CONSTANT(m5, 0xbe8afdb76e09c32d)
CONSTANT(three, 3.0)
CONSTANT(six, 6.0)
CONSTANT(twenty, 20.0)
CONSTANT(minusTwo, -2.0)
CONSTANT(minusQuarter, -0.25)

// func expm1Blocks(dst, src *float64, blocks int) int
TEXT ·expm1Blocks(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ blocks+16(FP), CX
	XORQ AX, AX
	VMOVUPD one<>(SB), Y15
	VMOVUPD half<>(SB), Y14
loop:
	CMPQ AX, CX
	JGE end
	VMOVUPD (SI), Y0                       // x
	VANDPD value<>(SB), Y0, Y1             // |x|
	VCMPPD $1, expm1Huge<>(SB), Y1, Y2     // below 56·ln 2
	VMOVMSKPD Y2, BX
	CMPL BX, $15
	JNE end
	VANDPD signs<>(SB), Y0, Y2
	VORPD Y15, Y2, Y3                      // ±1
	VORPD Y14, Y2, Y4                      // ±0.5
	VMULPD invLn2<>(SB), Y0, Y5
	VADDPD Y4, Y5, Y5
	VROUNDPD $3, Y5, Y5
	VCMPPD $1, ln2HalfX3<>(SB), Y1, Y4
	VBLENDVPD Y4, Y3, Y5, Y5
	VCMPPD $14, ln2Half<>(SB), Y1, Y4
	VANDPD Y4, Y5, Y5                      // k
	VMULPD ln2Hi<>(SB), Y5, Y6
	VSUBPD Y6, Y0, Y6                      // hi
	VMULPD ln2Lo<>(SB), Y5, Y7             // lo
	VSUBPD Y7, Y6, Y8                      // the reduced x
	VSUBPD Y8, Y6, Y6
	VSUBPD Y7, Y6, Y6                      // c
	VMULPD Y14, Y8, Y7                     // hfx
	VMULPD Y7, Y8, Y9                      // hxs
	VMULPD m5<>(SB), Y9, Y10
	VADDPD m4<>(SB), Y10, Y10
	VMULPD Y10, Y9, Y10
	VADDPD m3<>(SB), Y10, Y10
	VMULPD Y10, Y9, Y10
	VADDPD m2<>(SB), Y10, Y10
	VMULPD Y10, Y9, Y10
	VADDPD m1<>(SB), Y10, Y10
	VMULPD Y10, Y9, Y10
	VADDPD Y15, Y10, Y10                   // r1
	VMULPD Y7, Y10, Y7
	VMOVUPD three<>(SB), Y11
	VSUBPD Y7, Y11, Y7                     // t
	VSUBPD Y7, Y10, Y10
	VMULPD Y7, Y8, Y7
	VMOVUPD six<>(SB), Y11
	VSUBPD Y7, Y11, Y7
	VDIVPD Y7, Y10, Y10
	VMULPD Y10, Y9, Y10                    // e
	VMULPD Y10, Y8, Y7
	VSUBPD Y9, Y7, Y7
	VSUBPD Y7, Y8, Y7                      // the result for k = 0
	VSUBPD Y6, Y10, Y10
	VMULPD Y10, Y8, Y10
	VSUBPD Y6, Y10, Y10
	VSUBPD Y9, Y10, Y10                    // e for other k
	VCVTPD2DQY Y5, X6
	VPMOVSXDQ X6, Y6
	VMOVDQU bit53<>(SB), Y9
	VPSRLVQ Y6, Y9, Y9
	VPSUBQ Y9, Y15, Y9                     // 1 - 2⁻ᵏ
	VMOVDQU bias<>(SB), Y11
	VPSUBQ Y6, Y11, Y11
	VPSLLQ $52, Y11, Y11                   // 2⁻ᵏ
	VPSLLQ $52, Y6, Y6
	VCMPPD $2, minusTwo<>(SB), Y5, Y12     // mask: k ≤ -2
	VBLENDVPD Y12, Y15, Y9, Y9
	VSUBPD Y8, Y10, Y13
	VSUBPD Y13, Y9, Y9
	VADDPD Y11, Y10, Y11
	VSUBPD Y11, Y8, Y11
	VADDPD Y15, Y11, Y11
	VCMPPD $1, twenty<>(SB), Y5, Y3        // mask: k < 20
	VBLENDVPD Y3, Y9, Y11, Y9
	VPADDQ Y6, Y9, Y9
	VANDPD Y15, Y12, Y12
	VSUBPD Y12, Y9, Y9                     // the result for k < -1 or k > 1
	VSUBPD Y10, Y8, Y13                    // x - e
	VMULPD Y14, Y13, Y11
	VSUBPD Y14, Y11, Y11
	VCMPPD $0, minusOne<>(SB), Y5, Y3
	VBLENDVPD Y3, Y11, Y9, Y9              // k = -1
	VMULPD two<>(SB), Y13, Y11
	VADDPD Y15, Y11, Y11
	VADDPD Y14, Y8, Y12
	VSUBPD Y12, Y10, Y12
	VMULPD minusTwo<>(SB), Y12, Y12
	VCMPPD $1, minusQuarter<>(SB), Y8, Y3
	VBLENDVPD Y3, Y12, Y11, Y11
	VCMPPD $0, Y15, Y5, Y3
	VBLENDVPD Y3, Y11, Y9, Y9              // k = 1
	VXORPD Y3, Y3, Y3
	VCMPPD $0, Y3, Y5, Y3
	VBLENDVPD Y3, Y7, Y9, Y9               // k = 0
	VCMPPD $1, tiny<>(SB), Y1, Y3
	VBLENDVPD Y3, Y0, Y9, Y9               // x itself
	VMOVUPD Y9, (DI)
	ADDQ $32, SI
	ADDQ $32, DI
	INCQ AX
	JMP loop
end:
	VZEROUPPER
	MOVQ AX, ret+24(FP)
	RET

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
