package difftest

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/nabla-ad/nabla"
)

// scenario is one entry of the catalogue. Matrices are column-major.
type scenario struct {
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

	want results
	// twin says that there is the same scenario for a given result. Modifiers are
	// for one of the two.
	twin bool
}

// results are the numbers expected of a call.
type results struct{ value, first, second []float64 }

func (s *scenario) inPlace() bool     { return s.Form == "in" }
func (s *scenario) secondOrder() bool { return s.want.second != nil }

// t is the direction, nil for an operator without one.
func (s *scenario) t() []float64 {
	if len(s.T) == 0 {
		return nil
	}
	return s.T[0].data
}

// prepX is where the operator is prepared: not at x, so that what a preparation
// freezes is seen.
func (s *scenario) prepX() []float64 {
	if s.PrepX != nil {
		return s.PrepX.data
	}
	return make([]float64, len(s.X.data))
}

//go:embed testdata/scenarios.json
var catalogueJSON []byte

var catalogue = func() []scenario {
	var c []scenario
	if err := json.Unmarshal(catalogueJSON, &c); err != nil {
		panic(fmt.Sprintf("difftest: scenarios.json: %v", err))
	}
	ids := map[string]bool{}
	for i := range c {
		ids[c[i].ID] = true
	}
	for i := range c {
		s := &c[i]
		given, ok := strings.CutSuffix(s.ID, "/out")
		s.twin = ok && ids[given+"/in"]
		if families[s.Family].into == nil {
			panic(fmt.Sprintf("difftest: scenario %s: no family %q", s.ID, s.Family))
		}
		s.want.value = s.Y.data
		var err error
		switch s.Operator {
		case "pushforward", "pullback":
			s.want.first, err = s.Res1.list()
		case "jacobian":
			s.want.first, err = s.Res1.rows()
		case "hvp":
			if s.want.first, err = s.Res1.columns(); err == nil {
				s.want.second, err = s.Res2.list()
			}
		case "hessian":
			if s.want.first, err = s.Res1.columns(); err == nil {
				s.want.second, err = s.Res2.rows()
			}
		case "second_derivative":
			if s.want.first, err = s.Res1.columns(); err == nil {
				s.want.second, err = s.Res2.columns()
			}
		default:
			s.want.first, err = s.Res1.columns()
		}
		if err != nil {
			panic(fmt.Sprintf("difftest: scenario %s: %v", s.ID, err))
		}
	}
	maps.Copy(families, behaviourFamilies)
	return append(c, behaviours()...)
}()

// array is a number, a vector or a matrix, column after column.
type array struct {
	number bool
	data   []float64
}

func (a *array) UnmarshalJSON(b []byte) error {
	var x float64
	if json.Unmarshal(b, &x) == nil {
		a.number, a.data = true, []float64{x}
		return nil
	}
	if json.Unmarshal(b, &a.data) == nil {
		return nil
	}
	var rows [][]float64
	if err := json.Unmarshal(b, &rows); err != nil {
		return err
	}
	a.data = nil
	for j := range rows[0] {
		for i := range rows {
			a.data = append(a.data, rows[i][j])
		}
	}
	return nil
}

// result is read as the operator has it.
type result struct{ raw json.RawMessage }

func (r *result) UnmarshalJSON(b []byte) error {
	r.raw = append(r.raw, b...)
	return nil
}

// list is the only element of a list of results.
func (r result) list() ([]float64, error) {
	var a []array
	if err := json.Unmarshal(r.raw, &a); err != nil || len(a) != 1 {
		return nil, fmt.Errorf("want one result, got %s (%v)", r.raw, err)
	}
	return a[0].data, nil
}

// columns is one result in the shape of an input or output.
func (r result) columns() ([]float64, error) {
	var a array
	err := json.Unmarshal(r.raw, &a)
	return a.data, err
}

// rows is a derivative matrix, row after row.
func (r result) rows() ([]float64, error) {
	var rows [][]float64
	err := json.Unmarshal(r.raw, &rows)
	out := []float64{}
	for _, row := range rows {
		out = append(out, row...)
	}
	return out, err
}

// family is a function of the catalogue: into writes all of y, and there are as
// many outputs for n inputs as outputs says. The other forms allocate nothing; nil
// where into serves.
type family struct {
	into    func(y, x []nabla.Real)
	outputs func(n int) int
	scalar  func(x []nabla.Real) nabla.Real
	number  func(x nabla.Real) nabla.Real
	vector  func(x []nabla.Real) []nabla.Real
}

