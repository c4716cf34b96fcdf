// failed: oracle value, input 0: variant "": the adjoint gives panic: runtime error: index out of range [-1]
// seed: 5012178
// signature: 0
// input: {"Mem":[0.5,1.5,2.5,3.5,0.5,1.5,2.5],"Windows":[[0,5,7]],"Numbers":[],"N":1,"Aliased":false,"Round":false}
// input: {"Mem":[0.5,1.5,2.5,3.5],"Windows":[[0,4,4]],"Numbers":[],"N":1,"Aliased":false,"Round":false}
// input: {"Mem":[0.5,1.5,2.5,3.5],"Windows":[[0,3,4]],"Numbers":[],"N":1,"Aliased":false,"Round":false}
// input: {"Mem":[0.5,1.5,2.5,3.5,0.5,1.5,2.5],"Windows":[[0,5,7]],"Numbers":[],"N":1,"Aliased":false,"Round":true}

package rnd

func F(x []float64) (r float64) {
	a := x[len(x)-1] * 0.5
	b := x[len(x)/2]
	y := x[len(x)/2:]
	n := 2
	f1, f2 := both(x, 0)
	g3 := small(f2)
	{
		mu := []small{g3, small(1), g3}
		mw := append(mu[:1], 1)
		mu[2] -= mw[1] * 0.5
		g3 = (mu[1] + mean(mu...)) * 0.5
	}
	a = (a + f1) * 0.5
	a = (a - float64(g3)) * 0.5
	f5 := func(c7 float64) float64 {
		a += fac(1, n&7)
		return a*0.5 + c7*0.5
	}
	f6 := f5(min(y[len(y)-1], b))
	f6 = (f6 + f5(0.5)) * 0.5
	return r
}

type small = float32

func mean[T float64 | float32](x ...T) (s T) {
	for _, v := range x {
		s += v
	}
	if len(x) > 0 {
		s /= T(len(x))
	}
	return
}

func both(x []float64, i int) (lo, hi float64) {
	first := x[uint(i)%uint(len(x))]
	lo, hi = first, x[0]
	if lo > hi {
		lo, hi = hi, lo
	}
	return lo * 0.5, hi * 0.5
}

// fac has a closure that calls itself.
func fac(x float64, k int) float64 {
	var f func(i int) float64
	n := 0
	f = func(i int) float64 {
		n++
		if i <= 0 {
			return x
		}
		return f(i-1)*0.5 + float64(n)*0.25
	}
	return f(k % 5)
}
