// Package coded has losses over blocks of rows with generated code, for tests.
package coded

import (
	"math"

	"github.com/nabla-ad/nabla/backend/source"
	"github.com/nabla-ad/nabla/sums"
)

// A Batch has rows of three features and a target each.
type Batch struct{ X, Y []float64 }

// logistic is the negative log-likelihood of the targets 0 and 1; it panics at 17.
func logistic(x []float64, b *Batch) float64 {
	s := 0.0
	for i, y := range b.Y {
		z := 0.0
		for j, w := range x {
			z += w * b.X[3*i+j]
		}
		if y == 17 {
			panic("seventeen")
		}
		if z > 0 {
			s += math.Log1p(math.Exp(-z)) + (1-y)*z
		} else {
			s += math.Log1p(math.Exp(z)) - y*z
		}
	}
	return s
}

// deviations are the residuals of the targets.
func deviations(x []float64, b *Batch) []float64 {
	r := make([]float64, len(b.Y))
	for i, y := range b.Y {
		r[i] = math.Sin(x[0]*b.X[3*i]+x[1]*b.X[3*i+1]) + x[2]*b.X[3*i+2] - y
	}
	return r
}

func options(bad sums.Policy) sums.Options[Batch] {
	return sums.Options[Batch]{Rows: func(b *Batch) int { return len(b.Y) }, Bad: bad,
		Row: func(dst, b *Batch, i int) { dst.X, dst.Y = b.X[3*i:3*i+3], b.Y[i:i+1] }}
}

// Terms are the terms by name.
var Terms = map[string]*sums.Term[Batch]{
	"logistic":       sums.Loss(logistic, source.Reverse{}, options(sums.Fail)),
	"logistic, good": sums.Loss(logistic, source.Reverse{}, options(sums.LeaveOut)),
	"deviations":     sums.Residuals(deviations, source.Reverse{}, options(sums.Fail)),
}
