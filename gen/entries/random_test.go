package entries_test

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/adjoint"
	"github.com/nabla-ad/nabla/gen/entries"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/simplify"
	"github.com/nabla-ad/nabla/gen/tangent"
	"github.com/nabla-ad/nabla/internal/longtest"
)

var (
	programs  = flag.Int("programs", 0, "how many random functions are compared; 0 is as many as the length asks for")
	firstSeed = flag.Uint64("seed", 1, "of the first random function")
)

// A writer writes random functions whose outputs depend on few inputs each.
type writer struct {
	*rand.Rand
	b      strings.Builder
	depth  int
	names  int
	floats []string // variables in scope
	set    []string // those of them that may be assigned
	ints   []string // indices in scope, from 2 to n+1
	slices []string // slices of x at least as long as n + 4
	loops  int
	leaves []string // labels of the loops around
}

func (w *writer) line(format string, args ...any) {
	fmt.Fprintf(&w.b, "%s%s\n", strings.Repeat("\t", w.depth), fmt.Sprintf(format, args...))
}

func (w *writer) name(base string) string {
	w.names++
	return fmt.Sprint(base, w.names)
}

func (w *writer) of(list ...string) string { return list[w.IntN(len(list))] }

// block writes body in braces after head. What it declares ends with it.
func (w *writer) block(head string, body func()) {
	f, s, i, l := len(w.floats), len(w.set), len(w.ints), len(w.slices)
	w.line("%s {", head)
	w.depth++
	body()
	w.depth--
	w.floats, w.set, w.ints, w.slices = w.floats[:f], w.set[:s], w.ints[:i], w.slices[:l]
}

// index returns an index of x that is in range.
func (w *writer) index() string {
	if len(w.ints) == 0 || w.IntN(8) == 0 {
		return fmt.Sprint(w.IntN(4))
	}
	return w.of(w.ints...) + w.of("", "", " + 1", " - 1", " - 2", " + 2")
}

// value returns an expression of floats.
func (w *writer) value(depth int) string {
	if depth == 0 || w.IntN(5) == 0 {
		switch k := w.IntN(8); {
		case k < 4:
			return w.of(w.slices...) + "[" + w.index() + "]"
		case k < 7 && len(w.floats) > 0:
			return w.of(w.floats...)
		}
		return w.of("2.5", "a", "a", "1.0")
	}
	x := w.value(depth - 1)
	switch w.IntN(14) {
	case 0, 1, 2:
		return "(" + x + " + " + w.value(depth-1) + ")"
	case 3, 4:
		return "(" + x + " - " + w.value(depth-1) + ")"
	case 5, 6, 7:
		return x + " * " + w.value(depth-1)
	case 8:
		return x + " / (2.0 + " + w.of("a", w.of(w.slices...)+"["+w.index()+"]") + ")"
	case 9:
		return "-(" + x + ")"
	case 10:
		return w.of("math.Sin", "math.Tanh", "math.Abs") + "(" + x + ")"
	case 11:
		return w.of("math.Sqrt(math.Abs(", "math.Cbrt((", "math.Sqrt((1.0 + ") + x + "))"
	case 12:
		return w.of("max", "min") + "(" + x + ", " + w.value(depth-1) + ")"
	}
	return "math.FMA(" + x + ", a, " + w.value(depth-1) + ")"
}

func (w *writer) condition() string {
	if len(w.ints) > 0 && w.IntN(2) == 0 {
		return w.of(w.ints...) + w.of(" == 2", " > 3", " < n", " == n")
	}
	return w.of(w.slices...) + "[" + w.index() + "] > 0.2"
}

// body writes statements, which end in a store if they can.
func (w *writer) body(count int) {
	for range count {
		w.stmt()
	}
}

func (w *writer) store() {
	w.line("%s[%s] %s %s", w.of("y", "y", "out"), w.index(), w.of("=", "=", "+="), w.value(2))
}

