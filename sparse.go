package nabla

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nabla-ad/nabla/coloring"
	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/sparsity"
)

// AutoSparse computes sparse Jacobians and Hessians: it finds out which entries can
// differ from zero, groups the columns (or rows) that one product can tell apart, and
// takes a product for each group instead of one for each column. An engine that can
// compute single entries is asked for those instead, where that is cheaper.
//
//	b := nabla.AutoSparse{Dense: nabla.SecondOrder{Outer: forwarddiff.Backend{}, Inner: reversediff.Backend{Compile: true}}}
//	p, err := nabla.PrepareHessian(f, b, x)
//	h, err := p.Hessian(nil, x) // a *sparse.SymCSC
//	fmt.Println(p.Plan())       // what was found, and what it cost
//
// Detection, grouping and everything else that does not depend on x happen once, when
// the operator is prepared; for a single Jacobian they rarely pay. Operators other than
// Jacobian and Hessian pass through to Dense.
//
// # A pattern that does not hold
//
// A matrix whose pattern misses an entry would be wrong in other places too. So a
// prepared object compares its products with those of the derivative, in a random
// direction, when it is prepared and in the calls number 1, 2, 4, 8 …, which costs one
// product each; a difference is a *[PatternError]. After such an error and after Rebind
// it begins again with the next call. Engines that compute entries look at all that
// there are, in every call.
//
// What is lost in the roundings of a product, or in the errors of differences, is not
// seen so, nor what a NaN or an infinity covers.
type AutoSparse struct {
	// Dense is the engine, a SecondOrder of two, or a MixedMode.
	Dense Backend
	// Detector finds the pattern. Nil is sparsity.Global, or where the function
	// branches on its inputs, sparsity.Recorded, and for functions over float64, whose
	// Jacobians only can be had so, a [DenseDetector] at x and two points around it.
	Detector sparsity.Detector
	// Coloring groups columns and rows. Nil tries several orders, of columns and rows and,
	// with a MixedMode, of both together, and takes what needs the least work. Where it
	// is set, the groups are used even with an engine that computes entries.
	Coloring coloring.Algorithm
	// Decompression says how entries are found in the products of a Hessian or a MixedMode
	// Jacobian. Substitution needs fewer products and adds up rounding errors.
	Decompression coloring.Decompression
	// Workers is the number of goroutines that share the products, 0 or 1 for none. Each
	// has what the engine prepares to itself; f must be safe to be called from several
	// goroutines.
	Workers int
	// NoProbe leaves out the comparison with random directions.
	NoProbe bool
}

