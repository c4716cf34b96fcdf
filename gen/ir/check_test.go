package ir_test

import (
	"go/constant"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/ir"
)

const head = "func geom.F(x []float64, n int, p geom.Point, q *geom.Point, s string, ok bool) (r float64) exit {\n"

// Each body breaks one rule.
var broken = []struct{ body, want string }{
	{"scope a {\nlet v int\nleave a\n}\nn = v", "n = v: v is not in scope"},
	{"for a, b i int = 0; i < n; i += 1 {\n}\nn = i", "n = i: i is not in scope"},
	{"for a, b i int = 0; i < n; i += 1 {\ni = 2\n}", "i = 2: i is the index of a loop and not assigned to"},
	{"for a, b i int = 0; i < n; i += 1 {\ni += 2\n}", "i is the index of a loop"},
	{"for a, b i int = 0; i < n; i += 1 {\ni = copy(x, x)\n}", "i is the index of a loop"},
	{"for a, b i int = 0; i < n; i += 1 {\nlet v *int = &i\n}", "the address of i, the index of a loop"},
	{"for a, b i float64 = 0; i < r; i += 1 {\n}", "the index of a loop is a local integer"},
	{"let v int = ok", "let v int = ok: ok of type bool is assigned to a int"},
	{"let float64 int", `"float64" cannot be a name`},
	{"let zero int", `"zero" cannot be a name`},
	{"scope x {\n}", "the name x is not unique"},
	{"x[0] = n", "x[0] = n: n of type int is assigned to a float64"},
	{"r = x[r]", "r is no integer"},
	{"x[ok] = 1", "ok is no integer"},
	{"r += r * 2", "r += r * 2: the added value reads the place that it is added to"},
	{"x[0] += x[n]", "the added value reads the place that it is added to"},
	{"p.X += p.X", "the added value reads the place that it is added to"},
	{"s += \"a\"", "+= is of numbers"},
	{"r += n", "n is no float64"},
	{"s[0] = 1", "an element of a string is not assigned to"},
	{"geom.Table[0] = 1", "geom.Table is of a package and not assigned to"},
	{"leave exit\nr = 1", "leave exit: a leave must be the last statement of its block"},
	{"panic(s)\nr = 1", "a leave must be the last statement of its block"},
	{"if n {\n}", "if n {: n is no condition"},
	{"if ok + ok {\n}", "no operator + between a bool and a bool"},
	{"ok = x == x", "no operator == between"},
	{"ok = p < p", "no operator < between"},
	{"ok = r < n", "a float64 is compared with a int"},
	{"ok = n && ok", "n && ok: n has type int and not bool"},
	{"r = r + n", "n has type int and not float64"},
	{"r = r % r", "no operator %"},
	{"r = r << 1", "no operator <<"},
	{"r = !r", "no operator ! of a float64"},
	{"r = ^r", "no operator ^ of a float64"},
	{"ok = -ok", "no operator - of a bool"},
	{"r = math.Sin(n)", "n has type int and not float64"},
	{"r = min(r, n)", "n has type int and not float64"},
	{"ok = min(ok, ok)", "min is of ordered values"},
	{"n = int(p)", "a geom.Point is not converted to a int"},
	{"n = len(r)", "r has no length or capacity"},
	{"n = cap(s)", "s has no length or capacity"},
	{"s = s[0:1:2]", "a string has no capacity"},
	{"r = r[0:1]", "r is neither a slice nor a string"},
	{"let v *byte = &s[0]", "the address of an element of a string"},
	{"let v []float64 = make([]float64, r)", "r is no integer"},
	{"let v *float64 = make(*float64, 1)", "make is of a slice"},
	{"let v int = len(make([]int, 1))", "make([]int, 1) allocates memory and may only be the right-hand side"},
	{"panic(new(int))", "allocates memory"},
	{"let v []int = append(geom.Point{X: 1}, 1)", ""},
	{"let v geom.Point = geom.Point{X: n}", "n of type int is assigned to a float64"},
	{"let v geom.Point = geom.Point{X: 1, X: 2}", "key 0 of a literal is out of range or twice"},
	{"let v [2]int = [2]int{2: 1}", "key 2 of a literal is out of range"},
	{"r = call geom.F(x, n, p, q, s)", "a call with 5 arguments of a function of 6"},
	{"r = call geom.F(x, r, p, q, s, ok)", "r of type float64 is assigned to a int"},
	{"n = call geom.F(x, n, p, q, s, ok)", "a result of type float64 for n of type int"},
	{"r, r = call geom.F(x, n, p, q, s, ok)", "two results go to r"},
	{"r, _ = call geom.F(x, n, p, q, s, ok)", "2 variables for 1 results"},
	{"x = append(x, n)", "n of type int is assigned to a float64"},
	{"x = append(s, 1)", ""},
	{"n = append(x, 1)", ""},
	{"x = append(x, s...)", "a string is appended to a []float64"},
	{"copy(x, s)", "copy is between slices of one type"},
	{"r = copy(x, x)", "the number of copied elements is an int"},
	{"clear(p)", "clear is of a slice"},
	{"batch math.Exp(x, s)", "a batch is of slices of float64"},
	{"batch math.Exp(x, x, x)", "no elementary function math.Exp of 2 numbers"},
	{"batch math.Jn(x, x, x)", "math.Jn is not of float64"},
	{"batch geom.F(x, x)", "no elementary function geom.F of 1 numbers"},
	{"n = opaque[int](\"a\")", "an opaque expression is no number"},
	{"let v complex128\nlet w complex64\nlet u complex128 = v * w", "w has type complex64 and not complex128"},
	{"let v complex128\nok = v < v", "no operator < between a complex128 and a complex128"},
	{"let v complex128\nv = v % v", "no operator % between a complex128 and a complex128"},
	{"let v complex64\nr = real(v)", "of type float32 is assigned to a float64"},
	{"let v complex128 = complex(r, n)", "n has type int"},
	{"let v complex128 = complex128(r)", "a float64 is not converted to a complex128"},
	{"let v complex128 = cmplx.Sin(r)", "r has type float64"},
	{"let geom int\nr = geom.Table[n]", ""},
}

