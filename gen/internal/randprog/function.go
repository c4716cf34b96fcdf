package randprog

import (
	"fmt"
	"strings"
)

// mainBody returns the body of F.
func (g *generator) mainBody(sig Signature) *Node {
	g.ctx = context{vars: map[Kind][]string{}, tripWeight: 1, budget: 8 + g.IntN(18)}
	if g.short {
		g.ctx.budget = 3 + g.ctx.budget/4
	}
	if g.sums {
		g.ctx.budget = g.IntN(4)
	}
	b := node(Block, "")
	add := func(text string, kids ...*Node) { b.Kids = append(b.Kids, stmt(text, kids...)) }
	has := map[string]bool{}
	for _, p := range sig.Params() {
		has[p.Name] = true
		if p.Kind != Int {
			g.local(p.Kind, p.Name)
		}
	}
	for _, v := range []struct {
		name string
		kind Kind
		list []string
	}{
		{"a", Float, []string{"x[0]", "x[len(x)-1]*0.5"}},
		{"b", Float, []string{"x[len(x)/2]", "0.75", "x[1%len(x)]*0.5"}},
		{"y", Slice, []string{"make([]float64, 3)", "x[len(x)/2:]", g.clippedText("append([]float64(nil), x...)"),
			"x[:len(x)-len(x)/2]"}},
		{"n", Int, []string{"2", "len(x)", "5"}},
	} {
		if !has[v.name] {
			if g.sums && v.kind == Slice {
				v.list = v.list[:1]
			}
			add(v.name + " := " + g.oneOf(v.list...) + "\n_ = " + v.name)
			if v.kind != Int {
				g.local(v.kind, v.name)
			}
		}
	}
	g.ctx.indices = []string{"n&3", "n&7"}
	b.Kids = append(b.Kids, g.containers()...)
	if !has["p"] && g.chance(3) {
		add("p := P{A: a, V: [3]float64{1: b}, X: x[:1], N: 2}\nq := &P{A: 0.5, B: b, V: [3]float64{a, 2, -0.5}, X: " +
			"y}\n_, _ = p, q")
		g.local(Struct, "p")
		g.local(Pointer, "q")
		has["p"] = true
	}
	if has["p"] {
		add("z := Q{P: p, R: q, C: half}\n_ = z")
		g.local(Wide, "z")
		g.declare(Array, "z.V")
	}
	if g.chance(4) {
		add("g := small(a)\n_ = g")
		g.local(Small, "g")
	}
	results := sig.Results()
	g.ctx.ret = func() *Node { return g.mainReturn(results) }
	g.ctx.depth = 1
	for g.ctx.budget > 0 {
		k := g.block()
		b.Kids = append(b.Kids, stmt("{\n$0}", k))
		// Variables are visible to the statements that follow here, other than those of a nested block.
		for range 2 {
			g.ctx.budget--
			b.Kids = append(b.Kids, g.stmt())
		}
	}
	g.combineResults(b, results)
	return b
}

// mainReturn returns an early return of F.
func (g *generator) mainReturn(results []Param) *Node {
	switch len(results) {
	case 0:
		return stmt("return")
	case 1:
		return stmt(g.oneOf("return $0", "r = $0\nreturn", "r = 1\nreturn r + $0"), g.float(1))
	case 2:
		return stmt(g.oneOf("return $0, $1", "r, out = $0, $1\nreturn"), g.float(1), g.view())
	}
	return stmt(g.oneOf("return $0, $2, $1", "r, k = $0, 3\nreturn"), g.float(1), g.view(), g.integer(0))
}

