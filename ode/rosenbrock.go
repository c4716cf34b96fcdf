package ode

import (
	"errors"
	"math"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/sparse"
	"gonum.org/v1/gonum/mat"
)

// RODAS of Hairer and Wanner (1996), section IV.10, in the variables that need no products with the Jacobian:
//
//	(I/(hγ) - J)·uᵢ = f(Yᵢ, t+cᵢh) + Σ rodasC[i][j]/h·uⱼ + h·rodasD[i]·∂f/∂t, Yᵢ = y + Σ rodasA[i][j]·uⱼ
//
// The state after the step is that of a seventh stage, and the last u is the estimated error.
const rodasGamma = 0.25

var (
	rodasTime = [6]float64{0, 0.386, 0.21, 0.63, 1, 1}
	rodasD    = [6]float64{0.25, -0.1043, 0.1035, -0.0362}
	rodasA    = [7][6]float64{
		{},
		{1.544},
		{0.9466785280815826, 0.2557011698983284},
		{3.314825187068521, 2.896124015972201, 0.9986419139977817},
		{1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950},
		{1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950, 1},
		{1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950, 1, 1},
	}
	rodasC = [6][5]float64{
		{},
		{-5.6688},
		{-2.430093356833875, -0.2063599157091915},
		{-0.1073529058151375, -9.594562251023355, -20.47028614809616},
		{7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160},
		{8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136, -6.058818238834054},
	}
	rodasDense = [2][5]float64{
		{10.12623508344586, -7.487995877610167, -34.80091861555747, -7.992771707568823, 1.025137723295662},
		{-0.6762803392801253, 6.087714651680015, 16.43084320892478, 24.76722511418386, -6.594389125716872},
	}
)

// A rosenbrock takes steps of RODAS.
type rosenbrock struct {
	r       *rhs
	jac     *nabla.JacobianPrep
	shift   shifted
	u, udot [6][]float64
	f       []float64
	stage   []float64
	sdot    []float64
	ft      []float64 // the derivative of the right-hand side by the time
	y0, y1  []float64 // of the last step
	z       []float64 // where the Jacobian was computed
	first   []float64 // the right-hand side there
	known   following

	along directional
}

// directional is the function (z, v) ↦ J(z)·v, whose derivatives by z are those of the Jacobian.
type directional struct {
	prepare func() (*nabla.PullbackPrep, *nabla.PushforwardPrep, error)
	pull    *nabla.PullbackPrep
	push    *nabla.PushforwardPrep
	x, xdot []float64
	f       []float64
}

func newRosenbrock[F nabla.VectorFunc](r *rhs, f F, b nabla.Backend, at []float64) (stepper, error) {
	s := &rosenbrock{r: r}
	var err error
	if s.jac, err = nabla.PrepareJacobian(f, b, at); err != nil {
		return nil, err
	}
	product := nabla.PushforwardFunc(f, b)
	n := len(at)
	along := func(x []nabla.Real) []nabla.Real { return product(x[:n], x[n:]) }
	s.along.prepare = func() (*nabla.PullbackPrep, *nabla.PushforwardPrep, error) {
		x := append(append([]float64(nil), at...), at...)
		outer := b
		pull, err := nabla.PreparePullback(along, outer, x)
		if err != nil { // such as the engine of generated code, which has none for along
			outer = nil
			if pull, err = nabla.PreparePullback(along, outer, x); err != nil {
				return nil, nil, err
			}
		}
		push, err := nabla.PreparePushforward(along, outer, x)
		return pull, push, err
	}
	s.allocate()
	return s, nil
}

func (s *rosenbrock) allocate() {
	n := s.r.n
	for i := range s.u {
		s.u[i], s.udot[i] = make([]float64, n), make([]float64, n)
	}
	for _, v := range []*[]float64{&s.f, &s.stage, &s.sdot, &s.ft, &s.y0, &s.y1, &s.first, &s.along.f} {
		*v = make([]float64, n)
	}
	s.z = make([]float64, len(s.r.z))
	s.along.x, s.along.xdot = make([]float64, 2*len(s.r.z)), make([]float64, 2*len(s.r.z))
}

