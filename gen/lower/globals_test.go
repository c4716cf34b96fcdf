package lower_test

import (
	"fmt"
	"strings"
	"testing"
)

// globalsSource declares package variables, and functions that tests of them call.
const globalsSource = `package m

type config struct {
	Rows [][]float64
	W    []float64
	Next *config
	K    float64
}

var (
	Y     = []float64{1, 2, 3}
	N     = 3
	Index = []int{2, 0, 1}
	Rows  = [][]float64{{1}, {2, 3}}
	Table = [3]float64{1, 2, 3}
	Conf  = config{W: []float64{1}}
	Ptr   = &config{W: []float64{1}}
)

// A holder refers to a package variable without being a part of it.
type holder struct {
	conf *config
	draw func() float64
	sum  [2]float64
	w    []float64
}

var Draw = func() float64 { return 1 }

func newHolder() *holder           { return &holder{conf: &Conf, draw: Draw, w: []float64{1}} }
func (h *holder) add(x float64)    { addTo(&h.sum, x) }
func addTo(s *[2]float64, x float64) { split(x, &s[0], &s[1]) }
func split(x float64, a, b *float64) { *a, *b = x, x*x }
func rowOf(h *holder) *float64     { return &h.conf.W[0] }

func same(y []float64) []float64           { return y }
func size(y []float64) int                 { return len(y) }
func sized(y []float64) []float64          { return make([]float64, len(y)) }
func pick(x, y []float64, i int) []float64 { return x[i:] }
func fill(y []float64)                     { y[0] = 1 }
func fillBy(x, y []float64)                { x[len(y)-1] = y[0] }

//nabla:rule tangent=readTangent passive=y
func read(y []float64, x float64) float64 {
	return x * y[0]
}

func readTangent(y []float64, x, xDot float64) (r, rDot float64) { return x * y[0], xDot * y[0] }

//nabla:rule tangent=scaleTangent
func scale(y []float64, x float64) {
	for i := range y {
		y[i] *= x
	}
}

func scaleTangent(y []float64, x float64, yDot []float64, xDot float64) {}

//nabla:rule tangent=asmTangent
func asm(y []float64, x float64) float64

func asmTangent(y []float64, x float64, yDot []float64, xDot float64) (r, rDot float64) { return 0, 0 }

//nabla:rule tangent=intoTangent writes=dst
func into(dst, y []float64)

func intoTangent(dst, y, dstDot, yDot []float64) {}

`

