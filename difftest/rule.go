package difftest

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/engine"
)

// T is the part of *testing.T that [CheckRule] uses.
type T interface {
	Helper()
	Errorf(format string, args ...any)
}

// CheckRule checks a rule at points where it should be smooth:
//
//	func TestMyRule(t *testing.T) {
//		difftest.CheckRule(t, myRule, []float64{1, 2}, []float64{-0.5, 3})
//	}
//
// It calls Value, JVP, VJP, ValueJVP, ValueVJP, JVPReal and VJPReal repeatedly, also in several goroutines at once:
// they must always return the same numbers, write every output, and leave their arguments alone, those of earlier calls
// included. Inputs that NoTangent lists stay as they are in points, and no derivative with respect to them is compared.
// Each derivative is compared entry by entry with differences of Value and with the other derivatives; VJP, VJPReal and
// the pullback of ValueVJP must add to xbar. ValueJVP and ValueVJP must have the value of Value, bit for bit, and a
// pullback must stay what it is when it is called again, while others are made and called. The derivatives of JVPReal
// and VJPReal, from which second derivatives are computed, are compared with differences of those functions. Out must
// depend on n only, an entry outside Pattern must be zero, and a Linear rule must have the same derivative at another
// point.
//
// The comparison is as precise as the differences: digits that Value loses, for example to the tolerance of an
// iteration, are lost for the comparison too. If differences have no correct digit, that is reported.
func CheckRule(t T, r nabla.Rule, points ...[]float64) {
	t.Helper()
	name := r.Name
	if name == "" {
		name = "without a name"
	}
	switch {
	case r.Value == nil:
		t.Errorf("rule %s has no Value; give it one that writes f(x) to y", name)
		return
	case len((&ruleChecker{r: r}).forms()) == 0:
		t.Errorf("rule %s has no derivative; give it JVP, VJP, ValueJVP, ValueVJP, JVPReal or VJPReal", name)
		return
	case len(points) == 0:
		t.Errorf("rule %s is not checked: CheckRule was given no point", name)
		return
	}
	for _, x := range points {
		c := &ruleChecker{t: t, r: r, label: fmt.Sprintf("rule %s at %v", name, x), x: slices.Clone(x),
			reported: map[string]bool{}}
		c.check()
	}
}

// A ruleChecker checks a rule at one point.
type ruleChecker struct {
	t T
	r nabla.Rule
	// names the rule and the point in messages
	label    string
	x        []float64
	y        []float64       // Value at x
	m        int             // number of outputs
	reported map[string]bool // kinds of failures reported; each is reported once
	jac      []float64       // Jacobian by differences of Value, row by row
	jacError []float64       // estimated errors of jac
}

// A form is one of the derivatives of a rule, or Value: a function that is linear in d, except for Value.
type form struct {
	name    string
	forward bool // computes J·d, otherwise Jᵀ·d
	// adds to out, otherwise sets it
	adds bool
	call func(out, x, y, d []float64)
}

// failf reports the first failure of a kind.
func (c *ruleChecker) failf(kind, format string, args ...any) {
	c.t.Helper()
	if !c.reported[kind] {
		c.reported[kind] = true
		c.t.Errorf("%s: %s", c.label, fmt.Sprintf(format, args...))
	}
}

// check makes all checks at the point.
func (c *ruleChecker) check() {
	if !c.checkOut() || !c.checkNoTangent() {
		return
	}
	value := form{name: "Value", forward: true, call: func(out, x, _, _ []float64) { c.r.Value(out, x) }}
	var ok bool
	if c.y, ok = c.checkRepeatable(value, nil); !ok {
		return
	}
	c.differences()
	jacs := map[string][]float64{}
	var names []string
	for _, f := range c.forms() {
		d := c.direction(f)
		if _, ok := c.checkRepeatable(f, d); !ok {
			continue
		}
		c.checkAccumulates(f, d)
		j, ok := c.jacobian(f)
		if !ok || !c.agreesWithDifferences(f, j) {
			continue
		}
		c.checkLinear(f, j, d)
		jacs[f.name] = j
		names = append(names, f.name)
	}
	for i, a := range names {
		for _, b := range names[:i] {
			c.compareForms(a+" and "+b, jacs[a], jacs[b], func(i, j int, u, v float64) string {
				return fmt.Sprintf("%s has ∂y[%d]/∂x[%d] = %v, and %s has %v", a, i, j, u, b, v)
			})
		}
	}
	c.checkKept()
	c.checkSecond()
	c.checkPromises()
	c.checkOut()
}

