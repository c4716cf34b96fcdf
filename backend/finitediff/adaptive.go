package finitediff

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/page"
)

// Adaptive is the engine of difference quotients that choose their steps by measurement and estimate their errors. Its
// zero value takes central differences at 5 points. Settings are read when an operator is prepared.
//
// For each derivative a formula with more points measures the derivative that the truncation error depends on. The
// step balances that error with those of rounding. The quotient is then compared with that of half the step; if the
// two differ by more than both errors, steps are halved until two agree. The methods GradientWithError,
// JacobianWithError and DerivativeWithError of prepared objects of package nabla return the error estimate with the
// derivative, and so do [Adaptive.Derivative] and [Adaptive.PrepareDerivative].
//
// If f fails, or has no finite value, at a node of a grid, the step shrinks, and the one-sided grids of as many points
// are tried too; of these, the derivative with the smallest error estimate is returned. If no step is short enough, the
// error is a *[DomainError]. Outputs that are not finite at x itself have NaN derivatives.
type Adaptive struct {
	// Points is the number of points of the grid; 0 means 5, or as many as the order of the derivative needs if that
	// is more: 7 for orders 3 and 4.
	Points int

	// Method selects the grid: [CentralGrid], [ForwardGrid] or [BackwardGrid] of Points. Complex is not adaptive.
	Method Method

	// Grid, if not nil, replaces the grid of Points and Method. It is a pointer so that values of Adaptive can be
	// compared.
	Grid *Grid

	// Levels is the number of formulas of increasing order that estimate the step of the one before; 0 means 1. With
	// NoLevels the step follows from Condition alone, for half of the evaluations.
	Levels int

	// Condition is the assumed ratio of the derivative that the truncation error depends on to the function, if
	// lengths are measured in units of max(|x[i]|, 1). It gives the step of the highest level. 0 means 10.
	Condition float64

	// Factor is the number of rounding errors, of size eps·|f|, in a value of f; 0 means 1. It is an alternative to
	// Noise.
	Factor float64

	// Noise is the absolute error of the values of f if it exceeds that of Factor; see [MeasureNoise].
	Noise float64

	// MeasureNoise estimates the noise at every point at which derivatives are computed, by [ECNoise], for 8 or more
	// evaluations. Outputs without an estimate have the noise of Factor.
	MeasureNoise bool

	// MaxRange is the largest distance from x[i] at which f is evaluated, in every component; 0 means no limit.
	MaxRange float64

	// Bounds is a box outside of which f is not evaluated, as in [Backend].
	Bounds *Bounds

	// Steps holds a step for each variable, which replaces the estimate: the error is then estimated from the quotient
	// with half the step. A zero leaves the step to the engine, as a nil Steps leaves all.
	Steps *Steps

	// Extrapolate is the number of columns of Richardson's extrapolation. If it is not 0, steps are halved from a tenth
	// of max(|x[i]|, 1), or from Steps, and the quotients are extrapolated to step 0 until rounding dominates.
	Extrapolate int

	// Workers is the number of goroutines that evaluate f, as in [Backend].
	Workers int
}

// NoLevels is the value of Levels that does without estimates of derivatives.
const NoLevels = -1

// Steps holds a step for each variable.
type Steps []float64

var _ interface {
	engine.Backend
	engine.Pusher
	engine.Gradienter
	engine.Jacobianer
	engine.HVPer
	engine.Hessianer
	engine.Laner
	engine.Seconder
	engine.Approximator
} = Adaptive{}

// A SettingError reports a setting that makes no sense, when an operator is prepared.
type SettingError struct {
	Field string // the setting
	Got   any
	Want  string
}

func (e *SettingError) Error() string {
	return page.Namef("finitediff.SettingError", "nabla: finitediff: %s is %v, want %s", e.Field, e.Got, e.Want)
}

// A DomainError reports that a function with a finite value at x has no values at the nodes of any grid around x, with
// steps down to the smallest that make sense. Err is the error of the function at the last node, nil if its value there
// was NaN or infinite.
type DomainError struct {
	Function string
	X        []float64 // the point of the derivative
	Index    int       // the variable, or -1 for a derivative along a direction
	Step     float64   // the last step
	Err      error
}

