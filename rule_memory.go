package nabla

import (
	"fmt"
	"math"
	"sync"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/core"
)

// A rule never gets memory of an engine: it gets copies of its inputs, and its results are copied
// back. A rule that violates its contract is therefore the same error in every engine, and the
// engine's data stays valid.

// returned is the NaN that fills memory which a rule has given back. Results computed from it are
// NaNs with the same payload.
const returned = 0x7ff8_6b65_7074_0000

// A lent is memory for calls of one function of a rule by one goroutine. Its halves are used in
// turn: memory that the function keeps from one call is not that of the next one, and is checked in
// the call after it.
type lent struct {
	halves [2][]float64
	turn   int
}

// A lending holds the memory for calls of one function of a rule that is not in use.
type lending struct {
	mu   sync.Mutex
	free []*lent
}

// borrow returns memory for k numbers, in l.halves[l.turn], for a call of the rule's function with
// that name. It is an error if the rule has written to that half since it was given back.
func (c *ruleCall) borrow(what string, from *lending, k int) *lent {
	var l *lent
	from.mu.Lock()
	if n := len(from.free); n > 0 {
		l, from.free = from.free[n-1], from.free[:n-1]
	} else {
		l = new(lent)
	}
	from.mu.Unlock()
	l.turn = 1 - l.turn
	half := &l.halves[l.turn]
	for _, v := range *half {
		if math.Float64bits(v) != returned {
			c.broken(what, "keeps a slice that it was given, and writes to it after it has returned; copy the numbers")
		}
	}
	if cap(*half) < k {
		*half = make([]float64, k)
	}
	*half = (*half)[:k]
	return l
}

// giveBack fills the memory of a call with NaNs, so that a rule that has kept it computes with
// them, and returns it to the lending.
func (l *lent) giveBack(to *lending) {
	half := l.halves[l.turn]
	for i := range half {
		half[i] = math.Float64frombits(returned)
	}
	to.mu.Lock()
	to.free = append(to.free, l)
	to.mu.Unlock()
}

func (c *ruleCall) broken(what, does string) {
	panic(core.Abort{Err: &FuncError{Op: "Rule", Function: c.r.Name, Problem: what + " " + does}})
}

// A numbers is a function of a rule over plain numbers; d is empty for Value.
type numbers func(out, x, y, d []float64)

// call calls f with copies of its arguments. f writes to out or, if adds is set, adds to it.
// Unwritten outputs, modified inputs and the use of memory from earlier calls are errors.
func (c *ruleCall) call(what string, memory *lending, f numbers, adds bool, out, x, y, d []float64) {
	defer c.caught(what)
	l := c.borrow(what, memory, len(out)+len(x)+len(y)+len(d))
	rest := l.halves[l.turn]
	own := func(v []float64) []float64 { // a copy of v
		part := rest[:len(v):len(v)]
		rest = rest[len(v):]
		copy(part, v)
		return part
	}
	ownOut, ownX, ownY, ownD := own(out), own(x), own(y), own(d)
	if adds {
		for i := range ownOut { // -0 + v is v, also if v is a structural zero
			ownOut[i] = math.Copysign(0, -1)
		}
	} else {
		engine.Unwrite(ownOut)
	}
	f(ownOut, ownX, ownY, ownD)
	if adds {
		for _, j := range c.r.NoTangent {
			ownOut[j] = math.Copysign(0, -1)
		}
	}
	c.unchanged(what, "x", x, ownX)
	c.unchanged(what, "y", y, ownY)
	c.unchanged(what, "", d, ownD)
	if !adds {
		c.written(what, ownOut)
	}
	for i, v := range ownOut {
		if math.Float64bits(v)&^(1<<63) == returned {
			c.broken(what, "reads a slice that it has kept from an earlier call; copy the numbers")
		}
		if adds {
			v += out[i]
		}
		out[i] = v
	}
	l.giveBack(memory)
}

// directions maps the functions of a rule to the names of their last arguments.
var directions = map[string]string{"JVP": "xdot", "VJP": "ybar", "ValueJVP": "xdot", pullbackName: "ybar",
	"JVPReal": "xdot", "VJPReal": "ybar"}

// unchanged checks that a function of the rule has not modified an argument. The last argument is
// passed with an empty name.
func (c *ruleCall) unchanged(what, arg string, was, is []float64) {
	for i, v := range was {
		if math.Float64bits(v) != math.Float64bits(is[i]) {
			c.wrote(what, arg, i, v, is[i])
		}
	}
}

func (c *ruleCall) wrote(what, arg string, i int, was, is float64) {
	if arg == "" {
		arg = directions[what]
	}
	c.broken(what, fmt.Sprintf("writes to %s, which it may only read: element %d was %v and is %v; copy what is to "+
		"be changed",
		arg, i, was, is))
}

// callReal is like call, for a function over Reals. The elements of out are poisoned or zero.
func (c *ruleCall) callReal(what string, f func(out, x, y, d []Real), out, x, y, d []core.Rep) {
	defer c.caught(what)
	own := func(v []core.Rep) []core.Rep { return append(make([]core.Rep, 0, len(v)), v...) }
	ownOut, ownX, ownY, ownD := own(out), own(x), own(y), own(d)
	f(reals(ownOut), reals(ownX), reals(ownY), reals(ownD))
	for _, arg := range []struct {
		name    string
		was, is []core.Rep
	}{{"x", x, ownX}, {"y", y, ownY}, {"", d, ownD}} {
		for i, was := range arg.was {
			if is := arg.is[i]; is.ID != was.ID || is.T != was.T || math.Float64bits(is.V) != math.Float64bits(was.V) {
				c.wrote(what, arg.name, i, was.V, is.V)
			}
		}
	}
	for i, r := range ownOut {
		if r.Poisoned() {
			c.missing(what, i)
		}
	}
	copy(out, ownOut)
}

// Outputs returns the number of outputs for n inputs. It calls Out only if the number for n is not
// known yet.
func (c *ruleCall) Outputs(n int) int {
	c.mu.Lock()
	m, known := c.sizes[n]
	c.mu.Unlock()
	if !known {
		m = c.outputsNow(n)
	}
	return m
}

// outputsNow calls Out. It is an error if an earlier call with the same n returned another number.
func (c *ruleCall) outputsNow(n int) int {
	m := c.out(n)
	c.mu.Lock()
	defer c.mu.Unlock()
	if was, known := c.sizes[n]; known && was != m {
		abort(&FuncError{Op: "Rule", Function: c.r.Name, Problem: fmt.Sprintf(
			"Out(%d) was %d in an earlier call and is %d now; the number of outputs depends on that of inputs alone", n,
			was, m)})
	}
	if c.sizes == nil {
		c.sizes = map[int]int{}
	}
	c.sizes[n] = m
	return m
}

func (c *ruleCall) out(n int) int {
	if c.r.Out == nil {
		return 1
	}
	defer c.caught("Out")
	return c.r.Out(n)
}
