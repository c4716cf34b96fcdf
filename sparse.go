package nabla

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/nabla-ad/nabla/coloring"
	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/compressed"
	"github.com/nabla-ad/nabla/sparsity"
)

// AutoSparse computes sparse Jacobians and Hessians. It detects the entries that can differ from
// zero, groups the columns (or rows) that a single product can tell apart, and computes a product
// for each group instead of one for each column. If it is cheaper, an engine that can compute
// single entries does so instead.
//
//	pair := nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: reversediff.Backend{Compile: true}}
//	b := nabla.AutoSparse{Dense: pair}
//	p, err := nabla.PrepareHessian(f, b, x)
//	h, err := p.Hessian(nil, x) // a *sparse.SymCSC
//	fmt.Println(p.Plan())       // the pattern, the groups and the time they took
//
// Detection, grouping and other work that does not depend on x is done once, when the operator is
// prepared; for a single Jacobian it rarely pays. Operators other than Jacobian and Hessian pass
// through to Dense.
//
// # A pattern that does not hold
//
// A matrix whose pattern lacks an entry would be wrong in other places too. A prepared object
// therefore compares its matrix, times a random vector, with the derivative in that direction: when
// it is prepared, in calls 1, 2, 4, 8, …, and in every call in which f may perform other operations
// than those that the pattern was detected with. A difference is a *[PatternError], after which all
// calls are compared, until Rebind.
//
// An engine that replays recordings identifies those calls: they replay another recording than the
// preparation did. For other engines, a pattern that holds on all branches, such as that of
// [sparsity.Global], is compared only if the bound struct has changed. If f branches on its inputs,
// every call of such an engine is compared, at the cost of one more product. Engines that compute
// entries examine all entries of the derivative, in every call.
//
// Not detected are entries lost in the rounding errors of a product or the errors of differences,
// entries covered by a NaN or an infinity, and, between calls 1, 2, 4, 8, …, changes of captured
// data if the engine keeps no recording.
type AutoSparse struct {
	// Dense is an engine, a SecondOrder of two, or a MixedMode.
	Dense Backend
	// Detector finds the pattern. Nil selects that of an engine which finds it by itself, as
	// symbolic.Backend does, or else sparsity.Global, or sparsity.Recorded if the function branches
	// on its inputs. For Jacobians of functions over float64 it selects a [DenseDetector]
	// at x and two points around it; their Hessians need a Detector.
	Detector sparsity.Detector
	// Coloring groups columns and rows. Nil tries several orders, of columns, of rows and, if the
	// engine can compute products of both, of the two together, and takes the colouring with the
	// least work. If it is set, the groups are used even with an engine that computes entries.
	Coloring coloring.Algorithm
	// ReverseCost is the cost of a product with the transpose relative to a product with the
	// derivative, used if a Jacobian can be computed with both. 0 measures it when a plan depends
	// on it.
	ReverseCost float64
	// Entries, unless nil, are the positions of the entries that are wanted, such as the diagonal blocks of a Hessian,
	// which must be symmetric. The results have no others, whether these are zero or not, so that fewer products
	// suffice; Plan().Pattern holds those of Entries that can differ from zero. All entries are computed in calls that
	// are compared, as above. An engine that computes entries computes those, and needs no pattern.
	Entries *sparsity.Pattern
	// Decompression selects how entries are recovered from the products of a Hessian or a MixedMode
	// Jacobian. Substitution needs fewer products but accumulates rounding errors, and a NaN or an
	// infinity among the entries spreads to others.
	Decompression coloring.Decompression
	// Workers is the number of goroutines that share the products, 0 or 1 for none. Each has its
	// own prepared engine; f must be safe for concurrent calls. There are fewer if the engine
	// computes all products at a time, or nearly all.
	Workers int
	// NoProbe disables the comparison with random directions.
	NoProbe bool

	diagonal bool // the diagonal is wanted, as Entries
	part     int  // unless 0, a pattern with more than one entry of so many is a denseError
}

