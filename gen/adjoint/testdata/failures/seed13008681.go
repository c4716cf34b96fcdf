// failed: oracle transpose, input 0: variant "": ⟨seeds, J·direction⟩ is 3.223335999190285, ⟨adjoints, direction⟩ is 1.719813964666446
// seed: 13008681
// signature: 1
// input: {"Mem":[0,1.5,-0.6101333943457068,2,0,0],"Windows":[[1,4,4],[1,4,6]],"Numbers":[],"N":1,"Aliased":true,"Round":true}

package rnd

func F(y []float64, x []float64) {
	a := x[len(x)-1] * 0.5
	b := x[1%len(x)] * 0.5
	f5 := fold(x, 1, func(left, right float64) float64 { return (left+right)*0.25 + 1*0.5 })
	_ = f5
	if 1 >= a {
		if 1 < x[0] {
			return
		}
	}
	y[0] += a*1 + b*0.5 + y[len(y)-1] + y[0]*0.5 + x[len(x)-1] + x[0]*0.5
}

func fold(x []float64, s float64, f func(a, b float64) float64) float64 {
	for i := len(x) - 1; i >= 0; i-- {
		s = f(s, x[i])
	}
	return s
}
