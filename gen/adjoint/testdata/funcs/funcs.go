// Package funcs has functions whose adjoints are easily wrong.
package funcs

import "math"

// Still has adjoints that are 0 at x[0] = 0.7 and whose derivatives are not.
func Still(x []float64) float64 {
	t := x[0] - 0.7
	return t*math.Log(x[1]) + t*math.Sqrt(x[2])/x[3] + t*math.Pow(x[1], x[2]) + t*math.Exp(x[3])
}

// Unused has quotients, powers and logarithms that overflow and are not used where x[0] is
// 0 or less, where its derivative is that of x[0] times 2.
func Unused(x []float64) float64 {
	a, b, c := x[1]/x[2], math.Pow(x[3], x[4]), math.Log(x[3])
	if x[0] > 0 {
		return a + b + c
	}
	return 2 * x[0]
}

// Tail has a call behind a loop whose reversal needs what the call computed.
func Tail(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v * v
	}
	return tail(s)
}

func tail(s float64) float64 {
	t := math.Exp(-s)
	return t * 2
}

// Gathered has a call behind a loop whose reversal reads what the loop has summed up.
func Gathered(x []float64) float64 {
	y := make([]float64, 2)
	for i, v := range x {
		y[i%2] += v * v
	}
	return sumOf(y)
}

func sumOf(y []float64) float64 {
	s := 0.0
	for _, v := range y {
		s += v * v
	}
	return s
}

// Left may return behind a loop, from within two conditions: what follows is reversed only
// where it was reached.
func Left(x []float64) (r, s float64) {
	for _, v := range x {
		s += v * v
	}
	if x[0] > 1 {
		if x[1] > 1 {
			return
		}
	}
	r = x[1] * x[2]
	return
}

// LeftInPlace returns in the same way and writes to its argument, behind too.
func LeftInPlace(x, y []float64) {
	s := 0.0
	for _, v := range x {
		s += v * v
	}
	y[1] = s
	if x[0] > 1 {
		if x[1] > 1 {
			return
		}
	}
	y[0] += x[1] * x[2]
}

// Skipped has a loop that seems to set all elements of z, and skips some.
func Skipped(x []float64) float64 {
	z := make([]float64, len(x))
	s := 0.0
	for k := 0; k < len(x); k++ {
		for i := 0; i < len(x); i++ {
			if x[i] > 1 {
				if k > 0 {
					continue
				}
			}
			z[i] = x[i] * x[i] * float64(k+1)
		}
		for i := 0; i < len(x); i++ {
			s += z[i] * z[i] * float64(k+1)
		}
	}
	return s
}

// Carried hands a number on to the next iteration in memory of its own.
func Carried(x []float64) float64 {
	t, s := make([]float64, 2), 0.0
	for i := range x {
		t[0] = t[0]*0.5 + x[i]*x[i]
		s += t[0] * x[i]
	}
	return s
}

// CarriedIn hands a number on in memory that it is given.
func CarriedIn(x []float64) float64 {
	s := 0.0
	for i := 0; i < len(x); i++ {
		x[0] = x[0]*0.5 + x[i]
		s += x[0] * 0.25
	}
	return s
}

// CarriedOut hands a number on in memory that a call gives.
func CarriedOut(x []float64) float64 {
	t, s := halves(x), 0.0
	for i := range x {
		t[0] = t[0]*0.5 + x[i]*x[i]
		s += t[0] * x[i]
	}
	return s
}

func halves(x []float64) (y []float64) {
	for _, v := range x {
		y = append(y, v*0.5)
	}
	return y
}

// Ordinal hands on numbers without derivatives.
func Ordinal(x []float64) float64 {
	k, w, s := make([]int, 1), make([]float64, 1), 0.0
	for i := range x {
		k[0] = (k[0]*2 + i) % 3
		w[0] = w[0]*0.5 + 1
		j, v := k[0], w[0]
		s += x[j] * x[i] * v
	}
	return s
}

// OrdinalIn hands on a number without a derivative in memory that it is given.
func OrdinalIn(x, w []float64) float64 {
	s := 0.0
	for i := 0; i < len(x); i++ {
		w[0] = w[0]*0.5 + 1
		v := w[0]
		s += x[i] * x[i] * v
	}
	return s
}

// Sized sets all of a slice in each iteration. Its length and that of x are n.
func Sized(x []float64) float64 {
	n := len(x)
	z := make([]float64, n)
	s := 0.0
	for k := 0; k < n; k++ {
		for i := 0; i < len(x); i++ {
			z[i] = x[i] * x[i] * float64(k+1)
		}
		for i := 0; i < n; i++ {
			s += z[i] * z[i] * x[k]
		}
	}
	return s
}

// Broken sets all of a slice in each iteration, behind a loop that may end early.
func Broken(x []float64) float64 {
	z := make([]float64, len(x))
	s := 0.0
	for k := 0; k < len(x); k++ {
		for i := 0; i < len(z); i++ {
			m := 0
			for j := 0; j < i; j++ {
				if x[j] > 1 {
					break
				}
				m++
			}
			z[i] = x[i] * x[i] * float64(m+1)
		}
		for i := 0; i < len(x); i++ {
			s += z[i] * z[i] * x[k]
		}
	}
	return s
}

// Within has functions of functions, and within sums and products.
func Within(x []float64) float64 {
	return x[0]*math.Sin(x[1]*math.Exp(x[2])) + x[1]*math.Sqrt(2+x[0])
}

// Windows overwrites an array through a slice of it.
func Windows(x []float64) float64 {
	p := new([4]float64)
	s := 0.0
	for k := 0; k < len(x); k++ {
		v := p[1:]
		v[0] = v[0]*v[0] + x[k]
		s += v[0] * x[k]
	}
	return s
}

// Pop takes the last number from a list behind a pointer.
func Pop(list *[]float64) float64 {
	last := len(*list) - 1
	v := (*list)[last]
	(*list)[last] = 0
	*list = (*list)[:last]
	return v * v * (*list)[0]
}

// Mutual calls mutually recursive functions that write passive memory.
func Mutual(x, w []float64) float64 {
	s := x[0] * x[0]
	double(w, 1)
	s += x[0] * w[0]
	again(w, 1)
	return s + x[1]*w[0]
}

func double(w []float64, n int) {
	if n > 0 {
		again(w, n-1)
	}
	w[0] *= 2
}

func again(w []float64, n int) {
	if n >= 0 {
		double(w, n)
	}
}
