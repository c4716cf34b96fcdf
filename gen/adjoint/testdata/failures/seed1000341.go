// failed: oracle transpose, input 0: ⟨seeds, J·direction⟩ is 4.948257173585482, ⟨adjoints, direction⟩ is 4.835062571975284
// seed: 1000341
// signature: 3
// input: {"Mem":[0.5,1.5,2.5,3.5,0.5,1.5,2.5,3.5],"Windows":[[0,3,5],[5,8,8]],"Numbers":[1.5],"N":1,"Aliased":false,"Round":false}

package rnd

func F(x []float64, y []float64, a float64) (r float64, out []float64) {
	b := 0.75
	for i3 := range 2 {
		a := x[uint(i3)%uint(len(x))]
		_ = a
	}
	x[0] = b
	return r, x
}
