package coded

import "math"

// The functions of the catalogue, in each form in which scenarios take them. Functions with y write all of it.

//nabla:differentiate
func sine(y, x []float64) {
	for i, v := range x {
		y[i] = math.Sin(v)
	}
}

//nabla:differentiate
func sineNumber(x float64) float64 { return math.Sin(x) }

//nabla:differentiate
func sineScalar(x []float64) float64 { return math.Sin(x[0]) }

//nabla:differentiate
func sineVector(x []float64) []float64 {
	y := make([]float64, len(x))
	sine(y, x)
	return y
}

// curve computes sin t in the first half of y and sin 2t in the second.
//
//nabla:differentiate
func curve(y, x []float64) {
	for i := range y {
		if 2*i < len(y) {
			y[i] = math.Sin(x[0])
		} else {
			y[i] = math.Sin(2 * x[0])
		}
	}
}

//nabla:differentiate
func curveNumber(t float64) []float64 { return curveVector([]float64{t}) }

//nabla:differentiate
func curveVector(x []float64) []float64 {
	y := make([]float64, 2)
	curve(y, x)
	return y
}

// curves computes the matrix with columns curve(t) and curve(3t).
//
//nabla:differentiate
func curves(y, x []float64) {
	half := len(y) / 2
	curve(y[:half], x)
	curve(y[half:], []float64{3 * x[0]})
}

//nabla:differentiate
func curvesNumber(t float64) []float64 { return curvesVector([]float64{t}) }

//nabla:differentiate
func curvesVector(x []float64) []float64 {
	y := make([]float64, 4)
	curves(y, x)
	return y
}

// powers computes (Σ x⁴)(Σ x⁶).
//
//nabla:differentiate
func powers(x []float64) float64 {
	four, six := 0.0, 0.0
	for _, v := range x {
		p := v * v * v * v
		four += p
		six += p * v * v
	}
	return four * six
}

//nabla:differentiate
func sinCos(y, x []float64) {
	for i, v := range x {
		y[i], y[len(x)+i] = math.Sin(v), math.Cos(v)
	}
}

//nabla:differentiate
func sinCosVector(x []float64) []float64 {
	y := make([]float64, 2*len(x))
	sinCos(y, x)
	return y
}

//nabla:differentiate
func diffSquare(y, x []float64) {
	for i := 1; i < len(x); i++ {
		d := x[i] - x[i-1]
		y[i-1] = d * d
	}
}

//nabla:differentiate
func diffSquareVector(x []float64) []float64 {
	y := make([]float64, max(0, len(x)-1))
	diffSquare(y, x)
	return y
}

//nabla:differentiate
func diffSquareCube(y, x []float64) {
	diffSquare(y, x)
	for i := 1; i < len(x); i++ {
		d := x[i] - x[i-1]
		y[len(x)+i-2] = d * d * d
	}
}

//nabla:differentiate
func diffSquareCubeVector(x []float64) []float64 {
	y := make([]float64, 2*max(0, len(x)-1))
	diffSquareCube(y, x)
	return y
}

//nabla:differentiate
func sumDiffCube(x []float64) float64 {
	s := 0.0
	for i := 1; i < len(x); i++ {
		d := x[i] - x[i-1]
		s += d * d * d
	}
	return s
}

//nabla:differentiate
func identity(x []float64) float64 { return x[0] }

//nabla:differentiate
func identityNumber(x float64) float64 { return x }

//nabla:differentiate
func sum(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s
}

//nabla:differentiate
func copyTo(y, x []float64) { copy(y[:len(x)], x) }

//nabla:differentiate
func nothing(y, x []float64) {}

//nabla:differentiate
func nothingNumber(x float64) []float64 { return nil }

//nabla:differentiate
func nothingVector(x []float64) []float64 { return nil }

// A banded is an upper triangular matrix, as a list of diagonals.
type banded struct{ Diagonals [][]float64 }

// at returns the entry in row i and column i+k; 1 if the matrix has no such row.
func (m *banded) at(i, k int) float64 {
	if d := m.Diagonals[k]; i < len(d) {
		return d[i]
	}
	return 1
}

// row returns row i of the product of the matrix and x².
func (m *banded) row(i int, x []float64) float64 {
	s := 0.0
	for k := range min(len(m.Diagonals), len(x)-i) {
		s += m.at(i, k) * x[i+k] * x[i+k]
	}
	return s
}

//nabla:differentiate
func bandedLinear(y, x []float64, m *banded) {
	for i := range y {
		y[i] = m.row(i, x)
	}
}

//nabla:differentiate
func bandedLinearVector(x []float64, m *banded) []float64 {
	y := make([]float64, len(x))
	bandedLinear(y, x, m)
	return y
}

//nabla:differentiate
func bandedQuadratic(x []float64, m *banded) float64 {
	s := 0.0
	for i, v := range x {
		s += v * v * m.row(i, x)
	}
	return s
}
