package difftest

import (
	"fmt"
	"sync"

	"github.com/nabla-ad/nabla"
)

// A Modifier returns a variation of a scenario: the same operator, on a function that obtains its data in another way,
// or at other inputs. Modifiers can be composed in any order.
type Modifier func(Scenario) Scenario

// Modify applies modifiers to scenarios, from the first to the last.
func Modify(scenarios []Scenario, modifiers ...Modifier) []Scenario {
	out := make([]Scenario, 0, len(scenarios))
	for _, s := range scenarios {
		for _, m := range modifiers {
			s = m(s)
		}
		out = append(out, s)
	}
	return out
}

// A Context describes data that the function of a scenario reads besides x: a part of a bound struct.
type Context struct {
	Name string // of the modifier
	// Prep, Run and Other are the factors of the results in preparation, in calls, and after a Rebind to another
	// struct.
	Prep, Run, Other float64
}

// modifiers holds the modifiers that Run applies, each to the unmodified scenario.
var modifiers = []struct {
	apply Modifier
	fits  func(s *Scenario) bool // nil for all
}{
	{apply: Closurify},
	{apply: Constantify},
	{apply: Structurify},
	{apply: Cachify},
	{apply: CachifyStruct},
	{apply: ConstantOrCachify},
	{apply: Smaller, fits: func(s *Scenario) bool { return !s.XShape.Number && len(s.X) > 1 }},
}

// Zero moves the scenario to zero inputs and tangents, prepared at its former point. The expected results are those of
// At; without it, results are only compared with those of another preparation.
func Zero(s Scenario) Scenario {
	s.Name += "/zero"
	s.PrepX, s.X = s.X, make([]float64, len(s.X))
	ts := make([][]float64, len(s.Tangents))
	for i, t := range s.Tangents {
		ts[i] = make([]float64, len(t))
	}
	s.Tangents = ts
	s.m = s.M()
	if s.At == nil {
		s.Value, s.First, s.Second = nil, nil, nil
		return s
	}
	return s.withExpected()
}

// Batchify appends the negative tangents -t, … to the tangents t, … of a pushforward, pullback or HVP. It returns
// scenarios of other operators unchanged.
func Batchify(s Scenario) Scenario {
	if len(s.Tangents) == 0 {
		return s
	}
	s.Name += "/batch"
	ts := append([][]float64{}, s.Tangents...)
	for _, t := range s.Tangents {
		ts = append(ts, scaled(-1, t))
	}
	s.Tangents = ts
	if s.Operator == "hvp" {
		s.Second = append(append([]float64{}, s.Second...), scaled(-1, s.Second)...)
	} else {
		s.First = append(append([]float64{}, s.First...), scaled(-1, s.First)...)
	}
	return s
}

// Smaller keeps only the first half of the point of preparation.
func Smaller(s Scenario) Scenario {
	s.Name += "/smaller"
	p := s.prepX()
	s.PrepX = p[:len(p)/2]
	return s
}

// Closurify multiplies the function by a+b, captured numbers a = 3 and b = 4, and computes it in captured buffers.
func Closurify(s Scenario) Scenario {
	s.Name += "/closure"
	return s.withWrapper(7, func(inner body) body {
		a, b := 3.0, []float64{4}
		var mu sync.Mutex // for engines and checks that call from several goroutines
		var xs, ys []nabla.Real
		return func(y, x []nabla.Real, c *bindings) {
			mu.Lock()
			defer mu.Unlock()
			xs = append(xs[:0], x...)
			if cap(ys) < len(y) {
				ys = make([]nabla.Real, len(y))
			}
			ys = ys[:len(y)]
			inner(ys, xs, c)
			for i := range y {
				y[i] = ys[i].Scale(a + b[0])
			}
		}
	})
}

// Constantify multiplies the function by a bound Real: -3 in preparation, 3 in calls, 5 after a Rebind.
func Constantify(s Scenario) Scenario {
	return s.withContext(Context{"constant", -3, 3, 5}, func(b *binding, inner body, y, x []nabla.Real, all *bindings) {
		inner(y, x, all)
		for i := range y {
			y[i] = b.A.Mul(y[i])
		}
	})
}

// Structurify multiplies the function by ±k for a bound int and a bound bool, which a recording freezes.
func Structurify(s Scenario) Scenario {
	return s.withContext(
		Context{"structure", -2, 3, -4},
		func(b *binding, inner body, y, x []nabla.Real, all *bindings) {
			inner(y, x, all)
			for i, v := range y {
				for range b.Flags.Times - 1 {
					y[i] = y[i].Add(v)
				}
				if b.Flags.Minus {
					y[i] = y[i].Neg()
				}
			}
		},
	)
}

