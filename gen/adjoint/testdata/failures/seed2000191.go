// failed: oracle second, input 0: variant "no simplify": the tangent of the tangent gives panic: runtime error: slice bounds out of range [1:0]
// seed: 2000191
// signature: 2
// input: {"Mem":[0.5,1.5,2.5,3.5],"Windows":[[0,3,4]],"Numbers":[],"N":1,"Aliased":false,"Round":false}

package rnd

import (
	"math"
)

func F(x []float64, n int) (r float64) {
	a := x[len(x)-1] * 0.5
	y := make([]float64, 3)
	copy(y[len(y)/2:], y)
	m6 := [][]float64{1: y, 0: y, 2: {math.Trunc(a) * 0.125, 1}}
	_ = m6
	return r
}
