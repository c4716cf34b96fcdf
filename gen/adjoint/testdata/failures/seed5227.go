// oracle: oracle transpose, input 0: ⟨seeds, J·direction⟩ is 5.7575805602416334, ⟨adjoints, direction⟩ is 6.3511295132670815
// seed: 5227
// signature: 4
// input: {"Mem":[0.5,1.5,2.5,3.5,0.5,1.5,2.5,3.5,0.5,1.5,2.5,3.5,0.5,1.5,2.5,3.5,0.5,1.5],"Windows":[[0,5,7],[7,10,12],[12,15,15],[15,18,18]],"Numbers":[1.5,1.5,1.5,1.5,1.5,1.5,1.5,1.5,1.5,1.5,1.5,1.5],"N":1,"Aliased":false}

package rnd

func F(a float64, b float64, x []float64, y []float64, n int, p P, q *P) (r float64, k int, out []float64) {
	z := Q{P: p, R: q, C: half}
	f8 := q.push(1, 0)
	z = Q{P: (*z.R), C: f8, R: (&p)}
	r += z.A - z.R.A + z.C
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

const half = 1.0 / 2
