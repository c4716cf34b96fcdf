package simplify_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

const pair = "struct{A float64; V [2]float64}"

// A writer generates random functions in the text form: helpers, each calling only earlier ones, and F, which calls all
// of them.
type writer struct {
	*rand.Rand
	b      strings.Builder
	n      int
	depth  int
	fuel   int
	vars   map[string][]string // in scope, by type; "" holds integers that nothing writes
	labels []string
	calls  []string // helpers that may be called
	sums   bool     // many additions
}

const vector, slice = "[3]float64", "[]float64"

var helpers = map[string]struct {
	params, results []string
}{
	"scale": {[]string{"float64", vector}, []string{vector}},
	"mix":   {[]string{vector, "int", slice}, []string{"float64", vector}},
	"fold":  {[]string{slice, slice, pair}, []string{"float64"}},
	"store": {[]string{slice, pair, "float64"}, nil},
	"turn":  {[]string{pair, "*float64"}, []string{pair, "float64", "int"}},
}

func program(seed uint64, sums bool) string {
	w := &writer{Rand: rand.New(rand.NewPCG(seed, 5)), sums: sums}
	for _, name := range []string{"scale", "mix", "fold", "store", "turn"} {
		h := helpers[name]
		w.function(name, h.params, h.results, 3+w.IntN(5))
		w.calls = append(w.calls, name)
	}
	w.function("F", []string{slice, slice, "float64", vector, pair, "int"}, []string{"float64", vector}, 10+w.IntN(20))
	return w.b.String()
}

func (w *writer) name(base string) string {
	w.n++
	return fmt.Sprintf("%s%d", base, w.n)
}

func (w *writer) line(format string, args ...any) {
	fmt.Fprintf(&w.b, "%s%s\n", strings.Repeat("\t", w.depth), fmt.Sprintf(format, args...))
}

func (w *writer) function(name string, params, results []string, fuel int) {
	w.vars = map[string][]string{}
	w.fuel = fuel
	list := func(types []string) string {
		var out []string
		for _, t := range types {
			v := w.name("v")
			w.vars[t] = append(w.vars[t], v)
			out = append(out, v+" "+t)
		}
		return strings.Join(out, ", ")
	}
	head := "func " + name + "(" + list(params) + ")"
	if len(results) > 0 {
		head += " (" + list(results) + ")"
	}
	exit := w.name("exit")
	w.labels = []string{exit}
	w.line("%s %s {", head, exit)
	w.depth++
	for _, v := range [][2]string{{"float64", "0.75"}, {vector, "zero([3]float64)"}, {pair, "zero(" + pair + ")"},
		{"int", "2"}, {slice, "make([]float64, 3)"}} {
		name := w.name("v")
		w.line("let %s %s = %s", name, v[0], v[1])
		w.vars[v[0]] = append(w.vars[v[0]], name)
	}
	w.block()
	w.depth--
	w.line("}")
}

func (w *writer) pick(t string) string {
	l := w.vars[t]
	return l[w.IntN(len(l))]
}

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
	if len(w.labels) > 1 || w.depth == 1 {
		switch w.IntN(12) {
		case 0, 1, 2:
			w.line("leave %s", w.labels[w.IntN(len(w.labels))])
		case 3:
			if w.depth > 3 {
				w.line("panic(%q)", "no")
			}
		}
	}
	w.vars = saved
}

func (w *writer) declare(t string) string {
	v := w.name("v")
	switch w.IntN(5) {
	case 0:
		w.line("let %s %s", v, t)
	case 1:
		w.line("let %s %s = %s", v, t, w.expr(t, 2))
		if len(w.vars[t]) > 0 && w.IntN(2) == 0 {
			u := w.name("v")
			w.line("let %s %s = %s", u, t, w.pick(t))
			w.vars[t] = append(w.vars[t], u)
		}
	default:
		w.line("let %s %s = %s", v, t, w.expr(t, 2))
	}
	w.vars[t] = append(w.vars[t], v)
	return v
}