func (w *writer) stmt() {
	switch k := w.IntN(16); {
	case k < 3:
		v := w.name("v")
		w.line("let %s float64 = %s", v, w.value(2))
		w.floats = append(w.floats, v)
		if w.IntN(2) == 0 {
			w.set = append(w.set, v)
		}
	case k < 5 && len(w.set) > 0:
		w.line("%s = %s", w.of(w.set...), w.value(2))
	case k < 6 && len(w.set) > 0:
		w.line("%s += %s[%s] * a", w.of(w.set...), w.of(w.slices...), w.index())
	case k < 8:
		w.block("if "+w.condition(), func() { w.body(1 + w.IntN(2)) })
		if w.IntN(2) == 0 {
			w.b.WriteString(strings.Repeat("\t", w.depth) + "} else {\n")
			w.depth++
			f, s, i, l := len(w.floats), len(w.set), len(w.ints), len(w.slices)
			w.body(1 + w.IntN(2))
			w.floats, w.set, w.ints, w.slices = w.floats[:f], w.set[:s], w.ints[:i], w.slices[:l]
			w.depth--
		}
		w.line("}")
	case k < 10 && w.loops < 2:
		w.loop()
	case k == 10:
		i := w.name("k")
		w.line("let %s int = %s", i, w.within())
		if w.IntN(2) == 0 {
			w.block("if "+w.condition(), func() { w.line("%s = %s", i, w.within()) })
			w.line("}")
		}
		w.ints = append(w.ints, i)
	case k == 11 && w.loops == 0:
		s := w.name("u")
		w.line("let %s []float64 = x[%s]", s, w.of("2:", "n / 2:", "1:n + 7"))
		w.slices = append(w.slices, s)
	case k == 11 && len(w.leaves) > 0:
		w.block("if "+w.condition(), func() { w.line("leave %s", w.of(w.leaves...)) })
		w.line("}")
	case k == 12 && w.IntN(4) == 0:
		w.line("%s", w.of("clear(y[1:3])", "copy(y[2:], x[1:4])", "clear(y)"))
	default:
		w.store()
	}
}

// within returns an expression from 2 to n + 1.
func (w *writer) within() string {
	if len(w.ints) == 0 {
		return w.of("2", "n", "n / 2 + 1")
	}
	i := w.of(w.ints...)
	return w.of("2", "n + 3 - "+i, "("+i+" * 3) % n + 2", "max("+i+" - 1, 2)")
}

func (w *writer) loop() {
	i := w.name("i")
	w.loops++
	before, carries := len(w.set), []string(nil)
	for w.IntN(2) == 0 && len(carries) < 3 { // values of the iteration before
		carries = append(carries, w.name("c"))
		w.line("let %s float64 = %s", carries[len(carries)-1], w.of("0.0", "x[0]", "x[1]"))
	}
	w.floats = append(w.floats, carries...)
	l, next := w.name("l"), w.name("m")
	head := fmt.Sprintf("for %s, %s %s int = 2; %s < n + 2; %s += 1", l, next, i, i, i)
	if w.IntN(3) == 0 {
		head = fmt.Sprintf("for %s, %s %s int = n + 1; %s > 1; %s += -1", l, next, i, i, i)
	}
	w.leaves = append(w.leaves, l, next, next)
	defer func() { w.leaves = w.leaves[:len(w.leaves)-3] }()
	w.block(head, func() {
		set := w.set
		w.sum()
		if w.IntN(4) > 0 { // sums of many terms have no entries
			w.set = w.set[:0:0]
		}
		w.ints = append(w.ints, i)
		w.body(1 + w.IntN(5))
		w.store()
		if len(carries) > 1 && w.IntN(2) == 0 { // a window
			now, d := w.name("v"), w.name("v")
			w.line("let %s float64 = x[%s + 1]", now, i)
			w.line("let %s float64 = %s * (%s - %s)", d, w.of("a", now), now, carries[0])
			w.line("y[%s] = %s - %s", i, carries[1], d)
			w.line("%s = %s", carries[0], now)
			w.line("%s = %s", carries[1], d)
			carries = carries[2:]
		}
		for _, c := range carries {
			w.line("%s = %s", c, w.value(1))
		}
		w.set = append(set[:before:before], w.set[min(before, len(w.set)):]...)
		w.set = set
	})
	w.line("}")
	w.loops--
}

