package ode

// The method of Dormand and Prince (1980), RK5(4)7M, with the dense output of Shampine (1986) in the form of Hairer and
// Wanner's DOPRI5. The last stage of a step is the first of the next.
var (
	dopriC = [7]float64{0, 1. / 5, 3. / 10, 4. / 5, 8. / 9, 1, 1}
	dopriA = [7][6]float64{
		{},
		{1. / 5},
		{3. / 40, 9. / 40},
		{44. / 45, -56. / 15, 32. / 9},
		{19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729},
		{9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656},
		{35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84},
	}
	dopriE = [7]float64{71. / 57600, 0, -71. / 16695, 71. / 1920, -17253. / 339200, 22. / 525, -1. / 40}
	dopriD = [7]float64{-12715105075. / 11282082432, 0, 87487479700. / 32700410799, -10690763975. / 1880347072,
		701980252875. / 199316789632, -1453857185. / 822651844, 69997945. / 29380423}
)

// An explicit takes steps of Dormand and Prince.
type explicit struct {
	r      *rhs
	k      [7][]float64 // the right-hand side at the stages
	stage  []float64
	kdot   [7][]float64
	kbar   [7][]float64
	sdot   []float64
	known  following // which stage is the right-hand side at the beginning of the next step
	dense  [5][]float64
	y0, y1 []float64 // of the last step
	h      float64
}

func newExplicit(r *rhs) *explicit {
	e := &explicit{r: r, stage: make([]float64, r.n), sdot: make([]float64, r.n), y0: make([]float64, r.n),
		y1: make([]float64, r.n)}
	for i := range e.k {
		e.k[i], e.kdot[i], e.kbar[i] = make([]float64, r.n), make([]float64, r.n), make([]float64, r.n)
	}
	for i := range e.dense {
		e.dense[i] = make([]float64, r.n)
	}
	return e
}

func (e *explicit) clone(r *rhs) (stepper, error) { return newExplicit(r), nil }
func (e *explicit) order() float64                { return 5 }
func (e *explicit) next(f following)              { e.known = f }

// point writes the state of stage i of a step to dst.
func (e *explicit) point(dst []float64, i int, h float64, y []float64, k *[7][]float64) {
	copy(dst, y)
	for j, a := range dopriA[i][:min(i, 6)] {
		if a == 0 {
			continue
		}
		f := h * a
		for l, v := range k[j] {
			dst[l] += f * v
		}
	}
}

func (e *explicit) take(y1, estimate []float64, t, h float64, y []float64) error {
	switch e.known {
	case accepted:
		e.k[0], e.k[6] = e.k[6], e.k[0]
	case restarted:
		if err := e.r.value(e.k[0], t, y); err != nil {
			return err
		}
	}
	e.known = restarted
	if err := finite(e.k[0], t); err != nil {
		return err
	}
	return e.stages(y1, estimate, t, h, y)
}

// stages computes the stages after the first.
func (e *explicit) stages(y1, estimate []float64, t, h float64, y []float64) error {
	for i := 1; i < 7; i++ {
		e.point(e.stage, i, h, y, &e.k)
		if err := e.r.value(e.k[i], t+dopriC[i]*h, e.stage); err != nil {
			return err
		}
	}
	copy(y1, e.stage) // the last stage is at the end of the step
	copy(e.y0, y)
	copy(e.y1, y1)
	e.h = h
	for l := range estimate {
		s := 0.0
		for i, c := range dopriE {
			s += c * e.k[i][l]
		}
		estimate[l] = h * s
	}
	return nil
}

func (e *explicit) at(dst []float64, theta float64) {
	rest := 1 - theta
	for l := range dst {
		d := e.y1[l] - e.y0[l]
		b := e.h*e.k[0][l] - d
		c := d - e.h*e.k[6][l] - b
		s := 0.0
		for i, w := range dopriD {
			s += w * e.k[i][l]
		}
		dst[l] = e.y0[l] + theta*(d+rest*(b+theta*(c+rest*e.h*s)))
	}
}

func (e *explicit) push(ydot, pdot []float64, t, h float64, y []float64) error {
	for i := range 6 {
		e.point(e.stage, i, h, y, &e.k)
		e.point(e.sdot, i, h, ydot, &e.kdot)
		if err := e.r.pushforward(e.k[i], e.kdot[i], t+dopriC[i]*h, e.stage, e.sdot, pdot); err != nil {
			return err
		}
	}
	e.point(e.sdot, 6, h, ydot, &e.kdot)
	copy(ydot, e.sdot)
	e.known = restarted
	return nil
}

func (e *explicit) pull(ybar, pbar []float64, t, h float64, y []float64) error {
	e.known = restarted
	if err := e.r.value(e.k[0], t, y); err != nil {
		return err
	}
	for i := 1; i < 6; i++ {
		e.point(e.stage, i, h, y, &e.k)
		if err := e.r.value(e.k[i], t+dopriC[i]*h, e.stage); err != nil {
			return err
		}
	}
	for i, b := range dopriA[6] {
		for l, v := range ybar {
			e.kbar[i][l] = h * b * v
		}
	}
	for i := 5; i >= 0; i-- {
		e.point(e.stage, i, h, y, &e.k)
		clear(e.sdot)
		if err := e.r.pullback(e.sdot, pbar, t+dopriC[i]*h, e.stage, e.kbar[i]); err != nil {
			return err
		}
		for l, v := range e.sdot {
			ybar[l] += v
		}
		for j, a := range dopriA[i][:i] {
			for l, v := range e.sdot {
				e.kbar[j][l] += h * a * v
			}
		}
	}
	return nil
}
