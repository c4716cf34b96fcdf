package traced_test

import (
	"errors"
	"flag"
	"fmt"
	"go/types"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"unsafe"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/adjoint"
	"github.com/nabla-ad/nabla/gen/internal/randprog"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/tangent"
	"github.com/nabla-ad/nabla/gen/traced"
	"github.com/nabla-ad/nabla/internal/engines"
	"github.com/nabla-ad/nabla/internal/longtest"
)

var (
	programs = flag.Int("programs", 0,
		"how many random programs the engines differentiate; 0 is as many as the length of the tests asks for")
	firstSeed = flag.Uint64("seed", 1, "of the first random program")
)

// realFunctions are the functions of package nabla that take the place of those of package math.
var realFunctions = map[string]any{
	"math.Abs": nabla.Abs, "math.Acos": nabla.Acos, "math.Acosh": nabla.Acosh, "math.Asin": nabla.Asin,
	"math.Asinh": nabla.Asinh, "math.Atan": nabla.Atan, "math.Atan2": nabla.Atan2, "math.Atanh": nabla.Atanh,
	"math.Cbrt": nabla.Cbrt, "math.Ceil": nabla.Ceil, "math.Copysign": nabla.Copysign, "math.Cos": nabla.Cos,
	"math.Cosh": nabla.Cosh, "math.Erf": nabla.Erf, "math.Erfc": nabla.Erfc, "math.Exp": nabla.Exp,
	"math.Exp2": nabla.Exp2, "math.Expm1": nabla.Expm1, "math.FMA": nabla.FMA, "math.Floor": nabla.Floor,
	"math.Gamma": nabla.Gamma, "math.Hypot": nabla.Hypot, "math.Log": nabla.Log, "math.Log10": nabla.Log10,
	"math.Log1p": nabla.Log1p, "math.Log2": nabla.Log2, "math.Max": nabla.Max, "math.Min": nabla.Min,
	"math.Mod": nabla.Mod, "math.Nextafter": nabla.Nextafter, "math.Pow": nabla.Pow,
	"math.Remainder": nabla.Remainder, "math.Round": nabla.Round, "math.RoundToEven": nabla.RoundToEven,
	"math.Sin": nabla.Sin, "math.Sinh": nabla.Sinh, "math.Sqrt": nabla.Sqrt, "math.Tan": nabla.Tan,
	"math.Tanh": nabla.Tanh, "math.Trunc": nabla.Trunc,
	"-x": nabla.Real.Neg, "+": nabla.Real.Add, "-": nabla.Real.Sub, "*": nabla.Real.Mul, "/": nabla.Real.Div,
	"<": nabla.Real.Less, "<=": nabla.Real.LessEq, "==": nabla.Real.Equal,
	"math.IsNaN": nabla.Real.IsNaN, "math.Signbit": nabla.Real.Signbit,
}

// reals computes with numbers of package nabla in the evaluator. A mistake is the name of an operation whose result
// loses its derivative.
type reals struct{ mistake string }

// real returns a value as a number.
func real(v ir.Value) nabla.Real {
	x, n := v.Number()
	if n == nil {
		return nabla.Const(x)
	}
	return n.(nabla.Real)
}

// valueOf returns a number as a value. Its float is read from memory: Value of a Real makes it leave the trace.
func valueOf(r nabla.Real) ir.Value { return ir.NumberValue(*(*float64)(unsafe.Pointer(&r)), r) }

func (m reals) Apply(name string, args []ir.Value) (ir.Value, bool) {
	v, ok := m.apply(name, args)
	if x, n := v.Number(); n != nil && name == m.mistake {
		v = ir.ValueOf(x)
	}
	return v, ok
}

