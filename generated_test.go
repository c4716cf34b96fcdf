package nabla_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/internal/engines"
	"github.com/nabla-ad/nabla/sparsity"
)

// Functions over float64 that have a form over Reals, written by hand.

type polymer struct {
	Scale   float64
	Weights []float64
	Links   [][]float64
	Order   map[string]int
	Next    *polymer
	Extra   any
	Log     func()
	work    []float64 `nabla:"fixed"`
}

// energy reads all that can change in a polymer, and writes its workspace.
func energy(x []float64, p *polymer) float64 {
	s := 0.0
	for ; p != nil; p = p.Next {
		if p.work != nil {
			p.work[0] += x[0]
		}
		for i, w := range p.Weights {
			s += p.Scale * w * x[i] * x[i]
		}
		for _, l := range p.Links {
			for i, w := range l {
				s += w * x[i]
			}
		}
		if e, ok := p.Extra.(*float64); ok {
			s += *e * x[0]
		}
		s *= float64(1 + p.Order["power"])
	}
	return s
}

func tracedEnergy(y, x []nabla.Real, arg any) int {
	s := nabla.Const(0)
	for p := arg.(*polymer); p != nil; p = p.Next {
		for i, w := range p.Weights {
			s = s.Add(x[i].Sq().Scale(p.Scale * w))
		}
		for _, l := range p.Links {
			for i, w := range l {
				s = s.Add(x[i].Scale(w))
			}
		}
		if e, ok := p.Extra.(*float64); ok {
			s = s.Add(x[0].Scale(*e))
		}
		s = s.Scale(float64(1 + p.Order["power"]))
	}
	y[0] = s
	return 1
}

func shear(y, x []float64) { y[0], y[1] = x[0]*x[1], math.Max(x[0], 0) }

func banded(x []float64) []float64 {
	y := make([]float64, len(x)-1)
	for i := range y {
		y[i] = x[i] * x[i+1]
	}
	return y
}

func generic[T ~float64](x []T) T { return x[0] * x[0] * x[1] }

type angle float64

func outdated(x []float64) float64 { return x[0] * x[0] * x[0] }

// early is made before init has registered anything.
var early = nabla.InPlace(2, shear)

func init() {
	for f, g := range map[any]func(y, x []nabla.Real, p any) int{
		"energy": tracedEnergy,
		"shear": func(y, x []nabla.Real, _ any) int {
			y[0], y[1] = x[0].Mul(x[1]), nabla.Max(x[0], nabla.Const(0))
			return 2
		},
		"banded": func(y, x []nabla.Real, _ any) int {
			for i := range y {
				y[i] = x[i].Mul(x[i+1])
			}
			return len(x) - 1
		},
		"generic": func(y, x []nabla.Real, _ any) int {
			y[0] = x[0].Sq().Mul(x[1])
			return 1
		},
		"outdated": func(y, x []nabla.Real, _ any) int {
			y[0] = x[0].Sq()
			return 1
		},
	} {
		f := map[any]any{"energy": energy, "shear": shear, "banded": banded, "generic": generic[float64],
			"outdated": outdated}[f]
		nabla.Register(f, nabla.Generated{Version: nabla.CodeVersion, Traced: g})
	}
}

// exactEngines are those that need a form over Reals.
var exactEngines = append(engines.Exact(), finitediff.Backend{Method: finitediff.Complex})

// TestGeneratedTraced has functions over float64 on engines that need Reals.
func TestGeneratedTraced(t *testing.T) {
	x := []float64{3, 2}
	for _, b := range exactEngines {
		if g, err := nabla.Gradient(generic[float64], b, x); err != nil || math.Abs(g[0]-12) > 1e-12 ||
			math.Abs(g[1]-9) > 1e-12 {
			t.Errorf("generic instance with %s: %v, %v", b.Name(), g, err)
		}
		if j, err := nabla.Jacobian(early, b, x); err != nil || j.At(0, 0) != 2 || j.At(0, 1) != 3 || j.At(1, 0) != 1 ||
			j.At(1, 1) != 0 {
			t.Errorf("in place with %s: %v, %v", b.Name(), j, err)
		}
		if h, err := nabla.Hessian(generic[float64], b, x); err != nil || math.Abs(h.At(0, 1)-6) > 1e-5 {
			t.Errorf("Hessian with %s: %v, %v", b.Name(), h, err)
		}
	}
	other := nabla.Bind(func(x []float64, _ *polymer) float64 { return float64(generic([]angle{angle(x[0]), 1})) },
		new(polymer))
	if _, err := nabla.Gradient(other, tracker.Backend{}, x); !errors.Is(err, nabla.ErrUnsupported) {
		t.Errorf("another function: %v", err)
	}
	p, err := nabla.JacobianSparsity(banded, sparsity.Global{}, make([]float64, 6))
	if err != nil || p.NNZ() != 10 {
		t.Errorf("pattern %v, %v", p, err)
	}
	j, err := nabla.Jacobian(banded, nabla.AutoSparse{Dense: reversediff.Backend{Compile: true}}, []float64{1, 2, 3, 4})
	if err != nil || j.At(1, 1) != 3 || j.At(1, 2) != 2 || j.At(0, 2) != 0 {
		t.Errorf("sparse Jacobian %v, %v", j, err)
	}
}

