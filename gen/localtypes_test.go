package gen_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/lower"
)

// TestLocalTypes differentiates functions that declare types: structs and numbers with a name that others have too,
// that
// lead to themselves, are embedded, made of type parameters, type arguments, aliases, and declared in another package.
func TestLocalTypes(t *testing.T) {
	p := together(t, "local")
	for line := range strings.Lines(p.problems["local"]) {
		if !strings.Contains(line, ": note: ") || strings.Contains(line, "type") {
			t.Error(line)
		}
	}
	p.passes(t)
	// The names are always the same.
	dir := module(t, localFiles(t))
	first := ""
	for range 2 {
		if _, err := generate(t, dir, ".").Write(); err != nil {
			t.Fatal(err)
		}
		text := read(t, filepath.Join(dir, lower.Output))
		if first != "" && text != first {
			t.Error("generated again, the file differs")
		}
		first = text
	}
}

func localFiles(*testing.T) map[string]string {
	return map[string]string{
		"go.mod": "module golden/local\n\ngo 1.26\n",
		"local.go": `package local

import (
	"math"

	"golden/local/sub"
)

// pair has a name that types in functions have too.
type pair struct{}

var _ pair

//nabla:differentiate
func Struct(x []float64) float64 {
	type pair struct{ a, b float64 }
	p := pair{x[0], math.Sin(x[1])}
	ps := []pair{p, {p.b, p.a}}
	return ps[0].a * ps[1].a
}

//nabla:differentiate
func Again(x []float64) float64 {
	type pair struct{ c [2]float64 }
	p := pair{[2]float64{x[0], math.Sin(x[1])}}
	q := &p
	s := 1.0
	for i := range q.c {
		s *= q.c[i]
	}
	return s
}

//nabla:differentiate
func Number(x []float64) float64 {
	type length float64
	type area length
	l := length(x[0])
	a := area(math.Sin(x[1]))
	return float64(l) * float64(a)
}

//nabla:differentiate
func List(x []float64) float64 {
	type node struct {
		v    float64
		next *node
	}
	n := &node{v: x[0]}
	n = &node{v: math.Sin(x[1]), next: n}
	s := 1.0
	for ; n != nil; n = n.next {
		s *= n.v
	}
	return s
}

//nabla:differentiate
func Embedded(x []float64) float64 {
	type base struct{ a float64 }
	type more struct {
		base
		sub.Base
		b float64
	}
	m := more{base{x[0]}, sub.Base{V: 1}, math.Sin(x[1])}
	return m.a * m.b * m.Twice() / 2
}

//nabla:differentiate
func Alias(x []float64) float64 {
	type number = float64
	type numbers = []number
	n := numbers{x[0], math.Sin(x[1])}
	var a, b number = n[0], n[1]
	return a * b
}

//nabla:differentiate
func Inside(x []float64) float64 { return sub.Helper(x[0], x[1]) }

//nabla:differentiate
func Generic(x []float64) float64 { return sub.Product(x[0], math.Sin(x[1])) }

type number float64

//nabla:differentiate
func Generic2(x []float64) float64 {
	return float64(sub.Product(number(x[0]), number(math.Sin(x[1])))) + sub.Product(x[0], 0)
}

//nabla:differentiate
func Argument(x []float64) float64 {
	type pair struct{ a, b float64 }
	p := sub.First([]pair{{x[0], math.Sin(x[1])}, {}})
	return p.a * p.b
}

//nabla:differentiate
func Argument2(x []float64) float64 {
	type pair struct{ b, a float64 }
	p := sub.First([]pair{{x[0], math.Sin(x[1])}, {}})
	return p.a * p.b
}

//nabla:differentiate
func Closure(x []float64) float64 {
	type pair struct{ a, b float64 }
	times := func(p pair) float64 { return p.a * p.b }
	return times(pair{x[0], math.Sin(x[1])})
}
`,
		"sub/sub.go": `package sub

import "math"

type Base struct{ V float64 }

func (b Base) Twice() float64 { return 2 * b.V }

func Helper(a, b float64) float64 {
	type state struct{ v [2]float64 }
	type alias = state
	s := alias{[2]float64{a, math.Sin(b)}}
	t := s
	t.v[0] *= 2
	return s.v[0]*s.v[1]*3 - t.v[0]*s.v[1]
}

func Product[T ~float64](a, b T) T {
	type pair struct {
		a, b T
		next *pair
	}
	p := pair{a: a, next: &pair{b: b}}
	return p.a * p.next.b
}

func First[T any](list []T) T { return list[0] }
`,
		"local_test.go": `package local

import (
	"math"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/source"
)

// Test compares with the derivatives of a·sin b, which all functions are.
func Test(t *testing.T) {
	a, b := 2.0, 0.75
	g := []float64{math.Sin(b), a * math.Cos(b)}
	h := []float64{0, math.Cos(b), math.Cos(b), -a * math.Sin(b)}
	for i, f := range []func([]float64) float64{Struct, Again, Number, List, Embedded, Alias, Inside, Generic, Generic2, Argument, Argument2, Closure} {
		for _, engine := range []nabla.Backend{source.Reverse{}, source.Forward{}, forwarddiff.Backend{}} {
			got, err := nabla.Gradient(f, engine, []float64{a, b})
			m, err2 := nabla.Hessian(f, engine, []float64{a, b})
			if err != nil || err2 != nil {
				t.Errorf("%d by %s: %v, %v", i, engine.Name(), err, err2)
				continue
			}
			for j := range h {
				if math.Abs(got[j/2]-g[j/2]) > 1e-15 || math.Abs(m.At(j/2, j%2)-h[j]) > 1e-15 {
					t.Errorf("%d by %s: %v, %v, want %v, %v", i, engine.Name(), got, m, g, h)
				}
			}
		}
	}
}
`,
	}
}
