package adjoint_test

import (
	"fmt"
	"go/types"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/adjoint"
	"github.com/nabla-ad/nabla/gen/internal/randprog"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/internal/longtest"
)

// removeCheckpointMarks removes the checkpointing marks from the loops of f and its callees. The function that it
// returns sets them again.
func removeCheckpointMarks(f *ir.Func) (back func()) {
	marks := map[*ir.Loop]*ir.Checkpoint{}
	seen := map[*ir.Func]bool{}
	var visit func(f *ir.Func)
	visit = func(f *ir.Func) {
		if seen[f] {
			return
		}
		seen[f] = true
		ir.Walk(f.Body, func(s ir.Stmt) bool {
			switch s := s.(type) {
			case *ir.Loop:
				marks[s], s.Checkpoint = s.Checkpoint, nil
			case *ir.Call:
				if s.Callee.Func != nil {
					visit(s.Callee.Func)
				}
			}
			return true
		})
	}
	visit(f)
	return func() {
		for l, c := range marks {
			l.Checkpoint = c
		}
	}
}

// TestCheckpoint compares adjoints of checkpointed loops with tangents, and with adjoints of the same loops without
// marks.
func TestCheckpoint(t *testing.T) {
	const path = "github.com/nabla-ad/nabla/gen/adjoint/testdata/loops"
	p := load(t, "./testdata/loops")
	x := func() []float64 { return []float64{0.7, 1.3, 2.1, 0.4} }
	for i, tt := range []struct {
		name   string
		last   any
		ignore string // part of the reason why the mark has no effect, or empty
	}{
		{"Scalars", 0, ""}, {"Scalars", 1, ""}, {"Scalars", 37, ""},
		{"Memory", 0, ""}, {"Memory", 23, ""}, {"InPlace", 29, ""},
		{"Early", 5, ""}, {"Early", 30, ""}, {"Early", 0, ""}, {"While", 3.0, ""}, {"While", -3.0, ""},
		{"WhileTight", 5.0, ""}, {"Alone", 11, ""},
		{"Swaps", 9, ""}, {"Swaps", 10, ""}, {"Rows", 13, ""}, {"Moves", 7, "slices or pointers in memory"},
		{"Fresh", 7, "new memory"}, {"Mutual", 3, "new memory"},
		{"Scratch", 13, ""}, {"Structs", 17, ""}, {"Captured", 9, ""}, {"Nested", 6, ""}, {"Called", 7, ""},
		{"Recursive", 4, "calls itself"}, {"Late", 8, ""}, {"Views", 12, ""}, {"Unsigned", 10, ""}, {"Still", 7, ""},
		{"Deep", 7, ""}, {"Library", 8, ""},
		{"WhileTight", 12.0, ""}, {"While", 9.0, ""}, {"Bounded", 0, ""}, {"Bounded", 3, ""}, {"Bounded", 25, ""},
		{"BoundedWhile", 2.0, ""}, {"BoundedWhile", 30.0, ""}, {"BoundedByOne", 0, ""}, {"BoundedByOne", 9, ""},
	} {
		f := function(t, p, path, tt.name)
		for _, name := range inTurn(i, []string{"", "no selective recording", "no buffer reuse", "no inlining",
			"no simplification", "none"}) {
			t.Run(fmt.Sprint(tt.name, tt.last, name), func(t *testing.T) {
				check(t, f, activity.Bits(1), variants[name], x(), tt.last)
				a, err := programWithout(variants[name]).Of(f, activity.Bits(1))
				if err != nil {
					t.Fatal(err)
				}
				said := ""
				for _, n := range a.Remarks {
					said += n.Text + "\n"
				}
				if tt.ignore != "" &&
					!(strings.Contains(said, "is not checkpointed") && strings.Contains(said, tt.ignore)) ||
					tt.ignore == "" && !strings.Contains(said, "runs again from snapshots") {
					t.Errorf("the plan says %q, want %q", said, tt.ignore)
				}
				back := removeCheckpointMarks(f)
				b, err := programWithout(variants[name]).Of(f, activity.Bits(1))
				back()
				if err != nil {
					t.Fatal(err)
				}
				got, want := gradient(t, a, x(), tt.last), gradient(t, b, x(), tt.last)
				for i := range want {
					if !(math.Abs(got[i]-want[i]) <= 1e-12*(1+math.Abs(want[i]))) {
						t.Errorf("gradient %v, want %v", got, want)
						break
					}
				}
			})
		}
	}
}