// combineResults appends statements that make all results depend on all variables.
func (g *generator) combineResults(b *Node, results []Param) {
	var terms []string
	for i, v := range g.ctx.vars[Float] {
		if !strings.ContainsAny(v, "[(") {
			terms = append(terms, fmt.Sprintf("%s*%v", v, []float64{1, 0.5, 0.25, 2}[i%4]))
		}
	}
	for _, v := range g.ctx.vars[Slice] {
		terms = append(terms, v+"[len("+v+")-1]", v+"[0]*0.5")
	}
	for _, v := range g.ctx.vars[Array] {
		terms = append(terms, v+"[0] - "+v+"[2]*0.5")
	}
	for _, v := range append(append([]string{}, g.ctx.vars[Struct]...), g.ctx.vars[Pointer]...) {
		terms = append(terms, v+".A + "+v+".B*2")
	}
	for _, v := range g.ctx.vars[Small] {
		terms = append(terms, "float64("+v+")")
	}
	for _, v := range g.ctx.vars[Wide] {
		terms = append(terms, v+".A - "+v+".R.A + "+v+".C")
	}
	for _, v := range g.ctx.vars[Ref] {
		terms = append(terms, "*"+v)
	}
	for _, v := range g.ctx.vars[Dict] {
		terms = append(terms, v+"[0] - "+v+"[3]*0.5")
	}
	for _, v := range g.ctx.vars[Curve] {
		terms = append(terms, "math.Sin("+v+".at(0.5))")
	}
	for _, v := range g.ctx.vars[Mine] {
		terms = append(terms, "float64(*"+v+")")
	}
	to := "y[0]"
	if len(results) > 0 {
		to = "r"
	}
	last := g.sums || g.chance(6)
	if last || g.short {
		b.Kids = append(b.Kids, stmt(to+" += $0", node(Float, strings.Join(terms, " + "))))
	} else {
		for _, t := range terms {
			b.Kids = append(b.Kids, stmt(to+" += $0", node(Float, t)))
		}
		b.Kids = append(b.Kids, stmt("for i, v := range x {\n"+to+" += v * []float64{1, 2, 0.5}[i%3]\n}"))
	}
	if last {
		for range 1 + g.IntN(2) {
			if g.chance(2) {
				b.Kids = append(b.Kids, g.arrayLoop(to)...)
			} else {
				b.Kids = append(b.Kids, g.reduction(to))
			}
			if g.chance(3) { // more, which may not be reached
				b.Kids = append(b.Kids, g.conditional(g.mainReturn(results)),
					stmt(to+g.oneOf(" = ("+to+" + $0)*0.5", " += $0*0.5"), g.float(1)))
			}
		}
	}
	if g.shared != "" && g.chance(2) {
		b.Kids = append(b.Kids, stmt(to+" += "+g.shared+"*0.5", node(Float, g.oneOf("a", "x[0]", "0.5"))))
	}
	switch len(results) {
	case 1:
		b.Kids = append(b.Kids, stmt("return r"))
	case 2:
		b.Kids = append(b.Kids, stmt("return r, $0", g.pick(Slice)))
	case 3:
		b.Kids = append(b.Kids, stmt("return r, k + n, $0", g.appended()))
	}
}

