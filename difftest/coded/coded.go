package coded

import (
	"strconv"
	"strings"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/difftest"
	bands "github.com/nabla-ad/nabla/difftest/internal/banded"
)

// A forms holds the forms of one function, nil if no scenario takes it in that form.
type forms struct {
	base   int // name of the function for modifiers; -1 if none are applied
	into   func(y, x []float64)
	vector func(x []float64) []float64
	scalar func(x []float64) float64
	number func(x float64) float64   // for derivatives of first and second order
	curve  func(t float64) []float64 // the same, with several outputs
}

// functions maps the first one or two elements of scenario names to functions.
var functions = map[string]forms{
	"num_to_num":         {base: sineBase, scalar: sineScalar, number: sineNumber},
	"onevec_to_onevec":   {base: sineBase, into: sine, vector: sineVector},
	"num_to_vec":         {base: curveBase, into: curve, vector: curveVector, curve: curveNumber},
	"num_to_mat":         {base: curvesBase, into: curves, vector: curvesVector, curve: curvesNumber},
	"arr_to_num(vector)": {base: powersBase, scalar: powers},
	"arr_to_num(matrix)": {base: powersBase, scalar: powers},
	"vec_to_vec":         {base: sinCosBase, into: sinCos, vector: sinCosVector},
	"vec_to_mat":         {base: sinCosBase, into: sinCos, vector: sinCosVector},
	"mat_to_vec":         {base: sinCosBase, into: sinCos, vector: sinCosVector},
	"mat_to_mat":         {base: sinCosBase, into: sinCos, vector: sinCosVector},

	"sparse/diffsquare_vec_to_vec":     {base: diffSquareBase, into: diffSquare, vector: diffSquareVector},
	"sparse/diffsquarecube_vec_to_mat": {base: diffSquareCubeBase, into: diffSquareCube, vector: diffSquareCubeVector},
	"sparse/diffsquarecube_mat_to_vec": {base: diffSquareCubeBase, into: diffSquareCube, vector: diffSquareCubeVector},
	"sparse/diffsquarecube_mat_to_mat": {base: diffSquareCubeBase, into: diffSquareCube, vector: diffSquareCubeVector},
	"sparse/sumdiffcube_vec_to_num":    {base: sumDiffCubeBase, scalar: sumDiffCube},
	"sparse/sumdiffcube_mat_to_num":    {base: sumDiffCubeBase, scalar: sumDiffCube},

	"allocfree/copyto":   {base: copyBase, into: copyTo},
	"allocfree/identity": {base: identityBase, scalar: identity, number: identityNumber},
	"allocfree/sum":      {base: sumBase, scalar: sum},
	"misuse/sum":         {base: sumBase, scalar: sum},
	"empty/derivative":   {base: nothingBase, into: nothing, curve: nothingNumber},
	"empty/jacobian":     {base: nothingBase, into: nothing, vector: nothingVector},
	"empty/gradient":     {base: sumBase, scalar: sum},

	"behaviour/branch":             {base: -1, into: branch, vector: branchVector},
	"behaviour/branch_back":        {base: -1, into: branch, vector: branchVector},
	"behaviour/branch_scalar":      {base: -1, scalar: branchScalar},
	"behaviour/branch_scalar_back": {base: -1, scalar: branchScalar},
	"behaviour/loop":               {base: -1, scalar: loop},
	"behaviour/constant_output":    {base: -1, into: constantOutput, vector: constantOutputVector},
	"behaviour/constant_scalar":    {base: -1, scalar: constantScalar},
	"behaviour/sum":                {base: -1, scalar: sum},
	"behaviour/returns_input":      {base: -1, into: copyTo, vector: returnsInput},
	"behaviour/overwrites_input":   {base: -1, scalar: overwritesInput},
	"behaviour/scratch":            {base: -1, into: prefixSums, vector: prefixSumsVector},
	"behaviour/matrix":             {base: -1, into: gram, vector: gramVector},
	"behaviour/matrix_scalar":      {base: -1, scalar: gramNorm},
	"behaviour/complex_sine":       {base: -1, into: complexSine, vector: complexSineVector},
	"behaviour/complex_square":     {base: -1, scalar: complexSquare},
	"behaviour/complex_abs2":       {base: -1, scalar: complexAbs2},
	"behaviour/nan":                {base: -1, scalar: cube},
	"behaviour/wide":               {base: -1, into: wide, vector: wideVector},
	"behaviour/wide_scalar":        {base: -1, scalar: wideScalar},
	"behaviour/large":              {base: -1, scalar: large},
}

