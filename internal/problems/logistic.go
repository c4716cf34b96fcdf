package problems

import (
	"math"

	"github.com/nabla-ad/nabla"
)

// A Regression is a table of observations with Cols features and a label, 0 or 1, each.
type Regression struct {
	X    []float64 // row after row
	Y    []float64
	Cols int
}

// LogisticLossPlain returns the negative log-likelihood of the labels: Σ log(1+exp(z)) - y·z with z = x·w.
//
//nabla:differentiate
func LogisticLossPlain(w []float64, r *Regression) float64 {
	s := 0.0
	for i, y := range r.Y {
		row := r.X[i*r.Cols : (i+1)*r.Cols]
		z := 0.0
		for j, v := range row {
			z += v * w[j]
		}
		s += softplus(z) - y*z
	}
	return s
}

// softplus returns log(1+exp(z)) without overflow.
func softplus(z float64) float64 {
	l := math.Log1p(math.Exp(-math.Abs(z)))
	if z > 0 {
		return z + l
	}
	return l
}

// A RegressionVec is a [Regression] for functions over Reals.
type RegressionVec struct {
	X, Y nabla.Vec
	Cols int
}

// LogisticLoss is [LogisticLossPlain] over Reals.
func LogisticLoss(w []nabla.Real, r *RegressionVec) nabla.Real {
	var s nabla.Real
	for i := range r.Y.Len() {
		z := r.X.Slice(i*r.Cols, (i+1)*r.Cols).Dot(w)
		s = s.Add(nabla.Softplus(z).Sub(r.Y.At(i).Mul(z)))
	}
	return s
}

// logisticGradient returns the gradient, written by hand: Xᵀ(σ(Xw) - y).
func logisticGradient(w []float64, r *Regression) []float64 {
	g := make([]float64, len(w))
	for i, y := range r.Y {
		z := 0.0
		for j := range w {
			z += r.X[i*r.Cols+j] * w[j]
		}
		d := 0.5*(1+math.Tanh(z/2)) - y
		for j := range w {
			g[j] += d * r.X[i*r.Cols+j]
		}
	}
	return g
}

// T7 returns a logistic regression with 1000 rows of 20 random features.
func T7() *Problem {
	const rows, cols = 1000, 20
	s := seed
	r := &Regression{X: s.draw(rows * cols), Y: s.draw(rows), Cols: cols}
	w := s.draw(cols)
	for i, y := range r.Y {
		r.Y[i] = 0
		if y > 0 {
			r.Y[i] = 1
		}
	}
	v := &RegressionVec{X: nabla.VecOf(r.X), Y: nabla.VecOf(r.Y), Cols: cols}
	return &Problem{
		Name: "T7", Title: "logistic regression",
		Formula: "f(w) = Σᵢ log(1 + exp zᵢ) − yᵢ zᵢ, z = X w",
		N:       cols, M: 1,
		Source:    "negative log-likelihood of 1000 random rows; gradient by hand",
		Plain:     func(w []float64) float64 { return LogisticLossPlain(w, r) },
		Traced:    func(w []nabla.Real) nabla.Real { return LogisticLoss(w, v) },
		Func:      nabla.Bind(LogisticLoss, v),
		Bound:     nabla.Bind(LogisticLossPlain, r),
		ByHand:    func() *ByHand { return logisticByHand(r) },
		Cases:     []Case{{X: w, Value: []float64{945.91031706647338}, Derivative: logisticGradient(w, r)}},
		Tolerance: 1e-12, Difference: 1e-4,
	}
}
