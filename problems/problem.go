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

	// Plain and Traced are the function where M is 1, PlainVector and TracedVector
	// where it is greater. Those over Reals take their data for constants.
	Plain        func(x []float64) float64
	PlainVector  func(y, x []float64)
	Traced       func(x []nabla.Real) nabla.Real
	TracedVector func(y, x []nabla.Real)
	// Func is the function over Reals with its data bound, so that other data need
	// no other recording. Nil where there are no data: use Traced.
	Func *nabla.Func

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
	Derivative []float64 // M rows of N
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

	make func(n int) *Problem
}

var entries = []Entry{
	{"T1", []int{10, 100, 1000, 10000}, true, 1, T1},
	{"T2", []int{1000}, true, 2, T2},
	{"T3", []int{1000}, true, 2, T3},
	{"T4", []int{72}, false, 0, func(int) *Problem { return T4(6) }},
	{"T5", []int{330}, false, 0, func(int) *Problem { return T5() }},
	{"gmm", []int{30}, false, 0, func(int) *Problem { return GMM() }},
	{"T6", []int{15}, false, 0, func(int) *Problem { return T6() }},
	{"ba", []int{56}, false, 0, func(int) *Problem { return BA() }},
	{"T7", []int{20}, false, 0, func(int) *Problem { return T7() }},
	{"T8", []int{6}, false, 0, func(int) *Problem { return T8() }},
	{"lstm", []int{95}, false, 0, func(int) *Problem { return LSTM() }},
	{"hand", []int{26}, false, 0, func(int) *Problem { return HandSimple() }},
	{"hand_triangles", []int{50}, false, 0, func(int) *Problem { return HandTriangles() }},
}

// Entries lists the problems.
func Entries() []Entry { return slices.Clone(entries) }

// Lookup finds a problem by its name.
func Lookup(name string) (Entry, error) {
	names := make([]string, len(entries))
	for i, e := range entries {
		if e.Name == name {
			return e, nil
		}
		names[i] = e.Name
	}
	return Entry{}, fmt.Errorf("problems: no problem %q; there are %s", name, strings.Join(names, ", "))
}

// New makes the problem with n inputs. Where the size is not free, n is not looked at.
func (e Entry) New(n int) (*Problem, error) {
	if e.Free && n < e.Min {
		return nil, fmt.Errorf("problems: %s with n = %d, want at least %d", e.Name, n, e.Min)
	}
	return e.make(n), nil
}
