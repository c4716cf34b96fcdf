package sparsity

import (
	"fmt"
	"slices"

	"github.com/nabla-ad/nabla/program"
)

// Recorded finds the pattern of the branches that the function takes at x and at
// Points: it records the function at each of them and unites the patterns. On each
// branch the pattern is that of every point of the branch, as that of [Global], and
// a function may branch as it likes.
//
// A pattern can miss entries of branches that no point takes. Programs are also
// taken apart by [OfProgram] and [HessianOfProgram].
type Recorded struct {
	Points [][]float64
}

// Name is "recorded", with the number of points beside x.
func (d Recorded) Name() string {
	if len(d.Points) == 0 {
		return "recorded"
	}
	return fmt.Sprintf("recorded(points=%d)", len(d.Points))
}

// Jacobian implements Detector.
func (d Recorded) Jacobian(f Function, x []float64) (*Pattern, error) {
	return d.union(f, x, OfProgram)
}

// Hessian implements Detector.
func (d Recorded) Hessian(f Function, x []float64) (*Pattern, error) {
	return d.union(f, x, HessianOfProgram)
}

func (d Recorded) union(f Function, x []float64, pattern func(*program.Program) (*Pattern, error)) (*Pattern, error) {
	var all *Pattern
	var known []*program.Program
	for _, at := range append([][]float64{x}, d.Points...) {
		if err := checkPoint(d.Name(), f, at); err != nil {
			return nil, err
		}
		p, err := f.Program(at)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(known, func(q *program.Program) bool { return sameBranch(p, q) }) {
			continue
		}
		known = append(known, p)
		one, err := pattern(p)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = one
		} else if all, err = all.Union(one); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// sameBranch reports whether p and q do the same operations on the same numbers.
// Two calls of rules are not compared.
func sameBranch(p, q *program.Program) bool {
	return len(p.Customs)+len(q.Customs) == 0 &&
		slices.Equal(p.Stmts, q.Stmts) && slices.Equal(p.Index, q.Index) && slices.Equal(p.Result, q.Result)
}

// OfProgram is the pattern of the Jacobian of a program's first group of outputs
// with respect to its first group of inputs, at every point where the guards of the
// program hold. The error is one of a custom rule.
func OfProgram(p *program.Program) (*Pattern, error) {
	g, err := fromProgram(p)
	if err != nil {
		return nil, err
	}
	return g.jacobian(), nil
}

// HessianOfProgram is the pattern of the second derivatives, in the same sense,
// united over the outputs.
func HessianOfProgram(p *program.Program) (*Pattern, error) {
	g, err := fromProgram(p)
	if err != nil {
		return nil, err
	}
	return g.hessian(), nil
}
