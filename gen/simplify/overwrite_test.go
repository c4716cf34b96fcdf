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

// An accumulation writes random functions that accumulate into their first parameter.
type accumulation struct {
	*rand.Rand
	b     strings.Builder
	depth int
	n     int // names so far

	batches bool // see loops
}

func (w *accumulation) line(format string, args ...any) {
	fmt.Fprintf(&w.b, "%s%s\n", strings.Repeat("\t", w.depth), fmt.Sprintf(format, args...))
}

func (w *accumulation) name(base string) string {
	w.n++
	return fmt.Sprint(base, w.n)
}

func (w *accumulation) of(list ...string) string { return list[w.IntN(len(list))] }

// block writes what body does in braces after head.
func (w *accumulation) block(head string, body func()) {
	w.line("%s {", head)
	w.depth++
	body()
	w.depth--
}

// value returns an expression that is added; i is an index that is in range.
func (w *accumulation) value(i string) string {
	return w.of("r", "2.5", "x["+i+"]", "x["+i+"] * r", "s")
}

// condition returns a condition; i is an index that is in range.
func (w *accumulation) condition(i string) string {
	return w.of("x["+i+"] > 0", "x["+i+"] > 0", "r > 0", "0 < "+i, "0 < cols", "hi < rows % 3", "rows % 3 > -1", "flag",
		"0 < cols && "+i+" < rows", w.of("r > 1", "p["+i+"] > 0"))
}

// loop writes a loop over i from lo to hi-1, in some direction.
func (w *accumulation) loop(i, lo, hi string, body func(next string)) {
	l, next := w.name("l"), w.name("m")
	switch w.IntN(30) {
	case 0:
		head := fmt.Sprintf("for %s, %s %s int = %s; %s < %s; %s += 2", l, next, i, lo, i, hi, i)
		w.block(head, func() { body(next) })
		w.line("}")
		return
	case 1:
		w.line("let %s int = %s", i, lo)
		w.block(fmt.Sprintf("for %s, %s", l, next), func() {
			w.block(fmt.Sprintf("if %s >= %s", i, hi), func() { w.line("leave %s", l) })
			w.line("}")
			body("")
			w.line("%s += 1", i)
		})
		w.line("}")
		return
	}
	head := fmt.Sprintf("for %s, %s %s int = %s; %s < %s; %s += 1", l, next, i, lo, i, hi, i)
	if w.IntN(2) == 0 {
		head = fmt.Sprintf("for %s, %s %s int = %s - 1; %s > %s - 1; %s += -1", l, next, i, hi, i, lo, i)
	}
	w.block(head, func() { body(next) })
	w.line("}")
}

// branches writes an if whose else may be missing.
func (w *accumulation) branches(cond string, then, other func()) {
	w.block("if "+cond, then)
	if w.IntN(2) == 0 {
		w.line("} else {")
		w.depth++
		other()
		w.depth--
	}
	w.line("}")
}

// adds writes accumulations at indices near at, where i is an index in range.
func (w *accumulation) adds(slice, at, i, next string) {
	count := 1 + w.IntN(2)*w.IntN(3)
	for range count {
		k := ""
		if count > 1 || w.IntN(4) == 0 {
			k = w.of("", "", " + 1", " - 1", " + 2")
		}
		add := func() {
			at, k := at, k
			switch w.IntN(20) {
			case 0:
				at = w.of("rows", "0", "hi - "+i, "2 * "+i)
			case 1:
				k = w.of("", " + 1", " - 1")
			}
			w.line("%s[%s%s] += %s", slice, at, k, w.value(i))
		}
		switch w.IntN(10) {
		case 0, 1:
			w.branches(w.condition(i), func() {
				add()
				if w.IntN(4) == 0 {
					add()
				}
			}, add)
		case 2:
			w.line("s = x[%s]", i)
			add()
		default:
			add()
		}
	}
	if w.IntN(12) == 0 {
		w.line("s = %s[%s]", slice, at)
	}
	if w.IntN(12) == 0 && next != "" {
		w.block("if x["+i+"] > 1", func() { w.line("leave %s", next) })
		w.line("}")
	}
}

// vector writes a loop over single elements.
func (w *accumulation) vector() {
	lo, hi := w.of("0", "0", "1", "rows"), w.of("len(x)", "hi", "hi", "rows", "len(x) - 2")
	slice := "p"
	i := w.name("i")
	at := w.of(i, i, i, i+" + 1", "hi - "+i, "2 * "+i, "rows")
	cut := w.IntN(3) == 0
	if cut {
		slice = w.name("part")
		from := w.of("", "", "1", "rows", "rows / 2")
		w.line("let %s []float64 = p[%s:len(p):len(p)]%s", slice, from, w.of("", "[:hi]"))
	}
	body := func() { w.loop(i, lo, hi, func(next string) { w.adds(slice, at, i, next) }) }
	if w.IntN(2) == 0 {
		body()
		return
	}
	guard := w.of(lo+" < "+hi, lo+" < "+hi, lo+" < "+hi, lo+" < "+hi+" && r > 0", w.condition("0"))
	w.block("if "+guard, func() {
		body()
		for range w.IntN(3) {
			switch w.IntN(8) {
			case 0:
				w.block("if "+w.of("r > 1", "r > 0", "flag"), func() { w.line("leave exit") })
				w.line("}")
			case 1:
				w.line("s += p[0]")
			default:
				w.line("p[%s] += %s", w.of("hi", "hi", "0", "hi - 1", "rows", "hi / 2"), w.value("0"))
			}
		}
	})
	w.line("}")
}

