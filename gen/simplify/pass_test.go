package simplify_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/simplify"
	"github.com/nabla-ad/nabla/internal/longtest"
)

type point struct {
	A float64
	V [2]float64
}

// outcome runs f on random arguments and returns its results followed by the final contents of its slice arguments, and
// whether it panicked. If aliased is set, the two slices overlap.
func outcome(t *testing.T, f *ir.Func, seed uint64, aliased bool) (numbers []float64, panicked bool) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 9))
	x := make([]float64, 5)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	y := []float64{r.NormFloat64(), r.NormFloat64(), 1, 0.5}
	if aliased {
		y = x[1:]
	}
	in := ir.ValuesOf(x, y, r.NormFloat64(), [3]float64{1, r.NormFloat64(), 2},
		point{r.NormFloat64(), [2]float64{3, 4}}, r.IntN(4))
	m := &ir.Machine{Steps: 1 << 20}
	out, err := m.Eval(f, in)
	var p *ir.PanicError
	if err != nil && !errors.As(err, &p) {
		t.Fatalf("%v\n%v", err, f)
	}
	if err == nil {
		v := ir.As[[3]float64](out[1])
		numbers = append(numbers, ir.As[float64](out[0]), v[0], v[1], v[2])
	}
	numbers = append(numbers, ir.As[[]float64](in[0])...)
	return append(numbers, ir.As[[]float64](in[1])...), err != nil
}

// sumPasses are the passes that reorder sums; results are compared with a tolerance.
var sumPasses = map[string]func(f *ir.Func){
	"increments":      func(f *ir.Func) { simplify.Increments(f, false, nil) },
	"windows":         func(f *ir.Func) { simplify.Windows(f, false, nil) },
	"windowsdistinct": func(f *ir.Func) { simplify.Windows(f, true, nil) },
	"distinct":        func(f *ir.Func) { simplify.Increments(f, true, nil) },
}

// untestedPasses are passes with preconditions; they are only tested by TestGolden.
var untestedPasses = map[string]func(f *ir.Func){
	"stacks": func(f *ir.Func) { simplify.Adjoint(f, nil, true, f.Params[1], func(*ir.Var) bool { return true }, nil) },
	"unread": func(f *ir.Func) {
		if simplify.Unread(f, f.Params[0], f.Params[1]) {
			f.Params = f.Params[1:]
		}
	},
	"tape": func(f *ir.Func) {
		simplify.Stacks(f, func(v *ir.Var) bool { return v.Name == "ws" || v.Name == "tape" }, true)
	},
	"bars": func(f *ir.Func) {
		bars := func(v *ir.Var) bool { return strings.HasSuffix(v.Name, "Bar") }
		simplify.Adjoint(f, nil, true, f.Params[1], bars, nil)
	},
	"batch":       func(f *ir.Func) { simplify.Batch(f, true, nil) },
	"vectors":     vectors(true, ""),
	"tapevectors": vectors(true, "ws"),
	"overwrite":   func(f *ir.Func) { simplify.Overwrite(f, f.Params[0], f.Params[1]) },
}

// vectors returns a pass that gives loops kernels. It checks them, and makes these do iterations as vectors. Work is
// the name of the workspace, or empty.
func vectors(distinct bool, work string) func(f *ir.Func) {
	return func(f *ir.Func) {
		var ws *ir.Var
		for _, v := range f.Params {
			if v.Name == work {
				ws = v
			}
		}
		g, kernels := simplify.Vectors(f, distinct, ws)
		if g == nil {
			return
		}
		check := func(f *ir.Func) {
			if err := ir.Check(f); err != nil {
				panic(fmt.Sprintf("%v\n%v", err, f))
			}
		}
		for _, k := range kernels {
			check(k)
			*k = *lanewise(k)
			check(k)
		}
		check(g)
		*f = *g
	}
}

