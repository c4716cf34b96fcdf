package engine

import "strings"

// This file defines the fallback graph: the route by which each operator is computed on a backend that does not
// implement it. The Prepare functions take the routes that the functions of this file return, and Explain describes
// them.
//
//	Pushforward  Pusher; otherwise Lineariser if there are many outputs; otherwise one
//	             pullback per output, batched, times the tangent
//	Pullback     Puller; otherwise one pushforward per input, batched, times the
//	             cotangent
//	Derivative   pushforward of 1; the gradient if the backend is no Pusher and there is
//	             one output
//	Gradient     Gradienter; otherwise pullback of 1
//	Jacobian     Jacobianer; otherwise pushforwards of unit vectors if the backend is a
//	             Pusher (and, if it is also a Puller, there are at most as many inputs as
//	             outputs); otherwise pullbacks of unit vectors
//	Linear       Lineariser; otherwise pushforward and pullback at the stored point
//	HVP          HVPer if outer and inner are equal; otherwise
//	             outer pushes: pushforward(outer) of the gradient function(inner)
//	             outer and inner pull: pullback(outer) of the gradient function(inner)
//	             outer pulls, inner pushes: gradient(outer) of the pushforward function(inner)
//	Second       Seconder or, for one output, Hessianer if outer and inner are equal;
//	             otherwise pushforward(outer) of the pushforward function(inner)
//	Hessian      Hessianer if outer and inner are equal; otherwise HVP of unit vectors,
//	             batched
//
// An outer CodeRunner differentiates the gradient or pushforward function of any inner backend by code too: the
// derivatives are those of the tangent of the adjoint of f. A Transformer whose gradients differ from those of the
// code, such as difference quotients, may keep them as the values of its gradient function; see GradientCode.

// A route is one edge of the fallback graph: the way to compute one operator from others.
type route uint8

const (
	noRoute route = iota
	native
	perOutput             // pushforward from pullbacks
	perOutputOrLinear     // pushforward from pullbacks, or linearised if there are many outputs
	perInput              // pullback from pushforwards
	pushOne               // derivative from a pushforward
	gradientAtOne         // derivative from a gradient
	pullOne               // gradient from a pullback
	unitPushforwards      // Jacobian
	unitPullbacks         // Jacobian
	unitEither            // Jacobian, whichever are fewer
	bothProducts          // linear operator from pushforward and pullback
	pushGradient          // HVP
	pullGradient          // HVP
	gradientOfPushforward // HVP
	hessianAtOne          // second derivative from a Hessian
	pushPushforward       // second derivative
	unitHVPs              // Hessian
	numRoutes
)

// routeWords maps a route to its description in a [Path].
var routeWords = [numRoutes]string{
	native:                "native",
	perOutput:             "one pullback per output",
	perOutputOrLinear:     "linear operator if there are many outputs, otherwise one pullback per output",
	perInput:              "one pushforward per input",
	pushOne:               "pushforward of 1",
	gradientAtOne:         "gradient",
	pullOne:               "pullback of 1",
	unitPushforwards:      "pushforwards of unit vectors",
	unitPullbacks:         "pullbacks of unit vectors",
	unitEither:            "pushforwards or pullbacks of unit vectors, whichever are fewer",
	bothProducts:          "pushforward and pullback at the point",
	pushGradient:          "pushforward of the gradient function",
	pullGradient:          "pullback of the gradient function",
	gradientOfPushforward: "gradient of the pushforward function",
	hessianAtOne:          "Hessian",
	pushPushforward:       "pushforward of the pushforward function",
	unitHVPs:              "HVPs of unit vectors",
}

// The last step of paths whose outer backend differentiates a function that was derived from the recorded program, or
// whose derivatives are generated code.
const (
	fromProgram = "made from the recorded program"
	fromCode    = "by the generated tangent of the adjoint"
)

// pushes reports whether b is a Pusher.
func pushes(b Backend) bool { _, ok := b.(Pusher); return ok }

// pulls reports whether b is a Puller.
func pulls(b Backend) bool { _, ok := b.(Puller); return ok }

// pushforwardRoute returns the route of Pushforward on b.
func pushforwardRoute(b Backend) route {
	switch {
	case pushes(b):
		return native
	case pulls(b):
		if _, ok := b.(Lineariser); ok {
			return perOutputOrLinear
		}
		return perOutput
	}
	return noRoute
}

// pullbackRoute returns the route of Pullback on b.
func pullbackRoute(b Backend) route {
	switch {
	case pulls(b):
		return native
	case pushes(b):
		return perInput
	}
	return noRoute
}

// gradientRoute returns the route of Gradient on b.
func gradientRoute(b Backend) route {
	if _, ok := b.(Gradienter); ok {
		return native
	}
	return derived(b, pullOne)
}

// derived returns r if b is a Pusher or a Puller, and noRoute otherwise.
func derived(b Backend, r route) route {
	if pushes(b) || pulls(b) {
		return r
	}
	return noRoute
}

// DerivativeByGradient reports whether the derivative of a function of one number with m outputs is computed as the
// gradient on b, and not as a pushforward of 1.
func DerivativeByGradient(b Backend, m int) bool { return derivativeRoute(b, m) == gradientAtOne }

// derivativeRoute returns the route of Derivative on b for m outputs.
func derivativeRoute(b Backend, m int) route {
	if !pushes(b) && m == 1 {
		if gradientRoute(b) == noRoute {
			return noRoute
		}
		return gradientAtOne
	}
	return derived(b, pushOne)
}

