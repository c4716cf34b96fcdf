package ir_test

import (
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/ir"
)

func TestLimits(t *testing.T) {
	forever := parse(t, `func geom.F() exit {
	for l, n {
	}
}
func geom.G() exit2 {
	call geom.G()
}
func geom.H(n int) (x []float64) exit3 {
	x = make([]float64, n)
}
func geom.I(n uint8) (k int) exit4 {
	for l4, n4 i uint8 = 0; i < n; i += 100 {
		k += 1
	}
}
func geom.K() (r float64) exit5 {
	r = geom.Table[1]
}
func geom.L() (r float64) exit6 {
	r = call rule "some"()
}
func geom.N(x []float64) (p *[1]float64) exit8 {
	p = (*[1]float64)(x)
}
func geom.M(x [10000000000]float64) exit7 {
}
`)
	for i, in := range [][]ir.Value{{}, {}, ir.ValuesOf(1 << 30), ir.ValuesOf(uint8(250)), {}, {},
		ir.ValuesOf([]float64{1})} {
		var l *ir.LimitError
		if _, err := (&ir.Machine{Steps: 1e6}).Eval(forever[i], in); !errors.As(err, &l) {
			t.Errorf("%s: got %v", forever[i].Name, err)
		}
	}
	if _, err := ir.Eval(forever[0], ir.ValuesOf(1)); err == nil {
		t.Error("arguments are not counted")
	}
	if out, err := ir.Eval(forever[3], ir.ValuesOf(uint8(150))); err != nil || ir.As[int](out[0]) != 2 {
		t.Errorf("got %v, %v", out, err)
	}
	// An ill-formed function is an error, not a panic.
	f := parse(t, "func geom.F(x []float64) (r float64) exit {\n}\n")[0]
	f.Body = ir.Block{&ir.Set{P: f.Results[0].Place(), E: &ir.Unary{Typed: ir.Typed{T: vector}, X: f.Params[0].Load()}}}
	if _, err := ir.Eval(f, ir.ValuesOf([]float64{1})); err == nil ||
		!strings.Contains(err.Error(), "not well-formed") {
		t.Errorf("got %v", err)
	}
	f.Body = ir.Block{&ir.Call{Callee: &ir.Callee{Func: f}}}
	if _, err := ir.Eval(f, ir.ValuesOf([]float64{1})); err == nil {
		t.Error("a call without arguments is evaluated")
	}
}

// TestEvaluatorError distinguishes failures of the evaluator in well-formed functions from functions that are not
// well-formed: the former have the function and the position.
func TestEvaluatorError(t *testing.T) {
	f := parse(t, `func geom.F(x geom.Point, y []float64) (r float64) exit {
	call geom.G(x, y) //@ f.go:2:1
	r = call rule "short"(y) //@ f.go:3:1
}
func geom.G(x geom.Point, y []float64) exit2 {
	y[0] = x.X //@ f.go:7:2
}`)[0]
	m := &ir.Machine{Rules: map[string]func([]ir.Value) []ir.Value{
		"short": func([]ir.Value) []ir.Value { return nil },
	}}
	for _, test := range []struct {
		x        any
		function string
		line     int
	}{
		{1.0, "geom.G", 7},
		{Point{X: 1}, "geom.F", 3},
	} {
		_, err := m.Eval(f, ir.ValuesOf(test.x, []float64{0}))
		var e *ir.EvaluatorError
		var r runtime.Error
		if !errors.As(err, &e) || !errors.As(err, &r) || e.Func != test.function || e.Pos.Line != test.line {
			t.Errorf("%v: got %v", test.x, err)
		}
	}
	// The same failure in a function that is not well-formed is due to the function.
	f.Body[0].(*ir.Call).Callee.Func.Body = ir.Block{&ir.Set{P: f.Results[0].Place(), E: f.Params[0].Load()}}
	_, err := m.Eval(f, ir.ValuesOf(1.0, []float64{0}))
	var e *ir.EvaluatorError
	var c *ir.CheckError
	if errors.As(err, &e) || !errors.As(err, &c) || c.Func != "geom.G" {
		t.Errorf("got %v", err)
	}
}

