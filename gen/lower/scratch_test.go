package lower_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/internal/longtest"
)

// scratchSource declares scratch, and functions that tests of it call.
const scratchSource = `package m

import "math"

type space struct {
	a, b  [4]float64
	ready bool
	rows  [3]struct{ u, v float64 }
}

var (
	buf, other [4]float64
	grid       [3][3]float64
	work       []float64
	spare      = make([]float64, 4)
	ws         space
	table      [8]float64
	ready      [1]bool
	filled     bool
	count      [4]int
	start      [1]int
	first      int
	hist       [4]float64
)

func fill(b []float64, x []float64) {
	for i := range b {
		b[i] = x[i%len(x)]
	}
}

func put(p *float64, v float64) { *p = v }

func get(b []float64, i int) float64 { return b[i] }

func sum(b []float64) (s float64) {
	for _, v := range b {
		s += v
	}
	return s
}

func step(next, at []float64) {
	for i := range next {
		next[i] = math.Sin(at[i])
	}
}

func fillBuf(x []float64) { fill(buf[:], x) }

func (s *space) set(x []float64) { fill(s.a[:], x) }

func (s *space) both() float64 { return s.a[1] + s.b[1] }

func prepare() {
	if !ready[0] {
		for i := range table {
			table[i] = math.Sqrt(float64(i))
		}
		ready[0] = true
	}
}

func deep(x []float64, n int) {
	if n > 0 {
		deep(x, n-1)
		return
	}
	fill(buf[:], x)
}

func swapped(a, b []float64, n int) float64 {
	if n == 0 {
		return a[0]
	}
	return swapped(b, a, n-1)
}

`

