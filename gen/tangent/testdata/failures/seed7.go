// failed: oracle value, input 0: the function gives <nil>, its tangent panic: runtime error: slice bounds out of range [1:0]
// seed: 7
// signature: 4
// input: {"Mem":[0.5,1.5,2.5,3.5,0.5,1.5,2.5],"Windows":[[3,7,7],[3,6,6],[1,4,4],[0,7,7]],"Numbers":[1.5,1.5,1.5,1.5,1.5,1.5,1.5,1.5,1.5,1.5,1.5,1.5],"N":1,"Aliased":true}

package rnd

import (
	"math"
)

func F(a float64, b float64, x []float64, y []float64, n int, p P, q *P) (r float64, k int, out []float64) {
	z := Q{P: p, R: q, C: half}
	f10 := 1
	f11 := fold(x, 1, math.Max)
	w13 := x
	if 1 >= f10 {
		w13 = weights[1:]
	}
	z.C = (w13[0] + w13[len(w13)-1]) * 0.5
	b = (b + f11) * 0.5
	return r, k + n, x
}

type P struct {
	A, B float64
	V    [3]float64
	X    []float64
	N    int
}

type Q struct {
	P
	R *P
	C float64
}

func fold(x []float64, s float64, f func(a, b float64) float64) float64 {
	for i := len(x) - 1; i >= 0; i-- {
		s = f(s, x[i])
	}
	return s
}

var weights = []float64{0.5, -0.25, 1.5}

const half = 1.0 / 2
