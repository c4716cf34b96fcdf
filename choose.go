package nabla

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/race"
)

// ErrDisagree reports that backends compute different derivatives of one function. As the reason in
// a [ChoiceRow], it means that this backend differs from the majority; from [Choose], that there is
// no majority.
var ErrDisagree = race.ErrDisagree

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

	perCall float64 // the median in nanoseconds, not rounded
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
// the fastest in two samples is not timed again. The measurement costs about 20 ms for each candidate or, if f
// takes long, three more gradients by each. Two candidates whose times differ by less than Spread
// are equally fast.
//
// On an error the Choice, if it is not nil, has no Backend but holds the reasons of all candidates.
func Choose[F AnyFunc](f F, x []float64, candidates ...Backend) (*Choice, error) {
	return choose(race.Standard, f, x, candidates)
}

// choose is Choose by the given rules.
func choose(rules race.Rules, f any, x []float64, backends []Backend) (*Choice, error) {
	if len(backends) == 0 {
		return nil, &UnsupportedError{What: "Choose: no candidates",
			Remedy: "pass engines such as forwarddiff.Backend{} and reversediff.Backend{Compile: true}"}
	}
	fn, err := functionOf("Choose", f, x, wantAny)
	if err != nil {
		return nil, err
	}
	n, m := fn.Dims()
	candidates, backends := make([]race.Candidate, len(backends)), slices.Clone(backends)
	for i, b := range backends {
		if b == nil {
			b, backends[i] = Auto{}, Auto{}
		}
		candidates[i] = candidateOf(b, f, fn, x)
	}
	results, ranking, err := rules.Run(candidates, m, n)
	choice := choiceOf(backends, results, ranking)
	switch {
	case err != nil:
		return choice, fmt.Errorf("nabla: Choose: %w", err)
	case choice.Backend == nil:
		return choice, fmt.Errorf("nabla: Choose: no candidate works: %w", race.Failures(candidates, results))
	}
	return choice, nil
}

// candidateOf returns the candidate that computes value and derivative of f, which is fn, at x by b.
func candidateOf(b Backend, f any, fn *engine.Function, x []float64) race.Candidate {
	n, m := fn.Dims()
	c := race.Candidate{Name: nameOf(b)}
	r, err := resolveFor("Choose", b, fn)
	if err != nil {
		c.Prepare = func() (race.Call, error) { return nil, err }
		return c
	}
	if p, ok := r.inner.(engine.Approximator); ok {
		c.Tolerance = p.Accuracy()
	}
	if m == 1 {
		c.Prepare = func() (race.Call, error) {
			p, err := newOperator[GradientPrep]("Gradient", f, wantScalar, b, x)
			if err != nil {
				return nil, err
			}
			return func(y, d []float64) (err error) {
				y[0], _, err = p.ValueAndGradient(d, x)
				return err
			}, nil
		}
		return c
	}
	c.Prepare = func() (race.Call, error) {
		p, err := newOperator[JacobianPrep]("Jacobian", f, wantVector, b, x)
		if err != nil {
			return nil, err
		}
		if err := p.allocate(m, n); err != nil {
			return nil, err
		}
		var dst *mat.Dense
		return func(y, d []float64) error {
			if dst == nil && len(d) > 0 {
				dst = mat.NewDense(m, n, d)
			}
			_, _, err := p.ValueAndJacobian(y, dst, x)
			return err
		}, nil
	}
	return c
}

// choiceOf returns the Choice for the results of all backends. The ranking holds those that were timed.
func choiceOf(backends []Backend, results []race.Result, ranking []int) *Choice {
	c := new(Choice)
	add := func(i int) {
		r := &results[i]
		c.Rows = append(c.Rows, ChoiceRow{Backend: backends[i], Err: r.Err, Prepare: r.Prepare,
			Call: time.Duration(math.Round(r.PerCall)), Spread: r.Spread, Samples: r.Samples, Difference: r.Difference,
			perCall: r.PerCall})
	}
	for _, i := range ranking {
		add(i)
	}
	for i := range results {
		if !slices.Contains(ranking, i) {
			add(i)
		}
	}
	if len(ranking) > 0 {
		c.Backend = backends[ranking[0]]
	}
	return c
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
			if c.Rows[0].perCall > 0 {
				ratio = r.perCall / c.Rows[0].perCall
			}
			spread := "one sample"
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
