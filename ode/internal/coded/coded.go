// Package coded has a function over float64 that calls the solution of a differential equation, with generated code,
// for tests.
package coded

import (
	"math"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/ode"
)

// growth is logistic: the derivative of the population is rate·y·(1 - y), where z is y, the rate and the time.
func growth(z []nabla.Real) []nabla.Real {
	return []nabla.Real{z[1].Mul(z[0]).Mul(nabla.Const(1).Sub(z[0]))}
}

var solution = rule()

func rule() nabla.Rule {
	p, err := ode.Prepare(growth, nil, []float64{0.1}, []float64{1}, &ode.Settings{Relative: 1e-12, Absolute: 1e-14})
	if err != nil {
		panic(err)
	}
	return p.Rule(0, 2)
}

// FlowRule is the rule of Flow. Its functions have names, by which generated code calls them.
var FlowRule = nabla.Rule{Name: "Flow", Value: Flow, JVP: flowJVP, VJP: flowVJP, JVPReal: solution.JVPReal,
	VJPReal: solution.VJPReal}

// Flow writes the population at time 2 to y, for that at time 0 and the rate.
//
//nabla:rule rule=FlowRule
func Flow(y, x []float64) { solution.Value(y, x) }

func flowJVP(ydot, x, y, xdot []float64) { solution.JVP(ydot, x, y, xdot) }

func flowVJP(xbar, x, y, ybar []float64) { solution.VJP(xbar, x, y, ybar) }

// Entropy is that of the population at time 2.
//
//nabla:differentiate
func Entropy(x []float64) float64 {
	var y [1]float64
	Flow(y[:], x)
	return -y[0]*math.Log(y[0]) - (1-y[0])*math.Log(1-y[0])
}