// arrayLoop returns a loop in which each iteration assigns all of an array, reads it, and adds to the place to.
func (g *generator) arrayLoop(to string) []*Node {
	t, u, v := g.name("s"), g.name("s"), g.name("s")
	size := g.oneOf("len(x)", "len(x)", "4", "n&3 + 2")
	bound := g.oneOf("len("+t+")", size)
	s := stmt(t + " := make([]float64, " + size + ")\n" + u + " := make([]float64, " + size + ")\n" + v + " := " + t +
		"\n_, _ = " + u + ", " + v)
	e := func() *Node {
		return node(Float,
			g.oneOf("x[uint(k)%uint(len(x))]", "x[uint(i)%uint(len(x))]*0.5", "math.Sin($0)",
				"math.Sin(x[uint(k)%uint(len(x))]) * x[uint(i)%uint(len(x))]",
				"math.Cos(x[uint(i+k)%uint(len(x))]) * $0", "a * math.Tanh(x[uint(k)%uint(len(x))])"), g.float(0))
	}
	skip := func() *Node {
		if g.chance(3) {
			return node(Block, "", g.conditional(stmt("continue")))
		}
		return node(Block, "")
	}
	fill := stmt("for k := 0; k < "+bound+"; k++ {\n$1"+t+"[k] = $0\n}", e(),
		skip()).or("for k := 0; k < 1; k++ {\n$1" + t + "[k] = $0\n}")
	second := g.oneOf("", "for k := 1; k < len("+t+"); k++ {\n"+t+"[k] = ("+t+"[k] + "+t+"[k-1])*0.5\n}",
		"for k := range "+t+" {\n"+t+"[k] *= $0\n}",
		"for k := 0; k < "+bound+"; k++ {\n$1"+u+"[k] = math.Sin("+t+"[k]) * $0\n}", "if a > 0 {\n"+t+"[0] += a*0.5\n}",
		"for k := 0; k < len("+t+"); k++ {\n"+v+"[k] -= $0\n}", t+"[0], "+u+"[0] = "+u+"[0], a")
	read := g.oneOf(t+"[k] * $0", "math.Sin("+t+"[k])", t+"[k]*"+t+"[k]*0.25", "("+t+"[k] - "+u+"[k]) * 0.5",
		t+"[0] * x[uint(k)%uint(len(x))]", v+"[k]*$0")
	add := g.oneOf(to+" += "+read, to+" += "+read, to+" = ("+to+" + "+read+")*0.5")
	loop := g.oneOf("for i := 0; i < len(x); i++", "for i := range 3", "for i := len(x) - 1; i >= 0; i--",
		"for i := range x")
	return []*Node{s,
		stmt(loop+" {\n_ = i\n$3$0\n$4$1\n$5$2\n}", fill, stmt(second, e(), skip()),
			stmt("for k := range "+t+" {\n$1"+add+"\n}", e(), skip()), skip(), skip(), skip())}
}

// reduction returns a loop that accumulates sums in the place to or in elements of y.
func (g *generator) reduction(to string) *Node {
	head := g.oneOf("for i := range x", "for i := 0; i < len(x); i++", "for i := 0; i+1 < len(x); i++",
		"for i := len(x) - 1; i >= 0; i--", "for i := range len(x)")
	first := g.oneOf("x[i]*$0", "math.Sin(x[i]) - $0*0.5", "x[i]*x[(i+1)%len(x)]", "(x[i] - b)*(x[i] - a)",
		"x[i] - x[len(x)-1-i]*$0")
	then := g.oneOf("", "", "if t > $0 {\nt *= 0.5\n}", "if t > $0 {\nt = -t\n} else {\nt += a*0.25\n}",
		"for j := range i {\n$1t += x[j]*0.125\n}",
		"for j := 0; j < 2; j++ {\nu := t*0.5 + x[i]\n$1t = math.Sin(u)\n}", "u := t\nt = math.Tanh(u) + u*0.25",
		"w := [2]float64{t, a}\nw[i&1] *= $0\nt = w[0] + w[1]",
		"w := &t\n*w -= t*0.5*$0")
	add := g.oneOf(to+" += t", to+" -= t*t*0.5", to+" += t * $0", "y[uint(i)%uint(len(y))] += t",
		"y[0] -= t*0.5\n"+to+" += t")
	skip := func() *Node {
		if g.chance(3) {
			return node(Block, "", g.conditional(stmt(g.oneOf("continue", "continue", "break"))))
		}
		return node(Block, "")
	}
	return stmt(head+" {\n$0t := $1\n$2\n$3$4\n}", skip(), node(Float, first, g.float(0)),
		stmt(then, g.float(0), skip()), skip(), stmt(add, g.float(0)))
}

// A helper is a function of a program that its other functions may call.
type helper struct {
	name  string
	shape int
	pure  bool
}

