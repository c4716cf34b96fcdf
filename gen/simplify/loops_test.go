package simplify_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/simplify"
	"github.com/nabla-ad/nabla/internal/longtest"
)

type (
	loopData struct {
		P []float64
		K int
		T float64
	}
	loopFrame struct{ A, B float64 }
	loopWork  struct {
		S []float64
		F []loopFrame
	}
)

const (
	frameType    = "struct{A float64; B float64}"
	loopDataType = "struct{P []float64; K int; T float64}"
	loopWorkType = "struct{S []float64; F []" + frameType + "}"
)

// loops returns a random function with innermost loops over triangles, rows and windows, which step variables of their
// own and push to and pop from stacks.
// If batches is set, most of them can call elementary functions for several iterations at once.
func loops(seed uint64, batches bool) string {
	w := &accumulation{Rand: rand.New(rand.NewPCG(seed, 21)), batches: batches}
	w.block("func F(x []float64, y []float64, c *"+loopDataType+", ws *"+loopWorkType+
		", wd *"+loopWorkType+", n int, k int) (r float64) exit", func() {
		w.line("let q int = %s", w.of("k", "3", "n", "n + 4"))
		w.line("let a float64 = 0.5")
		w.line("let pa *float64 = %s", w.of("&a", "&a", "&x[1]"))
		for range 2 + w.IntN(3) {
			if w.IntN(3) == 0 {
				w.outer()
			} else {
				w.inner("k")
			}
		}
	})
	w.line("}")
	return w.b.String()
}

// outer writes a loop around others, or a condition.
func (w *accumulation) outer() {
	if w.IntN(2) == 0 {
		w.block("if "+w.of("0 < n", "k + 1 < n", "n > k", "r > 1", "2 < n && k > 0"), func() {
			w.inner("k")
			if w.IntN(3) == 0 {
				w.line("n = n - %s", w.of("1", "k"))
				w.inner("k")
			}
		})
		w.line("}")
		return
	}
	i := w.name("o")
	w.block(fmt.Sprintf("for %s, %s %s int = 0; %s < %s; %s += 1", w.name("l"), w.name("m"), i, i, w.of("n", "3"), i),
		func() {
			w.inner(i)
			if w.IntN(2) == 0 {
				w.inner(i)
			}
			if w.IntN(2) == 0 {
				w.line("q = %s", w.of("k", i, "2"))
			}
		})
	w.line("}")
}

