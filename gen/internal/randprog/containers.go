package randprog

import "strings"

// Maps, interface values, package variables and sorting with closures in random programs.

// The kinds of variables that only programs with containers have.
const (
	Dict  Kind = "dict"  // map[int]float64
	Curve Kind = "curve" // an interface value that is not nil
)

// containers returns the declarations at the beginning of F.
func (g *generator) containers() []*Node {
	if !g.opts.Containers {
		return nil
	}
	out := []*Node{
		stmt("dd := map[int]float64{0: a, 3: b}\n_ = dd"),
		stmt(g.oneOf("cc := curve(line{a, b})", "cc := curve(&bent{a})", "cc := newCurve(b)",
			"var cc curve = taps{a, 2: b}", "cc := either(a, b)") + "\n_ = cc"),
	}
	g.local(Dict, "dd")
	g.local(Curve, "cc")
	if g.scratch {
		out = append(out, stmt("level, state = a, status{b: b}\nfillPad(x)"))
	}
	return out
}

// containerFloat returns an expression of containers, nil if there are none here.
func (g *generator) containerFloat(x *Node) *Node {
	switch k := g.IntN(5); {
	case k < 2 && g.has(Dict):
		return node(Float, g.oneOf("$0[$1]", "$0[$1]*0.5", "orElse($0, $1, $2)"), g.pick(Dict), g.index(), x)
	case k < 4 && g.has(Curve):
		return node(Float, g.oneOf("math.Sin($0.at($1))", "math.Tanh($0.at($1) - $1)", "slope($0, $1)"),
			g.pick(Curve), x)
	case g.scratch:
		return node(Float, g.oneOf("level", "pad[uint($0)%4]", "state.b", "math.Sin(state.b - $1)"), g.integer(0), x)
	}
	return nil
}

// containerStmt returns a statement about containers, nil if there are none here.
func (g *generator) containerStmt() *Node {
	switch k := g.IntN(12); {
	case k >= 10:
		return g.onContainer(g.oneOf(functionStmts...), node(Int, "n"))
	case k < 4 && g.has(Dict):
		return g.dictStmt()
	case k < 8 && g.has(Curve):
		return g.curveStmt()
	case k == 8:
		return g.sortStmt()
	case k == 9 && g.scratch:
		return stmt(g.oneOf("level = $0", "$1 = ($1 + bump($0))*0.5", "pad[uint($2)%4] = $0",
			"state.a, state.b = state.b, $0", "state = status{a: $0, k: state.k + 1}",
			"pad[uint($2)%4], level = level, pad[1]*0.5", "level -= pad[0]*0.5",
			"fillPad($3)\n$1 = ($1 - pad[uint($2)%4])*0.5"), g.float(1), g.place(), g.index(), g.pick(Slice))
	}
	return nil
}

