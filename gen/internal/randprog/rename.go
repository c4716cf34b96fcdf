package randprog

import (
	"regexp"
	"strings"
)

// renamed is a statement that gives memory another type: by a pointer that is converted, or
// by an alias.
func (g *generator) renamed() *Node {
	switch g.IntN(11) {
	case 0, 1:
		return g.define(Mine, g.name("r"), "(*mine)(&$0)", g.addressable())
	case 2, 3:
		if g.has(Mine) {
			p := g.pick(Mine)
			if !strings.HasPrefix(p.Text, "(&") && g.chance(5) {
				return stmt("$0 = (*mine)(&$1)", p, g.addressable())
			}
			text := g.one("*$0 = mine($1)", "*$0 *= 0.5", "*$0 += mine($2)", "*$0, $3 = mine($3), float64(*$0)")
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
			q, t := g.name("q"), g.one("other", "tagged")
			text := q + " := (*" + t + ")($0)\n" + q + ".B = $1" + g.one("", "\n*"+q+" = "+t+"($2)")
			n := stmt(text, g.pointer(), g.float(1), g.structure())
			g.declare(Float, q+".A", q+".B")
			g.declare(Array, q+".V")
			return n
		}
	case 6:
		if len(g.at.header) > 0 {
			m := g.name("m")
			text := m + " := (*row)(&$0)\n(*" + m + ")[0] = $1" + g.one("", "\n*"+m+" = $2\n(*"+m+")[0] -= $1")
			n := stmt(text, node(Slice, g.one(g.at.header...)), g.float(1), g.view())
			g.declare(Slice, "[]float64(*"+m+")")
			return n
		}
	case 7:
		if g.at.depth < 3 {
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

// kept is a loop with pointers to its variables that outlive the iterations: whether they
// lead to one variable or to one for each iteration depends on the version of Go.
func (g *generator) kept() *Node {
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

// other is a second function with derivatives, G, that calls what F calls.
func (g *generator) other() *Node {
	g.at = context{vars: map[Kind][]string{}, weight: 1, fuel: 2 + g.IntN(4), depth: 1, self: new(helper)}
	g.at.index = []string{"n&3"}
	g.local(Slice, "x")
	g.declare(Float, "a", "r")
	g.at.ret = func() *Node { return stmt(g.one("return $0", "r = $0\nreturn"), g.float(1)) }
	b := g.block()
	for range 2 {
		if e := g.pure(1); e != nil {
			b.Kids = append(b.Kids, stmt(g.one("r += $0", "if $0 > 0.25 {\nr = (r + a)*0.5\n}"), e))
		}
	}
	// What carries no derivative here does in F, and the other way round.
	calls := []string{"tree($0, n&3)", "fac($0, n)", "pick(n, $0)"}
	for _, h := range g.known {
		if h.shape == 0 {
			calls = append(calls, h.name+"($0, 0.75, 2)")
		}
	}
	g.shared = g.one(calls...)
	b.Kids = append(b.Kids, stmt("r += "+g.shared+"*0.5", node(Float, g.one("0.75", "0.75", "a"))))
	return node(Decl, otherHead+"\nn := len(x) & 3\na := x[0]\n_, _ = n, a\n$0return r + a*0.5\n}", b)
}

const otherHead = "func G@(x []float64) (r float64) {"

// spelled writes types of floats as aliases here and there.
func (g *generator) spelled(n *Node) {
	n.walk(func(n *Node) {
		n.Text = floatType.ReplaceAllStringFunc(n.Text, func(s string) string {
			if g.chance(4) {
				return strings.Replace(s, "float64", "flt", 1)
			}
			return s
		})
	})
}

var floatType = regexp.MustCompile(`\]float64\b|\*float64\b|new\(float64\)`)

// older writes what Go 1.21 does not have in another way.
func older(n *Node) {
	n.walk(func(n *Node) {
		n.Text = olderText(n.Text)
		for i, s := range n.Alts {
			n.Alts[i] = olderText(s)
		}
	})
}

func olderText(s string) string {
	s = rangeInt.ReplaceAllString(s, "for $1 := 0; $1 < $2; $1++ {")
	return rangeTimes.ReplaceAllString(s, "for times := 0; times < $1; times++ {")
}

var (
	rangeInt   = regexp.MustCompile(`for (\w+) := range (\d+|len\(\w+\)|i) \{`)
	rangeTimes = regexp.MustCompile(`for range (\d+) \{`)
)
