package sparsity

import (
	"fmt"
	"slices"

	"github.com/nabla-ad/nabla/program"
)

// This file has the detector Recorded, which unites the patterns of the programs recorded at several points, and the
// patterns of programs. A program is one branch of the function, so its pattern holds wherever its guards hold.

// Recorded finds the pattern of the branches that the function takes at x and at Points: it records the function at
// each of them and returns the union of the patterns. For each branch the pattern is valid at every point of the
// branch, like that of [Global], and a function may branch on its inputs.
//
// The pattern can miss entries of branches that no point takes. [OfProgram] and [HessianOfProgram] return the pattern
// of a given program.
type Recorded struct {
	Points [][]float64
}

// Name returns "recorded", with the number of Points if there are any.
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

// union returns the union of pattern(p) over the programs p recorded at x and at the Points. A program that repeats an
// earlier one is skipped.
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

// sameBranch reports whether p and q apply the same operations to the same numbers. Programs with calls of custom rules
// are not compared and count as different.
func sameBranch(p, q *program.Program) bool {
	return len(p.Customs)+len(q.Customs) == 0 &&
		slices.Equal(p.Stmts, q.Stmts) && slices.Equal(p.Index, q.Index) && slices.Equal(p.Result, q.Result)
}

// OfProgram returns the pattern of the Jacobian of a program's first group of outputs with respect to its first group
// of inputs, valid at every point where the guards of the program hold. The error is that of a custom rule.
func OfProgram(p *program.Program) (*Pattern, error) {
	g, err := fromProgram(p)
	if err != nil {
		return nil, err
	}
	return g.jacobian(), nil
}

// HessianOfProgram returns the union, over the first group of outputs, of the patterns of the second derivatives with
// respect to the first group of inputs, valid where the guards of the program hold. The error is that of a custom rule.
func HessianOfProgram(p *program.Program) (*Pattern, error) {
	g, err := fromProgram(p)
	if err != nil {
		return nil, err
	}
	return g.hessian(), nil
}
