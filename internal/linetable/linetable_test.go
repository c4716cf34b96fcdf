package linetable

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestEncode holds the form of the texts, and the places that they stand for.
func TestEncode(t *testing.T) {
	at := func(function, file string, declared int, lines ...int) (list []*Place) {
		for _, l := range lines {
			if l == 0 {
				list = append(list, nil)
				continue
			}
			list = append(list, &Place{Function: function, File: file, Line: l, Declared: declared})
		}
		return list
	}
	forms := []Form{
		{Line: 10, Places: at(".F", "f.go", 3, 0, 4, 5, 6, 9, 0)},
		{Line: 20, Places: slices.Concat(at(".G", "g.go", 40, 0, 41, 42), at("b.H", "b/h.go", 7, 9, 9),
			at(".G", "g.go", 40, 43, 0), []*Place{{}, {}, nil})},
	}
	want := []string{"10+6|.F|f.go:3|1:1 4:6", "10+10|.G|g.go:40|1:1 5:3|b.H|b/h.go:7|3:2 4:2|||7:0"}
	got := Encode(forms, 30)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	Register("/dir/gen.go", 30, "a.init", got)
	for line, want := range map[int]Place{
		11: {"a.F", "/dir/f.go", 4, 3}, 14: {"a.F", "/dir/f.go", 9, 3}, 21: {"a.G", "/dir/g.go", 41, 40},
		23: {"b.H", "b/h.go", 9, 7}, 24: {"b.H", "b/h.go", 9, 7}, 25: {"a.G", "/dir/g.go", 43, 40}, 28: {},
	} {
		if p, ok := Of("/dir/gen.go", line); !ok || p != want {
			t.Errorf("line %d: %v, %v, want %v", line, p, ok, want)
		}
	}
	for _, line := range []int{9, 10, 16, 19, 20, 30, 31} {
		if p, ok := Of("/dir/gen.go", line); ok {
			t.Errorf("line %d has place %v", line, p)
		}
	}
	if p, ok := Of("/dir/other.go", 11); ok {
		t.Errorf("a file without table: %v", p)
	}
	// Lines before the functions move all of them.
	Register("/dir/gen.go", 33, "a.init", got)
	if p, ok := Of("/dir/gen.go", 14); !ok || p.Line != 4 {
		t.Errorf("three lines later: %v, %v", p, ok)
	}
}

// TestNames finds files of the same module beside the generated one.
func TestNames(t *testing.T) {
	for file, want := range map[string]string{
		"f.go": "/mod/opt/f.go", "../model/m.go": "/mod/model/m.go", "./sub/s.go": "/mod/opt/sub/s.go",
		"gonum.org/v1/gonum/floats/floats.go": "gonum.org/v1/gonum/floats/floats.go", "a b:c.go": "/mod/opt/a b:c.go",
	} {
		form := Form{Line: 5, Places: []*Place{nil, {"p.F", file, 8, 7}}}
		Register("/mod/opt/gen.go", 9, "a.init", Encode([]Form{form}, 9))
		if p, ok := Of("/mod/opt/gen.go", 6); !ok || p.File != want || p.Line != 8 {
			t.Errorf("%s: got %v, %v", file, p, ok)
		}
	}
	form := Form{Line: 5, Places: []*Place{nil, {"p.F", "a|b.go", 8, 7}}}
	Register("/mod/opt/gen.go", 9, "a.init", Encode([]Form{form}, 9))
	if p, ok := Of("/mod/opt/gen.go", 6); !ok || p != (Place{}) {
		t.Errorf("a name that the table cannot hold: %v, %v", p, ok)
	}
}

// TestRandom encodes random forms and asks for every line.
func TestRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var forms []Form
		line := 1
		for range r.IntN(4) {
			line += r.IntN(5)
			f := Form{Line: line, Places: []*Place{nil}}
			source := 10
			for range r.IntN(12) {
				source += r.IntN(3) - r.IntN(2)
				p := &Place{fmt.Sprintf("p.F%d", r.IntN(2)), "f.go", source, 10}
				switch r.IntN(8) {
				case 0:
					p = nil
				case 1:
					p = &Place{}
				}
				f.Places = append(f.Places, p)
			}
			forms = append(forms, f)
			line += len(f.Places)
		}
		line += r.IntN(5)
		texts := Encode(forms, line)
		Register("gen.go", line, "a.init", texts)
		for _, f := range forms {
			for i, want := range f.Places {
				if want == nil {
					continue
				}
				if p, ok := Of("gen.go", f.Line+i); !ok || p != *want {
					t.Fatalf("%q: line %d is %v, %v, want %v", texts, f.Line+i, p, ok, *want)
				}
			}
		}
	}
}

// FuzzParse parses any text. A parsed one has no lines outside of it.
func FuzzParse(f *testing.F) {
	f.Add("10+6|.F|f.go:3|1:1 4:6")
	f.Add("10+10|.G|g.go:40|1:1 5:3|b.H|b/h.go:7|3:2 4:2|||7:0")
	f.Add("1+1|||")
	f.Add("3+9|a|b:c|d")
	f.Fuzz(func(t *testing.T, text string) {
		Register("gen.go", 1000, "a.init", []string{text})
		g := parse(text, 1000)
		for line := 900; line < 1010; line++ {
			p, ok := Of("gen.go", line)
			if ok && (g == nil || line < g.first || line >= g.first+g.lines || p.Function != "" && p.File == "") {
				t.Errorf("%q: line %d is %v", text, line, p)
			}
		}
	})
}
