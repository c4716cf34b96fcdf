package ir_test

import (
	"errors"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/ir"
)

// TestNative requires that a Go function sees the aliases of the evaluation's memory.
func TestNative(t *testing.T) {
	type matrix struct {
		N    int
		Data []float64
	}
	f := ir.Native(func(a, b []float64, m matrix, p *float64, k int) ([]float64, float64, *float64, []float64) {
		a[1] = 10 // is b[0]
		m.Data[0] += b[0]
		*p = 7
		return a[k:], b[0], p, []float64{1, 2}
	})
	mem := []float64{1, 2, 3, 4}
	x := 5.0
	in := ir.ValuesOf(mem[:2:3], mem[1:3], matrix{2, mem[3:]}, &x, 1)
	out := f(in)
	if got := ir.As[[]float64](in[0]); !slices.Equal(got, []float64{1, 10}) {
		t.Errorf("a is %v", got)
	}
	if got := ir.As[[]float64](in[1]); !slices.Equal(got, []float64{10, 3}) {
		t.Errorf("b is %v", got)
	}
	if got := ir.As[matrix](in[2]); !reflect.DeepEqual(got, matrix{2, []float64{14}}) {
		t.Errorf("m is %v", got)
	}
	if got := ir.As[*float64](in[3]); *got != 7 || ir.As[float64](out[1]) != 10 || *ir.As[*float64](out[2]) != 7 {
		t.Errorf("numbers are %v, %v, %v", *got, out[1], out[2])
	}
	if got := ir.As[[]float64](out[3]); !slices.Equal(got, []float64{1, 2}) {
		t.Errorf("the new slice is %v", got)
	}
	// A returned slice is the argument's memory: a second function writes to it.
	ir.Native(func(s []float64) { s[:cap(s)][1] = math.Pi })(out[:1])
	if got := ir.As[[]float64](in[1]); !slices.Equal(got, []float64{10, math.Pi}) {
		t.Errorf("b is %v", got)
	}
	if got := ir.Native(func(s []float64, t []float64) int { return len(s) + cap(t) })(ir.ValuesOf([]float64(nil),
		[]float64{})); ir.As[int](got[0]) != 0 {
		t.Errorf("lengths of nothing are %v", got)
	}
}

// TestNativePanics requires that a panic of a Go function becomes a panic of the evaluated function.
func TestNativePanics(t *testing.T) {
	f := &ir.Func{Name: "m.F", Exit: &ir.Label{Name: "exit"},
		Body: ir.Block{&ir.Call{Callee: &ir.Callee{Rule: &ir.Rule{Name: "m.P"}}}}}
	for want, p := range map[string]func(){
		"panic: too long": func() { panic("too long") },
		"panic: EOF":      func() { panic(io.EOF) },
		"panic: runtime error: index out of range [1] with length 0": func() { mem := []int{}; mem[len(f.Body)]++ },
	} {
		m := ir.Machine{Rules: map[string]func([]ir.Value) []ir.Value{"m.P": ir.Native(p)}}
		_, err := m.Eval(f, nil)
		var e *ir.PanicError
		if !errors.As(err, &e) || e.Error() != want || e.Runtime() != strings.Contains(want, "runtime") {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
