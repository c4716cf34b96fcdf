package engine

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"unsafe"

	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/internal/recheck"
	"github.com/nabla-ad/nabla/program"
	"github.com/nabla-ad/nabla/rules"
)

// A Comparison tests whether recordings of a function still compute the function. Guards cannot detect a change of data
// that the function captures, which a recording holds as constants.
//
// Recording and function are compared at a random point near that of the call, because a change may leave the value at
// the point itself alone but not the derivatives there. This takes one evaluation of the function and one replay. If x
// is that of the last comparison, the replay is not repeated. If x moves and the function may capture data, most calls
// only compare the value at x, which the call computes anyway, and one in sixteen a point nearby. Values that may jump
// are compared at x too, since a jump does not show nearby. [Comparison.Due] chooses the calls that are compared.
type Comparison struct {
	f      *Function
	random uint64 // state of the generator of points
	at     []float64
	y      []float64 // outputs of the recording
	got    []float64 // the compared part of y
	want   []float64 // outputs of the function
	value  []float64 // the compared part of want
	differ disagreement

	// The calls of the prepared object.
	schedule recheck.Schedule
	call     uint64 // the mark of the current call; see Function.NewCall
	chosen   bool   // the current call is compared
	hidden   bool   // the last comparison near a point was made at the point itself
	lost     int    // the earliest open of dropped recordings that could not be judged, 0 if there is none
}

// Compared is a recording and the state of its comparisons.
type Compared struct {
	base  *program.Program
	value *program.Machine // computes the compared outputs, nil until it is needed
	near  int              // the call that recorded it or last compared it near the point
	open  int              // the first call since then that replayed it without, 0 if there is none
	fresh bool             // not compared near a point yet
	kink  bool             // nearby points are on its branch only if some coordinates stay
	jumps bool             // values may jump at x but not near it
	fixed bool             // values of numbers escape from the trace and must stay the same
	faint bool             // near the point some values are too small to differ, and at x they may not be

	// The last comparison near a point: x, the parameters, the point nearby and the outputs there.
	x, params, at, got []float64
	// The last point at which its value agreed with the function, since open.
	last []float64
}

// between is the largest number of calls of a recording between two comparisons near the point.
const between = 16

// NewComparison returns a Comparison for recordings of f.
func NewComparison(f *Function) *Comparison {
	n, m := f.Dims()
	k := f.comparedOutputs()
	c := &Comparison{f: f, at: make([]float64, n), y: make([]float64, m), want: make([]float64, m)}
	c.got = c.y[m-k:]
	return c
}

// Due reports whether the current call is compared: every call if the function may capture data, otherwise calls 1, 2,
// 4, 8, …; none if the policy forbids it.
func (c *Comparison) Due() bool {
	if mark := *c.f.call; mark == 0 || mark != c.call {
		c.call = mark
		c.schedule.Count()
		c.chosen = !c.f.policy.NoStaleCheck && (c.captures() || c.schedule.Due())
	}
	return c.chosen
}

// captures reports whether the function may read captured data that changes.
func (c *Comparison) captures() bool { return c.f.def.Captures && !c.f.policy.FixedCaptures }

// Made returns the state of p, recorded in the current call.
func (c *Comparison) Made(p *program.Program) *Compared {
	return &Compared{base: p, near: c.schedule.Calls, fresh: true, jumps: jumps(p), fixed: escapes(p),
		last: make([]float64, len(c.at))}
}

// escapes reports whether the function read values of numbers in p.
func escapes(p *program.Program) bool {
	return slices.ContainsFunc(p.Stmts, func(s program.Stmt) bool { return s.Op == program.GuardBits })
}

