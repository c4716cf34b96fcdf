package nabla

import (
	"fmt"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/sparsity"
)

// Rule is a function with derivatives of its own, which every engine uses: an iterative method, a
// table, or a computation by another program. Value and one of JVP, VJP, ValueJVP, ValueVJP, JVPReal
// and VJPReal suffice. Missing ones are computed from the others, at the cost of one call per output
// (JVP from VJP) or per input (VJP from JVP).
//
// The functions may be called at any time and any number of times, and by several goroutines if
// several differentiate. They must not modify their inputs or keep any of their arguments, but for
// ValueVJP, and Out must depend on n alone. A violation is a [FuncError] if it is detected.
// difftest.CheckRule looks for violations, and compares the derivatives with differences.
//
// JVP and VJP get y = f(x) and nothing else that Value has computed. Where that is not enough, as
// for a factorisation that the value and the derivatives need, ValueJVP and ValueVJP do the common
// work once: see there.
//
// A plain function computes a rule that is a package variable by the directive //nabla:rule rule=MyRule; generated code
// calls JVP and VJP then, and all engines use the same declaration in functions of both kinds.
//
// The rule of a function that takes functions, such as a search for a root, is made for those that it gets. It calls
// back for their derivatives: JVPReal and VJPReal call [GradientFunc], [PushforwardFunc] and the like, which compute
// with the numbers of the engine that differentiates, to any order.
//
// Second and higher derivatives differentiate the rule itself. If JVPReal or VJPReal is given, they
// are exact, to any order. Otherwise JVP and VJP are differentiated by central differences with
// Richardson extrapolation: for smooth rules with about 10 correct digits, fewer if the derivative
// is much smaller than its terms, and with two or three digits less for every further order. At a
// kink of JVP or VJP they are meaningless.
type Rule struct {
	// Name names the rule in messages.
	Name string
	// Out is the number of outputs for n inputs. Nil means one.
	Out func(n int) int
	// Value writes f(x) to y. It must write every output.
	Value func(y, x []float64)
	// JVP writes J(x)·xdot to ydot. y is f(x).
	JVP func(ydot, x, y, xdot []float64)
	// VJP adds J(x)ᵀ·ybar to xbar. y is f(x).
	VJP func(xbar, x, y, ybar []float64)
	// ValueJVP writes f(x) to y and J(x)·xdot to ydot, with the work common to both done once. It takes the place of
	// Value and a JVP that engines in forward mode, and differences by complex steps, call at one point. For further
	// directions at that point there is JVP, or ValueJVP again without it.
	ValueJVP func(y, ydot, x, xdot []float64)
	// ValueVJP writes f(x) to y and returns the pullback at x, which adds J(x)ᵀ·ybar to xbar. The pullback may refer to
	// x, y and whatever else ValueVJP has computed: they stay as they are while it is in use, and it must not change
	// them. It is called any number of times, or never, by one goroutine at a time.
	//
	// Engines in reverse mode call it in place of Value if the derivatives are needed, and the pullback in their
	// reverse sweep: tapes, and compiled programs, in which the pullback serves the calls at the same x during one run.
	// Where value and pullback are far apart, as in generated code, in second derivatives and in loops whose states are
	// computed again, ValueVJP is called again. A call allocates copies of x and y; without ValueVJP nothing is kept.
	ValueVJP func(y, x []float64) (pullback func(xbar, ybar []float64))
	// JVPReal writes J(x)·xdot to ydot, computed over Reals, so that second derivatives are exact.
	JVPReal func(ydot, x, y, xdot []Real)
	// VJPReal adds J(x)ᵀ·ybar to xbar, computed over Reals, so that second derivatives are exact.
	VJPReal func(xbar, x, y, ybar []Real)
	// NoTangent lists the inputs, by index, that carry no derivative: a degree, a flag, a position in a table. For them
	// there is no derivative, which is not the same as one that is zero, and none may be asked: an input must be a
	// constant, or a number without derivative such as the result of [StopGradient], or the call is a [FuncError]. xdot
	// is 0 there, and what is added to xbar there is dropped.
	NoTangent []int
	// Pattern returns the pattern of the Jacobian for n inputs, outputs by inputs, which must hold
	// everywhere. Nil means that every output depends on every input. Only sparsity detectors use
	// it.
	Pattern func(n int) *sparsity.Pattern
	// Linear reports that second derivatives are zero. Only sparsity detectors use it.
	Linear bool
	// Pure states that the results of JVPReal and VJPReal depend on nothing but their arguments, so
	// that compiled engines can record them once. Otherwise, and where they compare numbers or read
	// their values, they are recorded at every call.
	Pure bool
	// Points are inputs at which the rule is smooth, where difftest.CheckRules checks it.
	Points [][]float64
}

