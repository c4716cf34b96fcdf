package difftest

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/nabla-ad/nabla"
)

// A Scenario is one operator, applied to one function at one point, with the expected results. [Scenarios] returns
// those of the catalogue; others can be passed to [Run] in Options.Scenarios.
//
// A matrix is one slice, column after column in the catalogue; results have the order of the slices.
type Scenario struct {
	Name  string // of the subtest
	Group string // "default", "sparse", "empty", "allocfree" or "behaviour" in the catalogue

	// Operator is pushforward, pullback, derivative, gradient, jacobian,
	// second_derivative, hvp or hessian.
	Operator string

	// Func writes all of y. The operator is passed a function of the form that XShape, YShape and InPlace determine.
	Func func(y, x []nabla.Real)
	// OnBackend returns the function for the backend under test, which it differentiates with; Func is nil then.
	OnBackend func(b nabla.Backend) func(y, x []nabla.Real)
	// Form returns the function in the form that the operator takes, if it cannot be made from Func: one that allocates
	// nothing, or a *nabla.Func. If it returns nil for plain functions, they are made from Func. Modifiers do not use
	// it.
	Form func(plain bool) any
	// Outputs returns the number of outputs for n inputs. Nil means that of Value, and that the function takes no other
	// number of inputs.
	Outputs func(n int) int
	// InPlace passes Func as a nabla.InPlace.
	InPlace bool

	XShape, YShape Shape
	X              []float64
	// PrepX is the point of preparation, nil for zeros. If its length is not that of X, calls at X must be refused
	// until a Resize.
	PrepX []float64
	// Tangents are the directions of a pushforward, pullback or HVP: one, or
	// several for a batch.
	Tangents [][]float64
	// Contexts describe the data that Func reads besides x. Modifiers add them.
	Contexts []Context

	// Value is f(X). First and Second are the derivatives: matrices row by row, products with several tangents one
	// after the other. Nil is not compared.
	Value, First, Second []float64
	// At returns the same at any point and for one tangent, computed without an engine. If it is nil, results at other
	// points are compared with those of a new preparation.
	At func(x, t []float64) Results
	// NNZ is the number of structural nonzeros of the Jacobian or Hessian, 0 if it is not known. It is compared with
	// matrices that report how many elements they store.
	NNZ int

	// light leaves out checks that would take too long.
	light       bool
	otherBranch bool // the function takes another branch at PrepX than at X
	hasInForm   bool // the catalogue has the same scenario for a given result; modifiers are applied to one of the two
	wrappers    []func(body) body
	m           int // number of outputs, if Value is nil
	// countedForm returns the function of Form with its evaluations counted; nil if Func is counted instead, or nothing
	// can be.
	countedForm func(n *atomic.Int64) any
}

// A body is a function as modifiers see it.
type body func(y, x []nabla.Real, c *bindings)

// Results holds the expected results of a call.
type Results struct{ Value, First, Second []float64 }

// A Shape is the shape of an argument or a result. The zero value is a vector.
type Shape struct {
	Number     bool
	Rows, Cols int // of a matrix
}

// String returns number, vector or r×c matrix.
func (s Shape) String() string {
	switch {
	case s.Number:
		return "number"
	case s.Rows > 0:
		return fmt.Sprintf("%d×%d matrix", s.Rows, s.Cols)
	}
	return "vector"
}

// String returns the name, operator, form and shapes.
func (s *Scenario) String() string {
	form := "out of place"
	if s.InPlace {
		form = "in place"
	}
	return fmt.Sprintf("%s: %s of a function %s, %v to %v (%d tangents, %d contexts)",
		s.Name, s.Operator, form, s.XShape, s.YShape, len(s.Tangents), len(s.Contexts))
}

// Scenarios returns the scenarios of a group, or all for "". The caller may modify them.
func Scenarios(group string) []Scenario {
	var out []Scenario
	for _, s := range catalogue {
		if group == "" || s.Group == group {
			out = append(out, s)
		}
	}
	return out
}

// tangent returns the first direction, nil for an operator without one.
func (s *Scenario) tangent() []float64 {
	if len(s.Tangents) == 0 {
		return nil
	}
	return s.Tangents[0]
}

// withOutputs returns s with its number of outputs, which it determines by an evaluation if s does not state it.
func (s Scenario) withOutputs() Scenario {
	if s.Value == nil && s.Outputs == nil && s.m == 0 && s.validate() == nil {
		if f, err := s.evaluator(false); err == nil {
			_, s.m = f.Dims()
		}
	}
	return s
}

// secondOrder reports whether the operator computes second derivatives.
func (s *Scenario) secondOrder() bool {
	return s.Operator == "second_derivative" || s.Operator == "hvp" || s.Operator == "hessian"
}

// scalar reports whether the function returns one number.
func (s *Scenario) scalar() bool {
	return s.YShape.Number || s.Operator == "gradient" || s.Operator == "hvp" || s.Operator == "hessian"
}

