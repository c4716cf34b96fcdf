package layout_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/internal/layout"
)

// plainLayout returns the layout of s for functions over float64.
func plainLayout[S any](t *testing.T, s *S) *layout.Layout {
	t.Helper()
	src := source[S](s)
	src.Plain = true
	l, err := layout.New(src)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// flattened returns the numbers of s.
func flattened[S any](l *layout.Layout, s *S) []float64 {
	x := make([]float64, l.Len())
	l.Flatten("Flatten", x, reflect.ValueOf(s).Elem())
	return x
}

// TestView: the slices of a view are parts of the vector, its other numbers are copied, and its structure is that of
// the struct before each call.
func TestView(t *testing.T) {
	s := newWhole()
	l := plainLayout(t, s)
	v := l.View()
	r := v.Ptr().(*whole[float64])
	for _, first := range []float64{1, 101} {
		x := count(l.Len())
		for i := range x {
			x[i] += first - 1
		}
		v.Bind(x)
		if got := flattened(l, r); !slices.Equal(got, x) {
			t.Errorf("numbers %v, want %v", got, x)
		}
		if r.Self != r || r.Name != "w" || r.Parts[0].size != 9 || r.Index["a"] != 1 {
			t.Errorf("structure: %+v", r)
		}
		r.Parts[0].W[1], r.Parts[0].gain, r.Tied.W[0] = -1, -2, -3
		if x[1] != -1 || x[2] == -2 || x[6] != -3 {
			t.Errorf("after writes to the struct: %v", x)
		}
		if c := cap(r.Parts[0].W); c != 2 {
			t.Errorf("capacity %d, want 2", c)
		}
		v.Store(x)
		if x[2] != -2 {
			t.Errorf("after Store: %v", x)
		}
		r.Parts[0].W, r.Parts[0].size, r.Self, r.Name = nil, 0, nil, ""
		r.Parts = nil
	}
	x := count(l.Len())
	if n := testing.AllocsPerRun(10, func() { v.Bind(x); v.Store(x) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestShadow: a shadow has the lengths and pointers of the struct, and none of the rest of its structure.
func TestShadow(t *testing.T) {
	type held struct {
		W    [][]float64
		B    *float64
		C    complex128
		F    float32
		Any  any
		Tied []float64
		Same []float64
		None []float64
		N    int
	}
	w := []float64{1, 2}
	s := &held{W: [][]float64{{1}, {2, 3}}, B: new(float64), F: 1, Any: w, Tied: w, Same: w, None: []float64{}, N: 3}
	l := plainLayout(t, s)
	v := layout.Shadow[float64](l)
	r := v.Ptr().(*held)
	x := count(l.Len())
	v.Bind(x)
	if got := flattened(l, r); !slices.Equal(got, x) || len(x) != 8 {
		t.Errorf("numbers %v, want %v", got, x)
	}
	if r.F != 0 || r.Any != nil || r.N != 0 || r.None == nil || &r.Tied[0] != &r.Same[0] {
		t.Errorf("structure: %+v", r)
	}
	r.Same[1] = -1
	*r.B = -2
	v.Store(x)
	if x[7] != -1 || x[3] != -2 {
		t.Errorf("after writes: %v", x)
	}
}

// TestOver: a struct of another type gets the numbers of the same layout, and one that does not match is refused.
func TestOver(t *testing.T) {
	s := newWhole()
	l := plainLayout(t, s)
	o, err := l.Over("Op", "f", reflect.TypeFor[whole[num]](), reflect.TypeFor[num]())
	if err != nil {
		t.Fatal(err)
	}
	r := new(whole[num])
	in := o.Instance(reflect.ValueOf(r).Elem())
	x := make([]num, l.Len())
	for i := range x {
		x[i].v = float64(i)
	}
	layout.Load(in, x)
	if r.Parts[0].W[1].v != 1 || r.Parts[0].gain.v != 2 || r.Tied.gain.v != 7 || r.Self != r || r.Name != "w" {
		t.Errorf("%+v", r)
	}
	type part struct {
		Parts []int
	}
	for _, c := range []struct {
		param reflect.Type
		want  string
	}{
		{reflect.TypeFor[part](), "does not match"},
		{reflect.TypeFor[whole[float64]](), "0 of them"},
	} {
		_, err := l.Over("Op", "f", c.param, reflect.TypeFor[num]())
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.param, err, c.want)
		}
	}
}

// TestInLanes: a struct of derivatives in several directions may lack fields without numbers; its slices are parts of
// the vectors of directions, and its other numbers are copied. One that lacks numbers is refused.
func TestInLanes(t *testing.T) {
	type lanes [2]float64
	type layer struct {
		Name string
		W    []float64
		_    int
		Pair [2]float64
	}
	type net struct {
		Size   int
		Layers []layer
		Index  map[string]int
		Next   *net
		B      float64
	}
	type layerLanes struct {
		W    []lanes
		Pair [2]lanes
	}
	type netLanes struct {
		Layers []layerLanes
		Next   *netLanes
		B      lanes
	}
	s := &net{3, []layer{{W: []float64{1, 2}, Pair: [2]float64{3, 4}}}, nil, &net{B: 5}, 6}
	l := plainLayout(t, s)
	o, err := l.InLanes("Op", "f", reflect.TypeFor[netLanes](), reflect.TypeFor[lanes]())
	if err != nil {
		t.Fatal(err)
	}
	v := layout.Shadow[lanes](o)
	x := make([]lanes, l.Len())
	for i := range x {
		x[i] = lanes{float64(i), float64(-i)}
	}
	v.Bind(x)
	r := v.Ptr().(*netLanes)
	if len(x) != 6 || &r.Layers[0].W[1] != &x[1] || r.Layers[0].Pair != [2]lanes{x[2], x[3]} || r.Next.B != x[4] ||
		r.B != x[5] || len(r.Next.Layers) != 0 {
		t.Errorf("%+v", r)
	}
	r.B = lanes{7, 8}
	if v.Store(x); x[5] != r.B {
		t.Errorf("after a write: %v", x)
	}
	if n := testing.AllocsPerRun(10, func() { v.Bind(x); v.Store(x) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	type short struct{ B lanes }
	if _, err := l.InLanes("Op", "f", reflect.TypeFor[short](), reflect.TypeFor[lanes]()); err == nil {
		t.Error("a struct without some of the numbers is taken")
	}
}
