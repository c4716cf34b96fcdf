package lower

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/ir"
)

// TestEffects compares the mod/ref summary of the last function of each text: the parameters through which it writes
// and reads memory.
func TestEffects(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{`func f(x []float64, y []float64, n int) (r float64) exit {
			x[0] = 1.0
			r = y[n]
		}`, "w r -"},
		{`func f(x []float64, y []float64) exit {
			let z []float64 = x[1:]
			copy(z, y)
		}`, "w r"},
		{`func f(x []float64, y []float64) (n int) exit {
			n = len(x) + cap(y)
			clear(x[:0])
		}`, "w -"},
		{`func f(x []float64, y []float64) (n int) exit {
			let rows [][]float64 = make([][]float64, 2)
			let same [][]float64 = rows
			rows[0] = x
			same[0][1] = 2.0
			same = append(same, y)
		}`, "rw rw"},
		{`func f(p *struct{ X []float64 }, x []float64) exit {
			let q *struct{ X []float64 } = p
			q.X = x
			p.X[0] += 1.0
		}`, "rw rw"},
		{`func g(x []float64, y []float64, n int) (z []float64) exit {
			if n > 0 {
				z = call g(y, x, n-1)
			} else {
				z = x
			}
		}
		func f(x []float64, y []float64, a []float64) exit {
			let z []float64
			z = call g(x, y, 3)
			z[0] = a[0]
		}`, "w w r"},
		{`func f(x []float64, y []float64, a float64) exit {
			call rule "other.F"(x, a)
		}`, "rw - -"},
		{`func f(x []float64, y []float64, k []int) exit {
			let z []float64 = make([]float64, len(y))
			z[0] = x[0]
			let u []float64 = x[k[0]:len(y)]
			u[0] = 1.0
		}`, "rw - r"},
		{`func f(x *float64, y *float64) exit {
			*x += *y
		}`, "rw r"},
	} {
		fs, err := ir.Parse(tt.text, &ir.Env{})
		if err != nil {
			t.Fatal(err)
		}
		f := fs[len(fs)-1]
		if err := ir.Check(f); err != nil {
			t.Fatal(err)
		}
		write, read := effects(f)
		var got []string
		for i := range write {
			s := ""
			if read[i] {
				s = "r"
			}
			if write[i] {
				s += "w"
			}
			if s == "" {
				s = "-"
			}
			got = append(got, s)
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s, want %s: %s", s, tt.want, fmt.Sprint(f))
		}
	}
}
