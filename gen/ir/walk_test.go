package ir_test

import (
	"fmt"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/ir"
)

func TestNamer(t *testing.T) {
	n := ir.NewNamer("x", "x1", "bar")
	var got []string
	for _, base := range []string{"x", "x", "y", "y", "for", "len", "float64", "let", "a b", "", "_", "1x", "é", "a.b",
		"bar", "bar1", "nil", "_x", "init"} {
		name := n.Name(base)
		if !token.IsIdentifier(name) || slices.Contains(got, name) {
			t.Errorf("%q became %q", base, name)
		}
		got = append(got, name)
	}
	want := "x2 x3 y y1 for1 len1 float641 let1 a_b v v1 v1x é a_b1 bar1 bar11 nil1 _x init1"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("got %s\nwant %s", s, want)
	}
	n.Avoid(func(name string) bool { return strings.HasPrefix(name, "z") && len(name) < 3 })
	if got := n.Name("z") + " " + n.Name("z"); got != "z10 z11" {
		t.Errorf("got %s, want names that are not avoided", got)
	}
	f := parse(t, head+"let v int = n\nscope l {\n}\n}\n")[0]
	names := ir.NamerOf(f)
	for _, taken := range []string{"x", "v", "l", "exit", "r"} {
		if names.Name(taken) == taken {
			t.Errorf("%s is in use", taken)
		}
	}
}

func TestClone(t *testing.T) {
	text := head + `	let v float64 = x[n] + geom.Table[n]
	for l, m i int = 0; i < n; i += 1 {
		if ok {
			leave m
		}
		_ = call geom.F(x[i:], n, p, q, s, ok)
		q.X += v
	}
	leave exit
}
`
	f := parse(t, text)[0]
	g, vars := ir.Clone(f, ir.NamerOf(f))
	if err := ir.Check(g); err != nil {
		t.Fatal(err)
	}
	if f.String() != parse(t, text)[0].String() {
		t.Error("the original has changed")
	}
	for _, v := range ir.Vars(f) {
		w := vars[v]
		if v.Kind == ir.Global {
			if w != v {
				t.Errorf("%s is not shared", v.Name)
			}
			continue
		}
		if w == nil || w == v || w.Name == v.Name || w.Kind != v.Kind || !slices.Contains(ir.Vars(g), w) {
			t.Errorf("%s became %v", v.Name, w)
		}
	}
	for _, l := range ir.Labels(f) {
		if slices.Contains(ir.Labels(g), l) {
			t.Errorf("label %s is shared", l.Name)
		}
	}
	same, _ := ir.Clone(f, nil)
	compare(t, same.String(), f.String())
	if !strings.Contains(g.String(), "call geom.F(x1[i1:], n1, p1, q1, s1, ok1)") {
		t.Errorf("names are not new:\n%s", g)
	}
}

func TestMap(t *testing.T) {
	f := parse(t, head+`	if ok {
		r = r + 1
		r += 2
	}
	x[n + 1] = math.Sin(x[n + 1])
}
`)[0]
	m := &ir.Map{
		Expr: func(e ir.Expr) ir.Expr {
			if b, ok := e.(*ir.Binary); ok && b.Op == token.ADD {
				return &ir.Binary{Typed: b.Typed, Op: token.SUB, X: b.X, Y: b.Y}
			}
			return e
		},
		Stmt: func(s ir.Stmt) []ir.Stmt {
			switch s := s.(type) {
			case *ir.Add:
				return nil
			case *ir.Set:
				return []ir.Stmt{s, &ir.Clear{S: f.Params[0].Load()}}
			}
			return []ir.Stmt{s}
		},
	}
	compare(t, m.Func(f).String(), head+`	if ok {
		r = r - 1
		clear(x)
	}
	x[n - 1] = math.Sin(x[n - 1])
	clear(x)
}
`)
}

func TestEffects(t *testing.T) {
	for _, test := range []struct{ body, want string }{
		{"x[n] = p.X", "reads n p.X x writes x[n]"},
		{"q.X += x[0]", "reads x x[0] q q.X writes q.X"},
		{"let v []float64 = x[n:]", "reads x n writes v"},
		{"let v *float64 = &x[n]", "reads x n writes v"},
		{"let v *float64 = &p.X", "reads writes v"},
		{"r = call geom.F(x, n, p, q, s, ok)", "reads x n p q s ok writes r through x n p q s ok opaque"},
		{"x = append(x[:n], r)", "reads x n r writes x through x[:n]"},
		{"x = append(x, x...)", "reads x x x[*] writes x through x"},
		{"n = copy(x, x[1:])", "reads x x x[*] writes n through x"},
		{"clear(x)", "reads x writes through x"},
		{"batch math.Exp(x, x[1:])", "reads x x x[*] writes through x"},
		{"for a, b i int = n; i < len(x); i += 1 {\nr = 1\n}", "reads n x writes i"},
		{"if ok {\nr = 1\n}", "reads ok writes"},
	} {
		funcs, err := ir.Parse(head+test.body+"\n}\n", geom)
		if err != nil {
			t.Error(err)
			continue
		}
		e := ir.EffectOf(funcs[0].Body[0])
		got := "reads"
		for _, p := range e.Reads {
			got += " " + placeText(p)
		}
		got += " writes"
		for _, p := range e.Writes {
			got += " " + placeText(p)
		}
		if len(e.Through) > 0 {
			got += " through"
		}
		for _, x := range e.Through {
			clear := (&ir.Func{Exit: &ir.Label{}, Body: ir.Block{&ir.Clear{S: x}}}).String()
			_, clear, _ = strings.Cut(clear, "clear(")
			clear, _, _ = strings.Cut(clear, ")\n")
			got += " " + clear
		}
		if e.Opaque {
			got += " opaque"
		}
		if got != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", test.body, got, test.want)
		}
	}
}

func placeText(p *ir.Place) string {
	s := p.Root.Name
	for _, step := range p.Path {
		switch {
		case step == ir.AnyStep():
			s += "[*]"
		case step.Field >= 0:
			s += fmt.Sprintf(".%c", 'X'+rune(step.Field))
		case step.Index != nil:
			if c, ok := step.Index.(*ir.Const); ok {
				s += "[" + c.Val.String() + "]"
			} else {
				s += "[n]"
			}
		}
	}
	return s
}
