package edges

import (
	"errors"
	"math"
)

// Nested has loops of all kinds within each other.
//
//nabla:differentiate
func Nested(x []float64) float64 {
	sum := 0.0
	for i := range 40 {
		product := 1.0
		for j, v := range x {
			if j%3 == 2 {
				continue
			}
			product *= 1 + 0.01*v*float64(i)
		}
		for k := len(x) - 1; k >= 0; k -= 2 {
			product += math.Sin(x[k])
		}
		sum += math.Sqrt(1 + product*product)
	}
	return sum
}

// Left leaves loops in the middle, with labels, and by a return.
//
//nabla:differentiate
func Left(x []float64) float64 {
	s := 0.0
rows:
	for i := range 60 {
		for j, v := range x {
			switch {
			case j == 18:
				continue rows
			case i == 50 && j == 3:
				break rows
			}
			s += math.Cos(v * float64(i+1))
		}
	}
	for n := 0; ; n++ {
		s = 0.9*s + x[n%len(x)]
		if n == 33 {
			return s * s
		}
	}
}

// Waits runs until a number has become small, and has an iteration in twenty that is longer.
//
//nabla:differentiate
func Waits(x []float64) float64 {
	s, step := 0.0, x[0]
	for n := 1; step > 1e-3; n++ {
		step *= 0.9
		s += step * math.Exp(-step)
		if n%20 == 0 {
			s *= 1 + x[n%len(x)]
		}
	}
	return s
}

// Fails returns an error in the middle of a loop if x[0] is negative.
//
//nabla:differentiate
func Fails(x []float64) (float64, error) {
	s := 0.0
	for i := range 100 {
		s += x[i%len(x)] * s
		if s = math.Sin(s + 1); i == 70 && x[0] < 0 {
			return 0, errors.New("negative")
		}
	}
	return s, nil
}

// Index panics in the middle of a loop if n is too large.
//
//nabla:differentiate
func Index(x []float64, c *Count) float64 {
	s := 1.0
	for i := range c.N {
		s += x[i] * s
	}
	return s
}

// A Count is the number of iterations of Index.
type Count struct{ N int }
