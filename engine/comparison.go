package engine

import (
	"bytes"
	"errors"
	"slices"
	"unsafe"

	"github.com/nabla-ad/nabla/program"
	"github.com/nabla-ad/nabla/rules"
)

// A Comparison finds out whether recordings of a function still compute what it does.
// Guards cannot see data that the function captures.
//
// The two are compared at a point near that of the call, since a change may leave the
// value at the point itself alone, and the derivatives there not. That takes a replay at
// this point, and where calls come often one can do without: where the last comparison was
// for the same x, the recording gives there what it gave then, and otherwise the value at x
// itself, which the call computes anyway, is compared in between. It is compared as well
// where it may jump, which values nearby do not show.
type Comparison struct {
	f      *Function
	random uint64 // state of the generator of points
	at     []float64
	y      []float64 // values by the recording
	got    []float64 // the part of y that is compared
	want   []float64 // and by the function
	value  []float64 // the part of want that is compared
	differ disagreement

	// The calls of the prepared object.
	schedule
	call   uint64 // the mark of the call under way; see Function.NewCall
	chosen bool   // the call under way is one to compare
	hidden bool   // the last comparison near a point was made at the point itself
	lost   int    // what open was of recordings that were dropped and could not be judged
}

// Compared is a recording with what is known of it.
type Compared struct {
	base  *program.Program
	value *program.Machine // nil until it is needed
	near  int              // the call at which it was made or last compared near the point
	open  int              // the first call after that at which it was replayed; 0 if there is none
	fresh bool             // it has not been compared near a point
	kink  bool             // points near the last one are on its branch only where some coordinates stay
	jumps bool             // values may jump, at x and not near it
	fixed bool             // numbers escape from the trace, and have to stay as they are

	// The last comparison near a point: x, parameters, the other point and the values there.
	x, params, at, got []float64
	// Where it last agreed with the function, since open.
	last []float64
}

// between is how many calls of a recording may come between two comparisons near the point.
const between = 16

// NewComparison compares recordings of f.
func NewComparison(f *Function) *Comparison {
	n, m := f.Dims()
	k := f.comparedOutputs()
	c := &Comparison{f: f, at: make([]float64, n), y: make([]float64, m), want: make([]float64, m)}
	c.got = c.y[m-k:]
	return c
}

// Due reports whether the call under way is one to compare. Of a function that may
// capture data that is every call, of others one of 1, 2, 4, 8, ….
func (c *Comparison) Due() bool {
	if mark := *c.f.call; mark == 0 || mark != c.call {
		c.call = mark
		c.count()
		c.chosen = !c.f.policy.NoStaleCheck && (c.captures() || c.schedule.due())
	}
	return c.chosen
}

// captures reports whether f may read data that changes.
func (c *Comparison) captures() bool { return c.f.def.Captures && !c.f.policy.FixedCaptures }

// Made is a recording p that was made in the call under way.
func (c *Comparison) Made(p *program.Program) *Compared {
	return &Compared{base: p, near: c.calls, fresh: true, jumps: jumps(p), fixed: escapes(p),
		last: make([]float64, len(c.at))}
}

// escapes reports whether numbers of p were taken from the trace.
func escapes(p *program.Program) bool {
	return slices.ContainsFunc(p.Stmts, func(s program.Stmt) bool { return s.Op == program.GuardBits })
}

// jumps reports whether the values of p may jump.
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
		case s.Op.Guard(), s.Op == program.Call, s.Op.Elementary() && rules.Op(s.Op).Jumps():
			return true
		}
	}
	return false
}

// Skip notes that r was replayed, and not compared.
func (c *Comparison) Skip(r *Compared) {
	if r.open == 0 && r.near != c.calls {
		r.open = c.calls
	}
}

// Drop says that r will not be replayed again. A change that the values of its calls did
// not show is an error now, as nobody will see it later. same says that the bound struct
// is as it was.
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

// Broken says that a comparison with r failed, and drops all recordings: others beside r.
// The error is for the user where an earlier call may have been wrong, or where policy
// forbids recording again; it is nil where a new recording makes all right.
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

// broken is Broken where calls since first may have been wrong, 0 for none.
func (c *Comparison) broken(first int) error {
	c.fail()
	e := &StaleError{Function: c.f.Name(), values: c.captures()}
	if first > 0 {
		e.Unchecked = c.calls - first
	}
	if e.Unchecked > 0 || c.f.policy.FailOnGuard {
		return e
	}
	return nil
}

