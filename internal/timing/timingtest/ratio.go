// Package timingtest has a ratio of times for Go benchmarks and a clock for tests.
package timingtest

import (
	"slices"
	"testing"
	"time"

	"github.com/nabla-ad/nabla/internal/timing"
)

// Ratio reports how many times as long as plain f takes: the median of the ratios of
// samples taken in turns, and the ratio of the shortest samples.
func Ratio(b *testing.B, f, plain func()) {
	calls := func(f func()) int {
		n := 1
		for {
			start := time.Now()
			for range n {
				f()
			}
			if time.Since(start) > 100*time.Microsecond {
				return n
			}
			n *= 2
		}
	}
	nf, ng := calls(f), calls(plain)
	var ratios, slow, fast []float64
	for b.Loop() {
		start := time.Now()
		for range nf {
			f()
		}
		tf := float64(time.Since(start)) / float64(nf)
		start = time.Now()
		for range ng {
			plain()
		}
		tg := float64(time.Since(start)) / float64(ng)
		ratios, slow, fast = append(ratios, tf/tg), append(slow, tf), append(fast, tg)
	}
	b.ReportMetric(timing.Median(ratios), "ratio")
	b.ReportMetric(slices.Min(slow)/slices.Min(fast), "ratio-undisturbed")
	b.ReportMetric(slices.Min(slow), "ns/derivative")
	b.ReportMetric(slices.Min(fast), "ns/plain")
	b.ReportMetric(0, "ns/op")
}
