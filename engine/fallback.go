package engine

import "fmt"

// This file and second.go prepare the operators that a backend does not implement, by the routes that explain.go
// selects.
//
// A product with a stored Jacobian treats zeros as structural: 0·Inf is 0; see axpy.

// unsupported returns the error for operator op on a backend that is neither a Pusher nor a Puller.
func unsupported(b Backend, op string) error {
	return &UnsupportedError{
		What:   fmt.Sprintf("backend %s has neither pushforward nor pullback, so no %s", b.Name(), op),
		Remedy: "implement engine.Pusher or engine.Puller",
	}
}

// defaultLanes is the width of vector mode for a backend without a preference.
const defaultLanes = 8

// LanesOf returns the number of directions per sweep on b if n are needed in all: the preference of b if it is a
// [Laner], otherwise at most 8, see [BatchSize], and at least 1 and at most n.
func LanesOf(b Backend, n int) int {
	k := BatchSize(n, defaultLanes)
	if l, ok := b.(Laner); ok {
		k = l.Lanes(n)
	}
	return max(1, min(k, n))
}

// HVPLanesOf returns the number of products with a Hessian that outer computes at a time, of n in all.
func HVPLanesOf(outer Backend, n int) int {
	if l, ok := outer.(HVPLaner); ok {
		return max(1, min(l.HVPLanes(n), n))
	}
	return LanesOf(outer, n)
}

// PreparePushforward prepares pushforwards of up to lanes tangents at a time on b, by its own method or by the fallback
// graph. On a backend without pushforwards each call takes one pullback per output, or, if b is a [Lineariser] and one
// batch of pullbacks does not cover the outputs, a linearisation. The error is an *[UnsupportedError] if b has neither
// mode.
func PreparePushforward(b Backend, f *Function, x []float64, lanes int) (Pushforward, error) {
	switch pushforwardRoute(b) {
	case native:
		return b.(Pusher).PreparePushforward(f, x, lanes)
	case noRoute:
		return nil, unsupported(b, "pushforward")
	}
	n, m := f.Dims()
	k := LanesOf(b, m)
	if l, ok := b.(Lineariser); ok && m > k {
		linear, err := l.PrepareLinear(f, x)
		if err != nil {
			return nil, err
		}
		return &pushByLinear{linear: linear, xdot: make([]float64, n), ydot: make([]float64, m)}, nil
	}
	pull, err := b.(Puller).PreparePullback(f, x, k)
	if err != nil {
		return nil, err
	}
	return &pushByPull{pull: pull, xbar: NewBlock(n, k), ybar: NewBlock(m, k), m: m}, nil
}

// pushByLinear is a Pushforward that linearises at the point of each call.
type pushByLinear struct {
	linear     Linear
	xdot, ydot []float64
}

func (p *pushByLinear) Recordings() int { return recordings(p.linear) }

func (p *pushByLinear) Pushforward(y []float64, ydot Block, x []float64, xdot Block) error {
	if err := p.linear.At(y, x); err != nil {
		return err
	}
	for k := range xdot.B {
		for i := range p.xdot {
			p.xdot[i] = xdot.Row(i)[k]
		}
		if err := p.linear.Apply(p.ydot, p.xdot); err != nil {
			return err
		}
		for i, d := range p.ydot {
			ydot.Row(i)[k] = d
		}
	}
	return nil
}

// pushByPull is a Pushforward that computes J by rows, by pullbacks of unit vectors, and multiplies it with the
// tangents.
type pushByPull struct {
	pull       Pullback
	xbar, ybar Block
	m          int
}

func (p *pushByPull) Recordings() int { return recordings(p.pull) }

func (p *pushByPull) Pushforward(y []float64, ydot Block, x []float64, xdot Block) error {
	if p.m == 0 {
		return nil
	}
	for first := 0; first < p.m; first += p.ybar.B {
		k := min(p.ybar.B, p.m-first)
		ybar, xbar := p.ybar.Cols(0, k), p.xbar.Cols(0, k)
		unitColumns(ybar, first)
		if err := p.pull.Pullback(y, xbar, x, ybar); err != nil {
			return err
		}
		for i := range k {
			row := ydot.Row(first + i)
			clear(row)
			for j := range xbar.N {
				axpy(row, xbar.Row(j)[i], xdot.Row(j))
			}
		}
	}
	return nil
}

// axpy adds a·x to y. A zero a or element of x counts as a structural zero, so that its product with Inf is 0 and not
// NaN.
func axpy(y []float64, a float64, x []float64) {
	if a == 0 {
		return
	}
	for k, v := range x {
		if v != 0 {
			y[k] += a * v
		}
	}
}