// passes preserve results bit for bit.
var passes = map[string]func(f *ir.Func){
	"inline":  func(f *ir.Func) { simplify.Inline(f, nil) },
	"unroll":  simplify.Unroll,
	"clones":  simplify.Clones,
	"scalars": func(f *ir.Func) { simplify.Scalars(f, nil) },
	"copies":  simplify.Copies,
	"dead":    func(f *ir.Func) { simplify.Dead(f) },
	"calls": func(f *ir.Func) {
		simplify.Dead(f)
		simplify.Calls(f)
	},
	"sink":      simplify.Sink,
	"nilchecks": simplify.NilChecks,
	"deadcode":  func(f *ir.Func) { simplify.DeadCode(f, nil) },
	"checks": func(f *ir.Func) {
		simplify.Dead(f)
		simplify.Checks(f, nil)
	},
	"adjoint": func(f *ir.Func) {
		simplify.Adjoint(f, nil, false, nil, func(*ir.Var) bool { return false }, nil)
	},
	"cut":        simplify.Cut,
	"rebase":     simplify.Rebase,
	"promote":    func(f *ir.Func) { simplify.Promote(f, false, nil) },
	"invariants": simplify.Invariants,
	"primal":     func(f *ir.Func) { simplify.Primal(f, nil) },
}

func parse(t testing.TB, text string) *ir.Func {
	t.Helper()
	funcs, err := ir.Parse(text, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	f := funcs[len(funcs)-1]
	if err := ir.Check(f); err != nil {
		t.Fatalf("%v\n%s", err, f)
	}
	return f
}

// comparePasses compares a random function with the output of each pass, run on the same arguments. It returns the
// number of runs and of those that panicked.
func comparePasses(t *testing.T, seed uint64) (runs, panics int) {
	text := program(seed, false)
	f := parse(t, text)
	for name, pass := range passes {
		g, _ := ir.Clone(f, nil)
		pass(g)
		if err := ir.Check(g); err != nil {
			t.Fatalf("seed %d, %s: %v\n%s\n%s", seed, name, err, f, g)
		}
		for k := range uint64(3) {
			want, p := outcome(t, f, 3*seed+k, k == 2)
			if got, q := outcome(t, g, 3*seed+k, k == 2); p != q || !(p && name == "cut") && !equal(got, want, 0) {
				t.Fatalf("seed %d, %s: got %v, want %v\n%s\n%s", seed, name, got, want, text, g)
			}
			runs++
			if p {
				panics++
			}
		}
	}
	return runs, panics
}

func TestRandom(t *testing.T) {
	programs := uint64(longtest.Cases(0, 60, 80, 1000))
	runs, panics := 0, 0
	for seed := range programs {
		r, p := comparePasses(t, seed)
		runs, panics = runs+r, panics+p
	}
	t.Logf("%d runs, %d panics", runs, panics)
	if panics*2 > runs {
		t.Error("most random functions should not panic")
	}
}

func FuzzPasses(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { comparePasses(t, seed) })
}

// equal compares numbers with a relative tolerance, or bit for bit if it is 0. All NaNs are equal.
func equal(a, b []float64, tol float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i, x := range a {
		y := b[i]
		switch {
		case x != x || y != y:
			if x == x || y == y {
				return false
			}
		case tol == 0:
			if math.Float64bits(x) != math.Float64bits(y) {
				return false
			}
		case x != y && !(math.Abs(x-y) <= tol*(1+math.Abs(x)+math.Abs(y))):
			return false
		}
	}
	return true
}

// TestRandomSums checks Increments and Windows on random functions. Arguments overlap in some runs unless distinct is
// set.
func TestRandomSums(t *testing.T) {
	programs := uint64(longtest.Cases(0, 100, 100, 1000))
	shorter := 0
	for seed := range programs {
		text := program(seed, true)
		f := parse(t, text)
		for _, distinct := range []bool{false, true} {
			g, _ := ir.Clone(f, nil)
			if seed%2 == 0 {
				simplify.Windows(g, distinct, nil)
			}
			simplify.Increments(g, distinct, nil)
			simplify.Windows(g, distinct, nil)
			if err := ir.Check(g); err != nil {
				t.Fatalf("seed %d: %v\n%s\n%s", seed, err, f, g)
			}
			if strings.Count(g.String(), " += ") < strings.Count(f.String(), " += ") {
				shorter++
			}
			for k := range uint64(3) {
				aliased := k == 2 && !distinct
				want, p := outcome(t, f, 3*seed+k, aliased)
				if got, q := outcome(t, g, 3*seed+k, aliased); p != q || !p && !equal(got, want, 1e-9) {
					t.Fatalf("seed %d, distinct %v: got %v, want %v\n%s\n%s", seed, distinct, got, want, f, g)
				}
			}
		}
	}
	t.Logf("%d of %d are shorter", shorter, 2*programs)
	if shorter < int(programs) {
		t.Error("most functions should become shorter")
	}
}