// TestScratchReads: memory of package variables in which something is stored before it is read is scratch. What may be
// read before is refused, as it may be the result of an earlier call, unless it carries no derivative.
func TestScratchReads(t *testing.T) {
	element := func(of string) string { return "read of elements of package variable m." + of + ":" }
	tests := []struct{ body, want string }{
		// One function.
		{"for i := range buf { buf[i] = x[0] }; return buf[1]", ""},
		{"for i, v := range x { buf[i] = v*v }; s := 0.0; for i := range x { s += buf[i] }; return s", ""},
		{"i := 0; for i < len(x) { buf[i] = x[i]; i++ }; return buf[0]", ""},
		{"for i := 0; ; i++ { if i >= len(x) { break }; buf[i] = x[i] }; return buf[0]", ""},
		{"buf = [4]float64{x[0]}; return buf[0]*buf[1]", ""},
		{"clear(spare); for i := range x { spare[i] += x[i] }; return spare[2]", ""},
		{"copy(buf[:], x); b := buf[1:]; b[0] *= 2; return buf[1]", ""},
		{"buf[0] = x[0]; for i := 1; i < 4; i++ { buf[i] = buf[i-1]*x[i%3] }; return buf[3]", ""},
		{"buf[0], buf[1], buf[2], buf[3] = x[0], x[1], x[2], 1; " +
			"for i := range 3 { if buf[i] > buf[i+1] { buf[i], buf[i+1] = buf[i+1], buf[i] } }; return buf[0]", ""},
		{"if x[0] > 0 { buf[0] = x[1] } else { buf[0] = x[2] }; return buf[0]", ""},
		{"if len(x) == 0 { return 0 }; buf[0] = x[0]; return buf[0]", ""},
		{"s := 0.0; for i := range x { if i > 0 { s += buf[i-1] }; buf[i] = x[i] }; return s", ""},
		{"for i := range grid { for j := range i + 1 { s := x[i]*x[j]; " +
			"for k := range j { s -= grid[i][k]*grid[j][k] }; grid[i][j] = s } }; return grid[2][1]", ""},
		{"work = work[:0]; for _, v := range x { work = append(work, v*v) }; return sum(work)", ""},
		{"if cap(work) < len(x) { work = make([]float64, len(x)) }; work = work[:len(x)]; fill(work, x); " +
			"return sum(work)", ""},
		{"work = make([]float64, 3); work[0] = x[0]; return work[0]+work[1]", ""},
		{"work = append(work[:0], x...); return work[0]", ""},
		{"a, b := buf[:], other[:]; copy(a, x); for range 3 { step(b, a); a, b = b, a }; return sum(a)", ""},
		{"a, b := &buf, &other; fill(a[:], x); step(b[:], a[:]); return b[0]", ""},
		{"p := &ws.rows[1]; p.u, p.v = x[0], x[1]; return ws.rows[1].u", ""},
		{"for i := range ws.rows { r := &ws.rows[i]; r.u = x[i]; r.v = r.u*r.u }; return ws.rows[2].v", ""},
		{"r := ws.rows[:]; for i := range r { r[i].u = x[i] }; s := 0.0; for _, v := range r { s += v.u }; return s",
			element("ws.rows.v")}, // v is a copy of the struct
		// Several functions.
		{"fillBuf(x); return sum(buf[:])", ""},
		{"fill(buf[:], x); return get(buf[:], 1)", ""},
		{"put(&buf[1], x[0]); return buf[1]", ""},
		{"ws.set(x); fill(ws.b[:], x); return ws.both()", ""},
		{"deep(x, 3); return buf[1]*x[0]", element("buf")}, // of a recursion nothing is known
		{"fill(buf[:], x); fill(other[:], x); return swapped(buf[:], other[:], 3)", ""},
		{"f := func(i int) float64 { return buf[i] }; fillBuf(x); return f(1)", ""},
		// Numbers of earlier calls that carry no derivative.
		{"prepare(); return table[2]*x[0]", ""},
		{"if !filled { table[1], filled = 2, true }; return table[1]*x[0]", ""},
		{"prepare(); for i := range x { buf[i] = table[i]*x[i] }; return sum(buf[:3])", ""},
		{"prepare(); s := 0.0; for i := range x { if i > 0 { s += buf[i-1] }; buf[i] = x[i]*table[i] }; return s", ""},
		{"if !filled { table[1], filled = 2, true }; for i, v := range x { buf[i] = v }; return buf[0]*table[1]", ""},
		{"count[0]++; if count[0] > 3 { return 0 }; return x[0]", ""},
		{"first++; n := first; if n > 5 { return 2*x[0] }; return x[0]", ""},
		{"for _, v := range x { hist[int(v)&3]++ }; return x[0]", ""},

		// Caches.
		{"if !ready[0] || x[0] != other[0] { buf[0], other[0], ready[0] = math.Exp(x[0]), x[0], true }; return buf[0]",
			element("buf")},
		{"if !filled { buf[0], filled = math.Exp(x[0]), true }; return buf[0]", element("buf")},
		{"if !ready[0] { fillBuf(x); ready[0] = true }; return sum(buf[:])", element("buf")},
		{"for i := start[0]; i < 1; i++ { buf[0], start[0] = x[0], 1 }; return buf[0]", element("buf")},
		{"for start[0] < 1 { buf[0] = x[0]; start[0]++ }; return buf[0]", element("buf")},
		{"n := first; for range n { buf[0] = x[0] }; first = 0; return buf[0]", element("buf")},
		{"n := 0; if !ready[0] { n, ready[0] = 1, true }; for range n { buf[0] = x[0] }; return buf[0]",
			element("buf")},
		{"for i := 0; ; i++ { if ready[0] { break }; buf[0], ready[0] = x[0], true }; return buf[0]", element("buf")},
		{"s := 0.0; for i := range x { if i > 0 { s += buf[0] }; " +
			"if !ready[0] { buf[0], ready[0] = x[0], true } }; return s", element("buf")},
		{"s := 0.0; for range 2 { if ready[0] { s += buf[0] } else { buf[0] = x[0] }; ready[0] = true }; return s",
			element("buf")},
		{"for i := range x { s := buf[0]; buf[0] = x[i] + s }; return x[0]", element("buf")},
		{"buf[1] = 1; if !ready[0] { buf[0], ready[0] = x[0], true }; return buf[0]", element("buf")},
		{"n := int(x[0]); buf[0] = 1; if buf[n] == 0 { buf[n] = math.Exp(x[1]) }; return buf[n]", element("buf")},
		{"if x[0] > 0 { buf[0] = x[0] } else { buf[1] = x[0] }; return buf[0]", element("buf")},
		{"if len(work) == 0 { work = append(work, x[0]*x[0]) }; return work[0]", element("work")},
		{"if work == nil { work = make([]float64, 3); copy(work, x) }; return work[1]", element("work")},
		{"b := buf[:]; if b[0] == 0 { fill(b, x) }; return sum(b)", element("buf")},
		{"if get(buf[:], 0) == 0 { buf[0] = x[0] }; return buf[0]", element("buf")},
		{"p := &buf[2]; if *p == 0 { put(p, x[0]) }; return *p", element("buf")},
		{"b := buf[:]; if x[0] > 0 { b = other[:] }; b[0] = x[0]; return buf[0]", element("buf")},
		{"ws.set(x); if !ws.ready { fill(ws.b[:], x); ws.ready = true }; return ws.both()", element("ws.b")},
		{"ws.rows[0].u = x[0]; return ws.rows[0].v * ws.rows[0].u", element("ws.rows.v")},
		{"r := swapped(buf[:], other[:], 1); fill(buf[:], x); fill(other[:], x); return r", element("buf")},
		{"g := append([]float64(nil), spare...); spare[0] = x[0]; return g[0]", element("spare")},
		{"hist[0] += x[0]; return hist[0]", element("hist")},
		{"g := grid; grid[0][1] = x[0]; return g[0][1]", element("grid")},
	}
	text := scratchSource
	for i, tt := range tests {
		text += fmt.Sprintf("func F%d(x []float64) float64 { %s }\n", i, tt.body)
	}
	p, _ := module(t, map[string]string{"m.go": text})
	for i, tt := range tests {
		_, err := p.Func(p.Lookup("m", fmt.Sprintf("F%d", i)))
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s is refused: %v", tt.body, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: got %v, want %s", tt.body, err, tt.want)
		}
	}
}

