package activity_test

import (
	"go/types"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/ir"
)

func parse(t *testing.T, text string) []*ir.Func {
	t.Helper()
	fs, err := ir.Parse(text, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fs {
		if err := ir.Check(f); err != nil {
			t.Fatal(err)
		}
	}
	return fs
}

// active lists the variables of f that carry derivatives.
func active(facts *activity.Facts) string {
	var names []string
	for _, v := range ir.Vars(facts.Func) {
		if facts.Active(v) {
			names = append(names, v.Name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

func TestActive(t *testing.T) {
	for _, tt := range []struct {
		name, text      string
		m               activity.Mask
		want            string
		params, results activity.Mask
	}{
		{"flow", `
func f(a float64, b float64, n int) (r float64, s float64) exit {
	let c float64 = a * 2
	let d float64 = b + float64(n)
	let k int = int(c)
	let e float64 = float64(k)
	r = c
	s = d * e
}`, activity.Bits(1), "a c r", activity.Bits(1), activity.Bits(1)},
		{"later", `
func f(a float64, n int) (r float64) exit {
	let p float64 = 1.0
	let q float64 = 2.0
	for loop, next i int = 0; i < n; i += 1 {
		r = q
		q = p
		p = a
	}
}`, activity.Bits(1), "a p q r", activity.Bits(1), activity.Bits(1)},
		{"memory", `
func f(x []float64, w []float64, v []float64) (r float64) exit {
	let y []float64 = w[1:]
	let z []float64 = make([]float64, 3)
	let u []float64 = make([]float64, 3)
	y[0] = x[0]
	copy(z, w)
	copy(u, v)
	r = u[0]
}`, activity.Bits(1), "w x y z", activity.Bits(3), activity.Bits(0)},
		{"pointers", `
func f(a float64) (r float64) exit {
	let b float64 = 1.0
	let c float64 = 1.0
	let p *float64 = &b
	*p = a
	r = b + c
}`, activity.Bits(1), "a b p r", activity.Bits(1), activity.Bits(1)},
		{"appended", `
func f(a float64, x []float64) (r []float64) exit {
	let y []float64 = make([]float64, 0)
	y = append(y, a)
	let z []float64 = make([]float64, 0)
	z = append(z, y...)
	r = append(x, 1.0)
}`, activity.Bits(1), "a y z", activity.Bits(1), activity.Bits(0)},
		{"cleared", `
func f(x []float64) exit {
	let n int = len(x)
	clear(x)
}`, activity.Bits(0), "", activity.Bits(0), activity.Bits(0)},
	} {
		f := parse(t, tt.text)[0]
		facts, err := activity.New().Analyze(f, tt.m)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got := active(facts); got != tt.want || facts.Params != tt.params || facts.Results != tt.results {
			t.Errorf("%s: active are %q, parameters %v and results %v, want %q, %v and %v",
				tt.name, got, facts.Params, facts.Results, tt.want, tt.params, tt.results)
		}
	}
}

// TestCalls: the effects of a callee on memory are known to its callers, and each kind of call has its own facts.
func TestCalls(t *testing.T) {
	fs := parse(t, `
func store(x []float64, a float64) exit {
	x[0] = a
}

func part(x []float64) (r []float64) exit {
	r = x[1:]
}

func even(a float64, n int) (r float64) exit {
	if n == 0 {
		r = a
		leave exit
	}
	r = call odd(a, n - 1)
}

func odd(a float64, n int) (r float64) exit {
	if n == 0 {
		r = 0.0
		leave exit
	}
	r = call even(a, n - 1)
}

func f(a float64, b float64, w []float64) (r float64, s float64) exit {
	let x []float64 = make([]float64, 3)
	let y []float64
	y = call part(w)
	call store(x, a)
	call store(y, b)
	let o float64
	o = call odd(a, 4)
	r = o
	s = w[1]
}
`)
	byName := map[string]*ir.Func{}
	for _, f := range fs {
		byName[f.Name] = f
	}
	for m, want := range map[activity.Mask]string{
		activity.Bits(0): "", activity.Bits(1): "a o r x", activity.Bits(2): "b s w y",
		activity.Bits(3): "a b o r s w x y", activity.Bits(4): "s w y",
	} {
		facts, err := activity.New().Analyze(byName["f"], m)
		if err != nil {
			t.Fatal(err)
		}
		if got := active(facts); got != want {
			t.Errorf("with parameters %v: %q, want %q", m, got, want)
		}
	}
}

// TestCallerActive: a function returns new memory in which the caller stores active numbers.
func TestCallerActive(t *testing.T) {
	fs := parse(t, `
func fresh(n int, w []float64) (s []float64, u []float64) exit {
	s = make([]float64, n)
	u = w
}
func f(a float64, w []float64) (r float64) exit {
	let s []float64
	let u []float64
	s, u = call fresh(3, w)
	s[0] = a
	r = s[1] + u[0]
}
`)
	f := fs[len(fs)-1]
	facts, err := activity.New().Analyze(f, activity.Bits(1))
	if err != nil {
		t.Fatal(err)
	}
	if got := active(facts); got != "a r s" {
		t.Errorf("active are %s", got)
	}
	for _, s := range f.Body {
		if c, ok := s.(*ir.Call); ok {
			if callee := facts.Callee(c); callee.Params != activity.Bits(0) || callee.Results != activity.Bits(1) ||
				callee.CallerActive != activity.Bits(1) {
				t.Errorf("%+v", callee)
			}
		}
	}
}

// TestMemoryOfCallee: memory allocated by a callee is active if the caller stores active numbers in it, and its views
// are one class.
func TestMemoryOfCallee(t *testing.T) {
	f := parse(t, `
func f(x float64) (r float64) exit {
	let a []float64
	let b []float64
	let n int
	let c float64
	a, b, c, n = call views(3)
	a[0] = x
	r = b[0] * c * float64(n)
	_, a, _, _ = call views(4)
	_, b, _, _ = call views(n)
}

func views(n int) (a []float64, b []float64, c float64, m int) exit {
	a = make([]float64, n)
	b = a[1:]
	c = 1.0
	m = n
}
`)[0]
	facts, err := activity.New().Analyze(f, activity.Bits(1))
	if err != nil {
		t.Fatal(err)
	}
	if got := active(facts); got != "a b r x" {
		t.Errorf("active are %q", got)
	}
	var calls int
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		if c, ok := s.(*ir.Call); ok {
			calls++
			if callee := facts.Callee(c); callee.Params != activity.Bits(0) || callee.Results != activity.Bits(3) {
				t.Errorf("call %d: parameters %v and results %v, want 0 and 11", calls, callee.Params, callee.Results)
			}
		}
		return true
	})
	if calls != 3 {
		t.Errorf("%d calls", calls)
	}
}

func TestTypes(t *testing.T) {
	f64, number := types.Typ[types.Float64], types.Typ[types.Int]
	slice, array, pointer := types.NewSlice, func(t types.Type) types.Type {
		return types.NewArray(t, 3)
	}, types.NewPointer
	field := func(t types.Type) *types.Var { return types.NewField(0, nil, "F", t, false) }
	node := types.NewNamed(types.NewTypeName(0, nil, "Node", nil), nil, nil)
	node.SetUnderlying(types.NewStruct([]*types.Var{field(number),
		types.NewField(0, nil, "Next", pointer(node), false)}, nil))
	for _, tt := range []struct {
		t            types.Type
		floats, refs bool
	}{
		{f64, true, false}, {number, false, false}, {types.Typ[types.Float32], true, false},
		{types.Typ[types.Complex128], true, false},
		{slice(f64), true, true}, {slice(number), false, true}, {array(f64), true, false},
		{array(slice(number)), false, true},
		{types.NewStruct([]*types.Var{field(array(f64))}, nil), true, false}, {node, false, true},
		{types.NewMap(number, f64), false, true}, {types.NewInterfaceType(nil, nil), false, true},
	} {
		if activity.HasFloats(tt.t) != tt.floats || ir.HasRefs(tt.t) != tt.refs {
			t.Errorf("%v: floats %v, references %v", tt.t, activity.HasFloats(tt.t), ir.HasRefs(tt.t))
		}
	}
}
