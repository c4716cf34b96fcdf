// failed: oracle transpose, input 0: ⟨seeds, J·direction⟩ is -0.6805675951098431, ⟨adjoints, direction⟩ is -0.7158677060543297
// seed: 100014
// signature: 3
// input: {"Mem":[0.5,1.5,2.5,3.5,0.5,1.5,2.5,3.5,0.5,1.5,2.5],"Windows":[[0,5,7],[7,11,11]],"Numbers":[1.5],"N":1,"Aliased":false}

package rnd

func h6(f func(float64) float64, a float64, x []float64) float64 {
	n := len(x) & 3
	_ = n
	f7, f8 := both(x, 0)
	_, _ = f7, f8
	if len(x) > 1 {
		s9 := append(x[:1], 1)
		s9[0] = (s9[1] + x[1]) * 0.5
	}
	return (f(a) - f(x[0])) * 0.5
}

func F(x []float64, y []float64, a float64) (r float64, out []float64) {
	b := 0.75
	n := 2
	p := P{A: a, V: [3]float64{1: b}, X: x[:1], N: 2}
	q := &P{A: 0.5, B: b, V: [3]float64{a, 2, -0.5}, X: y}
	z := Q{P: p, R: q, C: half}
	f13 := h6(func(v float64) float64 { return (v + 1) * 0.5 }, 1, x)
	a = (a + f13) * 0.5
	f21 := func(c23 float64) float64 {
		x[0] += []float64{1, (&z.P).V[1]}[uint(n&3)%2]
		return x[0]*0.5 + c23*0.5
	}
	f22 := f21(1)
	if len(x) < 10 {
		x = append(x[:len(x)-1], (f22+a)*0.5)
	}
	return r, x
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

func both(x []float64, i int) (lo, hi float64) {
	first := x[uint(i)%uint(len(x))]
	lo, hi = first, x[0]
	if lo > hi {
		lo, hi = hi, lo
	}
	return lo * 0.5, hi * 0.5
}

const half = 1.0 / 2