func (w *writer) stmt() {
	kinds := []string{"float64", "float64", vector, pair, "int"}
	kind := w.IntN(18)
	if w.depth > 4 && kind > 9 {
		kind = w.IntN(9)
	}
	if w.sums && w.IntN(3) > 0 {
		kind = 17
	}
	switch kind {
	case 0, 1:
		w.declare(kinds[w.IntN(len(kinds))])
	case 2:
		w.line("%s = %s", w.pick(vector), w.expr(vector, 2))
	case 3:
		w.line("%s = %s", w.pick(pair), w.expr(pair, 2))
	case 4:
		w.line("%s.V = [2]float64{%s, %s}", w.pick(pair), w.expr("float64", 1), w.expr("float64", 1))
	case 5, 6:
		w.line("%s = %s", w.place(), w.expr("float64", 3))
	case 7:
		w.line("%s = %s", w.pick("int"), w.expr("int", 2))
	case 8:
		w.add(w.place())
	case 17:
		p, q := w.place(), w.place()
		for range 3 + w.IntN(3) {
			switch w.IntN(7) {
			case 0:
				w.line("%s = 0.0", p)
			case 1:
				w.declare("float64")
			case 2:
				w.add(q)
			case 3:
				w.line("%s = %s", w.place(), w.expr("float64", 1))
			default:
				w.add(p)
			}
		}
	case 9, 10:
		w.call()
	case 11, 12:
		w.line("if %s {", w.cond())
		w.nested("")
		if w.IntN(2) == 0 {
			w.b.WriteString(strings.Repeat("\t", w.depth))
			w.b.WriteString("} else {\n")
			w.nested("")
		}
		w.line("}")
	case 13:
		l := w.name("l")
		w.line("scope %s {", l)
		w.nested(l)
		w.line("}")
	case 14, 15:
		l, n, i := w.name("l"), w.name("n"), w.name("i")
		if w.IntN(3) == 0 {
			w.line("for %s, %s %s int = %d; %s > %d; %s += -1 {", l, n, i, w.IntN(4), i, -w.IntN(2), i)
		} else {
			w.line("for %s, %s %s int = %d; %s < %s; %s += %d {", l, n, i, w.IntN(2), i,
				[]string{"3", "2", "0", "4", "len(" + w.pick(slice) + ")"}[w.IntN(5)], i, 1+w.IntN(2))
		}
		w.labels = append(w.labels, l)
		w.vars[""] = append(w.vars[""], i)
		w.nested(n)
		w.vars[""] = w.vars[""][:len(w.vars[""])-1]
		w.labels = w.labels[:len(w.labels)-1]
		w.line("}")
	case 16:
		p := w.name("p")
		w.line("let %s *float64 = &%s", p, w.place())
		w.vars["*float64"] = append(w.vars["*float64"], p)
	}
}

// add writes an accumulation into p of an expression that does not read the root of p.
func (w *writer) add(p string) {
	root, _, _ := strings.Cut(strings.TrimLeft(p, "*"), "[")
	root, _, _ = strings.Cut(root, ".")
	for range 20 {
		if e := w.expr("float64", 2); !strings.Contains(e+" ", root) {
			w.line("%s += %s", p, e)
			return
		}
	}
}

func (w *writer) nested(label string) {
	if label != "" {
		w.labels = append(w.labels, label)
	}
	w.depth++
	w.block()
	w.depth--
	if label != "" {
		w.labels = w.labels[:len(w.labels)-1]
	}
}

func (w *writer) call() {
	if len(w.calls) == 0 {
		return
	}
	name := w.calls[w.IntN(len(w.calls))]
	h := helpers[name]
	var args, results []string
	for _, t := range h.params {
		args = append(args, w.expr(t, 1))
	}
	for _, t := range h.results {
		switch v := ""; w.IntN(4) {
		case 0:
			results = append(results, "_")
		case 1:
			v = w.name("v")
			w.line("let %s %s", v, t)
			w.vars[t] = append(w.vars[t], v)
			results = append(results, v)
		default:
			v = w.pick(t)
			if strings.Contains(strings.Join(results, " ")+" ", v+" ") {
				v = "_"
			}
			results = append(results, v)
		}
	}
	// A variable can receive only one result of a call.
	seen := map[string]bool{"_": true}
	for i, v := range results {
		if v != "_" && seen[v] {
			results[i] = "_"
		}
		seen[v] = true
	}
	head := ""
	if len(results) > 0 {
		head = strings.Join(results, ", ") + " = "
	}
	w.line("%scall %s(%s)", head, name, strings.Join(args, ", "))
}