// matrix writes a loop over rows.
func (w *accumulation) matrix() {
	i, j := w.name("i"), w.name("j")
	w.loop(i, "0", "rows", func(string) {
		at := i + " * cols"
		if w.IntN(2) == 0 {
			at = w.name("at")
			w.line("let %s int = %s * cols%s", at, i, w.of("", "", " + 1"))
		}
		inner := func() {
			slice, at := "p", at+" + "+j
			if w.IntN(2) == 0 {
				slice = w.name("row")
				end := w.of("", "("+i+" + 1) * cols")
				w.line("let %s []float64 = p[%s * cols:%s]", slice, i, end)
				at = j
			}
			hi := w.of("cols", "cols", "cols", "cols - 1", i)
			w.loop(j, "0", hi, func(next string) { w.adds(slice, at, j, next) })
		}
		if w.IntN(4) == 0 {
			w.block("if "+w.of("0 < cols", "0 < cols", w.condition(i)), inner)
			w.line("}")
		} else {
			inner()
		}
		if w.IntN(8) == 0 {
			w.line("p[%s] += 1", i)
		}
	})
}

func (w *accumulation) stmt() {
	switch w.IntN(9) {
	case 0, 1, 2, 3:
		w.vector()
	case 4, 5, 6:
		w.matrix()
	case 7:
		w.line("p[%s] += %s", w.of("0", "hi", "rows", "1"), w.value("0"))
	case 8:
		w.branches(w.condition("0"), w.stmt, w.stmt)
	}
}

// accumulations returns a random function.
func accumulations(seed uint64) string {
	w := &accumulation{Rand: rand.New(rand.NewPCG(seed, 21))}
	w.block("func F(p []float64, x []float64, r float64, rows int, cols int) (s float64) exit", func() {
		w.line("let hi int = len(x) - 1")
		w.line("let flag bool = r > 0.5")
		if w.IntN(20) == 0 {
			w.line("p = p[rows %% 2:]")
		}
		if w.IntN(15) == 0 {
			w.block("if r > 1", func() { w.line("leave exit") })
			w.line("}")
		}
		for range 1 + w.IntN(3) {
			w.stmt()
		}
	})
	w.line("}")
	return w.b.String()
}

// TestOverwrite compares random functions that accumulate into zeros with those that overwrite other numbers.
func TestOverwrite(t *testing.T) {
	count := longtest.Cases(0, 1000, 5000, 100000)
	stored, panics, moved := 0, 0, 0
	for seed := range uint64(count) {
		f := parse(t, accumulations(seed))
		g, _ := ir.Clone(f, nil)
		if !simplify.Overwrite(g, g.Params[0], g.Params[1]) {
			if g.String() != f.String() {
				t.Fatalf("seed %d: changed\n%v\n%v", seed, f, g)
			}
			continue
		}
		stored++
		if err := ir.Check(g); err != nil {
			t.Fatalf("seed %d: %v\n%v\n%v", seed, err, f, g)
		}
		for k := range 8 {
			r := rand.New(rand.NewPCG(seed, uint64(k)))
			n := []int{0, 1, 2, 3, 6, 7, 12, 13}[k]
			rows, cols := r.IntN(5), r.IntN(4)
			if r.IntN(3) == 0 {
				rows, cols = n/2, 2
			}
			x, zeros, numbers := make([]float64, n), make([]float64, n), make([]float64, n)
			for i := range x {
				x[i], numbers[i] = r.NormFloat64(), r.NormFloat64()
			}
			scale := 2 * r.NormFloat64()
			run := func(f *ir.Func, p []float64) ([]float64, float64, bool) {
				in := ir.ValuesOf(p, x, scale, rows, cols)
				out, err := (&ir.Machine{Steps: 1 << 20}).Eval(f, in)
				if e := (*ir.PanicError)(nil); errors.As(err, &e) {
					return nil, 0, true
				} else if err != nil {
					t.Fatalf("seed %d: %v\n%v", seed, err, f)
				}
				return ir.As[[]float64](in[0]), ir.As[float64](out[0]), false
			}
			want, value, p := run(f, zeros)
			got, again, q := run(g, numbers)
			if p != q || value != again || !slices.Equal(got, want) {
				t.Fatalf("seed %d, n = %d, %d rows, %d columns: got %v %v %v, want %v %v %v\n%v\n%v", seed, n,
					rows, cols, got, again, q, want, value, p, f, g)
			}
			if p {
				panics++
			} else {
				moved++
			}
		}
	}
	t.Logf("%d of %d functions store; %d runs, and %d that panic", stored, count, moved, panics)
	if stored*5 < count || panics > 2*moved {
		t.Error("want more functions that store, and runs that do not panic")
	}
}
