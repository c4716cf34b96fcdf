// failed: oracle value, input 0: variant "keep all": value [0.5 1.5 2.5 3.5 0.5 1.5 2.5 3.5 0.5 1.5 2.5], want [0.5 1.5 2.5 3.5 0.5 1.5 2.5 3.5 0.5 1 2.5]
// seed: 4000618
// signature: 1
// input: {"Mem":[0.5,1.5,2.5,3.5,0.5,1.5,2.5,3.5,0.5,1.5,2.5],"Windows":[[0,4,5],[5,9,11]],"Numbers":[],"N":1,"Aliased":false,"Round":false}

package rnd

func F(y []float64, x []float64) {
	b := x[1%len(x)] * 0.5
	n := len(x)
	r5 := new(float64)
	m6 := [][]float64{1: x, 0: x[:min(len(x)+1, cap(x))], 2: {(*r5 + b) * 0.5, 1}}
	m6[0][uint(n&7)%uint(len(m6[0]))] = (m6[0][0] + x[len(x)-1]) * 0.5
}
