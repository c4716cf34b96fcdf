package lower

import (
	"fmt"
	"strings"
)

// ruleText returns the source of a tangent and a pullback for the function of a declared rule, and of the functions
// that the rule lacks.
func (w *resolvedRule) ruleText(shape ruleShape) string {
	together, kept := w.parts["ValueJVP"] != nil, w.parts["ValueVJP"] != nil
	var text string
	switch shape {
	case inPlaceRule:
		text = choose(together, inPlaceTogether, inPlaceTangent) + choose(kept, inPlaceKept, inPlacePullback)
	case sliceRule:
		text = choose(together, sliceTogether, sliceTangent) + choose(kept, sliceKept, slicePullback)
	default:
		text = w.numbersText(choose(together, numbersTogether, numbersTangent) +
			choose(kept, numbersKept, numbersPullback))
	}
	if w.parts["JVP"] == nil {
		text += choose(together, jvpTogether, jvpText)
	}
	if w.parts["VJP"] == nil {
		text += choose(kept, vjpKept, vjpText)
	}
	var skip []string // inputs without derivative
	for _, j := range w.noTangent {
		skip = append(skip, fmt.Sprintf("j == %d", j))
	}
	none := ""
	if len(skip) > 0 {
		none = "if " + strings.Join(skip, " || ") + " {\n\t\t\tcontinue\n\t\t}\n\t\t"
	}
	return strings.ReplaceAll(text, "SKIP", none)
}

// originalName is the name of the function itself in the source that ruleText returns.
const originalName = "original"

// choose returns a if on is set, otherwise b.
func choose(on bool, a, b string) string {
	if on {
		return a
	}
	return b
}

// numbersText returns text with the parameters and results of the function, whose types are those of its declaration.
func (w *resolvedRule) numbersText(text string) string {
	sig := w.rule.Object.Signature()
	n, m := sig.Params().Len(), sig.Results().Len()
	var params, inputs, dots, tangents, bars, xbar []string
	for i := range n {
		x, d := fmt.Sprint("x", i), fmt.Sprint("d", i)
		t := sig.Params().At(i).Type()
		params = append(params, x+" "+t.String())
		if isInteger(t) {
			x = "float64(" + x + ")"
		}
		inputs = append(inputs, x)
		if w.rule.LacksDerivative(i) {
			tangents = append(tangents, "0")
			continue
		}
		dots = append(dots, d+" float64")
		tangents = append(tangents, d)
		bars = append(bars, fmt.Sprintf("b%d float64", i))
		xbar = append(xbar, fmt.Sprintf("xbar[%d]", i))
	}
	list := func(prefix string, n int) string {
		var names []string
		for i := range n {
			names = append(names, fmt.Sprint(prefix, i))
		}
		return strings.Join(names, ", ")
	}
	elements := func(name string, n int) string {
		var parts []string
		for i := range n {
			parts = append(parts, fmt.Sprintf("%s[%d]", name, i))
		}
		return strings.Join(parts, ", ")
	}
	join := func(list []string) string { return strings.Join(list, ", ") }
	value := "value(y, x)"
	if len(w.noTangent) > 0 { // Value gets a slice, of which each element carries a derivative or none
		value = elements("y", m) + " = " + originalName + "(" + list("x", n) + ")"
	}
	return strings.NewReplacer("VALUE", value, "DOTS", join(append(params, dots...)), "YBARS",
		join(append(params, list("w", m)+" float64")), "INPUTS", join(inputs), "TANGENTS", join(tangents), "SEEDS",
		list("w", m), "YDOT", elements("ydot", m), "XBAR", join(xbar), "Y", elements("y", m), "RESULTS", list("r", 2*m),
		"BARS", join(bars), "M", fmt.Sprint(m), "N", fmt.Sprint(n)).Replace(text)
}

