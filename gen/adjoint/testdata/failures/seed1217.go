// oracle: oracle transpose, input 0: ⟨seeds, J·direction⟩ is 1.2238905442436194, ⟨adjoints, direction⟩ is -0.14890637151404773
// seed: 1217
// signature: 4
// input: {"Mem":[0.5,1.5,2.5,3.5,0.5,1.5,2.5,3.5,0.5,1.5,2.5,3.5,0.5,1.5,2.5,3.5,0.5,1.5,2.5],"Windows":[[0,4,4],[4,9,10],[10,13,15],[15,19,19]],"Numbers":[1.5,1.5,1.5,1.5,1.5,1.5,1.5,1.5,1.5,1.5,1.5,1.5],"N":1,"Aliased":false}

package rnd

func F(a float64, b float64, x []float64, y []float64, n int, p P, q *P) (r float64, k int, out []float64) {
	z := Q{P: p, R: q, C: half}
	r12 := new(float64)
	g13 := []P{{A: 1}, p, 3: (*z.R)}
	for i, e := range g13 {
		g13[(i+1)%4].V[i%3] -= e.A * 0.5
	}
	r14 := new(float64)
	(*r12) = ((*r12) + (*r14)) * 0.5
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

const half = 1.0 / 2