// sum writes a sum of elements, over as many iterations as n says.
func (w *writer) sum() {
	if w.loops > 1 || w.IntN(3) > 0 {
		return
	}
	s, k := w.name("s"), w.name("k")
	w.line("let %s float64 = %s", s, w.of("0.0", "0.0", "x[1] * a"))
	head := fmt.Sprintf("for %s, %s %s int = %s; %s < n + 2; %s += 1", w.name("l"), w.name("m"), k,
		w.of("2", w.within()), k, k)
	w.block(head, func() {
		w.ints = append(w.ints, k)
		add := func() { w.line("%s = %s * %s + %s", s, s, w.of("a", "1.0", "1.0"), w.value(1)) }
		switch w.IntN(4) {
		case 0:
			w.block("if "+w.condition(), add)
			w.line("}")
		case 1:
			w.store()
			add()
		case 2:
			add()
			add()
		default:
			w.line("%s += x[%s] * a", s, k)
		}
	})
	w.line("}")
	w.floats = append(w.floats, s)
	if w.IntN(2) == 0 {
		w.line("y[%s] = %s(%s)", w.index(), w.of("math.Sin", "-", "math.Sqrt"), s)
	}
}

// local returns a random function.
func local(seed uint64) string {
	w := &writer{Rand: rand.New(rand.NewPCG(seed, 7)), slices: []string{"x"}}
	w.block("func F(y []float64, x []float64, a float64, n int) exit", func() {
		w.line("let out []float64 = %s", w.of("y", "y[n:]", "y[2:]"))
		for range 1 + w.IntN(3) {
			w.stmt()
		}
		w.loop()
	})
	w.line("}")
	return w.b.String()
}

// counts are the numbers of functions and comparisons.
type counts struct {
	built, changed, compared, sums int
	why                            map[string]int // functions have no entries
}

// log writes the counts for a number of functions.
func (c *counts) log(t *testing.T, of int) {
	t.Logf("%d of %d functions have entries, %d comparisons; %d plans of other points do not fit; %d runs with lists",
		c.built, of, c.compared, c.changed, c.sums)
	for what, n := range c.why {
		t.Logf("%6d refused: %s", n, what)
	}
}

// TestRandom compares the entries of random functions with products.
func TestRandom(t *testing.T) {
	count := longtest.Cases(*programs, 50, 250, 4000)
	c := &counts{why: map[string]int{}}
	for seed := *firstSeed; seed < *firstSeed+uint64(count); seed++ {
		c.jacobian(t, seed)
	}
	if c.log(t, count); c.built*3 < count || 2*c.compared < c.built || c.changed*20 < c.compared {
		t.Error("want more functions with entries, and more plans of other points")
	}
}

