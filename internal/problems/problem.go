package problems

import (
	"github.com/nabla-ad/nabla"
)

// A Problem is a function with points and its derivatives there. It must not be used by two goroutines at the same
// time.
type Problem struct {
	Name  string // as in the table of the package
	Title string
	// Formula defines the function, as a line of text.
	Formula string
	Source  string
	N, M    int // inputs and outputs; the derivative asked of M = 1 is the gradient
	// Hessian is set if the derivative is the Hessian, N rows of N.
	Hessian bool

	// Plain and Traced are the function if M is 1, PlainVector and TracedVector if it is greater. Those over Reals
	// treat their data as constants.
	Plain        func(x []float64) float64
	PlainVector  func(y, x []float64)
	Traced       func(x []nabla.Real) nabla.Real
	TracedVector func(y, x []nabla.Real)
	// Func is the function over Reals with its data bound, so that a recording is valid for other data. It is nil
	// without data: use Traced.
	Func *nabla.Func
	// Bound is the plain function with its data bound, which generated code was made from. It is nil without data: use
	// Plain.
	Bound *nabla.Func

	// Data returns the numbers that Func is bound to, for the selected case. It is nil where no task needs them.
	Data func() []float64

	// Cases are the points. Set selects the functions of case i if they differ: T6 has another measurement in each
	// case. Otherwise it is nil.
	Cases []Case
	Set   func(i int)

	// ByHand returns value and derivative written by hand, the limit for all engines. It is nil if there are none.
	ByHand func() *ByHand

	// Tolerance is the error of an exact engine, relative to the largest component of a case's derivative.
	Tolerance float64
	// Difference is the error of finite differences with textbook steps, forward or central, whichever is larger.
	Difference float64
}

// A Case is a point with the value and the derivative there.
type Case struct {
	X          []float64
	Value      []float64 // M numbers
	Derivative []float64 // M rows of N; nil where that would be large
	// Elements holds the structural nonzeros, for problems with a sparse derivative.
	Elements []Element
}

// An Element is an element of a sparse matrix. Elements with the same position are added.
type Element struct {
	Row, Col int
	Value    float64
}

// Rows returns the number of rows of the derivative.
func (p *Problem) Rows() int {
	if p.Hessian {
		return p.N
	}
	return p.M
}

// Dense returns the derivative of a case, row by row.
func (p *Problem) Dense(c Case) []float64 {
	if c.Derivative != nil {
		return c.Derivative
	}
	return dense(c.Elements, p.Rows(), p.N)
}

// Select selects the functions of case i and returns it.
func (p *Problem) Select(i int) Case {
	if p.Set != nil {
		p.Set(i)
	}
	return p.Cases[i]
}

// Numbers returns the result of Data, nil without it.
func (p *Problem) Numbers() []float64 {
	if p.Data == nil {
		return nil
	}
	return p.Data()
}

// Eval computes y = f(x) in plain Go.
func (p *Problem) Eval(y, x []float64) {
	if p.Plain != nil {
		y[0] = p.Plain(x)
		return
	}
	p.PlainVector(y, x)
}

// EvalTraced computes y = f(x) over Reals.
func (p *Problem) EvalTraced(y, x []nabla.Real) {
	if p.Traced != nil {
		y[0] = p.Traced(x)
		return
	}
	p.TracedVector(y, x)
}
