package finitediff

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/nabla-ad/nabla/engine"
	"github.com/nabla-ad/nabla/internal/page"
)

// Method is the formula of the first derivative.
type Method uint8

const (
	// Central is (f(x+h) - f(x-h)) / 2h: two evaluations for a direction and an
	// error of h²·f‴/6. It is the default: Forward takes half the time and has 8
	// correct digits where Central has 10 or 11.
	Central Method = iota
	// Forward is (f(x+h) - f(x)) / h: one evaluation for a direction besides
	// f(x), and an error of h·f″/2.
	Forward
	// Backward is (f(x) - f(x-h)) / h, with the cost and the error of Forward.
	Backward
	// Complex is Im f(x+ih) / h, evaluated on the recorded program of f: no
	// difference is taken, so the step can be tiny and the error is that of
	// rounding. f must be written over nabla.Real.
	Complex
	numMethods
)

var methodNames = [numMethods]string{"central", "forward", "backward", "complex"}

// String returns the name in lower case.
func (m Method) String() string {
	if m < numMethods {
		return methodNames[m]
	}
	return "method(" + strconv.Itoa(int(m)) + ")"
}

// Backend is the engine. Its zero value takes central differences with the
// default steps. Settings are read when an operator is prepared.
type Backend struct {
	// Method is the formula of first derivatives. Second derivatives are central
	// differences of values for the real methods, and central differences of
	// complex-step gradients for Complex.
	Method Method

	// RelStep and AbsStep give the step max(RelStep·|x[i]|, AbsStep) in component
	// i, rounded so that x[i] plus the step is a float64. Zero is the default:
	//
	//	               RelStep                    AbsStep
	//	Central        eps^(1/3) = 6.06e-6        RelStep
	//	Forward        eps^(1/2) = 1.49e-8        RelStep
	//	Backward       eps^(1/2) = 1.49e-8        RelStep
	//	Complex        1e-20                      1e-50
	//	second order   eps^(1/4) = 1.22e-4        RelStep
	//	  of Complex   eps^(1/3) = 6.06e-6        RelStep
	//
	// A setting that is not zero holds for operators of both orders; for Complex
	// it is the length of the imaginary step, and second orders keep the default.
	// A RelStep that is set is the default of AbsStep, also for Complex.
	RelStep float64
	AbsStep float64

	// Bounds is a box outside of which f is not evaluated. Nil means no bounds.
	Bounds *Bounds

	// Workers is the number of goroutines that evaluate f; 0 means 1. With more than
	// one, f is called from several goroutines at the same time, each with a clone
	// of the bound struct (engine.Function.Clone); data that f captures must allow concurrent use.
	// Results are bit for bit those of one worker. Starting the goroutines
	// allocates.
	Workers int
}

var _ interface {
	engine.Backend
	engine.Pusher
	engine.Gradienter
	engine.Jacobianer
	engine.HVPer
	engine.Hessianer
	engine.Laner
	engine.Transformer
	engine.Seconder
	engine.Approximator
} = Backend{}

// Bounds is a box. Near its faces a difference turns to the other side, a central
// difference to a one-sided formula of the same order, and where there is no room
// on either side the step shrinks. A component with Lower[i] == Upper[i] cannot
// be moved: its derivatives are NaN. A call at a point outside the box returns a
// *BoundsError.
//
// Backend holds a pointer so that backends can be compared and be keys of a map.
type Bounds struct {
	// Lower and Upper have the length of x, or are nil for no bound. ±Inf are
	// allowed.
	Lower, Upper []float64
}

// A BoundsError is returned for a derivative at a point outside the bounds.
type BoundsError struct {
	Function     string
	Index        int
	X            float64
	Lower, Upper float64
}

func (e *BoundsError) Error() string {
	return page.Namef("finitediff.BoundsError",
		"nabla: finitediff: function %s: x[%d] = %v is outside its bounds [%v, %v]", e.Function, e.Index,
		e.X, e.Lower, e.Upper)
}

// Name returns "finitediff", with the settings that are not the default in brackets.
func (b Backend) Name() string {
	var s []string
	if b.Method != Central {
		s = append(s, b.Method.String())
	}
	number := func(name string, v float64) {
		if v != 0 {
			s = append(s, name+"="+strconv.FormatFloat(v, 'g', -1, 64))
		}
	}
	number("relstep", b.RelStep)
	number("absstep", b.AbsStep)
	if b.Bounds != nil {
		s = append(s, "bounds")
	}
	if b.Workers > 1 {
		s = append(s, "workers="+strconv.Itoa(b.Workers))
	}
	if s == nil {
		return "finitediff"
	}
	return "finitediff(" + strings.Join(s, ", ") + ")"
}

// Lanes returns the number of tangents to pass at a time: they share the evaluation at x, and Workers divide them among
// themselves.
func (b Backend) Lanes(n int) int { return engine.BatchSize(n, max(16, b.Workers)) }

