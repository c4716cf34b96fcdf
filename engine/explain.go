package engine

import "strings"

// The fallback graph: how every operator comes about on a backend that has it not
// itself. Prepare… takes the route that the function here names, and Explain puts
// it into words.
//
//	Pushforward  Pusher; else, where there are many outputs, Lineariser; else one
//	             pullback per output, batched, times the tangent
//	Pullback     Puller; else one pushforward per input, batched, times the cotangent
//	Derivative   pushforward of 1; the gradient, if the backend only pulls and there
//	             is one output
//	Gradient     Gradienter; else pullback of 1
//	Jacobian     Jacobianer; else pushforwards of unit vectors where the backend is a
//	             Pusher (and has not fewer outputs than inputs if it is also a
//	             Puller), else pullbacks of unit vectors
//	Linear       Lineariser; else pushforward and pullback at the kept point
//	HVP          HVPer, if outer and inner are one; else
//	             outer pushes: pushforward(outer) of the gradient function(inner)
//	             outer and inner pull: pullback(outer) of the gradient function(inner)
//	             outer pulls, inner pushes: gradient(outer) of the pushforward function(inner)
//	Second       Seconder or, for one output, Hessianer, if outer and inner are one; else
//	             pushforward(outer) of the pushforward function(inner)
//	Hessian      Hessianer, if outer and inner are one; else HVP of unit vectors, batched

// route is one edge of the graph.
type route uint8

const (
	noRoute route = iota
	native
	perOutput             // pushforward from pullbacks
	perOutputOrLinear     // pushforward from pullbacks, or linearised where there are many
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

var routeWords = [numRoutes]string{
	native:                "native",
	perOutput:             "one pullback per output",
	perOutputOrLinear:     "linear operator where there are many outputs, else one pullback per output",
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

func pushes(b Backend) bool { _, ok := b.(Pusher); return ok }

func pulls(b Backend) bool { _, ok := b.(Puller); return ok }

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

func pullbackRoute(b Backend) route {
	switch {
	case pulls(b):
		return native
	case pushes(b):
		return perInput
	}
	return noRoute
}

func gradientRoute(b Backend) route {
	if _, ok := b.(Gradienter); ok {
		return native
	}
	return derived(b, pullOne)
}

// derived is r, if b can anything at all.
func derived(b Backend, r route) route {
	if pushes(b) || pulls(b) {
		return r
	}
	return noRoute
}

// DerivativeByGradient reports whether the derivative of a function of one number
// with m outputs is the gradient of b, and not a pushforward of 1.
func DerivativeByGradient(b Backend, m int) bool { return derivativeRoute(b, m) == gradientAtOne }

func derivativeRoute(b Backend, m int) route {
	if !pushes(b) && m == 1 {
		if gradientRoute(b) == noRoute {
			return noRoute
		}
		return gradientAtOne
	}
	return derived(b, pushOne)
}

func jacobianRoute(b Backend) route {
	if _, ok := b.(Jacobianer); ok {
		return native
	}
	return derivedJacobianRoute(b)
}

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

func linearRoute(b Backend) route {
	if _, ok := b.(Lineariser); ok {
		return native
	}
	return derived(b, bothProducts)
}

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

// secondRoute is for m outputs.
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

func hessianRoute(outer, inner Backend) route {
	if _, ok := outer.(Hessianer); ok && sameBackend(outer, inner) {
		return native
	}
	if hvpRoute(outer, inner) == noRoute {
		return noRoute
	}
	return unitHVPs
}

// Operators are the names that Explain knows, those of package nabla. LinearOp is
// what the At method of a prepared pushforward or pullback returns.
func Operators() []string {
	return []string{"Pushforward", "Pullback", "Derivative", "Gradient", "Jacobian", "LinearOp", "SecondDerivative",
		"HVP", "Hessian"}
}

// A Path is how an operator comes about on a backend: through each step in turn,
// the last of which the backend has itself. It is "native" alone where it has the
// operator itself, and empty where it can do nothing.
type Path []string

// Native reports whether the backend has the operator itself.
func (p Path) Native() bool { return len(p) == 1 && p[0] == routeWords[native] }

func (p Path) String() string {
	if len(p) == 0 {
		return "unsupported"
	}
	return strings.Join(p, ": ")
}

// Explain is the path of operator op, one of [Operators], on a backend, or on two
// for an operator of second order: outer and inner are equal for a backend that
// was not composed, and operators of first order use inner alone. Derivatives are
// those of functions with one output. It is the path that the Prepare functions
// take, since both ask the same functions.
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
	last := func(r route) { // native at the end of a longer path goes without saying
		if r != native {
			step(r)
		}
	}
	// recorded is the function that is differentiated again.
	recorded := func() {
		if _, ok := inner.(Transformer); !ok {
			p = append(p, "made from the recorded program")
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
