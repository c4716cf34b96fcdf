package ir_test

import (
	"errors"
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/internal/longtest"
)

var (
	float   = types.Typ[types.Float64]
	integer = types.Typ[types.Int]
	boolean = types.Typ[types.Bool]
	vector  = types.NewSlice(float)
)

// generator makes random functions that end: loops are bounded, and recursion is by n.
type generator struct {
	*rand.Rand
	names  *ir.Namer
	f      *ir.Func
	scope  []*ir.Var // that may be used
	index  map[*ir.Var]bool
	labels []*ir.Label // that may be left
	point  types.Type
	budget int
}

func newGenerator(seed uint64) *generator {
	return &generator{
		Rand:  rand.New(rand.NewPCG(seed, 1)),
		point: geom.Packages[0].Scope().Lookup("Point").Type(),
	}
}

// function is func(x []float64, n int, a float64, p geom.Point, q *geom.Point) (r float64, k int).
func (g *generator) function(name string) *ir.Func {
	g.names = ir.NewNamer()
	g.index = make(map[*ir.Var]bool)
	v := func(name string, t types.Type, kind ir.VarKind) *ir.Var {
		return &ir.Var{Name: g.names.Name(name), Type: t, Kind: kind}
	}
	f := &ir.Func{
		Name: name,
		Params: []*ir.Var{v("x", vector, ir.Param), v("n", integer, ir.Param), v("a", float, ir.Param),
			v("p", g.point, ir.Param), v("q", types.NewPointer(g.point), ir.Param)},
		Results: []*ir.Var{v("r", float, ir.Result), v("k", integer, ir.Result)},
		Exit:    &ir.Label{Name: g.names.Name("exit")},
	}
	g.f = f
	g.scope = append(append([]*ir.Var{}, f.Params...), f.Results...)
	g.labels = []*ir.Label{f.Exit}
	g.budget = 12 + g.IntN(50)
	f.Checkpoint = g.mark()
	f.Body = g.block(0)
	return f
}

// mark is a mark of a loop, sometimes.
func (g *generator) mark() *ir.Checkpoint {
	if g.budget%4 > 0 {
		return nil
	}
	return &ir.Checkpoint{Levels: g.budget % 3, Snapshots: g.budget % 7, Steps: 1}
}

func (g *generator) label(name string) *ir.Label {
	l := &ir.Label{Name: g.names.Name(name)}
	return l
}

// block makes statements, and may end by a leave.
func (g *generator) block(depth int) ir.Block {
	known := len(g.scope)
	var b ir.Block
	for n := g.IntN(4); n >= 0 && g.budget > 0; n-- {
		g.budget--
		b = append(b, g.stmts(depth)...)
	}
	if depth > 0 {
		switch g.IntN(14) {
		case 0, 1, 2, 3:
			b = append(b, &ir.Leave{L: g.labels[g.IntN(len(g.labels))]})
		case 4:
			if depth > 3 {
				b = append(b, &ir.Panic{E: &ir.Opaque{Typed: ir.Typed{T: types.Typ[types.String]}, Format: "at %v",
					Args: []ir.Expr{g.expr(float, 1)}}})
			}
		}
	}
	g.scope = g.scope[:known]
	return b
}

func one(s ir.Stmt) []ir.Stmt { return []ir.Stmt{s} }

