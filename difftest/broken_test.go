package difftest_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/difftest"
	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/longtest"
	"github.com/nabla-ad/nabla/program"
)

// A broken is an engine with one mistake: it modifies the results of a correct engine.
type broken struct {
	name  string
	spoil func(s *brokenState, y []float64, xbar engine.Block, x []float64, ybar engine.Block)
}

// A brokenState is the state of one prepared object of a broken engine.
type brokenState struct {
	right  engine.Pullback
	calls  int
	before []float64 // xbar before the call
	kept   []float64
	heap   []byte
	spoil  func(s *brokenState, y []float64, xbar engine.Block, x []float64, ybar engine.Block)
}

func (b broken) Name() string { return b.name }

func (b broken) PreparePullback(f *engine.Function, x []float64, lanes int) (engine.Pullback, error) {
	p, err := reversediff.Backend{Compile: true}.PreparePullback(f, x, lanes)
	return &brokenState{right: p, spoil: b.spoil}, err
}

func (s *brokenState) Pullback(y []float64, xbar engine.Block, x []float64, ybar engine.Block) error {
	s.before = append(s.before[:0], xbar.Data...)
	err := s.right.Pullback(y, xbar, x, ybar)
	s.calls++
	if err == nil {
		s.spoil(s, y, xbar, x, ybar)
	}
	return err
}

// each calls f for all elements of b.
func each(b engine.Block, f func(i int, v *float64)) {
	for i := range b.N {
		for k := range b.B {
			at := i*b.Stride + k
			f(at, &b.Data[at])
		}
	}
}

