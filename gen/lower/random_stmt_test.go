package lower_test

import (
	"fmt"
	"strings"
)

var ops = []string{"+=", "-=", "*=", "="}

func (w *writer) stmt() {
	switch w.IntN(39) {
	case 0, 1:
		v := w.name("f")
		w.line("%s := %s", v, []string{w.float(2), "rings(" + w.pick("slice") + ", " + w.float(0) + ")"}[w.IntN(2)])
		w.line("_ = %s", v)
		w.declare("float", v)
	case 2, 3, 4:
		w.line("%s %s %s", w.place(), ops[w.IntN(4)], w.float(2))
	case 5:
		w.line("%s, %s = %s, %s", w.place(), w.place(), w.float(1), w.float(1))
	case 6:
		s := w.pick("slice")
		i, j := w.integer(0), w.integer(0)
		w.line("if len(%s) > 0 {", s)
		w.line("\ti, j := uint(%s)%%uint(len(%s)), uint(%s)%%uint(len(%s))", i, s, j, s)
		w.line("\t%s[i], %s[j] = %s[j], %s[i]", s, s, s, s)
		w.line("}")
	case 7:
		if s, t := w.pick("slice"), w.pick("slice"); s != t {
			w.line("%s, %s = %s, %s", s, t, t, s)
		}
	case 8, 9:
		w.nested("if %s {", "}", w.cond(1))
	case 10:
		w.nested("if v := float64(%s); v > %s {", "} else {", w.float(1), w.float(0))
		w.depth++
		w.block()
		w.depth--
		w.line("}")
	case 11, 12, 13, 14, 15:
		if w.depth < 5 {
			w.loop()
		}
	case 16, 17:
		w.jump()
	case 18:
		w.switches()
	case 19:
		s := w.name("s")
		w.line("%s := %s", s, []string{"x[len(x)/2:]", "y[:len(y)-1]", "append(x, " + w.float(0) + ")", "append([]float64(nil), y...)", "make([]float64, 3)", "p.V[:]", "x[:1:2]", "[]float64{2: a, 0: b}"}[w.IntN(8)])
		w.line("_ = %s", s)
		w.declare("slice", s)
	case 20:
		w.line("copy(%s, %s)", w.pick("slice"), w.pick("slice"))
	case 21:
		v := w.name("p")
		w.line("%s := %s", v, []string{w.pick("struct"), "*q", "z.P", "P{A: a, V: [3]float64{1: b}, X: x}", "p.moved(b)"}[w.IntN(5)])
		w.line("_ = %s", v)
		w.declare("struct", v)
		w.declare("array", v+".V")
	case 22:
		v := w.name("f")
		w.line("%s := %s.push(%s, %s)", v, []string{w.pick("struct"), w.pick("pointer"), "z", "z.R"}[w.IntN(4)], w.float(1), w.integer(0))
		w.line("_ = %s", v)
		w.declare("float", v)
	case 23:
		lo, hi := w.name("f"), w.name("f")
		w.line("%s, %s := both(%s, %s)", lo, hi, w.pick("slice"), w.integer(0))
		w.line("_, _ = %s, %s", lo, hi)
		w.declare("float", lo)
		w.declare("float", hi)
	case 24:
		w.closure()
	case 25:
		v := w.name("i")
		w.line("%s := %s", v, w.integer(1))
		w.line("_ = %s", v)
		w.declare("index", v)
		w.declare("int", v)
	case 26:
		w.line("%s %s %s", "n", []string{"+=", "-=", "=", "^="}[w.IntN(4)], w.integer(1))
		w.line("n %%= 9")
	case 27:
		v := w.name("q")
		w.line("%s := %s", v, []string{"&p", "&z.P", "q", "z.R", "new(P)", "&P{B: a}"}[w.IntN(6)])
		w.line("_ = %s", v)
		w.declare("pointer", v)
		w.declare("array", v+".V")
	case 28:
		v := w.name("f")
		w.line("%s := fold(%s, %s, func(s, t float64) float64 { return (s+t)*0.5 + %s })", v, w.pick("slice"), w.float(0), w.pick("float"))
		w.line("_ = %s", v)
		w.declare("float", v)
	case 30:
		w.nested("if %s && %s.push(%s, 1) > %s {", "}", w.cond(1), w.pick("struct"), w.float(0), w.float(0))
	case 31:
		w.nested("if %s || q.next() > 3 || q.next() == 2 {", "}", w.cond(1))
	case 32:
		s := w.pick("slice")
		w.line("if len(%s) > 0 {", s)
		w.line("\t%s[q.next()%%len(%s)] %s 0.5", s, s, ops[w.IntN(4)])
		w.line("}")
	case 33:
		w.line("n, q.V[uint(n)%%3], q.N = int(uint8(n*77))%%5, q.A, n")
	case 34:
		s := w.name("g")
		w.line("%s := []P{{A: %s}, p, 3: *q}", s, w.float(1))
		w.line("for i, e := range %s {", s)
		w.line("\te.A += %s", w.float(1))
		w.line("\t%s[(i+1)%%4].V[i%%3] -= e.A", s)
		w.line("}")
		w.declare("struct", s+"[n&3]")
		w.declare("array", s+"[2].V")
	case 36:
		w.line("for i := 0; q.next() != 3 && i < 5; i, b = i+1, b*0.5 {")
		w.line("\tif %s {", w.cond(0))
		w.line("\t\tcontinue")
		w.line("\t}")
		w.line("\ta += float64(q.N)")
		w.line("}")
	case 37:
		s := w.name("h")
		w.line("var %s []*int", s)
		w.line("for i := 0; i < 5; i++ {")
		w.line("\tjump := func(d int) { i += d }")
		w.line("\tif %s = append(%s, &i); %s {", s, s, w.cond(0))
		w.line("\t\tjump(1)")
		w.line("\t\tcontinue")
		w.line("\t}")
		w.line("\tjump(%d)", w.IntN(3))
		w.line("}")
		w.line("for _, e := range %s {", s)
		w.line("\tn = (n*3 + *e) %% 9")
		w.line("}")
	case 38:
		w.line("for q.N = 0; q.N < len(x) && fuel > 0; q.N++ {")
		w.line("\tfuel--")
		w.line("\tx[q.N] -= %s", w.float(1))
		w.line("}")
	case 35:
		w.line("switch q.next() {")
		w.line("case %s, q.next() - 1:", w.integer(0))
		w.line("\ta -= 0.5")
		w.line("case q.next():")
		w.line("\tb += 0.25")
		w.line("}")
	case 29:
		w.line("%s[%s] += %s", w.pick("array"), fmt.Sprint(w.IntN(3)), w.float(2))
	}
}

