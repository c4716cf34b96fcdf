package engine

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/internal/vector"
	"github.com/nabla-ad/nabla/program"
)

// Derive returns the program to run for a recorded program p, whose input group 0 is x and whose output group 0 is the
// value. With strong set the result represents structural zeros as -0; see package program.
type Derive func(p *program.Program, strong bool) *program.Program

// A Compiled evaluates programs that are derived from recordings of a function. It keeps one program per recorded
// branch, those of the 8 branches used last, and records again if none applies: a guard failed, an opaque field of the
// bound struct changed, or a [Comparison] detected that captured data changed.
type Compiled struct {
	f       *Function
	derive  Derive
	limit   int
	alone   bool      // the derived programs do not compute the value
	nan     int       // the last output group whose NaNs require the strong program
	known   []*branch // recorded branches, the most recently used one first
	records int
	recent  float64   // moving sum of recordings per run, over about the last ten runs
	frozen  []byte    // snapshot of the bound struct in the current run
	params  []float64 // parameters of the bound struct, for comparisons
	seeded  []float64 // x with structural zeros
	into    []float64 // where output group of the next run is to be, unless nil
	group   int
	compare *Comparison
	stale   error // *StaleError of a recording that was dropped in the current run, or nil
}

// branch is one recorded path through the function and its derived programs.
type branch struct {
	id     uint64
	base   *program.Program
	atNaN  bool   // recorded at a point where the strong program of the previous recording gave a NaN
	frozen []byte // snapshot of the bound struct when it was recorded
	plain  *program.Machine
	strong *program.Machine // structural zeros as -0; nil until it is needed
	seen   *Compared
	call   int // number of the call in which it was last compared, recorded or run
}

// maxBranches bounds the memory of a function that takes another branch at every call. Beyond it the least recently
// used program is dropped.
const maxBranches = 8

// NewCompiled records f at x, with at most limit operations (0 for DefaultLimit), and derives its program. nan is the
// index of the last output group that holds derivatives. The error is that of [Function.ProgramLimit].
func NewCompiled(f *Function, x []float64, nan, limit int, derive Derive) (*Compiled, error) {
	p, err := f.ProgramLimit(x, limit)
	if err != nil {
		return nil, err
	}
	return CompileRecorded(f, p, nan, limit, derive), nil
}

// CompileRecorded is NewCompiled for a program p that f.ProgramLimit has just returned.
func CompileRecorded(f *Function, p *program.Program, nan, limit int, derive Derive) *Compiled {
	c := &Compiled{f: f, derive: derive, limit: limit, nan: nan, compare: NewComparison(f)}
	c.keep(p)
	return c
}

// Alone declares that output group 0 of the derived programs is empty: they do not compute the value. It returns c.
func (c *Compiled) Alone() *Compiled {
	c.alone = true
	return c
}

// Recordings returns the number of times the function was recorded.
func (c *Compiled) Recordings() int { return c.records }

// Thrashing reports whether about half of the last ten runs recorded the function, so that deriving programs does not
// pay.
func (c *Compiled) Thrashing() bool { return c.recent > 4.5 }

// ForgetRecent resets the count that [Compiled.Thrashing] uses.
func (c *Compiled) ForgetRecent() { c.recent = 0 }

// Recorded returns the recorded program of the branch that ran last. The caller must not modify it.
func (c *Compiled) Recorded() *program.Program { return c.known[0].base }

// Function returns the function that c records.
func (c *Compiled) Function() *Function { return c.f }

// record records the function at x and adds the branch to c.
func (c *Compiled) record(x []float64) (*branch, error) {
	p, err := c.f.ProgramLimit(x, c.limit)
	if err != nil {
		return nil, err
	}
	return c.keep(p), nil
}

// keep derives the plain program of the recording p, and stores the branch as the most recently used one. If c is full,
// the least recently used branch is dropped.
func (c *Compiled) keep(p *program.Program) *branch {
	c.records++
	b := &branch{id: recordingIDs.Add(1), base: p, call: c.compare.schedule.Calls,
		plain: c.f.machine(c.derive(p, false))}
	b.seen = c.compare.Made(p)
	if ctx := c.f.def.Context; ctx != nil {
		b.frozen = ctx.Snapshot(nil)
	}
	if len(c.known) < maxBranches {
		c.known = append(c.known, nil)
	} else {
		c.drop(c.known[len(c.known)-1])
	}
	copy(c.known[1:], c.known)
	c.known[0] = b
	c.f.replays.recorded(b.id, c.records == 1)
	return b
}

