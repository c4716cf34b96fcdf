package difftest

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/nabla-ad/nabla"
)

// Calls is how often an operator evaluates its function, over numbers of any kind.
type Calls struct {
	Prepare int // when it is prepared
	Sixteen int // in the first sixteen calls, value and operator, at one point
}

// counted are the scenarios in which evaluations are counted, one for each operator.
var counted = []string{
	"vec_to_vec/pushforward/in/in", "vec_to_vec/pullback/in/in", "vec_to_vec/jacobian/in/in",
	"num_to_num/derivative/out/out", "num_to_num/second_derivative/out/out",
	"arr_to_num(vector)/gradient/out/in", "arr_to_num(vector)/hvp/out/in", "arr_to_num(vector)/hessian/out/in",
}

// CountCalls counts the evaluations of the function of s, which has a Func or is
// made by Of, but not of a *nabla.Func. Where the
// function is out of place and returns a slice, one of those in Prepare is for its
// length.
func CountCalls(b nabla.Backend, s Scenario, plain bool) (Calls, error) {
	var n atomic.Int64
	var f function
	switch {
	case s.counting != nil:
		f.f = s.counting(&n)
	case s.Func != nil || s.OnBackend != nil:
		s = s.wrapped(1, func(inner body) body {
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
	_, v := p.usual()
	run := v.start(new(outcome), slices.Clone(s.X), slices.Clone(s.tangent()))
	for range 16 {
		if err := run(); err != nil {
			return Calls{}, err
		}
	}
	r.Sixteen = int(n.Load())
	return r, nil
}

// callCounts are the jobs that compare with Options.Calls.
func callCounts(o *Options) []job {
	var js []job
	if o.Calls == nil {
		return nil
	}
	for _, s := range catalogue {
		if !slices.Contains(counted, s.Name) || s.secondOrder() && o.NoSecondOrder ||
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

// usual are the calls that an operator is known by, with a destination where it takes
// one: the operator, and value and operator.
func (p *prepared) usual() (op, valueAndOp variant) {
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
