package nabla

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/timing"
)

// ErrDisagree reports that backends compute different derivatives of one function. As the reason in
// a [ChoiceRow], it means that this backend differs from the majority; from [Choose], that there is
// no majority.
var ErrDisagree = errors.New("derivatives disagree")

// Choice is the result of [Choose].
type Choice struct {
	// Backend is the fastest of the candidates that agree.
	Backend Backend
	// Rows holds all candidates: those that agree, sorted by time, then the others in the order in
	// which they were passed.
	Rows []ChoiceRow
}

// ChoiceRow holds the measurements of one candidate.
type ChoiceRow struct {
	Backend Backend
	// Err is the reason why the candidate was rejected: the error of its preparation or of a call,
	// or an error that wraps ErrDisagree. The fields below are zero then.
	Err error
	// Prepare is the time of the preparation, measured once.
	Prepare time.Duration
	// Call is the time of a prepared call that computes value and derivative: the median of the
	// samples.
	Call time.Duration
	// Spread is half the distance between the quartiles of the samples, as a fraction of Call.
	Spread float64
	// Samples is the number of samples. A candidate far slower than the fastest has one.
	Samples int
	// Difference is the largest difference from the derivative of the reference candidate, which is
	// the first of the most accurate ones, relative to its largest component.
	Difference float64

	call float64 // in nanoseconds
}

// Choose measures the candidates on f at x, rejects those that fail or whose derivatives disagree
// with the others, and returns the fastest together with the table of measurements, which
// [Choice.String] prints:
//
//	c, err := nabla.Choose(f, x, forwarddiff.Backend{}, reversediff.Backend{Compile: true}, finitediff.Backend{})
//	fmt.Println(c, err)
//	prep, err := nabla.PrepareGradient(f, c.Backend, x)
//
// It measures prepared calls for value and gradient, or for value and Jacobian if f does not have
// one output. A SecondOrder is measured by its Inner.
//
// # Agreement
//
// The largest set of candidates that agree pairwise is taken to be right. If two sets are largest,
// the error is ErrDisagree. Values and derivatives agree if they are within 1e-8 of each other or
// within 1e-11 of the largest in their row. If one of the two is an approximation by an
// [engine.Approximator], as finite differences are, its accuracy is the tolerance for both. NaN
// agrees with NaN only, and an infinity with itself. The result of the last timed call must agree
// with that of the first. A single working candidate is measured and chosen without such a check.
//
// # Cost and noise
//
// Each candidate is prepared and called twice. The fastest are then timed in up to 15 samples of a
// millisecond or one call, whichever is longer. All of them take part in each round, in rotating
// order, so that other load on the machine affects them alike. A candidate ten times slower than
// the fastest is not timed again. The measurement costs about 20 ms for each candidate or, if f
// takes long, three more gradients by each. Two candidates whose times differ by less than Spread
// are equally fast.
//
// On an error the Choice, if it is not nil, has no Backend but holds the reasons of all candidates.
func Choose[F AnyFunc](f F, x []float64, candidates ...Backend) (*Choice, error) {
	return realChooser.choose(f, x, candidates)
}

// A chooser holds the parameters of a measurement; the documentation of Choose gives the values
// used there.
type chooser struct {
	now         func() time.Time
	sample      time.Duration
	rounds      int           // largest number of samples of a candidate
	fewest      int           // smallest number of samples
	limit       time.Duration // for all samples of the fastest
	slow        float64       // a candidate slower than the fastest by this factor is not timed again
	largestLoop int
}

var realChooser = chooser{
	now: time.Now, sample: time.Millisecond, rounds: 15, fewest: 3, limit: 200 * time.Millisecond, slow: 10,
	largestLoop: 1 << 17,
}

// agreement is the tolerance for engines without truncation error. It covers rounding errors, even
// of functions that lose half of their digits.
const agreement = 1e-8

// A candidate is a backend with its measurements so far.
type candidate struct {
	ChoiceRow
	tol     float64
	call    func(y, d []float64) error
	y, d    []float64 // value and derivative of the last call
	y0, d0  []float64 // value and derivative of the first call
	loop    int       // calls in a sample
	samples []float64
}

