package problems

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nabla-ad/nabla"
)

// A Problem is a function with the points where it is differentiated and the
// derivatives there. It is used by one goroutine at a time.
type Problem struct {
	Name   string // as in the table of the package
	Title  string
	Source string
	N, M   int // inputs and outputs; the derivative asked of M = 1 is the gradient
	// Hessian says that the derivative asked is the Hessian, N rows of N.
	Hessian bool

	// Plain and Traced are the function where M is 1, PlainVector and TracedVector
	// where it is greater. Those over Reals take their data for constants.
	Plain        func(x []float64) float64
	PlainVector  func(y, x []float64)
	Traced       func(x []nabla.Real) nabla.Real
	TracedVector func(y, x []nabla.Real)
	// Func is the function over Reals with its data bound, so that other data need
	// no other recording. Nil where there are no data: use Traced.
	Func *nabla.Func
	// Bound is the plain function with its data bound, for which there is generated code.
	// Nil where there are no data: that is Plain.
	Bound *nabla.Func

	// Cases are the points. Set makes the functions those of case i, where they
	// depend on it: T6 has another measurement in each. Nil where they do not.
	Cases []Case
	Set   func(i int)

	// Tolerance is the error of an exact engine, relative to the largest component
	// of a case's derivative.
	Tolerance float64
	// Difference is the same for finite differences with textbook steps, forward or
	// central, whichever is worse.
	Difference float64
}

// A Case is a point and what is known there.
type Case struct {
	X          []float64
	Value      []float64 // M numbers
	Derivative []float64 // M rows of N; nil where that would be large
	// Elements are those of the derivative that can differ from zero, of problems
	// whose derivative is sparse.
	Elements []Element
}

// An Element is one element of a sparse matrix. Several at one place add up.
type Element struct {
	Row, Col int
	Value    float64
}

// Rows is how many rows the derivative has.
func (p *Problem) Rows() int {
	if p.Hessian {
		return p.N
	}
	return p.M
}

// Dense is the derivative of a case, row by row.
func (p *Problem) Dense(c Case) []float64 {
	if c.Derivative != nil {
		return c.Derivative
	}
	return dense(c.Elements, p.Rows(), p.N)
}

// Select makes the functions those of case i.
func (p *Problem) Select(i int) Case {
	if p.Set != nil {
		p.Set(i)
	}
	return p.Cases[i]
}

// Eval writes y = f(x), computed in plain Go.
func (p *Problem) Eval(y, x []float64) {
	if p.Plain != nil {
		y[0] = p.Plain(x)
		return
	}
	p.PlainVector(y, x)
}

// EvalTraced writes y = f(x), computed over Reals.
func (p *Problem) EvalTraced(y, x []nabla.Real) {
	if p.Traced != nil {
		y[0] = p.Traced(x)
		return
	}
	p.TracedVector(y, x)
}

// An Entry is a problem that can be made.
type Entry struct {
	Name string
	// Sizes are the numbers of inputs that are usual. Free says that another number,
	// from Min on, is possible.
	Sizes []int
	Free  bool
	Min   int
	// Sparse says that the cases have Elements.
	Sparse bool

	make func(n int) *Problem
}

var entries = []Entry{
	{Name: "T1", Sizes: []int{10, 100, 1000, 10000}, Free: true, Min: 1, make: T1},
	{Name: "T2", Sizes: []int{1000}, Free: true, Min: 2, make: T2},
	{Name: "T3", Sizes: []int{1000}, Free: true, Min: 2, make: T3},
	{Name: "T4", Sizes: []int{72, 2048}, Sparse: true, make: brusselator},
	{Name: "T5", Sizes: []int{330}, make: func(int) *Problem { return T5() }},
	{Name: "gmm", Sizes: []int{30}, make: func(int) *Problem { return GMM() }},
	{Name: "T6", Sizes: []int{15}, make: func(int) *Problem { return T6() }},
	{Name: "ba", Sizes: []int{56}, make: func(int) *Problem { return BA() }},
	{Name: "T7", Sizes: []int{20}, make: func(int) *Problem { return T7() }},
	{Name: "T8", Sizes: []int{6}, make: func(int) *Problem { return T8() }},
	{Name: "lstm", Sizes: []int{95}, make: func(int) *Problem { return LSTM() }},
	{Name: "hand", Sizes: []int{26}, make: func(int) *Problem { return HandSimple() }},
	{Name: "hand_triangles", Sizes: []int{50}, make: func(int) *Problem { return HandTriangles() }},
}

// hessians are apart, because those who go through all problems ask for gradients and
// Jacobians.
var hessians = []Entry{
	{Name: "listing2", Sizes: []int{1000}, Free: true, Min: 2, Sparse: true, make: Listing2},
}

// Entries lists the problems of first order.
func Entries() []Entry { return slices.Clone(entries) }

// Hessians lists the problems of which the Hessian is asked.
func Hessians() []Entry { return slices.Clone(hessians) }

// Lookup finds a problem, of any order, by its name.
func Lookup(name string) (Entry, error) {
	all := slices.Concat(entries, hessians)
	names := make([]string, len(all))
	for i, e := range all {
		if e.Name == name {
			return e, nil
		}
		names[i] = e.Name
	}
	return Entry{}, fmt.Errorf("problems: no problem %q; there are %s", name, strings.Join(names, ", "))
}

// New makes the problem with n inputs. Where the size is not free, it is the first of
// Sizes unless n is another of them.
func (e Entry) New(n int) (*Problem, error) {
	if e.Free && n < e.Min {
		return nil, fmt.Errorf("problems: %s with n = %d, want at least %d", e.Name, n, e.Min)
	}
	return e.make(n), nil
}