// inner writes an innermost loop; k is a variable that does not change in it.
func (w *accumulation) inner(k string) {
	i, l, next := w.name("i"), w.name("l"), w.name("m")
	lo, hi := w.of("0", "0", "1", "2", k, k+" + 1", "n - 3", "n - "+k), w.of("n", "n", "n - 1", k, "3", "n + "+k)
	if w.batches {
		lo, hi = w.of("0", "0", "1", "2"), w.of("n", "n", "n - 1", "35", "n + "+k)
	}
	head := fmt.Sprintf("for %s, %s %s int = %s; %s < %s; %s += 1", l, next, i, lo, i, hi, i)
	down := w.IntN(2) == 0 && !w.batches
	if down {
		head = fmt.Sprintf("for %s, %s %s int = %s - 1; %s > %s - 1; %s += -1", l, next, i, hi, i, lo, i)
	}
	index := func() string {
		if w.batches {
			return w.of(i, i, i, i, i+" + 1", i+" + 2", k+" + "+i, k, "0")
		}
		return w.of(i, i, i, i, i+" + 1", i+" + 2", "q", "q", "q + 1", k+" * n + "+i, k+" * n + "+i+" + 1", k+" + "+i,
			k, "0", k+" + 1", "n - "+i, i+" - "+k)
	}
	value := func() string {
		return w.of("x["+index()+"]", "x["+index()+"]", "x["+index()+"] * x["+index()+"]", "c.P["+index()+"]", "c.T",
			"float64(c.K)", "0.75 * x["+k+"]")
	}
	w.block(head, func() {
		pop := -1
		stack := w.of("S", "F")
		steps := 2 + w.IntN(4)
		at := w.IntN(2 * steps) // of the push or pop, often none
		if w.batches {
			at += steps
		}
		if at < steps && w.IntN(2) == 0 {
			pop = at
		}
		for s := range steps {
			if s == at && pop < 0 {
				w.push(stack, value())
			}
			if pop >= s {
				if w.IntN(2) == 0 {
					w.line("r = %s[len(ws.%s) - 1]%s", w.dual(stack), stack, map[string]string{"F": ".A"}[stack])
				}
			}
			if s == pop {
				if stack == "S" {
					w.line("wd.S = wd.S[:len(ws.S) - 1]")
				}
				w.line("ws.%s = ws.%s[:len(ws.%s) - 1]", stack, stack, stack)
			}
			kind := w.IntN(20)
			if w.batches && w.IntN(4) > 0 {
				kind = []int{0, 3, 4, 6, 14, 15}[w.IntN(6)]
			}
			switch kind {
			case 0, 1, 2:
				w.line("y[%s] += %s", index(), value())
			case 3:
				w.line("y[%s] = %s", index(), w.of("r", value(), "y["+index()+"] * 0.5"))
			case 4, 5:
				w.line("r += %s", value())
			case 6:
				w.line("r = r * 0.5 + y[%s]", index())
			case 8:
				w.line("q = %s", w.of(k+" + 1", "q + 1", "q - 1", "q + 2", "n"))
			case 7:
				by := "1"
				if down != (w.IntN(8) == 0) {
					by = "-1"
				}
				w.line("%s", w.of("q += "+by, "q = q + "+by))
			case 9:
				w.block("if "+w.of("r > 1", "x["+i+"] > 0", i+" > 2"), func() {
					switch w.IntN(4) {
					case 0:
						w.line("leave %s", w.of(next, next, next, l, "exit"))
					case 1:
						w.line("y[%s] += %s", index(), value())
					case 2:
						w.line("r += %s", value())
					case 3:
						w.push(stack, value())
					}
				})
				w.line("}")
			case 10:
				w.line("c.T %s %s", w.of("=", "+="), w.of("r", "x["+index()+"]"))
			case 11:
				w.line("%s", w.of("c.K = 3", "c.P = x[1:]", "c.P = y", "c.K += 1"))
			case 12:
				p := w.name("p")
				w.line("let %s *float64 = &%s", p, w.of("y["+index()+"]", "c.T", "c.P["+index()+"]"))
				w.line("%s", w.of("r += *"+p, "*"+p+" = r", "*"+p+" += x[0]"))
			case 13:
				w.line("y[%s] += %s", k, value())
			case 14:
				// A sum over a row, as that of a linear model.
				z, j := w.name("z"), w.name("j")
				w.line("let %s float64 = %s", z, w.of("0.5", value()))
				if w.IntN(3) > 0 {
					head := fmt.Sprintf("for %s, %s %s int = 0; %s < %s; %s += 1", w.name("l"), w.name("m"), j, j,
						w.of(k, "3"), j)
					w.block(head, func() { w.line("%s += 0.25 * x[%s + %s]", z, i, j) })
					w.line("}")
				}
				if w.IntN(4) == 0 {
					w.line("%s = %s", z, w.of(value(), z+" * 0.5"))
				}
				w.elementary(z, index)
			case 17:
				// Uses of stacks that are not one push or pop in each iteration.
				switch w.IntN(7) {
				case 0:
					w.push(stack, value())
				case 1:
					w.line("ws.F = ws.F[:len(ws.F) - 2]")
				case 2:
					w.line("wd.S = append(wd.S, r, r)")
					w.line("ws.S = append(ws.S, x[0], x[1])")
				case 3:
					w.line("wd.S = append(wd.S, x[:1]...)")
					w.line("ws.S = append(ws.S, x[1:2]...)")
				case 4:
					w.line("r = %s[0]%s", w.dual(stack), map[string]string{"F": ".A"}[stack])
				case 5:
					w.line("wd.S = wd.S[:len(ws.S) - 1]")
					w.line("r += %s", value())
					w.line("ws.S = ws.S[:len(ws.S) - 1]")
				case 6:
					w.line("ws.F = append(ws.F, ws.F[len(ws.F) - 1])")
				}
			case 18:
				// A view of which other elements are used in each iteration.
				row := w.name("row")
				w.line("let %s []float64 = y[%s:]", row, w.of(i, i+" + 1", k))
				e := w.name("e")
				w.line("let %s float64 = math.Exp(-math.Abs(%s[%s]))", e, row, w.of("0", "1"))
				w.line("%s[%s] = %s", row, w.of("0", "1", "2"), e)
			case 19:
				// A variable that a pointer leads to.
				e := w.name("e")
				w.line("let %s float64 = math.Sin(*pa * x[%s])", e, i)
				w.line("%s", w.of("a = "+e, "*pa = "+e, "a += 0.5"))
				w.line("r += %s", e)
			case 15, 16:
				w.elementary(w.of(value(), value(), "y["+index()+"]"), index)
			}
		}
	})
	w.line("}")
}