// jumps reports whether the outputs of p may be discontinuous: it has guards, custom rules that
// may jump, operations that jump, or powers with an exponent that is not constant.
func jumps(p *program.Program) bool {
	constant := make([]bool, p.Slots)
	for _, s := range p.Stmts {
		switch {
		case s.Op == program.Const:
			for l := range s.N {
				constant[s.D+l] = true
			}
		case s.Op == program.Op(rules.Pow):
			for l := range s.N {
				slot := s.B.Base + l*s.B.Stride
				if s.B.Stride == program.Gather {
					slot = p.Index[s.B.Base+l]
				}
				if !constant[slot] {
					return true
				}
			}
		case s.Op == program.Call:
			if _, known := p.Customs[s.K].(core.Continuous); !known {
				return true
			}
		case s.Op.Guard(), s.Op.Elementary() && rules.Op(s.Op).Jumps():
			return true
		}
	}
	return false
}

// Skip notes that r was replayed without a comparison.
func (c *Comparison) Skip(r *Compared) {
	if r.open == 0 && r.near != c.schedule.Calls {
		r.open = c.schedule.Calls
	}
}

// Drop notes that r will not be replayed again. It returns a *[StaleError] if results of r since its last comparison
// are known to be wrong, since no later comparison can detect it. same reports that the bound struct has not changed
// since r was made.
func (c *Comparison) Drop(r *Compared, same bool) error {
	open := r.open
	if wrong, known := c.judge(r, same); !known {
		c.lost = earlier(c.lost, open)
		return nil
	} else if !wrong {
		return nil
	}
	return c.broken(open)
}

// Broken notes that a comparison of r failed. All recordings, r and others, are dropped. It returns a *[StaleError] if
// results of earlier calls may be wrong or the policy forbids recording again, and nil if a new recording suffices.
func (c *Comparison) Broken(r *Compared, others ...*Compared) error {
	first := c.lost
	for _, o := range append(others, r) {
		if wrong, known := c.judge(o, true); wrong || !known {
			first = earlier(first, o.open)
		}
	}
	c.lost = 0
	return c.broken(first)
}

// broken notes that a comparison failed and returns the error of Broken. Results since call first may be wrong; 0 means
// none.
func (c *Comparison) broken(first int) error {
	c.schedule.Failed = true
	e := &StaleError{Function: c.f.Name(), values: c.captures()}
	if first > 0 {
		e.Unchecked = c.schedule.Calls - first
	}
	if e.Unchecked > 0 || c.f.policy.FailOnGuard {
		return e
	}
	return nil
}