func (reals) apply(name string, args []ir.Value) (ir.Value, bool) {
	r := make([]nabla.Real, len(args))
	for i, v := range args {
		r[i] = real(v)
	}
	switch name {
	case "float":
		return ir.ValueOf(r[0].Value()), true
	case "min":
		return valueOf(nabla.Least(r[0], r[1:]...)), true
	case "max":
		return valueOf(nabla.Greatest(r[0], r[1:]...)), true
	case ir.GraftName:
		return args[0], true
	case ">":
		return ir.ValueOf(r[1].Less(r[0])), true
	case ">=":
		return ir.ValueOf(r[1].LessEq(r[0])), true
	case "!=":
		return ir.ValueOf(!r[0].Equal(r[1])), true
	case "math.IsInf":
		return ir.ValueOf(r[0].IsInf(ir.As[int](args[1]))), true
	case "math.Ldexp":
		return valueOf(nabla.Ldexp(r[0], ir.As[int](args[1]))), true
	case "math.Ilogb":
		return ir.ValueOf(nabla.Ilogb(r[0])), true
	case "math.Jn":
		return valueOf(nabla.Jn(ir.As[int](args[0]), r[1])), true
	}
	switch f := realFunctions[name].(type) {
	case func(nabla.Real) nabla.Real:
		return valueOf(f(r[0])), true
	case func(nabla.Real, nabla.Real) nabla.Real:
		return valueOf(f(r[0], r[1])), true
	case func(nabla.Real, nabla.Real, nabla.Real) nabla.Real:
		return valueOf(f(r[0], r[1], r[2])), true
	case func(nabla.Real, nabla.Real) bool:
		return ir.ValueOf(f(r[0], r[1])), true
	case func(nabla.Real) bool:
		return ir.ValueOf(f(r[0])), true
	}
	return ir.Value{}, false
}

// realPairs are the functions over Reals with two results.
var realPairs = map[string]func(args []ir.Value) []ir.Value{
	"nabla.Sincos": func(args []ir.Value) []ir.Value {
		s, c := nabla.Sincos(real(args[0]))
		return []ir.Value{valueOf(s), valueOf(c)}
	},
	"nabla.Modf": func(args []ir.Value) []ir.Value {
		whole, frac := nabla.Modf(real(args[0]))
		return []ir.Value{valueOf(whole), valueOf(frac)}
	},
	"nabla.Lgamma": func(args []ir.Value) []ir.Value {
		lgamma, sign := nabla.Lgamma(real(args[0]))
		return []ir.Value{valueOf(lgamma), valueOf(sign)}
	},
	"nabla.Frexp": func(args []ir.Value) []ir.Value {
		frac, exp := nabla.Frexp(real(args[0]))
		return []ir.Value{valueOf(frac), ir.ValueOf(exp)}
	},
}

// A tag is a NaN that stands for the number with an index.
const tag = 0x7ffd_e57a_0000_0000

func tagOf(i int) float64 { return math.Float64frombits(tag | uint64(i)) }

func tagged(x float64) (i int, ok bool) {
	b := math.Float64bits(x)
	return int(b & 0xffff_ffff), b&^0xffff_ffff == tag
}

// overReals returns the weighted sum of the outputs of a program, whose traced form is g, as a function of the numbers
// of an input. An evaluation that fails panics with its error.
func overReals(c *randprog.Case, g *ir.Func, in *randprog.Input, with reals) func(x []nabla.Real) nabla.Real {
	return func(x []nabla.Real) nabla.Real {
		tags := make([]float64, len(x))
		for i := range tags {
			tags[i] = tagOf(i)
		}
		args := in.With(tags).Values(c.Sig)
		ir.Leaves(args, func(v *ir.Value) {
			f, _ := v.Number()
			if i, ok := tagged(f); ok {
				*v = valueOf(x[i])
			}
		})
		m := ir.Machine{Globals: randprog.Globals(), Steps: 2_000_000, Numbers: with, Rules: realPairs}
		results, err := m.Eval(g, args[:len(args)-1])
		if err != nil {
			panic(err)
		}
		var numbers []nabla.Real
		all := append(append([]ir.Value{}, results...), args...)
		ir.Leaves(all, func(v *ir.Value) {
			if _, n := v.Number(); n != nil {
				*v = ir.ValueOf(tagOf(len(numbers)))
				numbers = append(numbers, n.(nabla.Real))
			}
		})
		copy(results, all)
		copy(args, all[len(results):])
		var sum nabla.Real
		for i, f := range randprog.Outputs(c.Sig, results, args) {
			r := nabla.Const(f)
			if k, ok := tagged(f); ok {
				r = numbers[k]
			}
			sum = sum.Add(r.Scale(weight(i)))
		}
		return sum
	}
}

