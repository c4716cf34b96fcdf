package finitediff

import (
	"fmt"
	"math"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/page"
)

// The noise of a computed function is the size of the differences between its values and a smooth function: rounding,
// and whatever an iteration inside of it leaves. J. Moré & S. Wild, "Estimating computational noise", SIAM J. Sci.
// Comput. 33 (2011), find it in a difference table: differences of a smooth function on close points vanish with their
// order, those of noise of size ε grow as ε·√((2k)!)/k!.

// A NoiseOutcome says whether [ECNoise] found a noise level.
type NoiseOutcome uint8

const (
	// NoiseFound reports that the estimates of three orders agree.
	NoiseFound NoiseOutcome = iota + 1
	// NoiseTooClose reports that half of the neighbouring values are equal: the points should be about 100 times
	// further apart.
	NoiseTooClose
	// NoiseTooFar reports that the function varies too much over the points, which should be about 100 times closer.
	NoiseTooFar
)

// String returns "found", "too close" or "too far".
func (o NoiseOutcome) String() string {
	switch o {
	case NoiseFound:
		return "found"
	case NoiseTooClose:
		return "too close"
	case NoiseTooFar:
		return "too far"
	}
	return fmt.Sprintf("outcome(%d)", uint8(o))
}

// ECNoise estimates the standard deviation of the noise in values of a function at equidistant points, from the
// differences of order k = 1, 2, …: the level of order k is √(γₖ·mean of squares) with γₖ = (k!)²/(2k)!. The noise is
// the level of the first order k at which
//
//   - the levels of orders k, k+1 and k+2 are within a factor of 4, and
//   - the differences of order k have both signs.
//
// It takes 7 to 9 values, at least 5, and overwrites them. If the values vary by more than a tenth of their size the
// points are too far apart.
func ECNoise(values []float64) (noise float64, outcome NoiseOutcome) {
	n := len(values)
	if n < 5 {
		return 0, NoiseTooFar
	}
	lo, hi := values[0], values[0]
	for _, v := range values {
		lo, hi = min(lo, v), max(hi, v)
	}
	size := max(math.Abs(lo), math.Abs(hi))
	if !(hi-lo <= 0.1*size) {
		return 0, NoiseTooFar
	}
	var levels [3]float64 // of the last orders
	var signs [3]bool
	gamma := 1.0
	for k := 1; k < n; k++ {
		equal, sum, both := difference(values[:n-k+1], size)
		if k == 1 && 2*equal >= n {
			return 0, NoiseTooClose
		}
		gamma *= float64(k) / float64(2*(2*k-1))
		copy(levels[:], levels[1:])
		copy(signs[:], signs[1:])
		levels[2], signs[2] = size*math.Sqrt(gamma*sum/float64(n-k)), both
		if k >= 3 && signs[0] && max(levels[0], levels[1], levels[2]) <= 4*min(levels[0], levels[1], levels[2]) {
			return levels[0], NoiseFound
		}
	}
	return 0, NoiseTooFar
}

// difference replaces v by its differences and returns how many are 0, the sum of the squares of their ratios to size,
// and whether they have both signs.
func difference(v []float64, size float64) (equal int, sum float64, both bool) {
	var up, down bool
	for i := range len(v) - 1 {
		v[i] = v[i+1] - v[i]
		sum += (v[i] / size) * (v[i] / size)
		up, down = up || v[i] > 0, down || v[i] < 0
		if v[i] == 0 {
			equal++
		}
	}
	return equal, sum, up && down
}

const (
	noisePoints = 9
	// noiseSpacing is the first distance between points, relative to the size of x: functions take different values
	// there, and have no curvature. Powers of two make the points exact.
	noiseSpacing = 0x1p-40
	noiseFactor  = 0x1p7 // "about 100"
	noiseSteps   = 4     // distances on both sides of the first
)

// A NoiseError reports that no noise level was found at any distance between points: the function is constant, jumps,
// or is not finite around the point.
type NoiseError struct {
	Function string
	X        float64
	Outcome  NoiseOutcome // at the last distance
}

func (e *NoiseError) Error() string {
	return page.Namef("finitediff.NoiseError",
		"nabla: finitediff: no noise level found in function %s around %v: the points are %v; "+
			"pass the level as Noise", e.Function, e.X, e.Outcome)
}

