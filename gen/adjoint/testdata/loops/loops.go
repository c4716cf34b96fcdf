// Package loops has loops that are marked for checkpointing, in all forms.
package loops

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Scalars hands on two numbers.
func Scalars(x []float64, n int) float64 {
	a, b := x[0], x[1]
	//nabla:checkpoint
	for i := 0; i < n; i++ {
		a, b = math.Sin(a)+0.1*b*x[2], b*0.9+a*a*0.1+x[i%len(x)]*0.01
	}
	return a * b
}

// Memory writes a slice that it has made and one that it is given.
func Memory(x []float64, n int) float64 {
	u := make([]float64, len(x))
	copy(u, x)
	v := make([]float64, len(x))
	//nabla:checkpoint
	for k := 0; k < n; k++ {
		for i := range u {
			v[i] = u[i] * math.Cos(u[(i+1)%len(u)])
		}
		for i := range u {
			u[i] += 0.1 * v[i] * x[i]
		}
	}
	s := 0.0
	for i := range u {
		s += u[i] * v[i]
	}
	return s
}

// InPlace writes its argument, before the loop, in it and behind it.
func InPlace(x []float64, n int) float64 {
	x[0] *= x[1]
	//nabla:checkpoint levels=3
	for k := 1; k <= n; k++ {
		x[k%len(x)] = math.Sin(x[(k+1)%len(x)]) + x[k%len(x)]*x[0]*0.5
	}
	x[1] = math.Exp(x[0] * 0.1)
	return x[0] * x[1]
}

// Early breaks out, goes on and returns.
func Early(x []float64, n int) float64 {
	s := x[0]
	//nabla:checkpoint
	for i := 0; i < n; i++ {
		if x[i%len(x)] < 0 {
			continue
		}
		s += math.Sin(s) * x[i%len(x)] * 0.3
		if s > 4.5 {
			return s * x[1]
		}
		if s < -3 {
			break
		}
		s *= 1.01
	}
	return s * x[0]
}

// While does not know how often.
func While(x []float64, limit float64) float64 {
	s, d, k := x[0], 1.0, 0
	//nabla:checkpoint
	for s < limit {
		d = math.Cos(d*x[1]) + x[2]
		s += 0.05 + 0.01*d*d*x[k%len(x)]
		k++
	}
	return s * d * float64(k)
}

// WhileTight has three snapshots.
func WhileTight(x []float64, limit float64) float64 {
	s, d, k := x[0], 1.0, 0
	//nabla:checkpoint snapshots=3 steps=2
	for s < limit {
		d = math.Cos(d*x[1]) + x[2]
		s += 0.05 + 0.01*d*d*x[k%len(x)]
		k++
	}
	return s * d * float64(k)
}

// Alone has one snapshot.
func Alone(x []float64, n int) float64 {
	s := x[0]
	//nabla:checkpoint snapshots=1
	for i := n - 1; i >= 0; i -= 2 {
		s = math.Sin(s*x[i%len(x)]) + x[1]
	}
	return s
}

// Swaps exchanges two slices.
func Swaps(x []float64, n int) float64 {
	a, b := make([]float64, len(x)), make([]float64, len(x))
	copy(a, x)
	//nabla:checkpoint snapshots=4
	for range n {
		for i := range a {
			b[i] = a[i] + 0.1*math.Sin(a[(i+1)%len(a)])*x[i]
		}
		a, b = b, a
	}
	return a[0]*a[1] + b[2]
}

// Rows writes slices in a slice.
func Rows(x []float64, n int) float64 {
	m := [][]float64{make([]float64, len(x)), make([]float64, len(x)+1), nil}
	copy(m[0], x)
	copy(m[1], x)
	//nabla:checkpoint
	for k := 0; k < n; k++ {
		a, b := m[k%2], m[(k+1)%2]
		for i := range x {
			a[i] += 0.1 * math.Sin(b[i]*x[(i+1)%len(x)])
		}
	}
	return m[0][0]*m[1][1] + m[0][2]
}

// Moves assigns slices in a slice, which no snapshot has.
func Moves(x []float64, n int) float64 {
	m := [][]float64{make([]float64, len(x)), make([]float64, len(x))}
	copy(m[0], x)
	copy(m[1], x)
	//nabla:checkpoint
	for range n {
		for i := range x {
			m[0][i] += 0.1 * math.Sin(m[1][i]*x[(i+1)%len(x)])
		}
		m[0], m[1] = m[1], m[0]
	}
	return m[0][0]*m[1][1] + m[0][2]
}