// dictStmts holds statements about a map $0, with keys $1 and $2, numbers $3 and $4, a place $5, a slice $6 and a
// condition $7. Words that begin with # are names.
var dictStmts = []string{
	"$0[$1] = $3",
	"$0[$1] = ($0[$2] + $3)*0.5",
	"$0[$1] *= 0.5",
	"$0[$1], $0[$2] = $0[$2], $0[$1]",
	"delete($0, $1)",
	"if #v, #ok := $0[$1]; #ok {\n$5 = ($5 + #v)*0.5\n} else {\n$0[$2] = $3\n}",
	"for #k := range $0 {\nif #k&1 == 1 {\ndelete($0, #k)\n} else {\n$0[#k] *= 0.5\n}\n}",
	"if $7 {\nclear($0)\n$0[$1] = $3\n}",
	"$0 = map[int]float64{$1: $3, 7: $4}",
	"{\nvar #z map[int]float64\nif $7 {\n#z = $0\n}\n$5 = ($5 - #z[$1] + float64(len(#z))*0.125)*0.5\n" +
		"delete(#z, $2)\n}",
	"$5 = ($5 + memo($1, $3, map[int]float64{}))*0.5",
	"$5 = ($5 + memo($1, $3, $0))*0.5",
	"{\n#h := tally{d: $0, w: $3}\n#i := #h\n#i.put($1, $4)\n#h.w -= #i.w*0.5\n" +
		"$5 = (#h.w + #i.sum($2))*0.5\n}",
	"{\n#l := map[int][]float64{0: clip($6)}\n#l[$1] = append(#l[$1], $3)\n" +
		"if #s := #l[$2]; len(#s) > 0 {\n#s[0] = (#s[0] + $4)*0.5\n}\n#l[1], #l[0] = #l[0], #l[2]\n" +
		"for #k := range 3 {\nfor _, #v := range #l[#k] {\n$5 = ($5 - #v)*0.5\n}\n}\n}",
	"{\n#m := map[string]map[int]float64{\"a\": $0, \"b\": {1: $3}}\n#m[\"b\"][$1] = $4\nif $7 {\n" +
		"#m[\"a\"] = #m[\"b\"]\n}\ndelete(#m, \"b\")\n$5 = ($5 + #m[\"a\"][$2] + #m[\"b\"][$1])*0.5\n}",
	"{\n#f := func(#k int) float64 {\n$0[#k] = ($0[#k] + $3)*0.5\nreturn $0[#k]\n}\n" +
		"$5 = (#f($1) - #f($2))*0.5\n}",
}

// orderedStmts holds statements whose result depends on the order of the keys of a map, which is random in Go.
var orderedStmts = []string{
	"{\n#t := 0.0\nfor #k, #v := range $0 {\n#t += #v*0.25 - float64(#k)*0.125\n}\n" +
		"$5 = ($5 + math.Sin(#t))*0.5\n}",
	"for #k, #v := range $0 {\nif #v > $5 {\n$0[#k], $5 = $5, #v\n}\n}",
	"{\n#m := map[[2]int][2]float64{{0, $1}: {$3, $4}}\n#v := #m[[2]int{0, $2}]\n#v[0] -= $5\n" +
		"#m[[2]int{0, 1}] = #v\nfor _, #w := range #m {\n$5 = ($5 - #w[0] + #w[1]*0.5)*0.25\n}\n}",
}

// pDictStmts holds statements about maps of structs, with structs $8 and $9 and a pointer to one.
var pDictStmts = []string{
	"{\n#m := map[int]P{0: $8}\n#q := #m[$1]\n#q.A = $3\n#m[1] = #q\n#q.A = 7\n" +
		"$5 = (#m[0].A + #m[1].A + #m[$2].sum())*0.5\n}",
	"{\n#m := map[int]*P{0: $9, 1: {A: $3}}\nif #q := #m[$1]; #q != nil {\n#q.B = $4\n}\ndelete(#m, $2)\n" +
		"if #q, #ok := #m[1]; #ok {\n$5 = (#q.A + #q.B - $5)*0.5\n}\n}",
}

// dictStmt returns a statement about a map.
func (g *generator) dictStmt() *Node {
	if g.chance(8) {
		return g.define(Dict, g.name("d"), g.oneOf("$0", "map[int]float64{$1: $2, 6: $3}", "map[int]float64{}"),
			g.pick(Dict), g.index(), g.float(1), g.float(0))
	}
	list := dictStmts
	if !g.opts.Exact && g.chance(6) {
		list = orderedStmts
	}
	if g.has(Struct) && g.chance(6) {
		list = pDictStmts
	}
	return g.onContainer(g.oneOf(list...), g.pick(Dict))
}

// onContainer returns a statement of one of the lists of statements about the container of.
func (g *generator) onContainer(text string, of *Node) *Node {
	kids := []*Node{of, g.index(), g.index(), g.tame(1), g.float(0), g.place(), g.pick(Slice), g.cond(1)}
	if strings.Contains(text, "$8") || strings.Contains(text, "$9") {
		kids = append(kids, g.structure(), g.pointer())
	}
	return stmt(strings.ReplaceAll(text, "#", "u"), kids...)
}