// prepX returns the point of preparation. It differs from X by default, so that data frozen by the preparation shows.
func (s *Scenario) prepX() []float64 {
	if s.PrepX != nil {
		return s.PrepX
	}
	return make([]float64, len(s.X))
}

// M returns the number of outputs of the function.
func (s *Scenario) M() int {
	if s.Value == nil {
		return s.m
	}
	return len(s.Value)
}

// outputs returns the number of outputs of the function for n inputs.
func (s *Scenario) outputs(n int) int {
	if s.InPlace || s.Outputs == nil {
		return s.M()
	}
	return s.Outputs(n)
}

// fixed reports whether the function takes one number of inputs only.
func (s *Scenario) fixed() bool {
	n := len(s.X)
	return s.Outputs == nil || s.InPlace && s.Outputs(n) != s.Outputs(n+1)
}

// want returns the expected results at X for the first tangent.
func (s *Scenario) want() Results {
	w := Results{s.Value, s.First, s.Second}
	if k := len(s.Tangents); k > 1 {
		if s.Operator == "hvp" {
			w.Second = w.Second[:len(w.Second)/k]
		} else {
			w.First = w.First[:len(w.First)/k]
		}
	}
	return w
}

// A record is an entry of scenarios.json.
type record struct {
	ID       string  `json:"id"`
	Group    string  `json:"group"`
	Family   string  `json:"family"`
	Operator string  `json:"operator"`
	Form     string  `json:"function_form"`
	X        array   `json:"x"`
	PrepX    *array  `json:"prep_x"`
	T        []array `json:"t"`
	Y        array   `json:"y"`
	Res1     result  `json:"res1"`
	Res2     result  `json:"res2"`
}

//go:embed testdata/scenarios.json
var catalogueJSON []byte

// catalogue holds all scenarios, in the order of scenarios.json and then those computed here.
var catalogue = func() []Scenario {
	var rs []record
	if err := json.Unmarshal(catalogueJSON, &rs); err != nil {
		panic(fmt.Sprintf("difftest: scenarios.json: %v", err))
	}
	var all []Scenario
	for _, r := range rs {
		s, err := r.scenario()
		if err != nil {
			panic(fmt.Sprintf("difftest: scenario %s: %v", r.ID, err))
		}
		all = append(all, s)
	}
	all = slices.Concat(all, bandedScenarios(), behaviourScenarios())
	names := map[string]bool{}
	for i := range all {
		names[all[i].Name] = true
	}
	for i := range all {
		given, ok := strings.CutSuffix(all[i].Name, "/out")
		all[i].hasInForm = ok && names[given+"/in"]
	}
	return all
}()

// scenario returns the scenario of an entry.
func (r *record) scenario() (Scenario, error) {
	fam, ok := families[r.Family]
	if !ok {
		return Scenario{}, fmt.Errorf("no family %q", r.Family)
	}
	s := Scenario{
		Name: r.ID, Group: r.Group, Operator: r.Operator, InPlace: r.Form == "in",
		X: r.X.data, XShape: r.X.shape, YShape: r.Y.shape, Value: r.Y.data,
	}
	if s.Group == "" {
		s.Group = "default"
	}
	fam.complete(&s)
	if r.PrepX != nil {
		s.PrepX = r.PrepX.data
	}
	for _, t := range r.T {
		s.Tangents = append(s.Tangents, t.data)
	}
	var err error
	switch r.Operator {
	case "pushforward", "pullback":
		s.First, err = r.Res1.list()
	case "jacobian":
		s.First, err = r.Res1.rows()
	case "hvp":
		if s.First, err = r.Res1.columns(); err == nil {
			s.Second, err = r.Res2.list()
		}
	case "hessian":
		if s.First, err = r.Res1.columns(); err == nil {
			s.Second, err = r.Res2.rows()
		}
	case "second_derivative":
		if s.First, err = r.Res1.columns(); err == nil {
			s.Second, err = r.Res2.columns()
		}
	default:
		s.First, err = r.Res1.columns()
	}
	s.setNNZ()
	return s, err
}

// withExpected returns s with the results of At for all its tangents.
func (s Scenario) withExpected() Scenario {
	var w Results
	for i := range max(1, len(s.Tangents)) {
		var t []float64
		if len(s.Tangents) > 0 {
			t = s.Tangents[i]
		}
		r := s.At(s.X, t)
		switch {
		case i == 0:
			w = r
		case s.Operator == "hvp":
			w.Second = append(w.Second, r.Second...)
		default:
			w.First = append(w.First, r.First...)
		}
	}
	s.Value, s.First, s.Second = w.Value, w.First, w.Second
	s.setNNZ()
	return s
}

// setNNZ sets NNZ for scenarios of group sparse, unless it is set: another point has the same number.
func (s *Scenario) setNNZ() {
	switch {
	case s.NNZ > 0:
	case s.Group == "sparse" && s.Operator == "hessian":
		s.NNZ = nonzeros(s.Second)
	case s.Group == "sparse":
		s.NNZ = nonzeros(s.First)
	}
}

