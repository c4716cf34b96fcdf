package rt_test

import (
	"testing"

	"github.com/nabla-ad/nabla/gen/rt"
)

type inner struct {
	w    [2]float64
	next *inner
}

// mine, renamed and row are other names of the types of a model's fields.
type mine float64
type renamed inner
type row []float64

// ring leads to no floats, but through many types to itself.
type ring struct {
	next *ring
	_    []int
	_    []string
	_    []bool
	_    []byte
	_    []int8
	_    []uint32
	_    []uintptr
}

type model struct {
	ring   *ring
	scale  float64
	buf    []float64
	a, b   []float64 // views of buf
	rows   [][]float64
	pairs  [][2]float64
	first  []float64 // of pairs[0]
	own    []float64 // of list
	list   [4]float64
	chain  *inner
	at     *float64 // into chain
	under  *mine    // into buf
	other  *renamed // is chain
	cut    row      // of buf
	count  []int
	names  map[string]float64
	self   *model
	empty  []float64
	hidden any // is nothing that is copied
}

func newModel() *model {
	m := &model{scale: 2, buf: make([]float64, 6, 9), count: []int{1}, names: map[string]float64{"x": 1},
		empty: []float64{}, hidden: new(float64)}
	m.a, m.b = m.buf[:4], m.buf[2:5]
	m.rows = [][]float64{m.buf[:2], {1, 2, 3}, nil}
	m.pairs = make([][2]float64, 3)
	m.first = m.pairs[1][:]
	m.own = m.list[1:3]
	m.chain = &inner{next: &inner{}}
	m.chain.next.next = m.chain
	m.at = &m.chain.next.w[1]
	m.under, m.other, m.cut = (*mine)(&m.buf[4]), (*renamed)(m.chain), m.buf[3:]
	m.self, m.ring = m, &ring{}
	m.ring.next = m.ring
	for i := range m.buf {
		m.buf[i] = float64(i) + 1
	}
	return m
}

type four = [4]float64

type innerFour struct {
	w    [2]four
	next *innerFour
}

type renamedFour innerFour

// modelFour stands for model in four lanes.
type modelFour struct {
	scale four
	buf   []four
	a, b  []four
	rows  [][]four
	pairs [][2]four
	first []four
	own   []four
	list  [4]four
	chain *innerFour
	at    *four
	under *four
	other *renamedFour
	cut   []four
	self  *modelFour
	empty []four
}

// TestLanes: shadows for several lanes overlap as the struct's own memory does, where types
// have other sizes and fields too.
func TestLanes(t *testing.T) {
	var s rt.Lanes[model, modelFour]
	m := newModel()
	check := func() {
		t.Helper()
		d := s.Of(m)
		if d.self != d || len(d.buf) != len(m.buf) || cap(d.buf) != cap(m.buf) || len(d.rows) != 3 ||
			len(d.rows[1]) != 3 || d.rows[2] != nil || cap(d.b) != cap(m.b) || d.empty == nil {
			t.Fatalf("%+v", d)
		}
		for name, pair := range map[string][2]*four{
			"a and buf": {&d.a[3], &d.buf[3]}, "b and a": {&d.b[0], &d.a[2]},
			"rows and buf":    {&d.rows[0][1], &d.buf[1]},
			"first and pairs": {&d.first[1], &d.pairs[1][1]}, "own and list": {&d.own[0], &d.list[1]},
			"at and chain": {d.at, &d.chain.next.w[1]}, "chain and itself": {&d.chain.w[0], &d.chain.next.next.w[0]},
			"under and buf": {d.under, &d.buf[4]}, "other and chain": {&d.other.w[1], &d.chain.w[1]},
			"cut and buf": {&d.cut[2], &d.buf[5]},
		} {
			if pair[0] != pair[1] || *pair[0] != (four{}) {
				t.Errorf("%s: the shadows do not overlap, or are not zero: %v, %v", name, *pair[0], *pair[1])
			}
		}
		for i := range d.buf[:cap(d.buf)] {
			d.buf[:cap(d.buf)][i] = four{1, 2, 3, 4}
		}
		d.scale, d.list[3], d.chain.w[0] = four{1}, four{2}, four{3}
		d.buf, d.self = nil, nil
		if m.list[3] != 0 || m.buf[0] != 1 || m.scale != 2 {
			t.Fatalf("the struct has changed: %+v", m)
		}
	}
	reused(t, m, check, func() { s.Of(m) })
	if s.Of(nil) != nil {
		t.Error("the shadow of nil is not nil")
	}
}