func (e *DomainError) Error() string {
	along := "along a direction"
	if e.Index >= 0 {
		along = fmt.Sprintf("in x[%d] = %v", e.Index, e.X[e.Index])
	}
	why := "its values there are not finite, or the points are not allowed"
	if e.Err != nil {
		why = e.Err.Error()
	}
	return page.Namef("finitediff.DomainError",
		"nabla: finitediff: function %s has no difference quotient %s, with steps down to %.3g: %s; "+
			"move x away from the edge of the domain, or choose a one-sided Method or fewer Points", e.Function, along,
		e.Step, why)
}

// Unwrap returns Err.
func (e *DomainError) Unwrap() error { return e.Err }

// Name returns "finitediff(adaptive)", with the settings that are not the default.
func (a Adaptive) Name() string {
	s := []string{"adaptive"}
	add := func(set bool, name string, v float64) {
		if set {
			s = append(s, name+"="+strconv.FormatFloat(v, 'g', -1, 64))
		}
	}
	flag := func(set bool, name string) {
		if set {
			s = append(s, name)
		}
	}
	flag(a.Method != Central, a.Method.String())
	add(a.Points != 0, "points", float64(a.Points))
	flag(a.Grid != nil, "grid")
	add(a.Levels != 0, "levels", float64(max(a.Levels, 0)))
	add(a.Condition != 0, "condition", a.Condition)
	add(a.Factor != 0, "factor", a.Factor)
	add(a.Noise != 0, "noise", a.Noise)
	flag(a.MeasureNoise, "measurenoise")
	add(a.MaxRange != 0, "maxrange", a.MaxRange)
	flag(a.Bounds != nil, "bounds")
	flag(a.Steps != nil, "steps")
	add(a.Extrapolate != 0, "extrapolate", float64(a.Extrapolate))
	add(a.Workers > 1, "workers", float64(a.Workers))
	return "finitediff(" + strings.Join(s, ", ") + ")"
}

// Lanes returns the number of tangents to pass at a time: Workers divide them among themselves.
func (a Adaptive) Lanes(n int) int { return Backend{Workers: a.Workers}.Lanes(n) }

// Accuracy implements engine.Approximator: it returns 1e-7. That is far above the error where f is smooth.
func (a Adaptive) Accuracy() float64 { return 1e-7 }

// outside reports whether err is one of the function itself, as outside of its domain.
func outside(err error) bool {
	if err == nil {
		return false
	}
	var panicked *engine.PanicError
	var returned *engine.ReturnedError
	return errors.As(err, &panicked) || errors.As(err, &returned)
}

// maxExtrapolate bounds the columns of an extrapolation.
const maxExtrapolate = 10

// An adaptive holds the checked settings of an Adaptive for one function.
type adaptive struct {
	*settings
	a         Adaptive // with defaults filled in, except for Points
	steps     Steps    // nil if none is set
	condition float64
	factor    float64
}

// resolve checks the settings for functions of n inputs.
func (a Adaptive) resolve(f *engine.Function) (*adaptive, error) {
	if a.Method >= numMethods || a.Method == Complex {
		return nil, &SettingError{Field: "Method", Got: a.Method, Want: "Central, Forward or Backward"}
	}
	box, err := Backend{Bounds: a.Bounds, Workers: a.Workers}.resolve(f, 1)
	if err != nil {
		return nil, err
	}
	for _, v := range []struct {
		name  string
		value float64
	}{{"Condition", a.Condition}, {"Factor", a.Factor}, {"Noise", a.Noise}, {"MaxRange", a.MaxRange}} {
		if !(v.value >= 0 && v.value <= math.MaxFloat64) {
			return nil, &SettingError{Field: v.name, Got: v.value,
				Want: "a positive finite number, or 0 for the default"}
		}
	}
	if a.Noise > 0 && a.MeasureNoise {
		return nil, &SettingError{Field: "Noise", Got: a.Noise, Want: "0 with MeasureNoise"}
	}
	if a.Levels < NoLevels || a.Levels > maxExtrapolate {
		return nil, &SettingError{Field: "Levels", Got: a.Levels, Want: fmt.Sprintf("0 to %d, or NoLevels",
			maxExtrapolate)}
	}
	if a.Extrapolate < 0 || a.Extrapolate > maxExtrapolate {
		return nil, &SettingError{Field: "Extrapolate", Got: a.Extrapolate,
			Want: fmt.Sprintf("0 to %d", maxExtrapolate)}
	}
	s := &adaptive{settings: box, a: a, condition: 10, factor: 1}
	if a.Condition != 0 {
		s.condition = a.Condition
	}
	if a.Factor != 0 {
		s.factor = a.Factor
	}
	return s, s.ownSteps(f)
}

