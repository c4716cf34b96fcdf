package selection_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/internal/timing"
)

// chain is a sum of terms in two neighbours each.
func chain(x []nabla.Real) nabla.Real {
	s := nabla.Const(0)
	for i := range x {
		b := x[(i+1)%len(x)]
		s = s.Add(b.Sub(x[i].Sq()).Sq().Scale(100)).Add(nabla.Sin(x[i].Mul(b)))
	}
	return s
}

// waves has m outputs that depend on all inputs.
func waves(m int) func(x []nabla.Real) []nabla.Real {
	return func(x []nabla.Real) []nabla.Real {
		y := make([]nabla.Real, m)
		for j := range y {
			s := nabla.Const(0)
			for _, v := range x {
				s = s.Add(nabla.Sin(v.Scale(float64(j + 1))))
			}
			y[j] = s
		}
		return y
	}
}

// BenchmarkRules reports for each operator and size how many times as long Auto takes as the fastest of the engines
// that it could have selected. For one call the preparation counts.
func BenchmarkRules(b *testing.B) {
	dual, tape, compiled := forwarddiff.Backend{}, reversediff.Backend{}, reversediff.Backend{Compile: true}
	first := []nabla.Backend{dual, tape, compiled}
	second := []nabla.Backend{dual, compiled, nabla.SecondOrder{Outer: dual, Inner: compiled},
		nabla.SecondOrder{Outer: dual, Inner: tape}, nabla.AutoSparse{Dense: compiled},
		nabla.AutoSparse{Dense: nabla.SecondOrder{Outer: dual, Inner: compiled}}}
	for _, n := range []int{1, 2, 4, 8, 16, 64, 256} {
		x := make([]float64, n)
		for i := range x {
			x[i] = 0.1 * float64(i%7)
		}
		report(b, fmt.Sprintf("gradient/n=%d", n), first, func(e nabla.Backend) (call func() error, err error) {
			p, err := nabla.PrepareGradient(chain, e, x)
			g := make([]float64, n)
			return func() error { _, err := p.Gradient(g, x); return err }, err
		})
		report(b, fmt.Sprintf("gradient-once/n=%d", n), first, func(e nabla.Backend) (func() error, error) {
			return func() error { _, err := nabla.Gradient(chain, e, x); return err }, nil
		})
		report(b, fmt.Sprintf("hessian/n=%d", n), second, func(e nabla.Backend) (func() error, error) {
			p, err := nabla.PrepareHessian(chain, e, x)
			if err != nil {
				return nil, err
			}
			h, err := p.Hessian(nil, x)
			return func() error { _, err := p.Hessian(h, x); return err }, err
		})
		report(b, fmt.Sprintf("hessian-once/n=%d", n), second, func(e nabla.Backend) (func() error, error) {
			return func() error { _, err := nabla.Hessian(chain, e, x); return err }, nil
		})
		for _, m := range []int{2, 64} {
			f := waves(m)
			size := fmt.Sprintf("/n=%d/m=%d", n, m)
			report(b, "jacobian"+size, first, func(e nabla.Backend) (func() error, error) {
				p, err := nabla.PrepareJacobian(f, nabla.Policy{Backend: e, FixedCaptures: true}, x)
				j := mat.NewDense(m, n, nil)
				return func() error { _, err := p.Dense(j, x); return err }, err
			})
			report(b, "jacobian-once"+size, first, func(e nabla.Backend) (func() error, error) {
				return func() error { _, err := nabla.Jacobian(f, e, x); return err }, nil
			})
		}
	}
}

// report runs a benchmark that reports the time of Auto, and its ratio to the fastest of the others.
func report(b *testing.B, name string, others []nabla.Backend, prepare func(e nabla.Backend) (func() error, error)) {
	b.Run(name, func(b *testing.B) {
		var timings []*timing.Timing
		for _, e := range append([]nabla.Backend{nabla.Auto{}}, others...) {
			call, err := prepare(e)
			if err != nil {
				b.Fatalf("%s: %v", e.Name(), err)
			}
			timings = append(timings, timing.New(call, 1))
			timings[len(timings)-1].Calibrate(10 * time.Millisecond)
		}
		for b.Loop() {
			for round := range timing.Rounds {
				if err := timing.TakeTurns(b.Context(), timings, round); err != nil {
					b.Fatal(err)
				}
			}
		}
		times := make([]float64, len(timings))
		for i, t := range timings {
			if t.Err() != nil {
				b.Fatal(t.Err())
			}
			times[i] = timing.Median(t.Samples().NS)
		}
		best := slices.Min(times[1:])
		b.ReportMetric(times[0], "ns/derivative")
		fastest := others[slices.Index(times[1:], best)].Name()
		b.ReportMetric(times[0]/best, "over:"+strings.ReplaceAll(fastest, " ", "-"))
		b.ReportMetric(0, "ns/op")
	})
}
