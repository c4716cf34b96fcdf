package nablabeam

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/nabla-ad/nabla/interop/beam/internal/coded"
	"github.com/nabla-ad/nabla/sums"
)

func init() { register.Function2x0(thousand) }

// thousand emits a block of 1000 rows.
func thousand(i int, emit func(coded.Batch)) {
	r := rand.New(rand.NewPCG(9, uint64(i)))
	var b coded.Batch
	for range 1000 {
		b.X = append(b.X, r.NormFloat64(), r.NormFloat64(), r.NormFloat64())
		b.Y = append(b.Y, float64(r.IntN(2)))
	}
	emit(b)
}

// BenchmarkSum sums value and gradient of 200,000 rows that the workers make, by a pipeline on Prism in process and by
// goroutines over the same rows in memory. The metrics are the times for a row.
func BenchmarkSum(b *testing.B) {
	const groups = 200
	read := func(s beam.Scope) beam.PCollection {
		list := make([]int, groups)
		for i := range list {
			list[i] = i
		}
		return beam.ParDo(s, thousand, beam.CreateList(s, list))
	}
	var blocks []coded.Batch
	for i := range groups {
		thousand(i, func(b coded.Batch) { blocks = append(blocks, b) })
	}
	e, err := New[coded.Batch]("logistic", read, Options{Scratch: b.TempDir(), Runner: "prism"})
	if err != nil {
		b.Fatal(err)
	}
	local := sums.NewLocal(coded.Terms["logistic"], sums.Slice(blocks), nil)
	q := sums.At([]float64{0.1, -0.2, 0.3}, true)
	var times [2]time.Duration
	for b.Loop() {
		for i, e := range []sums.Evaluator{e, local} {
			begin := time.Now()
			if s, err := e.Sum(b.Context(), q); err != nil || s.Rows != 1000*groups {
				b.Fatal(s, err)
			}
			times[i] += time.Since(begin)
		}
	}
	for i, name := range []string{"beam-ns/row", "local-ns/row"} {
		b.ReportMetric(float64(times[i].Nanoseconds())/float64(b.N)/1000/groups, name)
	}
}
