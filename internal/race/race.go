// Package race finds the fastest of several computations of one derivative, and those that contradict the majority.
//
// The input is a list of candidates, each of which prepares a call that writes the value of a function at a fixed
// point, m numbers, and its derivative there, an m×n matrix by rows. The output is a [Result] for each candidate and
// the ranking of those that agree. A race has three stages:
//
//   - each candidate is prepared and called once;
//   - the majority, the largest set of candidates that agree pairwise, is taken to be right, and the others are
//     rejected;
//   - those of the majority are timed in rounds, so that other load on the machine affects them alike.
//
// Two results agree if values and derivatives are within tolerances that [Agreement] and Candidate.Tolerance give. A
// sample is the time of a loop of calls, divided by their number.
package race

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/nabla-ad/nabla/internal/timing"
)

// ErrDisagree reports that candidates compute different derivatives.
var ErrDisagree = errors.New("derivatives disagree")

// Agreement is the tolerance for derivatives without truncation error. It covers rounding errors, even of functions
// that lose half of their digits.
const Agreement = 1e-8

// A Call writes a value, of m numbers, to y and the derivative, m rows of n numbers, to d. All calls of a race get the
// same slices.
type Call func(y, d []float64) error

// A Candidate takes part in a race.
type Candidate struct {
	// Name stands for the candidate in errors.
	Name string
	// Tolerance is the relative error that its derivatives may have, if it is above Agreement.
	Tolerance float64
	// Prepare returns the call to time.
	Prepare func() (Call, error)
}

// A Result holds the measurements of a candidate.
type Result struct {
	// Err is the reason why the candidate was rejected: an error of Prepare or of a call, or one that wraps
	// ErrDisagree.
	Err error
	// Prepare is the time that Prepare took.
	Prepare time.Duration
	// PerCall is the time of a call in nanoseconds, the median of the samples.
	PerCall float64
	// Spread is half the distance between the quartiles of the samples, as a fraction of PerCall.
	Spread float64
	// Samples is the number of samples, 0 if the candidate was not timed.
	Samples int
	// Difference is the largest difference from the derivative of the reference candidate, which is the first of the
	// most accurate ones in the majority, relative to its largest component.
	Difference float64
}

// Rules hold the parameters of a race.
type Rules struct {
	Now    func() time.Time
	Sample time.Duration // the least time of a sample that has more than one call
	Rounds int           // the largest number of samples of a candidate
	Fewest int           // the smallest number of samples
	Limit  time.Duration // for all samples of the fastest candidate
	Slow   float64       // a candidate slower than the fastest by this factor, twice, is not timed again
	// LargestLoop is the largest number of calls in a sample.
	LargestLoop int
}

// Standard holds the rules of nabla.Choose, whose documentation states them: up to 15 samples of about 1 ms or one
// call, fewer, but at least 3, if those of the fastest candidate would take more than 200 ms. Candidates more than 10
// times slower than the fastest in two samples are not timed again.
var Standard = Rules{
	Now: time.Now, Sample: time.Millisecond, Rounds: 15, Fewest: 3, Limit: 200 * time.Millisecond, Slow: 10,
	LargestLoop: 1 << 17,
}

// A runner is a candidate with its measurements so far.
type runner struct {
	Candidate
	Result
	call    Call
	y, d    []float64 // value and derivative of the last call
	y0, d0  []float64 // value and derivative of the first call
	loop    int       // calls in a sample
	samples []float64
}

// Run holds a race between candidates whose values have m numbers and whose derivatives are m×n matrices. The results
// are in the order of the candidates. ranking holds the indices of those that were timed, fastest first. The error,
// which wraps ErrDisagree, is that there is no majority; nothing is timed then.
func (r Rules) Run(candidates []Candidate, m, n int) (results []Result, ranking []int, err error) {
	all := make([]*runner, len(candidates))
	for i, c := range candidates {
		c.Tolerance = max(c.Tolerance, Agreement)
		all[i] = &runner{Candidate: c}
		all[i].Err = all[i].prepare(r.Now, m, n)
	}
	right, err := majority(all, n)
	if err == nil {
		r.measure(right)
		for _, a := range right {
			if at := differs(a.y, a.d, a.y0, a.d0, a.Tolerance, n); a.Err == nil && at != "" {
				a.Err = fmt.Errorf("%w: after many calls at one point %s in the first call (nabla.ErrDisagree)",
					ErrDisagree, at)
			}
		}
	}
	for i, a := range all {
		if a.Err != nil {
			a.Result = Result{Err: a.Err}
		}
		results = append(results, a.Result)
		if a.Samples > 0 {
			ranking = append(ranking, i)
		}
	}
	slices.SortStableFunc(ranking, func(i, j int) int { return cmp.Compare(results[i].PerCall, results[j].PerCall) })
	return results, ranking, err
}