// weight is the weight of output i.
func weight(i int) float64 { return float64(i%5) - 1.7 }

// counts counts comparisons of engines.
type counts struct {
	sync.Mutex
	programs, compared, refused int
}

// near reports whether two derivatives agree, the second of which is that of the first engine.
func near(got, want []float64) bool {
	size := 1.0
	for _, v := range want {
		if math.Abs(v) > 1e100 || math.IsNaN(v) {
			return true // another order of operations may overflow
		}
		size = max(size, math.Abs(v))
	}
	for i, v := range got {
		if !(math.Abs(v-want[i]) <= 1e-9*size) {
			return false
		}
	}
	return true
}

// checkAdjoint compares the adjoint of a random program with the tangent h, in the evaluator.
func checkAdjoint(c *randprog.Case, k int, h randprog.Tangent, mask uint64, tally *randprog.Tally) error {
	overlap := c.Inputs[k].Aliased
	a, err := adjoint.New(c.F.Object.Pkg(), "Work", adjoint.Options{Overlap: overlap}).Of(c.F, activity.Bits(mask))
	if err != nil {
		return &randprog.Failure{Oracle: "build", Input: k, Text: "the adjoint: " + err.Error()}
	}
	one := *c
	one.Inputs = c.Inputs[k : k+1]
	s := one.Adjoints(func(*ir.Func, uint64) (randprog.Tangent, error) { return h, nil })
	return s.Check(&randprog.Adjoint{F: a.Func, Mask: mask, Overlap: overlap, Shadows: a.Shadows.Uint64(),
		Seeds: a.Seeds.Uint64(), Bars: a.Bars.Uint64()}, tally)
}

