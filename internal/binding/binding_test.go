package binding_test

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/binding"
	"github.com/nabla-ad/nabla/internal/core"
)

var types = binding.Types{
	Real: reflect.TypeFor[core.Rep](), Vec: reflect.TypeFor[binding.Vec](), Scratch: reflect.TypeFor[binding.Scratch](),
}

type stage struct {
	Gain core.Rep
	On   bool
}

type model struct {
	W      binding.Vec
	B      core.Rep
	Tmp    binding.Scratch
	Degree int
	Name   string
	Stages [2]stage
	Grid   [3]float64
	Table  map[string]int `nabla:"fixed"`
}

func newModel() *model {
	return &model{
		W: binding.Vec{Data: []float64{1, 2}}, B: core.Rep{V: 3}, Tmp: binding.Scratch{Buf: make([]core.Rep, 2)},
		Degree: 4, Name: "m", Stages: [2]stage{{core.Rep{V: 5}, true}, {core.Rep{V: 6}, false}},
		Table: map[string]int{"a": 1},
	}
}

func bind(t *testing.T, m *model) *binding.Binding {
	t.Helper()
	fields, err := binding.FieldsOf(reflect.TypeFor[model](), types)
	if err != nil {
		t.Fatal(err)
	}
	return binding.New(fields, m)
}

func TestFieldsOf(t *testing.T) {
	for field, s := range map[string]any{
		"S":         struct{ S []float64 }{},
		"P":         struct{ P *int }{},
		"F":         struct{ F func() }{},
		"In.I":      struct{ In struct{ I any } }{},
		"A[0].M":    struct{ A [2]struct{ M map[int]int } }{},
		"V[0][0]":   struct{ V [1][1]chan int }{},
		"unexp.ptr": struct{ unexp struct{ ptr *int } }{},
	} {
		var ce *engine.ContextError
		if _, err := binding.FieldsOf(reflect.TypeOf(s), types); !errors.As(err, &ce) || ce.Field != field ||
			ce.Changed || ce.Uncopied {
			t.Errorf("%s: %v", field, err)
		}
	}
	var fe *engine.FuncError
	if _, err := binding.FieldsOf(reflect.TypeFor[struct {
		X float64 `nabla:"fix"`
	}](), types); !errors.As(err, &fe) {
		t.Errorf("an unknown tag: %v", err)
	}
	if _, err := binding.FieldsOf(reflect.TypeFor[struct {
		_ []float64
		E struct{}
		N [0]func()
		T any `nabla:"fixed"`
	}](), types); err != nil {
		t.Error(err)
	}
}

// TestParams reads the parameters in the order of the struct, as they are at the time of the call.
func TestParams(t *testing.T) {
	m := newModel()
	b := bind(t, m)
	m.W.Data, m.B.V = []float64{7, 8, 9}, 10
	got := make([]float64, b.Params())
	b.Read(got)
	if want := []float64{7, 8, 9, 10, 5, 6}; !slices.Equal(got, want) {
		t.Errorf("parameters %v, want %v", got, want)
	}
}

// TestLeave writes to each kind of field of the copy: workspace may be written, and is zero again at the next call.
func TestLeave(t *testing.T) {
	m := newModel()
	b := bind(t, m)
	for field, write := range map[string]func(*model){
		"": func(c *model) { c.Tmp.Buf[1].V = 1 }, "W": func(c *model) { c.W.Data = []float64{1, 2} },
		"B": func(c *model) { c.B.V++ }, "Tmp": func(c *model) { c.Tmp.Buf = c.Tmp.Buf[:1] },
		"Degree": func(c *model) { c.Degree++ }, "Name": func(c *model) { c.Name += "x" },
		"Stages[1].On":   func(c *model) { c.Stages[1].On = true },
		"Stages[0].Gain": func(c *model) { c.Stages[0].Gain.V = 0 },
		"Grid":           func(c *model) { c.Grid[2] = 1 }, "Table": func(c *model) { c.Table = nil },
	} {
		if err := b.Enter(nil, 0); err != nil {
			t.Fatal(err)
		}
		c := b.Arg().(*model)
		if c == m || c.Degree != 4 || c.Tmp.Buf[1].V != 0 || &c.Tmp.Buf[0] == &m.Tmp.Buf[0] {
			t.Fatalf("the function gets %+v", c)
		}
		write(c)
		err := b.Leave()
		var ce *engine.ContextError
		if field == "" && err != nil || field != "" && (!errors.As(err, &ce) || !ce.Changed || ce.Field != field) {
			t.Errorf("after a write to %q: %v", field, err)
		}
	}
	if want := newModel(); !reflect.DeepEqual(m, want) {
		t.Errorf("the bound struct is %+v, want %+v", m, want)
	}
}

