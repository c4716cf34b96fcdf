package engine

import (
	"errors"
	"fmt"
	"math"

	"github.com/nabla-ad/nabla/program"
)

// A Comparison finds out whether a recording still computes what its function does.
// Guards cannot see data that the function captures. The two are evaluated near the
// point of a call and not at it: a change may leave the value at one point alone, and
// the derivatives there not.
type Comparison struct {
	f      *Function
	random uint64 // state of the generator of points
	at     []float64
	got    []float64 // values at that point, by the recording
	want   []float64 // and by the function
	value  []float64 // the part of want that is compared

	// The calls of the prepared object.
	call     uint64 // the mark of the call under way; see Function.NewCall
	calls    int
	compared int  // the number of the last call that was compared
	due      bool // the call under way is one to compare
	hidden   bool // the last comparison was made at the point alone
	gap      int  // calls before it that were not
	every    bool // a comparison failed: all calls are compared from then on
}

// NewComparison compares recordings of f.
func NewComparison(f *Function) *Comparison {
	n, m := f.Dims()
	return &Comparison{f: f, at: make([]float64, n), got: make([]float64, m), want: make([]float64, m)}
}

// Due reports whether the call under way is one to compare. Of a function that may
// capture data that is every call, of others one of 1, 2, 4, 8, ….
func (c *Comparison) Due() bool {
	if mark := *c.f.call; mark == 0 || mark != c.call {
		c.call = mark
		c.calls++
		captures := c.f.def.Captures && !c.f.policy.FixedCaptures
		c.due = !c.f.policy.NoStaleCheck && (captures || c.every || c.calls&(c.calls-1) == 0)
		if c.due {
			c.gap, c.compared = c.calls-1-c.compared, c.calls
		}
	}
	return c.due
}

// Broken says that a comparison failed. The error is for the user where an earlier
// call may have been wrong, or where policy forbids recording again; it is nil where
// a new recording makes all right.
func (c *Comparison) Broken() error {
	c.every = true
	if c.gap > 0 || c.f.policy.FailOnGuard {
		return &StaleError{Function: c.f.Name(), Unchecked: c.gap}
	}
	return nil
}

// ValueMachine is a machine for the values by which a recording p of f is compared.
func (c *Comparison) ValueMachine(p *program.Program) *program.Machine {
	q := program.Join(p, "y", 0)
	k := c.f.comparedOutputs()
	q.Outs[0].N, q.Result = k, q.Result[len(q.Result)-k:]
	return program.NewMachine(program.Schedule(program.Simplify(q)))
}

// points is how many points near x are tried, of which the recording may reach none by
// its branch or with finite values. The last one after them is x itself.
const points = 10

// Agrees reports whether value, made by ValueMachine, computes near x what the function
// does. params are the parameters of f. It evaluates f once, and again where f panics.
func (c *Comparison) Agrees(value *program.Machine, x, params []float64) (ok bool, err error) {
	c.hidden = false
	for try := range points {
		if !c.near(x, try) || !c.replays(value, params) || !finite(c.got[:c.f.comparedOutputs()]) {
			continue
		}
		if c.value, err = c.f.comparable(c.want, c.at); !isPanic(err) { // f need not be defined there
			return err == nil && c.agree(), err
		}
	}
	c.hidden = true
	copy(c.at, x)
	if !c.replays(value, params) {
		return false, nil
	}
	c.value, err = c.f.comparable(c.want, c.at)
	return err == nil && c.agree(), err
}

func isPanic(err error) bool {
	if err == nil {
		return false
	}
	var p *PanicError
	return errors.As(err, &p)
}

// Hidden reports whether the recording has to be made again though Agrees was true: the
// two could be compared at the point alone, which does not show every change of what the
// function captures.
func (c *Comparison) Hidden() bool {
	return c.hidden && (c.every || c.f.def.Captures && !c.f.policy.FixedCaptures) && !c.f.policy.FailOnGuard
}

