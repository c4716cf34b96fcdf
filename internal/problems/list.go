package problems

import (
	"fmt"
	"slices"
	"strings"
)

// An Entry is a constructor of a problem.
type Entry struct {
	Name  string
	About string // the function in a few words
	// Sizes holds the usual numbers of inputs. Free is set if any other number from Min on is possible.
	Sizes []int
	Free  bool
	Min   int
	// Sparse is set if the cases have Elements.
	Sparse bool

	make func(n int) *Problem
}

// A new problem has a constructor in a file of its own, a row in entries or hessians, one in the table of the package
// comment, and reference values in the tests. If the command is to time it, its name goes to benchmarked too.

var entries = []Entry{
	{Name: "T1", About: "sum of squares",
		Sizes: []int{10, 100, 1000, 10000}, Free: true, Min: 1, make: T1},
	{Name: "T2", About: "sum of squared differences",
		Sizes: []int{1000}, Free: true, Min: 2, make: T2},
	{Name: "T3", About: "chained Rosenbrock",
		Sizes: []int{1000}, Free: true, Min: 2, make: T3},
	{Name: "T4", About: "Jacobian of the Brusselator, on grids of 6×6 and 32×32",
		Sizes: []int{72, 2048}, Sparse: true, make: brusselator},
	{Name: "T5", About: "Gaussian mixture, d=10, K=5, 100 points",
		Sizes: []int{330}, make: func(int) *Problem { return T5() }},
	{Name: "gmm", About: "Gaussian mixture of ADBench, d=2, K=5, 1000 points",
		Sizes: []int{30}, make: func(int) *Problem { return GMM() }},
	{Name: "T6", About: "bundle adjustment, per observation",
		Sizes: []int{15}, make: func(int) *Problem { return T6() }},
	{Name: "ba", About: "bundle adjustment, 12 observations at once",
		Sizes: []int{56}, make: func(int) *Problem { return BA() }},
	{Name: "T7", About: "logistic regression, 1000 rows",
		Sizes: []int{20}, make: func(int) *Problem { return T7() }},
	{Name: "T8", About: "Lorenz system, 1000 Runge-Kutta steps",
		Sizes: []int{6}, make: func(int) *Problem { return T8() }},
	{Name: "T4-modulo", About: "T4 with a remainder for each neighbour",
		Sizes: []int{72, 2048}, Sparse: true, make: brusselatorModulo},
	{Name: "T8-arrays", About: "T8 with its state in arrays",
		Sizes: []int{6}, make: func(int) *Problem { return T8Arrays() }},
	{Name: "lstm", About: "LSTM of ADBench, 2 layers, 10 characters",
		Sizes: []int{95}, make: func(int) *Problem { return LSTM() }},
	{Name: "hand", About: "hand tracking of ADBench, points at vertices",
		Sizes: []int{26}, make: func(int) *Problem { return HandSimple() }},
	{Name: "hand_triangles", About: "hand tracking of ADBench, points in triangles",
		Sizes: []int{50}, make: func(int) *Problem { return HandTriangles() }},
}

// hessians is separate from entries, which list only gradients and Jacobians.
var hessians = []Entry{
	{Name: "listing2", About: "Hessian of Σ (x[i+1]-x[i])²",
		Sizes: []int{1000}, Free: true, Min: 2, Sparse: true, make: Listing2},
}

// benchmarked are the names of the problems that the command times, in the order of its rows.
var benchmarked = []string{"T1", "T3", "T5", "gmm", "T6", "T7", "T8", "T8-arrays", "listing2", "T4", "T4-modulo"}

// Benchmarked returns the problems that the command times, in the order of its rows.
func Benchmarked() []Entry {
	out := make([]Entry, len(benchmarked))
	for i, name := range benchmarked {
		e, err := Lookup(name)
		if err != nil {
			panic(err)
		}
		out[i] = e
	}
	return out
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