// Rules is a table of rules for functions over float64, by their full names, the path of the package and the name,
// which a package exports for functions of any package, as of one that it does not own:
//
//	package specialrules
//
//	// Rules holds the derivatives of package special.
//	var Rules = nabla.Rules{
//		"example.com/special.Erfcx": {Name: "Erfcx", Value: erfcx, VJP: erfcxVJP, Points: [][]float64{{0.5}, {2}}},
//	}
//
// nabla gen reads it: in a package that imports this one, be it as _, calls of special.Erfcx have the derivatives of
// the rule in generated code, and in recordings of it, instead of those of the source. Value must compute what the
// function does. Functions over Reals call specialrules.Rules["example.com/special.Erfcx"].Func(), and
// difftest.CheckRules checks all rules of the table. Package gen documents the details.
type Rules map[string]Rule

// Func returns the rule as a function, for use in functions over Reals. A mistake in the rule ends
// the function that calls it, and the operator returns it as an error.
func (r Rule) Func() func(x ...Real) []Real {
	c := &ruleCall{r: r}
	form := c.form()
	return func(x ...Real) []Real {
		if err := c.check(x); err != nil {
			y := make([]Real, max(1, c.Outputs(len(x))))
			if core.Keeps(reps(x), core.Abort{Err: err}, reps(y)) {
				return y
			}
			panic(core.Abort{Err: err})
		}
		return reals(core.Call(form, reps(x)))
	}
}

// form returns c in the form that programs inline if it is pure and its first derivatives are given over Reals only.
func (c *ruleCall) form() core.Custom {
	if c.r.Pure && !c.r.plain() && c.exact() {
		return inlinedRule{c}
	}
	return c
}

// plain reports whether r has a derivative over plain numbers.
func (r *Rule) plain() bool {
	return r.JVP != nil || r.VJP != nil || r.ValueJVP != nil || r.ValueVJP != nil
}

// An inlinedRule is a rule whose derivatives are given over Reals only. It implements core.Inlined.
type inlinedRule struct{ *ruleCall }

func (r inlinedRule) PushOver(x, y, xdot []core.Rep) []core.Rep {
	ydot := make([]core.Rep, len(y))
	r.push(ydot, x, y, xdot)
	return ydot
}

func (r inlinedRule) PullOver(x, y, ybar []core.Rep) []core.Rep {
	xbar := make([]core.Rep, len(x))
	r.pull(xbar, x, y, ybar)
	return xbar
}

// Pushes implements core.Pushable.
func (c *ruleCall) Pushes() bool { return c.exact() }

// PushAt implements core.Pushable.
func (c *ruleCall) PushAt(ydot, x, y, xdot []core.Rep) { c.push(ydot, x, y, xdot) }

// A ruleCall is a rule in the form that engines call.
type ruleCall struct {
	r               Rule
	value, jvp, vjp lending
	together        lending // for ValueJVP
	pullback        lending // for the pullbacks of ValueVJP
	mu              sync.Mutex
	sizes           map[int]int // number of inputs → result of Out
}

func (c *ruleCall) check(x []Real) error {
	problem := ""
	switch m := c.outputsNow(len(x)); {
	case c.r.Value == nil:
		problem = "it has no Value; give it one, and one of JVP, VJP, ValueJVP, ValueVJP, JVPReal and VJPReal"
	case m < 0:
		problem = fmt.Sprintf("Out(%d) is %d, want 0 or more", len(x), m)
	case c.tangentProblem(x) != "":
		problem = c.tangentProblem(x)
	case !c.r.plain() && !c.exact():
		for _, a := range x {
			if a.id != 0 {
				problem = "it has no derivative; give it JVP, VJP, ValueJVP, ValueVJP, JVPReal or VJPReal"
			}
		}
	}
	if problem == "" {
		return nil
	}
	return &FuncError{Op: "Rule", Function: c.r.Name, Problem: problem}
}