// TestGeneratedStruct changes data that a recording of a plain function over Reals froze, in every
// possible place, before calls that no comparison of values covers.
func TestGeneratedStruct(t *testing.T) {
	x := []float64{3, 2}
	extra, far := 0.25, &polymer{Scale: 1, Weights: []float64{1, 1}}
	shared := []float64{1, 2}
	p := &polymer{
		Scale: 2, Weights: shared, Links: [][]float64{{1, 1}, {2}}, Order: map[string]int{"power": 1, "other": 2},
		Extra: &extra,
		Next:  &polymer{Scale: 1, Weights: []float64{3, 4}, Next: far}, work: []float64{0},
	}
	changes := []func(){
		func() {},
		func() { p.Scale = 3 },
		func() { p.Weights[1] = 7 },
		func() { p.Weights = []float64{7, 1} },
		func() { p.Weights = p.Weights[:1] },
		func() { p.Links[1][0] = -2 },
		func() { p.Links = append(p.Links, []float64{0, 5}) },
		func() { p.Order["power"] = 2 },
		func() { delete(p.Order, "power") },
		func() { far.Scale = 0.5 },
		func() { far.Weights[1]++ },
		func() { extra = 8 },
		func() { p.Extra = nil },
		func() { p.Next = far },
		func() { p.Log = func() {} },
		func() { p.Scale = 4 },
	}
	type prepared struct {
		name string
		call func() ([]float64, error)
		p    interface{ Recordings() int }
	}
	var all []prepared
	f := nabla.Bind(energy, p)
	for _, b := range append(exactEngines, nabla.Policy{Backend: compiled, NoStaleCheck: true},
		nabla.AutoSparse{Dense: compiled}) {
		g, err := nabla.PrepareGradient(f, b, x)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all,
			prepared{"gradient with " + b.Name(), func() ([]float64, error) { return g.Gradient(nil, x) }, g})
		h, err := nabla.PrepareHVP(f, b, x)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, prepared{"gradient by HVP with " + b.Name(), func() ([]float64, error) {
			g, _, err := h.GradientAndHVP(nil, nil, x, x)
			return g, err
		}, h})
	}
	for i, change := range changes {
		change()
		for _, a := range all {
			for range 3 {
				p.work[0]++
				want, err := nabla.Gradient(f, finitediff.Backend{}, x)
				if err != nil {
					t.Fatal(err)
				}
				got, err := a.call()
				if err != nil {
					t.Fatalf("%s after change %d: %v", a.name, i, err)
				}
				for k := range want {
					if math.Abs(got[k]-want[k]) > 1e-5*(1+math.Abs(want[k])) {
						t.Errorf("%s after change %d: %v, want %v", a.name, i, got, want)
						break
					}
				}
			}
		}
		if i == 0 {
			for _, a := range all {
				if n := a.p.Recordings(); n > 1 {
					t.Errorf("%s: %d recordings without a change", a.name, n)
				}
			}
		}
	}
}

// TestGeneratedOutdated has a form over Reals that is not the function any more, on
// every engine.
func TestGeneratedOutdated(t *testing.T) {
	for _, b := range exactEngines {
		p, err := nabla.PrepareGradient(outdated, b, []float64{1}) // where both are 1, and nearby they are not
		if err == nil {
			_, err = p.Gradient(nil, []float64{1})
		}
		if !errors.Is(err, nabla.ErrStale) {
			t.Errorf("%s: got %v, want ErrStale", b.Name(), err)
		}
		_, err = nabla.Hessian(outdated, nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: b}, []float64{3})
		if !errors.Is(err, nabla.ErrStale) {
			t.Errorf("Hessian with forwarddiff over %s: got %v, want ErrStale", b.Name(), err)
		}
	}
}

func unregistered(x []float64) float64 { return x[0] }

var registerShapes sync.Once // they stay registered

// TestRegister covers arguments that panic, and all function types that do not.
func TestRegister(t *testing.T) {
	code := nabla.Generated{Version: nabla.CodeVersion, New: func() nabla.Code { return nabla.Code{} }}
	var none func([]float64) float64
	for _, tt := range []struct {
		f    any
		g    nabla.Generated
		want string
	}{
		{nil, code, "the function is nil"},
		{none, code, "the function is nil"},
		{3, code, "got a int"},
		{func(x []nabla.Real) nabla.Real { return x[0] }, code, "float64"},
		{func(x []float64, s string) float64 { return x[0] }, code, "float64"},
		{func(x ...float64) float64 { return x[0] }, code, "float64"},
		{func(x []float64) (float64, bool) { return x[0], true }, code, "float64"},
		{func(x []float64) (float64, error, error) { return x[0], nil, nil }, code, "float64"},
		{func(x []float64) error { return nil }, code, "float64"},
		{unregistered, nabla.Generated{Version: nabla.CodeVersion}, "New and Traced are nil"},
		{energy, code, "has generated code already"},
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, tt.want) || !strings.Contains(got, "Register") {
					t.Errorf("Register of a %T: %s, want %q", tt.f, got, tt.want)
				}
			}()
			nabla.Register(tt.f, tt.g)
		}()
	}
	registerShapes.Do(func() {
		for _, f := range []any{
			func(float64) float64 { return 0 }, func(float64) []float64 { return nil },
			func([]float64) float64 { return 0 },
			func([]float64) []float64 { return nil }, func(_, _ []float64) {}, func(_, _ []float64, _ *polymer) {},
			func([]float64, *polymer) float64 { return 0 }, func(*polymer, []float64) []float64 { return nil },
			func([]float64) (float64, error) { return 0, nil }, func(_, _ []float64) error { return nil },
			func(*polymer, []float64) ([]float64, error) { return nil, nil },
		} {
			nabla.Register(f, code)
		}
	})
}
