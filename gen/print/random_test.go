package print_test

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/internal/randprog"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/print"
	"github.com/nabla-ad/nabla/gen/tangent"
	"github.com/nabla-ad/nabla/internal/longtest"
)

var (
	programs = flag.Int("programs", 0,
		"how many random programs are printed; 0 is as many as the length of the tests asks for")
	firstSeed = flag.Uint64("seed", 1, "of the first random program")
)

// TestRandom prints the tangents of random programs, lowers the printed source, and compares the
// evaluation of both bit for bit.
func TestRandom(t *testing.T) {
	const batch = 50
	refused, n := 0, longtest.Cases(*programs, 10, 10, 200)
	for from := 0; from < n; from += batch {
		var list []*randprog.Program
		for i := from; i < min(from+batch, n); i++ {
			list = append(list, randprog.New(*firstSeed+uint64(i), randprog.Options{}))
		}
		refused += printed(t, list)
		if t.Failed() {
			break
		}
	}
	if refused*4 > n*3 {
		t.Errorf("%d of %d programs cannot be printed", refused, n)
	}
}

// printed is how many of the programs cannot be printed.
func printed(t *testing.T, list []*randprog.Program) (refused int) {
	t.Helper()
	cases, err := randprog.Load(list, 2)
	if err != nil {
		t.Fatal(err)
	}
	var (
		tangents []randprog.Tangent
		funcs    []print.Func
		names    []string
	)
	var kept []*randprog.Case
	for i, c := range cases {
		g, facts, err := tangent.New().Build(c.F, activity.Bits(1<<len(c.Sig.Params())-1))
		if err != nil {
			t.Fatalf("seed %d: %v", c.Program.Seed, err)
		}
		name := fmt.Sprintf("Tangent%d", i)
		f := print.Func{Func: g, Name: name, Doc: "is a tangent."}
		if _, err := print.File(c.F.Object.Pkg(), f); errors.As(err, new(*print.Error)) {
			refused++ // it has a type of slices, or of a function, that has no name here
			continue
		}
		kept = append(kept, c)
		tangents = append(tangents,
			randprog.Tangent{F: g, Params: facts.Params.Uint64(), Results: facts.Results.Uint64()})
		funcs, names = append(funcs, f), append(names, name)
	}
	text, err := print.File(cases[0].F.Object.Pkg(), funcs...)
	if err != nil {
		t.Fatal(err)
	}
	again, err := randprog.Lower(names, append(randprog.Batch(list), string(text))...)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for i, c := range kept {
		r := rand.New(rand.NewPCG(c.Program.Seed, 8))
		for k, in := range c.Inputs {
			dir := in.Floats()
			for j := range dir {
				dir[j] = r.NormFloat64()
			}
			out, dot, err := c.RunTangent(tangents[i], in, dir)
			read := tangents[i]
			read.F = again[i]
			out2, dot2, err2 := c.RunTangent(read, in, dir)
			if errors.As(err2, new(*ir.LimitError)) {
				refused++ // it reads tables of package rules, which are not here
				break
			}
			if (err == nil) != (err2 == nil) || !equal(out, out2) || !equal(dot, dot2) {
				t.Errorf("seed %d, input %d: %v, %v, %v as they are built, %v, %v, %v as they are printed\n%s\n%s\n%s",
					c.Program.Seed, k, out, dot, err, out2, dot2, err2, c.Source(), tangents[i].F, again[i])
				break
			}
		}
	}
	return refused
}

// equal compares bit for bit; all that are no numbers are one.
func equal(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool {
		return math.Float64bits(x) == math.Float64bits(y) || math.IsNaN(x) && math.IsNaN(y)
	})
}
