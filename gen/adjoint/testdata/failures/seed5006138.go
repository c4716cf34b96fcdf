// failed: oracle value, input 0: variant "no inline": the adjoint gives panic: runtime error: index out of range [-1]
// seed: 5006138
// signature: 2
// input: {"Mem":[0.5,1.5,2.5,3.5,0.5,1.5],"Windows":[[0,5,6]],"Numbers":[],"N":1,"Aliased":false,"Round":false}

package rnd

func F(x []float64, n int) (r float64) {
	a := x[0]
	b := 0.75
	y := x[:len(x)-len(x)/2]
	p := P{A: a, V: [3]float64{1: b}, X: x[:1], N: 2}
	q := &P{A: 0.5, B: b, V: [3]float64{a, 2, -0.5}, X: y}
	z := Q{P: p, R: q, C: half}
	z.P, z.C = p, 1
	for i10 := 1; i10 <= n&3; i10 += 2 {
		if []float64{1, x[0]}[uint(0)%2] > 1 {
		}
	}
	x[0] = P.plus(*q, 1)*0.5 + (*P).push(q, 1, 1)*0.5
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

func (p *P) push(d float64, k int) float64 {
	p.A = (p.A + d) * 0.5
	p.V[uint(k)%3] -= p.B * 0.25
	p.X = append(p.X, d)
	if p.N++; p.N > 4 {
		p.X = p.X[:0]
		p.N = 0
	}
	return p.A * 0.5
}

func (p P) plus(v float64) float64 { return (p.A + v) * 0.5 }

const half = 1.0 / 2