func (s *rosenbrock) clone(r *rhs) (stepper, error) {
	c := &rosenbrock{r: r, jac: s.jac.Clone()}
	c.along.prepare = s.along.prepare
	c.allocate()
	return c, nil
}

func (s *rosenbrock) order() float64   { return 4 }
func (s *rosenbrock) next(f following) { s.known = f }

// factorize computes the Jacobian at (t, y), unless it is that of the last step, and factorises I/(hγ) - J.
func (s *rosenbrock) factorize(t, h float64, y []float64) error {
	if s.known != repeated {
		copy(s.r.z, y)
		s.r.z[len(s.r.z)-1] = t
		copy(s.z, s.r.z)
		s.r.values++
		if err := s.shift.jacobian(s.jac, s.first, s.ft, s.r.z); err != nil {
			return err
		}
		if err := finite(s.first, t); err != nil {
			return err
		}
	}
	s.known = restarted
	return s.shift.factorize(1 / (h * rodasGamma))
}

// point writes the state of stage i to dst.
func (s *rosenbrock) point(dst []float64, i int, y []float64, u *[6][]float64) {
	copy(dst, y)
	for j, a := range rodasA[i][:min(i, 6)] {
		for l, v := range u[j] {
			dst[l] += a * v
		}
	}
}

func (s *rosenbrock) take(y1, estimate []float64, t, h float64, y []float64) error {
	if err := s.stages(t, h, y); err != nil {
		return err
	}
	s.point(y1, 6, y, &s.u)
	copy(s.y0, y)
	copy(s.y1, y1)
	copy(estimate, s.u[5])
	return nil
}

// stages computes u of all stages.
func (s *rosenbrock) stages(t, h float64, y []float64) error {
	if err := s.factorize(t, h, y); err != nil {
		return err
	}
	for i := range 6 {
		if i == 0 {
			copy(s.f, s.first)
		} else {
			s.point(s.stage, i, y, &s.u)
			if err := s.r.value(s.f, t+rodasTime[i]*h, s.stage); err != nil {
				return err
			}
		}
		for j, c := range rodasC[i][:min(i, 5)] {
			for l, v := range s.u[j] {
				s.f[l] += c / h * v
			}
		}
		for l, v := range s.ft {
			s.f[l] += h * rodasD[i] * v
		}
		if err := s.shift.solve(s.u[i], s.f, false); err != nil {
			return err
		}
	}
	return nil
}

func (s *rosenbrock) at(dst []float64, theta float64) {
	rest := 1 - theta
	for l := range dst {
		a, b := 0.0, 0.0
		for j := range 5 {
			a += rodasDense[0][j] * s.u[j][l]
			b += rodasDense[1][j] * s.u[j][l]
		}
		dst[l] = s.y0[l]*rest + theta*(s.y1[l]+rest*(a+theta*b))
	}
}

// direct sets the argument of along to z of the step and the direction of stage i.
func (s *rosenbrock) direct(i int, h float64) error {
	a := &s.along
	if a.pull == nil {
		var err error
		if a.pull, a.push, err = a.prepare(); err != nil {
			return err
		}
	}
	n := len(s.z)
	clear(a.x)
	copy(a.x, s.z)
	copy(a.x[n:], s.u[i])
	a.x[2*n-1] = h * rodasD[i]
	return nil
}

func (s *rosenbrock) push(ydot, pdot []float64, t, h float64, y []float64) error {
	s.known = restarted
	if err := s.stages(t, h, y); err != nil {
		return err
	}
	a := &s.along
	for i := range 6 {
		s.point(s.stage, i, y, &s.u)
		s.point(s.sdot, i, ydot, &s.udot)
		if err := s.r.pushforward(a.f, s.f, t+rodasTime[i]*h, s.stage, s.sdot, pdot); err != nil {
			return err
		}
		for j, c := range rodasC[i][:min(i, 5)] {
			for l, v := range s.udot[j] {
				s.f[l] += c / h * v
			}
		}
		if err := s.direct(i, h); err != nil {
			return err
		}
		clear(a.xdot)
		copy(a.xdot, ydot)
		copy(a.xdot[len(ydot):], pdot)
		if _, err := a.push.Pushforward(a.f, a.x, a.xdot); err != nil {
			return err
		}
		for l, v := range a.f {
			s.f[l] += v
		}
		if err := s.shift.solve(s.udot[i], s.f, false); err != nil {
			return err
		}
	}
	s.point(s.sdot, 6, ydot, &s.udot)
	copy(ydot, s.sdot)
	return nil
}

