package lower_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// writer writes random functions. What they do is defined by the language: an expression
// never reads what a call in it writes. Products are rounded by themselves, so that no
// compiler fuses them.
type writer struct {
	*rand.Rand
	b      strings.Builder
	depth  int
	loops  []string // labels of loops around
	used   map[string]bool
	n      int
	vars   map[string][]string // in scope, by kind
	fuel   int                 // statements left
	inside bool                // of a closure
}

func newWriter(seed uint64) *writer {
	return &writer{Rand: rand.New(rand.NewPCG(seed, 7)), vars: map[string][]string{}, used: map[string]bool{}}
}

// function writes the function name. All have one signature.
func (w *writer) function(name string) string {
	w.b.Reset()
	w.n, w.fuel, w.loops = 0, 14+w.IntN(16), nil
	w.vars = map[string][]string{
		"float": {"a", "b"}, "int": {"n", "fuel"}, "slice": {"x", "y"}, "struct": {"p"}, "pointer": {"q", "(&p)"}, "array": {"p.V", "q.V", "z.V"},
		"index": {"n"}, "wide": {"z"},
	}
	w.line("func %s(a, b float64, x, y []float64, n int, p P, q *P) (r float64, k int, out []float64) {", name)
	w.depth = 1
	w.line("fuel := 60")
	w.line("z := Q{P: p, R: q, C: half}")
	w.block()
	w.line("r += a + b*0.5 + p.A + q.V[0] + z.C")
	w.line("for i, v := range x {")
	w.line("\tr += v * float64(i+1)")
	w.line("}")
	w.line("return r, k + n + fuel + p.N, append(y, z.A, q.A)")
	w.depth = 0
	w.line("}")
	return w.b.String()
}

func (w *writer) line(format string, args ...any) {
	fmt.Fprintf(&w.b, "%s%s\n", strings.Repeat("\t", w.depth), fmt.Sprintf(format, args...))
}

func (w *writer) name(kind string) string {
	w.n++
	return fmt.Sprintf("%s%d", kind[:1], w.n)
}

func (w *writer) pick(kind string) string {
	l := w.vars[kind]
	return l[w.IntN(len(l))]
}

func (w *writer) declare(kind, name string) { w.vars[kind] = append(w.vars[kind], name) }

// block writes statements in a scope of their own.
func (w *writer) block() {
	saved := map[string][]string{}
	for k, v := range w.vars {
		saved[k] = v[:len(v):len(v)]
	}
	for range 1 + w.IntN(5) {
		if w.fuel > 0 {
			w.fuel--
			w.stmt()
		}
	}
	w.vars = saved
}

func (w *writer) nested(head, tail string, args ...any) {
	w.line(head, args...)
	w.depth++
	w.block()
	w.depth--
	w.line("%s", tail)
}

// float is an expression without calls that write.
func (w *writer) float(d int) string {
	if d <= 0 {
		switch w.IntN(8) {
		case 0:
			return []string{"0.5", "1.25", "-0.75", "half", "(0.3 - 0.8)", "2"}[w.IntN(6)]
		case 1, 2, 3:
			return w.place()
		default:
			return w.pick("float")
		}
	}
	x, y := w.float(d-1), w.float(d-2)
	switch w.IntN(19) {
	case 0, 1:
		return fmt.Sprintf("(%s + %s)*0.5", x, y)
	case 2:
		return fmt.Sprintf("float64(%s * math.Sin(%s))", x, y)
	case 3:
		return fmt.Sprintf("(%s) / (1.5 + math.Cos(%s))", x, y)
	case 4:
		return fmt.Sprintf("math.Sqrt(1+math.Abs(%s)) - (%s)", x, y)
	case 5:
		return fmt.Sprintf("math.Max(%s, %s)", x, y)
	case 6:
		return fmt.Sprintf("-(%s)", x)
	case 7:
		return fmt.Sprintf("float64(%s)", w.integer(1))
	case 8:
		return fmt.Sprintf("tree(%s, %s%%4)", x, w.pick("index"))
	case 9:
		return fmt.Sprintf("%s.sum()", []string{w.pick("struct"), w.pick("pointer"), "z", "z.R", "(*q)"}[w.IntN(5)])
	case 10:
		return fmt.Sprintf("mean(%s, %s, 0.5)", x, y)
	case 11:
		return fmt.Sprintf("min(%s, %s, 3)", x, y)
	case 13:
		return fmt.Sprintf("fac(%s, %s)", x, w.pick("index"))
	case 14:
		return fmt.Sprintf("float64(text(%s&3)+ints(%s))", w.pick("index"), w.pick("index"))
	case 15:
		return fmt.Sprintf("matrix(%s, %s)", x, y)
	case 16:
		return fmt.Sprintf("pick(%s, %s)", w.pick("index"), x)
	case 17:
		return fmt.Sprintf("order(%s)", w.pick("slice"))
	case 12:
		return fmt.Sprintf("table[uint(%s)%%4]", w.integer(0))
	}
	return fmt.Sprintf("%s.moved(%s).A", w.pick("struct"), x)
}

func (w *writer) place() string {
	switch w.IntN(7) {
	case 0, 1:
		s := w.pick("slice")
		return fmt.Sprintf("%s[uint(%s)%%uint(len(%s))]", s, w.integer(0), s)
	case 2:
		return fmt.Sprintf("%s[uint(%s)%%3]", w.pick("array"), w.integer(0))
	case 3:
		return "q." + []string{"A", "B"}[w.IntN(2)]
	case 4:
		return w.pick("struct") + "." + []string{"A", "B"}[w.IntN(2)]
	case 5:
		return []string{"z.A", "z.C", "z.R.B", "z.P.V[1]"}[w.IntN(4)]
	}
	return w.pick("float")
}

func (w *writer) integer(d int) string {
	if d <= 0 {
		if w.IntN(3) == 0 {
			return fmt.Sprint(w.IntN(5))
		}
		return w.pick("index")
	}
	x, y := w.integer(d-1), w.integer(d-1)
	return []string{x + " + " + y, x + " - " + y, "(" + x + ")*2 % 7", "len(" + w.pick("slice") + ")", "(" + x + ") &^ 1", x + "<<1"}[w.IntN(6)]
}

func (w *writer) cond(d int) string {
	switch w.IntN(6) {
	case 0:
		return fmt.Sprintf("(%s)%%3 == %d", w.integer(1), w.IntN(3))
	case 1:
		if d > 0 {
			return fmt.Sprintf("(%s) && %s", w.cond(d-1), w.cond(d-1))
		}
	case 2:
		if d > 0 {
			return fmt.Sprintf("(%s) || !(%s)", w.cond(d-1), w.cond(d-1))
		}
	}
	return fmt.Sprintf("%s %s %s", w.float(1), []string{"<", ">", "<=", "!="}[w.IntN(4)], w.float(1))
}