// curveStmts holds statements about an interface value $0, with operands as those of dictStmts.
var curveStmts = []string{
	"$0 = line{$3, $4}",
	"$0 = &bent{$3}",
	"$0 = constant($3)",
	"$0 = taps{1: $3, 2: $4}",
	"$0 = newCurve($3)",
	"$0 = either($3, $4)",
	"$0 = &gain{either($3, $4), $4}",
	"$5 = ($5 + math.Sin($0.at($3)))*0.5",
	"switch #v := $0.(type) {\ncase line:\n#v.a = $3\n$5 = ($5 + #v.b)*0.5\n$0 = #v\ncase *bent:\n" +
		"#v.c = $3\ncase taps, constant:\n$5 = ($5 - #v.at($4)*0.25)*0.5\ndefault:\n$0 = &bent{$4}\n}",
	"if #v, #ok := $0.(*bent); #ok {\n#v.c = (#v.c + $3)*0.5\n} else if #w, #ok := $0.(line); #ok {\n" +
		"#w.a *= 0.5\n$5 = #w.a*0.5\n}",
	"{\n#l := []curve{$0, line{$3, $4}, &bent{$4}}\n#m := append(#l[:1:1], #l[2], $0)\n" +
		"#l[uint($1)%3] = constant($3)\n#m[0], #m[1] = #m[1], #m[0]\nfor #i, #c := range #l {\n" +
		"$5 = ($5 + math.Sin(#c.at($4) + #m[#i].at($3)))*0.5\n}\n}",
	"{\n#h := holder{c: $0, w: $3}\n#i := #h\n" +
		"#i.w, #i.list = #h.c.at($3)*0.25, append(#i.list, #h.c, taps{$4})\nif $7 {\n#h.c = #i.list[1]\n}\n" +
		"#p := &#h\n$5 = math.Sin(#p.value($1) + #i.value($2))*0.5\n}",
	"{\n#f := func(#t float64) float64 { return math.Sin($0.at(#t)) }\n$0 = constant($3)\n" +
		"$5 = (#f($4) - $5)*0.5\n}",
	"{\n#left, #t := ends($0, $3)\n$5 = (#left.at($4)*0.25 + math.Sin(#t))*0.5\n}",
	"{\nvar #e curve\nif $7 {\n#e = $0\n}\nif #e != nil {\n$5 = ($5 + math.Sin(#e.at($3)))*0.5\n}\n}",
	"{\nvar #v any = $3\nif $7 {\n#v = [2]float64{$4, $5}\n} else if $1 > 1 {\n#v = &$5\n}\n" +
		"switch #w := #v.(type) {\ncase float64:\n$5 = (#w + $4)*0.5\ncase [2]float64:\n#w[0] = $3\n" +
		"$5 = (#w[0] - #w[1])*0.5\ncase *float64:\n*#w = $3\n}\n}",
	"for #i, #v := range []any{$3, $6, 3, $0} {\nswitch #v := #v.(type) {\ncase []float64:\n" +
		"#v[0] = (#v[0] - $4)*0.5\ncase float64:\n$5 = ($5 + #v)*0.5\ncase int:\n" +
		"$5 = ($5 - float64(#v+#i)*0.125)*0.5\ncase curve:\n$5 = ($5 + math.Sin(#v.at($3)))*0.5\n}\n}",
	"{\n#v := any($3)\n#w, #ok := #v.(int)\n#u, _ := #v.(float64)\nif !#ok {\n#w++\n}\n" +
		"$5 = (#u + float64(#w)*0.25)*0.5\n}",
	"{\n#q := &gain{$0, $3}\nvar #e curve = #q\n#q.k = $4\n$5 = math.Sin(#e.at($3))*0.5\n}",
	"{\n#b := &bent{$3}\n#l := [2]curve{#b, $0}\n#m := #l\n#m[1] = #b\n#b.c = $4\n" +
		"$5 = math.Sin(#l[0].at($3) + #l[1].at($4) + #m[uint($1)%2].at($3))\n}",
}