// checkOut sets the number of outputs and requires that it does not change. It reports whether it is usable.
func (c *ruleChecker) checkOut() bool {
	if c.r.Out == nil {
		c.m = 1
		return true
	}
	first := c.y == nil
	m, k := 0, 0
	if !c.callRecovered("Out", func() { m, k = c.r.Out(len(c.x)), c.r.Out(len(c.x)) }) {
		return false
	}
	switch {
	case m < 0:
		c.failf("Out", "Out(%d) is %d, want 0 or more", len(c.x), m)
		return false
	case m != k || !first && m != c.m:
		c.failf("Out", "Out(%d) changes from call to call (%d, %d); it has to depend on the number of inputs alone",
			len(c.x), m, k)
		return false
	}
	c.m = m
	return true
}

// checkNoTangent requires that NoTangent lists inputs, and reports whether it does.
func (c *ruleChecker) checkNoTangent() bool {
	for _, i := range c.r.NoTangent {
		if i < 0 || i >= len(c.x) {
			c.failf("NoTangent", "NoTangent lists input %d, and there are %d inputs", i, len(c.x))
			return false
		}
	}
	return true
}

// callRecovered calls f, and reports a panic as a failure of the named function of the rule. It reports whether there
// was none.
func (c *ruleChecker) callRecovered(name string, f func()) (ok bool) {
	defer func() {
		if v := recover(); v != nil {
			c.failf("panic "+name, "%s panicked: %v", name, v)
			ok = false
		}
	}()
	f()
	return true
}

// forms returns the derivatives that the rule has.
func (c *ruleChecker) forms() (all []form) {
	if f := c.r.JVP; f != nil {
		all = append(all, form{"JVP", true, false, f})
	}
	if f := c.r.VJP; f != nil {
		all = append(all, form{"VJP", false, true, f})
	}
	if c.r.ValueJVP != nil {
		all = append(all, form{"ValueJVP", true, false, c.valueJVP})
	}
	if c.r.ValueVJP != nil {
		all = append(all, form{"ValueVJP", false, true, c.valueVJP})
	}
	if f := c.r.JVPReal; f != nil {
		all = append(all, form{"JVPReal", true, false, overConstants(f)})
	}
	if f := c.r.VJPReal; f != nil {
		all = append(all, form{"VJPReal", false, true, overConstants(f)})
	}
	return all
}

// overConstants returns f over plain numbers. Changes that f makes to its arguments are copied back.
func overConstants(f func(out, x, y, d []nabla.Real)) func(out, x, y, d []float64) {
	return func(out, x, y, d []float64) {
		lists := [][]float64{out, x, y, d}
		reals := make([][]nabla.Real, len(lists))
		for i, l := range lists {
			reals[i] = constants(l)
		}
		f(reals[0], reals[1], reals[2], reals[3])
		for i, l := range lists {
			for k, a := range reals[i] {
				l[k] = a.Value()
			}
		}
	}
}

// constants returns v as Reals.
func constants(v []float64) []nabla.Real {
	r := make([]nabla.Real, len(v))
	for i, a := range v {
		r[i] = nabla.Const(a)
	}
	return r
}

// directions returns the length of the last argument of f.
func (c *ruleChecker) directions(f form) int {
	if f.forward {
		return len(c.x)
	}
	return c.m
}

// results returns the length of the first argument of f.
func (c *ruleChecker) results(f form) int {
	if f.forward {
		return c.m
	}
	return len(c.x)
}

// zigzag returns k numbers of alternating sign, with different magnitudes for k up to 7.
func zigzag(k int) []float64 {
	v := make([]float64, k)
	for i := range v {
		v[i] = 1 + float64(i%7)/4
		if i%2 == 1 {
			v[i] = -v[i]
		}
	}
	return v
}

// A callArgs holds the arguments of one call.
type callArgs struct{ out, x, y, d []float64 }

// slices returns all arguments.
func (g callArgs) slices() [][]float64 { return [][]float64{g.out, g.x, g.y, g.d} }

// poison is the bit pattern of the NaN that overwrites the arguments of earlier calls.
const poison = 0x7ff8_676f_6e65_0000