// elementary writes statements with elementary functions of x and perhaps of their values.
func (w *accumulation) elementary(x string, index func() string) {
	call := func(x string) string {
		return fmt.Sprintf(w.of("math.Exp(%s)", "math.Exp(-math.Abs(%s))", "math.Sin(%s)", "math.Cos(%s)",
			"math.Tanh(%s)", "math.Log1p(math.Exp(%s))", "math.Pow(1.5, %s)", "math.Log(2.5 + math.Sin(%s))",
			"math.Sqrt(2.0 + math.Cos(%s))"), x)
	}
	switch w.IntN(4) {
	case 0:
		w.line("r += 0.1 * %s", call(x))
	case 1:
		w.line("y[%s] = %s", index(), call(x))
	case 2:
		w.line("r = %s", call(x))
		w.line("y[%s] = r * %s", index(), call("r"))
	default:
		e := w.name("e")
		w.line("let %s float64 = %s", e, call(x))
		if w.IntN(2) == 0 {
			f := w.name("f")
			w.line("let %s float64 = %s", f, call(w.of(e, e+" * "+x, "0.5 * "+e)))
			w.line("y[%s] = %s * %s", index(), e, f)
		}
		w.line("r += 0.1 * %s", e)
	}
}

// dual returns a stack of the given name of the workspace, or that of the workspace of derivatives, which has the same
// length.
func (w *accumulation) dual(stack string) string {
	if stack == "S" {
		return w.of("ws.S", "wd.S")
	}
	return "ws.F"
}

// push writes a push of numbers to both workspaces, or of a record.
func (w *accumulation) push(stack, value string) {
	if stack == "S" {
		w.line("wd.S = append(wd.S, r)")
		w.line("ws.S = append(ws.S, %s)", value)
		if w.IntN(3) == 0 {
			w.line("r += wd.S[len(ws.S) - 1] * ws.S[len(ws.S) - 1]")
		}
		return
	}
	w.line("ws.F = append(ws.F, zero(%s))", frameType)
	top := w.name("top")
	w.line("let %s *%s = &ws.F[len(ws.F) - 1]", top, frameType)
	w.line("%s.A = %s", top, value)
	if w.IntN(2) == 0 {
		w.line("%s.B = r", top)
	}
}

