package difftest

import (
	"sync"

	"github.com/nabla-ad/nabla"
)

// modifier changes how the function of a scenario comes by its numbers.
type modifier struct {
	name string
	fits func(s *scenario) bool // nil for all
	of   func(s *scenario, plain bool) function
}

// function is what an operator is given, and what it computes: factor times the
// function of the scenario.
type function struct {
	f      any // one of the types that operators accept
	factor float64
	// before and after set what the function reads, before an operator is prepared
	// and after that. Nil where nothing is bound.
	before, after func()
	// own is the struct that is bound and other one for Rebind, with which the
	// factor is otherFactor. Nil where Rebind is not tried.
	own, other  any
	otherFactor float64
	// shared says that clones must not run in parallel: a plain function gets the
	// bound struct itself, scratch and all.
	shared bool
	// smaller asks for a preparation at fewer inputs.
	smaller bool
}

// modifiers begins with the one that changes nothing.
var modifiers = []modifier{
	{name: "", of: unmodified},
	{name: "closure", of: closure},
	{name: "constant", of: constant},
	{name: "structure", of: structure},
	{name: "cache", of: cache},
	{name: "cache_struct", of: cacheStruct},
	{name: "constant_or_cache", of: constantOrCache},
	{name: "smaller", fits: func(s *scenario) bool { return !s.X.number && len(s.X.data) > 1 }, of: smaller},
}

// outputs is the number of outputs of the function of s for n inputs.
func (s *scenario) outputs(n int) int {
	if s.inPlace() {
		return len(s.want.value)
	}
	return families[s.Family].outputs(n)
}

func unmodified(s *scenario, plain bool) function {
	fam := families[s.Family]
	f := shaped(s, plain, fam.into)
	switch f.(type) { // a form of the family's own, if there is one
	case func([]nabla.Real) nabla.Real:
		if fam.scalar != nil {
			f = fam.scalar
		}
	case func([]nabla.Real) []nabla.Real:
		if fam.vector != nil {
			f = fam.vector
		}
	case func(nabla.Real) nabla.Real:
		if fam.number != nil {
			f = fam.number
		}
	}
	return function{f: f, factor: 1}
}

// smaller is unmodified: it is the preparation that differs.
func smaller(s *scenario, plain bool) function {
	f := unmodified(s, plain)
	f.smaller = true
	return f
}

// closure is (a+b)·f with captured numbers and buffers. The lock is for engines
// and checks that call it from several goroutines.
func closure(s *scenario, plain bool) function {
	a, b := 3.0, []float64{4}
	var mu sync.Mutex
	var xs, ys []nabla.Real
	into := families[s.Family].into
	return function{factor: 7, f: shaped(s, plain, func(y, x []nabla.Real) {
		mu.Lock()
		defer mu.Unlock()
		xs = append(xs[:0], x...)
		if cap(ys) < len(y) {
			ys = make([]nabla.Real, len(y))
		}
		ys = ys[:len(y)]
		into(ys, xs)
		for i := range y {
			y[i] = ys[i].Scale(a + b[0])
		}
	})}
}

type constantContext struct{ A nabla.Real }

func constant(s *scenario, plain bool) function {
	c := &constantContext{}
	into := families[s.Family].into
	return function{
		factor: 3,
		f: bound(s, plain, c, func(y, x []nabla.Real, c *constantContext) {
			into(y, x)
			for i := range y {
				y[i] = c.A.Mul(y[i])
			}
		}),
		before: func() { c.A = nabla.Const(-3) },
		after:  func() { c.A = nabla.Const(3) },
		own:    c, other: &constantContext{nabla.Const(5)}, otherFactor: 5,
	}
}

type structureContext struct {
	Times int
	Flags struct{ Minus bool }
}

func structure(s *scenario, plain bool) function {
	c := &structureContext{}
	into := families[s.Family].into
	other := &structureContext{Times: 4}
	other.Flags.Minus = true
	return function{
		factor: 3,
		f: bound(s, plain, c, func(y, x []nabla.Real, c *structureContext) {
			into(y, x)
			for i, v := range y {
				for range c.Times - 1 {
					y[i] = y[i].Add(v)
				}
				if c.Flags.Minus {
					y[i] = y[i].Neg()
				}
			}
		}),
		before: func() { c.Times, c.Flags.Minus = 2, true },
		after:  func() { c.Times, c.Flags.Minus = 3, false },
		own:    c, other: other, otherFactor: -4,
	}
}

type cacheContext struct{ Y nabla.Scratch }

func cache(s *scenario, plain bool) function {
	into := families[s.Family].into
	c := &cacheContext{nabla.NewScratch(max(len(s.want.value), 1))}
	return function{factor: 1, shared: plain, f: bound(s, plain, c, func(y, x []nabla.Real, c *cacheContext) {
		through(c.Y, into, y, x)
	})}
}

