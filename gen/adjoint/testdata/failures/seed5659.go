// oracle: oracle value, input 0: the adjoint gives ir: rnd.F_0_adjoint: rnd.go:25:1: aBar += f9Bar: aBar is not declared
// seed: 5659
// signature: 1
// input: {"Mem":[0.5,1.5,2.5,3.5,0.5,1.5,2.5,3.5,0.5,1.5,2.5],"Windows":[[0,5,6],[6,9,11]],"Numbers":[],"N":1,"Aliased":false}

package rnd

func F(y []float64, x []float64) {
	a := x[0]
	b := x[1%len(x)] * 0.5
	n := 5
	p := P{A: a, V: [3]float64{1: b}, X: x[:1], N: 2}
	q := &P{A: 0.5, B: b, V: [3]float64{a, 2, -0.5}, X: y}
	z := Q{P: p, R: q, C: half}
	n %= 9
	s1 := x
	if 1 > z.P.V[1] {
		return
	}
	a = (a - s1[0]) * 0.5
	for i6 := range 2 {
		_ = i6
		f9 := a
		_ = f9
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

const half = 1.0 / 2