// loopOutcome runs f and returns its result with the memory it leaves, and whether it panicked. If aliased is set, x, y
// and the data overlap.
func loopOutcome(t *testing.T, f *ir.Func, seed uint64, aliased bool) (numbers []float64, panicked bool) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 9))
	x := make([]float64, 200)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	y := make([]float64, 200)
	c := &loopData{P: make([]float64, 190), K: r.IntN(4), T: r.NormFloat64()}
	for i := range c.P {
		c.P[i] = r.NormFloat64()
	}
	if aliased {
		y, c.P = x[1:190], x[2:180]
	}
	ws := &loopWork{S: make([]float64, 50, 50+r.IntN(60)), F: make([]loopFrame, 50, 54)}
	for i := range ws.S {
		ws.S[i], ws.F[i] = r.NormFloat64(), loopFrame{r.NormFloat64(), 2}
	}
	wd := &loopWork{S: make([]float64, 50, 50+r.IntN(60))}
	n := r.IntN(9)
	if r.IntN(2) == 0 {
		n = 12 + r.IntN(30)
	}
	in := ir.ValuesOf(x, y, c, ws, wd, n, r.IntN(4))
	out, err := (&ir.Machine{Steps: 1 << 20}).Eval(f, in)
	if p := (*ir.PanicError)(nil); err != nil {
		if !errors.As(err, &p) {
			t.Fatalf("%v\n%v", err, f)
		}
		return nil, true
	}
	numbers = append(numbers, ir.As[float64](out[0]))
	numbers = append(numbers, ir.As[[]float64](in[0])...)
	numbers = append(numbers, ir.As[[]float64](in[1])...)
	d, work := ir.As[*loopData](in[2]), ir.As[*loopWork](in[3])
	numbers = append(append(numbers, d.P...), float64(d.K), d.T)
	numbers = append(append(numbers, work.S...), ir.As[*loopWork](in[4]).S...)
	for _, v := range work.F {
		numbers = append(numbers, v.A, v.B)
	}
	return append(numbers, float64(len(work.S)), float64(len(work.F))), false
}

// A loopPipeline is a list of passes over innermost loops.
type loopPipeline struct {
	passes   []func(f *ir.Func)
	distinct bool // they rely on parameters without common memory
	// tolerance is the difference of sums in another order, relative to the larger of a number and 1.
	tolerance float64
}

// compareLoops runs passes on random functions, count of them, and compares their results with those of the functions.
// It reports the number of functions that each list of passes changes.
func compareLoops(t *testing.T, count int, function func(seed uint64) string, list []loopPipeline) {
	changed := make([]int, len(list))
	runs, panics := 0, 0
	for seed := range uint64(count) {
		text := function(seed)
		f := parse(t, text)
		for i, pipeline := range list {
			g, _ := ir.Clone(f, nil)
			for _, pass := range pipeline.passes {
				pass(g)
			}
			if err := ir.Check(g); err != nil {
				t.Fatalf("seed %d, passes %d: %v\n%s\n%s", seed, i, err, f, g)
			}
			if g.String() != f.String() {
				changed[i]++
			}
			for k := range uint64(4) {
				aliased := k == 3
				if aliased && pipeline.distinct {
					continue
				}
				want, p := loopOutcome(t, f, 4*seed+k, aliased)
				got, q := loopOutcome(t, g, 4*seed+k, aliased)
				if p != q || !equal(got, want, pipeline.tolerance) {
					t.Fatalf("seed %d, passes %d, arguments %d:\ngot  %v %v\nwant %v %v\n%s\n%s",
						seed, i, k, got, q, want, p, text, g)
				}
				runs++
				if p {
					panics++
				}
			}
		}
	}
	t.Logf("%d runs, %d panics, functions changed by the passes: %v", runs, panics, changed)
	for i, n := range changed {
		if n == 0 {
			t.Errorf("passes %d change no function", i)
		}
	}
	if panics*2 > runs {
		t.Error("most random functions should not panic")
	}
}

// TestLoops runs the passes over innermost loops, alone and one after the other.
func TestLoops(t *testing.T) {
	stacks := func(f *ir.Func) {
		simplify.Stacks(f, func(v *ir.Var) bool { return v.Name == "ws" || v.Name == "wd" }, true)
	}
	promote := func(f *ir.Func) { simplify.Promote(f, false, nil) }
	promoteDistinct := func(f *ir.Func) { simplify.Promote(f, true, nil) }
	batch := func(f *ir.Func) { simplify.Batch(f, true, nil) }
	windows := func(f *ir.Func) { simplify.Windows(f, true, nil) }
	type list = []func(f *ir.Func)
	functions := func(seed uint64) string { return loops(seed, false) }
	compareLoops(t, longtest.Cases(0, 60, 150, 1500), functions, []loopPipeline{
		{passes: list{promote}}, {passes: list{simplify.Rebase}}, {passes: list{simplify.Cut}}, {passes: list{stacks}},
		{passes: list{promote, simplify.Rebase, simplify.Cut, simplify.Copies, stacks}},
		{passes: list{promoteDistinct}, distinct: true},
		{passes: list{windows}, distinct: true, tolerance: 1e-9},
		{passes: list{promoteDistinct, simplify.Rebase, simplify.Cut, simplify.Copies, stacks, batch}, distinct: true},
	})
}