func (c chooser) choose(f any, x []float64, backends []Backend) (*Choice, error) {
	if len(backends) == 0 {
		return nil, &UnsupportedError{What: "Choose: no candidates",
			Remedy: "pass engines such as forwarddiff.Backend{} and reversediff.Backend{Compile: true}"}
	}
	fn, err := functionOf("Choose", f, x, wantAny)
	if err != nil {
		return nil, err
	}
	n, m := fn.Dims()
	all := make([]*candidate, len(backends))
	for i, b := range backends {
		all[i] = &candidate{ChoiceRow: ChoiceRow{Backend: b}}
		all[i].Err = all[i].prepare(c, f, n, m, x)
	}
	right, err := majority(all, n)
	if err == nil {
		c.measure(right)
		for _, a := range right {
			if at := differs(a.y, a.d, a.y0, a.d0, a.tol, n); a.Err == nil && at != "" {
				a.Err = fmt.Errorf("%w: after many calls at one point %s in the first call", ErrDisagree, at)
			}
		}
	}
	choice := table(all, right)
	switch {
	case err != nil:
		return choice, fmt.Errorf("nabla: Choose: %w", err)
	case choice.Backend == nil:
		return choice, fmt.Errorf("nabla: Choose: no candidate works: %w", failures(all))
	}
	return choice, nil
}

// prepare prepares a and calls it once.
func (a *candidate) prepare(c chooser, f any, n, m int, x []float64) error {
	r, err := resolve("Choose", a.Backend)
	if err != nil {
		return err
	}
	a.tol = agreement
	if p, ok := r.inner.(engine.Approximator); ok {
		a.tol = max(a.tol, p.Accuracy())
	}
	start := c.now()
	if m == 1 {
		p := new(GradientPrep)
		if err := p.setup("Gradient", f, wantScalar, a.Backend, x, p.prepare); err != nil {
			return err
		}
		a.call = func(y, d []float64) (err error) {
			y[0], _, err = p.ValueAndGradient(d, x)
			return err
		}
	} else {
		p := new(JacobianPrep)
		if err := p.setup("Jacobian", f, wantVector, a.Backend, x, p.prepare); err != nil {
			return err
		}
		if err := p.allocate(m, n); err != nil {
			return err
		}
		var dst *mat.Dense
		a.call = func(y, d []float64) error {
			if dst == nil && len(d) > 0 {
				dst = mat.NewDense(m, n, d)
			}
			_, _, err := p.ValueAndJacobian(y, dst, x)
			return err
		}
	}
	a.Prepare = c.now().Sub(start)
	a.y, a.d = make([]float64, m), make([]float64, m*n)
	for i := range a.d {
		a.d[i] = math.NaN()
	}
	if err := a.call(a.y, a.d); err != nil {
		return err
	}
	a.y0, a.d0 = slices.Clone(a.y), slices.Clone(a.d)
	return nil
}

// differs returns a description of the first difference between the value y, with the derivative d
// in rows of n, and y2 with d2. It returns "" if they agree within tol. The text ends where the
// caller names the origin of y2 and d2.
func differs(y, d, y2, d2 []float64, tol float64, n int) string {
	for i := range y {
		if !agrees(y[i], y2[i], agreement, 0) {
			return fmt.Sprintf("output %d is %v, and %v", i, y[i], y2[i])
		}
		row, row2 := d[i*n:(i+1)*n], d2[i*n:(i+1)*n]
		size := max(largest(row), largest(row2))
		for j := range row {
			if agrees(row[j], row2[j], tol, size) {
				continue
			}
			if len(y) == 1 {
				return fmt.Sprintf("component %d is %v, and %v", j, row[j], row2[j])
			}
			return fmt.Sprintf("element (%d, %d) is %v, and %v", i, j, row[j], row2[j])
		}
	}
	return ""
}

// agrees reports whether a and b agree within tol in a row whose largest element has the given
// size.
func agrees(a, b, tol, size float64) bool {
	if a == b || a != a && b != b {
		return true
	}
	if tol <= agreement {
		size /= 1000
	}
	if math.IsInf(a, 0) || math.IsInf(b, 0) {
		return false
	}
	return math.Abs(a-b) <= tol*max(math.Abs(a), math.Abs(b), size)
}

