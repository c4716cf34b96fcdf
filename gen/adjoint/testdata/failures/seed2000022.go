// failed: oracle second, input 0: variant "no simplify": the tangent of the tangent gives panic: runtime error: slice bounds out of range [1:0]
// seed: 2000022
// signature: 2
// input: {"Mem":[0.5130378801844291,-0.32718020638324574,-0.1609282042783151,0.059958382085095185,-1.4652298326348607,0.49265626701936005],"Windows":[[0,4,6]],"Numbers":[],"N":1,"Aliased":false,"Round":false}

package rnd

import (
	"math"
)

func F(x []float64, n int) (r float64) {
	a := x[0]
	b := x[1%len(x)] * 0.5
	y := make([]float64, 3)
	y[0] = math.Round(x[0]) * 0.25
	if a >= b {
		clear(y[len(y)/2:])
	}
	return r
}