// shapes holds the forms of helpers: the declaration, in which $0 is the body, the variables that the body may use, and
// the returns.
var shapes = []struct {
	text  string
	vars  map[Kind][]string
	index []string
	ret   []string
	call  string // a call on its results, with $0… as below
	again string // how it calls itself
	pure  bool
}{
	{text: "func %s(a, b float64, k int) float64 {\nif k <= 0 {\nreturn a\n}\nn := k\n_ = n\n$0return (a + b)*0.5\n}",
		vars: map[Kind][]string{Float: {"a", "b"}}, index: []string{"n&3", "k&3"},
		ret:   []string{"return $0", "return ($0 + b)*0.5"},
		again: "%s($0, $1, k-1)", pure: true},
	{text: "func %s(x []float64, b float64, k int) (r, u float64) {\nif k < 0 {\nreturn x[0], b\n}\nn := k\na := b\n" +
		"_, _ = a, n\n$0return r + x[0], u - a*0.5\n}",
		vars: map[Kind][]string{Float: {"b", "r", "u", "a"}, Slice: {"x"}}, index: []string{"n&3", "k&3"},
		ret: []string{"return $0, u", "r, u = u, $0\nreturn", "return b*0.5, $0"}, again: "%s($2, $0, k-1)"},
	{text: "func %s(p *P, x []float64) []float64 {\nn := p.N & 3\na := p.A\n_, _ = n, a\n$0p.B = a*0.5\nreturn x\n}",
		vars: map[Kind][]string{Float: {"a", "p.A", "p.B"}, Slice: {"x"}, Pointer: {"p"}, Struct: {"(*p)"},
			Array: {"p.V"}}, index: []string{"n&3"},
		ret: []string{"return $2", "p.A = $0\nreturn x"}},
	{text: "func %s(x ...float64) (a float64) {\nn := len(x) & 3\na = 0.5\n_ = n\nif len(x) == 0 {\nreturn\n}\n$0a " +
		"+= x[0]*0.5\nreturn a\n}",
		vars: map[Kind][]string{Float: {"a"}, Slice: {"x"}}, index: []string{"n&3"},
		ret: []string{"return $0", "return"}},
	{text: "func (p P) %s(d float64, k int) float64 {\nif k <= 0 {\nreturn p.A\n}\nn := k\n_ = n\n$0return (p.A + d " +
		"- p.V[1])*0.5\n}",
		vars:  map[Kind][]string{Float: {"d", "p.A", "p.B"}, Array: {"p.V"}, Struct: {"p"}},
		index: []string{"n&3", "k&3"}, ret: []string{"return $0"},
		again: "p.%s($0, k-1)", pure: true},
	{text: "func (p *P) %s(a float64, x []float64) float64 {\nn := p.N & 3\n_ = n\n$0p.N = n & 3\nreturn (p.A + " +
		"a)*0.5\n}",
		vars: map[Kind][]string{Float: {"a", "p.A", "p.V[2]"}, Array: {"p.V"}, Slice: {"x"}, Struct: {"(*p)"},
			Pointer: {"p"}}, index: []string{"n&3"},
		ret: []string{"p.A = $0\nreturn p.B", "return $0"}},
	{text: "func %s[T float64 | float32](s, t T) T {\nif s > t {\ns, t = t, s\n}\nfor i := range 3 {\ns += (t - " +
		"s)*0.5\nif s > T(i) {\nreturn s*0.5\n}\n}\nreturn t - s*0.5\n}", pure: true},
	{text: "func %s(f func(float64) float64, a float64, x []float64) float64 {\nn := len(x) & 3\n_ = n\n$0return " +
		"(f(a) - f(x[0]))*0.5\n}",
		vars: map[Kind][]string{Float: {"a"}, Slice: {"x"}}, index: []string{"n&3"}, ret: []string{"return f($0)*0.5"}},
	{text: "func %s(x, y []float64, a float64) (float64, []float64) {\nn := len(y) & 3\n_ = n\n$0return (a + x[0] - " +
		"y[len(y)-1])*0.5, y\n}",
		vars: map[Kind][]string{Float: {"a"}, Slice: {"x", "y"}}, index: []string{"n&3"},
		ret: []string{"return $0, $2", "return x[0], y"}},
	{text: "func %s(r *float64, s *[]float64, a float64) P {\nn := len(*s) & 3\np := P{A: *r, X: *s}\n_, _ = n, p\n" +
		"$0*r = (*r + a)*0.5\np.V[1] = (*s)[0]\nreturn p\n}",
		vars: map[Kind][]string{Float: {"a", "(*r)", "p.A", "p.B"}, Slice: {"(*s)"}, Struct: {"p"}, Array: {"p.V"},
			Ref: {"r"}}, index: []string{"n&3"},
		ret: []string{"p.B = $0\nreturn p", "return P{A: $0, V: p.V, X: $2}"}},
	{text: "func %s(r *mine, y []flt, a float64) float64 {\nn := len(y) & 3\n_ = n\n$0*r = (*r + mine(a))*0.5\n" +
		"return (float64(*r) + y[0])*0.5\n}",
		vars: map[Kind][]string{Float: {"a"}, Slice: {"y"}, Mine: {"r"}}, index: []string{"n&3"},
		ret: []string{"return $0", "*r = mine($0)\nreturn a"}},
}

