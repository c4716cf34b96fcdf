package snapshot

import (
	"fmt"
	"reflect"
	"testing"
)

type leaf struct {
	A int8
	B float64 // after a gap
}

type tree struct {
	F, G   []float64
	L, M   []leaf
	P, Q   *leaf
	I      any
	E      fmt.Stringer
	Map    map[string]float64
	Ptrs   map[string]*leaf
	Fun    func()
	Chan   chan int
	Text   string
	Z      complex128
	Arr    [2]leaf
	Ring   *tree
	Skip   []float64 `nabla:"fixed"`
	hidden struct{ U uint16 }
}

type stringer struct{ S []string }

func (stringer) String() string { return "" }

// TestSnapshot has a change of everything that there can be in a struct: the
// snapshot differs, and is the same again when nothing has changed since.
func TestSnapshot(t *testing.T) {
	s := stringer{[]string{"a", "b"}}
	v := &tree{
		F: []float64{1, 2}, G: []float64{1, 2}, L: []leaf{{1, 2}, {3, 4}}, M: []leaf{{1, 2}, {3, 4}}, P: &leaf{1, 2},
		Q: &leaf{1, 2},
		I: leaf{1, 2}, E: s, Map: map[string]float64{"a": 1, "b": 2, "c": 3}, Skip: []float64{1},
	}
	v.Ring = v
	one := &leaf{5, 6}
	var shot Writer
	now := func() string { return string(shot.Append(nil, reflect.ValueOf(v).Elem())) }
	before := now()
	for _, c := range []struct {
		name   string
		change func()
	}{
		{"element", func() { v.F[1] = 3 }},
		{"element of a slice of the same length", func() { v.G[0] = 3 }},
		{"sharing", func() { v.G = v.F }},
		{"length", func() { v.F = v.F[:1] }},
		{"element behind a gap", func() { v.L[1].B = 9 }},
		{"element of another slice of the same type and length", func() { v.M[0].A = 9 }},
		{"longer", func() { v.M = v.M[:1]; v.M = v.M[:2]; v.M[1].B++ }},
		{"pointed to", func() { v.P.B = 9 }},
		{"pointed to by another pointer", func() { v.Q.A = 9 }},
		{"nil", func() { v.P = nil }},
		{"interface", func() { v.I = leaf{1, 3} }},
		{"type in an interface", func() { v.I = struct{ A, B int }{1, 3} }},
		{"pointer in an interface", func() { v.I = one }},
		{"behind a pointer in an interface", func() { one.B++ }},
		{"nil interface", func() { v.I = nil }},
		{"string in a method's value", func() { s.S[1] = "bb" }},
		{"value in a map", func() { v.Map["b"] = 5 }},
		{"key in a map", func() { delete(v.Map, "b"); v.Map["bb"] = 5 }},
		{"text", func() { v.Text = "x" }},
		{"imaginary part", func() { v.Z += 1i }},
		{"array", func() { v.Arr[1].A = 1 }},
		{"unexported", func() { v.hidden.U = 3 }},
		{"ring", func() { v.Ring = nil }},
	} {
		if now() != before {
			t.Fatalf("%s: the snapshot differs before the change", c.name)
		}
		c.change()
		after := now()
		if after == before {
			t.Errorf("%s: the snapshot is the same", c.name)
		}
		before = after
	}
	v.Skip[0] = 2
	if now() != before {
		t.Error("the snapshot has a field with the tag fixed")
	}
	for name, set := range map[string]func(){
		"function":               func() { v.Fun = func() {} },
		"channel":                func() { v.Chan = make(chan int) },
		"map with pointers":      func() { v.Ptrs = map[string]*leaf{"a": one} },
		"function in an array":   func() { v.I = [1]func(){func() {}} },
		"function in a function": func() { v.I = func() {} },
	} {
		set()
		if first := now(); first == now() {
			t.Errorf("%s: two snapshots are the same, and what is in it may have changed", name)
		}
		v.Fun, v.Chan, v.Ptrs, v.I = nil, nil, nil, nil
		if first := now(); first != now() {
			t.Fatalf("after %s: two snapshots differ", name)
		}
	}
}

// TestSnapshotAllocations has no allocation where there are no maps.
func TestSnapshotAllocations(t *testing.T) {
	v := &tree{F: make([]float64, 100), L: make([]leaf, 100), P: new(leaf), I: leaf{}}
	v.Ring = v
	var shot Writer
	var dst []byte
	if n := testing.AllocsPerRun(10, func() { dst = shot.Append(dst[:0], reflect.ValueOf(v).Elem()) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkSnapshot(b *testing.B) {
	for _, n := range []int{10, 1000, 100_000} {
		b.Run(fmt.Sprintf("floats/n=%d", n), func(b *testing.B) {
			v := &tree{F: make([]float64, n)}
			var shot Writer
			var dst []byte
			for b.Loop() {
				dst = shot.Append(dst[:0], reflect.ValueOf(v).Elem())
			}
		})
		b.Run(fmt.Sprintf("structs/n=%d", n), func(b *testing.B) {
			v := &tree{L: make([]leaf, n)}
			var shot Writer
			var dst []byte
			for b.Loop() {
				dst = shot.Append(dst[:0], reflect.ValueOf(v).Elem())
			}
		})
	}
}
