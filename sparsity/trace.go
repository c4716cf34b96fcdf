package sparsity

import (
	"fmt"

	"github.com/nabla-ad/nabla/internal/core"
)

// This file has the detectors Global and Local, which run the function once with recording numbers and compute the
// pattern from the recording.

// Global finds a pattern that holds for every x. The function runs once with numbers whose values it cannot read.
//
// Both branches of nabla.Where are taken. An operation that needs a value, such as an if on a comparison of Reals,
// Real.Value, Real.Int or nabla.Frexp, is a *BranchError that names the line. The parameters of a bound struct are
// constants, on which a function may branch: the pattern is for the current values of the struct.
//
// The pattern can have superfluous entries, whose derivative is zero for reasons other than the classes of the
// operations, as in x - x or x·0.
type Global struct {
	// Limit is the maximal number of recorded operations, of about 60 bytes each; 0 means 100 million.
	Limit int
}

// Local finds the pattern at x. Branches follow the values, and an operand counts only if it can affect the result near
// x: the cofactor of a factor 0 does not, nor does the smaller argument of nabla.Max or the branch of nabla.Where that
// is not taken. At a tie both arguments count.
//
// At other points the pattern may miss entries. If the function branches, form the union of the patterns at several
// points, or use [Recorded].
type Local struct {
	// Limit is the maximal number of recorded operations, as in Global.
	Limit int
}

// The size of recordings.
const (
	defaultLimit      = 100_000_000 // operations, which take about 6 GB
	bytesPerOperation = 60          // memory of a detection, about
)

// Name returns "global", with the limit if it is set.
func (d Global) Name() string { return withLimit("global", d.Limit) }

// Name returns "local", with the limit if it is set.
func (d Local) Name() string { return withLimit("local", d.Limit) }

// withLimit returns name, followed by the limit unless it is 0.
func withLimit(name string, limit int) string {
	if limit == 0 {
		return name
	}
	return fmt.Sprintf("%s(limit=%d)", name, limit)
}

// Jacobian implements Detector.
func (d Global) Jacobian(f Function, x []float64) (*Pattern, error) {
	g, err := record(d.Name(), f, x, d.Limit, false)
	if err != nil {
		return nil, err
	}
	return g.jacobian(), nil
}

// Hessian implements Detector.
func (d Global) Hessian(f Function, x []float64) (*Pattern, error) {
	g, err := record(d.Name(), f, x, d.Limit, false)
	if err != nil {
		return nil, err
	}
	return g.hessian(), nil
}

// Jacobian implements Detector.
func (d Local) Jacobian(f Function, x []float64) (*Pattern, error) {
	g, err := record(d.Name(), f, x, d.Limit, true)
	if err != nil {
		return nil, err
	}
	return g.jacobian(), nil
}

// Hessian implements Detector.
func (d Local) Hessian(f Function, x []float64) (*Pattern, error) {
	g, err := record(d.Name(), f, x, d.Limit, true)
	if err != nil {
		return nil, err
	}
	return g.hessian(), nil
}

// record runs f with a recorder and returns the dependency graph. If local is set, the recording keeps the values at x;
// otherwise reading a value is a *BranchError.
func record(detector string, f Function, x []float64, limit int, local bool) (*graph, error) {
	if err := checkPoint(detector, f, x); err != nil {
		return nil, err
	}
	if limit <= 0 {
		limit = defaultLimit
	}
	n, m := f.Dims()
	var t core.Tracer
	// The trace has no parameters, so those of f are constants.
	t.StartRecording(n, 0, core.RecordOptions{Keep: local, Blind: !local, Limit: limit})
	defer t.Close()
	xs, ys := make([]core.Rep, n), make([]core.Rep, m)
	for i := range xs {
		xs[i] = t.Input(i, x[i]) // a blind recording needs x only for goroutines of f that outlive it
	}
	if err := f.OverIn(&t, ys, xs); err != nil {
		return nil, err
	}
	taskOf(f).Fits("the detection of a sparsity pattern", bytesPerOperation*int64(t.Recorded().Len))
	g, err := fromRecording(t.Recorded(), ys, local)
	if err == nil {
		g.task = taskOf(f)
	}
	return g, err
}

// taskOf returns the task that f is prepared for, or nil.
func taskOf(f Function) *core.Task {
	if t, ok := f.(interface{ Task() *core.Task }); ok {
		return t.Task()
	}
	return nil
}
