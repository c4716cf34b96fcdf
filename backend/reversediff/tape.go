package reversediff

import (
	"math"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/internal/vector"
	"github.com/nabla-ad/nabla/rules"
)

// A tape is a recording with the value of every number, which is swept in place. Its memory is reused by later calls.
type tape struct {
	f       *engine.Function
	t       *engine.Tracer
	xs, ys  []engine.Real
	adj     []float64 // by id
	out, in []float64
	rec     core.Recorded
	args    []uint32
	limit   int
}

func newTape(f *engine.Function, limit int) *tape {
	n, m := f.Dims()
	return &tape{
		f: f, t: new(engine.Tracer), limit: limit,
		xs: make([]engine.Real, n), ys: make([]engine.Real, m),
		out: make([]float64, m), in: make([]float64, n),
	}
}

// record runs f at x and keeps the recording.
func (r *tape) record(y, x []float64) error {
	err := r.f.Record(r.t, r.ys, r.xs, x, core.RecordOptions{Keep: true, Pullbacks: true, Limit: r.limit})
	defer r.t.Close()
	if err != nil {
		return err
	}
	for i, v := range r.ys {
		y[i] = v.V
	}
	r.rec = r.t.Recorded()
	return nil
}

// back sweeps back from one cotangent, again with structural zeros where a NaN
// came out.
func (r *tape) back(xbar, ybar []float64) {
	r.sweep(xbar, ybar, false)
	if vector.AnyNaN(xbar) {
		r.sweep(xbar, ybar, true)
	}
}

func (r *tape) sweep(xbar, ybar []float64, strong bool) {
	rec := &r.rec
	n := len(rec.Values)
	if cap(r.adj) < n {
		r.adj = make([]float64, n)
	}
	s := sweeper{rec: rec, adj: r.adj[:n], strong: strong, args: r.args[:0]}
	zero := 0.0
	if strong {
		zero = math.Copysign(0, -1)
	}
	for i := range s.adj {
		s.adj[i] = zero
	}
	for i, y := range r.ys {
		switch {
		case y.ID == 0:
		case strong: // a missing cotangent is a structural zero
			s.add(uint32(y.ID), core.StrongSeed(ybar[i]))
		default:
			s.add(uint32(y.ID), ybar[i])
		}
	}
	id := uint32(n)
	for c := len(rec.Chunks) - 1; c >= 0; c-- {
		chunk := rec.Chunks[c]
		for k := len(chunk) - 1; k >= 0; k-- {
			id--
			s.step(chunk, c, k, id)
		}
	}
	for i := range xbar {
		xbar[i] = s.adj[i+1] + 0 // a structural zero is written as -0
	}
	r.args = s.args
}

// A sweeper accumulates cotangents in a reverse sweep over the records.
type sweeper struct {
	rec    *core.Recorded
	adj    []float64
	strong bool
	args   []uint32
}

// value returns the value of an operand.
func (s *sweeper) value(a uint32) float64 {
	if a&core.ConstBit != 0 {
		return s.rec.Consts[a&^core.ConstBit]
	}
	return s.rec.Values[a]
}

// add adds a cotangent to an operand that is not a constant.
func (s *sweeper) add(a uint32, g float64) {
	if a&core.ConstBit == 0 {
		s.adj[a] += g
	}
}

// scaled returns g·p; in strong mode a product is never -0.
func (s *sweeper) scaled(g, p float64) float64 {
	if s.strong {
		return core.StrongMul(g, p)
	}
	return g * p
}

// step passes the cotangent of record k of chunk c on to its operands.
func (s *sweeper) step(chunk []core.Record, c, k int, id uint32) {
	r := chunk[k]
	g := s.adj[id]
	if s.strong && core.IsStructuralZero(g) && r.Op != core.OpCall {
		return
	}
	switch op := rules.Op(r.Op); {
	case r.Op == uint32(rules.Add):
		s.add(r.A, g)
		s.add(r.B, g)
	case r.Op == uint32(rules.Sub):
		s.add(r.A, g)
		s.add(r.B, s.scaled(g, -1))
	case r.Op == uint32(rules.Mul):
		if r.A&core.ConstBit == 0 {
			s.adj[r.A] += s.scaled(g, s.value(r.B))
		}
		if r.B&core.ConstBit == 0 {
			s.adj[r.B] += s.scaled(g, s.value(r.A))
		}
	case r.Op >= uint32(rules.NumOps):
		if r.Op == core.OpCall {
			s.call(c, k, id)
		}
	case op == rules.Select:
		third := s.before(c, k)
		if s.value(r.A) != 0 {
			s.add(r.B, g)
		} else {
			s.add(third.A, g)
		}
	case op == rules.FMA:
		third := s.before(c, k)
		s.add(r.A, s.scaled(g, s.value(r.B)))
		s.add(r.B, s.scaled(g, s.value(r.A)))
		s.add(third.A, g)
	case op.Choice():
		if rules.Chosen(op, s.value(r.A), s.value(r.B)) == 0 {
			s.add(r.A, g)
		} else {
			s.add(r.B, g)
		}
	case arity[op] == 1:
		if partials[op][0] {
			s.unary(op, r, g, s.rec.Values[id])
		}
	default:
		s.binary(op, r, g, s.rec.Values[id])
	}
}