func (s *rosenbrock) pull(ybar, pbar []float64, t, h float64, y []float64) error {
	s.known = restarted
	if err := s.stages(t, h, y); err != nil {
		return err
	}
	ubar := &s.udot
	for j := range ubar {
		for l, v := range ybar {
			ubar[j][l] = rodasA[6][j] * v
		}
	}
	a, w := &s.along, s.f
	for i := 5; i >= 0; i-- {
		if err := s.shift.solve(w, ubar[i], true); err != nil {
			return err
		}
		s.point(s.stage, i, y, &s.u)
		clear(s.sdot)
		if err := s.r.pullback(s.sdot, pbar, t+rodasTime[i]*h, s.stage, w); err != nil {
			return err
		}
		for j, b := range rodasA[i][:min(i, 6)] {
			for l, v := range s.sdot {
				ubar[j][l] += b * v
			}
		}
		for j, c := range rodasC[i][:min(i, 5)] {
			for l, v := range w {
				ubar[j][l] += c / h * v
			}
		}
		if err := s.direct(i, h); err != nil {
			return err
		}
		if _, err := a.pull.Pullback(a.xdot, a.x, w); err != nil {
			return err
		}
		for l, v := range s.sdot {
			ybar[l] += v + a.xdot[l]
		}
		for l := range pbar {
			pbar[l] += a.xdot[s.r.n+l]
		}
	}
	return nil
}

// errSingular is the error of a step for whose size I/(hγ) - J is singular.
var errSingular = errors.New("ode: singular matrix")

// A shifted solves with the matrix s·I - J for the derivative J of the right-hand side by the state.
type shifted struct {
	j     mat.Matrix // by the state, the parameters and the time
	dense *mat.Dense
	lu    mat.LU
	x     *mat.VecDense

	sparse *sparseShift
}

// jacobian computes J at z, the right-hand side and its derivative by the time.
func (m *shifted) jacobian(prep *nabla.JacobianPrep, f, ft, z []float64) error {
	_, j, err := prep.ValueAndJacobian(f, m.j, z)
	if err != nil {
		return err
	}
	m.j = j
	if c, ok := j.(*sparse.CSC); ok {
		if m.sparse == nil || m.sparse.of != c.Pattern() {
			if m.sparse, err = newSparseShift(c.Pattern(), len(f)); err != nil {
				return err
			}
		}
		m.sparse.column(ft, c, len(z)-1)
		return nil
	}
	m.sparse = nil
	for i := range ft {
		ft[i] = j.At(i, len(z)-1)
	}
	return nil
}

// factorize factorises s·I - J.
func (m *shifted) factorize(s float64) error {
	if c, ok := m.j.(*sparse.CSC); ok {
		return m.sparse.factorize(s, c)
	}
	n, _ := m.j.Dims()
	if m.dense == nil {
		m.dense, m.x = mat.NewDense(n, n, nil), mat.NewVecDense(n, nil)
	}
	for i := range n {
		for k := range n {
			v := -m.j.At(i, k)
			if i == k {
				v += s
			}
			m.dense.Set(i, k, v)
		}
	}
	m.lu.Factorize(m.dense)
	if math.IsInf(m.lu.Cond(), 1) {
		return errSingular
	}
	return nil
}

// solve solves with the factorised matrix, or with its transpose.
func (m *shifted) solve(dst, b []float64, trans bool) error {
	if m.sparse != nil {
		return m.sparse.solve(dst, b, trans)
	}
	err := m.lu.SolveVecTo(m.x, trans, mat.NewVecDense(len(b), b))
	if _, ok := err.(mat.Condition); ok {
		err = nil // inaccurate: the estimated error of the step says whether it matters
	}
	copy(dst, m.x.RawVector().Data)
	return err
}