// TestBatch runs Batch on loops with elementary functions.
func TestBatch(t *testing.T) {
	type list = []func(f *ir.Func)
	functions := func(seed uint64) string { return loops(seed, true) }
	compareLoops(t, longtest.Cases(0, 100, 300, 2000), functions, []loopPipeline{
		{passes: list{func(f *ir.Func) { simplify.Batch(f, false, nil) }}},
		{passes: list{func(f *ir.Func) { simplify.Batch(f, true, nil) }}, distinct: true},
	})
}

// vectorLoops returns a random function with loops of arithmetic on elements, whose values go to other elements, to
// sums, to variables for the next iteration, and to conditions.
func vectorLoops(seed uint64) string {
	w := &accumulation{Rand: rand.New(rand.NewPCG(seed, 23))}
	w.block("func F(x []float64, y []float64, c *"+loopDataType+", ws *"+loopWorkType+
		", wd *"+loopWorkType+", n int, k int) (r float64) exit", func() {
		w.line("n = n * %s", w.of("1", "3", "3", "4"))
		w.line("let z []float64 = %s", w.of("c.P", "x", "make([]float64, 190)", "make([]float64, n + 3)"))
		w.line("let u float64 = 0.25")
		w.line("let v float64 = x[3]")
		for range 1 + w.IntN(2) {
			w.vectorLoop()
		}
		w.line("r += u - v")
	})
	w.line("}")
	return w.b.String()
}

// vectorLoop writes a loop of vectorLoops.
func (w *accumulation) vectorLoop() {
	i := w.name("i")
	values := []string{"u", "v", "r", "0.5", "c.T", "3"}
	without := "" // the variable that formulas do not read
	var formula func(depth int) string
	formula = func(depth int) string {
		if depth == 0 || w.IntN(5) == 0 {
			if v := values[w.IntN(len(values))]; v != without && w.IntN(2) == 0 {
				return v
			}
			s := w.of("x", "x", "y", "z")
			if s == without {
				s = "x"
			}
			return s + "[" + w.of(i, i, i, i+" + 1", i+" + 2", i+" - 1", "k", "k + "+i) + "]"
		}
		a, b := formula(depth-1), formula(depth-1)
		return w.of("("+a+" + "+b+")", "("+a+" - "+b+")", "("+a+" * "+b+")", "("+a+" * "+b+")",
			"("+a+" / (2 + "+b+" * "+b+"))", "(-"+a+")",
			"math.Abs("+a+")", "math.Sqrt("+a+" * "+a+")", "math.Exp(0 - math.Abs("+a+"))")
	}
	head := fmt.Sprintf("for %s, %s %s int = %s; %s < %s; %s += 1", w.name("l"), w.name("m"), i,
		w.of("0", "0", "1", "2"), i, w.of("n", "n", "n - 1", "len(x) - 3", "19"), i)
	if w.IntN(2) == 0 {
		head = fmt.Sprintf("for %s, %s %s int = %s; %s > %s; %s += -1", w.name("l"), w.name("m"), i,
			w.of("n", "n - 1", "n - 2", "len(x) - 3", "19"), i, w.of("-1", "-1", "0", "1"), i)
	}
	w.block(head, func() {
		for range 1 + w.IntN(6) {
			without = ""
			switch w.IntN(16) {
			case 0, 1, 2, 3:
				t := w.name("t")
				w.line("let %s float64 = %s", t, formula(3))
				values = append(values, t)
			case 4, 5, 6:
				without = w.of("y", "y", "z")
				w.line("%s[%s] += %s", without, w.of(i, i, i, i+" + 1", "k"), formula(2))
			case 7, 8:
				w.line("%s[%s] = %s", w.of("y", "z", "z"), w.of(i, i, i, i+" + 1", "k + "+i), formula(2))
			case 9, 10:
				without = "r"
				w.line("r += 0.5 * %s", formula(2))
			case 11:
				w.line("r = r * 0.5 + %s", formula(1))
			case 12, 13:
				last := values[len(values)-1]
				if w.IntN(4) > 0 {
					without = w.of("u", "v") // otherwise a variable may depend on itself
				}
				w.line("%s = %s", w.of("u", "v"), w.of(formula(1), formula(2), last, last))
				if without != "" && w.IntN(3) == 0 {
					w.line("y[%s] = %s", i, w.of("u", "v"))
				}
			case 14:
				w.block("if 0.5 < x["+i+"] + "+formula(1), func() {
					without = w.of("r", "y", "z")
					to := map[string]string{"r": "r", "y": "y[" + i + "]", "z": "z[" + i + "]"}[without]
					w.line("%s += %s", to, formula(1))
				})
				w.line("}")
			default:
				w.line("let %s int = %s + k", w.name("q"), i)
			}
		}
	})
	w.line("}")
}