// TestRandomCheckpoints checks adjoints of random programs with marked loops.
func TestRandomCheckpoints(t *testing.T) {
	names := []string{*variant}
	if *variant == "all" {
		names = slices.Sorted(maps.Keys(variants))
	}
	many := longtest.Cases(*programs, 2, 2, 25)
	randprog.TestWith(t, randprog.Options{Checkpoints: true}, many, *firstSeed, 4, "testdata/failures", adjoints(names))
}

// fromSnapshot reports whether e reads a field of a snapshot.
func fromSnapshot(e ir.Expr) bool {
	p := ir.PlaceOf(e)
	if s, ok := e.(*ir.Slice); ok {
		p = ir.PlaceOf(s.X)
	}
	return p != nil && strings.HasPrefix(p.Root.Name, "ws") && len(p.Path) > 3 && p.Path[2].Index != nil
}

// TestCheckpointMutations checks the tests: if statements of the sweeps of a checkpointed loop are removed, some loop
// must have a wrong gradient.
func TestCheckpointMutations(t *testing.T) {
	const path = "github.com/nabla-ad/nabla/gen/adjoint/testdata/loops"
	p := load(t, "./testdata/loops")
	x := func() []float64 { return []float64{0.7, 1.3, 2.1, 0.4} }
	cases := []struct {
		name string
		last any
	}{{"Scalars", 9}, {"Memory", 9}, {"InPlace", 9}, {"While", 3.0}, {"WhileTight", 5.0}, {"Swaps", 9}, {"Structs", 9},
		{"Nested", 6}, {"Called", 7}}
	for name, m := range map[string]mutation{
		"memory is not restored": func(s ir.Stmt) bool {
			c, ok := s.(*ir.Copy)
			return !ok || !fromSnapshot(c.Src)
		},
		"numbers are not restored": func(s ir.Stmt) bool {
			set, ok := s.(*ir.Set)
			return !ok || !fromSnapshot(set.E) || !isFloat(set.P) || set.P.Indirect()
		},
		"headers are not restored": func(s ir.Stmt) bool {
			set, ok := s.(*ir.Set)
			return !ok || !fromSnapshot(set.E) || isFloat(set.P)
		},
		"iterations are not run again": func(s ir.Stmt) bool {
			c, ok := s.(*ir.Call)
			return !ok || c.Callee.Func == nil || !strings.HasSuffix(c.Callee.Func.Name, "_run")
		},
		"adjoints of what all iterations read are not added": func(s ir.Stmt) bool {
			a, ok := s.(*ir.Add)
			return !ok || len(a.P.Path) > 0 || !strings.HasSuffix(strings.TrimRight(a.P.Root.Name, "0123456789"), "Bar")
		},
		"snapshots are not given up": func(s ir.Stmt) bool {
			set, ok := s.(*ir.Set)
			return !ok || len(set.P.Path) == 0 || !strings.HasPrefix(set.P.Root.Name, "ws") ||
				!strings.Contains(fieldName(set.P), "SnapshotsUsed")
		},
	} {
		t.Run(name, func(t *testing.T) {
			found := ""
			for _, tt := range cases {
				f := function(t, p, path, tt.name)
				// Simplification would adapt calls to the mutation.
				o := adjoint.Options{Unsimplified: true}
				a, err := adjoint.New(types.NewPackage("w", "w"), "Work", o).Of(f, activity.Bits(1))
				if err != nil {
					t.Fatal(err)
				}
				want := gradient(t, a, x(), tt.last)
				ir.Walk(a.Func.Body, func(s ir.Stmt) bool {
					if c, ok := s.(*ir.Call); ok && c.Callee.Func != nil {
						mutated(c.Callee.Func, m, map[*ir.Func]bool{})
					}
					return true
				})
				if got, err := tryGradient(a, x(), tt.last); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
					found += " " + tt.name
				}
			}
			if found == "" {
				t.Error("no loop shows it")
			}
			t.Log("found by", found)
		})
	}
}

// isFloat reports whether p holds a float64.
func isFloat(p *ir.Place) bool { return p.Type().String() == "float64" }

// fieldName returns the name of the workspace field at p.
func fieldName(p *ir.Place) string {
	st := p.Root.Type.Underlying().(*types.Pointer).Elem().Underlying().(*types.Struct)
	return st.Field(p.Path[1].Field).Name()
}

// tryGradient returns the gradient by an adjoint that may be broken.
func tryGradient(a *adjoint.Adjoint, x []float64, last any) ([]float64, error) {
	in := append(ir.ValuesOf(x, last, make([]float64, len(x)), 1.0),
		ir.NewValue(a.Func.Params[len(a.Func.Params)-1].Type))
	_, err := (&ir.Machine{Steps: 1 << 16}).Eval(a.Func, in)
	return ir.As[[]float64](in[2]), err
}