// run calls f, and requires that it writes all of out and nothing else. If f sets its outputs, they initially hold a
// NaN of a reserved bit pattern.
func (c *ruleChecker) run(f form, x, y, d []float64) (g callArgs, ok bool) {
	g = callArgs{make([]float64, c.results(f)), slices.Clone(x), slices.Clone(y), slices.Clone(d)}
	if !f.adds {
		engine.Unwrite(g.out)
	}
	if !c.callRecovered(f.name, func() { f.call(g.out, g.x, g.y, g.d) }) {
		return g, false
	}
	direction := "xdot"
	if !f.forward {
		direction = "ybar"
	}
	for _, a := range []struct {
		name    string
		was, is []float64
	}{{"x", x, g.x}, {"y", y, g.y}, {direction, d, g.d}} {
		if i := differs(a.was, a.is); i >= 0 {
			c.failf(f.name+" writes", "%s writes to %s, which it may only read: element %d was %v and is %v; "+
				"copy the elements to be changed", f.name, a.name, i, a.was[i], a.is[i])
			return g, false
		}
	}
	if i := engine.Unwritten(g.out); i >= 0 && !f.adds {
		c.failf(f.name+" leaves out", "%s does not write output %d of %d", f.name, i, len(g.out))
		return g, false
	}
	c.drop(f, g.out)
	return g, true
}

// differs returns the first index at which a and b differ in their bits, or -1.
func differs(a, b []float64) int {
	for i, v := range a {
		if math.Float64bits(v) != math.Float64bits(b[i]) {
			return i
		}
	}
	return -1
}

// checkRepeatable requires that f returns the bits of its first result again: in a second call, after a call at another
// point with the arguments of earlier calls overwritten, and in several goroutines. It returns that first result.
func (c *ruleChecker) checkRepeatable(f form, d []float64) ([]float64, bool) {
	first, ok := c.run(f, c.x, c.y, d)
	if !ok {
		return nil, false
	}
	want := slices.Clone(first.out)
	check := func(g callArgs, why string) bool {
		i := differs(want, g.out)
		if i >= 0 {
			c.failf(f.name+" same", "%s gives %v and then %v as its result %d for the same arguments%s",
				f.name, want[i], g.out[i], i, why)
		}
		return i < 0
	}
	second, ok := c.run(f, c.x, c.y, d)
	if !ok || !check(second, "; results must depend on the arguments only") {
		return want, false
	}
	spoilt := []callArgs{first, second}
	for _, g := range spoilt {
		for _, v := range g.slices() {
			for i := range v {
				v[i] = math.Float64frombits(poison)
			}
		}
	}
	if _, ok = c.run(f, c.perturbed(c.x), c.y, d); !ok {
		return want, false
	}
	third, ok := c.run(f, c.x, c.y, d)
	const keeps = " where slices of earlier calls have changed and one was elsewhere; it must keep nothing of a " +
		"call but copies"
	if !ok || !check(third, keeps) {
		return want, false
	}
	for _, g := range spoilt {
		for _, v := range g.slices() {
			if slices.ContainsFunc(v, func(a float64) bool { return math.Float64bits(a) != poison }) {
				c.failf(f.name+" keeps", "%s keeps a slice that it was given, and writes to it after it has returned; "+
					"copy the numbers", f.name)
				return want, false
			}
		}
	}
	return want, c.checkParallel(f, d, want)
}

// checkParallel calls f in several goroutines, every other one of which uses another point. All of them continue until
// the last one has made its calls, since on a busy machine they would otherwise run one after the other.
func (c *ruleChecker) checkParallel(f form, d, want []float64) bool {
	const workers, calls = 4, 50
	outs := make([][]float64, workers)
	var wg, started sync.WaitGroup
	started.Add(workers)
	var short atomic.Int32 // number of goroutines that have not made all calls
	short.Store(workers)
	for w := range workers {
		x, y, d := slices.Clone(c.x), slices.Clone(c.y), slices.Clone(d)
		if w%2 == 1 {
			x = c.perturbed(x)
		}
		wg.Go(func() {
			n := 0
			defer func() {
				_ = recover() // f does not panic alone, so the missing result is reported
				if n < calls {
					short.Add(-1)
				}
			}()
			started.Done()
			started.Wait()
			for n < calls || short.Load() > 0 {
				outs[w] = nil
				out := make([]float64, c.results(f))
				f.call(out, x, y, d)
				c.drop(f, out)
				if outs[w] = out; w%2 == 0 && differs(want, out) >= 0 {
					return
				}
				if n++; n == calls {
					short.Add(-1)
				}
				if n >= calls {
					runtime.Gosched()
				}
			}
		})
	}
	wg.Wait()
	for w, out := range outs {
		if len(out) != len(want) || w%2 == 0 && differs(want, out) >= 0 {
			c.failf(f.name+" parallel", "%s gives %v in several goroutines at once, and %v alone; "+
				"it must not write to shared memory", f.name, out, want)
			return false
		}
	}
	return true
}