// jacobianRoute returns the route of Jacobian on b.
func jacobianRoute(b Backend) route {
	if _, ok := b.(Jacobianer); ok {
		return native
	}
	return derivedJacobianRoute(b)
}

// derivedJacobianRoute returns the route of Jacobian on b as if b were no Jacobianer.
func derivedJacobianRoute(b Backend) route {
	switch {
	case pushes(b) && pulls(b):
		return unitEither
	case pushes(b):
		return unitPushforwards
	case pulls(b):
		return unitPullbacks
	}
	return noRoute
}

// linearRoute returns the route of a linear operator on b.
func linearRoute(b Backend) route {
	if _, ok := b.(Lineariser); ok {
		return native
	}
	return derived(b, bothProducts)
}

// hvpRoute returns the route of HVP with outer differentiating functions derived by inner.
func hvpRoute(outer, inner Backend) route {
	if _, ok := outer.(HVPer); ok && sameBackend(outer, inner) {
		return native
	}
	switch {
	case pushes(outer):
		return pushGradient
	case pulls(outer) && pushes(inner) && !pulls(inner):
		return gradientOfPushforward
	case pulls(outer):
		return pullGradient
	}
	return noRoute
}

// secondRoute returns the route of the second derivative of a function with m outputs.
func secondRoute(outer, inner Backend, m int) route {
	if sameBackend(outer, inner) {
		if _, ok := outer.(Seconder); ok {
			return native
		}
		if _, ok := outer.(Hessianer); ok && m == 1 {
			return hessianAtOne
		}
	}
	return derived(outer, pushPushforward)
}

// hessianRoute returns the route of Hessian with outer differentiating functions derived by inner.
func hessianRoute(outer, inner Backend) route {
	if _, ok := outer.(Hessianer); ok && sameBackend(outer, inner) {
		return native
	}
	if hvpRoute(outer, inner) == noRoute {
		return noRoute
	}
	return unitHVPs
}

// Operators returns the operator names that Explain accepts, those of package nabla. LinearOp stands for the result of
// method At of a prepared pushforward or pullback.
func Operators() []string {
	return []string{"Pushforward", "Pullback", "Derivative", "Gradient", "Jacobian", "LinearOp", "SecondDerivative",
		"HVP", "Hessian"}
}

// A Path describes the computation of an operator on a backend: each step is computed by the next, and the last is
// implemented by the backend. It is "native" alone if the backend implements the operator, and empty if the operator is
// unsupported.
type Path []string

// Native reports whether the backend implements the operator itself.
func (p Path) Native() bool { return len(p) == 1 && p[0] == routeWords[native] }

func (p Path) String() string {
	if len(p) == 0 {
		return "unsupported"
	}
	return strings.Join(p, ": ")
}

// Explain returns the path of operator op, one of [Operators]. For an operator of second order outer differentiates
// functions derived by inner; the two are equal for a backend that is not composed. Operators of first order use inner
// alone. Derivatives are those of functions with one output. The path agrees with the Prepare functions, since both use
// the same route functions.
func Explain(op string, outer, inner Backend) Path {
	var p Path
	step := func(r route) route {
		if r == noRoute {
			return r
		}
		words := routeWords[r]
		switch r {
		case pushGradient, pullGradient, gradientOfPushforward, pushPushforward:
			if !sameBackend(outer, inner) {
				head, tail, _ := strings.Cut(words, " of ")
				words = head + " by " + outer.Name() + " of " + tail + " by " + inner.Name()
			}
		}
		p = append(p, words)
		return r
	}
	last := func(r route) { // a final native step is omitted
		if r != native {
			step(r)
		}
	}
	// recorded adds the step that derives the function to be differentiated again.
	recorded := func() {
		if c, ok := outer.(CodeRunner); ok && c.RunsCode() {
			p = append(p, fromCode)
		} else if _, ok := inner.(Transformer); !ok {
			p = append(p, fromProgram)
		}
	}
	gradient := func(add func(route)) {
		r := gradientRoute(inner)
		if add(r); r == pullOne {
			last(pullbackRoute(inner))
		}
	}
	hvp := func(add func(route)) {
		r := hvpRoute(outer, inner)
		switch add(r); r {
		case pushGradient, pullGradient, gradientOfPushforward:
			recorded()
		}
	}
	first := func(r route) { step(r) }
	switch op {
	case "Pushforward":
		step(pushforwardRoute(inner))
	case "Pullback":
		step(pullbackRoute(inner))
	case "Gradient":
		gradient(first)
	case "Derivative":
		switch step(derivativeRoute(inner, 1)) {
		case gradientAtOne:
			gradient(last)
		case pushOne:
			last(pushforwardRoute(inner))
		}
	case "Jacobian":
		step(jacobianRoute(inner))
	case "LinearOp":
		if step(linearRoute(inner)) == bothProducts {
			last(pushforwardRoute(inner))
			last(pullbackRoute(inner))
		}
	case "HVP":
		hvp(first)
	case "Hessian":
		if step(hessianRoute(outer, inner)) == unitHVPs {
			hvp(last)
		}
	case "SecondDerivative":
		if step(secondRoute(outer, inner, 1)) == pushPushforward {
			last(pushforwardRoute(outer))
			recorded()
		}
	}
	return p
}
