package gen_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen"
)

// TestNeighbours: the code of a package does not depend on the others that are generated with it, also if these have
// the same name and functions of the same names.
func TestNeighbours(t *testing.T) {
	if testing.Short() {
		t.Skip("type-checks many packages")
	}
	const source = `package main

import (
	"math"
	"sort"
)

type curve interface{ at(x float64) float64 }

type line struct{ a float64 }

func (l line) at(x float64) float64 { return l.a * x }

type wave struct{ b float64 }

func (w wave) at(x float64) float64 { return math.Sin(w.b * x) }

var scale = func(x float64) float64 { return 2 * x }

//nabla:differentiate
func Loss(x []float64) float64 {
	twice := func(v float64) float64 { return scale(v) * v }
	var c curve = line{x[0]}
	if x[1] > 0 {
		c = wave{x[1]}
	}
	y := append([]float64(nil), x...)
	sort.Float64s(y)
	s := 1.0
	for i, v := range y {
		s += step(s, v, i)
		if s > 1 {
			s *= c.at(twice(v))
		}
	}
	//nabla:checkpoint
	for range 10 {
		s = math.Sin(s) + y[0]
	}
	return s + generic(s, x[0])
}

func step(s, v float64, i int) float64 {
	for range i {
		s = math.Sin(s * v)
		if s > 0.5 {
			s = s * s * v
		}
	}
	return s
}

func generic[T ~float64](a, b T) T {
	for range 3 {
		a = a*b + T(math.Cos(float64(a)))
	}
	return a
}

func main() {}
`
	dir := module(t, map[string]string{"go.mod": "module m\n\ngo 1.26\n", "a/a.go": source, "b/b.go": source})
	texts := func(patterns ...string) map[string]string {
		t.Helper()
		r := generate(t, dir, patterns...)
		for _, problem := range r.Problems() {
			if problem.Severity == gen.Error {
				t.Error(problem)
			}
		}
		texts := map[string]string{}
		for _, pkg := range r.Packages {
			for _, f := range pkg.Files {
				texts[filepath.Base(filepath.Dir(f.Name))] += string(f.Text)
			}
		}
		return texts
	}
	both := texts("./a", "./b")
	for _, name := range []string{"a", "b"} {
		alone := texts("./" + name)[name]
		if !strings.Contains(alone, "LossAdjoint") {
			t.Fatalf("%s has no adjoint:\n%s", name, alone)
		}
		if both[name] != alone {
			t.Errorf("%s: the code with the other package differs:\n%s", name, difference(alone, both[name]))
		}
	}
}

// difference returns the first lines that differ.
func difference(a, b string) string {
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(as), len(bs)) {
		if as[i] != bs[i] {
			return as[i] + "\n" + bs[i]
		}
	}
	return "one is longer"
}
