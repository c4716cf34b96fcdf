package layout_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/layout"
)

// A num stands for the number of a function: it is larger than a float64.
type num struct {
	v    float64
	rest [2]int
}

type part[T any] struct {
	W    []T
	gain T
	size int
}

type whole[T any] struct {
	Parts []part[T]
	Pair  [2]T
	Name  string
	Self  *whole[T]
	Tied  *part[T]
	Index map[string]int
	_     T
}

// newWhole returns a struct that refers to itself, with the numbers 1, 2, 3, …
func newWhole() *whole[float64] {
	s := &whole[float64]{Parts: []part[float64]{{W: []float64{1, 2}, gain: 3, size: 9}, {gain: 4}},
		Pair: [2]float64{5, 6}, Name: "w", Tied: &part[float64]{W: []float64{7}, gain: 8},
		Index: map[string]int{"a": 1}}
	s.Self = s
	return s
}

// source returns the source of a layout of *s for a function of an R.
func source[R, S any](s *S) layout.Source {
	return layout.Source{Op: "Struct", Function: "f", Struct: reflect.ValueOf(s).Elem(), Param: reflect.TypeFor[R](),
		Real: reflect.TypeFor[num]()}
}

func count(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i + 1)
	}
	return x
}

// TestFlatten: numbers get positions in the order of the struct, each once, with paths as names; other structs of the
// type with the same structure are read and written in place, and empty ones get the structure.
func TestFlatten(t *testing.T) {
	s := newWhole()
	l, err := layout.New(source[whole[num]](s))
	if err != nil {
		t.Fatal(err)
	}
	if l.Len() != 8 || !l.Shares() {
		t.Fatalf("%d numbers, shares %v", l.Len(), l.Shares())
	}
	x := make([]float64, 8)
	if l.Flatten("op", x, reflect.ValueOf(s).Elem()); !slices.Equal(x, count(8)) {
		t.Errorf("flattened to %v", x)
	}
	var names []string
	for i := range l.Len() {
		names = append(names, l.Name(i))
	}
	want := "Parts[0].W[0] Parts[0].W[1] Parts[0].gain Parts[1].gain Pair[0] Pair[1] Tied.W[0] Tied.gain"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("names %s, want %s", got, want)
	}
	for i := range x {
		x[i] *= 10
	}
	full, empty := newWhole(), new(whole[float64])
	w, tied := full.Parts[0].W, full.Tied
	full.Name = "mine"
	l.Unflatten(reflect.ValueOf(full).Elem(), x)
	l.Unflatten(reflect.ValueOf(empty).Elem(), x)
	if &full.Parts[0].W[0] != &w[0] || full.Tied != tied || full.Name != "mine" || full.Parts[0].size != 9 {
		t.Errorf("not written in place: %+v", full)
	}
	if empty.Self != empty || empty.Parts[0].size != 9 || empty.Tied == s.Tied {
		t.Errorf("structure: %+v", empty)
	}
	for _, v := range []*whole[float64]{full, empty} {
		got := make([]float64, 8)
		if l.Flatten("op", got, reflect.ValueOf(v).Elem()); !slices.Equal(got, x) {
			t.Errorf("written and read: %v, want %v", got, x)
		}
	}
	if s.Parts[0].W[0] != 1 {
		t.Error("the struct of the layout changed")
	}
}