// Cachify computes the function in a bound Scratch and copies the result from there.
func Cachify(s Scenario) Scenario {
	return s.withContext(Context{"cache", 1, 1, 1}, func(b *binding, inner body, y, x []nabla.Real, all *bindings) {
		viaScratch(b.Pair.Useful, inner, y, x, all)
	})
}

// CachifyStruct is Cachify with a second Scratch in the same struct, which the function writes and does not read.
func CachifyStruct(s Scenario) Scenario {
	return s.withContext(
		Context{"cache_struct", 1, 1, 1},
		func(b *binding, inner body, y, x []nabla.Real, all *bindings) {
			viaScratch(b.Pair.Useful, inner, y, x, all)
			if len(y) > 0 {
				b.Pair.Useless.Reals()[1] = y[0]
			}
		},
	)
}

// ConstantOrCachify multiplies the function by a+b, a bound Real a and a bound Vec (b), and computes it in a bound
// Scratch.
func ConstantOrCachify(s Scenario) Scenario {
	return s.withContext(Context{"constant_or_cache", 18, 7, 5},
		func(b *binding, inner body, y, x []nabla.Real, all *bindings) {
			viaScratch(b.Pair.Useful, inner, y, x, all)
			for i := range y {
				y[i] = b.A.Add(b.V.At(0)).Mul(y[i])
			}
		})
}

// bindings is the struct that is bound, with one binding for each context.
type bindings struct{ B0, B1, B2, B3 binding }

// maxContexts is the largest number of contexts of a scenario.
const maxContexts = 4

// at returns the binding of context i.
func (b *bindings) at(i int) *binding {
	return [...]*binding{&b.B0, &b.B1, &b.B2, &b.B3}[i]
}

// A binding has a field for everything that a modifier binds.
type binding struct {
	A     nabla.Real
	V     nabla.Vec
	Flags struct {
		Times int
		Minus bool
	}
	Pair struct{ Useful, Useless nabla.Scratch }
}

// newBinding returns a binding for a function with m outputs, and the numbers that its Vec refers to.
func newBinding(m int) (binding, []float64) {
	v := []float64{0}
	b := binding{V: nabla.VecOf(v)}
	b.Pair.Useful, b.Pair.Useless = nabla.NewScratch(max(m, 1)), nabla.NewScratch(2)
	return b, v
}

// set sets the data of the named context to those with the given factor. v holds the numbers of b.V.
func (b *binding) set(name string, factor float64, v []float64) {
	switch name {
	case "constant":
		b.A = nabla.Const(factor)
	case "structure":
		b.Flags.Times, b.Flags.Minus = int(max(factor, -factor)), factor < 0
	case "constant_or_cache":
		b.A, v[0] = nabla.Const(factor-4), 4
		if factor == 18 {
			b.A, v[0] = nabla.Const(6), 12
		}
	}
}

// viaScratch computes f in a scratch buffer and copies the result to y. If the buffer is too short, since the scenario
// is run at another size, only the part that fits passes through it.
func viaScratch(scratch nabla.Scratch, f body, y, x []nabla.Real, all *bindings) {
	buf := scratch.Reals()
	if len(buf) < len(y) {
		f(y, x, all)
		copy(buf, y)
		copy(y, buf)
		return
	}
	buf = buf[:len(y)]
	f(buf, x, all)
	copy(y, buf)
}

// withWrapper returns s with its function wrapped; the new function computes factor times the old one.
func (s Scenario) withWrapper(factor float64, wrap func(inner body) body) Scenario {
	s.Form = nil
	s.wrappers = append(s.wrappers[:len(s.wrappers):len(s.wrappers)], wrap)
	if s.Func == nil && s.OnBackend == nil {
		panic(fmt.Sprintf("difftest: scenario %s has no Func, which a modifier needs", s.Name))
	}
	w := Results{s.Value, s.First, s.Second}.scaled(factor)
	s.Value, s.First, s.Second = w.Value, w.First, w.Second
	if at := s.At; at != nil {
		s.At = func(x, t []float64) Results { return at(x, t).scaled(factor) }
	}
	return s
}

// scaled returns c·r.
func (r Results) scaled(c float64) Results {
	return Results{scaled(c, r.Value), scaled(c, r.First), scaled(c, r.Second)}
}

// withContext returns s with another context; f is the new function, which reads its binding b and calls inner.
func (s Scenario) withContext(c Context, f func(b *binding, inner body, y, x []nabla.Real, all *bindings)) Scenario {
	i := len(s.Contexts)
	if i == maxContexts {
		panic(fmt.Sprintf("difftest: scenario %s has %d contexts and takes no other", s.Name, maxContexts))
	}
	s.Name += "/" + c.Name
	s.Contexts = append(s.Contexts[:i:i], c)
	return s.withWrapper(c.Run, func(inner body) body {
		return func(y, x []nabla.Real, all *bindings) {
			f(all.at(i), inner, y, x, all)
		}
	})
}