// largest returns the largest finite absolute value in v, 0 if there is none.
func largest(v []float64) float64 {
	m := 0.0
	for _, a := range v {
		if a = math.Abs(a); a > m && !math.IsInf(a, 0) {
			m = a
		}
	}
	return m
}

// majority returns the largest set of candidates that agree pairwise. It stores in the other
// working candidates the reason for their rejection, and in those of the set their difference from
// the reference candidate. Two largest sets are an error.
func majority(all []*candidate, n int) ([]*candidate, error) {
	var work []*candidate
	for _, a := range all {
		if a.Err == nil {
			work = append(work, a)
		}
	}
	agree := make([][]bool, len(work))
	for i, a := range work {
		agree[i] = make([]bool, len(work))
		for j, b := range work {
			agree[i][j] = differs(a.y, a.d, b.y, b.d, max(a.tol, b.tol), n) == ""
		}
	}
	best, several := largestClique(agree)
	if several {
		// Without a majority, each candidate reports one that contradicts it.
		for i, a := range work {
			if j := slices.Index(agree[i], false); j >= 0 {
				b := work[j]
				a.Err = contradiction(a, b, n)
			}
		}
		return nil, fmt.Errorf("%w, and no side has a majority: %w; add a candidate that shares no code with them, "+
			"such as finitediff.Backend{}", ErrDisagree, failures(all))
	}
	var right []*candidate
	for _, i := range best {
		right = append(right, work[i])
	}
	if len(right) == 0 {
		return nil, nil
	}
	judge := right[0] // the first of the most accurate
	for _, a := range right {
		if a.tol < judge.tol {
			judge = a
		}
	}
	for i, a := range work {
		if slices.Contains(best, i) {
			a.Difference = distance(a.d, judge.d)
			continue
		}
		against := judge
		if differs(a.y, a.d, judge.y, judge.d, max(a.tol, judge.tol), n) == "" {
			against = right[slices.IndexFunc(best, func(j int) bool { return !agree[i][j] })]
		}
		a.Err = contradiction(a, against, n)
	}
	return right, nil
}

func contradiction(a, b *candidate, n int) error {
	return fmt.Errorf("%w: %s by %s", ErrDisagree, differs(a.y, a.d, b.y, b.d, max(a.tol, b.tol), n), nameOf(b.Backend))
}

// distance returns the largest difference between a and b, relative to the largest element of b.
func distance(a, b []float64) float64 {
	worst := 0.0
	for i := range a {
		if d := math.Abs(a[i] - b[i]); d > worst {
			worst = d
		}
	}
	if size := largest(b); size > 0 {
		worst /= size
	}
	return worst
}

// largestClique returns the largest set of indices that agree pairwise, and whether there are
// several of that size. agree is symmetric. The search is exhaustive and takes exponential time in
// the number of candidates.
func largestClique(agree [][]bool) (best []int, several bool) {
	var grow func(set []int, next int)
	grow = func(set []int, next int) {
		switch {
		case len(set) > len(best):
			best, several = slices.Clone(set), false
		case len(set) == len(best) && !slices.Equal(set, best):
			several = true
		}
		for i := next; i < len(agree); i++ {
			if len(set)+len(agree)-i < len(best) {
				return
			}
			if !slices.ContainsFunc(set, func(j int) bool { return !agree[i][j] }) {
				grow(append(set, i), i+1)
			}
		}
	}
	grow(nil, 0)
	return best, several
}

