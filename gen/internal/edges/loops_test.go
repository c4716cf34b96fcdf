package edges

import (
	"math"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/source"
)

// inputs returns n positive numbers.
func inputs(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = 0.5 + float64(i%7)/8
	}
	return x
}

// near reports an error unless got is want up to rounding.
func near(t *testing.T, name string, got, want []float64) {
	t.Helper()
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-12*(1+math.Abs(want[i])) {
			t.Fatalf("%s: [%d] is %g, want %g", name, i, got[i], want[i])
		}
	}
}

// TestMarkedLoops: forms over Reals tell recordings of their loops, whatever the ways out of them are. The recordings
// have the derivatives of the code.
func TestMarkedLoops(t *testing.T) {
	rec, err := nabla.Record(Nested, inputs(24))
	markedLoops(t, "Nested", rec, err, Nested, 100)
	rec, err = nabla.Record(Left, inputs(24))
	markedLoops(t, "Left", rec, err, Left, 400)
	rec, err = nabla.Record(Waits, inputs(24))
	markedLoops(t, "Waits", rec, err, Waits, 400)
	rec, err = nabla.Record(Fails, inputs(24))
	markedLoops(t, "Fails", rec, err, Fails, 410)
	count := nabla.Bind(Index, &Count{24})
	rec, err = nabla.Record(count, inputs(24))
	markedLoops(t, "Index", rec, err, count, 60)

	replay := reversediff.Backend{Compile: true}
	if _, err := nabla.Gradient(Fails, replay, append([]float64{-1}, inputs(23)...)); err == nil {
		t.Error("no error out of a loop")
	}
	if _, err := nabla.Gradient(nabla.Bind(Index, &Count{30}), replay, inputs(24)); err == nil {
		t.Error("no error of a panic in a loop")
	}
	rec, err = nabla.Record(Nested, inputs(24)) // the iterations of loops that were left are forgotten
	markedLoops(t, "Nested", rec, err, Nested, 100)
}

// markedLoops compares derivatives of f by recordings with those of its code. most is the greatest number of statements
// of rec, the recording of f.
func markedLoops[F nabla.ScalarFunc](t *testing.T, name string, rec *nabla.Recorded, err error, f F, most int) {
	t.Helper()
	if err != nil {
		t.Fatal(name, err)
	}
	if n := len(rec.Program().Stmts); n > most {
		t.Errorf("%s: %d statements of %d operations", name, n, rec.Program().Operations())
	}
	x, v := inputs(24), inputs(24)
	gradient, err := nabla.Gradient(f, source.Reverse{}, x)
	if err != nil {
		t.Fatal(name, err)
	}
	product, err := nabla.HVP(f, source.Reverse{}, x, v)
	if err != nil {
		t.Fatal(name, err)
	}
	replay := reversediff.Backend{Compile: true}
	for _, b := range []nabla.Backend{replay, reversediff.Backend{}, forwarddiff.Backend{},
		nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: replay},
		nabla.SecondOrder{Outer: replay, Inner: replay}} {
		got, err := nabla.Gradient(f, b, x)
		if err != nil {
			t.Fatal(name, err)
		}
		near(t, name+" by "+b.Name(), got, gradient)
		if got, err = nabla.HVP(f, b, x, v); err != nil {
			t.Fatal(name, err)
		}
		near(t, name+", second derivatives by "+b.Name(), got, product)
	}
}
