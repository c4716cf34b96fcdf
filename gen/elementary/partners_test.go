package elementary_test

import (
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/elementary"
	"github.com/nabla-ad/nabla/gen/ir"
)

// TestJoinPartners moves declarations of sines and cosines of one variable together, but not over assignments to it.
func TestJoinPartners(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{"let a float64 = math.Sin(x); let b float64 = x * a; let c float64 = math.Cos(x)", "a c b"},
		{"let a float64 = math.Cosh(x); let b float64 = x * a; let c float64 = math.Sinh(x)", "a c b"},
		{"let a float64 = math.Sin(x); let b float64 = x * a; let c float64 = math.Cos(b)", "a b c"},
		{"let a float64 = math.Sin(x); let b float64 = x * a; let c float64 = math.Cosh(x)", "a b c"},
		{"let a float64 = math.Sin(x); let b float64 = x * a; let c float64 = math.Sin(x)", "a b c"},
		{"let a float64 = math.Sin(x); x = a; let b float64 = 2 * x; let c float64 = math.Cos(x)", "a b c"},
		{"let a float64 = math.Sin(x); let p *float64 = &x; *p = 3; let c float64 = math.Cos(x)", "a p c"},
		{"let p *float64 = &x; let a float64 = math.Sin(x); let b float64 = 2; let c float64 = math.Cos(x)", "p a b c"},
		{"let a float64 = math.Sin(x); if x > 1 {; x = 2; }; let b float64 = x; let c float64 = math.Cos(x)", "a b c"},
	} {
		text := "func F(x float64) exit {\n" + strings.ReplaceAll(c.body, ";", "\n") + "\n}\n"
		funcs, err := ir.Parse(text, nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		var got []string
		for _, s := range elementary.JoinPartners(funcs[0].Body, elementary.Addressed(funcs[0].Body)) {
			if l, ok := s.(*ir.Let); ok {
				got = append(got, l.V.Name)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got the order %v, want %s", c.body, got, c.want)
		}
	}
}

// TestPartners replaces the derivative of a sine by the cosine that is declared next to it.
func TestPartners(t *testing.T) {
	funcs, err := ir.Parse(`func F(x float64, y float64) (r float64) exit {
	let a float64 = math.Sin(x)
	let b float64 = math.Cos(x)
	let c float64 = math.Cos(y)
	r = math.Sin(x) * math.Cos(x) * math.Cos(y)
}
`, nil)
	if err != nil {
		t.Fatal(err)
	}
	body := funcs[0].Body
	if m := elementary.Partners(body[0], body[2]); m != nil {
		t.Error("the sine and the cosine of two variables are partners")
	}
	m := elementary.Partners(body[0], body[1])
	if m == nil {
		t.Fatal("the sine and the cosine of a variable are no partners")
	}
	f := &ir.Func{Name: "G", Exit: &ir.Label{Name: "exit"}, Body: m.Block(body[3:])}
	if want := "r = a * b * math.Cos(y)"; !strings.Contains(f.String(), want) {
		t.Errorf("got %s, want %s", f, want)
	}
}
