package randprog

import (
	"math"
	"slices"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Second checks second derivatives on each input that an adjoint accepts: the tangent of the adjoint in a direction
// must agree with the tangent of the tangent, and with differences of the adjoint if these agree among themselves. With
// round inputs there are cotangents that are zero but change in the direction.
func (s *Adjoints) Second(a *Adjoint, tally *Tally) error {
	n := len(s.c.Sig.Params())
	moves := a.Mask
	at := n
	for i := range n {
		if a.Shadows>>i&1 == 1 {
			moves |= 1 << at
			at++
		}
	}
	t, err := s.build(a.F, moves)
	if err != nil {
		return fail("second build", 0, "%v", err)
	}
	if err := ir.Check(t.F); err != nil {
		return fail("second form", 0, "%v", err)
	}
	// The workspace and its shadow must have the same shape, so both are new.
	own := *a
	own.work = nil
	work := ir.NewValue(a.F.Params[len(a.F.Params)-1].Type)
	return s.each(a.Mask, a.Overlap, tally, func(k int, m *evaluation) error {
		in, seeds := s.c.Inputs[k], m.seeds(k)
		dir, other := s.c.direction(k, 8, a.Mask), s.c.direction(k, 9, a.Mask)
		got, err := own.directionalDerivative(s.c, in, m.results, seeds, t, dir, work)
		if err != nil {
			return fail("second", k, "the tangent of the adjoint gives %v", err)
		}
		want, err := s.tangentOfTangent(a.Mask, in, dir, other)
		if err != nil {
			return fail("second", k, "the tangent of the tangent gives %v", err)
		}
		left, size := inner(seeds, want[:m.seededOutputs])
		right, size2 := inner(got, other)
		if !s.agree(left, right, size, size2, 1e-9) {
			return fail("second", k, "⟨seeds, tangent of tangent⟩ is %v, ⟨tangent of adjoint, direction⟩ is %v", left,
				right)
		}
		if in.Round || s.c.Wide != s.c.F {
			return nil // the inputs are near a kink, or cancellation is large
		}
		agree, err := s.differences(a, k, seeds, dir, got)
		if !agree {
			tally.Skipped++
		}
		return err
	})
}

// directionalDerivative returns the derivative, in a direction, of the cotangents of the numbers of an input, by a
// tangent of the adjoint.
func (a *Adjoint) directionalDerivative(
	c *Case,
	in *Input,
	results []ir.Value,
	seeds []float64,
	t Tangent,
	dir []float64,
	work ir.Value,
) ([]float64, error) {
	_, all, _ := a.args(c, in, results, seeds)
	n := len(c.Sig.Params())
	none := make([]float64, len(dir))
	moving := in.With(slices.Clone(dir)).Values(c.Sig)
	shadows := in.With(none).Values(c.Sig)
	still, _ := in.Seeds(c.Sig, results, make([]float64, len(seeds)))
	dots := slices.Clone(moving[:n])
	for i := range n {
		if a.Shadows>>i&1 == 1 {
			dots = append(dots, shadows[i])
		}
	}
	for i, s := range still {
		if a.Seeds>>i&1 == 1 {
			dots = append(dots, s)
		}
	}
	dots = append(dots, work)
	for i, d := range dots {
		if t.Params>>i&1 == 1 {
			all = append(all, d)
		}
	}
	out, err := eval(t.F, all)
	if err != nil {
		return nil, err
	}
	bars := make([]ir.Value, n)
	has := make([]bool, n)
	bar, next := len(results), len(a.F.Results)
	for i := range a.F.Results {
		if t.Results>>i&1 == 0 {
			continue
		}
		if i >= bar {
			p := nth(a.Bars, i-bar)
			bars[p], has[p] = out[next], true
		}
		next++
	}
	return in.Adjoints(c.Sig, shadows, bars, has), nil
}

// nth returns the position of the i-th bit that is set, from 0.
func nth(bits uint64, i int) int {
	for p := 0; ; p++ {
		if bits>>p&1 == 1 {
			if i == 0 {
				return p
			}
			i--
		}
	}
}

// tangentOfTangent returns the second derivative of [Outputs] in two directions.
func (s *Adjoints) tangentOfTangent(mask uint64, in *Input, dir, other []float64) ([]float64, error) {
	c := s.c
	n := len(c.Sig.Params())
	t, err := s.build(c.F, mask)
	if err != nil {
		return nil, err
	}
	moves, at := mask, n
	for i := range n {
		if t.Params>>i&1 == 1 {
			moves |= 1 << at
			at++
		}
	}
	u, err := s.build(t.F, moves)
	if err != nil {
		return nil, err
	}
	args := in.Values(c.Sig)
	first := in.With(slices.Clone(other)).Values(c.Sig)
	moving := in.With(slices.Clone(dir)).Values(c.Sig)
	second := in.With(make([]float64, len(dir))).Values(c.Sig)
	all, dots := slices.Clone(args[:n]), slices.Clone(moving[:n])
	for i := range n {
		if t.Params>>i&1 == 1 {
			all, dots = append(all, first[i]), append(dots, second[i])
		}
	}
	for i, d := range dots {
		if u.Params>>i&1 == 1 {
			all = append(all, d)
		}
	}
	out, err := eval(u.F, all)
	if err != nil {
		return nil, err
	}
	// The tangent's results include derivatives, and are followed by their own derivatives.
	results := c.Sig.Results()
	of, has := make([]ir.Value, len(results)), make([]bool, len(results))
	next := len(t.F.Results)
	for i := range t.F.Results {
		if u.Results>>i&1 == 0 {
			continue
		}
		if i >= len(results) {
			p := nth(t.Results, i-len(results))
			of[p], has[p] = out[next], true
		}
		next++
	}
	for i, r := range results {
		switch {
		case has[i]:
		case r.Kind == Slice:
			of[i] = ir.ValueOf(make([]float64, len(ir.As[[]float64](out[i]))))
		default:
			of[i] = ir.ValueOf(0.0)
		}
	}
	return Outputs(c.Sig, of, second), nil
}

// differences compares the derivative of cotangents with central differences of them. It returns false if these
// disagree among themselves.
func (s *Adjoints) differences(a *Adjoint, k int, seeds, dir, dot []float64) (bool, error) {
	at := func(h float64) ([]float64, bool) {
		x := s.c.Inputs[k].Floats()
		for i := range x {
			x[i] += h * dir[i]
		}
		in := s.c.Inputs[k].With(x)
		args := in.Values(s.c.Sig)
		results, err := eval(s.c.F, args[:len(args)-1])
		if err != nil || countSeeded(s.c.Sig, len(Outputs(s.c.Sig, results, args)), args) != len(seeds) {
			return nil, false
		}
		_, bar, err := a.run(s.c, in, results, seeds)
		return bar, err == nil
	}
	lo, hi := make([]float64, len(dot)), make([]float64, len(dot))
	for i := range lo {
		lo[i], hi[i] = math.Inf(1), math.Inf(-1)
	}
	size, worst := 1.0, -1
	for _, h := range steps {
		up, ok := at(h)
		down, too := at(-h)
		if !ok || !too {
			return false, nil
		}
		worst = -1
		for i := range dot {
			d := (up[i] - down[i]) / (2 * h)
			lo[i], hi[i] = min(lo[i], d), max(hi[i], d)
			size = max(size, math.Abs(d))
		}
		for i := range dot {
			// Where the first differences agree with the derivative there need be no more.
			if !(dot[i] > lo[i]-closeness*size && dot[i] < hi[i]+closeness*size) {
				worst = i
			}
		}
		if worst < 0 {
			return true, nil
		}
	}
	for i := range dot {
		if !(hi[i]-lo[i] < agreement*size) {
			return false, nil
		}
	}
	return true, fail("slopes", k, "derivative %d of the adjoints is %v, differences are %v to %v", worst, dot[worst],
		lo[worst], hi[worst])
}
