// failed: oracle value, input 0: value [0 0.755859375 1.5 2.5 1.0078125 1.5 1.5 -0.75 1.5 0.755859375 1.5 2.5 3.5 0.5 1.5 2.5 3.5 0.5 1.5 2.5 3.5 0.5 1.5 2.5 3.5 0.5 1.5 2.5 3.5 0.5 1.5 2.5 3.5 0.5], want [0 0.755859375 1.5 2.5 1.0078125 1.5 1.5 -0.75 1.5 0.755859375 1.5 2.5 3.5 0.5 1.5 2.5 3.5 0.5 1.5 2.5 3.5 0.5 1.5 2.5 3.5 0.5 1.5 2.5 3.5 0.5 1.5 2.5 1 1]
// seed: 20141
// signature: 4
// input: {"Mem":[0.5,1.5,2.5,3.5,0.5,1.5,2.5,3.5,0.5,1.5,2.5,3.5,0.5,1.5,2.5,3.5,0.5,1.5,2.5,3.5,0.5,1.5,2.5,3.5,0.5],"Windows":[[0,3,4],[4,9,11],[11,16,18],[18,23,25]],"Numbers":[1.5,1.5,1.5,1.5,1.5,1.5,1.5,1.5,1.5,1.5,1.5,1.5],"N":1,"Aliased":false}

package rnd

func (p P) h1(d float64, k int) float64 {
	if k <= 0 {
		return p.A
	}
	n := k
	_ = n
	d = p.h1(1, k-1)
	return (p.A + d - p.V[1]) * 0.5
}

func F(a float64, b float64, x []float64, y []float64, n int, p P, q *P) (r float64, k int, out []float64) {
	z := Q{P: p, R: q, C: half}
	z.P.V[1] -= 1
	{
		i6 := 0
		for ok := true; ok; ok = i6 < 3 {
			i6 += 1 + n&1
			x[0] = p.h1(1, 2)
			for _, v10 := range x {
				_ = v10
				x[0] = P.plus(*q, 1)*0.5 + (*P).push(q, 1, 1)*0.5
			}
		}
	}
	return r, k + n, x
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