// drop tells the comparison that b will not be replayed again. If results of b since its last comparison are known to
// be wrong, the error is stored in c.stale.
func (c *Compiled) drop(b *branch) {
	if err := c.compare.Drop(b.seen, bytes.Equal(b.frozen, c.frozen)); c.stale == nil {
		c.stale = err
	}
}

// broken drops all branches because b no longer agrees with the function, and returns the resulting *StaleError. The
// other branches may have recorded the same outdated data, so those that match the current bound struct are passed on
// as suspects.
func (c *Compiled) broken(b *branch) error {
	var others []*Compared
	for _, k := range c.known {
		if k == b {
			continue
		}
		if bytes.Equal(k.frozen, c.frozen) {
			others = append(others, k.seen)
		} else {
			c.drop(k)
		}
	}
	return c.compare.Broken(b.seen, others...)
}

// Into makes the next Run compute output group i in dst, if the program can, and returns c. Output writes it there in
// any case. It must not overlap the arguments of Run. A nil dst selects memory of the machine; an operator that calls
// Into calls it before every Run, since one that panics may leave dst selected.
func (c *Compiled) Into(i int, dst []float64) *Compiled {
	c.group, c.into = i, dst
	return c
}

// Run evaluates the derived program at x and returns the machine that holds the results, valid until the next Run. If
// extra is not empty it fills input group 1. The function is recorded if no branch applies, and evaluated once more if
// the comparison is due. Errors are those of the function, [ErrGuard] if the policy forbids recording, and
// *[StaleError] if earlier results may be wrong; in the latter case the recording has been replaced.
func (c *Compiled) Run(x []float64, extra Block) (*program.Machine, error) {
	if ctx := c.f.def.Context; ctx != nil {
		c.frozen = ctx.Snapshot(c.frozen[:0])
	}
	before := c.records
	due := c.compare.Due()
	c.stale = nil
	b, m, err := c.find(x, &extra)
	switch {
	case err != nil:
	case !due:
		c.compare.Skip(b.seen)
	case b.call != c.compare.schedule.Calls:
		b, m, err = c.verify(b, m, x, &extra)
	}
	c.recent = 0.9*c.recent + float64(c.records-before)
	if err == nil {
		if b.call = c.compare.schedule.Calls; m.AnyNaN(0, c.nan) {
			m, err = c.settle(b, x, &extra)
		}
		if err == nil {
			err = c.stale
		}
	}
	if c.into = nil; err != nil {
		return nil, err
	}
	return m, nil
}

// find runs the branches that match the bound struct, the most recently used one first, and returns the first whose
// guards hold. If there is none it records the function, or returns [ErrGuard] if the policy forbids that and a guard
// failed.
func (c *Compiled) find(x []float64, extra *Block) (*branch, *program.Machine, error) {
	failed := false
	for i, b := range c.known {
		if !bytes.Equal(b.frozen, c.frozen) {
			continue
		}
		if c.start(b.plain, x, extra).Run() {
			if i > 0 {
				copy(c.known[1:], c.known[:i])
				c.known[0] = b
			}
			c.f.replays.replayed(b.id)
			return b, b.plain, nil
		}
		failed = true
	}
	if failed && c.f.policy.FailOnGuard {
		return nil, nil,
			fmt.Errorf("nabla: function %s: %w; prepare at a point of this branch, or let nabla.Policy record again "+
				"(OnGuard: nabla.Retrace) (nabla.ErrGuard)", c.f.Name(), ErrGuard)
	}
	return c.again(x, extra)
}

// again records the function at x and runs the derived program. It returns [ErrGuard] if the guards fail at the very
// point of the recording.
func (c *Compiled) again(x []float64, extra *Block) (*branch, *program.Machine, error) {
	b, err := c.record(x)
	if err != nil {
		return nil, nil, err
	}
	if !c.start(b.plain, x, extra).Run() {
		return nil, nil,
			fmt.Errorf("nabla: function %s: the recording does not hold at the point where it was made; does the "+
				"function read a clock or random numbers?: %w (nabla.ErrGuard)", c.f.Name(), ErrGuard)
	}
	return b, b.plain, nil
}

// start writes x, extra and the parameters of the bound struct into the inputs of m and returns m.
func (c *Compiled) start(m *program.Machine, x []float64, extra *Block) *program.Machine {
	m.Borrow(x, c.group, c.into)
	if extra.N*extra.B > 0 {
		Block{N: extra.N, B: extra.B, Stride: extra.B, Data: m.Input(1)}.CopyFrom(*extra)
	}
	if ctx := c.f.def.Context; ctx != nil {
		ctx.Read(m.Params())
	}
	return m
}

