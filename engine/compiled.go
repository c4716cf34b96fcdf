package engine

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/program"
)

// Derive makes the program to run from a recorded one. Its input group 0 is x and
// its output group 0 the value; strong asks for structural zeros as -0.
type Derive func(p *program.Program, strong bool) *program.Program

// Compiled runs programs derived from a function in place of the function. It
// keeps one program for each branch of the function that was taken, up to a
// limit, and records again where no program fits: a guard failed, an opaque field
// of the bound struct changed, or a [Comparison] shows that captured data did.
type Compiled struct {
	f       *Function
	derive  Derive
	limit   int
	alone   bool // the derived programs do not give the value
	nan     int  // NaNs in the output groups up to this one ask for the strong program
	known   []*branch
	records int
	recent  float64 // recordings among the last ten or so runs
	frozen  []byte
	params  []float64
	compare *Comparison
	stale   error // of a recording that was dropped
}

// branch is one recorded path through the function.
type branch struct {
	id     uint64
	base   *program.Program
	atNaN  bool // recorded where a NaN came out
	frozen []byte
	plain  *program.Machine
	strong *program.Machine
	seen   *Compared
	call   int // the last call in which it was compared or recorded
}

// maxBranches bounds the memory of a function that takes another branch at every
// call; the least recently used program is dropped.
const maxBranches = 8

// NewCompiled records f at x and derives its program. nan is the last output group
// that holds derivatives.
func NewCompiled(f *Function, x []float64, nan, limit int, derive Derive) (*Compiled, error) {
	p, err := f.ProgramLimit(x, limit)
	if err != nil {
		return nil, err
	}
	return CompileRecorded(f, p, nan, limit, derive), nil
}

// CompileRecorded is NewCompiled of a program that f.ProgramLimit has just returned.
func CompileRecorded(f *Function, p *program.Program, nan, limit int, derive Derive) *Compiled {
	c := &Compiled{f: f, derive: derive, limit: limit, nan: nan, compare: NewComparison(f)}
	c.keep(p)
	return c
}

// Alone says that the derived programs do not give the value: output group 0 is empty.
func (c *Compiled) Alone() *Compiled {
	c.alone = true
	return c
}

// Recordings is how often the function was recorded.
func (c *Compiled) Recordings() int { return c.records }

// Thrashing reports whether about half of the last runs had to record: the function takes another branch at almost
// every call, and a program is not worth deriving.
func (c *Compiled) Thrashing() bool { return c.recent > 4.5 }

// ForgetRecent starts the count of [Compiled.Thrashing] again.
func (c *Compiled) ForgetRecent() { c.recent = 0 }

// Recorded is the program that was recorded on the branch that ran last.
func (c *Compiled) Recorded() *program.Program { return c.known[0].base }

// Function is the function that is run.
func (c *Compiled) Function() *Function { return c.f }

func (c *Compiled) record(x []float64) (*branch, error) {
	p, err := c.f.ProgramLimit(x, c.limit)
	if err != nil {
		return nil, err
	}
	return c.keep(p), nil
}