// Fresh makes new memory for the next iteration.
func Fresh(x []float64, n int) float64 {
	a := x
	//nabla:checkpoint
	for range n {
		b := make([]float64, len(a))
		for i := range a {
			b[i] = math.Sin(a[i]) + 0.5*a[(i+1)%len(a)]
		}
		a = b
	}
	return a[0] * a[1]
}

// Scratch makes memory that the iteration keeps to itself, itself and in a function.
func Scratch(x []float64, n int) float64 {
	s := x[0]
	//nabla:checkpoint
	for k := 0; k < n; k++ {
		t := make([]float64, len(x))
		for i := range t {
			t[i] = math.Sin(s * x[i])
		}
		s += smooth(t) * 0.1
	}
	return s
}

func smooth(t []float64) float64 {
	u := make([]float64, len(t))
	copy(u, t)
	r := 0.0
	for i := range t {
		u[i] *= t[(i+1)%len(t)]
		r += u[i] * u[i]
	}
	return r
}

type pair struct {
	q, p float64
	at   [2]float64
	step int
}

// Structs hands on a struct and one behind a pointer.
func Structs(x []float64, n int) float64 {
	s := pair{q: x[0], p: x[1]}
	t := &pair{q: x[2]}
	//nabla:checkpoint
	for k := 0; k < n; k++ {
		s.q += 0.1 * s.p
		s.p -= 0.1*math.Sin(s.q) + 0.01*t.q
		s.at[k%2] += s.q * x[k%len(x)]
		t.q = math.Sin(t.q + s.p)
		t.step++
	}
	return s.at[0]*s.at[1] + s.q*t.q*float64(t.step)
}

// Captured has a variable with an address.
func Captured(x []float64, n int) float64 {
	s := x[0]
	p := &s
	//nabla:checkpoint
	for k := 0; k < n; k++ {
		*p = math.Sin(s) + x[k%len(x)]
	}
	return s * x[1]
}

// Nested has one in the other and one behind.
func Nested(x []float64, n int) float64 {
	s := x[0]
outer:
	//nabla:checkpoint
	for i := 0; i < n; i++ {
		t := s
		//nabla:checkpoint snapshots=2
		for j := 0; j < n; j++ {
			t = math.Sin(t*x[j%len(x)]) + x[1]
			if t > 2.5 {
				continue outer
			}
			if s > 8 {
				break outer
			}
		}
		s += 0.5 * t
	}
	//nabla:checkpoint
	for range n {
		s = math.Cos(s) * x[2]
	}
	return s
}

// Called has its loop in a function that is called from a loop.
func Called(x []float64, n int) float64 {
	s := x[0]
	for i := 0; i < 3; i++ {
		s = inner(x, s, n+i) + inner(x[1:], s, n)
	}
	return s
}

func inner(x []float64, s float64, n int) float64 {
	//nabla:checkpoint
	for k := 0; k < n; k++ {
		x[k%len(x)] *= 1.01 + 0.01*s
		s = math.Sin(s + x[k%len(x)])
	}
	return s
}

// Recursive calls itself from its loop.
func Recursive(x []float64, n int) float64 {
	s := x[0]
	//nabla:checkpoint
	for k := 0; k < n; k++ {
		s = math.Sin(s+x[1]) + 0.1*Recursive(x, n-1-k)
	}
	return s
}

// Late has numbers that carry derivatives from the second iteration on only.
func Late(x []float64, n int) float64 {
	a, b := 1.0, 2.0
	//nabla:checkpoint
	for k := 0; k < n; k++ {
		a, b = math.Sin(b)*0.5+a*0.1, a*x[k%len(x)]
	}
	return a + b
}

// Views cuts the slice that it goes over, and writes it by another.
func Views(x []float64, n int) float64 {
	u := make([]float64, 3*len(x))
	for i := range u {
		u[i] = x[i%len(x)]
	}
	w, s := u[1:], 0.0
	//nabla:checkpoint
	for k := 0; k < n && len(w) > 2; k++ {
		v := u[k%3 : k%3+4]
		v[1] += 0.1 * math.Sin(w[0])
		w[1] *= v[0]
		s += w[0] * u[k%len(u)]
		if k%2 == 1 {
			w = w[1:]
		}
	}
	return s + u[0] + w[0]
}