// TestVectors runs Vectors on loops of arithmetic.
func TestVectors(t *testing.T) {
	pipelines := []loopPipeline{
		{passes: []func(f *ir.Func){vectors(false, "ws")}},
		{passes: []func(f *ir.Func){vectors(true, "ws")}, distinct: true},
	}
	compareLoops(t, longtest.Cases(0, 200, 300, 2000), vectorLoops, pipelines)
	simplify.AlwaysVectors(func() {
		compareLoops(t, longtest.Cases(0, 200, 600, 8000), vectorLoops, pipelines)
		compareLoops(t, longtest.Cases(0, 100, 400, 3000), bufferLoops, pipelines)
		compareLoops(t, longtest.Cases(0, 100, 300, 3000), recordLoops, pipelines)
	})
}

// TestRecordAfterRead: a copy to the workspace stays behind statements that read the elements before.
func TestRecordAfterRead(t *testing.T) {
	text := loopHead + `
	ws.S = make([]float64, 110)
	let s []float64 = ws.S[0:60]
	let s2 []float64 = ws.S[0:70]
	s2[3] = 0.5
	for l1, m1 i int = 0; i < 40; i += 1 {
		y[i] = y[i] + s[i]
		s[i] = x[i]
	}
	for l2, m2 j int = 0; j < 40; j += 1 {
		r = 0.9 * r + y[j] + 0.5 * s[j]
	}
}`
	simplify.AlwaysVectors(func() {
		compareLoops(t, 1, func(uint64) string { return text }, []loopPipeline{
			{passes: []func(f *ir.Func){vectors(true, "ws")}, distinct: true},
		})
	})
}

// TestVectorBounds: loops that begin or end at a number near the largest do nothing, as before.
func TestVectorBounds(t *testing.T) {
	for _, head := range []string{
		"i int = 9223372036854775800; i < n; i += 1", "i int = n; i > 9223372036854775799; i += -1",
	} {
		text := loopHead + "for l2, m2 j int = 0; j < n; j += 1 {\ny[j] = x[j] * 2\n}\n" +
			"for l1, m1 " + head + " {\ny[i] = x[i] * 2\n}\n}"
		compareLoops(t, 1, func(uint64) string { return text }, []loopPipeline{
			{passes: []func(f *ir.Func){vectors(true, "ws")}, distinct: true},
		})
	}
}

// loopHead begins a function with the parameters of random ones.
const loopHead = "func F(x []float64, y []float64, c *" + loopDataType + ", ws *" + loopWorkType +
	", wd *" + loopWorkType + ", n int, k int) (r float64) exit {\n"