// perturbed returns x with every component that carries a derivative changed by 0.1 %.
func (c *ruleChecker) perturbed(x []float64) []float64 {
	p := slices.Clone(x)
	for i, v := range p {
		if !c.fixed(i) {
			p[i] = v + 1e-3*max(math.Abs(v), 1e-3)
		}
	}
	return p
}

// fixed reports whether input i carries no derivative.
func (c *ruleChecker) fixed(i int) bool { return slices.Contains(c.r.NoTangent, i) }

// drop sets what f has added for inputs that carry no derivative to 0, as engines drop it.
func (c *ruleChecker) drop(f form, out []float64) {
	if !f.forward {
		for _, i := range c.r.NoTangent {
			out[i] = 0
		}
	}
}

// direction returns a last argument for f, with zeros for inputs that carry no derivative.
func (c *ruleChecker) direction(f form) []float64 {
	d := zigzag(c.directions(f))
	if f.forward {
		for _, i := range c.r.NoTangent {
			d[i] = 0
		}
	}
	return d
}

// checkAccumulates requires that f adds to xbar if it is a pullback.
func (c *ruleChecker) checkAccumulates(f form, d []float64) {
	if !f.adds {
		return
	}
	plain, ok := c.run(f, c.x, c.y, d)
	if !ok {
		return
	}
	offset := 1.0
	for _, v := range plain.out {
		offset = max(offset, math.Abs(v))
	}
	out, x, y, dir := make([]float64, len(c.x)), slices.Clone(c.x), slices.Clone(c.y), slices.Clone(d)
	for i := range out {
		out[i] = offset
	}
	if !c.callRecovered(f.name, func() { f.call(out, x, y, dir) }) {
		return
	}
	for i, v := range out {
		if want := offset + plain.out[i]; !c.fixed(i) && finite(want) && math.Abs(v-want) > 1e-12*offset {
			c.failf(f.name+" adds", "%s makes of xbar[%d] = %v %v, want %v: it has to add to xbar, not to set it",
				f.name, i, offset, v, want)
			return
		}
	}
}

// jacobian returns the Jacobian that f computes, row by row, from unit vectors.
func (c *ruleChecker) jacobian(f form) ([]float64, bool) {
	n := len(c.x)
	jac := make([]float64, c.m*n)
	for k := range c.directions(f) {
		if f.forward && c.fixed(k) {
			continue
		}
		d := make([]float64, c.directions(f))
		d[k] = 1
		g, ok := c.run(f, c.x, c.y, d)
		if !ok {
			return nil, false
		}
		for i, v := range g.out {
			if f.forward {
				jac[i*n+k] = v
			} else {
				jac[k*n+i] = v
			}
		}
	}
	return jac, true
}

// checkLinear requires that f is linear in d: its result for d is the Jacobian times d.
func (c *ruleChecker) checkLinear(f form, jac, d []float64) {
	g, ok := c.run(f, c.x, c.y, d)
	if !ok {
		return
	}
	n := len(c.x)
	for i, v := range g.out {
		want, size := 0.0, 0.0
		for k, w := range d {
			e := 0.0
			if f.forward {
				e = jac[i*n+k] * w
			} else {
				e = jac[k*n+i] * w
			}
			want += e
			size += math.Abs(e)
		}
		if finite(want) && !(math.Abs(v-want) <= 1e-9*size) {
			c.failf(f.name+" linear", "%s is not linear in its last argument: result %d is %v for %v, "+
				"and %v as the sum of those for unit vectors", f.name, i, v, d, want)
			return
		}
	}
}

// finite reports whether v is neither infinite nor NaN.
func finite(v float64) bool { return v-v == 0 }