var mistakes = []struct {
	broken
	check string // of the message that is expected
}{
	{broken{"wrong sign", func(_ *brokenState, _ []float64, xbar engine.Block, _ []float64, _ engine.Block) {
		each(xbar, func(_ int, v *float64) { *v = -*v })
	}}, "[unprepared] vec_to_vec/pullback/out/out on wrong sign: Pullback: the derivative is wrong"},

	{broken{"wrong sign of the second lane",
		func(_ *brokenState, _ []float64, xbar engine.Block, _ []float64, _ engine.Block) {
			for i := range xbar.N {
				if row := xbar.Row(i); len(row) > 1 {
					row[1] = -row[1]
				}
			}
		}}, "PullbackBatch(dst, x, (t, -t)): the derivative"},

	{broken{"stale", func(s *brokenState, _ []float64, xbar engine.Block, _ []float64, _ engine.Block) {
		if s.kept == nil {
			s.kept = append([]float64{}, xbar.Data...)
		}
		if len(s.kept) == len(xbar.Data) {
			copy(xbar.Data, s.kept)
		}
	}}, "[third point] vec_to_vec/pullback/"},

	{
		broken{
			"wrong on the second call",
			func(s *brokenState, _ []float64, xbar engine.Block, _ []float64, _ engine.Block) {
				if s.calls == 2 {
					each(xbar, func(_ int, v *float64) { *v *= 2 })
				}
			},
		},
		"[second call] vec_to_vec/pullback/",
	},

	{
		broken{
			"state from another point",
			func(s *brokenState, _ []float64, xbar engine.Block, x []float64, _ engine.Block) {
				s.kept = append(s.kept, x...)
				if s.calls == 4 {
					each(xbar, func(_ int, v *float64) { *v *= 2 })
				}
			},
		},
		"[back again] vec_to_vec/pullback/",
	},

	{broken{"accumulates", func(s *brokenState, _ []float64, xbar engine.Block, _ []float64, _ engine.Block) {
		each(xbar, func(i int, v *float64) { *v += s.before[i] })
	}}, "the derivative, in a given destination that was full of NaN, is wrong: number 0 is NaN"},

	{broken{"overwrites x", func(_ *brokenState, _ []float64, _ engine.Block, x []float64, _ engine.Block) {
		x[0]++
	}}, "[inputs] vec_to_vec/pullback/out/out on overwrites x: Pullback(dst, x, t): changed x"},

	{
		broken{
			"overwrites the cotangent",
			func(_ *brokenState, _ []float64, _ engine.Block, _ []float64, ybar engine.Block) {
				if ybar.B == 1 && ybar.N > 1 {
					ybar.Data[0] = 0
				}
			},
		},
		"[inputs] vec_to_vec/pullback/out/out on overwrites the cotangent: Pullback(dst, x, t): changed t",
	},

	{broken{"allocates", func(s *brokenState, _ []float64, _ engine.Block, _ []float64, _ engine.Block) {
		s.heap = make([]byte, 1000)
	}}, "[allocation] allocfree/copyto/pullback/in/in on allocates: Pullback(dst, x, t): 1 allocations in each call"},

	{broken{"last partial batch", func(_ *brokenState, _ []float64, xbar engine.Block, _ []float64, _ engine.Block) {
		const lanes = 4
		if k := xbar.B % lanes; k > 0 && xbar.B > lanes {
			for i := range xbar.N {
				row := xbar.Row(i)
				row[len(row)-1] = row[len(row)-k-1]
			}
		}
	}}, "PullbackBatch(dst, x, (t, -t, 2t, t/2, -4t)): the derivative"},

	{
		broken{
			"only the first output",
			func(s *brokenState, y []float64, xbar engine.Block, x []float64, ybar engine.Block) {
				first := engine.NewBlock(ybar.N, ybar.B)
				copy(first.Data[:ybar.B], ybar.Data[:ybar.B])
				if err := s.right.Pullback(y, xbar, x, first); err != nil {
					panic(err)
				}
			},
		},
		"[unprepared] vec_to_vec/jacobian/out/out on only the first output: Jacobian: the derivative is wrong",
	},

	{broken{"no value", func(_ *brokenState, y []float64, _ engine.Block, _ []float64, _ engine.Block) {
		y[0] = 0
	}}, "ValueAndPullback: the value is wrong"},

	{broken{"keeps the destination", func(s *brokenState, _ []float64, xbar engine.Block, _ []float64, _ engine.Block) {
		clear(s.kept)
		s.kept = xbar.Data
	}}, "[earlier] vec_to_vec/pullback/"},

	{broken{"writes beside", func(_ *brokenState, _ []float64, xbar engine.Block, _ []float64, _ engine.Block) {
		if xbar.Stride > xbar.B && len(xbar.Data) > xbar.B {
			xbar.Data[xbar.B] = 0
		}
	}}, "[destination] vec_to_vec/pullback/"},

	{broken{"NaN ignored", func(_ *brokenState, _ []float64, xbar engine.Block, _ []float64, _ engine.Block) {
		each(xbar, func(_ int, v *float64) {
			if math.IsNaN(*v) {
				*v = 0
			}
		})
	}}, "[unprepared] behaviour/nan/gradient/out on NaN ignored: Gradient: the derivative is wrong: number 0 is 0, " +
		"want NaN"},

	// Wrong after every preparation alike: only numbers from elsewhere tell.
	{
		broken{
			"wrong between whole numbers",
			func(_ *brokenState, _ []float64, xbar engine.Block, x []float64, _ engine.Block) {
				if len(x) > 0 && x[0] != math.Trunc(x[0]) {
					each(xbar, func(_ int, v *float64) { *v *= 2 })
				}
			},
		},
		"[third point] vec_to_vec/pullback/out/out on wrong between whole numbers: Pullback(nil, x, t): the " +
			"derivative is wrong",
	},

	{broken{"panics", func(_ *brokenState, _ []float64, xbar engine.Block, _ []float64, _ engine.Block) {
		if xbar.B == 5 {
			panic("five")
		}
	}}, "PullbackBatch(dst, x, (t, -t, 2t, t/2, -4t)): error: nabla: function Pullback panicked: five"},
}

// A recorder is a difftest.Reporter that stores the failures of the scenarios whose names begin with one of only.
type recorder struct {
	only   []string
	name   string
	failed *[]string
	skips  *[]string
}

func newRecorder(only ...string) recorder {
	return recorder{only: only, failed: new([]string), skips: new([]string)}
}

func (r recorder) Errorf(format string, args ...any) {
	*r.failed = append(*r.failed, fmt.Sprintf(format, args...))
}
func (r recorder) Skipf(format string, args ...any) {
	*r.skips = append(*r.skips, r.name+": "+fmt.Sprintf(format, args...))
}
func (r recorder) Run(name string, f func(difftest.Reporter)) {
	r.name = name
	if slices.ContainsFunc(r.only, func(s string) bool { return strings.HasPrefix(name, s) }) {
		f(r)
	}
}

// contains reports whether a message has s.
func contains(messages []string, s string) bool {
	for _, m := range messages {
		if strings.Contains(m, s) {
			return true
		}
	}
	return false
}