// curveStmt returns a statement about an interface value.
func (g *generator) curveStmt() *Node {
	if g.chance(8) {
		return g.define(Curve, g.name("c"), "$0", g.pick(Curve))
	}
	return g.onContainer(g.oneOf(curveStmts...), g.pick(Curve))
}

// sortStmts holds statements that sort, with operands as those of dictStmts.
var sortStmts = []string{
	"{\n#z := $3\n" +
		"slices.SortFunc($6, func(#v, #w float64) int { return cmp.Compare(math.Abs(#v-#z), math.Abs(#w-#z)) })\n" +
		"}",
	"{\n#s := $6\nsort.Slice(#s, func(#i, #j int) bool { return #s[#i] > #s[#j] })\n}",
	"{\n#l := []P{{A: $3, N: 2}, {A: $4, B: $3}, {A: $5, N: 1}}\n" +
		"slices.SortStableFunc(#l, func(#v, #w P) int { return cmp.Compare(#v.N, #w.N) })\n" +
		"slices.SortFunc(#l[1:], func(#v, #w P) int { return cmp.Compare(#v.A, #w.A) })\n" +
		"$5 = (#l[0].A - #l[1].B + #l[2].A*0.5)*0.5\n}",
	"{\n#t := twin{slices.Clone($6), slices.Clone($6)}\n#t.b[0] = $3\nsort.Sort(#t)\n" +
		"sort.Sort(sort.Reverse(sort.Float64Slice(#t.b[1:])))\n" +
		"$5 = (#t.a[0] - #t.b[0] + #t.b[len(#t.b)-1]*0.5)*0.5\n}",
}

// sortStmt returns a statement that sorts.
func (g *generator) sortStmt() *Node { return g.onContainer(g.oneOf(sortStmts...), node(Int, "n")) }

// functionStmts holds statements about function values in memory, with operands as those of dictStmts.
var functionStmts = []string{
	"{\n#a := $3\n" +
		"#l := []stage{{f: math.Sin, w: $4}, *newStage(func(#t float64) float64 { return math.Cos(#t*#a) }, 0.5)}\n" +
		"#l = append(#l, stage{f: stageOf($1, #a)})\nif $7 {\n#l[0].f, #l[1].f = #l[1].f, #l[2].f\n}\n" +
		"for _, #s := range #l {\n$5 = ($5 + #s.at($3))*0.5\n}\n}",
	"{\n#a := $3\nvar #l []func(float64) float64\nfor #i := range 3 {\n#b := #a*0.5\n" +
		"#l = append(#l, func(#t float64) float64 {\n#a = (#a + #b)*0.5\n" +
		"return math.Sin(#t*#b) + float64(#i)*0.125\n})\n#a = (#a - $4)*0.5\n}\n" +
		"#l[uint($1)%3] = stageOf($2, #a)\nfor _, #f := range #l {\nif #f != nil {\n" +
		"$5 = ($5 + #f($3)*0.25)*0.5\n}\n}\n$5 = ($5 - #a)*0.5\n}",
	"{\n#a := $3\n#o := []setting{weighted(#a), with(func(#t float64) float64 { return math.Tanh(#t + #a) })}\n" +
		"if $7 {\n#o = append(#o, with(stageOf($1, $4)))\n}\n#s := build(#o...)\n$5 = (#s.at($4) + $5)*0.5\n}",
	"{\n#m := map[int]func(float64) float64{}\n#m[$1] = stageOf($2, $3)\n#m[1] = math.Cos\n" +
		"if #f := #m[$2]; #f != nil {\n$5 = ($5 + math.Sin(#f($4)))*0.5\n}\n}",
	"{\n#a := $3\n#f := stageOf($1, $4)\nfor range 2 {\n#g := #f\n#f = func(#t float64) float64 {\n" +
		"if #g == nil {\nreturn #t*0.5\n}\nreturn math.Sin(#g(#t) + #a)\n}\n}\n#a = $4*0.5\n" +
		"$5 = ($5 + #f($4))*0.5\n}",
	"{\n#s := stage{g: twice, w: $3}\n#s.f = #s.at\n#w := #s.w\n" +
		"$5 = ($5 + #s.g(func(#t float64) float64 { return math.Sin(#t - #w) }, $4)*0.5 - #s.f($3)*0.25)*0.5\n}",
}

