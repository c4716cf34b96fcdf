package randprog

import (
	"regexp"
	"strings"
)

// retyped returns a statement that accesses memory under another type, by a converted pointer or an alias.
func (g *generator) retyped() *Node {
	switch g.IntN(11) {
	case 0, 1:
		return g.define(Mine, g.name("r"), "(*mine)(&$0)", g.addressable())
	case 2, 3:
		if g.has(Mine) {
			p := g.pick(Mine)
			if !strings.HasPrefix(p.Text, "(&") && g.chance(5) {
				return stmt("$0 = (*mine)(&$1)", p, g.addressable())
			}
			text := g.oneOf("*$0 = mine($1)", "*$0 *= 0.5", "*$0 += mine($2)", "*$0, $3 = mine($3), float64(*$0)")
			return stmt(text, p, g.float(1), g.tame(1), g.place())
		}
	case 4:
		if g.has(Array) {
			v := g.name("v")
			n := stmt(v+" := (*trio)(&$0)\n"+v+"[1] = $1", g.pick(Array), g.float(1))
			g.declare(Array, "(*"+v+")")
			return n
		}
	case 5:
		if g.has(Struct) {
			q, t := g.name("q"), g.oneOf("other", "tagged")
			text := q + " := (*" + t + ")($0)\n" + q + ".B = $1" + g.oneOf("", "\n*"+q+" = "+t+"($2)")
			n := stmt(text, g.pointer(), g.float(1), g.structure())
			g.declare(Float, q+".A", q+".B")
			g.declare(Array, q+".V")
			return n
		}
	case 6:
		if len(g.ctx.assignable) > 0 {
			m := g.name("m")
			text := m + " := (*row)(&$0)\n(*" + m + ")[0] = $1" + g.oneOf("", "\n*"+m+" = $2\n(*"+m+")[0] -= $1")
			n := stmt(text, node(Slice, g.oneOf(g.ctx.assignable...)), g.float(1), g.view())
			g.declare(Slice, "[]float64(*"+m+")")
			return n
		}
	case 7:
		if g.ctx.depth < 3 {
			return g.define(Rows, g.name("m"), "[][]flt{$0, $1, $0}", g.view(), g.pick(Slice))
		}
	case 8:
		b := g.name("m")
		n := stmt(b+" := struct{ p *flt; q *mine }{&$0, (*mine)(&$1)}\n_ = "+b, g.addressable(), g.addressable())
		g.local(Ref, b+".p")
		g.declare(Mine, b+".q")
		return n
	case 9:
		b := g.name("m")
		text := "M := []*mine{(*mine)(&$0), (*mine)(&$1)}\nM[0], M[1] = M[1], M[0]\n*M[0] = mine($2)"
		n := stmt(strings.ReplaceAll(text, "M", b), g.addressable(), g.addressable(), g.float(1))
		g.declare(Mine, b+"[0]", b+"[1]")
		return n
	case 10:
		b, r := g.name("m"), g.name("r")
		n := stmt(b+" := []mine{mine($0), 0.5}\n"+r+" := (*float64)(&"+b+"[0])\n*"+r+" += $1", g.float(1), g.tame(0))
		g.local(Ref, r)
		g.declare(Mine, "(&"+b+"[0])", "(&"+b+"[1])")
		return n
	}
	return nil
}

// escapingLoopVariables returns a loop with pointers to its variables that outlive the iterations. The version of Go
// determines whether they point to one variable or to one for each iteration.
func (g *generator) escapingLoopVariables() *Node {
	list := g.name("e")
	text := []string{
		`var E []*float64
for _, v := range $0 {
	E = append(E, &v)
	v *= 0.5
}
for _, w := range E {
	$1 = ($1 + *w)*0.5
	*w = math.Sin($2)
}`, `var E []*float64
for i, v := 0, float64($2); i < 3; i, v = i+1, v*0.75 {
	E = append(E, &v)
	if i == 1 {
		*E[0] -= $3
	}
}
$1 = *E[0]*0.5 + *E[2]*0.5`, `var E []*int
for i := range $0 {
	E = append(E, &i)
}
for k, i := range E {
	n = (n*3 + *i + k) % 9
	$1 = ($1 + $0[*i])*0.5
}`, `var E []*float64
var first *int
for i, v := range $4 {
	if i == 0 {
		E, first = append(E, &v), &i
	}
	v += $3
	*E[0] *= 0.5
}
$1 = *E[0] + float64(*first)*0.25`}[g.IntN(4)]
	over := node(Array, "[3]float64{$0, 0.5}", g.float(0))
	if g.has(Array) {
		over = g.pick(Array)
	}
	return stmt(strings.ReplaceAll(text, "E", list), g.pick(Slice), g.place(), g.float(1), g.tame(0), over).braced()
}

// secondFunction makes a second function with derivatives, G, that calls helpers of F.
func (g *generator) secondFunction() *Node {
	g.ctx = context{vars: map[Kind][]string{}, tripWeight: 1, budget: 2 + g.IntN(4), depth: 1, self: new(helper)}
	g.ctx.indices = []string{"n&3"}
	g.local(Slice, "x")
	g.declare(Float, "a", "r")
	g.ctx.ret = func() *Node { return stmt(g.oneOf("return $0", "r = $0\nreturn"), g.float(1)) }
	b := g.block()
	for range 2 {
		if e := g.pureCall(1); e != nil {
			b.Kids = append(b.Kids, stmt(g.oneOf("r += $0", "if $0 > 0.25 {\nr = (r + a)*0.5\n}"), e))
		}
	}
	// A value that is inactive here may be active in F, and vice versa.
	calls := []string{"tree($0, n&3)", "fac($0, n)", "pick(n, $0)"}
	for _, h := range g.callable {
		if h.shape == 0 {
			calls = append(calls, h.name+"($0, 0.75, 2)")
		}
	}
	g.shared = g.oneOf(calls...)
	b.Kids = append(b.Kids, stmt("r += "+g.shared+"*0.5", node(Float, g.oneOf("0.75", "0.75", "a"))))
	return node(Decl, otherHead+"\nn := len(x) & 3\na := x[0]\n_, _ = n, a\n$0return r + a*0.5\n}", b)
}

// otherHead is the declaration of G.
const otherHead = "func G@(x []float64) (r float64) {"

// spellAliases replaces some types of floats by aliases.
func (g *generator) spellAliases(n *Node) {
	n.walk(func(n *Node) {
		n.Text = floatType.ReplaceAllStringFunc(n.Text, func(s string) string {
			if g.chance(4) {
				return strings.Replace(s, "float64", "flt", 1)
			}
			return s
		})
	})
}

// floatType matches types of floats that spellAliases replaces.
var floatType = regexp.MustCompile(`\]float64\b|\*float64\b|new\(float64\)`)

// toGo121 rewrites constructs that Go 1.21 does not have.
func toGo121(n *Node) {
	n.walk(func(n *Node) {
		n.Text = toGo121Text(n.Text)
		for i, s := range n.Alts {
			n.Alts[i] = toGo121Text(s)
		}
	})
}

func toGo121Text(s string) string {
	s = rangeInt.ReplaceAllString(s, "for $1 := 0; $1 < $2; $1++ {")
	return rangeTimes.ReplaceAllString(s, "for times := 0; times < $1; times++ {")
}

var (
	// rangeInt and rangeTimes match loops over integers, which Go 1.21 does not have.
	rangeInt   = regexp.MustCompile(`for (\w+) := range (\d+|len\(\w+\)|i) \{`)
	rangeTimes = regexp.MustCompile(`for range (\d+) \{`)
)