// Confirms reports whether value, of a recording made after Agrees was false, computes
// what the function did then.
func (c *Comparison) Confirms(value *program.Machine, x, params []float64) (bool, error) {
	if c.value != nil && c.replays(value, params) {
		return c.agree(), nil
	}
	return c.Agrees(value, x, params)
}

// Values are what a recording and the function gave when they did not agree.
func (c *Comparison) Values() (got, want []float64) { return c.got[:len(c.value)], c.value }

// replays runs the recording at c.at. It is false where that is on another branch, or
// where a rule panics.
func (c *Comparison) replays(value *program.Machine, params []float64) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	copy(value.Input(0), c.at)
	copy(value.Params(), params)
	if !value.Run() {
		return false
	}
	value.Output(0, c.got)
	return true
}

// near sets c.at to the point number try near x, and reports whether it is another one.
// Numbers come nearer to 0 first, which leaves few domains, and go away from it then. A
// coordinate that is 0 moves, as f may be a product with it. The later points share some of the coordinates with x,
// for functions that look at them bit by bit: those whose index has a certain bit, or has
// it not.
func (c *Comparison) near(x []float64, try int) (moved bool) {
	copy(c.at, x)
	size, bit, set := 0x1p-8, -1, 0
	switch {
	case try == 1:
		size = 0x1p-16
	case try == 2 || try == 3:
		size = [2]float64{-0x1p-8, -0x1p-16}[try-2]
	case try >= 4:
		bit, set = (try-4)/2, (try-4)%2
	}
	r := uint64(0)
	for i, v := range x {
		if r >>= 16; i%4 == 0 {
			r = c.next()
		}
		if bit >= 0 && i>>bit&1 != set {
			continue
		}
		d := size * (0.5 + float64(r&0xffff)*0x1p-17) // between size/2 and size
		if moved = true; v == 0 {
			c.at[i] = d
		} else {
			c.at[i] = v - v*d
		}
	}
	return moved
}

// next is the next number of a generator: G. L. Steele, D. Lea & C. H. Flood, "Fast
// splittable pseudorandom number generators", OOPSLA 2014.
func (c *Comparison) next() uint64 {
	c.random += 0x9e3779b97f4a7c15
	z := c.random
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func finite(v []float64) bool {
	for _, x := range v {
		if x-x != 0 {
			return false
		}
	}
	return true
}

// agree compares values by a replay with the function's own. A function over Reals
// does the same operations in both, so that each output is compared by its own
// size; a plain one may fuse x·y+z, which is large beside a sum that cancels.
func (c *Comparison) agree() bool {
	scale := 0.0
	if c.f.def.Plain != nil {
		for _, v := range c.value {
			if a := math.Abs(v); a > scale && !math.IsInf(a, 1) {
				scale = a
			}
		}
	}
	for i, v := range c.value {
		g := c.got[i]
		if g == v || g != g && v != v {
			continue
		}
		if math.IsInf(v, 0) || !(math.Abs(g-v) <= agreement*max(scale, math.Abs(v))+1e-300) {
			return false
		}
	}
	return true
}

// StaleError says that a recording no longer computes what the function does: data that
// it captures has changed. It matches ErrStale.
type StaleError struct {
	Function string
	// Unchecked is how many calls before this one were not compared, and may have
	// returned results of the old data.
	Unchecked int
}

func (e *StaleError) Error() string {
	s := fmt.Sprintf("nabla: function %s: %v", e.Function, ErrStale)
	switch {
	case e.Unchecked == 1:
		s += "; the call before this one was not compared, and may be wrong"
	case e.Unchecked > 1:
		s += fmt.Sprintf("; the last %d calls were not compared, and may be wrong", e.Unchecked)
	}
	return s
}

// Is reports whether target is ErrStale.
func (e *StaleError) Is(target error) bool { return target == ErrStale }