// Name returns "sparse(…)" around the name of Dense, with the settings that differ from the
// default.
func (s AutoSparse) Name() string {
	parts := []string{nameOf(s.Dense)}
	if s.Detector != nil {
		parts = append(parts, "detector="+s.Detector.Name())
	}
	if s.Coloring != nil {
		parts = append(parts, "coloring="+s.Coloring.String())
	}
	if s.ReverseCost != 0 {
		parts = append(parts, fmt.Sprintf("reversecost=%v", s.ReverseCost))
	}
	if s.Entries != nil {
		parts = append(parts, fmt.Sprintf("entries=%d", s.Entries.NNZ()))
	}
	if s.Decompression != coloring.Direct {
		parts = append(parts, s.Decompression.String())
	}
	if s.Workers > 1 {
		parts = append(parts, fmt.Sprintf("workers=%d", s.Workers))
	}
	if s.NoProbe {
		parts = append(parts, "noprobe")
	}
	return "sparse(" + strings.Join(parts, ", ") + ")"
}

// MixedMode computes products with a Jacobian by Forward and products with its transpose by
// Reverse. In an [AutoSparse] columns and rows are then grouped together, which takes far fewer
// products if the Jacobian has some dense rows and some dense columns. Other operators use the more
// suitable engine: Forward for pushforwards and derivatives, Reverse for pullbacks and gradients,
// Forward over Reverse for second order.
type MixedMode struct{ Forward, Reverse Backend }

// Name returns "mixed(forward, reverse)".
func (m MixedMode) Name() string {
	return "mixed(" + nameOf(m.Forward) + ", " + nameOf(m.Reverse) + ")"
}

// PatternError reports an entry of the derivative that the sparsity pattern lacks, or a destination
// with another pattern than the prepared one.
type PatternError = engine.PatternError

// SparsePlan holds the pattern and the groups that [AutoSparse] chose. It does not change.
type SparsePlan struct {
	// Pattern holds the positions of the entries of the Jacobian or Hessian. All matrices of one preparation share it.
	Pattern *sparsity.Pattern
	// Detector is the name of the detector that found the pattern. Fallback is the reason why it
	// was not the usual one, or "".
	Detector, Fallback string
	// Coloring holds the groups. It is nil if the engine computes entries.
	Coloring *coloring.Coloring
	// Detection and ColoringTime are the times that the two steps took.
	Detection, ColoringTime time.Duration

	scope compressed.Scope // where Pattern holds
	whole *SparsePlan      // unless nil, that of all entries; Pattern has those that are wanted
}

// Products returns the number of products with the derivative in a call, 0 if the engine computes
// entries.
func (p *SparsePlan) Products() int {
	if p == nil || p.Coloring == nil {
		return 0
	}
	return p.Coloring.Colors()
}

// String returns a description of the plan in a sentence or two.
func (p *SparsePlan) String() string {
	if p == nil || p.Pattern == nil {
		return "no plan: JacobianPrep.Plan and HessianPrep.Plan give one, of a nabla.AutoSparse"
	}
	m, n := p.Pattern.Dims()
	var b strings.Builder
	fmt.Fprintf(&b, "%d×%d, %d entries, found by %s in %v", m, n, p.Pattern.NNZ(), p.Detector, digits(p.Detection))
	if p.Fallback != "" {
		fmt.Fprintf(&b, " (%s)", p.Fallback)
	}
	if p.Coloring == nil {
		b.WriteString("; the engine computes the entries")
		return b.String()
	}
	problem := p.Coloring.Problem()
	fmt.Fprintf(&b, "; %d colours (%v", p.Coloring.Colors(), problem)
	if o := p.Coloring.Order(); o != nil {
		fmt.Fprintf(&b, ", %v order", o)
	}
	fmt.Fprintf(&b, ") in %v", digits(p.ColoringTime))
	if p.Coloring.Reverse() > 0 {
		fmt.Fprintf(&b, ": %d forward and %d reverse products", p.Coloring.Forward(), p.Coloring.Reverse())
	}
	return b.String()
}

// check checks the settings that no detector or colouring checks.
func (s *AutoSparse) check(op string) error {
	switch {
	case s.Workers < 0:
		return &UnsupportedError{
			What:   fmt.Sprintf("%s: AutoSparse.Workers is %d", op, s.Workers),
			Remedy: "use the number of goroutines; 0 is the default",
		}
	case !(s.ReverseCost >= 0) || math.IsInf(s.ReverseCost, 1):
		return &UnsupportedError{
			What:   fmt.Sprintf("%s: AutoSparse.ReverseCost is %v", op, s.ReverseCost),
			Remedy: "use a number above 0; 0 measures it",
		}
	case s.Decompression != coloring.Direct && s.Decompression != coloring.Substitution:
		return &UnsupportedError{
			What:   fmt.Sprintf("%s: AutoSparse.Decompression is %d", op, s.Decompression),
			Remedy: "use coloring.Direct or coloring.Substitution",
		}
	}
	return nil
}

