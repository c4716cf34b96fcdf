package sparsity

import (
	"fmt"

	"github.com/nabla-ad/nabla/internal/core"
)

// Global finds a pattern that holds for every x. The function runs once over numbers
// whose values it cannot see.
//
// Of nabla.Where it takes both branches. Whatever needs a value to go on, as an if
// on a comparison of Reals, Real.Value, Real.Int or nabla.Frexp, is a *BranchError
// that names the line. The parameters of a bound struct are constants, on which a
// function may branch: the pattern is for the struct as it is.
//
// The pattern can have entries that are zero for other reasons than the classes of
// operations, such as in x - x or x·0.
type Global struct {
	// Limit is the number of operations that are recorded; 0 for 100 million, of
	// about 60 bytes each.
	Limit int
}

// Local finds the pattern at x. Branches follow the values, and operands count only
// if they can matter near x: of a product with a factor 0 the other factor does
// not, of nabla.Max the smaller argument, of nabla.Where the branch that is not
// taken. At a tie both sides count.
//
// At other points the pattern may miss entries. Where the function branches, union
// the patterns at several points, or use [Recorded].
type Local struct {
	// Limit is as in Global.
	Limit int
}

const (
	defaultLimit      = 100_000_000
	bytesPerOperation = 60
)

// Name is "global", with the limit where it is set.
func (d Global) Name() string { return withLimit("global", d.Limit) }

// Name is "local", with the limit where it is set.
func (d Local) Name() string { return withLimit("local", d.Limit) }

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

// record runs f over a recorder, at x or at no point.
func record(detector string, f Function, x []float64, limit int, local bool) (*graph, error) {
	if err := checkPoint(detector, f, x); err != nil {
		return nil, err
	}
	if limit <= 0 {
		limit = defaultLimit
	}
	n, m := f.Dims()
	var t core.Tracer
	// Without parameters in the trace those of f are constants.
	t.StartRecording(n, 0, core.RecordOptions{Keep: local, Blind: !local, Limit: limit})
	defer t.Close()
	xs, ys := make([]core.Rep, n), make([]core.Rep, m)
	for i := range xs {
		xs[i] = t.Input(i, x[i]) // without local, for goroutines that nobody can stop
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

// taskOf returns the task that f is for, nil if it has none.
func taskOf(f Function) *core.Task {
	if t, ok := f.(interface{ Task() *core.Task }); ok {
		return t.Task()
	}
	return nil
}