// TestScratchOfTwoPackages: package variables of the same name in packages of the same name are two.
func TestScratchOfTwoPackages(t *testing.T) {
	sub := "package m\n\nvar last float64\n\nfunc Set(x float64) { last = x }\n"
	p, _ := module(t, map[string]string{"sub/m.go": sub, "m.go": `package m

import sub "m/sub"

var last float64

func F(x float64) float64 {
	sub.Set(x)
	y := last
	last = x
	return y
}

func G(x float64) float64 {
	sub.Set(x)
	last = x
	return last
}
`})
	const want = "read of package variable m.last"
	if _, err := p.Func(p.Lookup("m", "F")); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, err := p.Func(p.Lookup("m", "G")); err != nil {
		t.Error(err)
	}
}

// scratchProgram makes random functions of scratch with one element each, so that a store determines all of it. All of
// it is stored at the end, so that it is scratch.
type scratchProgram struct {
	*rand.Rand
	calls int // functions that may be called
	depth int
	loop  bool
}

func (g *scratchProgram) of(list ...string) string { return list[g.IntN(len(list))] }

// cell returns an element of scratch, by one of its names.
func (g *scratchProgram) cell() string {
	return g.of("a[0]", "b[0]", "c[0]", "(*pa)[0]", "sb[0]", "*pc", "s.x[0]", "s.y")
}

func (g *scratchProgram) number() string {
	switch g.IntN(5) {
	case 0, 1:
		return g.cell()
	case 2:
		return "u"
	case 3:
		return g.of("1.5", "u*0.5", "v")
	}
	return "(" + g.number() + g.of("+", "-") + g.number() + ")"
}

// block returns up to n statements.
func (g *scratchProgram) block(n int) string {
	g.depth++
	defer func() { g.depth-- }()
	s := ""
	for range 1 + g.IntN(n) {
		s += g.stmt() + "\n"
	}
	return s
}

