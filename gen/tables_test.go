package gen_test

import "testing"

// TestRunTables differentiates functions that call others whose rules are in a table of a third package.
func TestRunTables(t *testing.T) {
	p := together(t, "tables")
	if text := withoutNotes(p.problems["tables"]); text != "" {
		t.Error(text)
	}
	p.passes(t)
}

// TestTablesRefused: tables with a mistake, and rules that contradict each other, are refused with positions.
func TestTablesRefused(t *testing.T) {
	dir := module(t, map[string]string{"go.mod": "module example.com/refused\n\ngo 1.26\n",
		"special/special.go": `package special

func F(x float64) float64        { return x }
func K(x float64) float64        { return x }
func G(x float64) float64        { return x }
func H(x []float64, n int) float64 { return x[n] }
func N(n int, x float64) float64 { return x }
func V(x []float64) float64      { return x[0] }
func W(a, x float64) float64     { return a * x }

//nabla:rule tangent=DTangent
func D(x float64) float64 { return x }

func DTangent(x, xDot float64) (y, yDot float64) { return x, xDot }
`,
		"one/one.go": `package one

import "github.com/nabla-ad/nabla"

func value(y, x []float64)           { y[0] = x[0] }
func vjp(xbar, x, y, ybar []float64) { xbar[0] += ybar[0] }

var Rules = nabla.Rules{
	"example.com/refused/special.F": {Value: value, VJP: vjp},
	"example.com/refused/special.G": {Value: value},
	"example.com/refused/special.H": {Value: value, VJP: vjp},
	"example.com/refused/special.N": {Value: value, VJP: vjp},
	"example.com/refused/special.W": {Value: value, VJP: vjp, NoTangent: []int{0}},
	"example.com/refused/special.D": {Value: value, VJP: vjp},
	"example.com/refused/special.K": {Value: value, ValueVJP: func(y, x []float64) func(xbar, ybar []float64) {
		y[0] = x[0]
		pull := func(xbar, ybar []float64) { xbar[0] += ybar[0] }
		return pull
	}},
	"example.com/refused/special.V": {Value: value, VJP: vjp, NoTangent: []int{0}},
	"example.com/refused/special.Missing": {Value: value, VJP: vjp},
	"special": {Value: value, VJP: vjp},
}

var Made = make()

func make() nabla.Rules { return nil }

var Filled = nabla.Rules{}

func init() { Filled["example.com/refused/special.F"] = nabla.Rule{} }

// Own refers to a table of this package.
//
//nabla:differentiate
func Own(x float64) float64 { return x }
`,
		"two/two.go": `package two

import "github.com/nabla-ad/nabla"

func value(y, x []float64)           { y[0] = x[0] }
func vjp(xbar, x, y, ybar []float64) { xbar[0] += ybar[0] }

var Rules = nabla.Rules{"example.com/refused/special.F": {Value: value, VJP: vjp}}
`,
		"refused.go": `package refused

import (
	_ "example.com/refused/one"
	"example.com/refused/special"
	_ "example.com/refused/two"
)

//nabla:differentiate
func Calls(x []float64) float64 {
	return special.F(x[0]) + special.G(x[0]) + special.H(x, 0) + special.N(1, x[0]) + special.V(x) +
		special.D(x[0]) + special.K(x[0])
}

//nabla:norule example.com/refused/two.Rules
//nabla:differentiate
func Chooses(x []float64) float64 { return special.F(x[0]) }

//nabla:differentiate
func Asks(x []float64) float64 { return special.W(x[0], x[1]) }

//nabla:norule example.com/refused/special.Misspelled unknown.F
//nabla:differentiate
func Misspells(x []float64) float64 { return x[0] }

//nabla:norule
//nabla:differentiate
func Nothing(x []float64) float64 { return x[0] }
`})
	if text := withoutNotes(problems(generate(t, dir, ".", "./one"), dir)); text != tablesRefused {
		t.Errorf("got:\n%s\nwant:\n%s", text, tablesRefused)
	}
}