// recordLoops returns a random function with loops that copy to a slice of the workspace, and read it.
func recordLoops(seed uint64) string {
	w := &accumulation{Rand: rand.New(rand.NewPCG(seed, 25))}
	w.block(strings.TrimSuffix(loopHead, " {\n"), func() {
		w.line("ws.S = make([]float64, 110)")
		w.line("let p []float64 = make([]float64, 60)")
		w.line("let u float64 = 0.25")
		w.block("for l0, m0 o int = 0; o < 2; o += 1", func() {
			w.line("let s []float64 = ws.S[0:55]")
			w.line("let s2 []float64 = ws.S[55:110]")
			for range 1 + w.IntN(2) {
				w.recordLoop()
			}
		})
		w.line("}")
		w.block("for lr, mr j int = 0; j < 40; j += 1", func() { w.line("r = 0.9 * r + p[j] + 0.5 * u") })
		w.line("}")
	})
	w.line("}")
	return w.b.String()
}

// recordLoop writes a loop of recordLoops.
func (w *accumulation) recordLoop() {
	i := w.name("i")
	at := func(v string) string { return v + "[" + i + w.of("", "", " + 1", " + 2") + "]" }
	element := func() string { return at(w.of("x", "y", "p", "s", "s", "s2")) }
	w.block(fmt.Sprintf("for %s, %s %s int = 0; %s < n; %s += 1", w.name("l"), w.name("m"), i, i, i), func() {
		for range 1 + w.IntN(4) {
			switch w.IntN(6) {
			case 0, 1, 2:
				w.line("%s = %s", at(w.of("s", "s", "s2")), element())
			case 3:
				w.line("%s = 0.5 * %s + %s", at(w.of("y", "p", "s")), element(), element())
			case 4:
				w.line("r += 0.25 * %s", element())
			default:
				w.line("u = %s * 0.5", element())
			}
		}
	})
	w.line("}")
}

// bufferLoops returns a random function with loops on buffers, which may be exchanged or joined, on slices of them, and
// on a stack of the workspace.
func bufferLoops(seed uint64) string {
	w := &accumulation{Rand: rand.New(rand.NewPCG(seed, 24))}
	buffers := []string{"p", "q", "o"}
	once := false    // a field of the workspace is sliced already
	var all []string // with slices of them
	assign := func() {
		a, b := buffers[w.IntN(3)], buffers[w.IntN(3)]
		switch t := w.name("t"); w.IntN(6) {
		case 0:
			w.line("%s = %s", a, b)
		case 1:
			w.line("%s = make([]float64, 100)", a)
		default:
			w.line("let %s []float64 = %s", t, a)
			w.line("%s = %s", a, b)
			w.line("%s = %s", b, t)
		}
	}
	loop := func() {
		i := w.name("i")
		element := func() string {
			return all[w.IntN(len(all))] + "[" + i + w.of("", " + 1", " + 2") + "]"
		}
		head := fmt.Sprintf("for %s, %s %s int = %s; %s < n; %s += 1", w.name("l"), w.name("m"), i,
			w.of("0", "1"), i, i)
		if w.IntN(2) == 0 {
			head = fmt.Sprintf("for %s, %s %s int = n; %s > %s; %s += -1", w.name("l"), w.name("m"), i, i,
				w.of("-1", "0"), i)
		}
		w.block(head, func() {
			e := w.name("e")
			w.line("let %s float64 = %s - 0.5 * %s", e, element(), element())
			for range 1 + w.IntN(3) {
				if w.IntN(2) == 0 {
					w.line("%s = 0.25 * %s + %s", element(), element(), e)
				} else {
					w.line("%s += 0.25 * %s", element(), e)
				}
			}
		})
		w.line("}")
	}
	w.block("func F(x []float64, y []float64, c *"+loopDataType+", ws *"+loopWorkType+
		", wd *"+loopWorkType+", n int, k int) (r float64) exit", func() {
		if w.IntN(2) == 0 {
			w.line("ws.S = %s", w.of("make([]float64, 110)", "make([]float64, 110)", "wd.S", "x"))
		}
		var outside []string
		field := func() string { // a slice of a field of the workspace, mostly once
			if once && w.IntN(8) > 0 {
				return "make([]float64, 100)"
			}
			once = w.IntN(2) == 0
			return "ws.S[0:50]"
		}
		for _, v := range buffers {
			first := v
			if w.IntN(2) == 0 {
				first = w.name("f")
				outside = append(outside, first)
			}
			w.line("let %s []float64 = %s", first, w.of("make([]float64, 100)", field(), "wd.S[0:50]", "x", "y"))
			if first != v {
				w.line("let %s []float64 = %s", v, first)
			}
		}
		if w.IntN(2) == 0 {
			w.line("let z []float64 = %s[1:]", buffers[w.IntN(3)])
			outside = append(outside, "z")
		}
		w.block(fmt.Sprintf("for %s, %s o%s int = 0; o%[3]s < 3; o%[3]s += 1", w.name("l"), w.name("m"), w.name("s")),
			func() {
				all = append(slices.Clip(outside), buffers...)
				if w.IntN(2) == 0 {
					loop()
				}
				for range 2 + w.IntN(4) {
					switch w.IntN(6) {
					case 0, 1:
						v := w.name("v")
						w.line("let %s []float64 = %s[%s:]", v, all[w.IntN(len(all))], w.of("0", "1", "k"))
						if w.IntN(6) == 0 {
							w.line("%s = %s", v, all[w.IntN(len(all))])
						}
						all = append(all, v)
					case 4:
						v := w.name("v")
						w.line("let %s []float64 = %s", v, field())
						w.line("%s = %s", buffers[w.IntN(3)], v)
					case 2:
						v := w.name("v")
						w.line("let %s []float64 = %s", v, w.of(field(), "wd.S["+w.of("0", "1", "k")+":]"))
						all = append(all, v)
					case 3:
						if w.IntN(3) == 0 {
							w.block(w.of("if r > 0.5", "if k > 1"), assign)
							w.line("}")
						} else {
							assign()
						}
					default:
						loop()
					}
				}
				loop()
				assign()
			})
		w.line("}")
		w.block("for lr, mr j int = 0; j < 40; j += 1", func() {
			w.line("r = 0.9 * r + p[j] + 0.5 * q[j] - 0.25 * o[j]")
		})
		w.line("}")
	})
	w.line("}")
	return w.b.String()
}