// engineCheck returns a check that all engines over Reals agree on the derivatives of the traced form of a random
// program, and the gradient with the tangent of the program, with which its adjoint agrees too.
func engineCheck(n *counts, with reals) func(c *randprog.Case, tally *randprog.Tally) error {
	first := engines.Exact()
	second := append(engines.Exact(),
		nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: reversediff.Backend{}},
		nabla.SecondOrder{Outer: reversediff.Backend{Compile: true}, Inner: forwarddiff.Backend{}})
	return func(c *randprog.Case, tally *randprog.Tally) error {
		k := int(uint64(len(c.Source())) % uint64(len(c.Inputs)))
		if c.Program != nil {
			k = int(c.Program.Seed % uint64(len(c.Inputs)))
		}
		fail := func(oracle, format string, args ...any) error {
			return &randprog.Failure{Oracle: oracle, Input: k, Text: fmt.Sprintf(format, args...)}
		}
		tally.Samples++
		in, f := c.Inputs[k], c.Wide
		mask := uint64(1)<<len(f.Params) - 1
		p := tangent.New()
		h, facts, err := p.Build(f, activity.Bits(mask))
		if err != nil {
			return fail("build", "the tangent: %v", err)
		}
		t := randprog.Tangent{F: h, Params: facts.Params.Uint64(), Results: facts.Results.Uint64()}
		r := rand.New(rand.NewPCG(uint64(k), 9))
		x := in.Floats()
		dir := make([]float64, len(x))
		for i := range dir {
			dir[i] = r.NormFloat64()
		}
		out, dot, err := c.RunTangent(t, in, dir)
		if err != nil {
			tally.Panics++
			return nil
		}
		if f == c.F {
			if err := checkAdjoint(c, k, t, mask, new(randprog.Tally)); err != nil {
				return err
			}
		}
		value, along, size := 0.0, 0.0, 1.0
		for i := range out {
			value += weight(i) * out[i]
			along += weight(i) * dot[i]
			size += math.Abs(dot[i])
		}
		g, _, err := traced.New(types.NewPackage("rnd", "rnd")).Build(f, activity.Bits(mask))
		if err != nil {
			n.Lock()
			n.refused++
			n.Unlock()
			return nil
		}
		fr := overReals(c, g, in, with)
		var grad, hvp []float64
		compare := func(what string, b nabla.Backend, got []float64, want *[]float64, err error) error {
			n.Lock()
			defer n.Unlock()
			if errors.Is(err, nabla.ErrUnsupported) {
				n.refused++
				return nil
			}
			if err != nil {
				return fail(what, "%s: %v", b.Name(), err)
			}
			if *want == nil {
				*want = got
				return nil
			}
			n.compared++
			if !near(got, *want) {
				return fail(what, "%s by %s is %v, by %s %v", what, b.Name(), got, first[0].Name(), *want)
			}
			return nil
		}
		for _, b := range first {
			y, got, err := nabla.ValueAndGradient(fr, b, x)
			if err == nil && math.Abs(value) < 1e100 && !(math.Abs(y-value) <= 1e-12*(1+math.Abs(value))) {
				err = fail("value", "%s: %v, want %v", b.Name(), y, value)
			}
			if err := compare("gradient", b, got, &grad, err); err != nil {
				return err
			}
		}
		got := 0.0
		for i, d := range grad {
			got += d * dir[i]
			size += math.Abs(d * dir[i])
		}
		if size < 1e100 && !(math.Abs(got-along) <= 1e-9*size) {
			return fail("tangent", "⟨gradient, direction⟩ is %v, by the tangent %v", got, along)
		}
		for _, b := range second {
			got, err := nabla.HVP(fr, b, x, dir)
			if err := compare("product with the Hessian", b, got, &hvp, err); err != nil {
				return err
			}
		}
		n.Lock()
		n.programs++
		n.Unlock()
		return nil
	}
}

// TestRandom: all engines over Reals differentiate the traced forms of random programs alike. Their traced forms run in
// the evaluator, with numbers of the engines. More programs are tried by
//
//	go test ./gen/traced -run 'TestRandom$' -v -timeout 9h -args -programs 100000 -seed 1
func TestRandom(t *testing.T) {
	var n counts
	randprog.TestWith(t, randprog.Options{}, longtest.Cases(*programs, 4, 10, 300), *firstSeed, 4, "testdata/failures",
		engineCheck(&n, reals{}))
	t.Logf("%d programs, %d comparisons, %d refused", n.programs, n.compared, n.refused)
}

// TestRandomContainers does the same with programs that have maps, interface values, package variables and sorting with
// closures.
func TestRandomContainers(t *testing.T) {
	var n counts
	randprog.TestWith(t, randprog.Options{Containers: true}, longtest.Cases(*programs, 2, 5, 100), *firstSeed, 4,
		"testdata/failures", engineCheck(&n, reals{}))
	t.Logf("%d programs, %d comparisons, %d refused", n.programs, n.compared, n.refused)
}

// TestRandomFinds: an operation that loses its derivative is found.
func TestRandomFinds(t *testing.T) {
	for _, name := range []string{"+", "*", "-x", "math.Sin"} {
		var n counts
		if _, failure, err := randprog.Catches(200, 0, engineCheck(&n, reals{name})); failure == nil || err != nil {
			t.Errorf("%s without a derivative is not found: %v", name, err)
		}
	}
}