// Accuracy implements engine.Approximator: it returns the tolerance for comparing first derivatives with exact ones,
// relative to the largest component: 1e-5 for Central, 1e-3 for Forward and Backward, and 0, for an exact method, for
// Complex. These are far above the errors in the package documentation, since functions may vary faster than it
// assumes.
func (b Backend) Accuracy() float64 {
	switch b.Method {
	case Complex:
		return 0
	case Central:
		return 1e-5
	}
	return 1e-3
}

const epsilon = 0x1p-52

// Default steps. eps^(1/2) and eps^(1/3) balance truncation against rounding for
// functions whose derivatives are all of one size: Nocedal & Wright, Numerical
// Optimization, 2nd ed. (2006), §8.1.
var (
	sqrtEps   = math.Sqrt(epsilon)
	cbrtEps   = math.Cbrt(epsilon)
	fourthEps = math.Sqrt(sqrtEps)
)

const (
	complexRel = 1e-20
	complexAbs = 1e-50
)

// A settings holds the checked settings of a backend, with the defaults filled in.
type settings struct {
	function string
	method   Method
	rel, abs float64
	bounded  bool
	lo, hi   []float64
	workers  int
}

// first resolves the settings for first derivatives of f.
func (b Backend) first(f *engine.Function) (*settings, error) {
	rel := [numMethods]float64{cbrtEps, sqrtEps, sqrtEps, complexRel}
	if b.Method >= numMethods {
		return nil, &SettingError{Field: "Method", Got: b.Method, Want: "Central, Forward, Backward or Complex"}
	}
	s, err := b.resolve(f, rel[b.Method])
	if err == nil && b.Method == Complex && b.RelStep == 0 && b.AbsStep == 0 {
		s.abs = complexAbs
	}
	return s, err
}

// second resolves the settings for differences in second derivatives of f.
func (b Backend) second(f *engine.Function) (*settings, error) {
	if b.Method != Complex {
		return b.resolve(f, fourthEps)
	}
	b.RelStep, b.AbsStep = 0, 0
	return b.resolve(f, cbrtEps)
}

func (b Backend) resolve(f *engine.Function, rel float64) (*settings, error) {
	n, _ := f.Dims()
	s := &settings{function: f.Name(), method: b.Method, rel: rel, workers: max(b.Workers, f.Policy().Workers, 1)}
	if b.Method >= numMethods {
		return nil, &SettingError{Field: "Method", Got: b.Method, Want: "Central, Forward, Backward or Complex"}
	}
	if b.Workers < 0 {
		return nil, &SettingError{Field: "Workers", Got: b.Workers, Want: "0 or more"}
	}
	for _, v := range []struct {
		name string
		step float64
	}{{"RelStep", b.RelStep}, {"AbsStep", b.AbsStep}} {
		if !(v.step >= 0 && v.step <= math.MaxFloat64) {
			return nil, &SettingError{Field: v.name, Got: v.step,
				Want: "a positive finite number, or 0 for the default"}
		}
	}
	if b.RelStep != 0 {
		s.rel = b.RelStep
	}
	s.abs = s.rel
	if b.AbsStep != 0 {
		s.abs = b.AbsStep
	}
	if b.Bounds == nil {
		return s, nil
	}
	s.bounded = true
	for _, v := range []struct {
		name  string
		bound []float64
		dst   *[]float64
	}{{"Lower", b.Bounds.Lower, &s.lo}, {"Upper", b.Bounds.Upper, &s.hi}} {
		if v.bound == nil {
			continue
		}
		if len(v.bound) != n {
			return nil, &engine.ShapeError{Op: "finitediff", Arg: "len(Bounds." + v.name + ")", Got: len(v.bound),
				Want: n}
		}
		*v.dst = append(make([]float64, 0, n), v.bound...)
	}
	for i := range n {
		if lo, hi := s.box(i); !(lo <= hi) {
			return nil, &SettingError{Field: fmt.Sprintf("the interval of Bounds for component %d", i),
				Got: [2]float64{lo, hi}, Want: "a lower bound that is not above the upper"}
		}
	}
	return s, nil
}

// box returns the interval of component i. Without bounds it is the range of finite numbers, so that a step does not
// overflow.
func (s *settings) box(i int) (lo, hi float64) {
	lo, hi = -math.MaxFloat64, math.MaxFloat64
	if s.lo != nil {
		lo = max(lo, s.lo[i])
	}
	if s.hi != nil {
		hi = min(hi, s.hi[i])
	}
	return lo, hi
}

// inside returns an error if x is outside the box. A NaN passes.
func (s *settings) inside(x []float64) error {
	if !s.bounded {
		return nil
	}
	for i, v := range x {
		if (s.lo != nil && v < s.lo[i]) || (s.hi != nil && v > s.hi[i]) {
			lo, hi := math.Inf(-1), math.Inf(1)
			if s.lo != nil {
				lo = s.lo[i]
			}
			if s.hi != nil {
				hi = s.hi[i]
			}
			return &BoundsError{Function: s.function, Index: i, X: v, Lower: lo, Upper: hi}
		}
	}
	return nil
}