// kinds maps the names of modifiers to their constants.
var kinds = map[string]int{
	"constant": constant, "structure": structure, "cache": cache, "cache_struct": cacheStruct,
	"constant_or_cache": constantOrCache,
}

// Function returns the function of s with generated code, or nil if there is none: generated code does not support
// closures that capture data, custom rules and nested derivatives.
func Function(s *difftest.Scenario) *difftest.Function {
	parts := strings.SplitN(s.Name, "/", 3)
	if parts[0] == "behaviour" && len(parts) > 1 {
		if f := structFunction(parts[1], len(s.X)); f != nil {
			return &difftest.Function{F: f}
		}
	}
	f, ok := functions[parts[0]]
	if !ok && len(parts) > 1 {
		if m := bandedOf(s, parts[1]); m != nil {
			return &difftest.Function{F: m}
		}
		f, ok = functions[parts[0]+"/"+parts[1]]
	}
	switch {
	case !ok || strings.Contains(s.Name, "/closure"):
		return nil
	case len(s.Contexts) == 0:
		if g := f.form(s); g != nil {
			return &difftest.Function{F: g}
		}
		return nil
	case len(s.Contexts) > 1 || f.base < 0:
		return nil
	}
	return f.bound(s, s.Contexts[0])
}

// form returns the function in the form that the operator of s takes, or nil.
func (f forms) form(s *difftest.Scenario) any {
	ofNumber := s.XShape.Number && (s.Operator == "derivative" || s.Operator == "second_derivative")
	switch {
	case s.InPlace && f.into != nil:
		return nabla.InPlace(s.M(), f.into)
	case s.InPlace:
	case ofNumber && scalar(s) && f.number != nil:
		return f.number
	case ofNumber && !scalar(s) && f.curve != nil:
		return f.curve
	case ofNumber:
	case scalar(s) && f.scalar != nil:
		return f.scalar
	case !scalar(s) && f.vector != nil:
		return f.vector
	}
	return nil
}

// scalar reports whether the function of s returns one number.
func scalar(s *difftest.Scenario) bool {
	return s.YShape.Number || s.Operator == "gradient" || s.Operator == "hvp" || s.Operator == "hessian"
}

// bound returns the function with a modifier, whose context is c.
func (f forms) bound(s *difftest.Scenario, c difftest.Context) *difftest.Function {
	own, other := newBinding(f.base, kinds[c.Name], s.M()), newBinding(f.base, kinds[c.Name], s.M())
	other.set(c.Other)
	r := &difftest.Function{
		Own: own, Other: other, Shared: own.Kind >= cache,
		Before: func() { own.set(c.Prep) }, After: func() { own.set(c.Run) },
	}
	into, toNumber, toSlice := scaledInto, scaledScalar, scaledVector
	if own.Kind >= cache {
		into, toNumber, toSlice = cachedInto, cachedScalar, cachedVector
	}
	switch {
	case s.InPlace:
		r.F = nabla.BindInPlace(s.M(), into, own)
	case scalar(s):
		r.F = nabla.Bind(toNumber, own)
	default:
		r.F = nabla.Bind(toSlice, own)
	}
	return r
}

// newBinding returns the data of a function with m outputs.
func newBinding(base, kind, m int) *binding {
	return &binding{Base: base, Kind: kind, V: []float64{0}, Useful: make([]float64, max(m, 1)),
		Useless: make([]float64, 2)}
}

// set sets the data so that results are multiplied by factor.
func (b *binding) set(factor float64) {
	switch b.Kind {
	case constant:
		b.A = factor
	case structure:
		b.Times, b.Minus = int(max(factor, -factor)), factor < 0
	case constantOrCache:
		b.A, b.V[0] = factor-4, 4
		if factor == 18 {
			b.A, b.V[0] = 6, 12
		}
	}
}

// bandedOf returns the function of a scenario with a banded matrix, whose width is at the end of its name, or nil.
func bandedOf(s *difftest.Scenario, name string) any {
	kind, width, ok := strings.Cut(name, "_band")
	if !ok {
		return nil
	}
	w, err := strconv.Atoi(width)
	if err != nil {
		return nil
	}
	m := &banded{Diagonals: bands.Diagonals(w)}
	switch {
	case kind == "squarequadraticform":
		return nabla.Bind(bandedQuadratic, m)
	case s.InPlace:
		return nabla.BindInPlace(s.M(), bandedLinear, m)
	}
	return nabla.Bind(bandedLinearVector, m)
}