// jacobian compares the Jacobian of a random function, at several points, with plans of each other.
func (c *counts) jacobian(t *testing.T, seed uint64) {
	text := local(seed)
	funcs, err := ir.Parse(text, nil)
	if err != nil {
		t.Fatalf("seed %d: %v\n%s", seed, err, text)
	}
	f := funcs[0]
	if seed%3 == 0 {
		simplify.Primal(f, nil)
	}
	dot, _, err := tangent.New().Build(f, activity.Bits(3))
	if err != nil {
		t.Fatalf("seed %d: %v\n%s", seed, err, text)
	}
	if seed%2 == 0 {
		simplify.DeadCode(dot, nil)
	}
	p := dot.Params
	e, err := entries.Build(entries.Linear{F: dot, In: p[5], InLike: p[1], Out: p[4], OutLike: p[0]})
	if refused := (*entries.Error)(nil); errors.As(err, &refused) {
		c.why[refused.What]++
		return
	} else if err != nil {
		t.Fatal(err)
	}
	c.built++
	if seed%5 != 0 {
		simplify.DeadCode(e.Values, nil)
		simplify.DeadCode(e.Plan, nil)
	}
	for _, g := range []*ir.Func{e.Values, e.Plan} {
		if err := ir.Check(g); err != nil {
			t.Fatalf("seed %d: %v\n%v\n%v", seed, err, f, g)
		}
	}
	var old *plan
	for k := range 6 {
		r := rand.New(rand.NewPCG(seed, uint64(k)))
		size := []int{3, 5, 4}[k/2]
		m := &matrix{t: t, e: e, dot: dot, m: 2*size + 8, n: size + 12}
		x := make([]float64, m.n)
		for i := range x {
			x[i] = math.Round(8*r.NormFloat64()) / 8 // zeros among them
		}
		args := func() []ir.Value {
			return ir.ValuesOf(make([]float64, m.m), append([]float64(nil), x...), 0.75, size)
		}
		want := m.products(args)
		p := m.plan(args())
		got, other := m.entries(p, args())
		if other {
			t.Fatalf("seed %d: the plan does not fit its own point\n%s\n%v", seed, text, e.Values)
		}
		terms := map[int]int{}
		for _, k := range p.place {
			terms[k]++
		}
		check := func(got []float64, what string) {
			for i := range got {
				// Infinite terms may have a sum that is not in a product, and zeros in lists are not strong.
				if (terms[i] > 1 || m.sums > 0) && got[i] != got[i] {
					continue
				}
				if math.Abs(got[i]-want[i]) > 1e-12*(1+math.Abs(want[i])) ||
					got[i] != got[i] && want[i] == want[i] {
					t.Fatalf("seed %d, %s, entry %d, %d: got %v, want %v\n%s\n%v\n%v", seed, what, i/m.n, i%m.n,
						got[i], want[i], text, e.Values, e.Plan)
				}
			}
		}
		check(got, "own plan")
		if k%2 == 1 {
			got, other = m.entries(*old, args())
			if other {
				c.changed++
				if e.Fixed {
					t.Fatalf("seed %d: a fixed plan has changed\n%s\n%v", seed, text, e.Values)
				}
			} else {
				c.compared++
				check(got, "plan of another point")
			}
		}
		old = &p
		c.sums += min(m.sums, 1)
	}
}

// scalarFunction returns a random sum of terms.
func scalarFunction(seed uint64) string {
	w := &writer{Rand: rand.New(rand.NewPCG(seed, 8)), slices: []string{"x"}}
	w.block("func F(x []float64, a float64, n int) (r float64) exit", func() {
		for range 1 + w.IntN(3) {
			w.terms()
		}
	})
	w.line("}")
	return w.b.String()
}

// terms writes a loop that adds to r.
func (w *writer) terms() {
	i := w.name("i")
	w.loops++
	w.block(fmt.Sprintf("for %s, %s %s int = %s; %s < n + 2; %s += 1", w.name("l"), w.name("m"), i,
		w.of("2", "3"), i, i),
		func() {
			w.ints = append(w.ints, i)
			for range w.IntN(3) {
				switch v := w.name("v"); w.IntN(4) {
				case 0:
					w.line("let %s float64 = %s", v, w.value(1))
					w.block("if "+w.condition(), func() { w.line("%s = %s", v, w.value(1)) })
					w.line("}")
					w.floats = append(w.floats, v)
				case 1:
					w.block("if "+w.condition(), func() { w.line("r += %s", w.value(2)) })
					w.line("}")
				default:
					w.line("let %s float64 = %s", v, w.value(2))
					w.floats = append(w.floats, v)
				}
			}
			if w.loops < 2 && w.IntN(4) == 0 {
				w.terms()
			}
			w.line("r += %s", w.value(2+w.IntN(2)))
		})
	w.line("}")
	w.loops--
}

