// Package marks has loops, those marked in recordings with a comment.
package marks

import "math"

func Bounds(x []float64, lo, hi int) float64 {
	s := 0.0
	for i := range 16 { // marked
		s += x[i] * x[i]
	}
	for i := range 15 {
		s += x[i] * x[i]
	}
	for i := 15; i >= 0; i-- { // marked
		s += x[i] * x[i]
	}
	for i := 14; i >= 0; i-- {
		s += x[i] * x[i]
	}
	for i := 0; i < 32; i += 2 { // marked
		s += x[i] * x[i]
	}
	for i := 0; i < 29; i += 2 {
		s += x[i] * x[i]
	}
	for i := range hi { // marked
		s += x[i] * x[i]
	}
	for i := lo; i < 10; i++ { // marked
		s += x[i] * x[i]
	}
	for n := hi; n > 1; n /= 2 { // marked
		s += x[n] * x[n]
	}
	for range x { // marked
		s = math.Sin(s)
	}
	return s
}

func Operations(x, y []float64, scale float64, n int) float64 {
	k, w := 0, 0.0
	for i := range x {
		y[i] = x[len(x)-1-i]
	}
	for i := range n {
		w += float64(i) * 0.5
	}
	for i := range n {
		k += i * i
	}
	for i := range y { // marked
		y[i] *= 2
	}
	for i := range y { // marked
		y[i] += x[i]
	}
	for i := range y { // marked
		y[i] = -y[i]
	}
	for i := range y { // marked
		if x[i] > 0 {
			y[i] = w
		}
	}
	for i := range y {
		if i%3 == 0 {
			y[i] = w
		}
	}
	return y[0]*y[k] + w
}

func Calls(x, y []float64, n int) float64 {
	k := 0
	for i := range x { // marked
		y[i] = steps(x[i], 20)
	}
	for i := range n {
		k += int(steps(float64(i), 20))
	}
	for i := range n {
		k += chosen(i)
	}
	for i := range x { // marked
		y[i] = rounded(y[i])
	}
	for i := range n {
		y[i] = rounded(float64(k))
	}
	return y[k]
}

func steps(v float64, n int) float64 {
	for range n { // marked
		if v > 0.5 {
			return v
		}
		v = math.Sin(v + 1)
	}
	return v
}

func chosen(i int) int {
	for range i {
		if i%2 == 0 {
			return i
		}
		i /= 2
	}
	return i
}

//nabla:rule tangent=roundedTangent pullback=roundedPullback
func rounded(v float64) float64 { return math.Round(8*v) / 8 }

func roundedTangent(v, vDot float64) (r, rDot float64) { return rounded(v), vDot }

func roundedPullback(v, rBar float64) float64 { return rBar }
