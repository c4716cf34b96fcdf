package difftest

import (
	"fmt"
	"math"
	"reflect"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
)

// A subject is an operator applied to one function on one backend.
type subject struct {
	prepare    func(x []float64) (*prepared, error)
	unprepared []variant
}

// A prepared is a prepared operator with all ways to call it.
type prepared struct {
	variants []variant
	// tries call the operator with one argument too long or too short by delta. They return errSkip if there is no such
	// length.
	tries []try
	clone func() *prepared
	// The following are nil if the operator has no such method.
	resize       func(x []float64) error
	rebind       func(p any) error
	at           func(x []float64) ([]variant, error)
	batch        func(o *outcome, how destination, x []float64, T *mat.Dense) func() error
	plan         func() *nabla.SparsePlan
	invalidCalls func() []invalidCall
}

// A variant is one way to call an operator. start allocates the destinations in o and returns the call, which may be
// repeated and stores its results in o.
type variant struct {
	name   string
	hot    bool      // all destinations are given, so that nothing need be allocated
	scales []float64 // nil unless it is a batch: the directions are these multiples of t
	start  func(o *outcome, x, t []float64) func() error
}

// A starter is the start function of a [variant].
type starter = func(o *outcome, x, t []float64) func() error

// A try calls an operator with a wrong length of the argument arg.
type try struct {
	arg string
	run func(x, t []float64, delta int) error
}

// An env is the backend and the function's number of outputs for n inputs.
type env struct {
	b       nabla.Backend
	outputs func(n int) int
}

// An outcome holds the results of a call.
type outcome struct{ value, first, second part }

// A part is one result: a vector, a matrix or a number, which is a vector of length 1.
type part struct {
	vec         []float64
	m           mat.Matrix
	given       []float64  // the destination, if there was one
	into        mat.Matrix // the destination matrix, if there was one
	enclosing   *mat.Dense // matrix that into is a part of
	row, col    int        // position of into in enclosing
	surrounding []float64  // slice whose elements between the first and the last are the values of into
}

// got returns the numbers of p, row by row, nil if there are none.
func (p *part) got() []float64 {
	if p.m == nil {
		return p.vec
	}
	r, c := p.m.Dims()
	v := make([]float64, 0, r*c)
	for i := range r {
		for j := range c {
			v = append(v, p.m.At(i, j))
		}
	}
	return v
}

// destinationMisuse describes a wrong use of the destination, "" if there is none.
func (p *part) destinationMisuse() string {
	if p.given != nil && (len(p.vec) != len(p.given) || len(p.vec) > 0 && &p.vec[0] != &p.given[0]) {
		return "returned another slice than the one given"
	}
	if p.into != nil && p.m != p.into {
		return fmt.Sprintf("returned %T %p, want the %T %p that was given", p.m, p.m, p.into, p.into)
	}
	if p.surrounding != nil {
		return p.writtenBeside()
	}
	if p.enclosing == nil {
		return ""
	}
	rows, cols := p.into.Dims()
	R, C := p.enclosing.Dims()
	for i := range R {
		for j := range C {
			inside := i >= p.row && i < p.row+rows && j >= p.col && j < p.col+cols
			if v := p.enclosing.At(i, j); !inside && !math.IsNaN(v) {
				return fmt.Sprintf("wrote %v beside the destination, at row %d, column %d of it", v, i-p.row, j-p.col)
			}
		}
	}
	return ""
}

// number returns a part for a result that is a number.
func number() part { return part{vec: make([]float64, 1)} }

// A destination is the kind of destination that an operator is given.
type destination uint8

const (
	noDestination     destination = iota
	filledDestination             // full of NaN
	emptyDestination              // an empty matrix, which the operator sizes
)

// vector returns a part with a destination of length n, full of NaN, if given is set.
func vector(n int, given bool) part {
	if !given {
		return part{}
	}
	return part{given: nans(n)}
}

// nans returns n NaNs.
func nans(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = math.NaN()
	}
	return v
}

// matrix returns a part for r rows and c columns, and its destination. A filled one is a part of a larger matrix.
func matrix(r, c int, how destination) (part, *mat.Dense) {
	switch {
	case how == noDestination:
		return part{}, nil
	case how == emptyDestination || r == 0 || c == 0:
		d := new(mat.Dense)
		return part{into: d}, d
	}
	around := mat.NewDense(r+2, c+3, nans((r+2)*(c+3)))
	d := around.Slice(1, r+1, 2, c+2).(*mat.Dense)
	return part{into: d, enclosing: around, row: 1, col: 2}, d
}

