// failed: oracle transpose, input 0: ⟨seeds, J·direction⟩ is -7.9248508331761265, ⟨adjoints, direction⟩ is -9.250853410526918
// seed: 1000248
// signature: 3
// input: {"Mem":[0.5,1.5,2.5,3.5,0.5,1.5,2.5,3.5,0.5,1.5,2.5,3.5,0.5],"Windows":[[0,4,6],[6,11,13]],"Numbers":[1.5],"N":1,"Aliased":false,"Round":false}

package rnd

func F(x []float64, y []float64, a float64) (r float64, out []float64) {
	n := 5
	s12 := make([]float64, 1, 3)
	s13 := append(s12, mean([]float64{1, x[0]}...))
	s14 := append(s12, 1)
	x[0], s14[0] = s13[1], mean([]float64{1, x[0]}...)
	x[uint(n&3)%uint(len(x))] = (s13[0] + x[uint(n&3)%uint(len(x))]) * 0.5
	return r, x
}

func mean[T float64 | float32](x ...T) (s T) {
	for _, v := range x {
		s += v
	}
	if len(x) > 0 {
		s /= T(len(x))
	}
	return
}
