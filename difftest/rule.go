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

// T is what [CheckRule] needs of a *testing.T.
type T interface {
	Helper()
	Errorf(format string, args ...any)
}

// CheckRule checks a rule at some points, where it should be smooth:
//
//	func TestMyRule(t *testing.T) {
//		difftest.CheckRule(t, myRule, []float64{1, 2}, []float64{-0.5, 3})
//	}
//
// Value is compared with itself: it gives the same numbers whenever it is called, in
// several goroutines at once too, writes every output, and leaves its arguments alone,
// those of earlier calls included. So do JVP, VJP, JVPReal and VJPReal, each of which is
// compared with differences of Value, entry by entry, and with the others; VJP and VJPReal
// have to add to xbar. The derivatives of JVPReal and VJPReal, which second derivatives
// are made of, are compared with differences of those functions. Out is a function of n,
// an entry outside of Pattern is zero, and a Linear rule has the same derivative elsewhere.
//
// What a computation with tolerances leaves of the digits of Value it leaves of the
// comparison, too; where differences find no digit there is a message.
func CheckRule(t T, r nabla.Rule, points ...[]float64) {
	t.Helper()
	name := r.Name
	if name == "" {
		name = "without a name"
	}
	forms := 0
	for _, has := range []bool{r.JVP != nil, r.VJP != nil, r.JVPReal != nil, r.VJPReal != nil} {
		if has {
			forms++
		}
	}
	switch {
	case r.Value == nil:
		t.Errorf("rule %s has no Value; give it one that writes f(x) to y", name)
		return
	case forms == 0:
		t.Errorf("rule %s has no derivative; give it JVP, VJP, JVPReal or VJPReal", name)
		return
	case len(points) == 0:
		t.Errorf("rule %s is not checked: CheckRule was given no point", name)
		return
	}
	for _, x := range points {
		c := &ruleChecker{t: t, r: r, at: fmt.Sprintf("rule %s at %v", name, x), x: slices.Clone(x),
			said: map[string]bool{}}
		c.check()
	}
}

// ruleChecker checks a rule at one point.
type ruleChecker struct {
	t    T
	r    nabla.Rule
	at   string
	x    []float64
	y    []float64       // Value at x
	m    int             // outputs
	said map[string]bool // one message of each kind is enough
	jac  []float64       // by differences of Value, row by row
	off  []float64       // their estimated errors
}

// form is a derivative of the rule in one of its forms, as a map that is linear in d.
type form struct {
	name    string
	forward bool // J·d, else Jᵀ·d
	adds    bool
	call    func(out, x, y, d []float64)
}

func (c *ruleChecker) failf(kind, format string, args ...any) {
	c.t.Helper()
	if !c.said[kind] {
		c.said[kind] = true
		c.t.Errorf("%s: %s", c.at, fmt.Sprintf(format, args...))
	}
}

func (c *ruleChecker) check() {
	if !c.outputs() {
		return
	}
	value := form{name: "Value", forward: true, call: func(out, x, _, _ []float64) { c.r.Value(out, x) }}
	var ok bool
	if c.y, ok = c.same(value, nil); !ok {
		return
	}
	c.differences()
	jacs := map[string][]float64{}
	var names []string
	for _, f := range c.forms() {
		d := zigzag(c.directions(f))
		if _, ok := c.same(f, d); !ok {
			continue
		}
		c.accumulates(f, d)
		j, ok := c.jacobian(f)
		if !ok || !c.agrees(f, j) {
			continue
		}
		c.linear(f, j, d)
		jacs[f.name] = j
		names = append(names, f.name)
	}
	for i, a := range names {
		for _, b := range names[:i] {
			c.compare(a+" and "+b, jacs[a], jacs[b], func(i, j int, u, v float64) string {
				return fmt.Sprintf("%s has ∂y[%d]/∂x[%d] = %v, and %s has %v", a, i, j, u, b, v)
			})
		}
	}
	c.second()
	c.promises()
	c.outputs()
}

