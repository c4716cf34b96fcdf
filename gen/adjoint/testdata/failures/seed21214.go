// failed: oracle value, input 0: value [0 0.7734375 1.5 1 1.03125 1.5 1.5 0 1.5 0.7734375 1.5 1 3.5 0.5 1.5 2.5 3.5 0.5 1.5 2.5 3.5 0.5 1.5 2.5 3.5 0.5 1.5 2.5], want [0 0.7734375 1.5 1 1.03125 1.5 1.5 0 1.5 0.7734375 1.5 1 3.5 0.5 1.5 2.5 3.5 0.5 1.5 2.5 3.5 0.5 1.5 2.5 3.5 0.5 1 1]
// seed: 21214
// signature: 4
// input: {"Mem":[0.5,1.5,2.5,3.5,0.5,1.5,2.5,3.5,0.5,1.5,2.5,3.5,0.5,1.5,2.5,3.5,0.5,1.5,2.5],"Windows":[[0,3,5],[5,9,9],[9,14,14],[14,17,19]],"Numbers":[1.5,1.5,1.5,1.5,1.5,1.5,1.5,1.5,1.5,1.5,1.5,1.5],"N":1,"Aliased":false}

package rnd

import (
	"math"
)

func F(a float64, b float64, x []float64, y []float64, n int, p P, q *P) (r float64, k int, out []float64) {
	z := Q{P: p, R: q, C: half}
	for range 4 {
		s5 := x
		{
			i6 := 0
			for {
				if i6++; i6 > 3 {
					break
				}
				x[0] += (math.Sin(q.V[uint(0)%3]) * 1)
			}
		}
		x[0] = P.plus(*q, 1)*0.5 + (*P).push(q, 1, 1)*0.5
		g11 := small((&z.P).A)
		f12 := x[0]
		s5[len(s5)-1] = 1
		b = (b + f12) * 0.5
		b = (b - float64(g11)) * 0.5
	}
	return r, k + n, x
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
