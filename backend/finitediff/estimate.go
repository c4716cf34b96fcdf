package finitediff

import "math"

// The derivative on a line, in the order of the functions below: for each scheme that has to be tried, a step from the
// levels above, and then quotients with that step, its half and, if necessary, further halves.
//
// The model of the error and the step that minimises it: truncation of at most trunc·max|f⁽p⁾|·h^(p-q), rounding of
// Σ|cₖ|·ε/h^q; see J. Nocedal & S. Wright, Numerical Optimization, 2nd ed. (2006), §8.1, for two and three points.

// tries is how often a step is shortened before a grid is given up.
const tries = 24

// derive computes the derivatives of all outputs by the schemes, of which all but the first are for the edge of the
// domain, to l.d and l.e.
func (l *line) derive(schemes []scheme) error {
	clear(l.steps)
	clear(l.floor)
	for i, y := range l.y0 {
		l.d[i], l.e[i] = math.NaN(), math.Inf(1)
		if y-y != 0 {
			l.d[i], l.e[i] = math.NaN(), math.NaN()
		}
	}
	if l.stuck() {
		for i := range l.d {
			l.d[i], l.e[i] = math.NaN(), math.NaN()
		}
		return nil
	}
	found := false
	var last float64
	var failed error
	for _, s := range schemes {
		l.limited = false
		ok, h, err := l.by(s)
		if err != nil {
			return err
		}
		if found = found || ok; !ok {
			last, failed = h, l.failed
		} else if !l.limited || l.given > 0 {
			break
		}
	}
	if found {
		return nil
	}
	e := &DomainError{Function: l.s.function, X: append([]float64(nil), l.x...), Index: l.j, Step: last, Err: failed}
	if l.v != nil {
		e.Index = -1
	}
	return e
}

// stuck reports whether there is nothing to evaluate: no output is finite, x or the direction is not, or bounds leave
// one point.
func (l *line) stuck() bool {
	finite := false
	for _, y := range l.y0 {
		finite = finite || y-y == 0
	}
	if !finite || l.fixed() {
		return true
	}
	if l.v == nil {
		return l.x[l.j]-l.x[l.j] != 0
	}
	for i, vi := range l.v {
		if vi != 0 && l.x[i]-l.x[i] != 0 {
			return true
		}
	}
	return false
}

// by computes the derivatives by one scheme, and stores those that are better than before. It reports whether there was
// a step at which f could be evaluated, and the last step.
func (l *line) by(s scheme) (ok bool, h float64, err error) {
	g := s[0]
	for again := rounds; again > 0; again-- {
		switch {
		case l.given > 0:
			h = l.given
		case l.s.a.Extrapolate > 0:
			h = 0.1 * l.scale
		default:
			if h, ok, err = l.levels(s); err != nil || !ok {
				return false, h, err
			}
		}
		if h, ok, err = l.first(g, h); err != nil || !ok {
			return false, h, err
		}
		noisy, err := l.halve(g, h)
		if err != nil {
			return false, h, err
		}
		if !noisy && !l.focus() {
			break
		}
	}
	l.merge()
	return true, h, nil
}

// rounds bounds how often noise makes a scheme start again, with larger steps.
const rounds = 3

// focus reports whether an output did not look smooth although x is closer to 0 than the steps, and then makes the
// distance to 0 the scale of the line: functions of x/|x| vary over lengths of that size.
func (l *line) focus() bool {
	if l.v != nil || l.given > 0 {
		return false
	}
	a := math.Abs(l.x[l.j])
	if a == 0 || a >= l.scale {
		return false
	}
	for i := range l.runs {
		if l.y0[i]-l.y0[i] == 0 && (l.runs[i].rough || math.IsInf(l.runs[i].e, 1)) {
			l.scale = a
			return true
		}
	}
	return false
}

// merge stores the results of a scheme where they are better than those so far. Of two that agree, that is the one with
// the smaller error; otherwise f looks different at the smaller step, which is closer to x.
func (l *line) merge() {
	for i := range l.runs {
		r := &l.runs[i]
		if l.y0[i]-l.y0[i] != 0 || math.IsInf(r.e, 1) && l.steps[i] > 0 {
			continue
		}
		better := r.e < l.e[i]
		if math.Abs(r.d-l.d[i]) > r.e+l.e[i] {
			better = r.step < l.steps[i]
		}
		if better || l.steps[i] == 0 || math.IsInf(l.e[i], 1) {
			l.d[i], l.e[i], l.steps[i] = r.d, r.e, r.step
		}
	}
}

// first evaluates f at the nodes of g with a step of about h, or less if f cannot be evaluated there.
func (l *line) first(g *formula, h float64) (float64, bool, error) {
	if l.given == 0 {
		h = l.fit(g, h)
	}
	for range tries {
		if !(h > 0) {
			break
		}
		ok, err := l.sample(g, h, false)
		if ok || err != nil {
			return h, ok, err
		}
		l.limited = true
		if l.given > 0 {
			break
		}
		h = l.shorten(g, h)
	}
	return h, false, nil
}

// levels returns the step for the first formula of s. Each level measures, with a step of its own, the derivative that
// the truncation error of the one before depends on. The highest has a step from the condition.
func (l *line) levels(s scheme) (h float64, ok bool, err error) {
	top := s[len(s)-1]
	h = l.standard(top)
	for k := len(s) - 1; k > 0; k-- {
		if h, ok, err = l.first(s[k], h); err != nil || !ok {
			return h, ok, err
		}
		next := l.stepFor(s[k-1], s[k], h)
		if l.limited {
			next = min(next, h*s[k].reach/s[k-1].reach)
		}
		h = next
	}
	if len(s) == 1 {
		for i, y := range l.y0 {
			l.bound[i] = l.s.condition * math.Abs(y) / math.Pow(l.scale, float64(top.power))
		}
	}
	return h, true, nil
}

// standard returns the step that suits a function with the condition of the settings.
func (l *line) standard(g *formula) float64 {
	relative := l.s.factor * epsilon
	for i, y := range l.y0 {
		if y != 0 && y-y == 0 {
			relative = max(relative, min(l.rounding(i, y)/math.Abs(y), 0.1))
		}
	}
	return l.scale * g.step(relative, l.s.condition)
}

// stepFor returns the step for g, given the values at the nodes of the level above with step h, and stores the bounds
// of the derivatives of order g.power in l.bound. Outputs share a step. It is between those that suit each of them
// best, and increases no error by a larger factor than another's.
func (l *line) stepFor(g, above *formula, h float64) float64 {
	m := len(l.y0)
	least, most := math.Inf(1), 0.0
	for i, y := range l.y0 {
		l.bound[i] = 0
		if y-y != 0 {
			continue
		}
		for _, c := range above.near {
			d, _ := l.quotient(above, c, i, h)
			l.bound[i] = max(l.bound[i], math.Abs(d))
		}
		rounding := 0.0
		for k := range above.grid {
			rounding = max(rounding, l.rounding(i, l.values[k*m+i]))
		}
		if own := g.step(rounding, l.bound[i]); own > 0 && own <= math.MaxFloat64 {
			least, most = min(least, own), max(most, own)
		}
	}
	limit := 1000 * l.standard(g)
	if most == 0 { // polynomials
		return min(h, limit)
	}
	p, q := float64(g.power), float64(g.order)
	return min(math.Pow(least, (p-q)/p)*math.Pow(most, q/p), limit)
}
