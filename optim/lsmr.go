package optim

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// An Operator is a matrix that is known by its products with vectors, such as a *nabla.LinearOp, a *nabla.HessianOp, a
// *sparse.CSC or a *mat.BandDense. MulVecTo stores A·x, or Aᵀ·x if trans is set, in dst.
type Operator interface {
	Dims() (r, c int)
	MulVecTo(dst *mat.VecDense, trans bool, x mat.Vector)
}

// LSMRSettings are the settings of [LSMR]. The zero value has the defaults; negative tolerances turn their tests off.
type LSMRSettings struct {
	// Damp is the weight λ of ‖x‖, 0 by default.
	Damp float64
	// ATol and BTol are relative errors of A and b: 1e-10 by default.
	ATol, BTol float64
	// ConditionLimit ends the iteration if the estimate of the condition number of A exceeds it: 1e12 by default.
	ConditionLimit float64
	// MaxIterations is 4 times the sum of the dimensions by default.
	MaxIterations int
}

// An LSMRStatus tells why [LSMR] ended.
type LSMRStatus int

const (
	// LSMRLimit means that MaxIterations were made.
	LSMRLimit LSMRStatus = iota
	// LSMRZero means that x = 0 is the solution.
	LSMRZero
	// LSMRSolved means that A·x = b within ATol and BTol.
	LSMRSolved
	// LSMRLeastSquares means that x minimises the norm of the residual within ATol.
	LSMRLeastSquares
	// LSMRCondition means that the condition number of A seems to exceed ConditionLimit.
	LSMRCondition
)

func (s LSMRStatus) String() string {
	names := []string{"limit of iterations reached", "the solution is zero", "solved", "least-squares solution",
		"condition limit exceeded"}
	if s < 0 || int(s) >= len(names) {
		return fmt.Sprintf("LSMRStatus(%d)", int(s))
	}
	return names[s]
}

// An LSMRResult is a result of [LSMR]. The norms are estimates, up to rounding errors, that cost no product.
type LSMRResult struct {
	X            []float64
	Status       LSMRStatus
	Iterations   int     // each takes a product with A and one with Aᵀ
	Residual     float64 // of the damped problem: √(‖b-A·x‖² + λ²‖x‖²)
	GradientNorm float64 // ‖Aᵀ(b-A·x) - λ²x‖
	Norm         float64 // of A, with the damping
	Condition    float64 // of A, with the damping
}

// LSMR minimises ‖A·x - b‖² + λ²‖x‖² by the iteration of Fong and Saunders (2011), which is equivalent to MINRES on the
// normal equations: ‖Aᵀr‖ decreases in each step, so that it can be ended early. b has one element for each row of A.
// Settings may be nil. A may have any shape and rank; the solution has the least norm.
//
// If MaxIterations are made, the error is a *[ConvergenceError] beside the result. A panics where its MulVecTo does.
func LSMR(a Operator, b []float64, s *LSMRSettings) (*LSMRResult, error) {
	const op = "LSMR"
	var set LSMRSettings
	if s != nil {
		set = *s
	}
	m, n := a.Dims()
	switch {
	case m == 0 || n == 0:
		return nil, &SettingError{op, "A", fmt.Sprintf("%d×%d", m, n), "a matrix with elements"}
	case len(b) != m:
		return nil, &SettingError{op, "len(b)", fmt.Sprint(len(b)), fmt.Sprintf("%d, the number of rows of A", m)}
	case !(set.Damp >= 0) || math.IsInf(set.Damp, 0):
		return nil, &SettingError{op, "Damp", fmt.Sprint(set.Damp), "a number that is not negative"}
	case set.MaxIterations < 0:
		return nil, &SettingError{op, "MaxIterations", fmt.Sprint(set.MaxIterations), "a positive number, or 0"}
	}
	if i := nonFinite(b); i >= 0 {
		return nil, &NonFiniteError{Op: op, What: "right-hand side", Index: i, Value: b[i]}
	}
	lim := lsmrLimits{damp: set.Damp, reduction: -1, iterations: set.MaxIterations}
	if lim.iterations == 0 {
		lim.iterations = 4 * (m + n)
	}
	var err error
	for _, t := range []struct {
		to        *float64
		name      string
		v, normal float64
	}{{&lim.atol, "ATol", set.ATol, 1e-10}, {&lim.btol, "BTol", set.BTol, 1e-10},
		{&lim.condition, "ConditionLimit", set.ConditionLimit, 1e12}} {
		if *t.to, err = tolerance(op, t.name, t.v, t.normal); err != nil {
			return nil, err
		}
	}
	l := newLSMR(m, n)
	u, v := mat.NewVecDense(m, l.u), mat.NewVecDense(n, l.v)
	un, vn := mat.NewVecDense(m, l.au), mat.NewVecDense(n, l.av)
	l.product = func(_, _ []float64, trans bool) {
		if trans {
			a.MulVecTo(vn, true, u)
		} else {
			a.MulVecTo(un, false, v)
		}
	}
	res := &LSMRResult{X: make([]float64, n)}
	*res = l.run(res.X, b, lim)
	if i := nonFinite(res.X); i >= 0 {
		return res, &NonFiniteError{Op: op, What: "element of the solution", Index: i, Value: res.X[i]}
	}
	if res.Status == LSMRLimit {
		return res, &ConvergenceError{op, res.Iterations, res.Residual * res.Residual / 2}
	}
	return res, nil
}