// symmetric returns a part for a symmetric matrix of order n, and its destination.
func symmetric(n int, how destination) (part, *mat.SymDense) {
	switch {
	case how == noDestination:
		return part{}, nil
	case how == emptyDestination || n == 0:
		d := new(mat.SymDense)
		return part{into: d}, d
	}
	d := mat.NewSymDense(n, nans(n*n))
	return part{into: d}, d
}

// directions returns the matrix with columns scales[k]·t.
func directions(t, scales []float64) *mat.Dense {
	if len(t) == 0 {
		return new(mat.Dense)
	}
	v := mat.NewDense(len(t), len(scales), nil)
	for i, ti := range t {
		for k, s := range scales {
			v.Set(i, k, s*ti)
		}
	}
	return v
}

// sideBySide returns the matrix with columns ts.
func sideBySide(ts [][]float64) *mat.Dense {
	n := len(ts[0])
	if n == 0 {
		return new(mat.Dense)
	}
	v := mat.NewDense(n, len(ts), nil)
	for k, t := range ts {
		v.SetCol(k, t)
	}
	return v
}

var (
	// pair and five are the multiples of the direction that batches consist of.
	pair = []float64{1, -1}
	five = []float64{1, -1, 2, 0.5, -4}
)

// errSkip is returned if an argument cannot be made wrong in this way.
var errSkip = fmt.Errorf("no such length")

// resized returns a copy of v with delta elements more, and false if there is no such length.
func resized(v []float64, delta int) ([]float64, bool) {
	if len(v)+delta < 0 {
		return nil, false
	}
	w := append([]float64{}, v...)
	for range delta {
		w = append(w, 1)
	}
	return w[:len(v)+delta], true
}

// vectorTry returns a try of a vector argument of the given length for n inputs.
func vectorTry(arg string, length func(n int) int, call func(x, t, v []float64) error) try {
	return try{arg, func(x, t []float64, delta int) error {
		v, ok := resized(make([]float64, length(len(x))), delta)
		if !ok {
			return errSkip
		}
		return call(x, t, v)
	}}
}

// pointTry returns a try of the point.
func pointTry(call func(x, t []float64) error) try {
	return try{"x", func(x, t []float64, delta int) error {
		w, ok := resized(x, delta)
		if !ok {
			return errSkip
		}
		return call(w, t)
	}}
}

// directionTry returns a try of the direction.
func directionTry(call func(x, t []float64) error) try {
	return try{"t", func(x, t []float64, delta int) error {
		w, ok := resized(t, delta)
		if !ok {
			return errSkip
		}
		return call(x, w)
	}}
}

// matrixTry returns a try of a matrix argument with the given number of rows for n inputs and c columns, or len(x)
// columns if c is 0. It changes the columns if columns is set, otherwise the rows.
func matrixTry(arg string, length func(n int) int, c int, columns bool,
	call func(x, t []float64, d *mat.Dense) error) try {
	return try{arg, func(x, t []float64, delta int) error {
		r, c := length(len(x)), c
		if c == 0 {
			c = len(x)
		}
		if columns {
			c += delta
		} else {
			r += delta
		}
		if r < 1 || c < 1 {
			return errSkip
		}
		return call(x, t, mat.NewDense(r, c, nil))
	}}
}

// Types of functions that operators take, over Reals and over plain numbers, with and without an error.
type (
	scalarR  = func([]nabla.Real) nabla.Real
	scalarRE = func([]nabla.Real) (nabla.Real, error)
	scalarP  = func([]float64) float64
	scalarPE = func([]float64) (float64, error)
	vectorR  = func([]nabla.Real) []nabla.Real
	vectorRE = func([]nabla.Real) ([]nabla.Real, error)
	vectorP  = func([]float64) []float64
	vectorPE = func([]float64) ([]float64, error)
	numberR  = func(nabla.Real) nabla.Real
	numberRE = func(nabla.Real) (nabla.Real, error)
	numberP  = func(float64) float64
	numberPE = func(float64) (float64, error)
	curveR   = func(nabla.Real) []nabla.Real
	curveRE  = func(nabla.Real) ([]nabla.Real, error)
	curveP   = func(float64) []float64
	curvePE  = func(float64) ([]float64, error)
)

