package engine

import "fmt"

// The fallback graph is in explain.go: there each operator has a function that
// says by which route it comes about on a backend. The functions here and in
// second.go prepare it by that route.

func unsupported(b Backend, op string) error {
	return &UnsupportedError{
		What:   fmt.Sprintf("backend %s has neither pushforward nor pullback, so no %s", b.Name(), op),
		Remedy: "implement engine.Pusher or engine.Puller",
	}
}

// defaultLanes is the number of directions at a time where a backend has no
// preference.
const defaultLanes = 8

// LanesOf is the number of directions b likes to carry at a time, of n in all.
func LanesOf(b Backend, n int) int {
	k := min(n, defaultLanes)
	if l, ok := b.(Laner); ok {
		k = l.Lanes(n)
	}
	return max(1, min(k, n))
}

// PreparePushforward prepares pushforwards of up to lanes tangents.
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

// pushByLinear linearises at every point.
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

// pushByPull computes J row by row.
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

// axpy adds a·x to y. A zero in x or a is taken as structural, so that 0·Inf is
// no NaN.
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

// unitColumns sets the columns of b to the unit vectors from first on.
func unitColumns(b Block, first int) {
	b.Zero()
	for k := range b.B {
		b.Row(first + k)[k] = 1
	}
}

// PreparePullback prepares pullbacks of up to lanes cotangents.
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

// pullByPush computes J column by column.
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

// PrepareGradient prepares gradients of a function with one output.
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

type gradientByPull struct {
	pull   Pullback
	one, y []float64
}

func (g *gradientByPull) ValueAndGradient(grad, x []float64) (float64, error) {
	err := g.pull.Pullback(g.y, Column(grad), x, Column(g.one))
	return g.y[0], err
}

func (g *gradientByPull) Recordings() int { return recordings(g.pull) }

// recordings is how often p recorded, 0 if it does not.
func recordings(p any) int {
	if r, ok := p.(Recorder); ok {
		return r.Recordings()
	}
	return 0
}

// PrepareJacobian prepares dense Jacobians.
func PrepareJacobian(b Backend, f *Function, x []float64) (Jacobian, error) {
	if jacobianRoute(b) == native {
		return b.(Jacobianer).PrepareJacobian(f, x)
	}
	return DeriveJacobian(b, f, x)
}

// DeriveJacobian prepares dense Jacobians from pushforwards or pullbacks, also for
// a Jacobianer.
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
		push, err := b.(Pusher).PreparePushforward(f, x, k)
		if err != nil {
			return nil, err
		}
		return &jacobianByPush{push: push, f: f, xdot: NewBlock(n, k)}, nil
	case unitPullbacks:
		k := LanesOf(b, m)
		pull, err := b.(Puller).PreparePullback(f, x, k)
		if err != nil {
			return nil, err
		}
		return &jacobianByPull{pull: pull, f: f, ybar: NewBlock(m, k), xbar: NewBlock(n, k)}, nil
	}
	return nil, unsupported(b, "Jacobian")
}

type jacobianByPush struct {
	push Pushforward
	f    *Function
	xdot Block
}

func (j *jacobianByPush) Recordings() int { return recordings(j.push) }

func (j *jacobianByPush) ValueAndJacobian(y []float64, jac Block, x []float64) error {
	n := len(x)
	if n == 0 {
		return j.f.Value(y, x)
	}
	for first := 0; first < n; first += j.xdot.B {
		xdot := j.xdot.Cols(0, min(j.xdot.B, n-first))
		unitColumns(xdot, first)
		if err := j.push.Pushforward(y, jac.Cols(first, xdot.B), x, xdot); err != nil {
			return err
		}
	}
	return nil
}

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
	for first := 0; first < jac.N; first += j.ybar.B {
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
	}
	return nil
}

// PrepareLinear prepares the derivative at one point, to be applied many times.
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
