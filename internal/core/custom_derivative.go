package core

// Applied is the derivative of a Custom as a Custom: the tangent (x, xdot) ↦ J(x)·xdot or, with Reverse, the cotangent
// (x, ybar) ↦ J(x)ᵀ·ybar, for N inputs of Of. It has a value and no derivatives: differentiating it panics with an
// Abort that holds Refuse.
type Applied struct {
	Of      Custom
	N       int
	Reverse bool
	Refuse  error
	NoValue bool // the derivatives of Of do not read its value, which is not computed
}

// Name returns the name of the rule with its direction.
func (a *Applied) Name() string {
	if a.Reverse {
		return a.Of.Name() + "_vjp"
	}
	return a.Of.Name() + "_jvp"
}

// Outputs implements Custom.
func (a *Applied) Outputs(int) int {
	if a.Reverse {
		return a.N
	}
	return a.Of.Outputs(a.N)
}

// Value implements Custom.
func (a *Applied) Value(y, xv []float64) {
	x, v := xv[:a.N], xv[a.N:]
	var value []float64
	if !a.NoValue {
		value = make([]float64, a.Of.Outputs(a.N))
		a.Of.Value(value, x)
	}
	if a.Reverse {
		clear(y)
		a.Of.VJP(y, x, value, v)
		return
	}
	a.Of.JVP(y, x, value, v)
}

// JVP implements Custom.
func (a *Applied) JVP(_, _, _, _ []float64) { panic(Abort{a.Refuse}) }

// VJP implements Custom.
func (a *Applied) VJP(_, _, _, _ []float64) { panic(Abort{a.Refuse}) }

// Tangent implements Custom.
func (a *Applied) Tangent(int) Custom { panic(Abort{a.Refuse}) }

// Cotangent implements Custom.
func (a *Applied) Cotangent(int) Custom { panic(Abort{a.Refuse}) }
