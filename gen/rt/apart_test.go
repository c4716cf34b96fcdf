package rt_test

import (
	"errors"
	"testing"

	"github.com/nabla-ad/nabla/gen/rt"
)

func TestApart(t *testing.T) {
	m := make([]float64, 10)
	for _, tt := range []struct {
		name    string
		written int
		s       [][]float64
		want    *rt.OverlapError
	}{
		{"apart", 3, [][]float64{m[:3], m[3:5], m[5:]}, nil},
		{"empty", 3, [][]float64{m, m[:0], m[5:5], nil}, nil},
		{"read only", 1, [][]float64{m[:3], m[3:5], m[3:7]}, nil},
		{"none", 0, [][]float64{m, m}, nil},
		{"same", 1, [][]float64{m, m}, &rt.OverlapError{Func: "F", First: "a", Second: "b"}},
		{"within", 1, [][]float64{m, nil, m[4:5]}, &rt.OverlapError{Func: "F", First: "a", Second: "c"}},
		{"around", 2, [][]float64{nil, m[4:5], m}, &rt.OverlapError{Func: "F", First: "b", Second: "c"}},
		{"end", 1, [][]float64{m[3:6], m[5:]}, &rt.OverlapError{Func: "F", First: "a", Second: "b"}},
		{"begin", 1, [][]float64{m[5:], m[3:6]}, &rt.OverlapError{Func: "F", First: "a", Second: "b"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			defer func() {
				r := recover()
				var e *rt.OverlapError
				if err, ok := r.(error); r != nil && (!ok || !errors.As(err, &e)) {
					t.Fatal(r)
				}
				if (e == nil) != (tt.want == nil) || e != nil && *e != *tt.want {
					t.Errorf("got %v, want %v", e, tt.want)
				}
			}()
			rt.Apart("F", "a, b, c, d", tt.written, tt.s...)
		})
	}
	if n := testing.AllocsPerRun(10, func() { rt.Apart("F", "a, b", 2, m[:5], m[5:]) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkApart(b *testing.B) {
	m := make([]float64, 40)
	for b.Loop() {
		rt.Apart("F", "a, b, c, d", 3, m[:10], m[10:20], m[20:30], m[30:])
	}
}
