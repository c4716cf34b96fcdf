package fd_test

import (
	"math"
	"slices"
	"testing"

	gonum "gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla/fd"
	"github.com/nabla-ad/nabla/internal/problems"
)

// TestGenerated: functions with generated code have exact derivatives, whatever the settings.
func TestGenerated(t *testing.T) {
	x := []float64{-1.2, 1}
	g := []float64{-400*(1-1.44)*-1.2 - 2*2.2, 200 * (1 - 1.44)}
	coarse := &fd.Settings{Step: 0.5, Formula: fd.Central, OriginKnown: true, OriginValue: 7}
	for _, dst := range [][]float64{nil, make([]float64, 2)} {
		got := fd.Gradient(dst, problems.RosenbrockPlain, x, coarse)
		if !near(got[0], g[0]) || !near(got[1], g[1]) || dst != nil && &got[0] != &dst[0] {
			t.Errorf("gradient %v, want %v", got, g)
		}
	}
	h := []float64{1200*1.44 - 400 + 2, 480, 480, 200}
	for _, dst := range []*mat.SymDense{{}, mat.NewSymDense(2, nil)} {
		fd.Hessian(dst, problems.RosenbrockPlain, x, coarse)
		for k, want := range h {
			if got := dst.At(k/2, k%2); !near(got, want) {
				t.Errorf("element %d of the Hessian is %v, want %v", k, got, want)
			}
		}
	}
	if got := fd.Laplacian(problems.RosenbrockPlain, x, &fd.Settings{Formula: fd.Central2nd}); !near(got, h[0]+h[3]) {
		t.Errorf("Laplacian %v, want %v", got, h[0]+h[3])
	}
}

func near(got, want float64) bool { return math.Abs(got-want) <= 1e-12*math.Abs(want) }

// TestWithoutCode: functions without code have gonum's differences, bit for bit.
func TestWithoutCode(t *testing.T) {
	scale := 3.0
	f := func(x []float64) float64 { return math.Sin(scale*x[0]) * x[1] }
	v := func(y, x []float64) { y[0], y[1], y[2] = f(x), x[0], scale*x[1] }
	c := func(x float64) float64 { return math.Exp(scale * x) }
	x := []float64{0.4, 1.5}
	for _, s := range []*fd.Settings{nil, {Formula: fd.Central}, {Step: 1e-3}} {
		if got, want := fd.Gradient(nil, f, x, s), gonum.Gradient(nil, f, x, s); !slices.Equal(got, want) {
			t.Errorf("gradient %v, want %v", got, want)
		}
		if got, want := fd.Derivative(c, 0.3, s), gonum.Derivative(c, 0.3, s); got != want {
			t.Errorf("derivative %v, want %v", got, want)
		}
		var got, want mat.SymDense
		fd.Hessian(&got, f, x, s)
		gonum.Hessian(&want, f, x, s)
		if !mat.Equal(&got, &want) {
			t.Errorf("Hessian %v, want %v", got, want)
		}
	}
	got, want := mat.NewDense(3, 2, nil), mat.NewDense(3, 2, nil)
	fd.Jacobian(got, v, x, nil)
	gonum.Jacobian(want, v, x, nil)
	if !mat.Equal(got, want) {
		t.Errorf("Jacobian %v, want %v", got, want)
	}
	if got, want := fd.Laplacian(f, x, nil), gonum.Laplacian(f, x, nil); got != want {
		t.Errorf("Laplacian %v, want %v", got, want)
	}
	two := func(x, y []float64) float64 { return x[0] * y[0] * scale }
	if got, want := fd.CrossLaplacian(two, x, x, nil), gonum.CrossLaplacian(two, x, x, nil); got != want {
		t.Errorf("cross Laplacian %v, want %v", got, want)
	}
}

// TestPanics: arguments that gonum refuses are refused in the same words.
func TestPanics(t *testing.T) {
	f := problems.RosenbrockPlain
	v := func(y, x []float64) { copy(y, x) }
	for name, calls := range map[string][2]func(){
		"Gradient": {func() { fd.Gradient(make([]float64, 3), f, make([]float64, 2), nil) },
			func() { gonum.Gradient(make([]float64, 3), f, make([]float64, 2), nil) }},
		"Hessian": {func() { fd.Hessian(mat.NewSymDense(3, nil), f, make([]float64, 2), nil) },
			func() { gonum.Hessian(mat.NewSymDense(3, nil), f, make([]float64, 2), nil) }},
		"Jacobian": {func() { fd.Jacobian(mat.NewDense(2, 3, nil), v, make([]float64, 2), nil) },
			func() { gonum.Jacobian(mat.NewDense(2, 3, nil), v, make([]float64, 2), nil) }},
		"Jacobian in nil": {func() { fd.Jacobian(nil, v, make([]float64, 2), nil) },
			func() { gonum.Jacobian(nil, v, make([]float64, 2), nil) }},
		"empty Jacobian": {func() { fd.Jacobian(&mat.Dense{}, v, make([]float64, 2), nil) },
			func() { gonum.Jacobian(&mat.Dense{}, v, make([]float64, 2), nil) }},
	} {
		if got, want := panicOf(calls[0]), panicOf(calls[1]); got != want || got == nil {
			t.Errorf("%s panics with %v, want %v", name, got, want)
		}
	}
	short := func(x []float64) float64 { return x[5] }
	if panicOf(func() { fd.Gradient(nil, short, make([]float64, 2), nil) }) == nil {
		t.Error("a function that panics does not")
	}
}

func panicOf(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

func BenchmarkGradient(b *testing.B) {
	x := make([]float64, 100)
	for name, f := range map[string]func([]float64, func([]float64) float64, []float64, *fd.Settings) []float64{
		"nabla": fd.Gradient, "gonum": gonum.Gradient,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			g := make([]float64, len(x))
			for b.Loop() {
				f(g, problems.RosenbrockPlain, x, nil)
			}
		})
	}
}
