// failed: oracle transpose, input 0: variant "": ⟨seeds, J·direction⟩ is -2.2456235745352915, ⟨adjoints, direction⟩ is -2.34612821478151
// seed: 8004264
// signature: 0
// input: {"Mem":[0.5,1.5,2.5,3.5,0.5],"Windows":[[0,3,5]],"Numbers":[],"N":1,"Aliased":false,"Round":false}

package rnd

func F(x []float64) (r float64) {
	a := x[len(x)-1] * 0.5
	b := x[1%len(x)] * 0.5
	y := append([]float64(nil), x...)
	p := P{A: a, V: [3]float64{1: b}, X: x[:1], N: 2}
	q := &P{A: 0.5, B: b, V: [3]float64{a, 2, -0.5}, X: y}
	z := Q{P: p, R: q, C: half}
	s1 := x
	x[0] = mean([]float64{1, x[0]}...)
	_f4 := x[0]
	q5 := chain(q, (&z.P), 2)
	r += a*1 + b*0.5 + _f4*0.25 + x[len(x)-1] + x[0]*0.5 + y[len(y)-1] + y[0]*0.5 + s1[len(s1)-1] + s1[0]*0.5 + p.V[0] - p.V[2]*0.5 + q.V[0] - q.V[2]*0.5 + z.V[0] - z.V[2]*0.5 + q5.V[0] - q5.V[2]*0.5 + p.A + p.B*2 + q.A + q.B*2 + q5.A + q5.B*2 + z.A - z.R.A + z.C
	return r
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

// chain follows pointers.
func chain(p, q *P, k int) *P {
	for range k % 4 {
		p, q = q, p
		p.A = (p.A + q.B) * 0.5
	}
	return p
}

const half = 1.0 / 2