func (g *generator) stmts(depth int) []ir.Stmt {
	kind := g.IntN(20)
	if depth > 5 && kind >= 12 {
		kind = g.IntN(12)
	}
	switch kind {
	case 0, 1:
		t := []types.Type{float, float, integer, boolean, g.point, vector}[g.IntN(6)]
		let := &ir.Let{V: &ir.Var{Name: g.names.Name("v"), Type: t}}
		if g.IntN(4) > 0 {
			let.E = g.fresh(t)
		}
		g.scope = append(g.scope, let.V)
		return one(let)
	case 2, 3, 4:
		p := g.place(float)
		return one(&ir.Set{P: p, E: g.expr(float, 3)})
	case 5:
		return one(&ir.Set{P: g.place(g.point), E: g.expr(g.point, 1)})
	case 6:
		return one(&ir.Set{P: g.place(integer), E: g.expr(integer, 2)})
	case 7, 8:
		s := &ir.Add{P: g.place(float)}
		for {
			s.E = g.expr(float, 2)
			if !reads(s.E, s.P.Root) {
				return one(s)
			}
		}
	case 9:
		s := &ir.Append{P: g.variable(vector).Place(), S: g.expr(vector, 1)}
		if g.IntN(2) == 0 {
			// Bounded, as a slice appended to itself in loops would not be.
			s.Spread = true
			s.Elems = []ir.Expr{&ir.Slice{Typed: ir.Typed{T: vector}, X: g.expr(vector, 0), Hi: number(integer, 1)}}
		} else {
			s.Elems = []ir.Expr{g.expr(float, 1), g.expr(float, 1)}[:1+g.IntN(2)]
		}
		return one(s)
	case 10:
		s := &ir.Copy{Dst: g.expr(vector, 1), Src: g.expr(vector, 1)}
		if g.IntN(2) == 0 {
			s.N = g.variable(integer)
		}
		return one(s)
	case 11:
		call := &ir.Call{
			Results: []*ir.Var{[]*ir.Var{nil, g.variable(float)}[g.IntN(2)], nil},
			Callee:  &ir.Callee{Func: g.f},
			Args: []ir.Expr{g.expr(vector, 1),
				&ir.Binary{Typed: ir.Typed{T: integer}, Op: token.SUB, X: g.f.Params[1].Load(), Y: number(integer, 7)},
				g.expr(float, 1), g.expr(g.point, 0),
				&ir.Addr{Typed: ir.Typed{T: types.NewPointer(g.point)}, P: g.place(g.point)}},
		}
		more := &ir.Binary{Typed: ir.Typed{T: boolean}, Op: token.GTR, X: g.f.Params[1].Load(), Y: number(integer, 5)}
		return one(&ir.If{Cond: more, Then: ir.Block{call}})
	case 12, 13, 14, 15:
		s := &ir.If{Cond: g.expr(boolean, 2), Then: g.block(depth + 1)}
		if g.IntN(2) == 0 {
			s.Else = g.block(depth + 1)
		}
		return one(s)
	case 16, 17:
		s := &ir.Scope{L: g.label("s")}
		g.labels = append(g.labels, s.L)
		s.Body = g.block(depth + 1)
		g.labels = g.labels[:len(g.labels)-1]
		return one(s)
	case 18:
		s := &ir.Loop{L: g.label("l"), Next: g.label("n"), V: &ir.Var{Name: g.names.Name("i"), Type: integer}, Step: 1,
			Lo: number(integer, int64(g.IntN(2))), Hi: number(integer, int64(g.IntN(4))), Checkpoint: g.mark()}
		if g.IntN(3) == 0 {
			s.Lo, s.Hi, s.Step = s.Hi, s.Lo, -1-int64(g.IntN(2))
		}
		g.index[s.V] = true
		g.scope = append(g.scope, s.V)
		s.Body = g.body(s, depth)
		g.scope = g.scope[:len(g.scope)-1]
		return one(s)
	}
	// A while loop with a counter of its own, which nothing else writes.
	s := &ir.Loop{L: g.label("l"), Next: g.label("n"), Checkpoint: g.mark()}
	c := &ir.Var{Name: g.names.Name("c"), Type: integer}
	g.index[c] = true
	body := g.body(s, depth)
	s.Body = append(ir.Block{
		&ir.Add{P: c.Place(), E: number(integer, 1)},
		&ir.If{Cond: &ir.Binary{Typed: ir.Typed{T: boolean}, Op: token.GTR, X: c.Load(), Y: number(integer, 3)},
			Then: ir.Block{&ir.Leave{L: s.L}}},
	}, body...)
	return []ir.Stmt{&ir.Let{V: c}, s}
}

func (g *generator) body(s *ir.Loop, depth int) ir.Block {
	g.labels = append(g.labels, s.L, s.Next)
	b := g.block(depth + 2)
	g.labels = g.labels[:len(g.labels)-2]
	return b
}

func reads(e ir.Expr, v *ir.Var) bool {
	found := false
	ir.WalkExpr(e, func(e ir.Expr) bool {
		if p := ir.PlaceOf(e); p != nil && p.Root == v {
			found = true
		}
		return true
	})
	return found
}

// variable is one of a type that may be written.
func (g *generator) variable(t types.Type) *ir.Var {
	var list []*ir.Var
	for _, v := range g.scope {
		if types.Identical(v.Type, t) && !g.index[v] && v != g.f.Params[1] {
			list = append(list, v)
		}
	}
	return list[g.IntN(len(list))]
}