// TestBroken requires that the kit reports each broken engine, with the message for its mistake.
func TestBroken(t *testing.T) {
	for _, m := range longtest.Sample(mistakes, longtest.Cases(0, 5, len(mistakes), len(mistakes))) {
		t.Run(m.name, func(t *testing.T) {
			r := newRecorder("vec_to_vec", "allocfree/copyto", "behaviour/nan")
			difftest.Check(r, m.broken, &difftest.Options{AllocFree: true, NoModifiers: true, NoSecondOrder: true})
			if !contains(*r.failed, m.check) {
				t.Errorf("no message with %q among %d:\n%s", m.check, len(*r.failed),
					strings.Join(first(*r.failed, 12), "\n"))
			}
		})
	}
}

func first(s []string, n int) []string { return s[:min(n, len(s))] }

// TestUnbrokenPasses requires that the same engine without a mistake passes, without which TestBroken would prove
// nothing.
func TestUnbrokenPasses(t *testing.T) {
	elsewhere(t)
	b := broken{"none", func(*brokenState, []float64, engine.Block, []float64, engine.Block) {}}
	difftest.Run(t, b, &difftest.Options{AllocFree: true, NoModifiers: !longtest.Long()})
}

// A staleEngine replays its first recording even if the branch or the bound struct has changed.
type staleEngine struct{}

func (staleEngine) Name() string { return "frozen" }

func (staleEngine) PreparePushforward(f *engine.Function, x []float64, lanes int) (engine.Pushforward, error) {
	p, err := f.Program(x)
	if err != nil {
		return nil, err
	}
	m := program.NewMachine(program.JVP(p, program.JVPOptions{}))
	if c := f.Context(); c != nil {
		c.Read(m.Params())
	}
	return frozenMachine{m}, nil
}

type frozenMachine struct{ m *program.Machine }

func (f frozenMachine) Pushforward(y []float64, ydot engine.Block, x []float64, xdot engine.Block) error {
	column := make([]float64, ydot.N)
	copy(f.m.Input(0), x)
	for k := range xdot.B {
		for i := range xdot.N {
			f.m.Input(1)[i] = xdot.Row(i)[k]
		}
		f.m.Run()
		f.m.Output(0, y)
		f.m.Output(1, column)
		for i, v := range column {
			ydot.Row(i)[k] = v
		}
	}
	return nil
}

// A pusher is a correct engine in forward mode that modifies the tangents before and the products after the call.
type pusher struct {
	name   string
	before func(k *pusherState, xdot engine.Block)
	after  func(ydot engine.Block)
}

// A pusherState is the state of one prepared object of a pusher.
type pusherState struct {
	right engine.Pushforward
	b     *pusher
	sum   []float64
}

func (b *pusher) Name() string { return b.name }

func (b *pusher) PreparePushforward(f *engine.Function, x []float64, lanes int) (engine.Pushforward, error) {
	p, err := forwarddiff.Backend{}.PreparePushforward(f, x, lanes)
	return &pusherState{right: p, b: b}, err
}

func (k *pusherState) Pushforward(y []float64, ydot engine.Block, x []float64, xdot engine.Block) error {
	own := engine.NewBlock(xdot.N, xdot.B)
	for i := range xdot.N {
		copy(own.Row(i), xdot.Row(i))
	}
	if k.b.before != nil {
		k.b.before(k, own)
	}
	err := k.right.Pushforward(y, ydot, x, own)
	if err == nil && k.b.after != nil {
		k.b.after(ydot)
	}
	return err
}

var (
	// accumulating does not clear the tangents of the call before.
	accumulating = &pusher{name: "accumulating", before: func(k *pusherState, xdot engine.Block) {
		if len(k.sum) != len(xdot.Data) {
			k.sum = make([]float64, len(xdot.Data))
		}
		for i := range k.sum {
			k.sum[i] += xdot.Data[i]
			xdot.Data[i] = k.sum[i]
		}
	}}
	// lastLane forgets the last tangent of a batch that does not fill the lanes.
	lastLane = &pusher{name: "last lane", after: func(ydot engine.Block) {
		const lanes = 4
		if ydot.B > lanes && ydot.B%lanes != 0 {
			for i := range ydot.N {
				ydot.Row(i)[ydot.B-1] = 0
			}
		}
	}}
)