// prepare prepares a and calls it once.
func (a *runner) prepare(now func() time.Time, m, n int) (err error) {
	start := now()
	if a.call, err = a.Candidate.Prepare(); err != nil {
		return err
	}
	a.Result.Prepare = now().Sub(start)
	a.y, a.d = make([]float64, m), make([]float64, m*n)
	for i := range a.d {
		a.d[i] = math.NaN() // an element that the call does not write differs from those of the others
	}
	if err := a.call(a.y, a.d); err != nil {
		return err
	}
	a.y0, a.d0 = slices.Clone(a.y), slices.Clone(a.d)
	return nil
}

// measure times the candidates in rounds.
func (r Rules) measure(right []*runner) {
	fastest := math.Inf(1)
	for _, a := range right {
		r.calibrate(a)
		if a.Err == nil {
			fastest = min(fastest, a.samples[0])
		}
	}
	var racing []*runner
	for _, a := range right {
		if a.Err == nil && a.samples[0] > r.Slow*fastest { // other load on the machine may have held it up
			r.calibrate(a)
		}
		if a.Err == nil && a.samples[0] <= r.Slow*fastest {
			racing = append(racing, a)
		}
	}
	rounds := r.Rounds
	if per := max(float64(r.Sample), fastest); per*float64(rounds) > float64(r.Limit) {
		rounds = max(r.Fewest, int(float64(r.Limit)/per))
	}
	for _, a := range racing {
		a.samples = a.samples[:0] // the first sample warmed up the machine
	}
	for round := range rounds {
		for i := range racing {
			if a := racing[(round+i)%len(racing)]; a.Err == nil {
				d := a.time(r.Now)
				a.samples = append(a.samples, float64(d)/float64(a.loop))
			}
		}
	}
	for _, a := range right {
		a.summarise()
	}
}

// calibrate takes one sample of a and chooses the number of calls in later ones.
func (r Rules) calibrate(a *runner) {
	a.loop = 1
	for a.Err == nil {
		d := a.time(r.Now)
		if d >= r.Sample/2 || a.loop >= r.LargestLoop {
			a.samples = []float64{float64(d) / float64(a.loop)}
			a.loop = max(1, int(float64(a.loop)*float64(r.Sample)/float64(max(d, 1))))
			a.loop = min(a.loop, r.LargestLoop)
			return
		}
		a.loop *= 2
	}
}

// time returns the time of a.loop calls. If one fails, it stores the error in a and stops.
func (a *runner) time(now func() time.Time) time.Duration {
	start := now()
	for range a.loop {
		if err := a.call(a.y, a.d); err != nil {
			a.Err = err
			break
		}
	}
	return now().Sub(start)
}

// summarise computes the result from the samples.
func (a *runner) summarise() {
	if a.Err != nil {
		return
	}
	a.PerCall, a.Samples = timing.Median(a.samples), len(a.samples)
	if a.PerCall > 0 && len(a.samples) > 1 {
		a.Spread = timing.Spread(a.samples) / 2
	}
}

// Failures returns one error that wraps those of all rejected candidates, or nil.
func Failures(candidates []Candidate, results []Result) error {
	var list error
	for i, r := range results {
		list = appendFailure(list, candidates[i].Name, r.Err)
	}
	return list
}

func appendFailure(list error, name string, err error) error {
	switch {
	case err == nil:
		return list
	case list == nil:
		return fmt.Errorf("%s: %w", name, err)
	}
	return fmt.Errorf("%w; %s: %w", list, name, err)
}
