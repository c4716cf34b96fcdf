package print_test

import (
	"go/constant"
	"go/token"
	"go/types"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/print"
)

// expression is a random constant expression of literals of both kinds.
func expression(r *rand.Rand, depth int) string {
	if depth == 0 || r.IntN(4) == 0 {
		list := []string{"1", "3", "10", "1.0", "2.0", "10.0", "0.5", "4.", "1e3", "2.5e-1", "0x10", "1e0"}
		return list[r.IntN(len(list))]
	}
	x, y := expression(r, depth-1), expression(r, depth-1)
	switch r.IntN(7) {
	case 0:
		return "(" + x + ")"
	case 1:
		return "-" + strings.TrimPrefix(x, "-")
	case 2:
		return x + " + " + y
	case 3:
		return x + " - " + y
	case 4:
		return x + " * " + y
	}
	return x + " / " + y
}

// TestConstantTexts requires that a constant printed with its source text has the value of the source, in every
// context.
func TestConstantTexts(t *testing.T) {
	pkg := types.NewPackage("p", "p")
	f64 := types.Typ[types.Float64]
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		text := expression(r, 3)
		tv, err := types.Eval(token.NewFileSet(), pkg, token.NoPos, "float64("+text+")")
		if err != nil || tv.Value == nil { // a division by 0
			continue
		}
		want, _ := constant.Float64Val(tv.Value)
		c := &ir.Const{Typed: ir.Typed{T: f64}, Val: tv.Value, Text: text}
		x := &ir.Var{Name: "x", Type: f64, Kind: ir.Param}
		y := &ir.Var{Name: "y", Type: f64, Kind: ir.Result}
		for form, e := range map[string]ir.Expr{
			"return ":     c,
			"return x * ": &ir.Binary{Typed: c.Typed, Op: token.MUL, X: x.Load(), Y: c},
			"return x - ": &ir.Binary{Typed: c.Typed, Op: token.SUB, X: x.Load(), Y: c},
		} {
			f := &ir.Func{Name: "f", Params: []*ir.Var{x}, Results: []*ir.Var{y}, Exit: &ir.Label{Name: "exit"}}
			f.Body = ir.Block{&ir.Set{P: y.Place(), E: e}}
			out, err := print.File(pkg, print.Func{Func: f})
			if err != nil {
				t.Fatal(err)
			}
			_, s, ok := strings.Cut(string(out), form)
			s, _, _ = strings.Cut(s, "\n")
			tv, err := types.Eval(token.NewFileSet(), pkg, token.NoPos, "float64("+s+")")
			if err != nil || !ok || tv.Value == nil {
				t.Fatalf("%s is printed as\n%s: %v", text, out, err)
			}
			if got, _ := constant.Float64Val(tv.Value); got != want {
				t.Errorf("%s, which is %v, is printed as %s, which is %v", text, want, s, got)
			}
		}
	}
}