// TestInstance: an instance gets the numbers at each Load and its structure back, which the function may have changed;
// maps are shared.
func TestInstance(t *testing.T) {
	s := newWhole()
	l, err := layout.New(source[whole[num]](s))
	if err != nil {
		t.Fatal(err)
	}
	r := new(whole[num])
	in := l.Instance(reflect.ValueOf(r).Elem())
	x := make([]num, 8)
	for round := range 3 {
		for i := range x {
			x[i] = num{v: float64(10*round + i), rest: [2]int{i, round}}
		}
		layout.Load(in, x)
		if !slices.Equal(r.Parts[0].W, x[:2]) || r.Parts[0].gain != x[2] || r.Parts[1].gain != x[3] ||
			r.Pair != [2]num(x[4:6]) || r.Tied.W[0] != x[6] || r.Tied.gain != x[7] {
			t.Fatalf("round %d: %+v", round, r)
		}
		if r.Self != r || r.Name != "w" || r.Parts[0].size != 9 || len(r.Parts) != 2 || r.Index["a"] != 1 {
			t.Fatalf("round %d: structure %+v", round, r)
		}
		r.Parts[0].W[0], r.Parts[0].W = num{}, nil
		r.Parts[1].size, r.Name, r.Tied, r.Self = 5, "other", nil, nil
		r.Parts = r.Parts[:1]
	}
	if reflect.ValueOf(r.Index).Pointer() != reflect.ValueOf(s.Index).Pointer() {
		t.Error("the map is not shared")
	}
	if avg := testing.AllocsPerRun(10, func() { layout.Load(in, x) }); avg != 0 {
		t.Errorf("Load allocates %v times", avg)
	}
}

// TestPlain: every float64 of the one type is a number, also of a defined type, and behind pointers.
func TestPlain(t *testing.T) {
	type metres float64
	type plain struct {
		H    metres
		P    *float64
		K    int
		Next *plain
	}
	v := 2.0
	s := &plain{H: 1, P: &v, Next: &plain{H: 3, P: &v}}
	src := source[plain](s)
	src.Plain = true
	l, err := layout.New(src)
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float64, l.Len())
	if l.Flatten("op", x, reflect.ValueOf(s).Elem()); !slices.Equal(x, count(3)) || l.Shares() {
		t.Errorf("flattened to %v, shares %v; the number behind two pointers counts once", x, l.Shares())
	}
}

// TestRefused: types that differ in more than numbers, and memory that overlaps, are refused with the path.
func TestRefused(t *testing.T) {
	type fields struct{ A, B float64 }
	type twoSlices struct{ X, Y []float64 }
	type twoSlicesOf struct{ X, Y []num }
	overlap := make([]float64, 3)
	for want, src := range map[string]layout.Source{
		"have one type": source[fields](new(fields)),
		`at "B"`:        source[struct{ A, C num }](new(fields)),
		`at ""`:         source[struct{ A num }](new(fields)),
		`at "A"`: source[struct {
			A []num
			B num
		}](new(fields)),
		`at "N"`:   source[struct{ N int32 }](&struct{ N int64 }{}),
		`at "L[]"`: source[struct{ L []string }](&struct{ L []int }{}),
		`at "V"`:   source[struct{ V [3]num }](&struct{ V [2]float64 }{}),
		"fields X and Y of the struct share memory": source[twoSlicesOf](&twoSlices{overlap[:2], overlap[1:]}),
	} {
		_, err := layout.New(src)
		var fe *engine.FuncError
		if !errors.As(err, &fe) || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if l, err := layout.New(source[twoSlicesOf](&twoSlices{overlap, overlap})); err != nil || l.Len() != 3 {
		t.Errorf("equal slices: %v", err)
	}
}

// TestOtherStructure: a struct whose structure is another one than the template's cannot be flattened.
func TestOtherStructure(t *testing.T) {
	l, err := layout.New(source[whole[num]](newWhole()))
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(s *whole[float64]){
		"len(Parts[0].W)":   func(s *whole[float64]) { s.Parts[0].W = s.Parts[0].W[:1] },
		"len(Parts)":        func(s *whole[float64]) { s.Parts = nil },
		"field Tied is nil": func(s *whole[float64]) { s.Tied = nil },
	} {
		s := newWhole()
		change(s)
		func() {
			defer func() {
				if v := recover(); !strings.Contains(fmt.Sprint(v), want) {
					t.Errorf("panic %v, want %q", v, want)
				}
			}()
			l.Flatten("op", make([]float64, l.Len()), reflect.ValueOf(s).Elem())
		}()
	}
}
