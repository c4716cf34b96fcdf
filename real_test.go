package nabla_test

import (
	"errors"
	"math"
	"os/exec"
	"regexp"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/tracker"
	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/rules"
)

// inlined are the methods whose untraced case must be as fast as float64.
var inlined = []string{"Add", "Sub", "Mul", "Div", "Neg", "Sq", "Scale", "AddConst", "Less", "LessEq", "Equal", "Value",
	"Int"}

// TestArithmeticIsInlined asks the compiler.
func TestArithmeticIsInlined(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the compiler")
	}
	out, err := exec.Command("go", "build", "-gcflags=-m", ".").CombinedOutput()
	var missing *exec.Error
	if errors.As(err, &missing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	can := map[string]bool{}
	for _, m := range regexp.MustCompile(`can inline Real\.(\w+)`).FindAllSubmatch(out, -1) {
		can[string(m[1])] = true
	}
	for _, name := range inlined {
		if !can[name] {
			t.Errorf("Real.%s does not inline; see go build -gcflags=-m=2 for its cost", name)
		}
	}
}

// TestUntracedArithmetic holds that untraced arithmetic is that of float64.
func TestUntracedArithmetic(t *testing.T) {
	values := []float64{0, math.Copysign(0, -1), 1, -2.5, 1e300, 5e-324, math.Inf(1), math.Inf(-1), math.NaN()}
	for _, x := range values {
		for _, y := range values {
			a, b := nabla.Const(x), nabla.Const(y)
			for _, c := range []struct {
				name      string
				got, want float64
			}{
				{"Add", a.Add(b).Value(), x + y}, {"Sub", a.Sub(b).Value(), x - y}, {"Mul", a.Mul(b).Value(), x * y},
				{"Div", a.Div(b).Value(), x / y}, {"Neg", a.Neg().Value(), -x}, {"Sq", a.Sq().Value(), x * x},
				{"Scale", a.Scale(y).Value(), x * y}, {"AddConst", a.AddConst(y).Value(), x + y},
				{"Max", nabla.Max(a, b).Value(), math.Max(x, y)}, {"Pow", a.Pow(b).Value(), math.Pow(x, y)},
				{"Sqrt", a.Sqrt().Value(), math.Sqrt(x)}, {"Abs", a.Abs().Value(), math.Abs(x)},
				{"Inv", a.Inv().Value(), 1 / x},
			} {
				if !identical(c.got, c.want) {
					t.Errorf("%s of %v, %v is %v, want %v", c.name, x, y, c.got, c.want)
				}
			}
			if a.Less(b) != (x < y) || a.LessEq(b) != (x <= y) || a.Equal(b) != (x == y) || a.Greater(b) != (x > y) ||
				a.GreaterEq(b) != (x >= y) {
				t.Errorf("comparisons of %v and %v", x, y)
			}
		}
		if a := nabla.Const(x); a.IsNaN() != (x != x) || a.IsInf(0) != math.IsInf(x, 0) ||
			a.IsInf(1) != math.IsInf(x, 1) || a.IsInf(-1) != math.IsInf(x, -1) || a.Signbit() != math.Signbit(x) {
			t.Errorf("predicates of %v", x)
		}
	}
	var zero nabla.Real
	if zero.Value() != 0 || zero.String() != "0" || zero.Int() != 0 {
		t.Error("the zero value is not 0")
	}
}

const rosenbrockOps = 8 // for each term

// polynomial is a dot product and a polynomial, 4 operations a term.
func polynomial(x []nabla.Real) nabla.Real {
	s := nabla.Const(0)
	for i := range x {
		s = s.Mul(nabla.Const(0.5)).Add(x[i].Mul(x[i]).Scale(3))
	}
	return s
}

func numbers(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = 0.5 + float64(i%10)/10
	}
	return x
}

// BenchmarkRecording is one recording into memory that is kept. Wanted: at most
// 16 ns per operation.
func BenchmarkRecording(b *testing.B) {
	x := numbers(1000)
	xs, ys := make([]engine.Real, len(x)), make([]engine.Real, 1)
	f := engine.Derived("rosenbrock", len(x), 1, func(y, x []engine.Real) { overReps(y, x) })
	for _, keep := range []bool{false, true} {
		b.Run(map[bool]string{false: "program", true: "values"}[keep], func(b *testing.B) {
			t := new(core.Tracer)
			for b.Loop() {
				if err := f.Record(t, ys, xs, x, core.RecordOptions{Keep: keep}); err != nil {
					b.Fatal(err)
				}
				t.Close()
			}
			perOp(b, 999*rosenbrockOps)
		})
	}
}

// overReps is rosenbrock over an engine's numbers, without inlining.
func overReps(y, x []engine.Real) {
	var s engine.Real
	on := func(op rules.Op, a, b engine.Real) engine.Real { return core.Apply2(op, a, b) }
	for i := range len(x) - 1 {
		a := on(rules.Sub, x[i+1], on(rules.Mul, x[i], x[i]))
		c := on(rules.Sub, engine.Real{V: 1}, x[i])
		s = on(rules.Add, on(rules.Add, s, on(rules.Mul, engine.Real{V: 100}, on(rules.Mul, a, a))),
			on(rules.Mul, c, c))
	}
	y[0] = s
}

// BenchmarkValueAndGradient is time per operation of the function. Wanted: at most
// 4 ns where a program is replayed, 30 ns where a tape is written anew.
func BenchmarkValueAndGradient(b *testing.B) {
	for _, f := range []struct {
		name string
		ops  int
		f    func([]nabla.Real) nabla.Real
	}{{"rosenbrock", 999 * rosenbrockOps, rosenbrock}, {"polynomial", 4000, polynomial}} {
		x := numbers(1000)
		for _, e := range []nabla.Backend{reversediff.Backend{Compile: true}, reversediff.Backend{}, tracker.Backend{},
			forwarddiff.Backend{}} {
			b.Run(f.name+"/"+e.Name(), func(b *testing.B) {
				p, err := nabla.PrepareGradient(f.f, e, x)
				if err != nil {
					b.Fatal(err)
				}
				g := make([]float64, len(x))
				b.ReportAllocs()
				for b.Loop() {
					if _, _, err := p.ValueAndGradient(g, x); err != nil {
						b.Fatal(err)
					}
				}
				perOp(b, f.ops)
			})
		}
		b.Run(f.name+"/tracker/unprepared", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := nabla.ValueAndGradient(f.f, tracker.Backend{}, x); err != nil {
					b.Fatal(err)
				}
			}
			perOp(b, f.ops)
		})
	}
}

func perOp(b *testing.B, ops int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(ops), "ns/operation")
}

// rosenbrock is the chained Rosenbrock function.
func rosenbrock(x []nabla.Real) nabla.Real {
	s := nabla.Const(0)
	for i := range len(x) - 1 {
		a := x[i+1].Sub(x[i].Sq())
		b := nabla.Const(1).Sub(x[i])
		s = s.Add(a.Sq().Scale(100)).Add(b.Sq())
	}
	return s
}
