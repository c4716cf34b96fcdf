package export_test

import (
	"bytes"
	"errors"
	"flag"
	"go/format"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/program"
	"github.com/nabla-ad/nabla/program/export"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

// rosenbrock has a branch.
func rosenbrock(x []nabla.Real) nabla.Real {
	if x[2].Less(nabla.Const(0)) {
		return nabla.Const(0)
	}
	return nabla.Const(1).Sub(x[0]).Sq().Add(x[1].Sub(x[0].Sq()).Sq().Scale(100)).Add(nabla.Logistic(x[2]))
}

func recorded(t *testing.T) *nabla.Recorded {
	t.Helper()
	r, err := nabla.Record(rosenbrock, []float64{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// TestGolden shows what files look like.
func TestGolden(t *testing.T) {
	r := recorded(t)
	get := must[*nabla.Recorded](t)
	sparse := get(r.SparseHessian())
	// A comparison, a value in all lanes, neighbours on a circle, a stride, a sum, and constants among the outputs.
	loops, err := nabla.RecordedOf("loops", parsed(t, `%0:12 = input x
%12 = const 3
guardlt %0:+1 %12 = 111111111111
%13:12 = sin %0:+1
%25:12 = mul %13:+1 [%14 %15 %16 %17 %18 %19 %20 %21 %22 %23 %24 %13]
%37:6 = sub %25:+2 %0
%43 = sum 6 %37:+1
out y [%43 %37 %38 %39 %40 %41 %42 %25 %26 %27 %28 %29 %30 %31 %32 %33 %34 %35 %36`+strings.Repeat(" %12", 20)+"]"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		file   string
		r      *nabla.Recorded
		format string
		o      export.Options
	}{
		{"rosenbrock.go.txt", r, "go", export.Options{Name: "Rosenbrock", Package: "exported", Numbers: true}},
		{"hessian.go.txt", sparse, "go", export.Options{Name: "Hessian", Package: "exported", Pattern: sparse.Pattern(),
			Comment: "computes the Hessian of Rosenbrock."}},
		{"pushforward.c.txt", get(r.Pushforward()), "c", export.Options{Name: "pushforward"}},
		{"hessian.c.txt", sparse, "c", export.Options{Name: "hessian", Pattern: sparse.Pattern(),
			Comment: "The Hessian of the function of Rosenbrock."}},
		{"loops.go.txt", loops, "go", export.Options{Name: "Loops", Unroll: 5}},
		{"loops.c.txt", loops, "c", export.Options{Name: "loops", Unroll: 5}},
		{"gradient.tex", get(r.Gradient()), "latex", export.Options{}},
		{"hessian.tex", sparse, "latex", export.Options{Pattern: sparse.Pattern()}},
		{"gradient.json", get(r.Gradient()), "json", export.Options{}},
	} {
		var b bytes.Buffer
		if err := export.Write(&b, tt.format, tt.r.Program(), tt.o); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", tt.file)
		if *update {
			if err := os.WriteFile(file, b.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b.Bytes(), want) {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.file, b.Bytes(), want)
		}
	}
}

// TestDerivatives: derivatives of a recorded function are exported like itself.
func TestDerivatives(t *testing.T) {
	r := recorded(t)
	get := must[*nabla.Recorded](t)
	g := get(r.Gradient())
	list := []*nabla.Recorded{r, g, get(r.Jacobian()), get(r.Hessian()), get(r.HVP()), get(r.Pushforward()),
		get(g.Pullback()), get(r.SparseHessian()), get(g.SparseJacobian()), get(r.Hessian()).Strong()}
	var jobs []job
	for _, r := range list {
		n, _ := r.Dims()
		x := []float64{1.5, -0.5, 0.25, 1, 2, -3, 0.5}[:n]
		y := append([]float64{}, x...)
		y[2] = -1 // another branch
		jobs = append(jobs, job{p: r.Program(), points: [][]float64{x, y}})
	}
	for _, target := range targets {
		t.Run(target.name, func(t *testing.T) {
			n, failed := compareAll(t, target, jobs, func(a, b float64) bool {
				return target.name == "go" && sameBits(a, b) || target.name == "c" && math.Abs(a-b) <= 1e-14*max(1,
					math.Abs(b))
			})
			if n != 2*len(list) || failed != len(list) {
				t.Errorf("%d evaluations, %d guards failed", n, failed)
			}
		})
	}
}

// TestParameters: parameters are the last argument. A sum of many -0 is -0.
func TestParameters(t *testing.T) {
	zeros := parsed(t, "%0:40 = input x\n%40:2 = param 0\n%42:40 = mul %0:+1 %41\n%82 = sum 40 %42:+1\n"+
		"%83 = sum 40 %39:-1\nout y [%82 %83]\nout d [%82]")
	p := parsed(t, "%0:2 = input x\n%2:2 = param 0\n%4:2 = mul %0:+1 %2:+1\nout y [%4 %5]\nout d [%3]")
	for _, target := range targets {
		t.Run(target.name, func(t *testing.T) {
			params := []float64{5, math.Copysign(0, -1)}
			negative := slices.Repeat([]float64{math.Copysign(0, -1)}, 40)
			compareAll(t, target, []job{{p: p, points: [][]float64{{2, 3}, {-1, 0}}, params: params},
				{p: zeros, points: [][]float64{negative, make([]float64, 40)}, params: []float64{0, 1}}}, sameBits)
		})
	}
}

func TestRefusals(t *testing.T) {
	p := parsed(t, "%0 = input x\nout y [%0]")
	call, err := program.Parse("%0 = input x\n%1 = call \"rule \\\"twice\\\"\" [%0]\nout y [%1]", customs)
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"go", "c"} {
		var rule *export.RuleError
		if err := export.Write(new(bytes.Buffer), format, call, export.Options{}); !errors.As(err, &rule) ||
			rule.Rule != `rule "twice"` || !strings.Contains(err.Error(), "twice") {
			t.Errorf("%s: %v", format, err)
		}
		for _, name := range []string{"for", "2f", "f g", "float64", "sin", "f-"} {
			if (name == "float64") == (format == "c") || (name == "sin") == (format == "go") {
				continue
			}
			err := export.Write(new(bytes.Buffer), format, p, export.Options{Name: name})
			if !errors.As(err, new(*export.NameError)) && !(name == "float64" && format == "c") {
				t.Errorf("%s: the name %q: %v", format, name, err)
			}
		}
		pattern := recordedPattern(t)
		if err := export.Write(new(bytes.Buffer), format, p, pattern); !errors.As(err, new(*export.PatternError)) {
			t.Errorf("%s: %v", format, err)
		}
	}
	for _, format := range export.Formats {
		bad := *p
		bad.Slots = 7
		if err := export.Write(new(bytes.Buffer), format, &bad, export.Options{}); err == nil {
			t.Errorf("%s: a malformed program is written", format)
		}
		if err := export.Write(new(bytes.Buffer), format, p, export.Options{}); err != nil {
			t.Errorf("%s: %v", format, err)
		}
	}
	var e *export.FormatError
	if err := export.Write(new(bytes.Buffer), "fortran", p, export.Options{}); !errors.As(err, &e) ||
		!strings.Contains(err.Error(), "fortran") {
		t.Error(err)
	}
}

func recordedPattern(t *testing.T) export.Options {
	r, err := recorded(t).SparseHessian()
	if err != nil {
		t.Fatal(err)
	}
	return export.Options{Pattern: r.Pattern()}
}

// TestGoForms: with Numbers, groups of one number are numbers; files are gofmt-ed.
func TestGoForms(t *testing.T) {
	for _, tt := range []struct {
		text    string
		numbers bool
		want    string
	}{
		{"%0 = input x\nout y [%0]", false, "func F(y, x []float64) {"},
		{"%0 = input x\nout y [%0]", true, "func F(x float64) float64 {"},
		{"%0:2 = input x\nguardlt %0 %1 = 1\nout y [%0]", true, "func F(x []float64) (float64, bool) {"},
		{"%0:2 = input x\nguardlt %0 %1 = 1\nout y [%0]", false, "func F(y, x []float64) bool {"},
		{"%0:2 = input x\n%2 = input v7\nout y [%0]\nout x [%1 %2]", true,
			"func F(x_, x []float64, v7_ float64) float64 {"},
		{"%0:2 = input math\n%2 = param 0\nout for [%2 %1]", false, "func F(for_, math_, params []float64) {"},
		{"%0:0 = input x\nout y []", false, "func F(y, x []float64) {"},
	} {
		text, err := export.Go(parsed(t, tt.text), export.Options{Numbers: tt.numbers})
		if err != nil || !strings.Contains(string(text), tt.want) {
			t.Errorf("%s\ngot %v\n%s\nwant %s", tt.text, err, text, tt.want)
		}
		if again, err := format.Source(text); err != nil || !bytes.Equal(again, text) {
			t.Errorf("%v: gofmt changes\n%s", err, text)
		}
	}
}
