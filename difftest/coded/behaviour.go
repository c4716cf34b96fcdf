package coded

import "math/cmplx"

// The functions of the scenarios whose names begin with behaviour/.

// branch computes (x₀², x₀x₁) for negative x₀, (3x₁, x₀) otherwise.
//
//nabla:differentiate
func branch(y, x []float64) {
	if x[0] < 0 {
		y[0], y[1] = x[0]*x[0], x[0]*x[1]
	} else {
		y[0], y[1] = 3*x[1], x[0]
	}
}

//nabla:differentiate
func branchVector(x []float64) []float64 {
	y := make([]float64, 2)
	branch(y, x)
	return y
}

// branchScalar computes x₀³x₁ for negative x₀, x₀x₁² otherwise.
//
//nabla:differentiate
func branchScalar(x []float64) float64 {
	if x[0] < 0 {
		return x[0] * x[0] * x[0] * x[1]
	}
	return x[0] * x[1] * x[1]
}

// loop iterates v ← v² + x₁ from v = x₀ until v is at least 50, at most 20 times.
//
//nabla:differentiate
func loop(x []float64) float64 {
	v := x[0]
	for k := 0; k < 20 && v < 50; k++ {
		v = v*v + x[1]
	}
	return v
}

//nabla:differentiate
func constantOutput(y, x []float64) { y[0], y[1] = 4, x[1] }

//nabla:differentiate
func constantOutputVector(x []float64) []float64 { return []float64{4, x[1]} }

//nabla:differentiate
func constantScalar(x []float64) float64 { return 4 }

//nabla:differentiate
func returnsInput(x []float64) []float64 { return x }

// overwritesInput computes Σ (2x)² and doubles x.
//
//nabla:differentiate
func overwritesInput(x []float64) float64 {
	s := 0.0
	for i := range x {
		x[i] *= 2
		s += x[i] * x[i]
	}
	return s
}

// prefixSums computes the squares of the prefix sums of the prefix sums.
//
//nabla:differentiate
func prefixSums(y, x []float64) {
	buf := make([]float64, len(x))
	copy(buf, x)
	for range 2 {
		for i := 1; i < len(buf); i++ {
			buf[i] += buf[i-1]
		}
	}
	for i, v := range buf {
		buf[i] = 0
		y[i] = v * v
	}
}

//nabla:differentiate
func prefixSumsVector(x []float64) []float64 {
	y := make([]float64, len(x))
	prefixSums(y, x)
	return y
}

// gram computes XᵀX for a matrix X of two columns; both are stored row by row.
//
//nabla:differentiate
func gram(y, x []float64) {
	for a := range 2 {
		for b := range 2 {
			s := 0.0
			for i := range len(x) / 2 {
				s += x[2*i+a] * x[2*i+b]
			}
			y[2*a+b] = s
		}
	}
}

//nabla:differentiate
func gramVector(x []float64) []float64 {
	y := make([]float64, 4)
	gram(y, x)
	return y
}

// gramNorm computes ‖XᵀX‖².
//
//nabla:differentiate
func gramNorm(x []float64) float64 {
	var y [4]float64
	gram(y[:], x)
	s := 0.0
	for _, v := range y {
		s += v * v
	}
	return s
}

// complexSine computes the sine of each complex number, whose parts are two successive inputs. Further
// outputs are 0.
//
//nabla:differentiate
func complexSine(y, x []float64) {
	clear(y)
	for i := 1; i < min(len(x), len(y)); i += 2 {
		w := cmplx.Sin(complex(x[i-1], x[i]))
		y[i-1], y[i] = real(w), imag(w)
	}
}

//nabla:differentiate
func complexSineVector(x []float64) []float64 {
	y := make([]float64, len(x)/2*2)
	complexSine(y, x)
	return y
}

// complexSquare computes the real part of Σ z².
//
//nabla:differentiate
func complexSquare(x []float64) float64 {
	sum := 0i
	for i := 1; i < len(x); i += 2 {
		z := complex(x[i-1], x[i])
		sum += z * z
	}
	return real(sum)
}

// complexAbs2 computes Σ |z|².
//
//nabla:differentiate
func complexAbs2(x []float64) float64 {
	sum := 0.0
	for i := 1; i < len(x); i += 2 {
		z := complex(x[i-1], x[i])
		sum += real(z * cmplx.Conj(z))
	}
	return sum
}

//nabla:differentiate
func cube(x []float64) float64 { return x[0] * x[0] * x[0] }

// wide computes c·x² plus the next input for each output, with c = 1, 2, …; it has more outputs than inputs.
//
//nabla:differentiate
func wide(y, x []float64) {
	for i := range y {
		v := x[i%len(x)]
		y[i] = float64(i+1)*v*v + x[(i+1)%len(x)]
	}
}

//nabla:differentiate
func wideVector(x []float64) []float64 {
	y := make([]float64, 29)
	wide(y, x)
	return y
}

// wideScalar computes Σ (i+1)·x².
//
//nabla:differentiate
func wideScalar(x []float64) float64 {
	s := 0.0
	for i, v := range x {
		s += float64(i+1) * v * v
	}
	return s
}

// large computes Σ x[i]²·x[i+1].
//
//nabla:differentiate
func large(x []float64) float64 {
	s := 0.0
	for i := range len(x) - 1 {
		s += x[i] * x[i] * x[i+1]
	}
	return s
}