// oneSign is a correct engine but for the sign of its gradient.
type oneSign struct{ reversediff.Backend }

func (oneSign) Name() string { return "one sign" }

func (b oneSign) PrepareGradient(f *engine.Function, x []float64) (engine.Gradient, error) {
	g, err := b.Backend.PrepareGradient(f, x)
	return negated{g}, err
}

type negated struct{ engine.Gradient }

func (n negated) ValueAndGradient(grad, x []float64) (float64, error) {
	y, err := n.Gradient.ValueAndGradient(grad, x)
	for i := range grad {
		grad[i] = -grad[i]
	}
	return y, err
}

// resizes is a correct engine that does not notice a resize: it computes as many
// components as when it was first prepared.
type resizes struct {
	reversediff.Backend
	length *int
}

func (resizes) Name() string { return "resizes" }

func (b resizes) PrepareGradient(f *engine.Function, x []float64) (engine.Gradient, error) {
	g, err := b.Backend.PrepareGradient(f, x)
	if *b.length == 0 {
		*b.length = len(x)
	}
	return forgetful{g, *b.length}, err
}

type forgetful struct {
	engine.Gradient
	n int
}

func (g forgetful) ValueAndGradient(grad, x []float64) (float64, error) {
	y, err := g.Gradient.ValueAndGradient(grad, x)
	if len(grad) > g.n {
		clear(grad[g.n:])
	}
	return y, err
}

// secondOrderOnly is a correct engine whose Hessian-vector product is that of
// another matrix.
type secondOrderOnly struct{ reversediff.Backend }

func (secondOrderOnly) Name() string { return "second order" }

func (b secondOrderOnly) PrepareHVP(f *engine.Function, x []float64, lanes int) (engine.HVP, error) {
	h, err := b.Backend.PrepareHVP(f, x, lanes)
	return twiceHVP{h}, err
}

type twiceHVP struct{ engine.HVP }

func (h twiceHVP) ValueGradientAndHVP(grad []float64, hv engine.Block, x []float64, v engine.Block) (float64, error) {
	y, err := h.HVP.ValueGradientAndHVP(grad, hv, x, v)
	each(hv, func(_ int, v *float64) { *v *= 2 })
	return y, err
}

// linearised is a correct engine whose operator at a point transposes wrongly.
type linearised struct{ reversediff.Backend }

func (linearised) Name() string { return "linearised" }

func (b linearised) PrepareLinear(f *engine.Function, x []float64) (engine.Linear, error) {
	l, err := engine.PrepareLinear(b.Backend, f, x)
	return wrongTranspose{l}, err
}

type wrongTranspose struct{ engine.Linear }

func (l wrongTranspose) Transpose(xbar, ybar []float64) error {
	err := l.Linear.Transpose(xbar, ybar)
	for i := range xbar {
		xbar[i] = -xbar[i]
	}
	return err
}

// sharing is an engine whose prepared objects share memory: one is wrong after
// another was used.
type sharing struct {
	reversediff.Backend
	last *engine.Gradient
}

func (sharing) Name() string { return "sharing" }

func (b sharing) PrepareGradient(f *engine.Function, x []float64) (engine.Gradient, error) {
	g, err := b.Backend.PrepareGradient(f, x)
	s := &sharer{Gradient: g, last: b.last}
	*b.last = s
	return s, err
}

type sharer struct {
	engine.Gradient
	last *engine.Gradient
}

var sharerLock sync.Mutex // the mistake is not to be a data race

func (s *sharer) ValueAndGradient(grad, x []float64) (float64, error) {
	sharerLock.Lock()
	defer sharerLock.Unlock()
	y, err := s.Gradient.ValueAndGradient(grad, x)
	if *s.last != s {
		grad[0]++
	}
	*s.last = s
	return y, err
}

// late is an engine that refuses no function before it is called.
type late struct{}

func (late) Name() string { return "late" }

func (late) PreparePullback(f *engine.Function, x []float64, lanes int) (engine.Pullback, error) {
	p, _ := tape{}.PreparePullback(f, x, lanes)
	return p, nil
}