// A function is the argument of an operator, with the data it is bound to.
type function struct {
	f any // one of the types that operators accept
	// before and after set the contexts of the function for and after preparation. Nil if nothing is bound.
	before, after func()
	// own is the bound struct, and other is another one for Rebind, with which results are otherFactor times as large.
	// Nil if Rebind is not tested.
	own, other  any
	otherFactor float64
	// shared is set if clones must not run in parallel: a plain function gets the bound struct itself, including its
	// scratch memory.
	shared bool
}

// function returns the function of s for backend b.
func (s *Scenario) function(b nabla.Backend, plain bool) function {
	if s.Form != nil {
		if f := s.Form(plain); f != nil {
			return function{f: f}
		}
	}
	into := s.Func
	if s.OnBackend != nil {
		into = s.OnBackend(b)
	}
	var all body = func(y, x []nabla.Real, _ *bindings) { into(y, x) }
	for _, wrap := range s.wrappers {
		all = wrap(all)
	}
	if len(s.Contexts) == 0 {
		return function{f: shaped(s, plain, func(y, x []nabla.Real) { all(y, x, nil) })}
	}
	own, other := new(bindings), new(bindings)
	var vec [maxContexts][]float64
	r := function{own: own, other: other, otherFactor: 1}
	for i, c := range s.Contexts {
		*own.at(i), vec[i] = newBinding(s.M())
		var v []float64
		*other.at(i), v = newBinding(s.M())
		other.at(i).set(c.Name, c.Other, v)
		r.otherFactor *= c.Other / c.Run
		r.shared = r.shared || plain && c.Name != "constant" && c.Name != "structure"
	}
	r.f = bound(s, plain, own, all)
	r.before = func() {
		for i, c := range s.Contexts {
			own.at(i).set(c.Name, c.Prep, vec[i])
		}
	}
	r.after = func() {
		for i, c := range s.Contexts {
			own.at(i).set(c.Name, c.Run, vec[i])
		}
	}
	return r
}

// shaped returns into in the form that the operator of s takes.
func shaped(s *Scenario, plain bool, into func(y, x []nabla.Real)) any {
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
	number := s.XShape.Number && (s.Operator == "derivative" || s.Operator == "second_derivative")
	switch {
	case s.InPlace && plain:
		return nabla.InPlace(s.M(), func(y, x []float64) {
			ys := reals(y) // an output that is not written keeps its value
			into(ys, reals(x))
			copy(y, floats(ys))
		})
	case s.InPlace:
		return nabla.InPlace(s.M(), into)
	case number && s.scalar() && plain:
		return func(x float64) float64 { return scalar(reals([]float64{x})).Value() }
	case number && s.scalar():
		return func(x nabla.Real) nabla.Real { return scalar([]nabla.Real{x}) }
	case number && plain:
		return func(x float64) []float64 { return floats(vector(reals([]float64{x}))) }
	case number:
		return func(x nabla.Real) []nabla.Real { return vector([]nabla.Real{x}) }
	case s.scalar() && plain:
		return func(x []float64) float64 { return scalar(reals(x)).Value() }
	case s.scalar():
		return scalar
	case plain:
		return func(x []float64) []float64 { return floats(vector(reals(x))) }
	}
	return vector
}

// bound returns into, bound to p, in the form that the operator of s takes.
func bound(s *Scenario, plain bool, p *bindings, into body) any {
	vector := func(x []nabla.Real, p *bindings) []nabla.Real {
		y := make([]nabla.Real, s.outputs(len(x)))
		into(y, x, p)
		return y
	}
	scalar := func(x []nabla.Real, p *bindings) nabla.Real {
		var y [1]nabla.Real
		into(y[:], x, p)
		return y[0]
	}
	switch {
	case s.InPlace && plain:
		return nabla.BindInPlace(s.M(), func(y, x []float64, p *bindings) {
			ys := reals(y) // an output that is not written keeps its value
			into(ys, reals(x), p)
			copy(y, floats(ys))
		}, p)
	case s.InPlace:
		return nabla.BindInPlace(s.M(), into, p)
	case s.scalar() && plain:
		return nabla.Bind(func(x []float64, p *bindings) float64 { return scalar(reals(x), p).Value() }, p)
	case s.scalar():
		return nabla.Bind(scalar, p)
	case plain:
		return nabla.Bind(func(x []float64, p *bindings) []float64 { return floats(vector(reals(x), p)) }, p)
	}
	return nabla.Bind(vector, p)
}

// reals returns x as constants.
func reals(x []float64) []nabla.Real {
	r := make([]nabla.Real, len(x))
	for i, v := range x {
		r[i] = nabla.Const(v)
	}
	return r
}

// floats returns the values of r.
func floats(r []nabla.Real) []float64 {
	x := make([]float64, len(r))
	for i, v := range r {
		x[i] = v.Value()
	}
	return x
}
