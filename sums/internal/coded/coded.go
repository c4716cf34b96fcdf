// Package coded has losses over blocks of rows with generated code, for tests and benchmarks.
package coded

import (
	"math"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/source"
	"github.com/nabla-ad/nabla/sums"
)

// A Batch has rows of len(X)/len(Y) features and a target each.
type Batch struct {
	X []float64 // by rows
	Y []float64
}

// Rows returns the number of rows of b.
func Rows(b *Batch) int { return len(b.Y) }

// Row makes dst row i of b.
func Row(dst, b *Batch, i int) {
	k := len(b.X) / len(b.Y)
	dst.X, dst.Y = b.X[i*k:(i+1)*k], b.Y[i:i+1]
}

// Options are those for batches.
func Options(bad sums.Policy) sums.Options[Batch] {
	return sums.Options[Batch]{Rows: Rows, Row: Row, Bad: bad}
}

// logistic is the negative log-likelihood of the targets 0 and 1 given the features.
func logistic(x []float64, b *Batch) float64 {
	k := len(x)
	s := 0.0
	for i, y := range b.Y {
		row := b.X[i*k : i*k+k]
		z := 0.0
		for j, w := range x {
			z += w * row[j]
		}
		if z > 0 {
			s += math.Log1p(math.Exp(-z)) + (1-y)*z
		} else {
			s += math.Log1p(math.Exp(z)) - y*z
		}
	}
	return s
}

// Logistic returns the term of a logistic regression.
func Logistic(bad sums.Policy) *sums.Term[Batch] {
	return sums.Loss(logistic, source.Reverse{}, Options(bad))
}

// mixture is the negative log-likelihood of points in two dimensions, the features of the rows, under a mixture of
// normal distributions with diagonal covariances: for each a weight, two means and two logarithms of deviations.
func mixture(x []float64, b *Batch) float64 {
	parts := len(x) / 5
	sum := 0.0
	for k := range parts {
		sum += math.Exp(x[5*k])
	}
	logSum := math.Log(sum)
	s := 0.0
	for i := range b.Y {
		p, q := b.X[2*i], b.X[2*i+1]
		like := 0.0
		for k := range parts {
			c := x[5*k : 5*k+5]
			u, v := (p-c[1])*math.Exp(-c[3]), (q-c[2])*math.Exp(-c[4])
			like += math.Exp(c[0] - logSum - c[3] - c[4] - 0.5*(u*u+v*v))
		}
		s -= math.Log(like)
	}
	return s
}

// Mixture returns the term of a mixture.
func Mixture(bad sums.Policy) *sums.Term[Batch] {
	return sums.Loss(mixture, source.Reverse{}, Options(bad))
}

// decay writes the residuals of x₀·exp(-x₁·t) + x₂, where each row has one feature t.
func decay(r, x []float64, b *Batch) {
	for i, y := range b.Y {
		r[i] = x[0]*math.Exp(-x[1]*b.X[i]) + x[2] - y
	}
}

// Decay returns the term of a nonlinear regression.
func Decay(bad sums.Policy) *sums.Term[Batch] {
	return sums.ResidualsOf(func(b *Batch) *nabla.Func { return nabla.BindInPlace(len(b.Y), decay, b) },
		source.Reverse{}, Options(bad))
}

// Bound returns the function of the term of a name with the block b.
func Bound(name string, b *Batch) *nabla.Func {
	switch name {
	case "logistic":
		return nabla.Bind(logistic, b)
	case "mixture":
		return nabla.Bind(mixture, b)
	case "decay":
		return nabla.BindInPlace(len(b.Y), decay, b)
	}
	panic("no term " + name)
}
