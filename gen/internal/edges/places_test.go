package edges

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/nabla-ad/nabla"
)

// TestPlaces: operations of generated code are reported at their line of the source.
func TestPlaces(t *testing.T) {
	text, err := os.ReadFile("places.go")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	for _, tt := range []struct {
		name, function string // function is the one that has the line
		trace          func() (*nabla.NonFinite, error)
		op             string
	}{
		{"NaNLoop", "edges.NaNLoop", func() (*nabla.NonFinite, error) {
			return nabla.Trace(NaNLoop, []float64{2, -1, 3, 0, 0.5})
		}, "log"},
		{"NaNHelper", "edges.ratio", func() (*nabla.NonFinite, error) {
			return nabla.Trace(NaNHelper, []float64{2, 1, 1})
		}, "div"},
		{"NaNClosure", "edges.NaNClosure", func() (*nabla.NonFinite, error) {
			return nabla.Trace(NaNClosure, []float64{2, 0, 1})
		}, "sqrt"},
		{"NaNBound", "edges.(*Limits).position", func() (*nabla.NonFinite, error) {
			return nabla.Trace(nabla.Bind(NaNBound, &Limits{2, 2}), []float64{1, 2})
		}, "div"},
		{"NaNInPlace", "edges.NaNInPlace", func() (*nabla.NonFinite, error) {
			return nabla.Trace(nabla.InPlace(2, NaNInPlace), []float64{1.5})
		}, "acos"},
		{"NaNStruct", "edges.NaNStruct", func() (*nabla.NonFinite, error) {
			f, _, err := nabla.StructPlain(NaNStruct, &Wave{})
			if err != nil {
				return nil, err
			}
			return nabla.Trace(f, []float64{2, 0})
		}, "inv"},
		{"NaNIterator", "edges.logarithms", func() (*nabla.NonFinite, error) {
			return nabla.Trace(NaNIterator, []float64{2, -3})
		}, "log"},
		{"NaNResults", "edges.exponentials", func() (*nabla.NonFinite, error) {
			return nabla.Trace(NaNResults, []float64{100})
		}, "exp"},
		{"NaNBranch", "edges.NaNBranch", func() (*nabla.NonFinite, error) {
			return nabla.Trace(NaNBranch, []float64{-1, -2})
		}, "sqrt"},
		{"NaNOperation", "edges.NaNOperation", func() (*nabla.NonFinite, error) {
			return nabla.Trace(NaNOperation, []float64{1, 0})
		}, "github.com/nabla-ad/nabla/gen/internal/edges.halfPower"},
		{"NaNLibrary", "edges.NaNLibrary", func() (*nabla.NonFinite, error) {
			return nabla.Trace(NaNLibrary, []float64{1, 1e200})
		}, "pow"},
		{"the Hessian of NaNSecond", "edges.NaNSecond", func() (*nabla.NonFinite, error) {
			return nabla.TraceHessian(NaNSecond, []float64{1, 2, 2, 3})
		}, "pow"},
	} {
		bad, err := tt.trace()
		if err != nil || bad == nil {
			t.Errorf("%s: %v, %v", tt.name, bad, err)
			continue
		}
		line := slices.IndexFunc(lines, func(l string) bool { return strings.HasSuffix(l, "// "+tt.name) }) + 1
		if tt.name == "NaNHelper" { // the place of an operation is that of its statement
			line--
		}
		if !strings.HasSuffix(bad.File, "edges/places.go") || bad.Line != line ||
			!strings.HasSuffix(bad.Function, tt.function) || bad.Op != tt.op {
			t.Errorf("%s: %s of %s at %s:%d, want %s of %s at line %d\n%v", tt.name, bad.Op, bad.Function, bad.File,
				bad.Line, tt.op, tt.function, line, bad)
		}
		if filepath.IsAbs(bad.File) && !strings.Contains(bad.String(), "\n\t"+strings.TrimSpace(lines[line-1])) {
			t.Errorf("%s: no text of the line: %v", tt.name, bad)
		}
	}
}

// TestFollowedPlace: an operation in a function of another module has the path of its package.
func TestFollowedPlace(t *testing.T) {
	bad, err := nabla.Trace(NaNFollowed, []float64{2, -1})
	if err != nil || bad == nil {
		t.Fatal(bad, err)
	}
	if bad.File != "gonum.org/v1/gonum/stat/stat.go" || bad.Function != "gonum.org/v1/gonum/stat.GeometricMean" ||
		bad.Op != "log" || !strings.Contains(bad.String(), " of gonum.org/v1/gonum/stat: log(-1) = NaN") {
		t.Errorf("%s of %s at %s: %v", bad.Op, bad.Function, bad.File, bad)
	}
	file, _ := runtime.FuncForPC(reflect.ValueOf(stat.GeometricMean).Pointer()).FileLine(0)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Skip(err) // as in a program built with -trimpath
	}
	lines := strings.Split(string(text), "\n")
	if bad.Line > len(lines) || !strings.Contains(lines[bad.Line-1], "math.Log(") {
		t.Errorf("line %d of %s has no logarithm", bad.Line, file)
	}
}