// earlier is the earlier of two calls, of which 0 is none.
func earlier(a, b int) int {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// judge reports whether results of r may have been wrong since r.open. Where the function
// as it is now does not give the value of the last of these calls, which was right, the data
// has changed after it. That takes for granted that it changed once. Where it gives the
// value there and all else near that point, r is right still.
func (c *Comparison) judge(r *Compared, same bool) (wrong, known bool) {
	switch {
	case r.open == 0 || r.open == c.calls:
		return false, true
	case !same || !c.captures():
		return false, false
	}
	n, k := len(c.y), len(c.got)
	now := *c // Confirms wants the point and the values of the comparison that failed
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
	old := *r // which nearby would make another one
	old.x, old.params, old.at, old.got = nil, nil, nil, nil
	ok, err := now.nearby(&old, r.last, params)
	return !ok, err == nil && !now.hidden
}

// machine is a machine for the values by which the recording is compared.
func (r *Compared) machine(k int) *program.Machine {
	if r.value == nil {
		q := program.Join(r.base, "y", 0)
		q.Outs[0].N, q.Result = k, q.Result[len(q.Result)-k:]
		r.value = program.NewMachine(program.Schedule(program.Simplify(q)))
	}
	return r.value
}

// Agrees reports whether r, a recording of the branch at x, computes what the function
// does. m has run it at x, and has all outputs of f in its group 0; nil means that there is
// no such machine. params are the parameters of f. It evaluates f once where it compares
// at one point, twice where values may jump, and again where f panics near x or where they
// seem to differ.
func (c *Comparison) Agrees(r *Compared, m *program.Machine, x, params []float64) (ok bool, err error) {
	c.hidden = false
	near := m == nil || c.failed || !c.captures() || r.fresh || r.kink || c.powerOfTwo() || c.calls-r.near >= between
	known := !near && r.same(x, params)
	if known {
		if c.value, err = c.f.comparable(c.want, r.at); err == nil {
			copy(c.got, r.got)
			near = !c.agree(r.at) // a rule that is called may give something else by now: the recording does, too
		} else if near = true; !isPanic(err) {
			return false, err
		}
		if known = !near; known && !r.jumps {
			r.near, r.open = c.calls, 0
			return true, nil
		}
	}
	copy(c.at, x)
	switch {
	case near && !r.jumps:
		return c.nearby(r, x, params)
	case m != nil:
		m.Output(0, c.y)
	case !c.replays(r, params):
		return false, nil
	}
	if c.value, err = c.f.comparable(c.want, x); err != nil || !c.agree(x) {
		return false, err
	}
	switch {
	case !finite(c.got): // many changes leave it alone
	case known:
		r.near, r.open = c.calls, 0
		return true, nil
	case !near:
		c.Skip(r)
		copy(r.last, x)
		return true, nil
	}
	return c.nearby(r, x, params)
}

// nearby is Agrees at a point near x that has not been tried. Where none at which all
// coordinates are others is on the branch, points that have them by turns are taken.
func (c *Comparison) nearby(r *Compared, x, params []float64) (ok bool, err error) {
	r.kink = false
	// What one side of a tie hides the other may show, and so may points that keep it.
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
	stay := slices.Repeat([]bool{true}, len(x)) // the coordinates that no point had others of
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

// there compares the values at c.at, unless the recording does not reach it by its branch or
// with finite values, or f is not defined there.
func (c *Comparison) there(r *Compared, params []float64) (reached, ok bool, err error) {
	if !c.replays(r, params) || !finite(c.got) {
		return false, true, nil
	}
	if c.value, err = c.f.comparable(c.want, c.at); isPanic(err) {
		return false, true, nil
	}
	return true, err == nil && c.agree(c.at), err
}

// compared notes that the call under way has compared r near x.
func (c *Comparison) compared(r *Compared, x, params []float64) {
	r.x, r.params = append(r.x[:0], x...), append(r.params[:0], params...)
	r.at, r.got = append(r.at[:0], c.at...), append(r.got[:0], c.got...)
	r.near, r.open, r.fresh = c.calls, 0, false
}

// same reports whether x and params are those of the last comparison near a point at which
// all coordinates were others.
func (r *Compared) same(x, params []float64) bool {
	return r.at != nil && !r.kink && sameBits(x, r.x) && sameBits(params, r.params)
}

// sameBits reports whether v and w are the same numbers, the sign of 0 and NaN included.
func sameBits(v, w []float64) bool { return bytes.Equal(bitsOf(v), bitsOf(w)) }

func bitsOf(v []float64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), 8*len(v))
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
	return c.hidden && (c.failed || c.captures()) && !c.f.policy.FailOnGuard
}

// Changed reports whether p, recorded in place of r because that is Hidden, shows that r
// was of other data. It is asked where results may be of it; else nobody wants to know.
func (c *Comparison) Changed(r *Compared, p *program.Program) bool {
	return r.open > 0 && r.base.String() != p.String()
}

// Confirms reports whether r, made after Agrees was false, computes what the function did
// then.
func (c *Comparison) Confirms(r *Compared, x, params []float64) (bool, error) {
	if c.value != nil && c.replays(r, params) {
		return c.agree(c.at), nil
	}
	return c.nearby(r, x, params)
}

// Values are what a recording and the function gave when they did not agree.
func (c *Comparison) Values() (got, want []float64) { return c.got, c.value }

// replays runs the recording at c.at. It is false where that is on another branch, or
// where a rule panics.
func (c *Comparison) replays(r *Compared, params []float64) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	value := r.machine(len(c.got))
	copy(value.Input(0), c.at)
	copy(value.Params(), params)
	if !value.Run() {
		return false
	}
	value.Output(0, c.got)
	return true
}

// near sets c.at to a random point near x, and reports whether it is another one. By a
// positive size numbers come nearer to 0, which leaves few domains, and by a negative one
// they go away from it; all by one factor if even is set, so that equal ones stay equal. A
// coordinate that is 0 moves, as f may be a product with it. Where bit is not negative, only
// those move whose index has that bit, for set 1, or has it not: functions may look at
// numbers bit by bit.
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

// agree reports whether the values c.got of a replay at x are those of the function, c.value.
func (c *Comparison) agree(x []float64) bool { return c.differ.first(c.f, c.got, c.value, x) < 0 }