// measure times the candidates in rounds.
func (c chooser) measure(right []*candidate) {
	fastest := math.Inf(1)
	for _, a := range right {
		a.loop = 1
		for a.Err == nil {
			d := a.time(c)
			if d >= c.sample/2 || a.loop >= c.largestLoop {
				a.samples = []float64{float64(d) / float64(a.loop)}
				fastest = min(fastest, a.samples[0])
				a.loop = max(1, int(float64(a.loop)*float64(c.sample)/float64(max(d, 1))))
				a.loop = min(a.loop, c.largestLoop)
				break
			}
			a.loop *= 2
		}
	}
	var racing []*candidate
	for _, a := range right {
		if a.Err == nil && a.samples[0] <= c.slow*fastest {
			racing = append(racing, a)
		}
	}
	rounds := c.rounds
	if per := max(float64(c.sample), fastest); per*float64(rounds) > float64(c.limit) {
		rounds = max(c.fewest, int(float64(c.limit)/per))
	}
	for _, a := range racing {
		a.samples = a.samples[:0] // the first sample warmed up the machine
	}
	for r := range rounds {
		for i := range racing {
			if a := racing[(r+i)%len(racing)]; a.Err == nil {
				d := a.time(c)
				a.samples = append(a.samples, float64(d)/float64(a.loop))
			}
		}
	}
	for _, a := range right {
		a.summarise()
	}
}

// time returns the time of a.loop calls. If one fails, it stores the error in a and stops.
func (a *candidate) time(c chooser) time.Duration {
	start := c.now()
	for range a.loop {
		if err := a.call(a.y, a.d); err != nil {
			a.Err = err
			break
		}
	}
	return c.now().Sub(start)
}

func (a *candidate) summarise() {
	if a.Err != nil {
		return
	}
	a.ChoiceRow.call, a.Samples = timing.Median(a.samples), len(a.samples)
	a.Call = time.Duration(math.Round(a.ChoiceRow.call))
	if a.ChoiceRow.call > 0 && len(a.samples) > 1 {
		a.Spread = timing.Spread(a.samples) / 2
	}
}

// table returns the Choice for all candidates, of which those in right agree.
func table(all, right []*candidate) *Choice {
	c := new(Choice)
	for _, a := range right {
		if a.Err == nil {
			c.Rows = append(c.Rows, a.ChoiceRow)
		}
	}
	slices.SortStableFunc(c.Rows, func(a, b ChoiceRow) int { return cmp.Compare(a.call, b.call) })
	if len(c.Rows) > 0 {
		c.Backend = c.Rows[0].Backend
	}
	for _, a := range all {
		switch {
		case a.Err != nil:
			c.Rows = append(c.Rows, ChoiceRow{Backend: a.Backend, Err: a.Err})
		case len(right) == 0: // part of one of several largest sets
			c.Rows = append(c.Rows, ChoiceRow{Backend: a.Backend, Prepare: a.Prepare})
		}
	}
	return c
}

// failures returns one error that wraps those of all rejected candidates, or nil.
func failures(all []*candidate) error {
	var list error
	for _, a := range all {
		switch {
		case a.Err == nil:
		case list == nil:
			list = fmt.Errorf("%s: %w", nameOf(a.Backend), a.Err)
		default:
			list = fmt.Errorf("%w; %s: %w", list, nameOf(a.Backend), a.Err)
		}
	}
	return list
}

// String returns a table with a line for each candidate.
func (c *Choice) String() string {
	if c == nil || len(c.Rows) == 0 {
		return "no choice: nabla.Choose makes one"
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "engine\tcall\tspread\tratio\tprepare\tdifference\n")
	for _, r := range c.Rows {
		switch {
		case r.Err != nil:
			fmt.Fprintf(w, "%s\tthrown out: %s\n", nameOf(r.Backend), strings.TrimPrefix(r.Err.Error(), "nabla: "))
		case r.Samples == 0:
			fmt.Fprintf(w, "%s\tnot timed\n", nameOf(r.Backend))
		default:
			ratio := 1.0
			if c.Rows[0].call > 0 {
				ratio = r.call / c.Rows[0].call
			}
			spread := "–"
			if r.Samples > 1 {
				spread = fmt.Sprintf("±%.0f%%", 100*r.Spread)
			}
			fmt.Fprintf(w, "%s\t%v\t%s\t%.3g\t%v\t%.2g\n", nameOf(r.Backend), digits(r.Call), spread, ratio,
				digits(r.Prepare), r.Difference)
		}
	}
	w.Flush() // cannot fail
	return strings.TrimSuffix(b.String(), "\n")
}

// digits returns d rounded to three significant digits.
func digits(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}