// Derivatives of functions of each shape by those of a rule. As in a recording, the rule gets memory of its own.
// valuevjp is ValueVJP together with a call of its pullback, see wholePullback.
const (
	inPlaceTangent = `
func tangent(y, x, yDot, xDot []float64) {
	at, d := make([]float64, len(x)), make([]float64, len(x))
	copy(at, x)
	copy(d, xDot)
	value(y, at)
	if yDot != nil {
		v := make([]float64, len(y))
		copy(v, y)
		jvp(yDot, at, v, d)
	}
}
`
	inPlaceTogether = `
func tangent(y, x, yDot, xDot []float64) {
	at, d := make([]float64, len(x)), make([]float64, len(x))
	copy(at, x)
	copy(d, xDot)
	if yDot == nil {
		value(y, at)
		return
	}
	valuejvp(y, yDot, at, d)
}
`
	inPlacePullback = `
func pullback(y, x, yBar, xBar []float64) {
	if yBar == nil {
		return
	}
	at, v, w := make([]float64, len(x)), make([]float64, len(y)), make([]float64, len(y))
	copy(at, x)
	copy(w, yBar)
	clear(yBar)
	if xBar != nil {
		value(v, at)
		vjp(xBar, at, v, w)
	}
}
`
	inPlaceKept = `
func pullback(y, x, yBar, xBar []float64) {
	if yBar == nil {
		return
	}
	at, v, w := make([]float64, len(x)), make([]float64, len(y)), make([]float64, len(y))
	copy(at, x)
	copy(w, yBar)
	clear(yBar)
	if xBar != nil {
		valuevjp(v, at, xBar, w)
	}
}
`
	sliceTangent = `
func tangent(x, xDot []float64) (r, rDot float64) {
	y, ydot, d := make([]float64, 1), make([]float64, 1), make([]float64, len(x))
	copy(d, xDot)
	value(y, x)
	jvp(ydot, x, y, d)
	return y[0], ydot[0]
}
`
	sliceTogether = `
func tangent(x, xDot []float64) (r, rDot float64) {
	y, ydot, d := make([]float64, 1), make([]float64, 1), make([]float64, len(x))
	copy(d, xDot)
	valuejvp(y, ydot, x, d)
	return y[0], ydot[0]
}
`
	slicePullback = `
func pullback(x, xBar []float64, rBar float64) {
	if xBar != nil {
		y, w := make([]float64, 1), make([]float64, 1)
		value(y, x)
		w[0] = rBar
		vjp(xBar, x, y, w)
	}
}
`
	sliceKept = `
func pullback(x, xBar []float64, rBar float64) {
	if xBar != nil {
		y, w := make([]float64, 1), make([]float64, 1)
		w[0] = rBar
		valuevjp(y, x, xBar, w)
	}
}
`
	numbersTangent = `
func tangent(DOTS) (RESULTS float64) {
	x, d := []float64{INPUTS}, []float64{TANGENTS}
	y, ydot := make([]float64, M), make([]float64, M)
	VALUE
	jvp(ydot, x, y, d)
	return Y, YDOT
}
`
	numbersTogether = `
func tangent(DOTS) (RESULTS float64) {
	x, d := []float64{INPUTS}, []float64{TANGENTS}
	y, ydot := make([]float64, M), make([]float64, M)
	valuejvp(y, ydot, x, d)
	return Y, YDOT
}
`
	numbersPullback = `
func pullback(YBARS) (BARS) {
	x, w := []float64{INPUTS}, []float64{SEEDS}
	y, xbar := make([]float64, M), make([]float64, N)
	VALUE
	vjp(xbar, x, y, w)
	return XBAR
}
`
	numbersKept = `
func pullback(YBARS) (BARS) {
	x, w := []float64{INPUTS}, []float64{SEEDS}
	y, xbar := make([]float64, M), make([]float64, N)
	valuevjp(y, x, xbar, w)
	return XBAR
}
`
	jvpText = `
func jvp(ydot, x, y, xdot []float64) {
	for i := range ydot {
		row, unit := make([]float64, len(x)), make([]float64, len(y))
		unit[i] = 1
		vjp(row, x, y, unit)
		s := 0.0
		for j := range xdot {
			s += row[j] * xdot[j]
		}
		ydot[i] = s
	}
}
`
	jvpTogether = `
func jvp(ydot, x, y, xdot []float64) {
	v := make([]float64, len(y))
	valuejvp(v, ydot, x, xdot)
}
`
	vjpText = `
func vjp(xbar, x, y, ybar []float64) {
	for j := range xbar {
		SKIPcol, unit := make([]float64, len(y)), make([]float64, len(x))
		unit[j] = 1
		jvp(col, x, y, unit)
		for i := range ybar {
			xbar[j] += col[i] * ybar[i]
		}
	}
}
`
	vjpKept = `
func vjp(xbar, x, y, ybar []float64) {
	v := make([]float64, len(y))
	valuevjp(v, x, xbar, ybar)
}
`
)