// subjectOf returns the operator of s applied to f. It fails in preparation if the operator takes no function of the
// type of f.
func subjectOf(s *Scenario, b nabla.Backend, f any) subject {
	e := env{b, s.outputs}
	list := makers(s)
	for _, m := range list {
		if made, ok := m.of(e, f); ok {
			return made
		}
	}
	err := fmt.Errorf("the function is a %T, and the operator takes a %s, a %s, one of these with an error, or a "+
		"*nabla.Func", f, list[0].name, list[1].name)
	return subject{prepare: func([]float64) (*prepared, error) { return nil, err }}
}

// makers returns the forms of the operator of s, for each type of function that it takes. The first two are those over
// Reals and over plain numbers.
func makers(s *Scenario) []maker {
	number := s.YShape.Number
	switch op := s.Operator; {
	case op == "pushforward":
		return []maker{makerOf(pushforward[scalarR]), makerOf(pushforward[scalarP]), makerOf(pushforward[scalarRE]),
			makerOf(pushforward[scalarPE]), makerOf(pushforward[vectorR]), makerOf(pushforward[vectorP]),
			makerOf(pushforward[vectorRE]), makerOf(pushforward[vectorPE]), makerOf(pushforward[*nabla.Func])}
	case op == "pullback":
		return []maker{makerOf(pullback[scalarR]), makerOf(pullback[scalarP]), makerOf(pullback[scalarRE]),
			makerOf(pullback[scalarPE]), makerOf(pullback[vectorR]), makerOf(pullback[vectorP]),
			makerOf(pullback[vectorRE]), makerOf(pullback[vectorPE]), makerOf(pullback[*nabla.Func])}
	case op == "gradient":
		return []maker{makerOf(gradient[scalarR]), makerOf(gradient[scalarP]), makerOf(gradient[scalarRE]),
			makerOf(gradient[scalarPE]), makerOf(gradient[*nabla.Func])}
	case op == "hvp":
		return []maker{makerOf(hvp[scalarR]), makerOf(hvp[scalarP]), makerOf(hvp[scalarRE]), makerOf(hvp[scalarPE]),
			makerOf(hvp[*nabla.Func])}
	case op == "hessian":
		return []maker{makerOf(hessian[scalarR]), makerOf(hessian[scalarP]), makerOf(hessian[scalarRE]),
			makerOf(hessian[scalarPE]), makerOf(hessian[*nabla.Func])}
	case op == "jacobian":
		return []maker{makerOf(jacobian[vectorR]), makerOf(jacobian[vectorP]), makerOf(jacobian[vectorRE]),
			makerOf(jacobian[vectorPE]), makerOf(jacobian[*nabla.Func])}
	case op == "derivative" && number:
		return []maker{makerOf(derivative[numberR]), makerOf(derivative[numberP]), makerOf(derivative[numberRE]),
			makerOf(derivative[numberPE]), makerOf(derivative[*nabla.Func])}
	case op == "derivative":
		return []maker{makerOf(curveDerivative[curveR]), makerOf(curveDerivative[curveP]),
			makerOf(curveDerivative[curveRE]), makerOf(curveDerivative[curvePE]), makerOf(curveDerivative[*nabla.Func])}
	case op == "second_derivative" && number:
		return []maker{makerOf(secondDerivative[numberR]), makerOf(secondDerivative[numberP]),
			makerOf(secondDerivative[numberRE]), makerOf(secondDerivative[numberPE]),
			makerOf(secondDerivative[*nabla.Func])}
	case op == "second_derivative":
		return []maker{makerOf(curveSecondDerivative[curveR]), makerOf(curveSecondDerivative[curveP]),
			makerOf(curveSecondDerivative[curveRE]), makerOf(curveSecondDerivative[curvePE]),
			makerOf(curveSecondDerivative[*nabla.Func])}
	}
	panic("difftest: no operator " + s.Operator)
}

// A maker returns an operator applied to a function of one type, and reports whether f has that type.
type maker struct {
	name string // of the type
	of   func(e env, f any) (subject, bool)
}

// makerOf returns the maker for functions of type F.
func makerOf[F any](operator func(e env, f F) subject) maker {
	return maker{reflect.TypeFor[F]().String(), func(e env, f any) (subject, bool) {
		g, ok := f.(F)
		if !ok {
			return subject{}, false
		}
		return operator(e, g), true
	}}
}
