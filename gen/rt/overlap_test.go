package rt_test

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/nabla-ad/nabla/gen/rt"
)

func TestOverlap(t *testing.T) {
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
	type pair struct{ _, b float64 }
	rows := make([]pair, 3)
	for _, tt := range []struct {
		name string
		s    []rt.Span
		want string
	}{
		{"apart", []rt.Span{rt.SpanOf(rows[:1]), rt.SpanOf(m), rt.SpanOf(rows[1:])}, ""},
		{"nothing", []rt.Span{rt.SpanOf(rows), rt.SpanOf([]float64(nil)), rt.SpanOf(rows[1:1])}, ""},
		{"a field", []rt.Span{rt.SpanOf(rows), rt.SpanOf(m), rt.SpanOf(unsafe.Slice(&rows[2].b, 1))}, "a and c"},
		{"part of the last",
			[]rt.Span{rt.SpanOf(m[2:]), rt.SpanOf(rows), rt.SpanOf(unsafe.Slice((*[2]float64)(m[1:3]), 1))}, "a and c"},
	} {
		got := ""
		func() {
			defer func() {
				if e, ok := recover().(*rt.OverlapError); ok {
					got = e.First + " and " + e.Second
				}
			}()
			rt.SpansApart("F", "a, b, c", 1, tt.s...)
		}()
		if got != tt.want {
			t.Errorf("%s: %q overlap, want %q", tt.name, got, tt.want)
		}
	}
	if n := testing.AllocsPerRun(10, func() { rt.SpansApart("F", "a, b", 1, rt.SpanOf(m), rt.SpanOf(rows)) }); n != 0 {
		t.Errorf("%v allocations", n)
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