func (g *scratchProgram) stmt() string {
	k := g.IntN(16)
	if g.depth > 3 {
		k %= 9
	}
	switch {
	case k < 4:
		return g.cell() + " = " + g.number()
	case k < 6:
		return "v = " + g.number()
	case k == 6:
		return g.of("copy(sb, a[:])", "sb = c[:]", "pc = &a[0]", "clear(sb)", "a = b", "s.x = c", "sb = b[:]",
			"pa, sb = &c, a[:]", "s = space{y: u}", "pc = &s.y")
	case k < 9 && g.calls > 0:
		return fmt.Sprintf("v = f%d(u, %s, %s)", g.IntN(g.calls), g.of("a[:]", "b[:]", "sb", "s.x[:]"),
			g.of("&b[0]", "&c[0]", "pc", "&s.y"))
	case k < 12:
		cond := g.of("u > 0", "u > 1", "n > 1", g.number()+" > 0.5", "len(sb) > 0")
		return "if " + cond + " {\n" + g.block(2) + "} else {\n" + g.block(2) + "}"
	case k == 12:
		return "if " + g.of("u > 0", g.cell()+" == 0") + " {\n" + g.block(2) + "}"
	case k == 13 && g.loop:
		return "if " + g.of("u > 0", g.cell()+" > 1") + " {\n" + g.of("break", "continue") + "\n}"
	case k == 14:
		return "if " + g.of("u > 2", "n > 2", g.cell()+" > 3") + " {\n" + g.block(1) + "return v\n}"
	case k >= 13:
		outer := g.loop
		g.loop = true
		defer func() { g.loop = outer }()
		return "for range " + g.of("2", "n", "int(v+"+g.number()+")&1+1") + " {\n" + g.block(3) + "}"
	}
	return "v *= 0.5"
}

// function returns function i of a program.
func (g *scratchProgram) function(i int) string {
	g.calls, g.loop = i, false
	begin := "v, n := u, int(u)&1 + 1\npa := &a\n_, _ = pa, n\n"
	if i == 3 {
		for _, c := range []string{"a[0]", "b[0]", "c[0]", "s.x[0]", "s.y"} {
			if g.IntN(4) > 0 {
				begin += c + " = " + g.of("u", "0.25", "u*u") + "\n"
			}
		}
		return "func F(u float64) float64 {\n" + begin + "sb, pc := b[:], &c[0]\n_, _ = sb, pc\n" + g.block(5) +
			"v += " + g.number() + "\na[0], b[0], c[0], s = u, u, u, space{y: u}\ns.x[0] = u\nreturn v\n}\n"
	}
	return fmt.Sprintf("func f%d(u float64, sb []float64, pc *float64) float64 {\n", i) + begin + g.block(3) +
		"return v\n}\n"
}

// TestRandomScratch: a function that is accepted does not depend on the contents of its scratch before the call, as
// long as its loops run at least once.
func TestRandomScratch(t *testing.T) {
	n := longtest.Cases(0, 20, 40, 600)
	files := map[string]string{}
	for i := range n {
		g := &scratchProgram{Rand: rand.New(rand.NewPCG(7, uint64(i)))}
		text := "package p\n\ntype space struct {\n\tx [1]float64\n\ty float64\n}\n\n" +
			"var (\n\ta, b, c [1]float64\n\ts space\n)\n"
		for k := range 4 {
			text += g.function(k)
		}
		files[fmt.Sprintf("p%d/p.go", i)] = text
	}
	p, _ := module(t, files)
	accepted := 0
	for i := range n {
		f, err := p.Func(p.Lookup(fmt.Sprintf("m/p%d", i), "F"))
		if err != nil {
			if !strings.Contains(err.Error(), "may read it before") {
				t.Errorf("program %d: %v", i, err)
			}
			continue
		}
		accepted++
		for _, u := range []float64{-0.5, 0.75, 1.5, 3} {
			var want string
			for _, start := range []float64{0, 0.625, 7} {
				one := [1]float64{start}
				m := ir.Machine{Globals: map[string]ir.Value{"p.a": ir.ValueOf(one), "p.b": ir.ValueOf(one),
					"p.c": ir.ValueOf(one), "p.s": ir.ValueOf(struct {
						x [1]float64
						y float64
					}{one, start})}}
				r, err := m.Eval(f, []ir.Value{ir.ValueOf(u)})
				got := fmt.Sprint(r, err)
				if want == "" {
					want = got
				}
				if got != want {
					t.Fatalf("program %d at %v: %s with %v in its scratch, %s otherwise\n%s", i, u, got, start, want,
						files[fmt.Sprintf("p%d/p.go", i)])
				}
			}
		}
	}
	if accepted < n/20 {
		t.Errorf("%d of %d programs are accepted", accepted, n)
	}
}
