// failed: oracle value, input 0: variant "no simplify": the adjoint gives panic: runtime error: index out of range [-1]
// seed: 5008132
// signature: 0
// input: {"Mem":[0.5,1.5,2.5,3.5,0.5],"Windows":[[0,5,5]],"Numbers":[],"N":1,"Aliased":false,"Round":false}

package rnd

func h1(f func(float64) float64, a float64, x []float64) float64 {
	n := len(x) & 3
	_ = n
	clear(x[1:])
	return (f(a) - f(x[0])) * 0.5
}

func F(x []float64) (r float64) {
	a := x[len(x)-1] * 0.5
	b := 0.75
	y := append([]float64(nil), x...)
	p := P{A: a, V: [3]float64{1: b}, X: x[:1], N: 2}
	q := &P{A: 0.5, B: b, V: [3]float64{a, 2, -0.5}, X: y}
	for i10, v11 := range q.V {
		_ = i10
		_ = v11
	}
	f13 := h1(p.plus, 1, y)
	_ = f13
	return r
}

type P struct {
	A, B float64
	V    [3]float64
	X    []float64
	N    int
}

func (p P) plus(v float64) float64 { return (p.A + v) * 0.5 }
