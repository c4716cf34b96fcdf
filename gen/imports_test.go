package gen_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestImports differentiates functions whose callees are in a package that imports packages the caller does not import,
// under names with another meaning there.
func TestImports(t *testing.T) {
	p := together(t, "imports")
	if text := withoutNotes(p.problems["imports"]); text != "" {
		t.Error(text)
	}
	p.passes(t)
}

func importsFiles(*testing.T) map[string]string {
	// Each body is that of a function of x in package sub with the given results; call is the statement with which the
	// caller uses them. At x = 4 the derivative is 0.25.
	cases := []struct{ results, body, call string }{
		{"(float64, error)", `if x < 0 { return 0, errors.New("negative") }; return math.Sqrt(x), nil`,
			"if err != nil { return -1 }"},
		{"(float64, error)", `if x < 0 { return 0, fmt.Errorf("negative %v", x) }; return math.Sqrt(x), nil`,
			"if err != nil { return -1 }"},
		{"(float64, error)",
			`err := e.Join(e.New("a"), other.Err); if x > 0 && errors.Is(err, other.Err) { return math.Sqrt(x), nil }; return 0, err`, "if err != nil { return -1 }"},
		{"(float64, error)", `if x < 0 { return 0, other.Err }; return math.Sqrt(x), nil`,
			"if err != nil { return -1 }"},
		{"(float64, string)", `return math.Sqrt(x), fmt.Sprint("a", 1)`, `if err != "a1" { return -1 }`},
		{"(float64, string)", `return math.Sqrt(x), fmt.Sprintln(2)`, `if err != "2\n" { return -1 }`},
		{"(float64, string)", `return math.Sqrt(x), strconv.Itoa(int(x))`, `if err != "4" { return -1 }`},
		{"(float64, string)", `return math.Sqrt(x), strings.Repeat("ab", 2)`, `if err != "abab" { return -1 }`},
		{"(float64, bool)", `return math.Sqrt(x), strings.HasPrefix("ab", "a")`, `if !err { return -1 }`},
		{"(float64, int)", `if x < 0 { panic(fmt.Sprintf("negative %v", x)) }; return math.Sqrt(x), 1`, "_ = err"},
		{"(float64, int)", `if x < 0 { panic(errors.New("negative")) }; return math.Sqrt(x), 1`, "_ = err"},
		{"(float64, other.Pair)", `return math.Sqrt(x), other.Pair{A: x, B: 2}`, "r += (err.A - 4) * 0"},
		{"(float64, []other.Pair)", `return math.Sqrt(x), []other.Pair{{A: x}, {}}`, "r += (err[0].A - 4) * 0"},
		{"(float64, float64)", `return other.Root(x), other.Two`, "r *= err / 2"},
		{"(float64, float64)", `return other.Roots[0] * other.Root(x), 1`, "_ = err"},
		{"(float64, float64)", `return math.Sqrt(x) * float64(time.Duration(3)) / 3, 1`, "_ = err"},
		{"(float64, other.Number)", `return math.Sqrt(x), other.Number(x)`, "r += float64(err - 4) * 0"},
	}
	var sub, main, list strings.Builder
	for i, c := range cases {
		fmt.Fprintf(&sub, "\nfunc F%d(x float64) %s { %s }\n", i, c.results, c.body)
		fmt.Fprintf(&main,
			"\n//nabla:differentiate\nfunc F%d(x []float64) float64 { r, err := sub.F%d(x[0]); %s; return r }\n", i, i,
			c.call)
		fmt.Fprintf(&list, "F%d, ", i)
	}
	return map[string]string{
		"imports.go": `package imports

import (
	"golden/imports/errors"
	"golden/imports/sub"
)

// These have the names of packages that the file needs.
type strconv struct{}

func strings() {}

var time = errors.New(1)
` + main.String(),
		"errors/errors.go": "package errors\n\nfunc New(x float64) float64 { return x }\n\nfunc Is(x float64) bool " +
			"{ return false }\n",
		"other/other.go": `package other

import ("fmt"; "math")

var Err = fmt.Errorf("an error")

var Roots = []float64{1}

const Two = 2.0

type Pair struct{ A, B float64 }

type Number float64

func Root(x float64) float64 { return math.Sqrt(x) }
`,
		"sub/sub.go": `package sub

import (
	"errors"
	e "errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"golden/imports/other"
)
` + sub.String(),
		"imports_test.go": `package imports

import (
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/source"
)

func Test(t *testing.T) {
	for i, f := range []func([]float64) float64{` + list.String() + `} {
		for _, b := range []nabla.Backend{source.Reverse{}, source.Forward{}} {
			y, g, err := nabla.ValueAndGradient(f, b, []float64{4})
			if err != nil || y != 2 || g[0] != 0.25 {
				t.Errorf("F%d by %s: %v, %v, %v", i, b.Name(), y, g, err)
			}
		}
	}
}
`,
	}
}
