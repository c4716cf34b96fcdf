package difftest

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/nabla-ad/nabla"
)

// Calls holds the number of evaluations of its function by an operator, over numbers of any kind.
type Calls struct {
	Prepare int // when it is prepared
	Sixteen int // in the first sixteen calls, value and operator, at one point
}

// countedScenarios names the scenarios in which evaluations are counted, one for each operator.
var countedScenarios = []string{
	"vec_to_vec/pushforward/in/in", "vec_to_vec/pullback/in/in", "vec_to_vec/jacobian/in/in",
	"num_to_num/derivative/out/out", "num_to_num/second_derivative/out/out",
	"arr_to_num(vector)/gradient/out/in", "arr_to_num(vector)/hvp/out/in", "arr_to_num(vector)/hessian/out/in",
}

// CountCalls counts the evaluations of the function of s, which must have a Func or be made by Of from a function other
// than a *nabla.Func. For a function that returns a slice, one of those in Prepare determines the length.
func CountCalls(b nabla.Backend, s Scenario, plain bool) (Calls, error) {
	var n atomic.Int64
	var f function
	switch {
	case s.countedForm != nil:
		f.f = s.countedForm(&n)
	case s.Func != nil || s.OnBackend != nil:
		s = s.withWrapper(1, func(inner body) body {
			return func(y, x []nabla.Real, c *bindings) {
				n.Add(1)
				inner(y, x, c)
			}
		})
		f = s.function(b, plain)
	}
	if f.f == nil {
		return Calls{}, fmt.Errorf("difftest: scenario %q: evaluations are counted where Func is set, and not of a %T",
			s.Name, s.Form(plain))
	}
	if f.after != nil {
		f.after()
	}
	p, err := subjectOf(&s, b, f.f).prepare(slices.Clone(s.X))
	if err != nil {
		return Calls{}, err
	}
	r := Calls{Prepare: int(n.Swap(0))}
	_, v := p.hotVariants()
	run := v.start(new(outcome), slices.Clone(s.X), slices.Clone(s.tangent()))
	for range 16 {
		if err := run(); err != nil {
			return Calls{}, err
		}
	}
	r.Sixteen = int(n.Load())
	return r, nil
}

// callCountJobs returns the subtests that compare counts with Options.Calls; none if that is nil.
func callCountJobs(o *Options) []job {
	var js []job
	if o.Calls == nil {
		return nil
	}
	for _, s := range catalogue {
		if !slices.Contains(countedScenarios, s.Name) || s.secondOrder() && o.NoSecondOrder ||
			!s.secondOrder() && o.NoFirstOrder {
			continue
		}
		js = append(js, job{"calls/" + s.Operator, func(c *checker) {
			want, ok := o.Calls(s.Operator, len(s.X), s.M())
			if !ok {
				return
			}
			switch got, err := CountCalls(c.b, s, o.Plain); {
			case err != nil:
				c.failf("calls", "", "error: %v", err)
			case got != want:
				c.failf("calls", "", "evaluated f %d times when prepared and %d times in 16 calls, want %d and %d",
					got.Prepare, got.Sixteen, want.Prepare, want.Sixteen)
			}
		}})
	}
	return js
}

// hotVariants returns the first variant with destinations, of the operator alone, and the last one, of value and
// operator. If the operator takes no destinations, both are the first variant.
func (p *prepared) hotVariants() (op, valueAndOp variant) {
	op, valueAndOp = p.variants[0], p.variants[0]
	found := false
	for _, v := range p.variants {
		if v.hot && v.scales == nil {
			if !found {
				op, found = v, true
			}
			valueAndOp = v
		}
	}
	return op, valueAndOp
}
