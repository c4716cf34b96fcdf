package nabla

import (
	"errors"
	"fmt"
	"strings"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/selection"
)

// Auto is the backend that selects an engine for the function and the operator when the operator is
// prepared. A nil Backend means Auto{}, also in a composite:
//
//	g, err := nabla.Gradient(f, nil, x)
//	prep, err := nabla.PrepareHessian(f, nabla.Auto{}, x)
//	fmt.Println(prep.Explain()) // which engine, and why
//
// The selection depends on the kind of the function, the operator, the numbers of inputs and
// outputs, and whether the operator is prepared for many calls or computed once:
//
//   - A function over float64 with generated code is differentiated by that code.
//   - A function over [Real] is recorded and compiled if it is prepared, and differentiated by dual
//     numbers or one recording in a single call, whichever suits the number of inputs.
//   - Jacobians and Hessians of a prepared operator with 32 or more rows and columns (of a single
//     call with 256) are sparse, as with [AutoSparse], if the pattern that is detected has entries
//     in at most an eighth of all places. Operators and destinations that need a dense matrix work
//     with both.
//   - A function over float64 without generated code is an error: only differences, which are no
//     exact derivatives, could be computed. See Approximate.
//
// The selection follows fixed rules and measures nothing, so that equal programs run equal engines;
// [Choose] measures. If the engine cannot compute the operator, for example because a recording
// exceeds its limit, the next one takes its place. Every length of x selects anew.
type Auto struct {
	// Approximate permits finite differences for functions that no other engine can differentiate.
	Approximate bool
	// Dense keeps Jacobians and Hessians dense.
	Dense bool

	once bool // the prepared object serves one call
}

// Name returns "auto", with the settings that differ from the default.
func (a Auto) Name() string {
	s := "auto"
	if a.Approximate {
		s += "+approximate"
	}
	if a.Dense {
		s += "+dense"
	}
	return s
}

// An Explanation says how a prepared object computes its operator.
type Explanation struct {
	// Operator and Function name what is computed.
	Operator, Function string
	// Backend is the backend in use: the one passed to Prepare, with engines in place of every [Auto]. It may be passed
	// to other operators.
	Backend Backend
	// Path is the way from the operator to what the engine implements, empty for operators that are made of several.
	Path engine.Path
	// Why are the reasons of an [Auto] for the engine, and against those that it tried before; nil if there is no Auto.
	Why []string
	// Plan is the plan of a sparse matrix, nil for a dense one.
	Plan *SparsePlan
}

