// failed: oracle transpose, input 0: variant "": ⟨seeds, J·direction⟩ is -1.1328548166349434e+87, ⟨adjoints, direction⟩ is +Inf
// seed: 9017
// signature: 1
// input: {"Mem":[1.0780739039422775,0.4432119693994494,-0.9540849765535077,-1.9233644581476046,0.5475133322914458,0.7862949365701889,0.07800768975121092],"Windows":[[0,3,4],[0,7,7]],"Numbers":[],"N":1,"Aliased":true,"Round":false}

package rnd

func F(y []float64, x []float64) {
	a := x[0]
	b := x[1%len(x)] * 0.5
	p := P{A: a, V: [3]float64{1: b}, X: x[:1], N: 2}
	q := &P{A: 0.5, B: b, V: [3]float64{a, 2, -0.5}, X: y}
	z := Q{P: p, R: q, C: half}
	g := small(a)
	y[0] += a*1 + b*0.5 + y[len(y)-1] + y[0]*0.5 + x[len(x)-1] + x[0]*0.5 + p.V[0] - p.V[2]*0.5 + q.V[0] - q.V[2]*0.5 + z.V[0] - z.V[2]*0.5 + p.A + p.B*2 + q.A + q.B*2 + float64(g) + z.A - z.R.A + z.C
	for i := 0; i < len(x)-1; i++ {
		t := x[i] * x[0]
		y[0] -= t * t * 0.5
	}
}

type small = float32

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