// helpers makes the helpers of a program.
func (g *generator) helpers() {
	many := g.IntN(4)
	if g.short {
		many = g.IntN(3)
	}
	for range many {
		k := g.IntN(len(shapes))
		h := &helper{name: g.name("h") + "@", shape: k, pure: shapes[k].pure}
		s := shapes[k]
		text := fmt.Sprintf(s.text, h.name)
		g.ctx = context{
			vars:       map[Kind][]string{},
			tripWeight: 4,
			budget:     3 + g.IntN(6),
			depth:      1,
			self:       h,
			indices:    s.index,
		}
		for kind, names := range s.vars {
			g.declare(kind, names...)
		}
		if g.short {
			g.ctx.budget = 1 + g.ctx.budget/2
		}
		g.ctx.assignable = append([]string{}, g.ctx.vars[Slice]...)
		g.ctx.ret = func() *Node {
			kids := []*Node{g.float(1), g.float(0), g.pick(Slice)}
			return stmt(g.oneOf(s.ret...), kids...)
		}
		if len(g.ctx.vars[Slice]) == 0 {
			g.ctx.budget = 1 + g.ctx.budget/2
		}
		var body *Node
		if strings.Contains(text, "$0") {
			body = g.helperBody(h)
		} else {
			body = node(Block, "")
		}
		g.functions = append(g.functions, node(Decl, text, body))
		g.callable = append(g.callable, h)
	}
}

// helperBody returns the body of a helper, which may call itself once, outside of loops.
func (g *generator) helperBody(h *helper) *Node {
	if !g.has(Slice) {
		// Statements need a slice.
		b := node(Block, "", stmt("x := []float64{"+g.oneOf(g.ctx.vars[Float]...)+", 0.5, 1}\n_ = x"))
		g.local(Slice, "x")
		rest := g.body(h)
		b.Kids = append(b.Kids, rest.Kids...)
		return b
	}
	return g.body(h)
}

// body returns the statements and the return of a helper.
func (g *generator) body(h *helper) *Node {
	b := g.block()
	if again := shapes[h.shape].again; again != "" && g.chance(2) {
		to := g.ctx.vars[Float][0]
		call := fmt.Sprintf(again, h.name)
		text := to + " = " + call
		if strings.Contains(shapes[h.shape].text, "(r, u float64)") {
			text = "_, u = " + call
		}
		b.Kids = append(b.Kids, stmt(text, g.float(1), g.float(0), node(Slice, "x[len(x)/2:]")))
	}
	return b
}

// pureCall returns a call of a helper that does not write memory, nil if there is none.
func (g *generator) pureCall(d int) *Node {
	if len(g.callable) == 0 || g.ctx.tripWeight > 24 {
		return nil
	}
	h := g.callable[g.IntN(len(g.callable))]
	x, y := g.float(d-1), g.float(d-2)
	switch {
	case h.shape == 0:
		return node(Float, h.name+"($0, $1, "+g.oneOf("1", "2", "n&1")+")", x, y)
	case h.shape == 4 && g.has(Struct):
		return node(Float, "$2."+h.name+"($0, 2)", x, y, g.pick(Struct))
	case h.shape == 6:
		if g.has(Small) && g.chance(2) {
			return node(Float, "float64("+h.name+"($0, $1))", g.small(1), g.small(0))
		}
		return node(Float, h.name+"(float64($0), $1)", x, y)
	}
	return nil
}