// loop writes a loop of any kind.
func (w *writer) loop() {
	label := strings.ToUpper(w.name("l"))
	i, v := w.name("i"), w.name("v")
	heads := []string{
		"for %[1]s := 0; %[1]s < %[3]d; %[1]s++ {",
		"for %[1]s := range %[3]d {",
		"for %[1]s := %[3]d; %[1]s >= 0; %[1]s-- {",
		"for %[1]s := 1; %[1]s <= n%%5; %[1]s += 2 {",
		"for %[1]s := 0; %[1]s < len(%[4]s) && fuel > 0; %[1]s++ {",
		"for %[1]s, %[2]s := range %[4]s {",
		"for %[1]s, %[2]s := range %[5]s {",
		"for %[1]s := range %[5]s {",
		"for %[1]s := uint8(250); %[1]s >= 250 && fuel > 0; %[1]s++ {",
		"for %[1]s, %[2]s := 0, float64(%[6]s); %[1]s < 3 && %[2]s > -2; %[1]s, %[2]s = %[1]s+1, %[2]s-1 {",
		"for %[1]s := fuel; %[1]s > fuel-3; {",
		"for %[1]s, %[2]s := range &p.V {",
		"for _, %[2]s := range [3]float64{a, b, 1} {",
		"for %[1]s := 0; %[1]s < n%%4; %[1]s++ {",
		"for fuel > 50 {",
	}
	k := w.IntN(len(heads))
	head := fmt.Sprintf(heads[k]+"%[7]s", i, v, 1+w.IntN(5), w.pick("slice"), w.pick("array"), w.float(0), "")
	saved := w.vars
	w.vars = map[string][]string{}
	for kind, l := range saved {
		w.vars[kind] = l[:len(l):len(l)]
	}
	b := w.b
	w.b = strings.Builder{}
	w.depth++
	w.line("if fuel--; fuel < 0 {")
	w.line("\tbreak")
	w.line("}")
	switch k {
	case 0, 1, 2, 3, 4, 5, 6, 7, 11, 13:
		w.declare("index", i)
		w.line("_ = %s", i)
	case 8:
		w.declare("index", "int("+i+")")
	case 9:
		w.declare("index", i)
		w.declare("float", v)
	case 10:
		w.line("%s--", i)
	}
	if k == 5 || k == 6 || k == 11 || k == 12 {
		w.declare("float", v)
		w.line("_ = %s", v)
	}
	if k <= 3 && w.IntN(6) == 0 {
		w.line("%s++", i)
	}
	w.loops = append(w.loops, label)
	w.block()
	w.loops = w.loops[:len(w.loops)-1]
	w.depth--
	body := w.b.String()
	w.b = strings.Builder{}
	w.b.WriteString(b.String())
	w.vars = saved
	if w.used[label] {
		w.line("%s:", label)
	}
	w.line("%s", head)
	w.b.WriteString(body)
	w.line("}")
}