// keep derives the program of a recording and puts it in front of the others.
func (c *Compiled) keep(p *program.Program) *branch {
	c.records++
	b := &branch{id: recordingIDs.Add(1), base: p, call: c.compare.calls,
		plain: program.NewMachine(program.Schedule(c.derive(p, false)))}
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

// drop says that the recording of b will not be replayed again.
func (c *Compiled) drop(b *branch) {
	if err := c.compare.Drop(b.seen, bytes.Equal(b.frozen, c.frozen)); c.stale == nil {
		c.stale = err
	}
}

// broken says that the recording of b is of old data, as those of all branches may be.
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

// Run executes the program at x, with extra filling the input group of that name
// after x, and returns the machine that holds the results.
func (c *Compiled) Run(x []float64, extra Block) (*program.Machine, error) {
	if ctx := c.f.def.Context; ctx != nil {
		c.frozen = ctx.Snapshot(c.frozen[:0])
		if n := ctx.Params(); cap(c.params) < n {
			c.params = make([]float64, n)
		} else {
			c.params = c.params[:n]
		}
		c.params = c.params[:ctx.Params()]
		ctx.Read(c.params)
	}
	before := c.records
	due := c.compare.Due()
	c.stale = nil
	b, m, err := c.find(x, extra)
	switch {
	case err != nil:
	case !due:
		c.compare.Skip(b.seen)
	case b.call != c.compare.calls:
		b, m, err = c.verify(b, m, x, extra)
	}
	c.recent = 0.9*c.recent + float64(c.records-before)
	if err != nil {
		return nil, err
	}
	b.call = c.compare.calls
	if m, err = c.settle(b, m, x, extra); err == nil {
		err = c.stale
	}
	return m, err
}

// find runs the most recently used program that fits.
func (c *Compiled) find(x []float64, extra Block) (*branch, *program.Machine, error) {
	failed := false
	for i, b := range c.known {
		if !bytes.Equal(b.frozen, c.frozen) {
			continue
		}
		if c.start(b.plain, x, extra, false).Run() {
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
				"(OnGuard: nabla.Retrace)", c.f.Name(), ErrGuard)
	}
	return c.again(x, extra)
}

// again records at x and runs what comes out.
func (c *Compiled) again(x []float64, extra Block) (*branch, *program.Machine, error) {
	b, err := c.record(x)
	if err != nil {
		return nil, nil, err
	}
	if !c.start(b.plain, x, extra, false).Run() {
		return nil, nil,
			fmt.Errorf("nabla: function %s: the recording does not hold at the point where it was made; does the "+
				"function read a clock or random numbers?: %w", c.f.Name(), ErrGuard)
	}
	return b, b.plain, nil
}

func (c *Compiled) start(m *program.Machine, x []float64, extra Block, strong bool) *program.Machine {
	in := m.Input(0)
	copy(in, x)
	if strong && len(m.Program().Customs) == 0 { // the derivative in the direction would be lost in a custom rule
		for i := len(in) - c.f.def.Directions; i < len(in); i++ {
			in[i] = core.StrongSeed(in[i])
		}
	}
	if extra.N*extra.B > 0 {
		dst := m.Input(1)
		for i := range extra.N {
			row := dst[i*extra.B : (i+1)*extra.B]
			copy(row, extra.Row(i))
			if strong {
				for j, v := range row {
					row[j] = core.StrongSeed(v)
				}
			}
		}
	}
	copy(m.Params(), c.params)
	return m
}

// verify compares the recording of b, which m has just run, with the function. What
// guards cannot see, a variable that the function captures, shows here.
func (c *Compiled) verify(b *branch, m *program.Machine, x []float64, extra Block) (*branch, *program.Machine, error) {
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

// settle runs the strong program where the plain one gave a NaN. If that gives one
// too, the function is recorded here, once for a branch: a derivative that it takes
// inside turns to structural zeros by what it meets while it is recorded.
func (c *Compiled) settle(b *branch, m *program.Machine, x []float64, extra Block) (*program.Machine, error) {
	if !c.anyNaN(m, 0) {
		return m, nil
	}
	m, err := c.runStrong(b, x, extra)
	from := 0
	if core.AnyNaN(x) && !c.alone { // no wonder about the value
		from = 1
	}
	if err != nil || b.atNaN || c.f.policy.FailOnGuard || !c.anyNaN(m, from) {
		return m, err
	}
	c.drop(b)
	c.known = slices.DeleteFunc(c.known, func(k *branch) bool { return k == b }) // the new one takes its place
	if b, m, err = c.again(x, extra); err != nil {
		return nil, err
	}
	b.atNaN = true
	if !c.anyNaN(m, 0) {
		return m, nil
	}
	return c.runStrong(b, x, extra)
}

// anyNaN reports whether an output of m that asks for the strong program, of group
// from or a later one, is a NaN.
func (c *Compiled) anyNaN(m *program.Machine, from int) bool {
	for i := from; i <= c.nan; i++ {
		if m.OutputHasNaN(i) {
			return true
		}
	}
	return false
}

// runStrong runs the strong program of b.
func (c *Compiled) runStrong(b *branch, x []float64, extra Block) (*program.Machine, error) {
	if b.strong == nil {
		base := b.base
		if c.f.def.Strong != nil {
			var err error
			if base, err = c.f.def.Strong(x, c.f.def.Context); err != nil {
				return nil, err
			}
		}
		b.strong = program.NewMachine(program.Schedule(c.derive(base, true)))
	}
	if !c.start(b.strong, x, extra, true).Run() {
		return nil, fmt.Errorf("nabla: function %s: %w", c.f.Name(), ErrGuard)
	}
	return b.strong, nil
}
