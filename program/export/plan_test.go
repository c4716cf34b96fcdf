package export_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/program"
	"github.com/nabla-ad/nabla/program/export"
)

// unrolled are numbers of lanes from which lines become loops: nearly all, the usual, and none.
var unrolled = []int{2, 3, 5, 0, math.MaxInt}

// pointsOf returns at and points near it and at special arguments.
func pointsOf(seed uint64, at []float64) [][]float64 {
	rng := rand.New(rand.NewPCG(seed, 8))
	points := [][]float64{at}
	for range 3 {
		x := slices.Clone(at)
		for i := range x {
			if rng.IntN(2) == 0 {
				x[i] += rng.NormFloat64()
			} else if rng.IntN(4) == 0 {
				x[i] = special[rng.IntN(len(special))]
			}
		}
		points = append(points, x)
	}
	return points
}

// checkPlans compares what loops and code without loops compute with a machine.
func checkPlans(t *testing.T, p *program.Program, points [][]float64) (failed int) {
	t.Helper()
	for _, x := range points {
		want, ok := evaluated(p, x, nil)
		for _, least := range unrolled {
			got, held, err := export.Interpret(p, export.Options{Unroll: least}, x, nil)
			if err != nil {
				t.Fatal(err)
			}
			if held != ok || !slices.EqualFunc(got, want, sameBits) {
				t.Fatalf("loops of %d lanes at %v: got %v, %v, want %v, %v of\n%s", least, x, got, held, want, ok, p)
			}
		}
		if !ok {
			failed++
		}
	}
	return failed
}

// TestLoopsAgree: loops, whatever the number of lanes from which there are any, compute bit for bit what code without
// loops and a machine do.
func TestLoopsAgree(t *testing.T) {
	longtest.Serial(t)
	n, failed := 0, 0
	for seed := range uint64(longtest.Cases(*programs, 0, 150, 5000)) {
		seed += *firstSeed
		p, at := randomProgram(t, seed, all, 25)
		points := pointsOf(seed, at)
		for _, q := range []*program.Program{p, program.Schedule(program.Simplify(p))} {
			failed += checkPlans(t, q, points)
			n += len(points)
		}
	}
	if failed == 0 || failed > n*9/10 {
		t.Errorf("guards fail in %d of %d evaluations", failed, n)
	}
}

// TestRandomProgramsHaveAll: the random programs of TestLoopsAgree and TestRandom have all that plans can have.
func TestRandomProgramsHaveAll(t *testing.T) {
	longtest.Serial(t)
	count := map[string]int{}
	const n = 300
	for seed := range uint64(n) {
		p, _ := randomProgram(t, seed, exact, 25)
		for feature, has := range export.Features(p, export.Options{Unroll: 3}) {
			if count[feature] += 0; has {
				count[feature]++
			}
		}
	}
	for feature, k := range count {
		if k == 0 {
			t.Errorf("none of %d programs has: %s", n, feature)
		}
	}
	t.Log(count)
}

// FuzzLoops compares loops with a machine for programs in the text form.
func FuzzLoops(f *testing.F) {
	for seed := range uint64(8) {
		p, _ := randomProgram(f, seed, exact, 12)
		f.Add(p.String(), uint8(seed), int64(seed))
	}
	f.Fuzz(func(t *testing.T, text string, least uint8, seed int64) {
		p, err := program.Parse(text, nil)
		if err != nil || program.Check(p) != nil || p.Slots > 5000 || p.NumOut() > 5000 || p.Operations() > 20000 {
			return
		}
		rng := rand.New(rand.NewPCG(uint64(seed), 1))
		numbers := func(n int) []float64 {
			x := make([]float64, n)
			for i := range x {
				x[i] = rng.NormFloat64()
			}
			return x
		}
		x, params := numbers(p.NumIn()), numbers(p.Params)
		got, held, err := export.Interpret(p, export.Options{Unroll: int(least)}, x, params)
		if errors.As(err, new(*export.RuleError)) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		want, ok := evaluated(p, x, params)
		if held != ok || !slices.EqualFunc(got, want, sameBits) {
			t.Fatalf("got %v, %v, want %v, %v of\n%s", got, held, want, ok, p)
		}
	})
}