func (g *generator) any(t types.Type) *ir.Var {
	for {
		if v := g.scope[g.IntN(len(g.scope))]; types.Identical(v.Type, t) {
			return v
		}
	}
}

func (g *generator) place(t types.Type) *ir.Place {
	p := g.variable2(t)
	if t == float {
		switch g.IntN(4) {
		case 0:
			index := number(integer, int64(g.IntN(3)))
			if g.IntN(8) == 0 {
				index = g.expr(integer, 1)
			}
			return &ir.Place{Root: g.f.Params[0], Path: []ir.Step{ir.IndexStep(index)}}
		case 1:
			return &ir.Place{Root: g.any(g.point), Path: []ir.Step{ir.FieldStep(g.IntN(2))}}
		case 2:
			return &ir.Place{Root: g.f.Params[4], Path: []ir.Step{ir.DerefStep(), ir.FieldStep(g.IntN(2))}}
		}
	}
	if t == g.point && g.IntN(2) == 0 {
		return &ir.Place{Root: g.f.Params[4], Path: []ir.Step{ir.DerefStep()}}
	}
	return p
}

func (g *generator) variable2(t types.Type) *ir.Place { return g.variable(t).Place() }

func number(t types.Type, n int64) ir.Expr {
	return &ir.Const{Typed: ir.Typed{T: t}, Val: constant.MakeInt64(n)}
}

// fresh may give new memory besides.
func (g *generator) fresh(t types.Type) ir.Expr {
	switch {
	case t == vector && g.IntN(2) == 0:
		return &ir.Make{Typed: ir.Typed{T: vector}, N: number(integer, 3), Cap: number(integer, 4)}
	case t == g.point && g.IntN(2) == 0:
		return &ir.Literal{Typed: ir.Typed{T: t}, Keys: []int{1, 0},
			Elems: []ir.Expr{g.expr(float, 1), g.expr(float, 1)}}
	}
	return g.expr(t, 2)
}

// expr makes an expression. It may panic, but seldom does.
func (g *generator) expr(t types.Type, depth int) ir.Expr {
	typed := ir.Typed{T: t}
	binary := func(of types.Type, ops ...token.Token) ir.Expr {
		return &ir.Binary{Typed: typed, Op: ops[g.IntN(len(ops))], X: g.expr(of, depth-1), Y: g.expr(of, depth-1)}
	}
	switch t {
	case float:
		if depth > 0 {
			switch g.IntN(8) {
			case 0, 1, 2:
				return binary(float, token.ADD, token.SUB, token.MUL, token.QUO)
			case 3:
				return &ir.Math{Typed: typed, Name: []string{"math.Sin", "math.Exp", "math.Abs"}[g.IntN(3)],
					Args: []ir.Expr{g.expr(float, depth-1)}}
			case 4:
				return &ir.Math{Typed: typed, Name: "min",
					Args: []ir.Expr{g.expr(float, depth-1), g.expr(float, depth-1)}}
			case 5:
				return &ir.Convert{Typed: typed, X: g.expr(integer, depth-1)}
			case 6:
				return &ir.Unary{Typed: typed, Op: token.SUB, X: g.expr(float, depth-1)}
			}
		}
		if g.IntN(3) == 0 {
			return &ir.Const{Typed: typed, Val: constant.MakeFloat64(float64(g.IntN(21)-10) / 4)}
		}
		p := g.place(float)
		return &ir.Load{Typed: typed, P: p}
	case integer:
		if depth > 0 {
			switch g.IntN(4) {
			case 0:
				return binary(integer, token.ADD, token.AND, token.XOR, token.SHR)
			case 1:
				return &ir.Len{Typed: typed, X: g.expr(vector, depth-1), Cap: g.IntN(5) == 0}
			}
		}
		if g.IntN(2) == 0 {
			return number(integer, int64(g.IntN(5)))
		}
		return g.any(integer).Load()
	case boolean:
		if depth > 0 {
			switch g.IntN(5) {
			case 0, 1:
				return binary(float, token.LSS, token.GEQ)
			case 2:
				return binary(integer, token.LEQ, token.EQL, token.NEQ)
			case 3:
				return binary(boolean, token.LAND, token.LOR)
			}
		}
		return &ir.Binary{Typed: typed, Op: token.LSS, X: g.f.Params[2].Load(), Y: g.expr(float, 0)}
	case vector:
		if depth > 0 && g.IntN(3) == 0 {
			return &ir.Slice{Typed: typed, X: g.expr(vector, depth-1), Lo: number(integer, int64(g.IntN(2)))}
		}
		return g.any(vector).Load()
	}
	return &ir.Load{Typed: typed, P: g.place(t)}
}