// jump leaves something, under a condition.
func (w *writer) jump() {
	w.line("if %s {", w.cond(0))
	switch k := w.IntN(8); {
	case w.inside:
		w.line("\treturn %s", w.float(0))
	case k == 0:
		w.line("\treturn %s, %s, y", w.float(1), w.integer(0))
	case k == 1:
		w.line("\tr, k = %s, 3", w.float(0))
		w.line("\treturn")
	case k == 2:
		w.line("\tpanic(\"bad value\")")
	case k < 5 && len(w.loops) > 0:
		w.line("\t%s", []string{"break", "continue"}[w.IntN(2)])
	case len(w.loops) > 0:
		l := w.loops[w.IntN(len(w.loops))]
		w.used[l] = true
		w.line("\t%s %s", []string{"break", "continue"}[w.IntN(2)], l)
	default:
		w.line("\tout, r = x, r*0.5")
	}
	w.line("}")
}

func (w *writer) switches() {
	tag := w.IntN(2) == 0
	if tag {
		w.line("switch t := (%s) %% 5; t {", w.integer(1))
	} else {
		w.line("switch {")
	}
	for i := range 3 {
		switch {
		case i == 1 && w.IntN(2) == 0:
			w.line("default:")
		case tag:
			w.line("case %d, %d, %s:", i, i+5, []string{"fuel", "len(x)+3", "int(tree(a, 2)) + 7"}[w.IntN(3)])
		default:
			w.line("case %s:", w.cond(1))
		}
		w.depth++
		w.block()
		if i < 2 && w.IntN(3) == 0 {
			w.line("fallthrough")
		} else if w.IntN(4) == 0 {
			w.line("break")
		}
		w.depth--
	}
	w.line("}")
}

// closure writes a closure, which may write what it captures, and calls it.
func (w *writer) closure() {
	if w.inside {
		return
	}
	f, v, arg := w.name("f"), w.name("f"), w.name("c")
	w.line("%s := func(%s float64) float64 {", f, arg)
	loops := w.loops
	w.loops, w.inside = nil, true
	w.depth++
	saved := w.vars["float"]
	w.declare("float", arg)
	w.block()
	w.line("a += %s", w.float(1))
	w.line("return a*0.5 + %s", arg)
	w.vars["float"] = saved
	w.depth--
	w.loops, w.inside = loops, false
	w.line("}")
	w.line("%s := %s(%s)", v, f, w.float(1))
	w.line("%s += %s(0.5)", v, f)
	w.declare("float", v)
}
