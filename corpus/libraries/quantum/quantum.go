// Package quantum has functions that use github.com/itsubaki/q, a simulator of quantum circuits.
package quantum

import (
	"math"
	"math/cmplx"

	"github.com/itsubaki/q"
	"github.com/itsubaki/q/math/matrix"
	"github.com/itsubaki/q/quantum/gate"
	"github.com/itsubaki/q/quantum/qubit"
)

// Energy is the expectation of Z⊗Z after a circuit with parameters.
//
//corpus:at 0.4 1.1 0.7
func Energy(theta []float64) float64 {
	sim := q.New()
	a, b := sim.Zero(), sim.Zero()
	sim.RY(theta[0], a)
	sim.RY(theta[1], b)
	sim.CNOT(a, b)
	sim.RX(theta[2], b)
	p := sim.Probability()
	return p[0] - p[1] - p[2] + p[3]
}

// Probability is the probability of 1 after rotations.
//
//corpus:at 0.4 1.1
func Probability(a, b float64) float64 {
	z := qubit.Zero().Apply(gate.RX(a)).Apply(gate.RZ(b)).Apply(gate.H())
	return z.Probability()[1]
}

// Fidelity compares the unitary matrices of two gates.
//
//corpus:at 0.4 1.1 0.7
func Fidelity(theta, phi, lambda float64) float64 {
	u := gate.U(theta, phi, lambda)
	return cmplx.Abs(u.Apply(gate.H()).Trace()) / 2
}

// Commutator is the norm of a commutator of matrices.
//
//corpus:at 0.4 1.1
func Commutator(a, b float64) float64 {
	c := matrix.Commutator(gate.RX(a), gate.RY(b))
	s := 0.0
	for _, row := range c {
		for _, v := range row {
			s += real(v)*real(v) + imag(v)*imag(v)
		}
	}
	return math.Sqrt(s)
}
