// failed: oracle value, input 0: variant "": the adjoint gives panic: runtime error: index out of range [-1]
// seed: 5018678
// signature: 2
// input: {"Mem":[0.5,1.5,2.5,3.5,0.5],"Windows":[[0,3,5]],"Numbers":[],"N":1,"Aliased":false,"Round":false}

package rnd

func h1(x []float64, b float64, k int) (r, u float64) {
	if k < 0 {
		return x[0], b
	}
	n := k
	a := b
	_, _ = a, n
	_, u = h1(x, x[0], k-1)
	return r + x[0], u - a*0.5
}

func F(x []float64, n int) (r float64) {
	a := x[len(x)-1] * 0.5
	for _, v5 := range x {
		_ = v5
	}
	f13, f14 := h1(x, a, 0)
	_, _ = f13, f14
	return r
}
