package mathextad

import "gonum.org/v1/gonum/mathext"

// Derivatives with respect to all parameters of the functions with shapes: those named F, without Shape, are for calls
// whose shapes carry no derivative. The derivatives of inverses follow from those of the function at the result.

// GammaIncRegShapeTangent is the tangent of GammaIncReg with respect to a and x.
func GammaIncRegShapeTangent(a, x, aDot, xDot float64) (v, vDot float64) {
	v = mathext.GammaIncReg(a, x)
	return v, GammaShape(1, a, x, aDot) + GammaSlope(0, a, x, xDot)
}

// GammaIncRegShapePullback is the pullback of GammaIncReg with respect to a and x.
func GammaIncRegShapePullback(a, x, vBar float64) (aBar, xBar float64) {
	return GammaShape(1, a, x, vBar), GammaSlope(0, a, x, vBar)
}

// GammaIncRegCompShapeTangent is the tangent of GammaIncRegComp with respect to a and x.
func GammaIncRegCompShapeTangent(a, x, aDot, xDot float64) (v, vDot float64) {
	v = mathext.GammaIncRegComp(a, x)
	return v, -GammaShape(1, a, x, aDot) - GammaSlope(0, a, x, xDot)
}

// GammaIncRegCompShapePullback is the pullback of GammaIncRegComp with respect to a and x.
func GammaIncRegCompShapePullback(a, x, vBar float64) (aBar, xBar float64) {
	return GammaShape(1, a, x, -vBar), GammaSlope(0, a, x, -vBar)
}

// GammaIncRegInvShapeTangent is the tangent of GammaIncRegInv with respect to a and y.
func GammaIncRegInvShapeTangent(a, y, aDot, yDot float64) (v, vDot float64) {
	v = mathext.GammaIncRegInv(a, y)
	return v, GammaInvShape(1, a, v, aDot) + GammaInvSlope(a, v, yDot)
}

// GammaIncRegInvShapePullback is the pullback of GammaIncRegInv with respect to a and y.
func GammaIncRegInvShapePullback(a, y, vBar float64) (aBar, yBar float64) {
	v := mathext.GammaIncRegInv(a, y)
	return GammaInvShape(1, a, v, vBar), GammaInvSlope(a, v, vBar)
}

// GammaIncRegCompInvShapeTangent is the tangent of GammaIncRegCompInv with respect to a and y.
func GammaIncRegCompInvShapeTangent(a, y, aDot, yDot float64) (v, vDot float64) {
	v = mathext.GammaIncRegCompInv(a, y)
	return v, GammaInvShape(1, a, v, aDot) - GammaInvSlope(a, v, yDot)
}

// GammaIncRegCompInvShapePullback is the pullback of GammaIncRegCompInv with respect to a and y.
func GammaIncRegCompInvShapePullback(a, y, vBar float64) (aBar, yBar float64) {
	v := mathext.GammaIncRegCompInv(a, y)
	return GammaInvShape(1, a, v, vBar), GammaInvSlope(a, v, -vBar)
}

// RegIncBetaShapeTangent is the tangent of RegIncBeta with respect to a, b and x.
func RegIncBetaShapeTangent(a, b, x, aDot, bDot, xDot float64) (v, vDot float64) {
	v = mathext.RegIncBeta(a, b, x)
	return v, BetaShape(1, 0, a, b, x, aDot) + BetaShape(0, 1, a, b, x, bDot) + BetaSlope(0, 0, a, b, x, xDot)
}

// RegIncBetaShapePullback is the pullback of RegIncBeta with respect to a, b and x.
func RegIncBetaShapePullback(a, b, x, vBar float64) (aBar, bBar, xBar float64) {
	return BetaShape(1, 0, a, b, x, vBar), BetaShape(0, 1, a, b, x, vBar), BetaSlope(0, 0, a, b, x, vBar)
}

// InvRegIncBetaShapeTangent is the tangent of InvRegIncBeta with respect to a, b and y.
func InvRegIncBetaShapeTangent(a, b, y, aDot, bDot, yDot float64) (v, vDot float64) {
	v = mathext.InvRegIncBeta(a, b, y)
	return v, BetaInvShape(1, 0, a, b, v, aDot) + BetaInvShape(0, 1, a, b, v, bDot) + BetaInvSlope(a, b, v, yDot)
}

// InvRegIncBetaShapePullback is the pullback of InvRegIncBeta with respect to a, b and y.
func InvRegIncBetaShapePullback(a, b, y, vBar float64) (aBar, bBar, yBar float64) {
	v := mathext.InvRegIncBeta(a, b, y)
	return BetaInvShape(1, 0, a, b, v, vBar), BetaInvShape(0, 1, a, b, v, vBar), BetaInvSlope(a, b, v, vBar)
}
