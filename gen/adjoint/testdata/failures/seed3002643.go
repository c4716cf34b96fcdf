// failed: oracle form, input 0: variant "no simplify": ir: rnd.F_0_adjoint: rnd0.go:23:1: t3Bar[i] += v13Bar: t3Bar is not declared
// seed: 3002643
// signature: 1
// input: {"Mem":[0.5,1.5,2.5,3.5,0.5,1.5,2.5,3.5,0.5,1.5,2.5],"Windows":[[0,4,6],[6,10,11]],"Numbers":[],"N":1,"Aliased":false,"Round":false}

package rnd

func F(y []float64, x []float64) {
	a := x[len(x)-1] * 0.5
	b := x[len(x)/2]
	n := 5
	p := P{A: a, V: [3]float64{1: b}, X: x[:1], N: 2}
	q := &P{A: 0.5, B: b, V: [3]float64{a, 2, -0.5}, X: y}
	g := small(a)
	f7 := even(x, n&3)
	_ = f7
	for i9, v10 := range q.V {
		_ = i9
		_ = v10
		x[0] -= float64(g)
		for _, v13 := range [3]float64{p.V[1], 0.5, 1} {
			_ = v13
		}
	}
}

type small = float32

type P struct {
	A, B float64
	V    [3]float64
	X    []float64
	N    int
}

// even and odd call each other.
func even(x []float64, k int) float64 {
	if k <= 0 {
		return x[0]
	}
	return odd(x, k-1)*0.5 + x[k%len(x)]*0.5
}

func odd(x []float64, k int) float64 {
	if k <= 0 {
		return x[len(x)-1]
	}
	x[k%len(x)] *= 0.5
	return even(x, k-1) * 0.5
}
