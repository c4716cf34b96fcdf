package ode_test

import (
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/internal/timing/timingtest"
	"github.com/nabla-ad/nabla/ode"
)

// BenchmarkDerivatives is the time of a solution with tangents, and with cotangents, in relation to the solution.
func BenchmarkDerivatives(b *testing.B) {
	for _, m := range methods {
		q, err := ode.Prepare(lorenz, nabla.Policy{Backend: reversediff.Backend{Compile: true}, FixedCaptures: true},
			lorenzStart, lorenzParameters, &ode.Settings{Method: m, Relative: 1e-6})
		if err != nil {
			b.Fatal(err)
		}
		solve := func(s *ode.Solution) *ode.Solution {
			s, err := q.Solve(s, lorenzStart, lorenzParameters, 0, 2)
			if err != nil {
				b.Fatal(err)
			}
			return s
		}
		s, plain := solve(nil), solve(nil)
		xdot, xbar, ybar := make([]float64, 6), make([]float64, 6), []float64{1, 0, 0}
		b.Run(m.String()+"/pushforward", func(b *testing.B) {
			timingtest.Ratio(b, func() {
				solve(s)
				clear(xdot)
				xdot[0] = 1
				if _, err := q.Pushforward(xdot[:3], xdot[3:], s, nil); err != nil {
					b.Fatal(err)
				}
			}, func() { solve(plain) })
		})
		b.Run(m.String()+"/pullback", func(b *testing.B) {
			timingtest.Ratio(b, func() {
				solve(s)
				if err := q.Pullback(xbar[:3], xbar[3:], s, ybar, 0, nil); err != nil {
					b.Fatal(err)
				}
			}, func() { solve(plain) })
		})
	}
}