// second returns the tangent of the adjoint of f, whose last two parameters are the direction and its image.
func second(t *testing.T, f *ir.Func) *ir.Func {
	a, err := adjoint.New(nil, "AdjointWork", adjoint.Options{}).Of(f, activity.Bits(1))
	if err != nil {
		t.Fatal(err, f)
	}
	dot, _, err := tangent.New().Build(a.Func, activity.Bits(1|1<<3))
	if err != nil {
		t.Fatal(err, a.Func)
	}
	for _, v := range dot.Results[1:] { // the tangent of the value
		v.Kind = ir.Local
		dot.Body = append(ir.Block{&ir.Let{V: v}}, dot.Body...)
	}
	dot.Results = dot.Results[:1]
	simplify.DeadCode(dot, nil)
	return dot
}

// TestRandomHessians compares the entries of Hessians of random functions with products.
func TestRandomHessians(t *testing.T) {
	count := longtest.Cases(*programs, 100, 500, 10000)
	c := &counts{why: map[string]int{}}
	for seed := *firstSeed; seed < *firstSeed+uint64(count); seed++ {
		c.hessian(t, seed)
	}
	if c.log(t, count); c.built*4 < count || c.compared < 100*c.built {
		t.Error("want more functions with entries, and more numbers")
	}
}

// hessian compares the Hessian of a random function.
func (c *counts) hessian(t *testing.T, seed uint64) {
	text := scalarFunction(seed)
	funcs, err := ir.Parse(text, nil)
	if err != nil {
		t.Fatalf("seed %d: %v\n%s", seed, err, text)
	}
	if seed%2 == 0 {
		simplify.Primal(funcs[0], nil)
	}
	dot := second(t, funcs[0])
	if len(dot.Params) != 8 {
		c.why["it has a tape"]++
		return
	}
	p := dot.Params
	e, err := entries.Build(entries.Linear{F: dot, In: p[6], InLike: p[0], Out: p[7], OutLike: p[3]})
	if refused := (*entries.Error)(nil); errors.As(err, &refused) {
		c.why[refused.What]++
		return
	} else if err != nil {
		t.Fatal(err)
	}
	c.built++
	if seed%5 != 0 {
		simplify.DeadCode(e.Values, nil)
		simplify.DeadCode(e.Plan, nil)
	}
	for _, g := range []*ir.Func{e.Values, e.Plan} {
		if err := ir.Check(g); err != nil {
			t.Fatalf("seed %d: %v\n%v\n%v", seed, err, text, g)
		}
	}
	for k, size := range []int{3, 5, 4} {
		r := rand.New(rand.NewPCG(seed, uint64(k)))
		m := &matrix{t: t, e: e, dot: dot, m: size + 12, n: size + 12, last: true}
		x := make([]float64, m.n)
		for i := range x {
			x[i] = math.Round(8*r.NormFloat64()) / 8
		}
		args := func() []ir.Value {
			return append(ir.ValuesOf(append([]float64(nil), x...), 0.75, size, make([]float64, m.n), 1.0),
				ir.NewValue(p[5].Type))
		}
		want := m.products(args)
		plan := m.plan(args())
		got, other := m.entries(plan, args())
		if other {
			t.Fatalf("seed %d: the plan does not fit its own point\n%s\n%v", seed, text, e.Values)
		}
		for i := range got {
			// A zero times an infinity is a NaN in one of the two.
			if math.Abs(got[i]-want[i]) > 1e-11*(1+math.Abs(want[i])) {
				t.Fatalf("seed %d, entry %d, %d: got %v, want %v\n%s\n%v\n%v", seed, i/m.n, i%m.n, got[i],
					want[i], text, dot, e.Values)
			}
			if got[i] == got[i] && want[i] == want[i] {
				c.compared++
			}
		}
	}
}

// FuzzEntries compares the Jacobians and Hessians of random functions.
func FuzzEntries(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		c := &counts{why: map[string]int{}}
		c.jacobian(t, seed)
		c.hessian(t, seed)
	})
}
