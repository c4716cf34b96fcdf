package problems

// An lcg generates the inputs that are not given in closed form, by the upper 53 bits of Knuth's MMIX generator.
type lcg uint64

// seed is the seed of every problem's generator.
const seed lcg = 42

// next returns a number in [-1, 1).
func (s *lcg) next() float64 {
	*s = *s*6364136223846793005 + 1442695040888963407
	return 2*(float64(*s>>11)*0x1p-53) - 1
}

// draw returns n numbers.
func (s *lcg) draw(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = s.next()
	}
	return v
}