// TestBrokenOtherEngines is TestBroken for mistakes outside of pullbacks.
func TestBrokenOtherEngines(t *testing.T) {
	elsewhere(t)
	for _, c := range []struct {
		b     nabla.Backend
		check []string
	}{
		{staleEngine{}, []string{
			"[prepared] vec_to_vec/jacobian/in/in/constant on frozen: ",
			"[prepared] vec_to_vec/jacobian/in/in/structure on frozen: ",
			"[shared] vec_to_vec/pushforward/in/in/constant_or_cache on frozen: ",
			"[rebind] vec_to_vec/pushforward/in/in/constant on frozen: ",
			"[prepared] behaviour/branch/jacobian/out on frozen: ",
		}},
		{late{}, []string{
			"[misuse] misuse/blackbox/gradient on late: a function over float64 without code was prepared, and the " +
				"call gave",
		}},
		{linearised{reversediff.Backend{Compile: true}}, []string{
			"[same point] vec_to_vec/pullback/out/out on linearised: At(x), same product(nil, t): the derivative " +
				"is wrong",
			"[same point] vec_to_vec/pushforward/out/out on linearised: At(x), other product of unit vectors: the " +
				"derivative",
		}},
		{sharing{last: new(engine.Gradient)}, []string{
			"[clone] arr_to_num(vector)/gradient/out/out on sharing: Gradient(nil, x): the derivative is wrong",
		}},
		{accumulating, []string{
			"[second call] vec_to_vec/pushforward/out/out on accumulating: Pushforward(nil, x, t): the derivative " +
				"is wrong",
		}},
		{lastLane, []string{
			"[prepared] vec_to_vec/pushforward/out/out on last lane: PushforwardBatch(dst, x, (t, -t, 2t, t/2, " +
				"-4t)): the derivative",
		}},
		{oneSign{}, []string{
			"[prepared] arr_to_num(vector)/gradient/out/out on one sign: Gradient(nil, x): the derivative is wrong",
		}},
		{resizes{length: new(int)}, []string{
			"[resize] arr_to_num(vector)/gradient/out/out on resizes: Gradient(nil, x): the derivative is wrong",
		}},
		{secondOrderOnly{}, []string{
			"[unprepared] arr_to_num(vector)/hvp/out/out on second order: HVP: the second derivative is wrong",
			"HVPBatch(dst, x, (t, -t)): the second derivative",
		}},
	} {
		r := newRecorder("vec_to_vec/", "arr_to_num(vector)/hvp", "arr_to_num(vector)/gradient", "behaviour/branch/",
			"misuse/blackbox")
		difftest.Check(r, c.b, nil)
		for _, s := range c.check {
			if !contains(*r.failed, s) {
				t.Errorf("%s: no message with %q among %d:\n%s", c.b.Name(), s, len(*r.failed),
					strings.Join(first(*r.failed, 12), "\n"))
			}
		}
	}
}

// TestCatalogue counts the scenarios of DifferentiationInterfaceTest.jl, by operator.
func TestCatalogue(t *testing.T) {
	count := map[string]int{}
	for _, s := range difftest.Scenarios("") {
		count[s.Group]++
		if s.Group == "default" {
			count[s.Operator]++
		}
	}
	want := map[string]int{
		"default": 106, "sparse": 38, "empty": 5, "allocfree": 9,
		"pushforward": 31, "pullback": 29, "derivative": 9, "second_derivative": 5, "jacobian": 20, "gradient": 4,
		"hvp": 4, "hessian": 4,
	}
	for k, n := range want {
		if count[k] != n {
			t.Errorf("%d scenarios of %s, want %d", count[k], k, n)
		}
	}
	batches := 0
	for _, s := range difftest.Modify(difftest.Scenarios("default"), difftest.Batchify) {
		if len(s.Tangents) == 2 {
			batches++
		}
	}
	if batches != 64 {
		t.Errorf("%d scenarios have a batch, want 64", batches)
	}
}

// TestSkip requires that a skipped scenario is reported with its reason.
func TestSkip(t *testing.T) {
	r := newRecorder("vec_to_vec/")
	difftest.Check(r, mistakes[0].broken, &difftest.Options{
		Skip:        map[string]string{"vec_to_vec/pullback": "a sign is wrong"},
		NoModifiers: true, NoSecondOrder: true,
	})
	if !contains(*r.skips, "vec_to_vec/pullback/out/out: a sign is wrong") {
		t.Errorf("skips: %q", first(*r.skips, 12))
	}
	if contains(*r.failed, " vec_to_vec/pullback/") {
		t.Error("a skipped scenario was run")
	}
}
