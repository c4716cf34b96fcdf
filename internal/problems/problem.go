package problems

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nabla-ad/nabla"
)

// A Problem is a function with points and its derivatives there. It must not be used by two goroutines at the same
// time.
type Problem struct {
	Name   string // as in the table of the package
	Title  string
	Source string
	N, M   int // inputs and outputs; the derivative asked of M = 1 is the gradient
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

	// Cases are the points. Set selects the functions of case i if they differ: T6 has another measurement in each
	// case. Otherwise it is nil.
	Cases []Case
	Set   func(i int)

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

// An Entry is a constructor of a problem.
type Entry struct {
	Name string
	// Sizes holds the usual numbers of inputs. Free is set if any other number from Min on is possible.
	Sizes []int
	Free  bool
	Min   int
	// Sparse is set if the cases have Elements.
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

// hessians is separate from entries, which list only gradients and Jacobians.
var hessians = []Entry{
	{Name: "listing2", Sizes: []int{1000}, Free: true, Min: 2, Sparse: true, make: Listing2},
}

// Entries lists the problems whose derivative is a gradient or Jacobian.
func Entries() []Entry { return slices.Clone(entries) }

// Hessians lists the problems whose derivative is a Hessian.
func Hessians() []Entry { return slices.Clone(hessians) }

// Lookup returns the problem with a name, of any order.
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

// New returns the problem with n inputs. If the size is not free, it is the first of Sizes unless n is another of them.
func (e Entry) New(n int) (*Problem, error) {
	if e.Free && n < e.Min {
		return nil, fmt.Errorf("problems: %s with n = %d, want at least %d", e.Name, n, e.Min)
	}
	return e.make(n), nil
}