// String returns the explanation in a few lines.
func (e Explanation) String() string {
	if e.Backend == nil {
		return "nothing is prepared"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s by %s", e.Operator, e.Function, e.Backend.Name())
	if len(e.Path) > 0 {
		fmt.Fprintf(&b, ": %s", e.Path)
	}
	for _, w := range e.Why {
		fmt.Fprintf(&b, "\n  %s", w)
	}
	if e.Plan != nil {
		fmt.Fprintf(&b, "\n  %s", e.Plan)
	}
	return b.String()
}

// explain returns the explanation of p, the zero Explanation if p is not prepared.
func (p *prep) explain() Explanation {
	if p.f == nil || p.failed != nil {
		return Explanation{}
	}
	e := Explanation{Operator: p.op, Function: p.f.Name(), Backend: p.using, Why: p.why, Plan: p.chosenPlan()}
	if e.Plan == nil {
		e.Path = engine.Explain(p.op, p.backend.outer, p.backend.inner)
	}
	return e
}

// replaced returns b with f(e, role) in place of each engine e in it, Auto and nil included.
func replaced(b Backend, role selection.Role, f func(b Backend, role selection.Role) Backend) Backend {
	switch c := pointed(b).(type) {
	case Policy:
		c.Backend = replaced(c.Backend, role, f)
		return c
	case Preparation:
		c.Backend = replaced(c.Backend, role, f)
		return c
	case SecondOrder:
		c.Outer = replaced(c.Outer, selection.Outer, f)
		c.Inner = replaced(c.Inner, selection.Inner, f)
		return c
	case AutoSparse:
		c.Dense = replaced(c.Dense, selection.Sparse, f)
		return c
	case MixedMode:
		c.Forward = replaced(c.Forward, selection.Forward, f)
		c.Reverse = replaced(c.Reverse, selection.Reverse, f)
		return c
	}
	return f(b, role)
}

// asAuto returns the Auto that b is, by itself or as a pointer or because it is nil.
func asAuto(b Backend) (a Auto, ok bool) {
	switch c := b.(type) {
	case nil:
		return Auto{}, true
	case Auto:
		return c, true
	case *Auto:
		if c != nil {
			return *c, true
		}
	}
	return Auto{}, false
}

// automatic reports whether b has an Auto in it.
func automatic(b Backend) bool {
	found := false
	replaced(b, selection.Whole, func(b Backend, _ selection.Role) Backend {
		_, is := asAuto(b)
		found = found || is
		return b
	})
	return found
}

// single returns b for one call of the prepared object: each Auto in it selects for one.
func single(b Backend) Backend {
	if !automatic(b) {
		return b
	}
	return replaced(b, selection.Whole, func(b Backend, _ selection.Role) Backend {
		if a, is := asAuto(b); is {
			a.once = true
			return a
		}
		return b
	})
}

// once returns b prepared for a single first-order call: engines that implement engine.OneShotter
// are replaced by their one-shot form.
func once(b Backend) Backend {
	return replaced(single(b), selection.Whole, func(b Backend, role selection.Role) Backend {
		if c, ok := b.(engine.OneShotter); ok && role != selection.Outer && !nilValue(b) {
			return c.OneShot()
		}
		return b
	})
}

// A choice is a backend with engines in place of every Auto.
type choice struct {
	backend Backend
	why     []string
	sparse  bool // the matrix is sparse, if that pays
}

// Sizes of matrices from which a pattern is detected, and the share of entries up to which the matrix is sparse. From
// `go test -run XXX -bench Rules ./internal/selection`.
const (
	sparseMany = 32  // rows and columns, for many calls
	sparseOnce = 256 // for one call
	sparsePart = 8   // one entry of so many
)

// choices returns b with engines in place of every Auto in it, the best first. b has one.
func choices(op string, b Backend, f *engine.Function) ([]choice, error) {
	facts := selection.FactsOf(op, f)
	list := []choice{{}} // for the Auto that is no part of a pair, if there is one
	var err error
	replaced(b, selection.Whole, func(b Backend, role selection.Role) Backend {
		a, is := asAuto(b)
		if !is {
			return b
		}
		found := candidates(role, facts, a)
		switch {
		case len(found) == 0:
			err = noEngine(op, f)
		case role == selection.Whole || role == selection.Sparse:
			list = found
		}
		return b
	})
	if err != nil {
		return nil, err
	}
	for i, c := range list {
		list[i].backend = replaced(b, selection.Whole, func(b Backend, role selection.Role) Backend {
			a, is := asAuto(b)
			switch {
			case !is:
				return b
			case role == selection.Whole || role == selection.Sparse:
				return c.backend
			}
			part := candidates(role, facts, a)[0]
			list[i].why = append(list[i].why, part.backend.Name()+": "+part.why[0])
			return part.backend
		})
	}
	return list, nil
}

// candidates returns the engines for a role in place of a, the best first.
func candidates(role selection.Role, facts selection.Facts, a Auto) []choice {
	facts.Once, facts.Approximate = a.once, a.Approximate
	var list []choice
	add := func(role selection.Role, sparse bool) {
		for _, c := range selection.Candidates(role, facts) {
			one := choice{c.Inner, []string{c.Why}, sparse}
			if c.Outer != c.Inner {
				one.backend = SecondOrder{Outer: c.Outer, Inner: c.Inner}
			}
			if sparse {
				one.backend = AutoSparse{Dense: one.backend, part: sparsePart}
			}
			list = append(list, one)
		}
	}
	if role == selection.Whole && sparsePays(facts, a) {
		add(selection.Sparse, true)
	}
	add(role, false)
	return list
}

// sparsePays reports whether the matrix of the operator may be worth the detection of a pattern.
func sparsePays(f selection.Facts, a Auto) bool {
	rows := f.M
	switch f.Op {
	case "Hessian", "WeightedHessian", "KKT", "Hessians":
		rows = f.N
	case "Jacobian":
	default:
		return false
	}
	least := sparseMany
	if a.once {
		least = sparseOnce
	}
	return f.Reals && !a.Dense && min(rows, f.N) >= least
}

// noEngine is the error for a function that no engine can differentiate exactly.
func noEngine(op string, f *engine.Function) error {
	e := &UnsupportedError{What: op + ": no engine differentiates " + f.Name() + " exactly",
		Remedy: "generate code from it with go tool nabla gen, or use nabla.Auto{Approximate: true} for differences"}
	var why *UnsupportedError
	if errors.As(f.Untraceable(), &why) {
		e.What += ": " + why.What
		e.Remedy = why.Remedy + " (nabla.Auto{Approximate: true} selects it)"
	}
	return e
}

// resolveFor is resolve for the function f, whose first choice takes the place of an Auto.
func resolveFor(op string, b Backend, f *engine.Function) (r resolved, err error) {
	defer func() {
		for _, e := range []Backend{r.outer, r.inner} {
			if _, ok := e.(engine.Approximator); ok {
				f.Approximate()
			}
		}
	}()
	if automatic(b) {
		list, err := choices(op, b, f)
		if err != nil {
			return resolved{}, err
		}
		b = list[0].backend
	}
	return resolve(op, b)
}

// A denseError reports that a pattern has too many entries for a sparse matrix to pay.
type denseError struct{ entries, rows, cols int }

func (e *denseError) Error() string {
	return fmt.Sprintf("%d of the %d×%d entries may differ from zero", e.entries, e.rows, e.cols)
}

// prepareChosen prepares p for f at x by the first of the choices for p.asked that works.
func (p *prep) prepareChosen(f *engine.Function, x []float64) error {
	list, err := choices(p.op, p.asked, f)
	if err != nil {
		return err
	}
	p.why = nil
	var first error
	for i, c := range list {
		if p.backend, err = resolve(p.op, c.backend); err != nil {
			return err
		}
		p.using, p.matrix = c.backend, nil
		if err = p.prepareFor(f, x); err == nil {
			p.why = append(p.why, c.why...)
			return nil
		}
		if i == len(list)-1 || !c.yields(err) {
			break
		}
		if !c.sparse && first == nil {
			first = err
		}
		p.why = append(p.why, "not "+c.backend.Name()+": "+strings.TrimPrefix(err.Error(), "nabla: "))
	}
	if first != nil {
		return first
	}
	return err
}

// yields reports whether another choice is tried after the preparation of c has failed with err.
func (c choice) yields(err error) bool {
	var canceled *CanceledError
	if errors.As(err, &canceled) {
		return false
	}
	var limit *LimitError
	return c.sparse || errors.As(err, &limit) || errors.Is(err, ErrUnsupported)
}