// TestSnapshot changes each field: a recording is invalid after a change of structure, not of parameters.
func TestSnapshot(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*model)
		same   bool
	}{
		"a parameter":   {func(m *model) { m.B.V = 1; m.W.Data[0] = 9; m.Stages[0].Gain.V = 2 }, true},
		"workspace":     {func(m *model) { m.Tmp.Buf[0].V = 1 }, true},
		"fixed":         {func(m *model) { m.Table["b"] = 2 }, true},
		"a length":      {func(m *model) { m.W.Data = m.W.Data[:1] }, false},
		"of workspace":  {func(m *model) { m.Tmp.Buf = m.Tmp.Buf[:1] }, false},
		"a number":      {func(m *model) { m.Degree++ }, false},
		"text":          {func(m *model) { m.Name = "n" }, false},
		"in an array":   {func(m *model) { m.Stages[1].On = true }, false},
		"of an element": {func(m *model) { m.Grid[1] = 1 }, false},
	} {
		m := newModel()
		b := bind(t, m)
		before := string(b.Snapshot(nil))
		c.change(m)
		if same := string(b.Snapshot(nil)) == before; same != c.same {
			t.Errorf("%s: the snapshots are equal: %v, want %v", name, same, c.same)
		}
	}
}

// TestPlain has clones of a plain function's struct: each gets memory of its own, but for fields that are only read.
func TestPlain(t *testing.T) {
	type plain struct{ Read, Write []float64 }
	p := &plain{[]float64{1}, []float64{2}}
	b := binding.New(nil, p)
	if b.Params() != 0 || b.Arg() != any(p) {
		t.Errorf("%d parameters, the function gets %p instead of %p", b.Params(), b.Arg(), p)
	}
	b.SetReadOnly([]string{"Read"})
	clone, err := b.Clone()
	if err != nil {
		t.Fatal(err)
	}
	c := clone.Arg().(*plain)
	if &c.Read[0] != &p.Read[0] || &c.Write[0] == &p.Write[0] {
		t.Error("a clone shares memory that may be written, or copies memory that is only read")
	}
	p.Write[0] = 5
	if err := clone.Refresh(); err != nil || c.Write[0] != 5 {
		t.Errorf("%v, the clone has %v", err, c.Write)
	}
	q := &plain{[]float64{6}, []float64{7}}
	if err := clone.Rebind(q); err != nil || clone.Arg().(*plain).Write[0] != 7 ||
		&clone.Arg().(*plain).Read[0] != &q.Read[0] {
		t.Errorf("after Rebind: %v, %+v", err, clone.Arg())
	}
	var fe *engine.FuncError
	for _, wrong := range []any{(*plain)(nil), &struct{}{}, 3} {
		if err := clone.Rebind(wrong); !errors.As(err, &fe) {
			t.Errorf("Rebind to %#v: %v", wrong, err)
		}
	}
	b.SetReadOnly([]string{"Write", "Read"})
	if shared, err := b.Clone(); err != nil || shared.Arg() != any(p) {
		t.Errorf("a struct that is only read has a copy, or %v", err)
	}
}
