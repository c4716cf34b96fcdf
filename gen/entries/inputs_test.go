package entries_test

import (
	"testing"
)

// TestHead: where rows and columns depend on integers that are not compared at the start, the plan has rows and
// columns.
func TestHead(t *testing.T) {
	const data = "c *struct{N int; M uint8; On bool; Ptr []int; W []float64; In struct{K int}}"
	for _, c := range []struct {
		body string
		head int // 2 for each input
	}{
		{"y[0] = x[1] * a", 4},
		{"y[n] = x[1] * a", 6},
		{"for l, m i int = 0; i < c.N; i += 1 {\n y[i] = x[i + int(c.M)] * x[c.In.K]\n}", 10},
		{"y[0] = x[c.Ptr[0]]", 0},
		{"if c.On {\n y[0] = x[0]\n}", 0},
		{"y[0] = x[0] * c.W[1]\n y[len(c.W)] = x[1]", 6},
		{"let k []int = make([]int, 3)\n k[1] = n\n y[k[1]] = x[0]", 0},
		{"c.N = 3\n y[c.N] = x[0]", 0},
		{"let d [3]float64\n d[1] = c.W[0]\n y[1] = x[0] * d[n]", 8},
		{"let d [3]int\n d[1] = n\n y[1] = x[0] * d[n]", 0},
		{"let p *int = &n\n *p = 2\n y[n] = x[0]", 0},
		{"n = n + 1\n y[n] = x[0]", 0},
		{"let w []float64 = c.W[1:]\n y[len(w)] = x[0]", 6},
		{"let w []float64 = c.W\n if cap(w) > 2 {\n y[0] = x[0]\n}", 0},
		{"if a > 1.0 {\n y[0] = x[0]\n}", 0},
	} {
		_, e := jacobian(t, "func F(y []float64, x []float64, a float64, n int, "+data+") exit {\n"+c.body+"\n}\n")
		if e.Head != c.head {
			t.Errorf("%s: the plan begins with %d integers, want %d\n%v", c.body, e.Head, c.head, e.Values)
		}
	}
}