// startStrong is start for a strong program: zeros of directions become structural zeros, in the last Def.Directions
// inputs and in extra.
func (c *Compiled) startStrong(m *program.Machine, x []float64, extra *Block) *program.Machine {
	// A custom rule would lose the derivative of a structural zero.
	if n := c.f.def.Directions; n > 0 && len(m.Program().Customs) == 0 {
		c.seeded = append(c.seeded[:0], x...)
		x = c.seeded
		for i := len(x) - n; i < len(x); i++ {
			x[i] = core.StrongSeed(x[i])
		}
	}
	if c.start(m, x, extra); extra.N*extra.B > 0 {
		in := m.Input(1)
		for i, v := range in {
			in[i] = core.StrongSeed(v)
		}
	}
	return m
}

// verify compares b, which m has just run, with the function, and so detects changes of captured data, which guards
// cannot. It returns the branch and machine to use. If the recording is wrong, all branches are dropped and the
// function is recorded again (unless the policy forbids it); the new recording must then agree with the function, since
// otherwise the function is not deterministic.
//
// If the comparison could only be made at x itself, where a change of the derivatives may not show, the function is
// recorded again and the two programs are compared.
func (c *Compiled) verify(b *branch, m *program.Machine, x []float64, extra *Block) (*branch, *program.Machine, error) {
	if ctx := c.f.def.Context; ctx != nil {
		n := ctx.Params()
		c.params = slices.Grow(c.params[:0], n)[:n]
		ctx.Read(c.params)
	}
	at := m
	if c.alone {
		at = nil
	}
	ok, err := c.compare.Agrees(b.seen, at, x, c.params)
	switch {
	case err != nil:
		return nil, nil, err
	case ok && !c.compare.Hidden():
		return b, m, nil
	case ok:
		old := b
		c.known = slices.DeleteFunc(c.known, func(k *branch) bool { return k == b })
		if b, m, err = c.again(x, extra); err == nil && c.compare.Changed(old.seen, b.base) {
			err = c.broken(old)
			c.known = append(c.known[:0], b)
		}
		return b, m, err
	}
	stale := c.broken(b)
	if c.f.policy.FailOnGuard {
		return nil, nil, stale
	}
	clear(c.known)
	c.known = c.known[:0]
	if b, m, err = c.again(x, extra); err != nil {
		return nil, nil, err
	}
	if ok, err = c.compare.Confirms(b.seen, x, c.params); err != nil {
		return nil, nil, err
	}
	if !ok {
		got, want := c.compare.Values()
		return nil, nil,
			fmt.Errorf("nabla: function %s gave %v and then %v at one point: %w", c.f.Name(), want, got, ErrStale)
	}
	return b, m, stale
}

// settle replaces a result of b, which has NaNs, by that of the strong program. If NaNs remain, it records the branch
// again at x, at most once per branch: a derivative taken inside the function chooses between plain and strong
// arithmetic while it is recorded.
func (c *Compiled) settle(b *branch, x []float64, extra *Block) (*program.Machine, error) {
	m, err := c.runStrong(b, x, extra)
	from := 0
	if vector.AnyNaN(x) && !c.alone { // a NaN in x explains a NaN value
		from = 1
	}
	if err != nil || b.atNaN || c.f.policy.FailOnGuard || !m.AnyNaN(from, c.nan) {
		return m, err
	}
	c.drop(b)
	c.known = slices.DeleteFunc(c.known, func(k *branch) bool { return k == b }) // again adds its successor
	if b, m, err = c.again(x, extra); err != nil {
		return nil, err
	}
	b.atNaN = true
	if !m.AnyNaN(0, c.nan) {
		return m, nil
	}
	return c.runStrong(b, x, extra)
}

// runStrong runs the strong program of b at x and derives it first if needed. It returns [ErrGuard] if a guard fails.
func (c *Compiled) runStrong(b *branch, x []float64, extra *Block) (*program.Machine, error) {
	if b.strong == nil {
		base := b.base
		if c.f.def.Strong != nil {
			var err error
			if base, err = c.f.def.Strong(x, c.f.def.Context); err != nil {
				return nil, err
			}
		}
		b.strong = c.f.machine(c.derive(base, true))
	}
	if !c.startStrong(b.strong, x, extra).Run() {
		return nil, fmt.Errorf("nabla: function %s: %w (nabla.ErrGuard)", c.f.Name(), ErrGuard)
	}
	return b.strong, nil
}