var families = map[string]family{
	"num_to_num":       {into: sine, outputs: one, number: nabla.Sin},
	"onevec_to_onevec": {into: sine, outputs: same},
	"num_to_vec":       {into: curve, outputs: func(int) int { return 2 }},
	"num_to_mat":       {into: curves, outputs: func(int) int { return 4 }},

	"arr_to_num(vector)": ofScalar(powers),
	"arr_to_num(matrix)": ofScalar(powers),

	"vec_to_vec": {into: sinCos, outputs: twice},
	"vec_to_mat": {into: sinCos, outputs: twice},
	"mat_to_vec": {into: sinCos, outputs: twice},
	"mat_to_mat": {into: sinCos, outputs: twice},

	"sparse_diffsquare vec->vec":     {into: diffSquare, outputs: func(n int) int { return max(0, n-1) }},
	"sparse_diffsquarecube vec->mat": {into: diffSquareCube, outputs: func(n int) int { return 2 * max(0, n-1) }},
	"sparse_diffsquarecube mat->vec": {into: diffSquareCube, outputs: func(n int) int { return 2 * max(0, n-1) }},
	"sparse_diffsquarecube mat->mat": {into: diffSquareCube, outputs: func(n int) int { return 2 * max(0, n-1) }},
	"sparse_sumdiffcube vec->num":    ofScalar(sumDiffCube),
	"sparse_sumdiffcube mat->num":    ofScalar(sumDiffCube),

	"identity": {
		into:    func(y, x []nabla.Real) { y[0] = x[0] },
		outputs: one,
		scalar:  func(x []nabla.Real) nabla.Real { return x[0] },
		number:  func(x nabla.Real) nabla.Real { return x },
	},
	"sum":     ofScalar(sum),
	"copyto":  {into: func(y, x []nabla.Real) { copy(y[:len(x)], x) }, outputs: same},
	"nothing": {into: func(y, x []nabla.Real) {}, outputs: func(int) int { return 0 }},
}

// ofScalar is the family of a function with one output.
func ofScalar(f func(x []nabla.Real) nabla.Real) family {
	return family{into: func(y, x []nabla.Real) { y[0] = f(x) }, outputs: one, scalar: f}
}

func one(int) int     { return 1 }
func same(n int) int  { return n }
func twice(n int) int { return 2 * n }

func sine(y, x []nabla.Real) {
	for i := range x {
		y[i] = nabla.Sin(x[i])
	}
}

// curve is sin t in the first half of y and sin 2t in the second.
func curve(y, x []nabla.Real) {
	for i := range y {
		if 2*i < len(y) {
			y[i] = nabla.Sin(x[0])
		} else {
			y[i] = nabla.Sin(x[0].Scale(2))
		}
	}
}

// curves is the matrix with columns curve(t) and curve(3t).
func curves(y, x []nabla.Real) {
	half := len(y) / 2
	curve(y[:half], x)
	curve(y[half:], []nabla.Real{x[0].Scale(3)})
}

// powers is (Σ x⁴)(Σ x⁶).
func powers(x []nabla.Real) nabla.Real {
	var four, six nabla.Real
	for _, v := range x {
		p := v.Sq().Sq()
		four, six = four.Add(p), six.Add(p.Mul(v.Sq()))
	}
	return four.Mul(six)
}

func sinCos(y, x []nabla.Real) {
	for i, v := range x {
		y[i], y[len(x)+i] = nabla.Sin(v), nabla.Cos(v)
	}
}

func diffSquare(y, x []nabla.Real) {
	for i := 1; i < len(x); i++ {
		y[i-1] = x[i].Sub(x[i-1]).Sq()
	}
}

func diffSquareCube(y, x []nabla.Real) {
	diffSquare(y, x)
	for i := 1; i < len(x); i++ {
		d := x[i].Sub(x[i-1])
		y[len(x)+i-2] = d.Mul(d).Mul(d)
	}
}

func sumDiffCube(x []nabla.Real) nabla.Real {
	var s nabla.Real
	for i := 1; i < len(x); i++ {
		d := x[i].Sub(x[i-1])
		s = s.Add(d.Mul(d).Mul(d))
	}
	return s
}

func sum(x []nabla.Real) nabla.Real {
	var s nabla.Real
	for _, v := range x {
		s = s.Add(v)
	}
	return s
}