// through copies into's outputs from scratch, which is used up to its length: a
// scenario may be run at another size than it was made for.
func through(scratch nabla.Scratch, into func(y, x []nabla.Real), y, x []nabla.Real) {
	buf := scratch.Reals()
	if len(buf) < len(y) {
		into(y, x)
		copy(buf, y)
		copy(y, buf)
		return
	}
	buf = buf[:len(y)]
	into(buf, x)
	copy(y, buf)
}

type cacheStructContext struct {
	Pair struct{ Useful, Useless nabla.Scratch }
}

func cacheStruct(s *scenario, plain bool) function {
	into := families[s.Family].into
	c := &cacheStructContext{}
	c.Pair.Useful = nabla.NewScratch(max(len(s.want.value), 1))
	c.Pair.Useless = nabla.NewScratch(2)
	return function{factor: 1, shared: plain, f: bound(s, plain, c, func(y, x []nabla.Real, c *cacheStructContext) {
		through(c.Pair.Useful, into, y, x)
		if len(y) > 0 {
			c.Pair.Useless.Reals()[1] = y[0]
		}
	})}
}

type mixedContext struct {
	A nabla.Real
	B nabla.Vec
	Y nabla.Scratch
}

func constantOrCache(s *scenario, plain bool) function {
	into := families[s.Family].into
	b := []float64{0}
	c := &mixedContext{B: nabla.VecOf(b), Y: nabla.NewScratch(max(len(s.want.value), 1))}
	return function{
		factor: 7, shared: plain,
		f: bound(s, plain, c, func(y, x []nabla.Real, c *mixedContext) {
			through(c.Y, into, y, x)
			for i := range y {
				y[i] = c.A.Add(c.B.At(0)).Mul(y[i])
			}
		}),
		before: func() { c.A, b[0] = nabla.Const(6), 12 },
		after:  func() { c.A, b[0] = nabla.Const(3), 4 },
	}
}

// shaped is into in the shape that the operator of s takes.
func shaped(s *scenario, plain bool, into func(y, x []nabla.Real)) any {
	vector := func(x []nabla.Real) []nabla.Real {
		y := make([]nabla.Real, s.outputs(len(x)))
		into(y, x)
		return y
	}
	scalar := func(x []nabla.Real) nabla.Real {
		var y [1]nabla.Real
		into(y[:], x)
		return y[0]
	}
	number := s.X.number && (s.Operator == "derivative" || s.Operator == "second_derivative")
	switch {
	case s.inPlace() && plain:
		return nabla.InPlace(len(s.want.value), func(y, x []float64) {
			ys := reals(y) // an output left alone stays as it was
			into(ys, reals(x))
			copy(y, floats(ys))
		})
	case s.inPlace():
		return nabla.InPlace(len(s.want.value), into)
	case number && s.Y.number && plain:
		return func(x float64) float64 { return scalar(reals([]float64{x})).Value() }
	case number && s.Y.number:
		return func(x nabla.Real) nabla.Real { return scalar([]nabla.Real{x}) }
	case number && plain:
		return func(x float64) []float64 { return floats(vector(reals([]float64{x}))) }
	case number:
		return func(x nabla.Real) []nabla.Real { return vector([]nabla.Real{x}) }
	case s.Y.number && plain:
		return func(x []float64) float64 { return scalar(reals(x)).Value() }
	case s.Y.number:
		return scalar
	case plain:
		return func(x []float64) []float64 { return floats(vector(reals(x))) }
	}
	return vector
}

// bound is into with the struct p, in the shape that the operator of s takes.
func bound[P any](s *scenario, plain bool, p P, into func(y, x []nabla.Real, p P)) any {
	vector := func(x []nabla.Real, p P) []nabla.Real {
		y := make([]nabla.Real, s.outputs(len(x)))
		into(y, x, p)
		return y
	}
	scalar := func(x []nabla.Real, p P) nabla.Real {
		var y [1]nabla.Real
		into(y[:], x, p)
		return y[0]
	}
	switch {
	case s.inPlace() && plain:
		return nabla.BindInPlace(len(s.want.value), func(y, x []float64, p P) {
			ys := reals(y) // an output left alone stays as it was
			into(ys, reals(x), p)
			copy(y, floats(ys))
		}, p)
	case s.inPlace():
		return nabla.BindInPlace(len(s.want.value), into, p)
	case s.Y.number && plain:
		return nabla.Bind(func(x []float64, p P) float64 { return scalar(reals(x), p).Value() }, p)
	case s.Y.number:
		return nabla.Bind(scalar, p)
	case plain:
		return nabla.Bind(func(x []float64, p P) []float64 { return floats(vector(reals(x), p)) }, p)
	}
	return nabla.Bind(vector, p)
}

func reals(x []float64) []nabla.Real {
	r := make([]nabla.Real, len(x))
	for i, v := range x {
		r[i] = nabla.Const(v)
	}
	return r
}

func floats(r []nabla.Real) []float64 {
	x := make([]float64, len(r))
	for i, v := range r {
		x[i] = v.Value()
	}
	return x
}
