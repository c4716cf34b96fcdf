// failed: oracle transpose, input 0: variant "no recycle": ⟨seeds, J·direction⟩ is 3.1112336074210285, ⟨adjoints, direction⟩ is 3.069085963458486
// seed: 12002006
// signature: 1
// input: {"Mem":[0.5,1.5,2.5,3.5,0.5,1.5,2.5,3.5,0.5,1.5],"Windows":[[0,4,5],[5,8,10]],"Numbers":[],"N":1,"Aliased":false,"Round":false}

package rnd

func F(y []float64, x []float64) {
	a := x[len(x)-1] * 0.5
	r14 := &a
	(*r14) -= a
	y[0] += a
}