// Name is "sparse(…)" around the name of Dense, with the settings that are not the
// default.
func (s AutoSparse) Name() string {
	parts := []string{nameOf(s.Dense)}
	if s.Detector != nil {
		parts = append(parts, "detector="+s.Detector.Name())
	}
	if s.Coloring != nil {
		parts = append(parts, "coloring="+s.Coloring.String())
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

// MixedMode takes products with a Jacobian from Forward and products with its transpose
// from Reverse. In an [AutoSparse] columns and rows are then grouped together, which
// takes far fewer products where the Jacobian has some dense rows and some dense
// columns. Other operators use the one of the two that suits them: Forward for
// pushforwards and derivatives, Reverse for pullbacks and gradients, Forward over
// Reverse for second order.
type MixedMode struct{ Forward, Reverse Backend }

// Name is "mixed(forward, reverse)".
func (m MixedMode) Name() string {
	return "mixed(" + nameOf(m.Forward) + ", " + nameOf(m.Reverse) + ")"
}

// PatternError says that the derivative has an entry that the sparsity pattern has not,
// or that a destination has another pattern than the prepared one.
type PatternError = engine.PatternError

// SparsePlan is what [AutoSparse] found and chose. It does not change.
type SparsePlan struct {
	// Pattern is that of the matrices; all that come from one preparation share it.
	Pattern *sparsity.Pattern
	// Detector is the name of the detector that found it, after Fallback, why it was
	// not the usual one.
	Detector, Fallback string
	// Coloring has the groups. It is nil where the engine computes entries.
	Coloring *coloring.Coloring
	// Detection and ColoringTime are how long the two took.
	Detection, ColoringTime time.Duration
}

// Products is how many products with the derivative a call takes, 0 where the engine
// computes entries.
func (p *SparsePlan) Products() int {
	if p.Coloring == nil {
		return 0
	}
	return p.Coloring.Colors()
}

// String is a sentence or two.
func (p *SparsePlan) String() string {
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

// check looks at the settings that no detector or colouring looks at.
func (s *AutoSparse) check(op string) error {
	switch {
	case s.Workers < 0:
		return &UnsupportedError{
			What:   fmt.Sprintf("%s: AutoSparse.Workers is %d", op, s.Workers),
			Remedy: "use the number of goroutines; 0 is the default",
		}
	case s.Decompression != coloring.Direct && s.Decompression != coloring.Substitution:
		return &UnsupportedError{
			What:   fmt.Sprintf("%s: AutoSparse.Decompression is %d", op, s.Decompression),
			Remedy: "use coloring.Direct or coloring.Substitution",
		}
	}
	return nil
}

// detect finds the pattern of the Jacobian or Hessian of f at x.
func (s *AutoSparse) detect(op string, f *engine.Function, b *resolved, x []float64, hessian bool) (*SparsePlan, error) {
	start := time.Now()
	plan := new(SparsePlan)
	find := func(d sparsity.Detector) (err error) {
		plan.Detector = d.Name()
		if hessian {
			plan.Pattern, err = d.Hessian(f, x)
		} else {
			plan.Pattern, err = d.Jacobian(f, x)
		}
		return err
	}
	var err error
	if s.Detector != nil {
		err = find(s.Detector)
	} else {
		err = find(sparsity.Global{})
		var branch *sparsity.BranchError
		switch {
		case errors.As(err, &branch):
			plan.Fallback = branch.Error()
			err = find(sparsity.Recorded{})
		case err != nil && !f.Traceable() && !hessian:
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
	n, m := f.Dims()
	if hessian {
		m = n
	}
	if plan.Pattern == nil {
		return nil, &PatternError{Op: op, Row: -1, Reason: "detector " + plan.Detector + " returned no pattern and no error"}
	}
	if rows, cols := plan.Pattern.Dims(); rows != m || cols != n {
		return nil, &PatternError{Op: op, Row: -1, Reason: fmt.Sprintf("detector %s gives a pattern of %d×%d, want %d×%d", plan.Detector, rows, cols, m, n)}
	}
	if hessian && !plan.Pattern.Symmetric() {
		return nil, &PatternError{Op: op, Row: -1, Reason: "the pattern of a Hessian is symmetric, and that of detector " + plan.Detector + " is not; unite it with its transpose"}
	}
	plan.Detection = time.Since(start)
	return plan, nil
}

// orders are tried one after the other. Only the first does not need degrees.
var orders = []coloring.Order{
	coloring.Natural{}, coloring.LargestFirst{}, coloring.SmallestLast, coloring.IncidenceDegree, coloring.DynamicLargestFirst, coloring.SmallestFirst{},
}

// worthwhile is how many of orders are tried for a problem. Finding degrees takes the
// squares of the lengths of rows or columns, which one dense row makes too much.
func worthwhile(p *sparsity.Pattern, problem coloring.Problem) int {
	const most = 1 << 26
	work := func(p *sparsity.Pattern) (w int) {
		_, n := p.Dims()
		for j := range n {
			k := len(p.Col(j))
			w += k * k
		}
		return w
	}
	w := 0
	switch problem.Partition {
	case coloring.Row:
		w = work(p)
	case coloring.Column:
		w = work(p.Transpose())
	}
	switch {
	case w > most:
		return 1
	case p.NNZ() > 1_000_000:
		return 2
	case problem.Partition != coloring.Bidirectional: // the last one is for these
		return len(orders) - 1
	}
	return len(orders)
}

// fewest is a number of colours below which no colouring can be: of columns, the most
// entries in a row.
func fewest(p *sparsity.Pattern, problem coloring.Problem) (k int) {
	switch {
	case problem.Structure == coloring.Symmetric || problem.Partition == coloring.Bidirectional:
		return 0
	case problem.Partition == coloring.Column:
		p = p.Transpose()
	}
	_, n := p.Dims()
	for j := range n {
		k = max(k, len(p.Col(j)))
	}
	return k
}

// A reverse product costs about this much more than a forward one.
const reverseCost = 2

// color groups the columns or rows of the pattern. The partitions are those that the
// engine can take products for.
func (s *AutoSparse) color(plan *SparsePlan, problems []coloring.Problem) error {
	start := time.Now()
	best, colors := 0, 0 // of the best one, and of the last one
	var failed error
	try := func(a coloring.Algorithm, problem coloring.Problem) {
		c, err := a.Color(plan.Pattern, problem)
		if err == nil && (c == nil || c.Pattern() != plan.Pattern || c.Problem() != problem) {
			err = &UnsupportedError{What: fmt.Sprintf("the %v colouring by %v is none of this pattern", problem, a), Remedy: "return what package coloring made of the arguments"}
		}
		if err != nil {
			failed = cmp.Or(failed, err)
			return
		}
		colors = c.Colors()
		if cost := c.Forward() + reverseCost*c.Reverse(); plan.Coloring == nil || cost < best {
			plan.Coloring, best = c, cost
		}
	}
	for _, problem := range problems {
		if s.Coloring != nil {
			try(s.Coloring, problem)
			continue
		}
		bound := fewest(plan.Pattern, problem)
		for _, o := range orders[:worthwhile(plan.Pattern, problem)] {
			if try(coloring.Greedy{Orders: []coloring.Order{o}, Postprocess: true}, problem); colors == bound {
				break
			}
		}
	}
	plan.ColoringTime = time.Since(start)
	if plan.Coloring == nil {
		if s.Coloring != nil {
			return fmt.Errorf("nabla: AutoSparse.Coloring: %w; nil finds colours", failed)
		}
		return fmt.Errorf("nabla: %w", failed)
	}
	return nil
}