// unitColumns sets the columns of b to consecutive unit vectors, the first of which has its 1 in row first.
func unitColumns(b Block, first int) {
	b.Zero()
	for k := range b.B {
		b.Row(first + k)[k] = 1
	}
}

// PreparePullback prepares pullbacks of up to lanes cotangents at a time on b, by its own method or by the fallback
// graph. On a backend without pullbacks each call takes one pushforward per input. The error is an *[UnsupportedError]
// if b has neither mode.
func PreparePullback(b Backend, f *Function, x []float64, lanes int) (Pullback, error) {
	switch pullbackRoute(b) {
	case native:
		return b.(Puller).PreparePullback(f, x, lanes)
	case noRoute:
		return nil, unsupported(b, "pullback")
	}
	n, m := f.Dims()
	k := LanesOf(b, n)
	push, err := b.(Pusher).PreparePushforward(f, x, k)
	if err != nil {
		return nil, err
	}
	return &pullByPush{push: push, f: f, xdot: NewBlock(n, k), ydot: NewBlock(m, k)}, nil
}

// pullByPush is a Pullback that computes J by columns, by pushforwards of unit vectors, and multiplies its transpose
// with the cotangents.
type pullByPush struct {
	push       Pushforward
	f          *Function
	xdot, ydot Block
}

func (p *pullByPush) Recordings() int { return recordings(p.push) }

func (p *pullByPush) Pullback(y []float64, xbar Block, x []float64, ybar Block) error {
	n := len(x)
	if n == 0 {
		return p.f.Value(y, x)
	}
	for first := 0; first < n; first += p.xdot.B {
		k := min(p.xdot.B, n-first)
		xdot, ydot := p.xdot.Cols(0, k), p.ydot.Cols(0, k)
		unitColumns(xdot, first)
		if err := p.push.Pushforward(y, ydot, x, xdot); err != nil {
			return err
		}
		for j := range k {
			row := xbar.Row(first + j)
			clear(row)
			for i := range ydot.N {
				axpy(row, ydot.Row(i)[j], ybar.Row(i))
			}
		}
	}
	return nil
}

// PrepareGradient prepares gradients of a function with one output on b: its own, or pullbacks of 1.
func PrepareGradient(b Backend, f *Function, x []float64) (Gradient, error) {
	if gradientRoute(b) == native {
		return b.(Gradienter).PrepareGradient(f, x)
	}
	pull, err := PreparePullback(b, f, x, 1)
	if err != nil {
		return nil, err
	}
	return &gradientByPull{pull: pull, one: []float64{1}, y: make([]float64, 1)}, nil
}

// gradientByPull is a Gradient that pulls back 1.
type gradientByPull struct {
	pull   Pullback
	one, y []float64
}

func (g *gradientByPull) ValueAndGradient(grad, x []float64) (float64, error) {
	err := g.pull.Pullback(g.y, Column(grad), x, Column(g.one))
	return g.y[0], err
}

func (g *gradientByPull) Recordings() int { return recordings(g.pull) }

// recordings returns the number of recordings that p made, 0 if p is no [Recorder].
func recordings(p any) int {
	if r, ok := p.(Recorder); ok {
		return r.Recordings()
	}
	return 0
}

// PrepareJacobian prepares dense Jacobians on b: its own, or those of [DeriveJacobian]. If the policy of f has Workers,
// they divide the sweeps of a [SweptJacobian].
func PrepareJacobian(b Backend, f *Function, x []float64) (Jacobian, error) {
	prepare := func(f *Function) (Jacobian, error) {
		if jacobianRoute(b) == native {
			return b.(Jacobianer).PrepareJacobian(f, x)
		}
		return DeriveJacobian(b, f, x)
	}
	j, err := prepare(f)
	if err != nil {
		return nil, err
	}
	return divideJacobian(j, f, prepare)
}

// DeriveJacobian prepares dense Jacobians on b from pushforwards or pullbacks of unit vectors, even if b is a
// [Jacobianer]. If b has both modes it uses pushforwards for n ≤ m.
func DeriveJacobian(b Backend, f *Function, x []float64) (Jacobian, error) {
	n, m := f.Dims()
	route := derivedJacobianRoute(b)
	if route == unitEither {
		if route = unitPullbacks; n <= m {
			route = unitPushforwards
		}
	}
	switch route {
	case unitPushforwards:
		k := LanesOf(b, n)
		f.DivideSweeps(n, k)
		push, err := b.(Pusher).PreparePushforward(f, x, k)
		if err != nil {
			return nil, err
		}
		return &jacobianByPush{push: push, f: f, xdot: NewBlock(n, k)}, nil
	case unitPullbacks:
		k := LanesOf(b, m)
		f.DivideSweeps(m, k)
		pull, err := b.(Puller).PreparePullback(f, x, k)
		if err != nil {
			return nil, err
		}
		return &jacobianByPull{pull: pull, f: f, ybar: NewBlock(m, k), xbar: NewBlock(n, k)}, nil
	}
	return nil, unsupported(b, "Jacobian")
}