// containerLibrary is the source of declarations for programs with containers.
const containerLibrary = `
type stage struct {
	f func(float64) float64
	g func(f func(float64) float64, x float64) float64
	w float64
}

func newStage(f func(float64) float64, w float64) *stage { return &stage{f: f, w: w} }

func (s stage) at(x float64) float64 {
	if s.f == nil {
		return x*0.5 + s.w*0.25
	}
	return math.Sin(s.f(x))*0.5 + s.w*0.25
}

func stageOf(k int, a float64) func(float64) float64 {
	switch uint(k) % 4 {
	case 0:
		return math.Sin
	case 1:
		return func(x float64) float64 { return math.Cos(x * a) }
	case 2:
		return line{a*0.5, 0.25}.at
	}
	return nil
}

func twice(f func(float64) float64, x float64) float64 { return f(f(x)) }

type setting func(*stage)

func weighted(w float64) setting { return func(s *stage) { s.w = w } }

func with(f func(float64) float64) setting {
	if f == nil {
		return nil
	}
	return func(s *stage) { s.f = f }
}

func build(list ...setting) (s stage) {
	for _, o := range list {
		if o != nil {
			o(&s)
		}
	}
	return s
}

func orElse(d map[int]float64, k int, x float64) float64 {
	if v, ok := d[k]; ok {
		return v
	}
	return x
}

func memo(k int, x float64, d map[int]float64) float64 {
	if k <= 0 {
		return x
	}
	if v, ok := d[k]; ok {
		return v
	}
	v := math.Sin(memo(k-1, x, d))*0.5 + memo(k-2, x*0.5, d)*0.5
	d[k] = v
	return v
}

type tally struct {
	d map[int]float64
	w float64
}

func (t *tally) put(k int, v float64) { t.w -= t.d[k]*0.5; t.d[k] = v*0.5 }

func (t tally) sum(k int) float64 { t.w += t.d[k]; return math.Sin(t.w) }

type taps [3]float64

func (t taps) at(x float64) float64 { t[0] = (t[0] + x)*0.5; return t[0] + t[1]*0.25 - t[2]*0.25 }

type gain struct {
	curve
	k float64
}

func (g *gain) at(x float64) float64 { g.k = math.Sin(g.k + x); return g.k*0.5 + math.Sin(g.curve.at(x))*0.5 }

func either(a, b float64) curve {
	switch {
	case a > b:
		return line{a, b}
	case a > 0.25:
		return taps{a, b}
	}
	return &bent{b}
}

func slope(c curve, x float64) float64 { return math.Sin(c.at(x+0.5)) - math.Sin(c.at(x))*0.5 }

func ends(c curve, x float64) (curve, float64) {
	if l, ok := c.(line); ok {
		l.a = x
		return l, l.b
	}
	return line{x, 0.5}, c.at(x)
}

type holder struct {
	c    curve
	w    float64
	list []curve
}

func (h *holder) value(k int) (s float64) {
	s = math.Sin(h.c.at(h.w))
	for i, c := range h.list {
		if i != k {
			s = (s + math.Sin(c.at(s)))*0.5
		}
	}
	h.w = s
	return s
}

type twin struct{ a, b []float64 }

func (t twin) Len() int { return len(t.a) }

func (t twin) Less(i, j int) bool { return t.a[i] < t.a[j] }

func (t twin) Swap(i, j int) {
	t.a[i], t.a[j] = t.a[j], t.a[i]
	t.b[i], t.b[j] = t.b[j], t.b[i]
}

var level float64

var pad [4]float64

type status struct {
	a, b float64
	k    int
}

var state status

func fillPad(x []float64) {
	for i := range pad {
		pad[i] = x[i%len(x)]*0.5
	}
}

func bump(v float64) float64 {
	level = (level + v)*0.5
	state.a, pad[state.k&3] = level*0.5, state.b
	state.k++
	return level - float64(state.a*v)*0.25
}
`
