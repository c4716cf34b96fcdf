// failed: oracle value, input 0: variant "": the adjoint gives panic: runtime error: index out of range [-1]
// seed: 9302
// signature: 1
// input: {"Mem":[0.5,1.5,2.5,3.5,0.5,1.5,2.5,3.5,0.5,1.5],"Windows":[[0,3,4],[4,9,10]],"Numbers":[],"N":1,"Aliased":false,"Round":false}

package rnd

func F(y []float64, x []float64) {
	a := x[len(x)-1] * 0.5
	b := x[len(x)/2]
	n := 2
	p := P{A: a, V: [3]float64{1: b}, X: x[:1], N: 2}
	q := &P{A: 0.5, B: b, V: [3]float64{a, 2, -0.5}, X: y}
	z := Q{P: p, R: q, C: half}
	{
		m3 := [2][]float64{x, x}
		m3[1][0] = mean(x[0])
		mc := m3
		z.A = (m3[0][0] - mc[0][0]) * 0.5
	}
	{
		i4 := 0
		//nabla:checkpoint snapshots=2 steps=2
		for ok := true; ok; ok = i4 < 3 {
			i4 += 1 + n&1
			{
				i, j := uint(0)%uint(len(x)), uint(0)%uint(len(x))
				x[i], x[j] = x[j], x[i]
			}
		}
	}
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

func mean[T float64 | float32](x ...T) (s T) {
	for _, v := range x {
		s += v
	}
	if len(x) > 0 {
		s /= T(len(x))
	}
	return
}

const half = 1.0 / 2
