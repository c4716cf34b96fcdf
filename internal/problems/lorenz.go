package problems

import "github.com/nabla-ad/nabla"

const (
	lorenzSteps = 1000
	lorenzStep  = 0.01
)

// LorenzPlain returns the squared distance from the origin of the Lorenz system
//
//	x' = s(y-x)   y' = x(r-z) - y   z' = xy - bz
//
// after 1000 Runge-Kutta steps of 0.01. The argument is (x, y, z, s, r, b).
//
//nabla:differentiate
func LorenzPlain(p []float64) float64 {
	const h = lorenzStep
	x, y, z := p[0], p[1], p[2]
	s, r, b := p[3], p[4], p[5]
	for range lorenzSteps {
		x1, y1, z1 := s*(y-x), x*(r-z)-y, x*y-b*z
		u, v, w := x+h/2*x1, y+h/2*y1, z+h/2*z1
		x2, y2, z2 := s*(v-u), u*(r-w)-v, u*v-b*w
		u, v, w = x+h/2*x2, y+h/2*y2, z+h/2*z2
		x3, y3, z3 := s*(v-u), u*(r-w)-v, u*v-b*w
		u, v, w = x+h*x3, y+h*y3, z+h*z3
		x4, y4, z4 := s*(v-u), u*(r-w)-v, u*v-b*w
		x += h / 6 * (x1 + 2*x2 + 2*x3 + x4)
		y += h / 6 * (y1 + 2*y2 + 2*y3 + y4)
		z += h / 6 * (z1 + 2*z2 + 2*z3 + z4)
	}
	return x*x + y*y + z*z
}

// LorenzArraysPlain is [LorenzPlain] with states in arrays, which the compiler keeps in memory.
//
//nabla:differentiate
func LorenzArraysPlain(p []float64) float64 {
	u := [3]float64{p[0], p[1], p[2]}
	s, r, b := p[3], p[4], p[5]
	for range lorenzSteps {
		k1 := lorenzPlain(u, s, r, b)
		k2 := lorenzPlain(alongPlain(u, lorenzStep/2, k1), s, r, b)
		k3 := lorenzPlain(alongPlain(u, lorenzStep/2, k2), s, r, b)
		k4 := lorenzPlain(alongPlain(u, lorenzStep, k3), s, r, b)
		for i := range u {
			u[i] += lorenzStep / 6 * (k1[i] + 2*k2[i] + 2*k3[i] + k4[i])
		}
	}
	return u[0]*u[0] + u[1]*u[1] + u[2]*u[2]
}

func lorenzPlain(u [3]float64, s, r, b float64) [3]float64 {
	return [3]float64{s * (u[1] - u[0]), u[0]*(r-u[2]) - u[1], u[0]*u[1] - b*u[2]}
}

func alongPlain(u [3]float64, h float64, k [3]float64) [3]float64 {
	return [3]float64{u[0] + h*k[0], u[1] + h*k[1], u[2] + h*k[2]}
}

// Lorenz is [LorenzPlain] over Reals.
func Lorenz(p []nabla.Real) nabla.Real {
	u := [3]nabla.Real{p[0], p[1], p[2]}
	s, r, b := p[3], p[4], p[5]
	for range lorenzSteps {
		k1 := lorenz(u, s, r, b)
		k2 := lorenz(along(u, lorenzStep/2, k1), s, r, b)
		k3 := lorenz(along(u, lorenzStep/2, k2), s, r, b)
		k4 := lorenz(along(u, lorenzStep, k3), s, r, b)
		for i := range u {
			k := k1[i].Add(k2[i].Scale(2)).Add(k3[i].Scale(2)).Add(k4[i])
			u[i] = u[i].Add(k.Scale(lorenzStep / 6))
		}
	}
	return u[0].Sq().Add(u[1].Sq()).Add(u[2].Sq())
}