// earlier returns the earlier of two calls, where 0 means none.
func earlier(a, b int) int {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// judge reports whether results of r since r.open are wrong, and whether that is known. The value of the last of these
// calls agreed with the function. If the function has another value there now, the data changed after that call, and
// the results are right. If it has the same value, r is compared near that point: results are right if they agree. This
// assumes that the data changed once.
func (c *Comparison) judge(r *Compared, same bool) (wrong, known bool) {
	switch {
	case r.open == 0 || r.open == c.schedule.Calls:
		return false, true
	case !same || !c.captures():
		return false, false
	}
	n, k := len(c.y), len(c.got)
	now := *c // a copy, as Confirms needs the point and the values of the failed comparison
	now.at, now.y, now.want = slices.Clone(r.last), make([]float64, n), make([]float64, n)
	now.got = now.y[n-k:]
	var params []float64
	if ctx := c.f.def.Context; ctx != nil {
		params = make([]float64, ctx.Params())
		ctx.Read(params)
	}
	if !now.replays(r, params) {
		return false, false
	}
	var err error
	if now.value, err = c.f.comparable(now.want, now.at); err != nil {
		return false, false
	}
	if !now.agree(now.at) {
		return false, true
	}
	old := *r // a copy, which nearby modifies
	old.x, old.params, old.at, old.got = nil, nil, nil, nil
	ok, err := now.nearby(&old, r.last, params)
	return !ok, err == nil && !now.hidden
}

// machine returns a machine for the k compared outputs of the recording, which is one of f.
func (r *Compared) machine(f *Function, k int) *program.Machine {
	if r.value == nil {
		q := program.Join(r.base, "y", 0)
		q.Outs[0].N, q.Result = k, q.Result[len(q.Result)-k:]
		r.value = f.machine(program.Simplify(q))
	}
	return r.value
}

// Agrees reports whether r, a recording of the branch at x, computes the function. m has run it at x and has all
// outputs of the function in its group 0; it is nil if no machine has. params are the parameters of the function.
// Agrees evaluates the function once, twice if values may jump, and more often if it panics near x or the values
// differ.
func (c *Comparison) Agrees(r *Compared, m *program.Machine, x, params []float64) (ok bool, err error) {
	c.hidden = false
	near := m == nil || c.schedule.Failed || !c.captures() || r.fresh || r.kink || c.schedule.PowerOfTwo() ||
		c.schedule.Calls-r.near >= between
	known := !near && r.same(x, params)
	if known {
		if c.value, err = c.f.comparable(c.want, r.at); err == nil {
			copy(c.got, r.got)
			near = !c.agree(r.at) // a custom rule may return another value by now, and so does a replay
		} else if near = true; !leftDomain(err) {
			return false, err
		}
		if known = !near; known && !r.jumps && !r.faint {
			r.near, r.open = c.schedule.Calls, 0
			return true, nil
		}
	}
	copy(c.at, x)
	switch {
	case near && !r.jumps:
		if ok, err := c.nearby(r, x, params); !ok || err != nil || !r.faint || c.hidden {
			return ok, err
		}
		if copy(c.at, x); !c.replays(r, params) {
			return false, nil
		}
		c.value, err = c.f.comparable(c.want, x)
		return err == nil && c.agree(x), err
	case m != nil:
		m.Output(0, c.y)
	case !c.replays(r, params):
		return false, nil
	}
	if c.value, err = c.f.comparable(c.want, x); err != nil || !c.agree(x) {
		return false, err
	}
	switch {
	case !finite(c.got): // many changes leave an infinite value or a NaN alone
	case known:
		r.near, r.open = c.schedule.Calls, 0
		return true, nil
	case !near:
		c.Skip(r)
		copy(r.last, x)
		return true, nil
	}
	return c.nearby(r, x, params)
}

// nearby compares r with the function at a new random point near x. If no point in which all coordinates differ is on
// the branch, it compares at several in which some do. If none of them reaches the branch either, it compares at x
// alone and sets c.hidden.
func (c *Comparison) nearby(r *Compared, x, params []float64) (ok bool, err error) {
	r.kink = false
	// A change may be visible on one side of a tie only, or only if the tie is kept.
	side, even := 1-2*float64(c.random>>63), c.random>>62&1 != 0
	for _, size := range []float64{0x1p-8, 0x1p-16, -0x1p-8, -0x1p-16} {
		for range 2 {
			if !c.near(x, side*size, even, -1, 0) {
				continue
			}
			if reached, ok, err := c.there(r, params); err != nil || !ok {
				return false, err
			} else if reached {
				c.compared(r, x, params)
				return true, nil
			}
			even = !even
		}
	}
	stay := slices.Repeat([]bool{true}, len(x)) // the coordinates that no point has changed
	left := len(x)
	for try := range 6 {
		if !c.near(x, 0x1p-8, false, try/2, try%2) {
			continue
		}
		reached, ok, err := c.there(r, params)
		if err != nil || !ok {
			return false, err
		}
		if !reached {
			continue
		}
		for i, v := range x {
			if stay[i] && c.at[i] != v {
				stay[i] = false
				left--
			}
		}
		if left == 0 || r.fixed {
			c.compared(r, x, params)
			r.kink = true
			return true, nil
		}
	}
	c.hidden = true
	copy(c.at, x)
	if !c.replays(r, params) {
		return false, nil
	}
	c.value, err = c.f.comparable(c.want, c.at)
	return err == nil && c.agree(c.at), err
}

// there compares at c.at. It does not reach the point if that is on another branch, if the values there are not finite
// or if the function panics or returns an error.
func (c *Comparison) there(r *Compared, params []float64) (reached, ok bool, err error) {
	if !c.replays(r, params) || !finite(c.got) {
		return false, true, nil
	}
	if c.value, err = c.f.comparable(c.want, c.at); leftDomain(err) {
		return false, true, nil
	}
	return true, err == nil && c.agree(c.at), err
}

// compared notes that the current call compared r near x, at c.at.
func (c *Comparison) compared(r *Compared, x, params []float64) {
	r.x, r.params = append(r.x[:0], x...), append(r.params[:0], params...)
	r.at, r.got = append(r.at[:0], c.at...), append(r.got[:0], c.got...)
	r.near, r.open, r.fresh = c.schedule.Calls, 0, false
	r.faint = slices.ContainsFunc(c.got, func(v float64) bool { return v != 0 && math.Abs(v) <= faintest })
}

// same reports whether x and params are those of the last comparison near a point, in which all coordinates differed.
func (r *Compared) same(x, params []float64) bool {
	return r.at != nil && !r.kink && sameBits(x, r.x) && sameBits(params, r.params)
}

// sameBits reports whether v and w are the same numbers, bit for bit.
func sameBits(v, w []float64) bool { return bytes.Equal(bitsOf(v), bitsOf(w)) }

func bitsOf(v []float64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), 8*len(v))
}