func TestGlobals(t *testing.T) {
	f := parse(t, "func geom.F(i int) (r float64) exit {\nr = geom.Table[i] + geom.Origin.X\n}\n")[0]
	m := &ir.Machine{Globals: map[string]ir.Value{
		"geom.Table":  ir.ValueOf([4]float64{1, 2, 3, 4}),
		"geom.Origin": ir.ValueOf(&Point{X: 0.5}),
	}}
	out, err := m.Eval(f, ir.ValuesOf(2))
	if err != nil || ir.As[float64](out[0]) != 3.5 {
		t.Errorf("got %v, %v", out, err)
	}
}

// A PanicError has the function, the position and the value of the panic.
func TestPanicError(t *testing.T) {
	f := parse(t, `func geom.F(x []float64, i int) (r float64) exit {
	r = call geom.G(x, i)
}
func geom.G(x []float64, i int) (r float64) exit2 {
	let p geom.Point
	if i == 7 { //@ f.go:3:1
		panic(p) //@ f.go:4:2
	}
	r = x[i] / float64(1 / i) //@ f.go:5:2
}`)[0]
	for _, test := range []struct {
		i       int
		want    string
		line    int
		runtime bool
	}{
		{7, "panic: {0 0}", 4, false},
		{5, "panic: runtime error: index out of range [5] with length 3", 5, true},
		{-1, "panic: runtime error: index out of range [-1]", 5, true},
		{0, "panic: runtime error: integer divide by zero", 5, true},
	} {
		_, err := ir.Eval(f, ir.ValuesOf([]float64{1, 2, 3}, test.i))
		var p *ir.PanicError
		if !errors.As(err, &p) {
			t.Errorf("%d: got %v", test.i, err)
			continue
		}
		if p.Error() != test.want || p.Func != "geom.G" || p.Pos.Line != test.line || p.Runtime() != test.runtime {
			t.Errorf("%d: got %v in %s at %v, want %s", test.i, p, p.Func, p.Pos, test.want)
		}
	}
}

// Converted Go values alias as the originals do.
func TestValues(t *testing.T) {
	x := []float64{0, 1, 2, 3, 4, 5, 6, 7}
	loop := &Node{Val: 1}
	loop.Next = &Node{Val: 2, Next: loop}
	list := ir.ValuesOf(x[1:3:5], x[2:6], &x[3], loop, loop.Next,
		Box{lo: Point{1, 2}, hi: Point{3, 4}, tags: x[:1], name: "b"}, math.NaN(), []int{}, []int(nil), any(uint8(200)))
	f := parse(t, `func geom.F(a []float64, b []float64, p *float64, n *geom.Node, m *geom.Node, x geom.Box, f float64, e []int, z []int, u uint8) (ok bool) exit {
	a[1] = 20
	*p = 30
	a = append(a, 300)
	x.tags[0] = 50
	n.Next.Val = 9
	ok = b[0] == 20 && b[1] == 300 && *p == 300 && cap(a) == 4 && m.Val == 9 && m.Next == n && f != f && e != nil && z == nil && u == 200 && x.name == "b" && x.hi.Y == 4
}`)[0]
	out, err := ir.Eval(f, list)
	if err != nil || !ir.As[bool](out[0]) {
		t.Fatalf("got %v, %v", out, err)
	}
	if b := ir.As[[]float64](list[1]); len(b) != 4 || b[0] != 20 || b[1] != 300 || cap(b) != 6 {
		t.Errorf("got %v", b)
	}
	if x[2] != 2 {
		t.Error("the values of Go have changed")
	}
	if n := ir.As[*Node](list[3]); n.Next.Val != 9 || n.Next.Next != n {
		t.Error("a list has come apart")
	}
	// An interface that holds something other than a number becomes text, lists up to a depth.
	f = parse(t, "func geom.G(n *geom.Node) (v any) exit {\n\tv = n\n}")[0]
	if out, err = ir.Eval(f, ir.ValuesOf(loop)); err != nil || ir.As[any](out[0]) != "&{1 &{2 &{1 &{2 &…}}}}" {
		t.Errorf("got %v, %v", ir.As[any](out[0]), err)
	}
	b := ir.As[Box](list[5])
	if b.lo.Y != 2 || b.name != "b" || b.tags[0] != 50 {
		t.Errorf("got %v", b)
	}
	v := ir.ValueOf([]any{1, "a", 2.5, nil, uint8(7), true, float32(0.1)})
	back := ir.As[[]any](v)
	for i, want := range []any{1, "a", 2.5, nil, uint8(7), true, float32(0.1)} {
		if back[i] != want {
			t.Errorf("got %#v, want %#v", back[i], want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a map has a value")
		}
	}()
	ir.ValueOf(map[int]int{})
}