// Unsigned counts in another type.
func Unsigned(x []float64, n int) float64 {
	s := x[0]
	//nabla:checkpoint
	for i := uint8(0); i < uint8(n); i++ {
		s = math.Sin(s) + x[int(i)%len(x)]*float64(i)
	}
	return s
}

// Still fills a table, without derivatives, that changes again behind it.
func Still(x []float64, n int) float64 {
	t := make([]int, len(x))
	s, last := 1.0, 0
	for range 2 {
		//nabla:checkpoint
		for k := 0; k < n; k++ {
			t[k%len(t)] += k + last
			if last = t[(k+1)%len(t)]; last > 20 {
				break
			}
		}
		for i, v := range x {
			s *= 0.5 + v*float64(t[i]%3) + math.Sin(s)
		}
	}
	return s
}

// Deep calls a function that calls itself.
func Deep(x []float64, n int) float64 {
	s := x[0]
	//nabla:checkpoint
	for k := 0; k < n; k++ {
		s = math.Sin(s) + 0.1*tree(x, s, k%3)
	}
	return s
}

func tree(x []float64, s float64, depth int) float64 {
	t := make([]float64, depth+1)
	t[depth] = s * x[depth]
	if depth == 0 {
		return t[0]
	}
	return math.Cos(tree(x, t[depth], depth-1)) + tree(x[1:], s, depth-1)
}

// Library calls functions whose derivatives are written by hand, which write memory.
func Library(x []float64, n int) float64 {
	u, v := make([]float64, len(x)), make([]float64, len(x))
	copy(u, x)
	//nabla:checkpoint snapshots=3
	for k := 0; k < n; k++ {
		floats.AddScaledTo(v, u, 0.1*math.Sin(u[k%len(u)]), x)
		floats.Scale(0.9, v)
		copy(u, v)
	}
	return floats.Dot(u, x)
}

// sines and damped call each other. damped gets new memory from sines only.
func sines(u []float64, k int) []float64 {
	if k > 0 {
		u = damped(u, k-1)
	}
	v := make([]float64, len(u))
	for i := range u {
		v[i] = math.Sin(u[i])
	}
	return v
}

func damped(u []float64, k int) []float64 {
	if k > 0 {
		u = sines(u, k-1)
	}
	for i := range u {
		u[i] *= 0.9 + 0.1*u[i]
	}
	return u
}

// Mutual has loops that get new memory from functions in mutual recursion.
func Mutual(x []float64, n int) float64 {
	u := make([]float64, len(x))
	copy(u, x)
	//nabla:checkpoint
	for i := 0; i < n; i++ {
		u = sines(u, 2)
	}
	//nabla:checkpoint
	for i := 0; i < n; i++ {
		u = damped(u, 1)
	}
	s := 0.0
	for _, v := range u {
		s += v * v
	}
	return s
}

// Bounded is Memory with snapshots in some bytes, of which its slices take most.
func Bounded(x []float64, n int) float64 {
	u := make([]float64, 20*len(x))
	for i := range u {
		u[i] = x[i%len(x)]
	}
	//nabla:checkpoint memory=3KiB
	for k := 0; k < n; k++ {
		for i := range u {
			u[i] += 0.1 * math.Cos(u[(i+1)%len(u)]) * x[i%len(x)]
		}
	}
	return u[0] * u[1]
}

// BoundedWhile is While with snapshots in some bytes.
func BoundedWhile(x []float64, limit float64) float64 {
	s, d, k := x[0], 1.0, 0
	//nabla:checkpoint memory=1KiB
	for s < limit {
		d = math.Cos(d*x[1]) + x[2]
		s += 0.05 + 0.01*d*d*x[k%len(x)]
		k++
	}
	return s * d * float64(k)
}

// BoundedByOne has a state that is longer than its memory.
func BoundedByOne(x []float64, n int) float64 {
	var s [300]float64
	s[0] = x[0]
	//nabla:checkpoint memory=1KiB
	for i := 0; i < n; i++ {
		s[(i+1)%len(s)] = math.Sin(s[i%len(s)]*x[i%len(x)]) + x[1]
	}
	return s[n%len(s)]
}
