package edges

import "math"

// Upwind takes the difference to the neighbour that the flow x comes from.
//
//nabla:differentiate
func Upwind(y, x []float64) {
	for i := 1; i < len(x)-1; i++ {
		from := i - 1
		if x[i] < 0 {
			from = i + 1
		}
		y[i] = x[i] * (x[i] - x[from])
	}
	y[0], y[len(x)-1] = x[0], x[len(x)-1]
}

// A Mesh is a list of triangles, each with three indices of nodes.
type Mesh struct {
	Triangles [][3]int
	Weights   []float64
}

// Forces adds the forces of all triangles to their nodes.
//
//nabla:differentiate
func Forces(y, x []float64, m *Mesh) {
	for i := range y {
		y[i] = 0
	}
	for k, t := range m.Triangles {
		mean := (x[t[0]] + x[t[1]] + x[t[2]]) / 3
		for _, i := range t {
			d := x[i] - mean
			y[i] += m.Weights[k] * d * d * d
		}
	}
}

// Energy is a sum over the triangles.
//
//nabla:differentiate
func Energy(x []float64, m *Mesh) float64 {
	sum := 0.0
	for k, t := range m.Triangles {
		a, b, c := x[t[0]], x[t[1]], x[t[2]]
		sum += m.Weights[k] * a * math.Sin(b*c)
	}
	return sum
}

// Rows is a sparse matrix in compressed row form.
type Rows struct {
	First, Col []int
	Value      []float64
}

// Activate applies the hyperbolic tangent to the product of the matrix and x.
//
//nabla:differentiate
func Activate(x []float64, a *Rows) []float64 {
	y := make([]float64, len(a.First)-1)
	for i := range y {
		s := 0.0
		for k := a.First[i]; k < a.First[i+1]; k++ {
			s += a.Value[k] * x[a.Col[k]]
		}
		y[i] = math.Tanh(s) - s
	}
	return y
}

// Mean subtracts the mean of x, on which each output depends.
//
//nabla:differentiate
func Mean(y, x []float64) {
	s := 0.0
	for _, v := range x {
		s += v
	}
	for i, v := range x {
		y[i] = v*v - s/float64(len(x))
	}
}

// Twice sets its outputs twice if x[0] is positive. Read without the borders of stores, the rows and columns of its
// branches are the same.
//
//nabla:differentiate
func Twice(y, x []float64) {
	if x[0] > 0 {
		y[0] = x[1] * x[1]
	} else {
		y[0] = 0
		y[1] = 0
		y[2] = 0
	}
	y[2] = x[2] * x[0]
	y[2] += x[1]
	if x[0] > 0 {
		y[1] = 0
		y[2] = 3 * x[2]
	}
}

// Again adds to its outputs if x[0] is positive and sets them otherwise.
//
//nabla:differentiate
func Again(y, x []float64) {
	for i := range y {
		y[i] = x[i] * x[i]
		if x[0] > 0 {
			y[i] += x[i] * x[0]
		} else {
			y[i] = 3 * x[i] * x[0]
		}
	}
}

// Slopes are square roots of differences, whose derivatives are infinite at 0.
//
//nabla:differentiate
func Slopes(y, x []float64) {
	for i := range len(x) - 1 {
		y[i] = math.Sqrt(math.Abs(x[i+1] - x[i]))
	}
	y[len(x)-1] = 0
}

// Partly leaves an output unwritten if x[0] is negative.
//
//nabla:differentiate
func Partly(y, x []float64) {
	for i := range x {
		if i > 0 || x[0] >= 0 {
			y[i] = x[i] * x[i]
		}
	}
}

// Restless squares x in place, and its outputs are sums of neighbours.
//
//nabla:differentiate
func Restless(x []float64) []float64 {
	y := make([]float64, len(x)-1)
	for i := range y {
		y[i] = x[i] * x[i+1]
	}
	for i := range x {
		x[i] = 0
	}
	return y
}

// Domain is an error if an element of x is negative.
//
//nabla:differentiate
func Domain(y, x []float64) error {
	for i, v := range x {
		if v < 0 {
			return ErrDomain
		}
		y[i] = math.Log(1 + v)
	}
	return nil
}

// Steps has rows whose number of entries depends on Every, which may change between calls.
type Steps struct{ Every int }

// Strided depends on the elements of x at a stride.
//
//nabla:differentiate
func Strided(y, x []float64, s *Steps) {
	for i := range x {
		y[i] = x[i] * x[(i+s.Every)%len(x)]
	}
}

// Window sums Every elements of x from each one.
//
//nabla:differentiate
func Window(y, x []float64, s *Steps) {
	for i := range x {
		sum := 0.0
		for k := range s.Every {
			sum += x[(i+k)%len(x)]
		}
		y[i] = sum * sum
	}
}

// Short returns fewer outputs if x[0] is negative, and more if it is above 100.
//
//nabla:differentiate
func Short(x []float64) []float64 {
	m := len(x)
	if x[0] < 0 {
		m--
	}
	if x[0] > 100 {
		m++
	}
	y := make([]float64, m)
	for i := range y {
		y[i] = x[i%len(x)] * x[0]
	}
	return y
}

// A Calls counts calls.
type Calls struct{ N int }

// Restart depends on other elements of x in each call.
//
//nabla:differentiate
func Restart(y, x []float64, c *Calls) {
	c.N++
	for i := range x {
		y[i] = x[(i+c.N)%len(x)]
	}
}

// Bends has second derivatives that are infinite where neighbours are equal.
//
//nabla:differentiate
func Bends(x []float64) float64 {
	s := 0.0
	for i := range len(x) - 1 {
		d := x[i+1] - x[i]
		s += math.Cbrt(d * d)
	}
	return s
}
