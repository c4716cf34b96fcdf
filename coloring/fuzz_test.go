package coloring

import (
	"testing"

	"github.com/nabla-ad/nabla/sparsity"
)

// FuzzColoring reads a problem, an order and a matrix from bytes and verifies the
// colouring, and that Constant takes it.
func FuzzColoring(f *testing.F) {
	f.Add([]byte{3, 3, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 0})
	f.Add([]byte{10, 10, 5, 0, 1, 0, 0, 0, 1, 1, 0, 1, 2, 2, 3, 3, 0})
	f.Add([]byte{4, 4, 2, 3, 1, 0, 3, 1, 2, 2, 1, 3, 0})
	f.Add([]byte{1, 9, 3, 4, 1, 0, 0, 0, 1, 0, 2, 0, 8})
	f.Add([]byte{0, 0, 4, 0, 0})
	f.Fuzz(func(t *testing.T, code []byte) {
		if len(code) < 5 || len(code) > 400 {
			return
		}
		tabulateFrom(t, []int{1, 4, heavy}[int(code[4]>>1)%3])
		m, n := int(code[0]%24), int(code[1]%24)
		problem := problems[int(code[2])%len(problems)]
		if problem.Structure == Symmetric {
			m = n
		}
		a := Greedy{Orders: []Order{orders[int(code[3])%len(orders)]}, Postprocess: code[4]&1 != 0}
		var is, js []int
		for k := 5; m > 0 && n > 0 && k+1 < len(code); k += 2 {
			i, j := int(code[k])%m, int(code[k+1])%n
			is, js = append(is, i), append(js, j)
			if problem.Structure == Symmetric {
				is, js = append(is, j), append(js, i)
			}
		}
		p, err := sparsity.FromEntries(m, n, is, js)
		if err != nil {
			t.Fatal(err)
		}
		c, err := a.Color(p, problem)
		if err != nil {
			t.Fatal(err)
		}
		if err := verify(c); err != nil {
			t.Fatalf("%v by %v: %v\n%s", c, a, err, c.Picture())
		}
		given, err := Constant{c.ColumnColors(), c.RowColors()}.Color(p, problem)
		if err != nil {
			t.Fatal(err)
		}
		if given.Colors() != c.Colors() {
			t.Fatalf("%v became %v", c, given)
		}
	})
}