// TestGlobals: package variables may be read in any way, also to find out how much memory
// is to be made or which is meant, and their memory may not be written by any name unless they are scratch.
func TestGlobals(t *testing.T) {
	const write = "write to package variable m."
	tests := []struct{ body, want string }{
		{"r := make([]float64, len(Y)); r[0] = x[0]; return r[0]", ""},
		{"r := make([]float64, len(Y), cap(Y)+N); r = append(r, x...); return r[3]", ""},
		{"r := make([]float64, size(Y)); r[0] = x[0]; return r[0]", ""},
		{"r := sized(Y); r[0] = x[0]; return r[0]", ""},
		{"r := make([][]float64, len(Rows)); r[1] = make([]float64, len(Rows[1])); r[1][0] = x[0]; return r[1][0]", ""},
		{"r := x[Index[1]:]; r[0] = 2; return x[0]", ""},
		{"r := x[:Index[0]:len(Y)]; r[0] = 2; return x[0]", ""},
		{"r := [][]float64{x, x}; s := r[Index[1]]; s[0] = 2; return x[0]", ""},
		{"p := &x[Index[1]]; *p = Y[0]; return x[0]", ""},
		{"r := pick(x, Y, N-3); r[0] = 1; return x[0]", ""},
		{"fillBy(x, Y); return x[2]", ""},
		{"r := append([]float64(nil), Y...); r[0] = x[0]; return r[0]", ""},
		{"r := append(x[:0], Y...); r[0] = x[1]; return r[0]", ""},
		{"r := make([]float64, 3); copy(r, Y); r[0] = x[0]; return r[0]", ""},
		{"r := Table; r[0] = x[0]; return r[0]", ""},
		{"r := Table; s := r[:]; s[0] = x[0]; return r[0]", ""},
		{"r := Table[:]; r[0] = x[0]; return Table[0]", ""}, // scratch
		{"s := 0.0; for i, v := range Y { s += v * x[i] }; return s", ""},
		{"c := Conf; c.K = x[0]; return c.K", ""},
		{"r := []float64{Y[0], Table[1], Rows[1][1], Ptr.W[0], Conf.W[0]}; r[0] *= x[0]; return r[0]", ""},
		{"r := struct{ w []float64; n int }{x, len(Y)}; r.w[0] = 2; return x[0]", ""},
		{"r := x; if len(Y) > 2 { r = r[1:] }; r[0] = 3; return r[0]", ""},
		{"return read(Y, x[0])", ""},
		{"r := sized(Y); scale(r, x[0]); return r[0]", ""},
		{"into(x, Y); return x[0]", ""},
		{"r := x; if &r[0] != &Y[0] { r[0] = 3 }; return r[0]", ""},

		{"h := newHolder(); h.sum[0] = x[0]; return h.sum[0] * h.conf.W[0]", ""},
		{"h := newHolder(); h.add(x[0]); return h.sum[0]", ""},
		{"h := newHolder(); h.w = append(h.w, 1); return x[0]", write + "Conf"}, // by their types it may be W
		{"h := newHolder(); h.conf.W[0] = x[0]; return x[0]", write + "Conf"},
		{"h := newHolder(); h.conf.K = x[0]; return x[0]", write + "Conf"},
		{"h := newHolder(); split(x[0], &h.conf.K, &h.sum[0]); return x[0]", write + "Conf"},
		{"h := newHolder(); *rowOf(h) = x[0]; return x[0]", write + "Conf"},
		{"h := newHolder(); s := h.sum[:]; s[0] = x[0]; return h.sum[0]", write + "Conf"}, // as an element of W

		{"Y[0] = x[0]; return Y[0]", write + "Y"},
		{"r := Y; r[0] = x[0]; return Y[0]", write + "Y"},
		{"r := Y[1:]; r[0] = x[0]; return Y[1]", write + "Y"},
		{"r := same(Y); r[0] = x[0]; return Y[0]", write + "Y"},
		{"r := append(Y[:0], x...); return r[0]", write + "Y"},
		{"r := Rows[Index[1]]; r[0] = x[0]; return r[0]", write + "Rows"},
		{"copy(Rows[0], x); return Rows[0][0]", write + "Rows"},
		{"fill(Conf.W); return x[0]", write + "Conf"},
		{"p := Ptr; p.K = x[0]; return Ptr.K", write + "Ptr"},
		{"p := &Conf; p.K = x[0]; return Conf.K", "write to package variable m.Conf"},
		{"c := Conf; c.W[0] = x[0]; return Conf.W[0]", write + "Conf"},
		{"r := append([][]float64(nil), Rows...); r[0][0] = x[0]; return Rows[0][0]", write + "Rows"},
		{"r := [][]float64{x, Y}; r[1][0] = x[0]; return Y[0]", write + "Y"},
		{"r := struct{ w []float64 }{Y}; r.w[0] = 2; return x[0]", write + "Y"},
		{"scale(Y, x[0]); return Y[0]", write + "Y"},
		{"r := Y[1:]; scale(r, x[0]); return Y[1]", write + "Y"},
		{"into(Y, x); return x[0]", write + "Y"},
		{"return asm(Y, x[0])", "m.asm may write its memory"},
	}
	text := globalsSource
	for i, tt := range tests {
		text += fmt.Sprintf("func F%d(x []float64) float64 { %s }\n", i, tt.body)
	}
	p, _ := module(t, map[string]string{"m.go": text, "asm.s": ""})
	for i, tt := range tests {
		_, err := p.Func(p.Lookup("m", fmt.Sprintf("F%d", i)))
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s is refused: %v", tt.body, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: got %v, want %s", tt.body, err, tt.want)
		}
	}
}
