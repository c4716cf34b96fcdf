package ir_test

import (
	"flag"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/ir"
)

var update = flag.Bool("update", false, "write the golden files")

// Types of the tests, in Go and in the package that the texts name.
type (
	Point struct{ X, Y float64 }
	Node  struct {
		Val  float64
		Next *Node
	}
	Box struct {
		lo, hi Point
		w      [3]float64
		tags   []float64
		next   *Box
		name   string
	}
)

const geomSource = `package geom
import "math"
type (
	Point struct{ X, Y float64 }
	Node  struct {
		Val  float64
		Next *Node
	}
	Box struct {
		lo, hi Point
		w      [3]float64
		tags   []float64
		next   *Box
		name   string
	}
	Float float32
	Pair[T any] struct { A, B T }
)
const N = 3
const G = 9.81
const Tau = 2*math.Pi
var Table [4]float64
var Origin *Point
`

type onePackage struct{ pkg *types.Package }

func (o onePackage) Import(string) (*types.Package, error) { return o.pkg, nil }

// geom is the environment of the tests. Its package math holds Pi and no more.
var geom = func() *ir.Env {
	mathPkg := types.NewPackage("math", "math")
	mathPkg.Scope().Insert(types.NewConst(0, mathPkg, "Pi", types.Typ[types.UntypedFloat],
		constant.MakeFromLiteral("3.14159265358979323846264338327950288419716939937510582097494459", token.FLOAT, 0)))
	mathPkg.MarkComplete()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "geom.go", geomSource, 0)
	if err != nil {
		panic(err)
	}
	conf := types.Config{Importer: onePackage{mathPkg}}
	pkg, err := conf.Check("example.com/geom", fset, []*ast.File{file}, nil)
	if err != nil {
		panic(err)
	}
	other := types.NewPackage("example.com/other/geom", "geom")
	weight := types.NewTypeName(0, other, "Weight", nil)
	types.NewNamed(weight, types.Typ[types.Float64], nil)
	other.Scope().Insert(weight)
	other.MarkComplete()
	return &ir.Env{Packages: []*types.Package{pkg, other}}
}()

// parse reads functions that must be well-formed.
func parse(t testing.TB, text string) []*ir.Func {
	t.Helper()
	funcs, err := ir.Parse(text, geom)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, f := range funcs {
		if err := ir.Check(f); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	return funcs
}

func printed(t testing.TB, funcs ...*ir.Func) string {
	t.Helper()
	var b strings.Builder
	if err := ir.Print(&b, funcs...); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