// outputs asks for the number of outputs, which has to stay the same.
func (c *ruleChecker) outputs() bool {
	if c.r.Out == nil {
		c.m = 1
		return true
	}
	first := c.y == nil
	m, k := 0, 0
	if !c.quiet("Out", func() { m, k = c.r.Out(len(c.x)), c.r.Out(len(c.x)) }) {
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

// quiet calls f and reports a panic as one of the function of that name.
func (c *ruleChecker) quiet(name string, f func()) (ok bool) {
	defer func() {
		if v := recover(); v != nil {
			c.failf("panic "+name, "%s panicked: %v", name, v)
			ok = false
		}
	}()
	f()
	return true
}

// forms are the derivatives that the rule has.
func (c *ruleChecker) forms() (all []form) {
	if f := c.r.JVP; f != nil {
		all = append(all, form{"JVP", true, false, f})
	}
	if f := c.r.VJP; f != nil {
		all = append(all, form{"VJP", false, true, f})
	}
	if f := c.r.JVPReal; f != nil {
		all = append(all, form{"JVPReal", true, false, overConstants(f)})
	}
	if f := c.r.VJPReal; f != nil {
		all = append(all, form{"VJPReal", false, true, overConstants(f)})
	}
	return all
}

// overConstants is f over plain numbers. A slice that f changes is changed.
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

func constants(v []float64) []nabla.Real {
	r := make([]nabla.Real, len(v))
	for i, a := range v {
		r[i] = nabla.Const(a)
	}
	return r
}

// directions is the length of the last argument of f.
func (c *ruleChecker) directions(f form) int {
	if f.forward {
		return len(c.x)
	}
	return c.m
}

// results is the length of the first argument of f.
func (c *ruleChecker) results(f form) int {
	if f.forward {
		return c.m
	}
	return len(c.x)
}

// zigzag is k different numbers.
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

// given are the arguments of one call.
type given struct{ out, x, y, d []float64 }

func (g given) slices() [][]float64 { return [][]float64{g.out, g.x, g.y, g.d} }

// gone is a NaN in slices of earlier calls.
const gone = 0x7ff8_676f_6e65_0000

// run calls f at x and looks at what it has written. Outputs that are to be written begin
// as a NaN of their own.
func (c *ruleChecker) run(f form, x, y, d []float64) (g given, ok bool) {
	g = given{make([]float64, c.results(f)), slices.Clone(x), slices.Clone(y), slices.Clone(d)}
	if !f.adds {
		engine.Unwrite(g.out)
	}
	if !c.quiet(f.name, func() { f.call(g.out, g.x, g.y, g.d) }) {
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
				"copy what is to be changed", f.name, a.name, i, a.was[i], a.is[i])
			return g, false
		}
	}
	if i := engine.Unwritten(g.out); i >= 0 && !f.adds {
		c.failf(f.name+" leaves out", "%s does not write output %d of %d", f.name, i, len(g.out))
		return g, false
	}
	return g, true
}

// differs is the first element in which a and b are not the same number, or -1.
func differs(a, b []float64) int {
	for i, v := range a {
		if math.Float64bits(v) != math.Float64bits(b[i]) {
			return i
		}
	}
	return -1
}

// same calls f again and again: one after the other, after a call elsewhere, with the
// slices of earlier calls made useless, and from several goroutines at once. The result
// is that of the first call.
func (c *ruleChecker) same(f form, d []float64) ([]float64, bool) {
	first, ok := c.run(f, c.x, c.y, d)
	if !ok {
		return nil, false
	}
	want := slices.Clone(first.out)
	check := func(g given, why string) bool {
		i := differs(want, g.out)
		if i >= 0 {
			c.failf(f.name+" same", "%s gives %v and then %v as its result %d for the same arguments%s",
				f.name, want[i], g.out[i], i, why)
		}
		return i < 0
	}
	second, ok := c.run(f, c.x, c.y, d)
	if !ok || !check(second, "; what it computes must depend on them alone") {
		return want, false
	}
	spoilt := []given{first, second}
	for _, g := range spoilt {
		for _, v := range g.slices() {
			for i := range v {
				v[i] = math.Float64frombits(gone)
			}
		}
	}
	if _, ok = c.run(f, moved(c.x), c.y, d); !ok {
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
			if slices.ContainsFunc(v, func(a float64) bool { return math.Float64bits(a) != gone }) {
				c.failf(f.name+" keeps", "%s keeps a slice that it was given, and writes to it after it has returned; "+
					"copy the numbers", f.name)
				return want, false
			}
		}
	}
	return want, c.parallel(f, d, want)
}

// parallel calls f in several goroutines at once, every other one of them elsewhere.
// All of them go on until the last has made its calls: a busy machine would otherwise
// run one after the other.
func (c *ruleChecker) parallel(f form, d, want []float64) bool {
	const workers, calls = 4, 50
	outs := make([][]float64, workers)
	var wg, started sync.WaitGroup
	started.Add(workers)
	var short atomic.Int32 // how many have not made their calls
	short.Store(workers)
	for w := range workers {
		x, y, d := slices.Clone(c.x), slices.Clone(c.y), slices.Clone(d)
		if w%2 == 1 {
			x = moved(x)
		}
		wg.Go(func() {
			n := 0
			defer func() {
				_ = recover() // it did not panic alone: out is too short then
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
				"it must not share what it writes to", f.name, out, want)
			return false
		}
	}
	return true
}

// moved is x with every number moved a little.
func moved(x []float64) []float64 {
	p := slices.Clone(x)
	for i, v := range p {
		p[i] = v + 1e-3*max(math.Abs(v), 1e-3)
	}
	return p
}

// accumulates checks that f adds to xbar, where that is what it has to do.
func (c *ruleChecker) accumulates(f form, d []float64) {
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
	if !c.quiet(f.name, func() { f.call(out, x, y, dir) }) {
		return
	}
	for i, v := range out {
		if want := offset + plain.out[i]; finite(want) && math.Abs(v-want) > 1e-12*offset {
			c.failf(f.name+" adds", "%s makes of xbar[%d] = %v %v, want %v: it has to add to xbar, not to set it",
				f.name, i, offset, v, want)
			return
		}
	}
}

// jacobian is the Jacobian by f, row by row, from unit vectors.
func (c *ruleChecker) jacobian(f form) ([]float64, bool) {
	n := len(c.x)
	jac := make([]float64, c.m*n)
	for k := range c.directions(f) {
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

// linear checks that f is linear in d: what it gives for d is the Jacobian times d.
func (c *ruleChecker) linear(f form, jac, d []float64) {
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

func finite(v float64) bool { return v-v == 0 }