// stencils returns a random function with loops that add to neighbouring elements.
func stencils(seed uint64) string {
	w := &accumulation{Rand: rand.New(rand.NewPCG(seed, 22))}
	w.block("func F(x []float64, y []float64, c *"+loopDataType+", ws *"+loopWorkType+
		", wd *"+loopWorkType+", n int, k int) (r float64) exit", func() {
		for range 1 + w.IntN(3) {
			i := w.name("i")
			head := fmt.Sprintf("for %s, %s %s int = %s; %s < n; %s += 1", w.name("l"), w.name("m"), i,
				w.of("0", "2", "k"), i, i)
			if w.IntN(2) == 0 {
				head = fmt.Sprintf("for %s, %s %s int = n; %s > %s; %s += -1", w.name("l"), w.name("m"), i, i,
					w.of("0", "1", "k"), i)
			}
			w.block(head, func() {
				least, count := w.IntN(4), 2+w.IntN(5)
				for _, j := range w.Perm(count) {
					if w.IntN(12) > 0 { // else there is a gap
						w.line("y[%s + %d] += %s", i, least+j, w.of("x["+i+"]", "r", "0.5 * x["+i+" + 1]", "c.T"))
					}
					if w.IntN(3) == 0 {
						w.line("r = r * 0.5 + x[%s]", w.of(i, "k", i+" + 2"))
					}
				}
				if w.IntN(12) == 0 {
					w.line("r += y[%s]", i)
				}
			})
			w.line("}")
		}
	})
	w.line("}")
	return w.b.String()
}

// TestStencils runs Windows on loops that add to neighbouring elements.
func TestStencils(t *testing.T) {
	windows := func(f *ir.Func) { simplify.Windows(f, true, nil) }
	compareLoops(t, longtest.Cases(0, 100, 300, 3000), stencils, []loopPipeline{
		{passes: []func(f *ir.Func){windows}, distinct: true, tolerance: 1e-12},
	})
}