// limitOf returns the largest record limit of the engines of b, 0 if there is none.
func limitOf(b *resolved) (limit int) {
	for _, e := range [...]Backend{b.outer, b.inner} {
		if l, ok := e.(engine.Limiter); ok {
			limit = max(limit, l.RecordLimit())
		}
	}
	return limit
}

// detect returns a plan with the pattern of a derivative of f at x.
func (s *AutoSparse) detect(op string, f *engine.Function, b *resolved, x []float64,
	kind matrixKind) (*SparsePlan, error) {
	start := time.Now()
	plan := new(SparsePlan)
	var used sparsity.Detector
	find := func(d sparsity.Detector) (err error) {
		used, plan.Detector = d, d.Name()
		plan.Pattern, err = patternOf(kind, d.Jacobian, d.Hessian, f, x)
		return err
	}
	var err error
	if s.Detector == nil {
		plan.Pattern, err = ownStructure(f, b, x, kind)
	}
	if plan.Pattern != nil || err != nil {
		plan.Detector = nameOf(b.inner)
	} else if s.Detector != nil {
		err = find(s.Detector)
	} else {
		err = find(sparsity.Global{Limit: limitOf(b)})
		var branch *sparsity.BranchError
		switch {
		case errors.As(err, &branch):
			plan.Fallback = branch.Error()
			err = find(sparsity.Recorded{})
		case err != nil && !f.Traceable() && kind == jacobianMatrix:
			plan.Fallback = "the function computes with float64"
			err = find(DenseDetector{Backend: cmp.Or[Backend](b.inner, b.outer), Points: nearby(x)})
		case err != nil && !f.Traceable():
			err = &UnsupportedError{
				What:   fmt.Sprintf("%s: the pattern of the Hessian of %s, which computes with float64", op, f.Name()),
				Remedy: "set AutoSparse.Detector to sparsity.Known{H: …}, or compute with nabla.Real",
			}
		}
	}
	if err != nil {
		return nil, err
	}
	m, n := kind.dims(f)
	if plan.Pattern == nil {
		return nil, &PatternError{Op: op, Row: -1,
			Reason: "detector " + plan.Detector + " returned no pattern and no error"}
	}
	if rows, cols := plan.Pattern.Dims(); rows != m || cols != n {
		return nil, &PatternError{Op: op, Row: -1,
			Reason: fmt.Sprintf("detector %s gives a pattern of %d×%d, want %d×%d", plan.Detector, rows, cols, m, n)}
	}
	if kind != jacobianMatrix && !plan.Pattern.Symmetric() {
		return nil, &PatternError{Op: op, Row: -1,
			Reason: "the pattern of a Hessian is symmetric, and that of detector " + plan.Detector +
				" is not; unite it with its transpose"}
	}
	plan.Detection = time.Since(start)
	extent := compressed.OnAllBranches // of an engine's own structure
	if used != nil {
		extent = extentOf(used)
	}
	plan.scope = compressed.NewScope(extent, f, x, plan.Pattern)
	return plan, nil
}

// ownStructure returns the pattern that the engine of b finds by itself, nil if it does not.
func ownStructure(f *engine.Function, b *resolved, x []float64, kind matrixKind) (*sparsity.Pattern, error) {
	e, ok := b.inner.(engine.Structurer)
	if !ok || b.mixed || kind != jacobianMatrix && b.second {
		return nil, nil
	}
	by := func(find func(*engine.Function, []float64) (*engine.Structure, error)) patternFinder {
		return func(_ sparsity.Function, x []float64) (*sparsity.Pattern, error) {
			t, err := find(f, x)
			if t == nil || err != nil {
				return nil, err
			}
			return sparsity.New(t.Rows, t.Cols, t.Ptr, t.Index)
		}
	}
	return patternOf(kind, by(e.JacobianStructure), by(e.HessianStructure), f, x)
}

// extentOf returns where the patterns that d finds hold.
func extentOf(d sparsity.Detector) compressed.Extent {
	switch d.(type) {
	case sparsity.Local, *sparsity.Local, DenseDetector, *DenseDetector:
		return compressed.AtPoint
	case sparsity.Global, *sparsity.Global:
		return compressed.OnAllBranches
	}
	return compressed.OnBranch
}