// ownSteps copies the steps of the user.
func (s *adaptive) ownSteps(f *engine.Function) error {
	if s.a.Steps == nil {
		return nil
	}
	n, _ := f.Dims()
	if len(*s.a.Steps) != n {
		return &engine.ShapeError{Op: "finitediff", Arg: "len(Steps)", Got: len(*s.a.Steps), Want: n}
	}
	for i, h := range *s.a.Steps {
		if !(h >= 0 && h <= math.MaxFloat64) {
			return &SettingError{Field: fmt.Sprintf("Steps[%d]", i), Got: h,
				Want: "a positive finite number, or 0 for an estimated step"}
		}
	}
	s.steps = slices.Clone(*s.a.Steps)
	return nil
}

// A scheme holds the formulas for a derivative on one kind of grid: that of the derivative itself, and those of the
// levels above, each of which estimates the derivative that the truncation error of the one before depends on.
type scheme []*formula

// schemes returns the schemes for derivatives of an order: that of the settings, and those for the edge of the domain.
func (s *adaptive) schemes(order int) ([]scheme, error) {
	if order < 1 {
		return nil, &SettingError{Field: "the order of the derivative", Got: order, Want: "1 or more"}
	}
	p := s.a.Points
	switch {
	case s.a.Grid != nil:
		if p != 0 && p != len(*s.a.Grid) {
			return nil, &SettingError{Field: "Points", Got: p, Want: "0, or the number of nodes of Grid"}
		}
		p = len(*s.a.Grid)
	case p == 0:
		p = max(5, (order+3)|1)
	}
	methods := []Method{s.a.Method}
	for _, m := range []Method{Forward, Backward} {
		if m != s.a.Method {
			methods = append(methods, m)
		}
	}
	list := make([]scheme, 0, len(methods))
	for i, m := range methods {
		g, field := m.grid(p), "Points"
		if i == 0 && s.a.Grid != nil {
			g, field = *s.a.Grid, "Grid"
		}
		if err := g.check(field, order); err != nil {
			return nil, err
		}
		if i == 0 && s.a.Grid != nil {
			list = append(list, s.scheme(newFormula(g, order), sideOf(g)))
		} else {
			list = append(list, s.scheme(standard{m, p, order, false}.formula(), m))
		}
	}
	return list, nil
}

// grid returns the grid of m, which is not Complex, with p points.
func (m Method) grid(p int) Grid {
	switch m {
	case Forward:
		return ForwardGrid(p)
	case Backward:
		return BackwardGrid(p)
	}
	return CentralGrid(p)
}

// sideOf returns the method whose integer grid has nodes on the sides that g uses.
func sideOf(g Grid) Method {
	switch {
	case slices.Min(g) >= 0:
		return Forward
	case slices.Max(g) <= 0:
		return Backward
	}
	return Central
}

// scheme returns the scheme of a formula, with levels on integer grids of m.
func (s *adaptive) scheme(lowest *formula, m Method) scheme {
	list := scheme{lowest}
	levels := s.a.Levels
	switch {
	case s.a.Extrapolate > 0 || levels == NoLevels:
		levels = 0
	case levels == 0:
		levels = 1
	}
	for range levels {
		below := list[len(list)-1].power
		list = append(list, standard{m, below + 2, below, true}.formula())
	}
	return list
}
