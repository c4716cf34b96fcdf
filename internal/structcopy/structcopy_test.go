package structcopy_test

import (
	"errors"
	"reflect"
	"testing"
	"unsafe"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/structcopy"
)

type node struct {
	W    [2]float64
	Next *node
}

type model struct {
	K      float64
	Buf    []float64
	View   []float64 // overlaps Buf
	Data   []float64
	Rows   [][]float64
	Ring   *node
	Inside *float64 // into Ring
	Any    any
	Map    map[string]float64
	Self   *model
	Fixed  []float64 `nabla:"fixed"`
	Text   string
}

func newModel() *model {
	m := &model{
		K: 2, Buf: make([]float64, 6, 9), Data: []float64{1, 2, 3}, Ring: &node{Next: &node{}},
		Map: map[string]float64{"a": 1}, Any: new(float64), Fixed: []float64{7}, Text: "text",
	}
	m.View = m.Buf[2:5]
	m.Rows = [][]float64{m.Buf[:2], m.Data}
	m.Ring.Next.Next = m.Ring
	m.Inside = &m.Ring.Next.W[1]
	m.Self = m
	return m
}

func update(t *testing.T, c *structcopy.Copy, m *model) *model {
	t.Helper()
	p, err := c.Update(unsafe.Pointer(m), reflect.TypeFor[model]())
	if err != nil {
		t.Fatal(err)
	}
	return (*model)(p)
}

// TestUpdate writes to every part of a copy: the original does not change, other parts of the copy that overlap it do.
func TestUpdate(t *testing.T) {
	m := newModel()
	var copies structcopy.Copy
	c := update(t, &copies, m)
	if !reflect.DeepEqual(c, m) {
		t.Fatalf("the copy is %+v, want %+v", c, m)
	}
	c.K, c.Buf[3], c.Data[1], c.Ring.Next.W[1], c.Map["b"], *c.Any.(*float64) = 5, 6, 7, 8, 9, 10
	if want := newModel(); !reflect.DeepEqual(m, want) {
		t.Errorf("writes to the copy changed the original to %+v, want %+v", m, want)
	}
	if c.View[1] != 6 || c.Rows[1][1] != 7 || *c.Inside != 8 || c.Ring.Next.Next != c.Ring || c.Self != c ||
		cap(c.Buf) != 9 {
		t.Errorf("parts of the copy do not overlap as those of the original: %+v", c)
	}
	if &c.Fixed[0] != &m.Fixed[0] {
		t.Error("a field with the tag fixed has a copy")
	}
	m.Buf[5], m.Data = 11, []float64{4, 5, 6, 7}
	if c = update(t, &copies, m); !reflect.DeepEqual(c, m) || &c.Data[0] == &m.Data[0] {
		t.Errorf("after a change the copy is %+v, want %+v", c, m)
	}
}

// TestReadOnly shares memory that is only read, unless it overlaps or refers to memory that may be written.
func TestReadOnly(t *testing.T) {
	m := newModel()
	copies := structcopy.Copy{ReadOnly: []string{"Data", "View", "Rows", "Map"}}
	m.Self = nil
	c := update(t, &copies, m)
	if &c.Data[0] != &m.Data[0] || &c.Rows[1][0] != &m.Data[0] {
		t.Error("memory that is only read has a copy")
	}
	if &c.View[0] != &c.Buf[2] || &c.Rows[0][0] != &c.Buf[0] || &c.Buf[0] == &m.Buf[0] {
		t.Error("read-only fields do not refer to the copy of memory that may be written")
	}
	if c.Map["b"] = 1; m.Map["b"] != 1 {
		t.Error("a map that is only read has a copy")
	}
	m.Rows[1] = m.Data[1:] // shared memory now refers to other shared memory
	if c = update(t, &copies, m); &c.Rows[1][0] != &m.Data[1] {
		t.Error("a reference to shared memory is not brought up to date")
	}
	m.Self = m // now all memory may be written
	if c = update(t, &copies, m); &c.Data[0] == &m.Data[0] || c.Self != c {
		t.Error("memory reachable through a field that may be written is shared")
	}
}

// TestRetarget has shared memory refer to copied memory instead of other shared memory, while the extents stay the
// same.
func TestRetarget(t *testing.T) {
	type holder struct{ Pick *node }
	type s struct {
		Ring, Other *node
		Hold        *holder
	}
	v := &s{Ring: new(node), Other: new(node), Hold: new(holder)}
	copies := structcopy.Copy{ReadOnly: []string{"Other", "Hold"}}
	for i, to := range []*node{v.Other, v.Ring, v.Other, v.Ring} {
		v.Hold.Pick = to
		p, err := copies.Update(unsafe.Pointer(v), reflect.TypeFor[s]())
		if err != nil {
			t.Fatal(err)
		}
		c := (*s)(p)
		if c.Ring == v.Ring || c.Other != v.Other || to == v.Ring && c.Hold.Pick != c.Ring ||
			to == v.Other && c.Hold.Pick != v.Other {
			t.Errorf("update %d: %+v and %+v, the originals %+v and %+v", i, c, c.Hold, v, v.Hold)
		}
	}
}

func TestOnlyReads(t *testing.T) {
	type s struct {
		A, B float64
		C    []float64 `nabla:"fixed"`
		_    int
	}
	for _, c := range []struct {
		names []string
		want  bool
	}{{nil, false}, {[]string{"A"}, false}, {[]string{"B", "A"}, true}} {
		if got := structcopy.OnlyReads(reflect.TypeFor[s](), c.names); got != c.want {
			t.Errorf("%q: %v", c.names, got)
		}
	}
}

// TestUncopyable names the field of each value that has no copy, and does not if it is only read.
func TestUncopyable(t *testing.T) {
	type inner struct{ Call func() }
	type s struct {
		Calls []inner
		Chan  chan int
		Ptrs  map[string]*int
		Short []byte
		Long  []int32
	}
	floats := make([]int32, 4)
	for field, v := range map[string]*s{
		"Calls.Call": {Calls: []inner{{}, {func() {}}}}, "Chan": {Chan: make(chan int)},
		"Ptrs": {Ptrs: map[string]*int{}},
		"":     {Short: unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(&floats[0]), 2)), 8), Long: floats[:1:1]},
	} {
		var ce *engine.ContextError
		if _, err := new(structcopy.Copy).Update(unsafe.Pointer(v), reflect.TypeFor[s]()); !errors.As(err, &ce) ||
			!ce.Uncopied || ce.Field != field {
			t.Errorf("%q: %v", field, err)
		}
		readOnly := structcopy.Copy{ReadOnly: []string{"Calls", "Chan", "Ptrs", "Short", "Long"}}
		if _, err := readOnly.Update(unsafe.Pointer(v), reflect.TypeFor[s]()); err != nil {
			t.Errorf("%q is only read: %v", field, err)
		}
	}
	if _, err := new(structcopy.Copy).Update(unsafe.Pointer(&s{}), reflect.TypeFor[s]()); err != nil {
		t.Errorf("nil fields: %v", err)
	}
}

func TestAllocations(t *testing.T) {
	m := newModel()
	m.Map = nil
	var copies structcopy.Copy
	update(t, &copies, m)
	if n := testing.AllocsPerRun(10, func() { m.Buf[0]++; update(t, &copies, m) }); n > 0 {
		t.Errorf("%v allocations by an update", n)
	}
}
