package series

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/nabla-ad/nabla/rules"
)

// referenceTol is the largest error at order 10, relative to the coefficient or to 1e-3 times what a geometric series
// through the larger neighbours would have there.
const referenceTol = 1e-12

// A reference is a case of testdata/reference.json.
type reference struct {
	Op   string
	X    []float64
	C    [][]float64
	Want []string
}

func (r *reference) String() string { return fmt.Sprintf("%s(%v along %v)", r.Op, r.X, r.C) }

func references(t testing.TB) (list []reference) {
	text, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// operands returns the operands of r and op(x).
func (r *reference) operands(t testing.TB) (op rules.Op, x, y Series, v float64) {
	op, ok := rules.Lookup(r.Op)
	if !ok {
		t.Fatalf("no operation %q", r.Op)
	}
	var s [2]Series
	for i, v := range r.X {
		s[i].Value = v
		if len(r.C[i]) > 0 {
			s[i].C, s[i].Degree = make([]float64, 10), len(r.C[i])
			copy(s[i].C, r.C[i])
		}
	}
	return op, s[0], s[1], value(op, [3]float64{s[0].Value, s[1].Value})
}

// TestReference compares the coefficients of all operations with those of multi-precision arithmetic.
func TestReference(t *testing.T) {
	m := NewArithmetic(Line(10))
	seen := map[rules.Op]bool{}
	list := references(t)
	worst, at := 0.0, ""
	for i := range list {
		r := &list[i]
		op, x, y, v := r.operands(t)
		seen[op] = true
		got := make([]float64, 10)
		m.Apply(op, got, v, x, y)
		want := make([]float64, 11)
		for k, w := range r.Want {
			want[k], _ = strconv.ParseFloat(w, 64)
		}
		for k := 1; k <= 10; k++ {
			if e := relErr(got[k-1], want, k); e > referenceTol {
				t.Errorf("%v: coefficient %d is %v, want %v, error %.2g", r, k, got[k-1], want[k], e)
			} else if e > worst {
				worst, at = e, fmt.Sprint(r, " order ", k)
			}
		}
	}
	t.Logf("%d cases; largest error %.2g: %s", len(list), worst, at)
	for op := rules.Invalid + 1; op < rules.NumOps; op++ {
		constant := true
		for i := range op.Arity() {
			constant = constant && rules.Partial(op, i) == nil
		}
		if !constant && !seen[op] && op != rules.FMA && op != rules.Nextafter {
			t.Errorf("no case of %v", op)
		}
	}
}

// relErr returns the error of coefficient k, relative to it or, if it is much smaller than those beside it suggest, to
// 1e-3 of their geometric mean.
func relErr(got float64, want []float64, k int) float64 {
	size := math.Abs(want[k])
	if k > 1 && k < len(want)-1 {
		size = max(size, 1e-3*math.Sqrt(math.Abs(want[k-1]*want[k+1])))
	}
	if got == want[k] {
		return 0
	}
	return math.Abs(got-want[k]) / max(size, 1e-300)
}