// leftDomain reports whether err is that of a function which panicked or returned an error, as outside of its domain.
func leftDomain(err error) bool {
	if err == nil {
		return false
	}
	var p *PanicError
	var r *ReturnedError
	return errors.As(err, &p) || errors.As(err, &r)
}

// Hidden reports whether the recording must be made again although Agrees returned true: recording and function could
// only be compared at x itself, where not every change of captured data is visible.
func (c *Comparison) Hidden() bool {
	return c.hidden && (c.schedule.Failed || c.captures()) && !c.f.policy.FailOnGuard
}

// Changed reports whether results of r may be wrong: r was replayed without a comparison since its last one, and p,
// recorded in place of r because of Hidden, is another program.
func (c *Comparison) Changed(r *Compared, p *program.Program) bool {
	return r.open > 0 && r.base.String() != p.String()
}

// Confirms reports whether r, recorded after Agrees returned false, computes the values of the function at that time.
func (c *Comparison) Confirms(r *Compared, x, params []float64) (bool, error) {
	if c.value != nil && c.replays(r, params) {
		return c.agree(c.at), nil
	}
	return c.nearby(r, x, params)
}

// Values returns the outputs of recording and function that did not agree.
func (c *Comparison) Values() (got, want []float64) { return c.got, c.value }

// replays stores the outputs of the recording at c.at in c.got. It reports whether c.at is on its branch and no custom
// rule panics there.
func (c *Comparison) replays(r *Compared, params []float64) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	value := r.machine(c.f, len(c.got))
	copy(value.Input(0), c.at)
	copy(value.Params(), params)
	if !value.Run() {
		return false
	}
	value.Output(0, c.got)
	return true
}

// near sets c.at to a random point near x and reports whether they differ. Coordinates change by a relative size
// between size/2 and size: towards 0 if it is positive, which leaves few domains, otherwise away from it. If even is
// set, all change by the same factor, so that equal coordinates stay equal. A coordinate 0 changes too, since the
// function may be a product with it. If bit is not negative, only coordinates change whose index has the bit number bit
// equal to set: functions may test numbers bit by bit.
func (c *Comparison) near(x []float64, size float64, even bool, bit, set int) (moved bool) {
	copy(c.at, x)
	r := c.next()
	for i, v := range x {
		if !even {
			if r >>= 16; i%4 == 0 {
				r = c.next()
			}
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

// next returns the next number of a SplitMix64 generator: G. L. Steele, D. Lea & C. H. Flood, "Fast splittable
// pseudorandom number generators", OOPSLA 2014.
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

// agree reports whether the values c.got of a replay at x are those of the function, c.value.
func (c *Comparison) agree(x []float64) bool { return c.differ.first(c.f, c.got, c.value, x) < 0 }
