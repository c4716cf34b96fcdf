package optim

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// lmder runs the Levenberg–Marquardt method of Moré (1978) with the constants of MINPACK's lmder: in each iteration the
// Jacobian is factorised, and a step within the trust region ‖D·p‖ ≤ delta is computed with the parameter that secular
// finds, until one is accepted. D has the largest norms that the columns had so far.
func (l *leastSquares) lmder(d *dense) (Status, error) {
	n := l.n
	diag, growing := l.scale, l.scale == nil
	if growing {
		diag = make([]float64, n)
	}
	norms, qtf, p, scaled, rp := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n),
		make([]float64, n)
	f := newSecular(n, diag)
	var delta, par, xnorm float64
	for first := true; ; first = false {
		if err := l.jacobian(); err != nil {
			return Stopped, err
		}
		d.norms(norms)
		d.factorise(f, qtf, l.r)
		if first {
			if growing {
				copy(diag, norms)
				for j, v := range diag {
					if v == 0 {
						diag[j] = 1
					}
				}
			}
			xnorm = norm2(scaled, diag, l.x)
			if delta = l.factor * xnorm; delta == 0 {
				delta = l.factor
			}
		}
		gnorm := 0.0
		if l.norm != 0 {
			for j, at := range f.pivot {
				if norms[at] == 0 {
					continue
				}
				sum := 0.0
				for i := range j + 1 {
					sum += f.r[i*n+j] * (qtf[i] / l.norm)
				}
				gnorm = max(gnorm, math.Abs(sum/norms[at]))
			}
		}
		if err := l.report(Iteration{Number: l.iterations, X: l.x, Cost: l.norm * l.norm / 2, Gradient: gnorm,
			Damping: par}); err != nil {
			return Stopped, err
		}
		if gnorm <= l.gtol || l.norm == 0 {
			return GradientConverged, nil
		}
		if growing {
			for j, v := range norms {
				diag[j] = max(diag[j], v)
			}
		}
		for ratio := 0.0; ratio < 1e-4; {
			par = f.solve(p, qtf, delta, par)
			floats.Scale(-1, p)
			floats.AddTo(l.trial, l.x, p)
			pnorm := norm2(scaled, diag, p)
			if l.iterations == 0 {
				delta = min(delta, pnorm)
			}
			norm1, err := l.try()
			if err != nil {
				return Stopped, err
			}
			actual := -1.0
			if 0.1*norm1 < l.norm { // false for NaN
				actual = 1 - (norm1/l.norm)*(norm1/l.norm)
			}
			f.applyR(rp, p)
			t1, t2 := floats.Norm(rp, 2)/l.norm, math.Sqrt(par)*pnorm/l.norm
			predicted := t1*t1 + t2*t2/0.5
			slope := -(t1*t1 + t2*t2)
			if ratio = 0; predicted != 0 {
				ratio = actual / predicted
			}
			if ratio <= 0.25 {
				shrink := 0.5
				if actual < 0 {
					shrink = 0.5 * slope / (slope + 0.5*actual)
				}
				if !(0.1*norm1 < l.norm) || shrink < 0.1 {
					shrink = 0.1
				}
				delta = shrink * min(delta, pnorm/0.1)
				par /= shrink
			} else if par == 0 || ratio >= 0.75 {
				delta = pnorm / 0.5
				par *= 0.5
			}
			if ratio >= 1e-4 {
				l.accept(norm1)
				xnorm = norm2(scaled, diag, l.x)
			}
			step := math.Inf(1)
			if xnorm > 0 {
				step = delta / xnorm
			} else if delta == 0 {
				step = 0
			}
			switch s := l.reached(actual, predicted, ratio, step, gnorm); s {
			case Stopped:
			case EvaluationLimit:
				return s, nil
			default:
				return l.end(s, gnorm, ratio >= 1e-4)
			}
		}
	}
}

// norm2 returns the norm of the element-wise product of d and v, which it stores in dst.
func norm2(dst, d, v []float64) float64 {
	floats.MulTo(dst, d, v)
	return floats.Norm(dst, 2)
}