func (s *sweeper) binary(op rules.Op, r core.Record, g, v float64) {
	a := r.A&core.ConstBit == 0 && partials[op][0]
	b := r.B&core.ConstBit == 0 && partials[op][1]
	x, y := s.value(r.A), s.value(r.B)
	if op.Strong() && core.IsStructuralZero(x) {
		b = false // it is zero wherever y moves, too
	}
	switch {
	case a && b:
		pa, pb := rules.Partials2(op, x, y, v)
		s.adj[r.A] += s.partial(op, 0, g, x, y, v, pa)
		s.adj[r.B] += s.partial(op, 1, g, x, y, v, pb)
	case a:
		s.adj[r.A] += s.partial(op, 0, g, x, y, v, rules.PartialX2(op, x, y, v))
	case b:
		s.adj[r.B] += s.partial(op, 1, g, x, y, v, rules.PartialY2(op, x, y, v))
	}
}

func (s *sweeper) unary(op rules.Op, r core.Record, g, v float64) {
	x := s.value(r.A)
	p := rules.Partial1(op, x, v)
	if rules.Extreme(op, 0, p) {
		f := rules.Factors1(op, x, v)
		s.add(r.A, s.times(g, &f))
		return
	}
	s.add(r.A, s.scaled(g, p))
}

// partial returns g times p, the partial derivative of v = op(x, y) with respect to argument i, or g times the factors
// of p if p is extreme.
func (s *sweeper) partial(op rules.Op, i int, g, x, y, v, p float64) float64 {
	if rules.Extreme(op, i, p) {
		f := rules.Factors2(op, i, x, y, v)
		return s.times(g, &f)
	}
	return s.scaled(g, p)
}

// times returns g times the product of factors; in strong mode g must not be a structural zero.
func (s *sweeper) times(g float64, f *rules.Factors) float64 {
	g = f.Times(g)
	if s.strong {
		g += 0
	}
	return g
}

// before returns the record before record k of chunk c.
func (s *sweeper) before(c, k int) core.Record {
	if k > 0 {
		return s.rec.Chunks[c][k-1]
	}
	prev := s.rec.Chunks[c-1]
	return prev[len(prev)-1]
}

// call propagates the cotangents of the outputs of a custom rule, which follow the record, to its arguments, which
// precede it.
func (s *sweeper) call(c, k int, id uint32) {
	r := s.rec.Chunks[c][k]
	rule, n := s.rec.Customs[r.A], int(r.B)
	m := rule.Outputs(n)
	args := s.args[:0]
	for range n {
		k--
		for k < 0 {
			c--
			k = len(s.rec.Chunks[c]) - 1
		}
		args = append(args, s.rec.Chunks[c][k].A)
	}
	s.args = args
	buf := make([]float64, 2*n+2*m)
	x, xbar, y, ybar := buf[:n], buf[n:2*n], buf[2*n:2*n+m], buf[2*n+m:]
	reached := false
	for i := range m {
		g := s.adj[int(id)+1+i]
		reached = reached || g != 0 || s.strong && !core.IsStructuralZero(g)
		ybar[i] = g + 0
		y[i] = s.rec.Values[int(id)+1+i]
	}
	if !reached {
		return
	}
	for j := range x {
		x[n-1-j] = s.value(args[j])
	}
	if p := s.rec.Pullbacks[r.A]; p != nil {
		p.Pull(xbar, ybar)
	} else {
		rule.VJP(xbar, x, y, ybar)
	}
	for j, a := range args {
		s.add(a, xbar[n-1-j]+0)
	}
}

// arity and partials hold the number of operands of each operation and the operands with a partial derivative, from the
// table of rules, for look-ups without checks.
var arity, partials = func() (n [rules.NumOps]int, on [rules.NumOps][3]bool) {
	for op := rules.Invalid + 1; op < rules.NumOps; op++ {
		n[op] = op.Arity()
		for i := range n[op] {
			on[op][i] = rules.Partial(op, i) != nil
		}
	}
	return n, on
}()

type recordedPullback struct{ *tape }

func (p *recordedPullback) Pullback(y []float64, xbar engine.Block, x []float64, ybar engine.Block) error {
	if err := p.record(y, x); err != nil {
		return err
	}
	for k := range ybar.B {
		for i := range ybar.N {
			p.out[i] = ybar.Row(i)[k]
		}
		p.back(p.in, p.out)
		for i, v := range p.in {
			xbar.Row(i)[k] = v
		}
	}
	return nil
}

type recordedGradient struct{ *tape }

func (g *recordedGradient) ValueAndGradient(grad, x []float64) (float64, error) {
	if err := g.record(g.out, x); err != nil {
		return 0, err
	}
	value := g.out[0]
	g.out[0] = 1
	g.back(grad, g.out)
	return value, nil
}

// PrepareLinear implements engine.Lineariser. Transpose sweeps the recording that
// At made, or another one where the function may read something else by now; Apply
// replays the tangent of the program.
func (b Backend) PrepareLinear(f *engine.Function, x []float64) (engine.Linear, error) {
	push, err := engine.CompilePushforward(f, x, 1, b.Limit)
	if err != nil {
		return nil, err
	}
	n, m := f.Dims()
	return &linear{tape: newTape(f, b.limit()), push: push, around: engine.NewSurroundings(f), x: make([]float64, n),
		y: make([]float64, m)}, nil
}

type linear struct {
	*tape
	push   engine.Pushforward
	around *engine.Surroundings
	x, y   []float64
}

func (l *linear) Recordings() int {
	if r, ok := l.push.(engine.Recorder); ok {
		return r.Recordings()
	}
	return 0
}

func (l *linear) At(y, x []float64) error {
	copy(l.x, x)
	l.around.Keep()
	return l.record(y, x)
}

func (l *linear) Apply(ydot, xdot []float64) error {
	return l.push.Pushforward(l.y, engine.Column(ydot), l.x, engine.Column(xdot))
}

func (l *linear) Transpose(xbar, ybar []float64) error {
	if !l.around.Same() {
		if err := l.At(l.y, l.x); err != nil {
			return err
		}
	}
	l.back(xbar, ybar)
	return nil
}
