package print_test

import (
	"go/constant"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/print"
)

// TestReals checks that operators on Reals become methods, and that constants are passed as
// numbers.
func TestReals(t *testing.T) {
	number := ir.Typed{T: ir.Real}
	boolean := ir.Typed{T: types.Typ[types.Bool]}
	x := &ir.Var{Name: "x", Type: ir.Real, Kind: ir.Param}
	p := &ir.Var{Name: "p", Type: types.NewPointer(ir.Real), Kind: ir.Param}
	w := &ir.Var{Name: "w", Type: types.Typ[types.Float64], Kind: ir.Param}
	star := &ir.Load{Typed: number, P: &ir.Place{Root: p, Path: []ir.Step{ir.DerefStep()}}}
	c := func(v float64) ir.Expr { return &ir.Const{Typed: number, Val: constant.MakeFloat64(v)} }
	lifted := &ir.Convert{Typed: number, X: w.Load()}
	op := func(op token.Token, a, b ir.Expr) ir.Expr { return &ir.Binary{Typed: number, Op: op, X: a, Y: b} }
	to := func(k types.BasicKind) ir.Expr {
		return &ir.Convert{Typed: ir.Typed{T: types.Typ[k]}, X: op(token.ADD, x.Load(), star)}
	}
	differ := &ir.Binary{Typed: boolean, Op: token.NEQ, X: x.Load(), Y: c(0)}
	for _, tt := range []struct {
		want string
		e    ir.Expr
	}{
		{"x.Scale(w)", op(token.MUL, lifted, x.Load())},
		{"nabla.Const(w).Scale(2)", op(token.MUL, lifted, c(2))},
		{"(*p).Sq()", op(token.MUL, star, star)},
		{"x.Mul(*p)", op(token.MUL, x.Load(), star)},
		{"(*p).AddConst(-2)", op(token.SUB, star, c(2))},
		{"x.Sub(nabla.Const(-2))", op(token.SUB, x.Load(), c(-2))},
		{"x.Sub(nabla.Const(0))", op(token.SUB, x.Load(), c(0))}, // not + -0
		{"nabla.Const(w).Sub(x)", op(token.SUB, lifted, x.Load())},
		{"x.Neg().Inv()", op(token.QUO, c(1), &ir.Unary{Typed: number, Op: token.SUB, X: x.Load()})},
		{"!x.Equal(nabla.Const(0))", differ},
		{"x.Equal(nabla.Const(0))", &ir.Unary{Typed: boolean, Op: token.NOT, X: differ}},
		{"x.Add(*p).Int()", to(types.Int)}, {"int64(nabla.Trunc(x.Add(*p)).Value())", to(types.Int64)},
		{"x.Add(*p).Value()", to(types.Float64)},
		{"nabla.Min(x, nabla.Const(0))", &ir.Math{Typed: number, Name: "min", Args: []ir.Expr{x.Load(), c(0)}}},
		{"nabla.Greatest(x, nabla.Const(w))", &ir.Math{Typed: number, Name: "max", Args: []ir.Expr{x.Load(), lifted}}},
		{"nabla.Max(x, nabla.Const(w))", &ir.Math{Typed: number, Name: "math.Max", Args: []ir.Expr{x.Load(), lifted}}},
	} {
		y := &ir.Var{Name: "y", Type: tt.e.Type(), Kind: ir.Result}
		f := &ir.Func{Name: "f", Params: []*ir.Var{x, p, w}, Results: []*ir.Var{y}, Exit: &ir.Label{Name: "exit"},
			Body: ir.Block{&ir.Set{P: y.Place(), E: tt.e}}}
		if err := ir.Check(f); err != nil {
			t.Error(err)
		}
		text, err := print.File(types.NewPackage("p", "p"), print.Func{Func: f})
		if err != nil || !strings.Contains(string(text), "return "+tt.want+"\n") {
			t.Errorf("%v, want %s in\n%s", err, tt.want, text)
		}
	}
}

// TestDeclared: a type that is in no scope is declared, unless its name is taken.
func TestDeclaredOfPackage(t *testing.T) {
	pkg := types.NewPackage("p", "p")
	node := types.NewNamed(types.NewTypeName(token.NoPos, pkg, "node", nil), nil, nil)
	node.SetUnderlying(types.NewStruct([]*types.Var{
		types.NewField(token.NoPos, pkg, "v", ir.Real, false),
		types.NewField(token.NoPos, pkg, "next", types.NewPointer(node), false),
	}, nil))
	f := &ir.Func{Name: "f", Params: []*ir.Var{{Name: "n", Type: node, Kind: ir.Param}}, Exit: &ir.Label{Name: "exit"}}
	text, err := print.File(pkg, print.Func{Func: f})
	if err != nil || !strings.Contains(string(text), "type node struct {\n\tv    nabla.Real\n\tnext *node\n}") {
		t.Errorf("%v\n%s", err, text)
	}
	// Its name is free in the file.
	const renamed = "type node1 struct {\n\tv    nabla.Real\n\tnext *node1\n}"
	if text, err := print.File(pkg, print.Func{Func: f, Name: "node"}); err != nil ||
		!strings.Contains(string(text), renamed) {
		t.Errorf("%v\n%s", err, text)
	}
	pkg.Scope().Insert(types.NewVar(token.NoPos, pkg, "node", ir.Real))
	if text, err := print.File(pkg, print.Func{Func: f}); err != nil || !strings.Contains(string(text), renamed) {
		t.Errorf("%v\n%s", err, text)
	}
}