// nonzeros returns the number of nonzero elements.
func nonzeros(v []float64) int {
	n := 0
	for _, x := range v {
		if x != 0 {
			n++
		}
	}
	return n
}

// An array is a number, a vector or a matrix of scenarios.json, stored column after column.
type array struct {
	shape Shape
	data  []float64
}

// UnmarshalJSON reads a number, a list of numbers, or a list of rows, which it stores by columns.
func (a *array) UnmarshalJSON(b []byte) error {
	var x float64
	if json.Unmarshal(b, &x) == nil {
		a.shape.Number, a.data = true, []float64{x}
		return nil
	}
	if json.Unmarshal(b, &a.data) == nil {
		return nil
	}
	var rows [][]float64
	if err := json.Unmarshal(b, &rows); err != nil {
		return err
	}
	a.shape = Shape{Rows: len(rows), Cols: len(rows[0])}
	a.data = nil
	for j := range rows[0] {
		for i := range rows {
			a.data = append(a.data, rows[i][j])
		}
	}
	return nil
}

// A result is an undecoded result, whose form depends on the operator.
type result struct{ raw json.RawMessage }

func (r *result) UnmarshalJSON(b []byte) error {
	r.raw = append(r.raw, b...)
	return nil
}

// list returns the only element of a list of results.
func (r result) list() ([]float64, error) {
	var a []array
	if err := json.Unmarshal(r.raw, &a); err != nil || len(a) != 1 {
		return nil, fmt.Errorf("want one result, got %s (%v)", r.raw, err)
	}
	return a[0].data, nil
}

// columns returns a result that has the shape of an input or output.
func (r result) columns() ([]float64, error) {
	var a array
	err := json.Unmarshal(r.raw, &a)
	return a.data, err
}

// rows returns a derivative matrix, row after row.
func (r result) rows() ([]float64, error) {
	var rows [][]float64
	err := json.Unmarshal(r.raw, &rows)
	out := []float64{}
	for _, row := range rows {
		out = append(out, row...)
	}
	return out, err
}

// A family is a function of the catalogue: into writes all of y, outputs returns the number of outputs for n inputs,
// and exact returns the derivatives in closed form. The other forms do not allocate; nil if into is used.
type family struct {
	into    func(y, x []nabla.Real)
	outputs func(n int) int
	exact   func(x []float64, m int) exactResults
	scalar  func(x []nabla.Real) nabla.Real
	number  func(x nabla.Real) nabla.Real
	vector  func(x []nabla.Real) []nabla.Real
}

// An exactResults holds a function's value, its Jacobian row by row and, if it has one input or one output, its second
// derivatives.
type exactResults struct{ y, jac, hess []float64 }

// newExactResults returns zero results for n inputs and m outputs.
func newExactResults(n, m int) exactResults {
	t := exactResults{y: make([]float64, m), jac: make([]float64, m*n)}
	if n == 1 || m == 1 {
		t.hess = make([]float64, m*n*n)
	}
	return t
}

// complete sets the function of s, whose shapes and value are known, to f.
func (f family) complete(s *Scenario) {
	s.Func, s.Outputs = f.into, f.outputs
	outputs := f.outputs
	if s.InPlace {
		m := s.M()
		outputs = func(int) int { return m }
	}
	if f.exact != nil {
		operator := s.Operator
		s.At = func(x, t []float64) Results {
			m := outputs(len(x))
			return f.exact(x, m).results(operator, len(x), m, t)
		}
	}
	number := s.XShape.Number && (s.Operator == "derivative" || s.Operator == "second_derivative")
	inPlace, scalar := s.InPlace, s.scalar()
	s.Form = func(plain bool) any {
		switch {
		case plain || inPlace:
		case number && scalar && f.number != nil:
			return f.number
		case number:
		case scalar && f.scalar != nil:
			return f.scalar
		case !scalar && f.vector != nil:
			return f.vector
		}
		return nil
	}
}

// results returns the results of one operator for n inputs and m outputs.
func (d exactResults) results(operator string, n, m int, t []float64) Results {
	r := Results{Value: d.y, First: d.jac}
	switch operator {
	case "pushforward":
		r.First = make([]float64, m)
		for i := range m {
			for j := range n {
				r.First[i] += d.jac[i*n+j] * t[j]
			}
		}
	case "pullback":
		r.First = make([]float64, n)
		for i := range m {
			for j := range n {
				r.First[j] += d.jac[i*n+j] * t[i]
			}
		}
	case "hvp":
		r.Second = make([]float64, n)
		for i := range n {
			for j := range n {
				r.Second[i] += d.hess[i*n+j] * t[j]
			}
		}
	case "hessian", "second_derivative":
		r.Second = d.hess
	}
	return r
}