// lsmrLimits says when an iteration ends.
type lsmrLimits struct {
	damp, atol, btol float64
	condition        float64
	reduction        float64 // of ‖Aᵀr‖ relative to its initial value, which is sufficient
	iterations       int
}

// An lsmr has the vectors of the iteration.
type lsmr struct {
	product func(dst, v []float64, trans bool) // au = A·v, or av = Aᵀ·u
	u, au   []float64
	v, av   []float64
	h, hbar []float64
}

func newLSMR(m, n int) *lsmr {
	room := make([]float64, 2*m+4*n)
	next := func(k int) (part []float64) { part, room = room[:k:k], room[k:]; return part }
	return &lsmr{u: next(m), au: next(m), v: next(n), av: next(n), h: next(n), hbar: next(n)}
}

// bidiagonalise is a step of Golub and Kahan: next = A·other - coefficient·vec, normalised into vec, and returns the
// norm.
func bidiagonalise(vec, next []float64, coefficient float64) float64 {
	floats.AddScaled(next, -coefficient, vec)
	norm := floats.Norm(next, 2)
	if norm > 0 {
		floats.ScaleTo(vec, 1/norm, next)
	} else {
		clear(vec)
	}
	return norm
}

// run iterates from x = 0.
func (l *lsmr) run(x, b []float64, lim lsmrLimits) LSMRResult {
	clear(x)
	clear(l.u)
	clear(l.v)
	res := LSMRResult{X: x}
	copy(l.au, b)
	beta := bidiagonalise(l.u, l.au, 0)
	bnorm := beta
	alpha := 0.0
	if beta > 0 {
		l.product(l.av, l.u, true)
		alpha = bidiagonalise(l.v, l.av, 0)
	}
	res.Residual, res.GradientNorm, res.Norm, res.Condition = beta, alpha*beta, alpha, 1
	if alpha*beta == 0 {
		res.Status = LSMRZero
		return res
	}
	initial := alpha * beta
	copy(l.h, l.v)
	clear(l.hbar)
	// The two rotations of the QR factorisations of the bidiagonal matrix and of its triangle.
	alphaBar, zetaBar, rho, rhoBar, cBar, sBar := alpha, alpha*beta, 1.0, 1.0, 1.0, 0.0
	// The estimate of the norm of the residual.
	betaDD, betaD, rhoD, tauOld, theta, zeta, d := beta, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0
	norm2, largest, smallest := alpha*alpha, 0.0, math.Inf(1)
	for res.Iterations < lim.iterations {
		res.Iterations++
		l.product(l.au, l.v, false)
		beta = bidiagonalise(l.u, l.au, alpha)
		norm2 += beta*beta + lim.damp*lim.damp
		alphaHat := math.Hypot(alphaBar, lim.damp)
		cHat, sHat := alphaBar/alphaHat, lim.damp/alphaHat
		if alpha = 0; beta > 0 {
			l.product(l.av, l.u, true)
			alpha = bidiagonalise(l.v, l.av, beta)
		}
		rhoOld := rho
		rho = math.Hypot(alphaHat, beta)
		c, s := alphaHat/rho, beta/rho
		thetaNew := s * alpha
		alphaBar = c * alpha
		rhoBarOld, zetaOld := rhoBar, zeta
		thetaBar := sBar * rho
		rhoTemp := cBar * rho
		rhoBar = math.Hypot(rhoTemp, thetaNew)
		cBar, sBar = rhoTemp/rhoBar, thetaNew/rhoBar
		zeta, zetaBar = cBar*zetaBar, -sBar*zetaBar

		floats.Scale(-thetaBar*rho/(rhoOld*rhoBarOld), l.hbar)
		floats.Add(l.hbar, l.h)
		floats.AddScaled(x, zeta/(rho*rhoBar), l.hbar)
		floats.Scale(-thetaNew/rho, l.h)
		floats.Add(l.h, l.v)

		betaAcute, betaCheck := cHat*betaDD, -sHat*betaDD
		betaHat := c * betaAcute
		betaDD = -s * betaAcute
		thetaOld := theta
		rhoTilde := math.Hypot(rhoD, thetaBar)
		cTilde, sTilde := rhoD/rhoTilde, thetaBar/rhoTilde
		theta, rhoD = sTilde*rhoBar, cTilde*rhoBar
		betaD = -sTilde*betaD + cTilde*betaHat
		tauOld = (zetaOld - thetaOld*tauOld) / rhoTilde
		tau := (zeta - theta*tauOld) / rhoD
		d += betaCheck * betaCheck
		res.Residual = math.Sqrt(d + (betaD-tau)*(betaD-tau) + betaDD*betaDD)

		res.Norm = math.Sqrt(norm2)
		norm2 += alpha * alpha
		largest = max(largest, rhoBarOld)
		if res.Iterations > 1 {
			smallest = min(smallest, rhoBarOld)
		}
		res.Condition = max(largest, rhoTemp) / min(smallest, rhoTemp)
		res.GradientNorm = math.Abs(zetaBar)
		xnorm := floats.Norm(x, 2)
		switch {
		case res.Residual <= lim.btol*bnorm+lim.atol*res.Norm*xnorm:
			res.Status = LSMRSolved
		case res.GradientNorm <= lim.atol*res.Norm*res.Residual || res.GradientNorm <= lim.reduction*initial ||
			alpha == 0:
			res.Status = LSMRLeastSquares
		case lim.condition > 0 && res.Condition >= lim.condition:
			res.Status = LSMRCondition
		default:
			continue
		}
		break
	}
	return res
}