// MeasureNoise estimates the noise of f around x by [ECNoise], at distances between the points that it adapts: the
// standard deviation of f from a smooth function. It evaluates f at 8 points for each of 1 to 9 distances, and at x.
// The result can be passed to [Adaptive] as Noise. The error is a *[NoiseError], or that of f at x.
func MeasureNoise(f func(float64) float64, x float64) (float64, error) {
	fn := ofNumber(f)
	y, at := []float64{0}, []float64{x}
	if err := fn.Value(y, at); err != nil {
		return 0, err
	}
	m := newNoiseMeter(1, 1)
	if err := m.measure(fn, y, at, nil, nil); err != nil {
		return 0, err
	}
	if m.outcome[0] != NoiseFound {
		return 0, &NoiseError{Function: fn.Name(), X: x, Outcome: m.outcome[0]}
	}
	return m.level[0], nil
}

// A noiseMeter measures the noise of all outputs of a function.
type noiseMeter struct {
	at, y   []float64
	values  []float64 // noisePoints of output 0, then of output 1, …
	work    [noisePoints]float64
	level   []float64
	outcome []NoiseOutcome // level is 0 unless it is NoiseFound
	visited [2*noiseSteps + 1]bool
}

func newNoiseMeter(n, m int) *noiseMeter {
	return &noiseMeter{at: make([]float64, n), y: make([]float64, m), values: make([]float64, noisePoints*m),
		level: make([]float64, m), outcome: make([]NoiseOutcome, m)}
}

// measure estimates the noise of f at x, where its value is y, on a line through x that moves every component in
// proportion to its size. f is evaluated within lo and hi only, unless they are nil. Points
// where it has no finite value are too far from x.
func (m *noiseMeter) measure(f *engine.Function, y, x []float64, lo, hi []float64) error {
	clear(m.level)
	clear(m.outcome)
	m.visited = [2*noiseSteps + 1]bool{}
	for k := noiseSteps; k >= 0; {
		m.visited[k] = true
		ok, err := m.sample(f, y, x, noiseSpacing*math.Pow(noiseFactor, float64(k-noiseSteps)), lo, hi)
		if err != nil {
			return err
		}
		k = m.next(k, ok, y)
	}
	return nil
}

// next estimates the levels from the values at distance k, if ok is set, and returns the number of the next distance:
// one that an output without a level asks for, or -1.
func (m *noiseMeter) next(k int, ok bool, y []float64) int {
	closer, further := false, false
	for i := range m.level {
		if m.outcome[i] == NoiseFound || y[i]-y[i] != 0 {
			continue
		}
		if m.outcome[i] = NoiseTooFar; ok {
			copy(m.work[:], m.values[i*noisePoints:])
			m.level[i], m.outcome[i] = ECNoise(m.work[:])
		}
		closer = closer || m.outcome[i] == NoiseTooFar
		further = further || m.outcome[i] == NoiseTooClose
	}
	for j := k - 1; closer && j >= 0; j-- {
		if !m.visited[j] {
			return j
		}
	}
	for j := k + 1; further && j < len(m.visited); j++ {
		if !m.visited[j] {
			return j
		}
	}
	return -1
}

// sample evaluates f at noisePoints with x in the middle, and reports whether all outputs that are finite at x are
// finite there.
func (m *noiseMeter) sample(f *engine.Function, y, x []float64, h float64, lo, hi []float64) (bool, error) {
	for j := range noisePoints {
		dst := y
		if t := float64(j - noisePoints/2); t != 0 {
			for i, v := range x {
				p := v + t*h*powerOfTwo(max(math.Abs(v), 1))
				if lo != nil && !(lo[i] <= p && p <= hi[i]) {
					return false, nil
				}
				m.at[i] = p
			}
			if err := f.Value(m.y, m.at); outside(err) {
				return false, nil
			} else if err != nil {
				return false, err
			}
			dst = m.y
		}
		for i, v := range dst {
			if v-v != 0 && y[i]-y[i] == 0 {
				return false, nil
			}
			m.values[i*noisePoints+j] = v
		}
	}
	return true, nil
}

// powerOfTwo returns the power of two next below a positive number.
func powerOfTwo(v float64) float64 {
	_, e := math.Frexp(v)
	return math.Ldexp(1, e-1)
}
