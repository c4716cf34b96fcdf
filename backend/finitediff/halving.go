package finitediff

import "math"

// Quotients with halved steps. A sequence of them has a part where truncation dominates and changes shrink by
// 2^(p-q), and then one where rounding does and changes grow by 2^q. The best quotient is between the two.

// A run holds the quotients of one output at halved steps.
type run struct {
	d, e, step float64 // the best so far
	rough      bool    // f did not look smooth at its step
	done       bool

	last, lastRounding float64 // the quotient of the last step, and its rounding error
	change             float64 // the distance of it from the one before, 0 for the first
	extreme            float64 // its last extrapolation, or itself
	turns              int     // how often quotients that grew became smaller, or the other way round
	up                 bool    // whether the last one grew
	gap                float64 // between f(x) and its interpolation from the nodes

	// What the smaller steps say about the best quotient.
	after       int        // how many there were
	contradicts bool       // a quotient differs by more than both errors
	early       float64    // the largest noise of the first three
	late        [3]float64 // the noise of the last three
	scatter     float64    // the error of the best quotient that their changes suggest

	// The last row of the table of extrapolations, with rounding errors: the quotient in column 0, and the extrapolated
	// ones.
	table, rounding [maxExtrapolate + 1]float64
	columns         int
}

const (
	// halvings bounds the steps of one scheme.
	halvings = 64
	// enough is the number of steps after the best from which noise is told from divergence.
	enough = 8
	// plausible bounds noise, relative to f. What seems to be more is a function that varies over shorter lengths than
	// the step.
	plausible = 1e-3
)

// halve computes quotients from the values at step h, in l.values, and at halves of it, until the errors of all outputs
// are known: without extrapolation, and if the model of the error holds, at the first half. It reports whether an
// output turned out to be noisier than known, and then stores its noise in l.floor.
func (l *line) halve(g *formula, h float64) (noisy bool, err error) {
	active := 0
	for i, y := range l.y0 {
		r := &l.runs[i]
		*r = run{d: math.NaN(), e: math.Inf(1), done: y-y != 0}
		if !r.done {
			active++
			r.last, r.lastRounding = l.quotient(g, g.coef, i, h)
			r.extreme = r.last
			r.gap, _ = l.gap(g, i)
			r.table[0], r.rounding[0], r.columns = r.last, r.lastRounding, 1
		}
	}
	n := 1
	for ; n < halvings && active > 0; n++ {
		l.values, l.old = l.old, l.values
		half := l.rounded(g, h/2)
		if half == 0 || l.v == nil && l.given == 0 && half != h/2 || l.v != nil && half < 4*l.blur {
			break // nodes would coincide
		}
		ok, err := l.sample(g, h/2, true)
		if err != nil {
			return false, err
		} else if !ok {
			break
		}
		h /= 2
		active = 0
		for i := range l.runs {
			if r := &l.runs[i]; !r.done {
				if l.next(g, i, n, h); !r.done {
					active++
				}
			}
		}
	}
	for i := range l.runs {
		if l.y0[i]-l.y0[i] == 0 {
			noisy = l.finish(g, i, n, h) || noisy
		}
	}
	return noisy, nil
}

// next adds the quotient of output i with step h, in l.values, to its run, for the n-th halving.
func (l *line) next(g *formula, i, n int, h float64) {
	r := &l.runs[i]
	d, rounding := l.quotient(g, g.coef, i, h)
	change := math.Abs(d - r.last)
	if up := d > r.last; up != r.up {
		r.turns, r.up = r.turns+1, up
	}
	gap, rough := l.gap(g, i)
	smooth := gap <= r.gap*g.fall+rough
	order := float64(g.power - g.order)
	switch {
	case l.given > 0:
		r.d, r.e, r.step, r.done = r.last, change/(1-math.Exp2(-order))+r.lastRounding, 2*h, true
		return
	case n == 1 && l.s.a.Extrapolate == 0:
		truncation := l.truncation(g, i, 2*h)
		if smooth && change <= truncation+r.lastRounding+rounding {
			r.d, r.e, r.step, r.done = r.last, max(truncation, change)+r.lastRounding, 2*h, true
			return
		}
	}
	if n == 1 && l.s.a.Extrapolate == 0 {
		r.consider(r.last, change/(1-math.Exp2(-order))+r.lastRounding+g.misfit(smooth, r.gap, 2*h), 2*h, !smooth)
	}
	l.candidate(g, r, d, rounding, g.misfit(smooth, gap, h), h)
	r.last, r.lastRounding, r.change, r.gap = d, rounding, change, gap
	growth := math.Exp2(float64(g.order))
	switch {
	case r.after < 2:
	case !r.contradicts:
		r.done = rounding*growth >= r.e || r.after >= enough
	default:
		r.done = r.after >= enough && r.noisy(g, l.largest(g))
	}
}

// gap returns the distance between f(x) and its interpolation from the nodes, for output i, and the rounding error. It
// falls with the step if f is smooth at the scale of the step. Around poles and spikes the quotients alone may look as
// if it were.
func (l *line) gap(g *formula, i int) (gap, rounding float64) {
	y, m := l.y0[i], len(l.y0)
	rounding = l.rounding(i, y)
	for k, c := range g.value {
		v := l.values[k*m+i]
		gap += float64(c * (v - y))
		rounding += math.Abs(c) * l.rounding(i, v)
	}
	return math.Abs(gap), rounding
}

// misfit returns the error that a gap allows a quotient, unless f is smooth at the scale of the step.
func (g *formula) misfit(smooth bool, gap, h float64) float64 {
	if smooth {
		return 0
	}
	e := gap * g.sum
	for range g.order {
		e /= h
	}
	return e
}