const tablesRefused = `one/one.go:9:2: function F, which Calls calls: the rule of F: package refused gets two rules for it: Rules["example.com/refused/special.F"] and that of the table Rules at two/two.go:8; import one of the tables only, or name the other one in //nabla:norule above Calls
one/one.go:10:2: function G, which Calls calls: the rule of G in the table Rules: its rule Rules["example.com/refused/special.G"] has neither JVP nor VJP, which generated code calls; give it one of them, or ValueJVP or ValueVJP; JVPReal and VJPReal are for recordings only
one/one.go:11:2: function H, which Calls calls: the rule of H in the table Rules: its type is func(x []float64, n int) float64, and a nabla.Rule is a function of a slice; write a function of type func(y, x []float64), func(x []float64) float64, or one of numbers only with rule=Rules["example.com/refused/special.H"]
one/one.go:12:2: function N, which Calls calls: the rule of N in the table Rules: its parameter n is of type int, and input 0 of its rule Rules["example.com/refused/special.N"] carries a derivative; write NoTangent: []int{0} in the rule
one/one.go:14:2: function D, which Calls calls: the rule of D: package refused gets two rules for it: Rules["example.com/refused/special.D"] and that of the directive at special/special.go:11; import one of the tables only, or name the other one in //nabla:norule above Calls
one/one.go:15:2: function K, which Calls calls: the rule of K in the table Rules: its rule Rules["example.com/refused/special.K"] has a ValueVJP whose pullback is not known; return a function literal, in its last statement only; write Rules["example.com/refused/special.K"] = {Name: …, Value: …, VJP: …}, where the functions are declared ones or literals
one/one.go:20:2: function V, which Calls calls: the rule of V in the table Rules: its rule Rules["example.com/refused/special.V"] has inputs without derivative, and they are elements of a slice; write a function with a parameter for each input: func(n int, x float64) float64
one/one.go:21:2: warning: the table of rules Rules: it has a rule for example.com/refused/special.Missing, and package example.com/refused/special has no such function; write the path of its package and its name: example.com/special.Erfcx
one/one.go:22:2: warning: the table of rules Rules: its key "special" is no full name of a function; write the path of its package and its name: example.com/special.Erfcx
one/one.go:25:5: warning: the table of rules Made: it is not declared with a literal; declare it with a literal of nabla.Rules with constant keys, and do not change it
one/one.go:31:15: warning: the table of rules Filled: it may be changed here; declare it with a literal of nabla.Rules with constant keys, and do not change it
refused.go:20:41: function Asks: no adjoint: the argument a of example.com/refused/special.W, which carries a derivative: its rule has none with respect to it; pass a constant, or wrap the call in a function with a rule
refused.go:20:41: function Asks: no tangent: the argument a of example.com/refused/special.W, which carries a derivative: its rule has none with respect to it; pass a constant, or wrap the call in a function with a rule
refused.go:22:16: function Misspells: //nabla:norule: "example.com/refused/special.Misspelled" is neither a function nor a table of rules; write the path of its package and its name: example.com/special.Erfcx
refused.go:22:55: function Misspells: //nabla:norule: package unknown is not imported; name functions that the function below calls, or tables of rules, with the paths of their packages
refused.go:26:1: function Nothing: //nabla:norule names nothing; name the functions whose source is to be differentiated, or tables of rules: //nabla:norule example.com/special.Erfcx
one/one.go:21:2: the table of rules Rules: it has a rule for example.com/refused/special.Missing, and package example.com/refused/special has no such function; write the path of its package and its name: example.com/special.Erfcx
one/one.go:22:2: the table of rules Rules: its key "special" is no full name of a function; write the path of its package and its name: example.com/special.Erfcx
one/one.go:25:5: the table of rules Made: it is not declared with a literal; declare it with a literal of nabla.Rules with constant keys, and do not change it
one/one.go:31:15: the table of rules Filled: it may be changed here; declare it with a literal of nabla.Rules with constant keys, and do not change it
`
