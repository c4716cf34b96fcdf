package ir_test

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"testing"

	"github.com/nabla-ad/nabla/gen/ir"
)

// cellTypes declares, in variables, types that are names of others at some level.
const cellTypes = `package p

type F = float64
type My float64
type Other float64
type G = My
type List[T any] struct { v T; next *List[T] }
type Tree struct { l, r *Tree }
type Bush Tree
type Alias[T any] = []T
type Fs []float64
type Arr [2]float64
type Arrs [2]Arr
type pair struct { a, b float64 }
type tagged struct { a float64 ` + "`json:\"a\"`" + `; b float64 }
type deep struct { p *pair }
type nested struct { in pair; c [2]My }
type Nested nested
type twice[T any] struct { in struct { x T ` + "`json:\"x\"`" + ` } }
type half struct { in struct { x float64 } }
type I interface { M() }
type J I
type Fn func(float64) F
type PF *float64
type PMy *My

var (
	_ float64; _ F; _ My; _ Other; _ G; _ float32; _ int; _ uint8; _ byte; _ string; _ bool
	_ *float64; _ *F; _ *My; _ **float64; _ **My; _ PF; _ PMy; _ *PF
	_ []float64; _ []F; _ []My; _ Fs; _ Alias[F]; _ Alias[My]; _ *Fs; _ *[]F; _ [][]float64; _ [][]F; _ []Fs
	_ [2]float64; _ [2]F; _ [2]My; _ [3]float64; _ Arr; _ *Arr; _ *[2]F; _ Arrs; _ [2][2]float64; _ [2]Arr
	_ pair; _ tagged; _ struct { a, b F }; _ struct { a, b My }; _ *pair; _ *tagged; _ *struct { a, b F }
	_ *struct { a F ` + "`x:\"y\"`" + ` }; _ *struct { a float64 }; _ deep; _ nested; _ Nested; _ twice[float64]; _ twice[F]; _ twice[My]; _ half; _ struct{}
	_ List[float64]; _ List[F]; _ List[My]; _ *List[F]; _ *List[float64]; _ Tree; _ Bush; _ *Tree; _ *Bush
	_ I; _ J; _ any; _ Fn; _ func(F) F; _ map[F]My; _ map[float64]G; _ chan F; _ chan float64
)
`

// named are the types of the variables in cellTypes.
func named(t *testing.T) (list []types.Type) {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "p.go", cellTypes, 0)
	if err != nil {
		t.Fatal(err)
	}
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}}
	if _, err := (&types.Config{Importer: importer.Default()}).Check("p", fset, []*ast.File{f}, info); err != nil {
		t.Fatal(err)
	}
	for id, o := range info.Defs {
		if v, ok := o.(*types.Var); ok && id.Name == "_" && !v.IsField() {
			list = append(list, v.Type())
		}
	}
	if len(list) < 60 {
		t.Fatalf("%d types", len(list))
	}
	return list
}

func isAggregate(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Struct, *types.Array:
		return true
	}
	return false
}

// TestCells compares the types of one cell with the pointer conversions that go/types permits.
func TestCells(t *testing.T) {
	list := named(t)
	var cells ir.Cells
	same := 0
	for _, a := range list {
		for _, b := range list {
			converts := types.ConvertibleTo(types.NewPointer(a), types.NewPointer(b))
			if isAggregate(a) || isAggregate(b) {
				if converts && !ir.MayOverlap(a, b) && a.String() != "struct{}" {
					t.Errorf("a %v does not overlap a %v", a, b)
				}
				continue
			}
			if got := ir.SameCell(a, b); got != converts {
				t.Errorf("SameCell(%v, %v) is %v, and a pointer to one is converted to the other: %v", a, b, got,
					converts)
			}
			if got := cells.Representative(a) == cells.Representative(b); got != converts {
				t.Errorf("%v and %v have one type: %v, want %v", a, b, got, converts)
			}
			if got := ir.MayOverlap(a, b); got != converts {
				t.Errorf("MayOverlap(%v, %v) is %v, want %v", a, b, got, converts)
			}
			if converts && a != b {
				same++
			}
		}
	}
	if same < 30 {
		t.Errorf("only %d pairs of types have one cell", same)
	}
}

// TestParts checks that a value overlaps its parts at any depth, under all names of their types,
// and no other value.
func TestParts(t *testing.T) {
	list := named(t)
	var parts func(t types.Type, visit func(t types.Type))
	parts = func(t types.Type, visit func(t types.Type)) {
		visit(t)
		switch u := t.Underlying().(type) {
		case *types.Struct:
			for f := range u.Fields() {
				parts(f.Type(), visit)
			}
		case *types.Array:
			parts(u.Elem(), visit)
		}
	}
	for _, a := range list {
		for _, b := range list {
			want := false
			parts(a, func(p types.Type) {
				parts(b, func(q types.Type) {
					want = want || !isAggregate(p) && !isAggregate(q) &&
						types.ConvertibleTo(types.NewPointer(p), types.NewPointer(q))
				})
			})
			if got := ir.MayOverlap(a, b); got != want {
				t.Errorf("MayOverlap(%v, %v) is %v, want %v", a, b, got, want)
			}
		}
	}
}
