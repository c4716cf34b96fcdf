package coded

// The functions of scenarios with a modifier: a function of the catalogue, combined with bound data.

// The functions that a bound struct can name.
const (
	sineBase = iota
	curveBase
	curvesBase
	powersBase
	sinCosBase
	diffSquareBase
	diffSquareCubeBase
	sumDiffCubeBase
	identityBase
	sumBase
	copyBase
	nothingBase
)

// The modifiers.
const (
	constant        = iota + 1 // A times the function
	structure                  // Times times the function, by additions, and negated if Minus is set
	cache                      // computed in Useful and copied from there
	cacheStruct                // the same, with a write to Useless
	constantOrCache            // computed in Useful, A + V[0] times the function
)

// A binding holds the data that the function of a scenario with a modifier reads: Base names the function, Kind the
// modifier.
type binding struct {
	Base, Kind      int
	A               float64
	V               []float64
	Times           int
	Minus           bool
	Useful, Useless []float64
}

// compute writes all of y by the function Base.
func (b *binding) compute(y, x []float64) {
	switch b.Base {
	case sineBase:
		sine(y, x)
	case curveBase:
		curve(y, x)
	case curvesBase:
		curves(y, x)
	case powersBase:
		y[0] = powers(x)
	case sinCosBase:
		sinCos(y, x)
	case diffSquareBase:
		diffSquare(y, x)
	case diffSquareCubeBase:
		diffSquareCube(y, x)
	case sumDiffCubeBase:
		y[0] = sumDiffCube(x)
	case identityBase:
		y[0] = x[0]
	case sumBase:
		y[0] = sum(x)
	case copyBase:
		copyTo(y, x)
	}
}

// outputs returns the number of outputs of Base for n inputs.
func (b *binding) outputs(n int) int {
	switch b.Base {
	case sineBase, copyBase:
		return n
	case curveBase:
		return 2
	case curvesBase:
		return 4
	case sinCosBase:
		return 2 * n
	case diffSquareBase:
		return max(0, n-1)
	case diffSquareCubeBase:
		return 2 * max(0, n-1)
	case nothingBase:
		return 0
	}
	return 1
}

// scaledInto computes Base, multiplied as Kind requires.
//
//nabla:differentiate
func scaledInto(y, x []float64, b *binding) {
	b.compute(y, x)
	switch b.Kind {
	case constant:
		for i := range y {
			y[i] *= b.A
		}
	case structure:
		for i, v := range y {
			for range b.Times - 1 {
				y[i] += v
			}
			if b.Minus {
				y[i] = -y[i]
			}
		}
	}
}

//nabla:differentiate
func scaledVector(x []float64, b *binding) []float64 {
	y := make([]float64, b.outputs(len(x)))
	scaledInto(y, x, b)
	return y
}

//nabla:differentiate
func scaledScalar(x []float64, b *binding) float64 {
	var y [1]float64
	scaledInto(y[:], x, b)
	return y[0]
}

// cachedInto computes Base in a slice of the struct. It has no form over Reals, as the slice cannot hold them.
//
//nabla:differentiate
func cachedInto(y, x []float64, b *binding) {
	if len(b.Useful) >= len(y) {
		buf := b.Useful[:len(y)]
		b.compute(buf, x)
		copy(y, buf)
	} else { // a size that the struct was not made for
		b.compute(y, x)
	}
	switch b.Kind {
	case cacheStruct:
		if len(y) > 0 {
			b.Useless[1] = y[0]
		}
	case constantOrCache:
		for i := range y {
			y[i] *= b.A + b.V[0]
		}
	}
}

//nabla:differentiate
func cachedVector(x []float64, b *binding) []float64 {
	y := make([]float64, b.outputs(len(x)))
	cachedInto(y, x, b)
	return y
}

//nabla:differentiate
func cachedScalar(x []float64, b *binding) float64 {
	var y [1]float64
	cachedInto(y[:], x, b)
	return y[0]
}
