package problems

// lcg draws the inputs that are not given in closed form: Knuth's MMIX generator,
// its upper 53 bits.
type lcg uint64

// seed is where every problem's stream begins.
const seed lcg = 42

// next is a number in [-1, 1).
func (s *lcg) next() float64 {
	*s = *s*6364136223846793005 + 1442695040888963407
	return 2*(float64(*s>>11)*0x1p-53) - 1
}

// draw is n numbers.
func (s *lcg) draw(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = s.next()
	}
	return v
}