// jacobianByPush is a Jacobian that is computed by columns, by pushforwards of unit vectors.
type jacobianByPush struct {
	push Pushforward
	f    *Function
	xdot Block
}

func (j *jacobianByPush) Recordings() int { return recordings(j.push) }

func (j *jacobianByPush) ValueAndJacobian(y []float64, jac Block, x []float64) error {
	if len(x) == 0 {
		return j.f.Value(y, x)
	}
	for i := range j.Sweeps() {
		if err := j.Sweep(i, y, jac, x); err != nil {
			return err
		}
	}
	return nil
}

// Sweeps returns the number of batches of columns.
func (j *jacobianByPush) Sweeps() int { return batches(j.xdot) }

// Sweep computes a batch of columns.
func (j *jacobianByPush) Sweep(i int, y []float64, jac Block, x []float64) error {
	first := i * j.xdot.B
	xdot := j.xdot.Cols(0, min(j.xdot.B, len(x)-first))
	unitColumns(xdot, first)
	return j.push.Pushforward(y, jac.Cols(first, xdot.B), x, xdot)
}

// batches returns the number of batches of unit vectors that b, a block of one, takes.
func batches(b Block) int {
	if b.N == 0 {
		return 0
	}
	return (b.N + b.B - 1) / b.B
}

// jacobianByPull is a Jacobian that is computed by rows, by pullbacks of unit vectors.
type jacobianByPull struct {
	pull       Pullback
	f          *Function
	ybar, xbar Block
}

func (j *jacobianByPull) Recordings() int { return recordings(j.pull) }

func (j *jacobianByPull) ValueAndJacobian(y []float64, jac Block, x []float64) error {
	if jac.N == 0 {
		return j.f.Value(y, x)
	}
	for i := range j.Sweeps() {
		if err := j.Sweep(i, y, jac, x); err != nil {
			return err
		}
	}
	return nil
}

// Sweeps returns the number of batches of rows.
func (j *jacobianByPull) Sweeps() int { return batches(j.ybar) }

// Sweep computes a batch of rows.
func (j *jacobianByPull) Sweep(i int, y []float64, jac Block, x []float64) error {
	first := i * j.ybar.B
	ybar := j.ybar.Cols(0, min(j.ybar.B, jac.N-first))
	xbar := j.xbar.Cols(0, ybar.B)
	unitColumns(ybar, first)
	if err := j.pull.Pullback(y, xbar, x, ybar); err != nil {
		return err
	}
	for k := range ybar.B {
		row := jac.Row(first + k)
		for i := range row {
			row[i] = xbar.Row(i)[k]
		}
	}
	return nil
}

// PrepareLinear prepares the derivative at one point, to be applied to many vectors. Without a [Lineariser] each
// product takes a pushforward or a pullback.
func PrepareLinear(b Backend, f *Function, x []float64) (Linear, error) {
	if linearRoute(b) == native {
		return b.(Lineariser).PrepareLinear(f, x)
	}
	push, err := PreparePushforward(b, f, x, 1)
	if err != nil {
		return nil, err
	}
	pull, err := PreparePullback(b, f, x, 1)
	if err != nil {
		return nil, err
	}
	n, m := f.Dims()
	return &linearByBoth{push: push, pull: pull, f: f, x: make([]float64, n), y: make([]float64, m)}, nil
}

// linearByBoth is a Linear that stores the point and computes each product by a pushforward or a pullback there.
type linearByBoth struct {
	push Pushforward
	pull Pullback
	f    *Function
	x, y []float64
}

func (l *linearByBoth) Recordings() int { return recordings(l.push) + recordings(l.pull) }

func (l *linearByBoth) At(y, x []float64) error {
	copy(l.x, x)
	return l.f.Value(y, x)
}

func (l *linearByBoth) Apply(ydot, xdot []float64) error {
	return l.push.Pushforward(l.y, Column(ydot), l.x, Column(xdot))
}

func (l *linearByBoth) Transpose(xbar, ybar []float64) error {
	return l.pull.Pullback(l.y, Column(xbar), l.x, Column(ybar))
}