func TestCheckBroken(t *testing.T) {
	for _, b := range broken {
		funcs, err := ir.Parse(head+b.body+"\n}\n", geom)
		if err != nil {
			if b.want != "" {
				t.Errorf("%s: is not read: %v", b.body, err)
			}
			continue // found by Parse already
		}
		err = ir.Check(funcs[0])
		if err == nil || !strings.Contains(err.Error(), b.want) || !strings.HasPrefix(err.Error(), "ir: geom.F: ") {
			t.Errorf("%s:\ngot  %v\nwant %s", b.body, err, b.want)
		}
	}
}

// Functions that cannot be written in the text form.
func TestCheckBuilt(t *testing.T) {
	tests := []struct {
		want  string
		spoil func(f *ir.Func)
	}{
		{"no exit label", func(f *ir.Func) { f.Exit = nil }},
		{"x is declared twice", func(f *ir.Func) { f.Params = append(f.Params, f.Params[0]) }},
		{"x has the wrong kind", func(f *ir.Func) { f.Params[0].Kind = ir.Result }},
		{"the name n is not unique", func(f *ir.Func) { f.Params[0].Name = "n" }},
		{`"if" cannot be a name`, func(f *ir.Func) { f.Params[0].Name = "if" }},
		{"the type untyped int is untyped", func(f *ir.Func) { f.Params[0].Type = types.Typ[types.UntypedInt] }},
		{"something has no type", func(f *ir.Func) { f.Params[0].Type = nil }},
		{"no variable", func(f *ir.Func) { f.Params[0] = nil }},
		{"is no slice", func(f *ir.Func) { f.Variadic = true }},
		{"a receiver without parameters", func(f *ir.Func) { f.Params, f.Recv = nil, true }},
		{"w is not declared", func(f *ir.Func) {
			add(f, &ir.Set{P: (&ir.Var{Name: "w", Type: integer}).Place(), E: number(integer, 1)})
		}},
		{"r has type int and not float64", func(f *ir.Func) {
			add(f, &ir.Set{P: f.Params[1].Place(), E: &ir.Load{Typed: ir.Typed{T: integer}, P: f.Results[0].Place()}})
		}},
		{"a geom.Point has no field 7", func(f *ir.Func) { bad(f, 2, ir.FieldStep(7)) }},
		{"a int has no elements", func(f *ir.Func) { bad(f, 1, ir.IndexStep(number(integer, 0))) }},
		{"a geom.Point points to nothing", func(f *ir.Func) { bad(f, 2, ir.DerefStep()) }},
		{"a *geom.Point has no field 0", func(f *ir.Func) { bad(f, 3, ir.FieldStep(0)) }},
		{"elsewhere is no label around", func(f *ir.Func) { add(f, &ir.Leave{L: &ir.Label{Name: "elsewhere"}}) }},
		{"the constant 300 is no uint8", func(f *ir.Func) {
			add(f, &ir.Panic{E: number(types.Typ[types.Uint8], 300)})
		}},
		{"is no float32", func(f *ir.Func) {
			add(f, &ir.Panic{E: &ir.Const{Typed: ir.Typed{T: types.Typ[types.Float32]},
				Val: constant.MakeFloat64(1e300)}})
		}},
		{"a loop has a step other than 0", func(f *ir.Func) {
			add(f, &ir.Loop{L: &ir.Label{Name: "l"}, Next: &ir.Label{Name: "m"}, V: &ir.Var{Name: "i", Type: integer},
				Lo: number(integer, 0), Hi: number(integer, 1)})
		}},
		{"a loop without an index has bounds", func(f *ir.Func) {
			add(f, &ir.Loop{L: &ir.Label{Name: "l"}, Next: &ir.Label{Name: "m"}, Step: 1})
		}},
		{"label l is of two statements", func(f *ir.Func) {
			l := &ir.Label{Name: "l"}
			add(f, &ir.Scope{L: l}, &ir.Scope{L: l})
		}},
		{"no label", func(f *ir.Func) { add(f, &ir.Scope{}) }},
		{"a call is of a function or of a rule", func(f *ir.Func) { add(f, &ir.Call{}) }},
		{"no statement", func(f *ir.Func) { add(f, nil) }},
		{"no expression", func(f *ir.Func) { add(f, &ir.Panic{}) }},
		{"no expression", func(f *ir.Func) { add(f, &ir.Set{P: f.Params[1].Place()}) }},
		{"no elementary function math.Sine", func(f *ir.Func) {
			add(f, &ir.Set{P: f.Results[0].Place(), E: &ir.Math{Typed: ir.Typed{T: float}, Name: "math.Sine"}})
		}},
		{"a literal of length 5 whose last key is 0", func(f *ir.Func) {
			add(f, &ir.Set{P: f.Params[0].Place(),
				E: &ir.Literal{Typed: ir.Typed{T: vector}, Keys: []int{0}, Elems: []ir.Expr{f.Results[0].Load()},
					Len: 5}})
		}},
		{"a comparison is a bool", func(f *ir.Func) {
			x := f.Params[1].Load()
			add(f, &ir.Panic{E: &ir.Binary{Typed: ir.Typed{T: integer}, Op: token.LSS, X: x, Y: x}})
		}},
		{"n is no array", func(f *ir.Func) {
			add(f, &ir.Panic{E: &ir.SliceAt{Typed: ir.Typed{T: vector}, P: f.Params[1].Place()}})
		}},
		{"the address of a int is a *geom.Point", func(f *ir.Func) {
			add(f, &ir.Panic{E: &ir.Addr{Typed: ir.Typed{T: f.Params[3].Type}, P: f.Params[1].Place()}})
		}},
		{"has the name of the package of another", func(f *ir.Func) {
			v := &ir.Var{Name: "geom", Type: integer}
			g := &ir.Var{Name: "geom.Depth", Type: integer, Kind: ir.Global}
			add(f, &ir.Let{V: v}, &ir.Set{P: v.Place(), E: g.Load()})
		}},
		{"v is no local variable", func(f *ir.Func) {
			add(f, &ir.Let{V: &ir.Var{Name: "v", Type: integer, Kind: ir.Param}})
		}},
	}
	for _, test := range tests {
		f := parse(t, head+"}\n")[0]
		test.spoil(f)
		err := ir.Check(f)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got %v, want %s", err, test.want)
		}
		_ = f.String() // does not panic
	}
	if ir.Check(nil) == nil {
		t.Error("no function is well-formed")
	}
}

func add(f *ir.Func, list ...ir.Stmt) { f.Body = append(f.Body, list...) }

// bad panics with a place of a parameter.
func bad(f *ir.Func, i int, s ir.Step) {
	add(f, &ir.Panic{E: &ir.Load{Typed: ir.Typed{T: integer}, P: &ir.Place{Root: f.Params[i], Path: []ir.Step{s}}}})
}

// Additions that read memory near their target, but not the target.
func TestAddMayRead(t *testing.T) {
	parse(t, head+`p.X += p.Y
	x[0] += float64(len(x)) + x[1]
	q.X += float64(cap(x[n:])) + p.X
	let b [3]float64
	b[0] += b[1]
	n += len(x)
}
`)
}