func (c *ruleCall) Name() string { return c.r.Name }

// caught is deferred. It turns a panic of one of the rule's functions into an error that names the
// function.
func (c *ruleCall) caught(what string) {
	switch v := recover().(type) {
	case nil:
	case core.Abort:
		panic(v)
	default:
		panic(core.Abort{Err: &PanicError{Function: "rule " + c.r.Name + "." + what, Value: v, Stack: debug.Stack()}})
	}
}

// written checks that a function of the rule has written all elements of y, which were marked
// unwritten before.
func (c *ruleCall) written(what string, y []float64) {
	if i := engine.Unwritten(y); i >= 0 {
		c.missing(what, i)
	}
}

func (c *ruleCall) missing(what string, i int) {
	panic(core.Abort{Err: fmt.Errorf("nabla: rule %s.%s: output %d: %w", c.r.Name, what, i, ErrOutputNotWritten)})
}

func (c *ruleCall) Value(y, x []float64) {
	c.call("Value", &c.value, func(y, x, _, _ []float64) { c.r.Value(y, x) }, false, y, x, nil, nil)
}

func (c *ruleCall) JVP(ydot, x, y, xdot []float64) {
	switch {
	case c.r.JVP != nil:
		c.call("JVP", &c.jvp, c.r.JVP, false, ydot, x, y, xdot)
	case c.r.ValueJVP != nil:
		c.ValueJVP(make([]float64, len(y)), ydot, x, xdot)
	case c.r.VJP != nil || c.r.ValueVJP != nil || c.r.JVPReal == nil:
		c.jvpFromVJP(ydot, x, y, xdot)
	default:
		out := poisoned(len(ydot))
		c.callReal("JVPReal", c.r.JVPReal, reps(out), reps(constants(x)), reps(constants(y)), reps(constants(xdot)))
		c.plain(ydot, out, "JVPReal")
	}
}

func (c *ruleCall) jvpFromVJP(ydot, x, y, xdot []float64) {
	row, unit := make([]float64, len(x)), make([]float64, len(y))
	var kept *rulePullback
	if c.r.VJP == nil && c.r.ValueVJP != nil {
		kept = c.keep(make([]float64, len(y)), x)
	}
	for i := range ydot {
		clear(row)
		unit[i] = 1
		if kept != nil {
			kept.Pull(row, unit)
		} else {
			c.VJP(row, x, y, unit)
		}
		unit[i] = 0
		ydot[i] = 0
		for j, d := range xdot {
			if d != 0 { // an infinite derivative has no effect along a zero component
				ydot[i] += row[j] * d
			}
		}
	}
}

func (c *ruleCall) VJP(xbar, x, y, ybar []float64) {
	switch {
	case c.r.VJP != nil:
		c.call("VJP", &c.vjp, c.r.VJP, true, xbar, x, y, ybar)
	case c.r.ValueVJP != nil:
		c.keep(make([]float64, len(y)), x).Pull(xbar, ybar)
	case c.r.JVP != nil || c.r.ValueJVP != nil || c.r.VJPReal == nil:
		c.vjpFromJVP(xbar, x, y, ybar)
	default:
		out := make([]Real, len(xbar))
		c.callReal("VJPReal", c.r.VJPReal, reps(out), reps(constants(x)), reps(constants(y)), reps(constants(ybar)))
		sum := make([]float64, len(xbar))
		c.plain(sum, out, "VJPReal")
		for _, j := range c.r.NoTangent {
			sum[j] = 0
		}
		for j, v := range sum {
			xbar[j] += v
		}
	}
}

func (c *ruleCall) vjpFromJVP(xbar, x, y, ybar []float64) {
	col, unit := make([]float64, len(y)), make([]float64, len(x))
	for j := range xbar {
		if slices.Contains(c.r.NoTangent, j) {
			continue
		}
		unit[j] = 1
		c.JVP(col, x, y, unit)
		unit[j] = 0
		for i, w := range ybar {
			if w != 0 {
				xbar[j] += col[i] * w
			}
		}
	}
}

