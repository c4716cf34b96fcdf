// Package schemes has explicit finite differences for partial differential equations, of which code is generated, for
// tests and benchmarks: two buffers are exchanged after each step.
package schemes

// Heat returns Σ u² after steps of the heat equation in a rod with fixed ends. The first half of x has the temperatures
// u of its cells, the second half their diffusivities times the step in time over the square of that in space, of which
// none is above 1/2: R. Courant, K. Friedrichs & H. Lewy, "Über die partiellen Differenzengleichungen der
// mathematischen Physik", Mathematische Annalen 100 (1928).
//
//nabla:differentiate
func Heat(x []float64, steps int) float64 {
	n := len(x) / 2
	k := x[n:]
	u, v := make([]float64, n), make([]float64, n)
	copy(u, x[:n])
	for range steps {
		v[0], v[n-1] = u[0], u[n-1]
		for i := 1; i < n-1; i++ {
			v[i] = u[i] + k[i]*(u[i-1]-2*u[i]+u[i+1])
		}
		u, v = v, u
	}
	return energy(u)
}

// HeatInSegments is Heat in less memory.
//
//nabla:differentiate
func HeatInSegments(x []float64, steps int) float64 {
	n := len(x) / 2
	k := x[n:]
	u, v := make([]float64, n), make([]float64, n)
	copy(u, x[:n])
	//nabla:checkpoint snapshots=2 steps=3
	for range steps {
		v[0], v[n-1] = u[0], u[n-1]
		for i := 1; i < n-1; i++ {
			v[i] = u[i] + k[i]*(u[i-1]-2*u[i]+u[i+1])
		}
		u, v = v, u
	}
	return energy(u)
}

// Burgers returns Σ u² after steps of Burgers' equation from u = x, with 0.1 for the step in time over twice that in
// space, and 0.2 for the viscosity: J. M. Burgers, "A mathematical model illustrating the theory of turbulence",
// Advances in Applied Mechanics 1 (1948).
//
//nabla:differentiate
func Burgers(x []float64, steps int) float64 {
	n := len(x)
	u, v := make([]float64, n), make([]float64, n)
	copy(u, x)
	for range steps {
		v[0], v[n-1] = u[0], u[n-1]
		for i := 1; i < n-1; i++ {
			v[i] = u[i] - 0.1*u[i]*(u[i+1]-u[i-1]) + 0.2*(u[i-1]-2*u[i]+u[i+1])
		}
		u, v = v, u
	}
	return energy(u)
}

// energy returns Σ u².
func energy(u []float64) (sum float64) {
	for _, v := range u {
		sum += v * v
	}
	return sum
}
