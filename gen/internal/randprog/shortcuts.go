package randprog

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Programs with branches that leave out terms which are zero, or scale by 1, at numbers that carry derivatives. They
// are smooth but for such branches: differences are right at zeros, too.

// shortcutHelpers are functions that programs with such branches call.
const shortcutHelpers = `func axpy@(alpha float64, x, y []float64) {
	for i, v := range x[:min(len(x), len(y))] {
		y[i] += alpha * v
	}
}

func scal@(alpha float64, y []float64) {
	if alpha == 0 {
		for i := range y {
			y[i] = 0
		}
		return
	}
	for i := range y {
		y[i] *= alpha
	}
}

func update@(alpha float64, x, y []float64, beta float64) {
	if alpha == 0 && beta == 1 {
		return
	}
	if beta != 1 {
		if beta == 0 {
			for i := range y {
				y[i] = 0
			}
		} else {
			scal@(beta, y)
		}
	}
	if alpha == 0 {
		return
	}
	for i, v := range x {
		if t := alpha * v; t != 0 {
			axpy@(t, x, y[i%len(y):])
		}
	}
}

func term@(v, w float64) float64 {
	if v == 0 {
		return 0
	}
	return v * math.Sin(w+v)
}

func bent@(v, w float64) (r float64) {
	if v != 0 {
		return w + v*math.Cos(w)
	}
	return w
}`

// NewShortcuts returns a program of the signature Several with such branches. Half of the numbers of its inputs are 0,
// and some are 1.
func NewShortcuts(seed uint64) *Program {
	r := rand.New(rand.NewPCG(seed, 11))
	g := &shortcutWriter{r: r}
	p := &Program{Seed: seed, Sig: Several, Shortcuts: true}
	for _, f := range strings.Split(shortcutHelpers, "\n\n") {
		p.Own = append(p.Own, stmt(f))
	}
	p.Body = node(Block, "")
	add := func(text string) { p.Body.Kids = append(p.Body.Kids, stmt(text)) }
	add("t := append([]float64(nil), x...)\nb := x[0]\nout = y")
	for range 2 + r.IntN(4) {
		add(g.statement(2))
	}
	add("for i, v := range t {\nr += v * v * float64(i%3+1)\n}\nr += b*b\nreturn r, out")
	return p
}

// A shortcutWriter writes statements of programs with such branches.
type shortcutWriter struct {
	r *rand.Rand
	n int
}

// name returns a new name.
func (g *shortcutWriter) name() string {
	g.n++
	return fmt.Sprintf("v%d", g.n)
}

func (g *shortcutWriter) oneOf(list ...string) string { return list[g.r.IntN(len(list))] }

// number returns a place that holds a number.
func (g *shortcutWriter) number() string {
	return g.oneOf("a", "b", "x[0]", "x[1]", "x[len(x)-1]", "y[0]", "y[len(y)/2]", "t[1]", "t[len(t)-1]")
}

// target returns a place that a statement may change.
func (g *shortcutWriter) target() string { return g.oneOf("r", "b", "t[0]", "t[2]", "y[1]", "a") }

// smooth returns an expression that is bounded and differentiable.
func (g *shortcutWriter) smooth() string {
	return fmt.Sprintf(g.oneOf("math.Sin(%s+%s)", "math.Cos(%s)*math.Tanh(%s)", "(0.5*%s-math.Atan(%s))",
		"math.Tanh(%s)/(1+math.Exp(%s))"), g.number(), g.number())
}

// statement returns a statement with a branch, and others in it up to a depth.
func (g *shortcutWriter) statement(depth int) string {
	v, e, f, to, i := g.number(), g.smooth(), g.smooth(), g.target(), g.name()
	inner := ""
	if depth > 0 && g.r.IntN(3) == 0 {
		inner = g.statement(depth-1) + "\n"
	}
	switch g.r.IntN(16) {
	case 0:
		return fmt.Sprintf("if %s := %s; %s != 0 {\n%s += %s * %s\n}\n%s", i, v, i, to, i, e, inner)
	case 1:
		return fmt.Sprintf("for %s, w := range x {\nif w == 0 {\ncontinue\n}\nr += w * t[%s%%len(t)] * %s\n}\n%s",
			i, i, e, inner)
	case 2:
		return fmt.Sprintf("for %s := range y {\nif w := x[%s%%len(x)] * %s; w != 0 {\naxpy@(w, x, t)\n}\n}\n%s",
			i, i, e, inner)
	case 3:
		return fmt.Sprintf("if %s := %s; %s == 0 {\nfor i := range t {\nt[i] = 0\n}\n} else {\nfor i := range t {\n"+
			"t[i] *= %s\n}\n}\n%s", i, v, i, i, inner)
	case 4:
		return fmt.Sprintf("if %s := %s; %s != 1 {\nscal@(%s, t)\n}\n%s", i, v, i, i, inner)
	case 5:
		return fmt.Sprintf("%s += term@(%s, %s)\n%s", to, v, e, inner)
	case 6:
		return fmt.Sprintf("if %s, w := %s, %s; !(%s == 0 || w == 0) {\nr += %s * w * %s\n}\n%s",
			i, v, g.number(), i, i, e, inner)
	case 7:
		return fmt.Sprintf("update@(%s, x, t, %s)\n%s", v, g.number(), inner)
	case 8:
		return fmt.Sprintf("{\n%s, w := %s, %s\nif %s != 0 {\nw += %s * %s\n}\nr += w * %s\n}\n%s",
			i, v, e, i, i, f, g.smooth(), inner)
	case 9:
		return fmt.Sprintf("if %s := %s; %s != 0 {\n%s *= 1 + %s*%s\n}\n%s", i, v, i, to, i, e, inner)
	case 10:
		return fmt.Sprintf("if z := complex(%s, %s); z != 0 {\nr += real(z * complex(%s, %s))\n}\n%s",
			v, g.number(), e, f, inner)
	case 11:
		return fmt.Sprintf("%s += bent@(%s, %s)\n%s", to, v, e, inner)
	case 12:
		return fmt.Sprintf("for %s := range t {\nif t[%s] == 0 {\ncontinue\n}\nt[%s] /= 2 + %s\n"+
			"r -= t[%s] * %s\n}\n%s",
			i, i, i, e, i, f, inner)
	case 13:
		return fmt.Sprintf("if %s := %s; %s != 0 {\nfor j, w := range x {\nif w != 0 {\n"+
			"r += %s * w * t[j%%len(t)]\n}\n}\n}\n%s", i, v, i, i, inner)
	case 14:
		return fmt.Sprintf("for i, w := range x {\nif !(w != 0) || i > 3 {\ncontinue\n}\nu := w * %s\n"+
			"for j := range t {\nt[j] += u * x[j%%len(x)]\n}\n}\n%s", e, inner)
	}
	return fmt.Sprintf("if %s := %s; %s == 0 {\n%s = 0\n} else {\n%s = %s * %s\n}\n%s", i, v, i, "b", "b",
		i, e, inner)
}

// shortcutNumber returns a number of an input: 0, 1 or random.
func shortcutNumber(r *rand.Rand) float64 {
	switch r.IntN(8) {
	case 0, 1, 2, 3:
		return 0
	case 4:
		return 1
	}
	return r.NormFloat64()
}
