package compressed

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nabla-ad/nabla/coloring"
	"github.com/nabla-ad/nabla/engine"
)

// probed compares the matrix a, as recovered, with the derivative d of m rows, whose products have the given relative
// noise, by products with d or, if turned is set, with its transpose.
func probed(t *testing.T, a, d [][]float64, n int, at []float64, accuracy, noise float64,
	turned bool) (err error) {
	t.Helper()
	m := len(d)
	c := colored(t, a, n, coloring.Problem{Partition: coloring.Column})
	in, out := n, m
	if turned {
		in, out = m, n
	}
	p := newProbe(in, in, out, accuracy, c)
	p.turned = turned
	r := rand.New(rand.NewPCG(9, 9))
	calls := 0
	defer func() {
		if noise == 0 && err == nil && calls > 2 { // one, and another without values that are not finite
			t.Errorf("%d products, for no more than rounding errors", calls)
		}
	}()
	return p.compare("Jacobian", c.Pattern(), entries(a, c.Pattern()), at, false, func(v []float64) error {
		calls++
		clear(p.want)
		for i, row := range d {
			for j, e := range row {
				if turned {
					p.want[j] += e * v[i]
				} else {
					p.want[i] += e * v[j]
				}
			}
		}
		for i := range p.want {
			p.want[i] += noise * r.NormFloat64()
		}
		return nil
	})
}

// TestProbe: a matrix that lacks an entry, or has another one in its place, is a *PatternError; a matrix that differs
// by the errors of the engine alone, or where values are not finite, is none.
func TestProbe(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	right := [][]float64{{1, 0, 2}, {0, 3, 0}, {4, 0, 5}}
	with := func(i, j int, v float64) [][]float64 {
		var a [][]float64
		for _, r := range right {
			a = append(a, append([]float64(nil), r...))
		}
		a[i][j] = v
		return a
	}
	for _, c := range []struct {
		title           string
		a, d            [][]float64
		at              []float64
		accuracy, noise float64
		wrong           bool
	}{
		{title: "equal", a: right, d: right},
		{title: "a missing entry", a: right, d: with(0, 1, 1e-3), wrong: true},
		{title: "a missing entry of rounding errors", a: right, d: with(0, 1, 1e-15)},
		{title: "another value", a: with(1, 1, 3.001), d: right, wrong: true},
		{title: "differences", a: right, d: right, accuracy: 1e-4, noise: 1e-5},
		{title: "a small entry that differences do not show", a: right, d: with(0, 1, 1e-5), accuracy: 1e-4},
		{title: "a missing entry beside differences", a: right, d: with(0, 1, 0.1), accuracy: 1e-4, wrong: true},
		{title: "rounding errors alone", a: with(1, 1, 1e-30), d: with(1, 1, 0), noise: 1e-9},
		{title: "NaN in its place", a: with(0, 0, nan), d: with(0, 0, nan)},
		{title: "a missing entry beside NaN", a: with(0, 0, nan), d: func() [][]float64 {
			d := with(0, 0, nan)
			d[1][2] = 1
			return d
		}(), wrong: true},
		{title: "a missing entry beside NaN in the last column", a: with(0, 2, nan), d: func() [][]float64 {
			d := with(0, 2, nan)
			d[1][0] = 1
			return d
		}(), wrong: true},
		{title: "an infinity in its place", a: with(2, 2, inf), d: with(2, 2, inf)},
		{title: "no entries", a: [][]float64{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, d: right, wrong: true},
	} {
		for _, turned := range []bool{false, true} {
			at := make([]float64, 3)
			err := probed(t, c.a, c.d, 3, at, c.accuracy, c.noise, turned)
			var pe *engine.PatternError
			if errors.As(err, &pe) != c.wrong || !c.wrong && err != nil {
				t.Errorf("%s, turned %v: %v", c.title, turned, err)
			}
		}
	}
	// A component of the point that is NaN is left out: values that depend on it cannot be compared.
	if err := probed(t, right, right, 3, []float64{nan, 0, 0}, 0, 0, false); err != nil {
		t.Errorf("NaN at the point: %v", err)
	}
}

// TestProbeFails: an error of the product is that of the comparison.
func TestProbeFails(t *testing.T) {
	a := [][]float64{{1, 2}}
	c := colored(t, a, 2, coloring.Problem{Partition: coloring.Column})
	failure := errors.New("broken")
	for fails := 1; fails <= 3; fails++ {
		p, calls := newProbe(2, 2, 1, 0, c), 0
		err := p.compare("Jacobian", c.Pattern(), []float64{1, 2}, nil, false, func(v []float64) error {
			if calls++; calls == fails {
				return failure
			}
			p.want[0] = 100 // wrong: more products find out whether it is noise
			return nil
		})
		if !errors.Is(err, failure) {
			t.Errorf("product %d: %v", fails, err)
		}
	}
}

// TestDirections: all components of a direction are far from zero, those beyond n are zero, and a probe of the same
// size has the same direction.
func TestDirections(t *testing.T) {
	c := colored(t, [][]float64{{1}}, 1, coloring.Problem{Partition: coloring.Column})
	p, q := newProbe(50, 40, 1, 0, c), newProbe(50, 40, 1, 0, c)
	signs := map[bool]int{}
	for i, v := range p.direction {
		if v != q.direction[i] || i < 40 && (math.Abs(v) < 0.5 || math.Abs(v) > 1.5) || i >= 40 && v != 0 {
			t.Errorf("component %d is %v and %v", i, v, q.direction[i])
		}
		signs[v < 0]++
	}
	if signs[true] < 10 || signs[false] < 10 {
		t.Errorf("signs: %v", signs)
	}
}

// TestProbeSubstitution: an entry that is recovered from others has rounding errors of their size, even if it is 0.
func TestProbeSubstitution(t *testing.T) {
	a := [][]float64{{6e-16, 0}, {0, 10}}
	c := colored(t, a, 2, coloring.Problem{Partition: coloring.Bidirectional, Decompression: coloring.Substitution})
	p := newProbe(2, 2, 2, 0, c)
	for _, f := range []struct {
		first float64
		wrong bool
	}{{6e-16, false}, {1e-10, true}} {
		p.got, p.want, p.scale = []float64{f.first, 10}, []float64{0, 10}, []float64{f.first, 10}
		if bad := p.worst(nil); (bad >= 0) != f.wrong {
			t.Errorf("%v for 0 beside 10: component %d is wrong, want one to be: %v", f.first, bad, f.wrong)
		}
	}
}