// writingCall returns a call that writes memory.
func (g *generator) writingCall() *Node {
	if g.cycle != nil && g.ctx.self == nil && g.ctx.tripWeight <= 12 && g.chance(2) {
		return g.mutualCall()
	}
	v, w := g.name("f"), g.name("f")
	s := g.pick(Slice)
	switch g.IntN(7) {
	case 0:
		n := stmt(v+", "+w+" := both($0, $1)\n_, _ = "+v+", "+w, s, g.index())
		g.declare(Float, v, w)
		return n
	case 1:
		y := g.name("s")
		n := stmt(v+", "+y+" := named($0, $1)\n_, _ = "+v+", "+y, s, g.float(1))
		g.declare(Float, v)
		g.local(Slice, y)
		return n
	case 2:
		text := g.oneOf("rings($0, $1)", "even($0, $2)",
			"fold($0, $1, func(left, right float64) float64 { return (left+right)*0.25 + $3*0.5 })",
			"fold($0, $1, math.Max)",
			"fold($0, $1, func(left, right float64) float64 { "+g.oneOf(g.ctx.vars[Float]...)+
				" *= 0.5; return (left-right)*0.5 })")
		return g.define(Float, v, text, s, g.float(1), g.index(), g.pick(Float))
	case 3:
		if g.has(Struct) {
			return g.define(Float, v, "$0.push($1, $2)", g.oneNode(g.pick(Struct), g.pointer()), g.float(1), g.index())
		}
	}
	if len(g.callable) == 0 || g.ctx.tripWeight > 12 {
		return nil
	}
	h := g.callable[g.IntN(len(g.callable))]
	switch h.shape {
	case 1:
		n := stmt(v+", "+w+" := "+h.name+"($0, $1, $2)\n_, _ = "+v+", "+w, g.view(), g.float(1),
			node(Int, g.oneOf("1", "2", "n&1")))
		g.declare(Float, v, w)
		return n
	case 2:
		if g.has(Struct) {
			return g.define(Slice, g.name("s"), h.name+"($0, $1)", g.pointer(), g.view())
		}
	case 3:
		return g.define(Float, v, h.name+g.oneOf("($0...)", "($1, $2)", "($1)", "($0[0], $0[0], $2)"), s, g.float(1),
			g.float(0))
	case 5:
		if g.has(Struct) {
			return g.define(Float, v, "$0."+h.name+"($1, $2)", g.oneNode(g.pick(Struct), g.pointer()), g.float(1),
				g.view())
		}
	case 8:
		y := g.name("s")
		n := stmt(v+", "+y+" := "+h.name+"($0, $1, $2)\n_, _ = "+v+", "+y, g.view(), g.view(), g.float(1))
		g.declare(Float, v)
		g.local(Slice, y)
		return n
	case 9:
		if g.has(Struct) && len(g.ctx.assignable) > 0 {
			return g.define(
				Struct,
				g.name("p"),
				h.name+"(&$0, &$1, $2)",
				g.place(),
				node(Slice, g.oneOf(g.ctx.assignable...)),
				g.float(1),
			)
		}
	case 10:
		return g.define(Float, v, h.name+"((*mine)(&$0), $1, $2)", g.addressable(), g.view(), g.float(1))
	case 7:
		text := g.oneOf("math.Sin", "func(v float64) float64 { return (v + $2)*0.5 }",
			"func(v float64) float64 { $3 = (v + $3)*0.5; return v*0.5 }")
		if g.has(Struct) && g.chance(3) {
			text = g.oneOf(g.ctx.vars[Struct]...) + ".plus"
		}
		return g.define(Float, v, h.name+"("+text+", $1, $0)", s, g.float(1), g.pick(Float), g.pick(Float))
	}
	return nil
}
