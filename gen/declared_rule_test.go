package gen_test

import "testing"

// declaredRules has rules that are variables with a mistake, and declaredRefusals the refusals.
const (
	declaredRules = `package refused

import (
	"fmt"

	"github.com/nabla-ad/nabla"
)

func value(y, x []float64)            { y[0] = x[0] }
func vjp(xbar, x, y, ybar []float64)  { xbar[0] += ybar[0] }
func number() int                     { return 1 }
func made() nabla.Rule                { return nabla.Rule{Value: value, VJP: vjp} }
func choose() func(xbar, x, y, ybar []float64) { return vjp }

var (
	good     = nabla.Rule{Value: value, VJP: vjp}
	called   = made()
	computed = nabla.Rule{Value: value, VJP: choose()}
	noValue  = nabla.Rule{VJP: vjp}
	noForm   = nabla.Rule{Value: value, JVPReal: func(ydot, x, y, xdot []nabla.Real) { ydot[0] = xdot[0] }}
	changed  = nabla.Rule{Value: value, VJP: vjp}
	pointer  = &nabla.Rule{Value: value, VJP: vjp}
	other    = number()
	prints   = nabla.Rule{Value: value, VJP: func(xbar, x, y, ybar []float64) {
		if _, err := fmt.Sscan("1", &xbar[0]); err != nil {
			panic(err)
		}
	}}
)

func init() { changed.VJP = vjp }

//nabla:rule rule=good
func shape(x []float64, n int) float64 { return x[n] }

//nabla:rule rule=good pullback=vjp
func both(x float64) float64 { return x }

//nabla:rule rule=absent
func absentRule(x float64) float64 { return x }

//nabla:rule rule=other
func otherType(x float64) float64 { return x }

//nabla:rule rule=pointer
func pointerType(x float64) float64 { return x }

//nabla:rule rule=called
func calledRule(x float64) float64 { return x }

//nabla:rule rule=computed
func computedField(x float64) float64 { return x }

//nabla:rule rule=noValue
func withoutValue(x float64) float64 { return x }

//nabla:rule rule=noForm
func withoutForm(x float64) float64 { return x }

//nabla:rule rule=changed
func changedLater(x float64) float64 { return x }

//nabla:rule rule=prints
func printing(x float64) float64 { return x }

//nabla:differentiate
func Calls(x []float64) float64 {
	return shape(x, 0) + both(x[0]) + absentRule(x[0]) + otherType(x[0]) + pointerType(x[0]) + calledRule(x[0]) +
		computedField(x[0]) + withoutValue(x[0]) + withoutForm(x[0]) + changedLater(x[0])
}

//nabla:differentiate
func Prints(x []float64) float64 { return printing(x[0]) }
`
	declaredRefusals = `refused.go:33:1: function shape, which Calls calls: the rule of shape: its type is func(x []float64, n int) float64, and a nabla.Rule is a function of a slice; write a function of type func(y, x []float64), func(x []float64) float64, or one of numbers only with rule=good
refused.go:36:1: function both, which Calls calls: the rule of both: rule= stands beside other arguments; name the functions in the variable
refused.go:39:1: function absentRule, which Calls calls: the rule of absentRule: its rule absent is no variable of package refused; declare var absent = nabla.Rule{Name: …, Value: …, VJP: …}
refused.go:42:1: function otherType, which Calls calls: the rule of otherType: its rule other is of type int; declare var other = nabla.Rule{Name: …, Value: …, VJP: …}
refused.go:45:1: function pointerType, which Calls calls: the rule of pointerType: its rule pointer is of type *github.com/nabla-ad/nabla.Rule; declare var pointer = nabla.Rule{Name: …, Value: …, VJP: …}
refused.go:48:1: function calledRule, which Calls calls: the rule of calledRule: its rule called is not declared with a literal of nabla.Rule; declare var called = nabla.Rule{Name: …, Value: …, VJP: …}, where the functions are declared ones or literals
refused.go:51:1: function computedField, which Calls calls: the rule of computedField: its rule computed has a VJP that is computed; declare var computed = nabla.Rule{Name: …, Value: …, VJP: …}, where the functions are declared ones or literals
refused.go:54:1: function withoutValue, which Calls calls: the rule of withoutValue: its rule noValue has no Value; give it one
refused.go:57:1: function withoutForm, which Calls calls: the rule of withoutForm: its rule noForm has neither JVP nor VJP, which generated code calls; give it one of them, or ValueJVP or ValueVJP; JVPReal and VJPReal are for recordings only
refused.go:60:1: function changedLater, which Calls calls: the rule of changedLater: its rule changed may be changed at 001/refused.go:31; declare it with all its functions, and neither assign it nor take its address
refused.go:73:43: function Prints: no adjoint: function example.com/refused.printing, whose rule prints generated code cannot call: its VJP is a function literal that has no copy: refused.go:25:16: call of fmt.Sscan: it stores numbers through pointers in interface values; use strconv.ParseFloat, or a function with //nabla:passive that returns the numbers; declare it as a function
refused.go:73:43: function Prints: no tangent: function example.com/refused.printing, whose rule prints generated code cannot call: its VJP is a function literal that has no copy: refused.go:25:16: call of fmt.Sscan: it stores numbers through pointers in interface values; use strconv.ParseFloat, or a function with //nabla:passive that returns the numbers; declare it as a function
`
)

// TestDeclaredRulesRefused: a rule that is a variable with a mistake is refused, with position and remedy.
func TestDeclaredRulesRefused(t *testing.T) {
	dir := module(t, map[string]string{"go.mod": "module example.com/refused\n\ngo 1.26\n",
		"refused.go": declaredRules})
	if text := problems(generate(t, dir, "."), dir); text != declaredRefusals {
		t.Errorf("got:\n%s\nwant:\n%s", text, declaredRefusals)
	}
}