func (w *writer) index() string {
	if l := w.vars[""]; len(l) > 0 && w.IntN(2) == 0 {
		return l[w.IntN(len(l))] + []string{"", " & 1", " + 1"}[w.IntN(3)]
	}
	if w.IntN(6) == 0 {
		return w.pick("int") + " & 1"
	}
	return fmt.Sprint(w.IntN(2))
}

func (w *writer) place() string {
	switch w.IntN(8) {
	case 0, 1:
		i := w.index()
		if i == "3" {
			i = "0"
		}
		return w.pick(vector) + "[" + i + "]"
	case 2:
		return w.pick(pair) + ".A"
	case 3:
		return w.pick(pair) + ".V[" + fmt.Sprint(w.IntN(2)) + "]"
	case 4:
		return w.pick(slice) + "[" + w.index() + "]"
	case 5:
		if len(w.vars["*float64"]) > 0 {
			return "*" + w.pick("*float64")
		}
	}
	return w.pick("float64")
}

func (w *writer) expr(t string, d int) string {
	switch t {
	case "float64":
		if d > 0 {
			x, y := w.expr(t, d-1), w.expr(t, d-1)
			switch w.IntN(7) {
			case 0:
				return "(" + x + " + " + y + ") * 0.5"
			case 1:
				return x + " - (" + y + ")"
			case 2:
				return "math.Sin(" + x + ") * " + "(" + y + ")"
			case 3:
				return "(" + x + ") / (1.5 + math.Cos(" + y + "))"
			case 4:
				return "float64(" + w.expr("int", 1) + ")"
			}
		}
		if w.IntN(5) == 0 {
			return []string{"0.5", "-1.25", "3.0"}[w.IntN(3)]
		}
		return w.place()
	case "int":
		if d > 0 && w.IntN(2) == 0 {
			return "(" + w.expr(t, d-1) + []string{" + ", " - ", " * "}[w.IntN(3)] + w.expr(t, d-1) + ") & 7"
		}
		if l := w.vars[""]; len(l) > 0 && w.IntN(2) == 0 {
			return l[w.IntN(len(l))]
		}
		if len(w.vars["int"]) == 0 || w.IntN(3) == 0 {
			return fmt.Sprintf("int(%d)", w.IntN(4))
		}
		return w.pick("int")
	case vector:
		if len(w.vars[t]) > 0 && (d <= 1 || w.IntN(2) == 0) {
			return w.pick(t)
		}
		if d > 1 {
			return "[3]float64{" + w.leaf() + ", " + w.leaf() + ", " + w.leaf() + "}"
		}
		return "zero([3]float64)"
	case pair:
		if len(w.vars[t]) > 0 && (d <= 1 || w.IntN(2) == 0) {
			return w.pick(t)
		}
		return "zero(" + pair + ")"
	case slice:
		return w.pick(slice) + []string{"", "[1:]"}[w.IntN(8)/7]
	case "*float64":
		if len(w.vars[t]) > 0 && w.IntN(2) == 0 {
			return w.pick(t)
		}
		return "&" + w.pick("float64")
	}
	panic(t)
}

// leaf returns an element of a literal.
func (w *writer) leaf() string {
	if len(w.vars["float64"]) == 0 {
		return "0.75"
	}
	if len(w.vars[vector]) > 0 && w.IntN(2) == 0 {
		return w.pick(vector) + "[" + fmt.Sprint(w.IntN(3)) + "]"
	}
	return w.pick("float64")
}

func (w *writer) cond() string {
	switch w.IntN(4) {
	case 0:
		return w.expr("int", 1) + " < 3"
	case 1:
		return w.expr("float64", 1) + " < " + w.expr("float64", 1) + " && " + w.expr("int", 1) + " != 2"
	}
	return w.expr("float64", 1) + " > " + w.expr("float64", 0)
}