// TestShadow: the shadow has the shape of the struct, and its parts overlap as those do.
func TestShadow(t *testing.T) {
	var s rt.Shadow[model]
	m := newModel()
	check := func() {
		t.Helper()
		d := s.Of(m)
		if d == m || d.self != d || d.scale != 0 || d.count != nil || d.names != nil || d.hidden != nil ||
			d.empty == nil {
			t.Fatalf("%+v", d)
		}
		if len(d.buf) != len(m.buf) || cap(d.buf) != cap(m.buf) || len(d.rows) != 3 || len(d.rows[1]) != 3 ||
			d.rows[2] != nil || cap(d.b) != cap(m.b) {
			t.Fatalf("lengths of %+v", d)
		}
		for _, x := range d.buf[:cap(d.buf)] {
			if x != 0 {
				t.Fatalf("not zero: %v", d.buf)
			}
		}
		for name, pair := range map[string][2]*float64{
			"a and buf": {&d.a[3], &d.buf[3]}, "b and a": {&d.b[0], &d.a[2]},
			"rows and buf":    {&d.rows[0][1], &d.buf[1]},
			"first and pairs": {&d.first[1], &d.pairs[1][1]}, "own and list": {&d.own[0], &d.list[1]},
			"at and chain": {d.at, &d.chain.next.w[1]}, "chain and itself": {&d.chain.w[0], &d.chain.next.next.w[0]},
			"under and buf": {(*float64)(d.under), &d.buf[4]}, "other and chain": {&d.other.w[1], &d.chain.w[1]},
			"cut and buf": {&d.cut[2], &d.buf[5]},
		} {
			*pair[0] = 7
			if *pair[1] != 7 {
				t.Errorf("%s: the shadows do not overlap", name)
			}
			*pair[0] = 0
		}
		for i, x := range m.buf {
			if x != float64(i)+1 {
				t.Fatalf("the struct has changed: %v", m.buf)
			}
		}
		d.scale, d.buf[5], d.rows[1][0], d.list[3], d.chain.w[0] = 1, 2, 3, 4, 5 // is cleared by the next call
		d.buf, d.self = nil, nil
	}
	reused(t, m, check, func() { s.Of(m) })
	if s.Of(nil) != nil {
		t.Error("the shadow of nil is not nil")
	}
}

// reused checks the shadow of m, made by of, again and again, also when m has changed.
func reused(t *testing.T, m *model, check, of func()) {
	t.Helper()
	check()
	check()
	if n := testing.AllocsPerRun(20, of); n != 0 {
		t.Errorf("%v allocations", n)
	}
	m.rows[1] = make([]float64, 3)
	m.chain = &inner{next: &inner{next: m.chain}}
	m.chain.next.next = m.chain
	m.at, m.other = &m.chain.next.w[1], (*renamed)(m.chain)
	check()
}

func BenchmarkShadow(b *testing.B) {
	type data struct {
		X       [][]float64
		Scratch []float64
	}
	d := &data{Scratch: make([]float64, 100)}
	for range 100 {
		d.X = append(d.X, make([]float64, 10))
	}
	var s rt.Shadow[data]
	b.ReportAllocs()
	for b.Loop() {
		s.Of(d)
	}
}

// TestShadowComplex makes the shadow of a struct with complex numbers, and completes one that lacks memory.
func TestShadowComplex(t *testing.T) {
	type filter struct {
		poles []complex128
		taps  [][]complex64
		gain  *complex128
	}
	gain := 2i
	f := &filter{poles: []complex128{1, 1i}, taps: [][]complex64{{1}, nil}, gain: &gain}
	var s rt.Shadow[filter]
	d := s.Of(f)
	if len(d.poles) != 2 || d.poles[1] != 0 || &d.poles[0] == &f.poles[0] || len(d.taps) != 2 || len(d.taps[0]) != 1 ||
		d.gain == f.gain || *d.gain != 0 {
		t.Errorf("the shadow is %+v", d)
	}
	given := &filter{poles: []complex128{3, 4i}}
	if !rt.Hollow(f, given) {
		t.Error("the shadow lacks nothing")
	}
	whole := rt.MissingOf(f, given)
	done := rt.Complete(whole)
	if w := whole.Shadow; w.poles[1] != 4i || *w.gain != 0 || len(w.taps[0]) != 1 {
		t.Errorf("the completed shadow is %+v", w)
	}
	whole.Shadow.poles[0] = 5
	done()
	if given.poles[0] != 5 || given.gain != nil {
		t.Errorf("the given shadow is %+v", given)
	}
}
