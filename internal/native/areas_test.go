package native

import (
	"math"
	"math/rand/v2"
	"testing"
)

// An outside has inputs and outputs in memory of its own.
type outside struct {
	areas   Areas
	in, out []float64
}

// outsides and wanted are the numbers of codes that use areas, and that could.
var outsides, wanted int

// newOutside returns some of the inputs, which are the first n slots, and of the stores, which are the slots from first
// to last.
func newOutside(rng *rand.Rand, n, first, last int32) *outside {
	o := &outside{}
	for k, r := range [...][2]int32{{0, n}, {first, last}} {
		if size := r[1] - r[0]; size > 0 && rng.IntN(3) > 0 {
			from := rng.Int32N(size)
			if rng.IntN(3) > 0 {
				from = 0
			}
			count := 1 + rng.Int32N(size-from)
			if rng.IntN(3) > 0 {
				count = size - from
			}
			o.areas[k] = Area{r[0] + from, count}
		}
	}
	return o
}

// used makes the memory for the areas of c.
func (o *outside) used(c *Code) {
	if o.areas != (Areas{}) {
		wanted++
	}
	if o.areas = c.Areas(); o.areas != (Areas{}) {
		outsides++
	}
	o.in, o.out = make([]float64, o.areas[0].N+1), make([]float64, o.areas[1].N+1)
}

// nowhere is what the slots of areas have in a file.
const nowhere = 1.25e-77

// take takes the slots in the areas from a file.
func (o *outside) take(file []float64) {
	for k, memory := range [...][]float64{o.in, o.out} {
		a := o.areas[k]
		copy(memory, file[a.First:a.First+a.N])
		memory[a.N] = nowhere
		for i := range a.N {
			file[a.First+i] = nowhere
		}
	}
}

// give puts them there.
func (o *outside) give(t *testing.T, file []float64) {
	for k, memory := range [...][]float64{o.in, o.out} {
		a := o.areas[k]
		for i := range a.N {
			if file[a.First+i] != nowhere {
				t.Fatalf("slot %d of area %d is written to the file", i, k)
			}
		}
		if math.Float64bits(memory[a.N]) != math.Float64bits(nowhere) {
			t.Fatalf("the number behind area %d is overwritten", k)
		}
		copy(file[a.First:], memory[:a.N])
	}
}

// wantOutside reports an error unless most codes that can use areas do.
func wantOutside(t *testing.T) {
	t.Helper()
	t.Logf("%d of %d codes use areas", outsides, wanted)
	if 3*outsides < wanted {
		t.Error("want more")
	}
	outsides, wanted = 0, 0
}