// candidate makes the quotient d the best one if its error is smaller, and compares it with the best otherwise.
func (l *line) candidate(g *formula, r *run, d, rounding, misfit, h float64) {
	r.after++
	change := math.Abs(d - r.last)
	r.consider(d, r.remaining(change, float64(g.power-g.order))+rounding+misfit, h, misfit > 0)
	best, bestRounding := d, rounding
	if l.s.a.Extrapolate > 0 {
		best, bestRounding = r.extrapolate(g, l.s.a.Extrapolate, d, rounding, misfit, h)
	}
	if r.after > 0 {
		r.judge(g, best, bestRounding, h)
	}
	r.extreme = best
}

// truncation returns the bound of the truncation error of output i.
func (l *line) truncation(g *formula, i int, h float64) float64 {
	return g.trunc * l.bound[i] * math.Pow(h, float64(g.power-g.order))
}

// remaining returns the truncation error of a quotient of a formula of the given order after a change. The change
// before gives the rate of convergence; one small change may be an accident.
func (r *run) remaining(change, order float64) float64 {
	if r.change == 0 {
		return change
	}
	rate := min(change/r.change, 0.95)
	return max(change*max(1, rate/(1-rate)), r.change*math.Exp2(-order))
}

// consider makes d, with an error of e, the best quotient if that is smaller than before.
func (r *run) consider(d, e, step float64, rough bool) {
	if !(e < r.e) {
		return
	}
	r.d, r.e, r.step, r.rough = d, e, step, rough
	r.after, r.turns, r.contradicts, r.early, r.scatter = 0, 0, false, 0, 0
	clear(r.late[:])
}

// judge compares a quotient for a smaller step, or an extrapolation of it, with the best one.
func (r *run) judge(g *formula, d, rounding, h float64) {
	change := math.Abs(d - r.extreme)
	apart := r.e + rounding
	if r.columns > 1 { // extrapolations forget earlier steps only slowly
		apart += change
	}
	if math.Abs(d-r.d) > apart {
		r.contradicts = true
	}
	noise := change
	for range g.order {
		noise *= h
	}
	if r.after <= len(r.late) {
		r.early = max(r.early, noise)
	}
	r.late[r.after%len(r.late)] = noise
	r.scatter = max(r.scatter, change*math.Exp2(-float64(g.order*r.after)))
}

// noise returns the noise of the values that a formula is applied to, as it appears after enough steps.
func (r *run) noise(g *formula) float64 { return max(r.late[0], r.late[1], r.late[2]) / g.norm }

// noisy reports whether changes grow as they do by noise that is plausible for values of the given size. Those of
// quotients that tend to infinity grow more slowly and do not turn, those around poles faster, and those of a function
// that varies over shorter lengths than the step as by noise of the size of f.
func (r *run) noisy(g *formula, size float64) bool {
	early, late := r.early/g.norm, r.noise(g)
	return late <= plausible*size && (early <= 4*late && late <= 4*early || r.turning())
}

// turning reports whether quotients go up and down.
func (r *run) turning() bool { return 3*r.turns >= r.after }

// largest returns the largest value of an output at the nodes. Noise is compared with it, and not with the values of
// the output itself, since one of several that is 0 may have the noise of the others.
func (l *line) largest(g *formula) (v float64) {
	for _, y := range l.values[:len(g.grid)*len(l.y0)] {
		if a := math.Abs(y); a <= math.MaxFloat64 {
			v = max(v, a)
		}
	}
	return v
}

// finish computes the result of output i, after n-1 halvings, and reports whether it is noisy.
func (l *line) finish(g *formula, i, n int, h float64) (noisy bool) {
	r := &l.runs[i]
	switch {
	case l.given > 0:
		if math.IsInf(r.e, 1) { // no second step
			r.d, r.step = r.last, h
		}
		return false
	case n == 1 && math.IsInf(r.e, 1) && l.s.a.Extrapolate == 0: // no second step
		r.d, r.e, r.step = r.last, l.truncation(g, i, h)+r.lastRounding, h
		return false
	case !r.contradicts && r.e < math.Inf(1):
		r.e = max(r.e, r.scatter)
		return false
	case r.after >= enough && (r.noisy(g, l.largest(g)) || r.turning()):
		l.floor[i] = max(l.floor[i], 2*r.noise(g)) // twice the standard deviation
		r.e = max(r.e, r.scatter)
		return true
	}
	r.d, r.e, r.step = math.NaN(), math.Inf(1), h // it has not converged
	return false
}

// extrapolate adds the quotient d to the table of extrapolations by Neville's scheme; the error of an entry is its
// distance from the two that it was made of. It returns the last of the row, with its rounding error. C. Ridders,
// "Accurate computation of F'(x) and F'(x)F"(x)", Adv. Eng. Software 4 (1982).
func (r *run) extrapolate(g *formula, most int, d, rounding, misfit, h float64) (last, lastRounding float64) {
	power, by := g.power-g.order, 1
	if g.even {
		by = 2
	}
	columns := min(r.columns, most)
	for k := range columns {
		w := math.Exp2(float64(power + k*by))
		old, oldRounding := r.table[k], r.rounding[k]
		r.table[k], r.rounding[k] = d, rounding
		left := d
		d = left + (left-old)/(w-1)
		rounding = (w*rounding + oldRounding) / (w - 1)
		r.consider(d, max(math.Abs(d-left), math.Abs(d-old))+rounding+misfit, h, misfit > 0)
	}
	r.table[columns], r.rounding[columns] = d, rounding
	r.columns = columns + 1
	return d, rounding
}