func lorenz(u [3]nabla.Real, s, r, b nabla.Real) [3]nabla.Real {
	return [3]nabla.Real{
		s.Mul(u[1].Sub(u[0])),
		u[0].Mul(r.Sub(u[2])).Sub(u[1]),
		u[0].Mul(u[1]).Sub(b.Mul(u[2])),
	}
}

func along(u [3]nabla.Real, h float64, k [3]nabla.Real) [3]nabla.Real {
	return [3]nabla.Real{u[0].Add(k[0].Scale(h)), u[1].Add(k[1].Scale(h)), u[2].Add(k[2].Scale(h))}
}

// lorenzGradient returns the gradient by an adjoint written by hand. It records the states and recomputes the stages of
// each step in the reverse sweep.
func lorenzGradient(p []float64) []float64 {
	const h = lorenzStep
	s, r, b := p[3], p[4], p[5]
	states := make([][3]float64, lorenzSteps+1)
	states[0] = [3]float64{p[0], p[1], p[2]}
	var stage [4][3]float64 // where the field is evaluated
	stages := func(u [3]float64) (next [3]float64) {
		next, at := u, u
		for i, w := range [4]float64{1, 2, 2, 1} {
			stage[i] = at
			k := lorenzPlain(at, s, r, b)
			next = alongPlain(next, h/6*w, k)
			at = alongPlain(u, [4]float64{h / 2, h / 2, h, 0}[i], k)
		}
		return next
	}
	for n := range lorenzSteps {
		states[n+1] = stages(states[n])
	}
	var ubar [3]float64
	for i, v := range states[lorenzSteps] {
		ubar[i] = 2 * v
	}
	var sbar, rbar, bbar float64
	for n := lorenzSteps - 1; n >= 0; n-- {
		stages(states[n])
		// kbar is the weight of the stage in the step plus the cotangent from stage i+1.
		var later [3]float64
		sum := ubar
		for i := 3; i >= 0; i-- {
			var kbar [3]float64
			for j := range kbar {
				kbar[j] = h/6*[4]float64{1, 2, 2, 1}[i]*ubar[j] + [4]float64{h / 2, h / 2, h, 0}[i]*later[j]
			}
			u := stage[i]
			sbar += kbar[0] * (u[1] - u[0])
			rbar += kbar[1] * u[0]
			bbar -= kbar[2] * u[2]
			later = [3]float64{
				-s*kbar[0] + (r-u[2])*kbar[1] + u[1]*kbar[2],
				s*kbar[0] - kbar[1] + u[0]*kbar[2],
				-u[0]*kbar[1] - b*kbar[2],
			}
			for j := range sum {
				sum[j] += later[j]
			}
		}
		ubar = sum
	}
	return []float64{ubar[0], ubar[1], ubar[2], sbar, rbar, bbar}
}

// T8 returns the Lorenz system from (1, 1, 1) with the parameters of Lorenz.
func T8() *Problem {
	x := []float64{1, 1, 1, 10, 28, 8.0 / 3}
	return &Problem{
		Name: "T8", Title: "Lorenz system",
		Formula: "f = x² + y² + z² after 1000 Runge–Kutta steps of x′ = s(y − x), y′ = x(r − z) − y, z′ = x y − b z",
		N:       6, M: 1,
		Source: "Lorenz, J. Atmos. Sci. 20 (1963) 130, classical Runge-Kutta; gradient with 60 digits",
		Plain:  LorenzPlain, Traced: Lorenz,
		ByHand: lorenzByHand,
		Cases: []Case{{X: x, Value: []float64{647.73997355613432}, Derivative: []float64{
			-85.892432904603544, -76.748838249146145, 222.08432840206186,
			-314.90565957766269, -482.34210041426106, -2603.53826049092,
		}}},
		// The trajectory is chaotic: rounding alone changes the derivative by 5e-14.
		Tolerance: 1e-12, Difference: 1e-3,
	}
}

// T8Arrays is T8 with states in arrays.
func T8Arrays() *Problem {
	p := T8()
	p.Name, p.Title, p.Plain = "T8-arrays", "Lorenz system, state in arrays", LorenzArraysPlain
	return p
}
