package rt_test

import (
	"testing"

	"github.com/nabla-ad/nabla/gen/rt"
)

type leaf struct {
	v    float64
	_    string
	a, b []float64
}

type tree struct {
	k     float64
	rows  [][]float64
	leafs []leaf
	one   *leaf
	more  [2]*tree
	n     []int
}

// newTree is a tree with memory that overlaps and a cycle.
func newTree(depth int) *tree {
	buf := []float64{1, 2, 3, 4, 5}
	t := &tree{k: 1, rows: [][]float64{{1, 2}, nil, {3}, buf[1:3]}, leafs: []leaf{{v: 1, a: buf[:3], b: buf[2:]}, {}},
		one: &leaf{a: buf}, n: []int{1}}
	if depth > 0 {
		t.more[0], t.more[1] = newTree(depth-1), t
	}
	return t
}

// without are ways to take memory away from the shadow of a tree, with the rest of it: places that lead to
// float64s, and
// places that stay nil.
var without = map[string]struct {
	drop func(t *tree)
	left func(t *tree) []*float64
	lost func(t *tree) bool
}{
	"rows": {func(t *tree) { t.rows = nil }, func(t *tree) []*float64 { return []*float64{&t.k, &t.one.a[4]} },
		func(t *tree) bool { return t.rows == nil }},
	"a row": {func(t *tree) { t.rows[2] = nil },
		func(t *tree) []*float64 { return []*float64{&t.k, &t.rows[0][1]} },
		func(t *tree) bool { return t.rows[2] == nil }},
	"the leafs": {func(t *tree) { t.leafs = nil }, func(t *tree) []*float64 { return []*float64{&t.rows[0][0]} },
		func(t *tree) bool { return t.leafs == nil }},
	"half a leaf": {func(t *tree) { t.leafs[0].a = nil },
		func(t *tree) []*float64 { return []*float64{&t.leafs[0].v, &t.leafs[0].b[2]} },
		func(t *tree) bool { return t.leafs[0].a == nil }},
	"a pointer": {func(t *tree) { t.one = nil }, func(t *tree) []*float64 { return []*float64{&t.leafs[0].a[0]} },
		func(t *tree) bool { return t.one == nil }},
	"another tree": {func(t *tree) { t.more[0] = nil }, func(t *tree) []*float64 { return []*float64{&t.k} },
		func(t *tree) bool { return t.more[0] == nil }},
	"far away": {func(t *tree) { t.more[0].one.a = nil },
		func(t *tree) []*float64 { return []*float64{&t.more[0].one.v, &t.more[0].k} },
		func(t *tree) bool { return t.more[0].one.a == nil }},
	"a cycle": {func(t *tree) { t.more[1] = nil }, func(t *tree) []*float64 { return []*float64{&t.k} },
		func(t *tree) bool { return t.more[1] == nil }},
	"nearly all": {func(t *tree) { *t = tree{} }, func(t *tree) []*float64 { return []*float64{&t.k} },
		func(t *tree) bool { return t.rows == nil && t.one == nil }},
	"all but a row": {func(t *tree) { *t = tree{rows: [][]float64{{0, 0}, nil, nil, nil}} },
		func(t *tree) []*float64 { return []*float64{&t.rows[0][1]} }, func(t *tree) bool { return t.rows[3] == nil }},
}

// TestComplete checks that missing parts of a shadow are allocated, that given parts receive the sums, and
// that nil stays nil.
func TestCompleteShadow(t *testing.T) {
	for name, c := range without {
		p := newTree(1)
		var s rt.Shadow[tree]
		given := s.Of(p)
		if rt.Hollow(p, given) {
			t.Fatalf("%s: a whole shadow is hollow", name)
		}
		c.drop(given)
		if !rt.Hollow(p, given) {
			t.Errorf("%s: nothing is missing", name)
			continue
		}
		for i, v := range c.left(given) {
			*v = float64(i + 1)
		}
		m := rt.MissingOf(p, given)
		done := rt.Complete(m)
		whole := m.Shadow
		if rt.Hollow(p, whole) || len(whole.rows) != 4 || len(whole.leafs) != 2 || len(whole.one.a) != 5 ||
			whole.more[1] != whole {
			t.Errorf("%s: the whole shadow has another shape than the value: %+v", name, whole)
			continue
		}
		if &whole.leafs[0].a[2] != &whole.leafs[0].b[0] || &whole.rows[3][0] != &whole.one.a[1] {
			t.Errorf("%s: memory overlaps other than that of the value", name)
		}
		for i, v := range c.left(whole) {
			if *v != float64(i+1) {
				t.Errorf("%s: number %d is %v in the whole shadow", name, i, *v)
			}
			*v += 10
		}
		done()
		for i, v := range c.left(given) {
			if *v != float64(i+11) {
				t.Errorf("%s: number %d is %v in the end", name, i, *v)
			}
		}
		if !c.lost(given) {
			t.Errorf("%s: it is there in the end", name)
		}
	}
}

// TestCompleteAliases checks that the completed shadows of overlapping values overlap, and that nil in place of a whole
// shadow is completed.
func TestCompleteAliases(t *testing.T) {
	x := []float64{1, 2, 3, 4}
	y := x[1:3]
	xDot := []float64{5, 6, 7, 8}
	a, b := rt.MissingOf(x, xDot), rt.MissingOf(y, [][4]float64(nil))
	if !rt.HollowSlice(y, [][4]float64(nil)) || rt.HollowSlice(x, xDot) ||
		rt.HollowSlice([]float64(nil), []float64(nil)) {
		t.Error("what is hollow is not told from what is whole")
	}
	rt.Complete(b)()
	if len(b.Shadow) != 2 {
		t.Errorf("the shadow in lanes is %v", b.Shadow)
	}
	rows := [][]float64{{1}, nil, {2}}
	for want, shadow := range map[bool][][]float64{true: {{1}, nil, nil}, false: {{1}, nil, {1}}} {
		if rt.HollowRows(rows, shadow) != want || rt.HollowSlice(rows, shadow) != want {
			t.Errorf("rows %v are taken for others", shadow)
		}
	}
	c := rt.MissingOf(y, []float64(nil))
	done := rt.Complete(a, c)
	if &a.Shadow[1] != &c.Shadow[0] || c.Shadow[1] != 7 {
		t.Errorf("the shadows are %v and %v", a.Shadow, c.Shadow)
	}
	c.Shadow[0] = 9
	done()
	if xDot[1] != 9 || xDot[0] != 5 {
		t.Errorf("in the end there is %v", xDot)
	}
}

// TestHollowAllocates: looking at a whole shadow allocates nothing.
func TestHollowAllocates(t *testing.T) {
	if testing.Short() {
		t.Skip("under the race detector, which runs the short form, pools drop what they hold")
	}
	p := newTree(2)
	var s rt.Shadow[tree]
	whole := s.Of(p)
	l := &leaf{a: []float64{1}}
	rows := [][]float64{{1}, {2}}
	if n := testing.AllocsPerRun(100, func() {
		if rt.Hollow(p, whole) || rt.Hollow(l, l) || rt.HollowSlice(rows, rows) || rt.HollowRows(rows, rows) {
			t.Error("it is hollow")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