// result returns the outcome of a run of a random function as text.
func result(t *testing.T, f *ir.Func, seed uint64) string {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 2))
	x := make([]float64, 6, 9)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	in := ir.ValuesOf(x, r.IntN(9), r.NormFloat64(), Point{r.NormFloat64(), 1}, &Point{2, r.NormFloat64()})
	m := &ir.Machine{Steps: 20000, Depth: 10}
	out, err := m.Eval(f, in)
	var p *ir.PanicError
	var l *ir.LimitError
	switch {
	case errors.As(err, &p):
		return "panic " + p.Text + fmt.Sprint(ir.As[[]float64](in[0]))
	case errors.As(err, &l):
		return "limit"
	case err != nil:
		t.Fatalf("%v\n%s", err, f)
	}
	return fmt.Sprint(ir.As[float64](out[0]), ir.As[int](out[1]), ir.As[[]float64](in[0]), ir.As[*Point](in[4]))
}

func programs() uint64 {
	return uint64(longtest.Cases(0, 300, 300, 10000))
}

func TestRandom(t *testing.T) {
	finished, panicked, limited, joins, kept := 0, 0, 0, 0, 0
	for seed := range programs() {
		f := newGenerator(seed).function("geom.F")
		if err := ir.Check(f); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, f)
		}
		text := f.String()
		again, err := ir.Parse(text, geom)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		if err := ir.Check(again[0]); err != nil {
			t.Fatalf("seed %d, read again: %v\n%s", seed, err, text)
		}
		compare(t, again[0].String(), text)

		g, _ := ir.Clone(f, nil)
		compare(t, g.String(), text)
		before := work(f)
		normal := again[0]
		ir.Normalize(normal)
		if err := ir.Check(normal); err != nil {
			t.Fatalf("seed %d, normalised: %v\n%s\n%s", seed, err, text, normal)
		}
		if err := ir.CheckNormal(normal); err != nil {
			t.Fatalf("seed %d: %v\n%s\n%s", seed, err, text, normal)
		}
		once := normal.String()
		ir.Normalize(normal)
		compare(t, normal.String(), once)
		if n := work(normal); n > before {
			t.Fatalf("seed %d: %d statements from %d\n%s", seed, n, before, text)
		}
		ir.Walk(normal.Body, func(s ir.Stmt) bool {
			if s, ok := s.(*ir.Scope); ok {
				if len(s.L.Name) > 4 && s.L.Name[:4] == "join" || s.L.Name == "join" {
					joins++
				} else {
					kept++
				}
			}
			return true
		})
		for k := range uint64(3) {
			want := result(t, f, seed*3+k)
			if want == "limit" {
				limited++
				continue // the two may have made different numbers of steps
			}
			if want[0] == 'p' {
				panicked++
			} else {
				finished++
			}
			for _, h := range []*ir.Func{again[0], g, normal} {
				if got := result(t, h, seed*3+k); got != want {
					t.Fatalf("seed %d: got %s, want %s\n%s\n%s", seed, got, want, text, h)
				}
			}
		}
	}
	t.Logf("%d runs finished, %d panicked, %d were cut; %d joins, %d other scopes", finished, panicked, limited, joins,
		kept)
	if finished < 2*panicked || finished < limited {
		t.Error("most random functions should finish")
	}
	if joins == 0 || kept == 0 {
		t.Error("random functions have no scopes in normal form")
	}
}

// work counts the statements that do not just direct control.
func work(f *ir.Func) int {
	n := 0
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		switch s.(type) {
		case *ir.Scope, *ir.Leave:
		default:
			n++
		}
		return true
	})
	return n
}

func TestRandomIsTheSame(t *testing.T) {
	a, b := newGenerator(7).function("geom.F"), newGenerator(7).function("geom.F")
	if !reflect.DeepEqual(a.String(), b.String()) {
		t.Error("a seed gives two functions")
	}
}
