package rt_test

import (
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/rt"
)

type activation func(float64) float64

func square(x float64) float64 { return x * x }

func cube(x float64) float64 { return x * x * x }

func TestIsFunction(t *testing.T) {
	a := 2.0
	closure := func(x float64) float64 { return a * x }
	functions := []activation{square, cube, math.Sin, math.Sqrt, closure, nil}
	for i, f := range functions {
		for j, known := range []func(float64) float64{square, cube, math.Sin, math.Sqrt} {
			if got := rt.IsFunction(f, known); got != (i == j) {
				t.Errorf("function %d is function %d: %v", i, j, got)
			}
		}
	}
}

func TestUnknownFunction(t *testing.T) {
	var unknown *rt.UnknownFunctionError
	err := rt.UnknownFunction(activation(cube), "field Act of nn.Layer", "nn.square, math.Sin")
	if !errors.As(err, &unknown) || !strings.HasSuffix(unknown.Function, "rt_test.cube") {
		t.Error(err)
	}
	for _, want := range []string{"cube in field Act of nn.Layer", "nn.square, math.Sin", "run it again"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q lacks %q", err, want)
		}
	}
	defer func() {
		if _, ok := recover().(runtime.Error); !ok {
			t.Error("no panic of a nil dereference")
		}
	}()
	t.Errorf("nil: %v", rt.UnknownFunction(activation(nil), "", ""))
}
