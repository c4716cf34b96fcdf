// oracle: oracle transpose, input 0: ⟨seeds, J·direction⟩ is -5.762772644407502, ⟨adjoints, direction⟩ is -2.723249709737916
// seed: 1038
// signature: 4
// input: {"Mem":[0.5,1.5,2.5,3.5,0.5,1.5,2.5,3.5,0.5,1.5,2.5,3.5,0.5,1.5,2.5,3.5,0.5,1.5,2.5,3.5,0.5,1.5,2.5,3.5],"Windows":[[0,5,6],[6,9,11],[11,16,18],[18,23,24]],"Numbers":[1.5,1.5,1.5,1.5,1.5,1.5,1.5,1.5,1.5,1.5,1.5,1.5],"N":1,"Aliased":false}

package rnd

func F(a float64, b float64, x []float64, y []float64, n int, p P, q *P) (r float64, k int, out []float64) {
	z := Q{P: p, R: q, C: half}
	g10 := []P{{A: 1}, p, 3: (*q)}
	for i, e := range g10 {
		g10[(i+1)%4].V[i%3] -= e.A * 0.5
	}
	return r, k + n, append(x[:len(x):len(x)], z.C)
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