// plain copies the values of out, which a function of the rule computed from constants, to dst. A
// traced number among them is an error.
func (c *ruleCall) plain(dst []float64, out []Real, what string) {
	for i, a := range out {
		switch {
		case a.id != 0:
			panic(core.Abort{Err: fmt.Errorf("nabla: rule %s.%s: output %d: %w", c.r.Name, what, i, ErrForeignReal)})
		}
		dst[i] = a.v
	}
}

func constants(x []float64) []Real {
	out := make([]Real, len(x))
	for i, v := range x {
		out[i].v = v
	}
	return out
}

func poisoned(n int) []Real {
	out := make([]Real, n)
	for i := range out {
		out[i] = real(core.Poison())
	}
	return out
}

func (c *ruleCall) exact() bool { return c.r.JVPReal != nil || c.r.VJPReal != nil }

func (c *ruleCall) Tangent(n int) core.Custom {
	if !c.exact() {
		return &tangentRule{c, n}
	}
	return c.tangent(n).form(c.r.Pure)
}

func (c *ruleCall) Cotangent(n int) core.Custom {
	m := c.Outputs(n)
	if !c.exact() {
		return &cotangentRule{c, n, m}
	}
	return c.cotangent(n, m).form(c.r.Pure)
}

// tangent returns the rule (x, v) ↦ J(x)·v over Reals.
func (c *ruleCall) tangent(n int) *realRule {
	m := c.Outputs(n)
	return &realRule{
		name: "tangent of " + c.r.Name, n: 2 * n, m: m, value: (&tangentRule{c, n}).Value,
		structure: func() ([][]int, bool) { return tangentStructure(c, n) },
		over: func(ydot, xv []core.Rep) {
			x, v := xv[:n:n], xv[n:]
			c.push(ydot, x, core.Call(c.form(), x), v)
		},
	}
}

// push writes J(x)·v to ydot, over Reals. y is the value at x.
func (c *ruleCall) push(ydot, x, y, v []core.Rep) {
	if c.r.JVPReal != nil {
		c.jvpReal(ydot, x, y, v)
		return
	}
	// Jᵀ·w is linear in w: J·v is its derivative with respect to w, transposed.
	linear := &realRule{n: len(y), m: len(x), over: func(xbar, w []core.Rep) { c.vjpReal(xbar, x, y, w) }}
	copy(ydot, linear.pullback(ones(len(y)), v))
}

// pull writes J(x)ᵀ·w to xbar, over Reals. y is the value at x.
func (c *ruleCall) pull(xbar, x, y, w []core.Rep) {
	if c.r.VJPReal != nil {
		c.vjpReal(xbar, x, y, w)
		return
	}
	linear := &realRule{n: len(x), m: len(y), over: func(ydot, v []core.Rep) { c.jvpReal(ydot, x, y, v) }}
	copy(xbar, linear.pullback(ones(len(x)), w))
	c.dropReal(xbar)
}

// cotangent returns the rule (x, w) ↦ J(x)ᵀ·w over Reals.
func (c *ruleCall) cotangent(n, m int) *realRule {
	return &realRule{
		name: "cotangent of " + c.r.Name, n: n + m, m: n, value: (&cotangentRule{c, n, m}).Value,
		of:        c.kept(),
		structure: func() ([][]int, bool) { return cotangentStructure(c, n) },
		over: func(xbar, xw []core.Rep) {
			x, w := xw[:n:n], xw[n:]
			c.pull(xbar, x, core.Call(c.form(), x), w)
		},
	}
}

// jvpReal writes J(x)·v to ydot.
func (c *ruleCall) jvpReal(ydot, x, y, v []core.Rep) {
	for i := range ydot {
		ydot[i] = core.Poison()
	}
	c.callReal("JVPReal", c.r.JVPReal, ydot, x, y, v)
}

// vjpReal writes J(x)ᵀ·w to xbar.
func (c *ruleCall) vjpReal(xbar, x, y, w []core.Rep) {
	clear(xbar)
	c.callReal("VJPReal", c.r.VJPReal, xbar, x, y, w)
	c.dropReal(xbar)
}

// ones returns k ones, as a point at which to differentiate a linear map. The derivative of such a
// map is the same everywhere.
func ones(k int) []core.Rep {
	out := make([]core.Rep, k)
	for i := range out {
		out[i].V = 1
	}
	return out
}
