package gen

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"github.com/nabla-ad/nabla/gen/lower"
)

// Which derivatives a function gets: those that the operators that are called with it compute with, or that its
// directive lists.

// A demand is a set of derivatives.
type demand uint8

const (
	pushforwards demand = 1 << iota // tangents
	pullbacks                       // adjoints
	seconds                         // tangents of adjoints
	batches                         // tangents and adjoints in vector mode too

	everything = pushforwards | pullbacks | seconds | batches
)

// operators lists the derivatives of a function that an operator computes with. A directive names them in lower case.
var operators = []struct {
	name string
	demand
}{
	{"Pushforward", pushforwards | batches}, {"Derivative", pushforwards}, {"CurveDerivative", pushforwards},
	{"Pullback", pullbacks | batches}, {"Gradient", pullbacks}, {"Jacobian", pushforwards | pullbacks | batches},
	{"HVP", pullbacks | seconds}, {"Hessian", pullbacks | seconds}, {"HessianDiagonal", pullbacks | seconds},
	{"WeightedHessian", everything}, {"KKT", everything}, {"Hessians", everything}, {"GradientWithAux", pullbacks},
	{"SecondDerivative", pullbacks | seconds},
	{"GradientMany", pullbacks}, {"JacobianMany", pushforwards | pullbacks | batches},
	{"CurveSecondDerivative", pullbacks | seconds}, {"Linearize", pushforwards | pullbacks | batches},
}

// recording lists the operators that run the form over Reals: those that only engines with Taylor series have, and
// those that look for an operation.
var recording = []string{"Derivatives", "TaylorCoefficients", "Trace", "TraceHessian"}

// operatorWords returns the words by which a directive names operators.
func operatorWords() (list []string) {
	for _, o := range operators {
		list = append(list, strings.ToLower(o.name))
	}
	return list
}

// demandOf returns the derivatives that a use of a function needs. known reports whether the operator is one of
// operators or recording; the use may need any derivative otherwise.
func demandOf(u lower.Use) (d demand, known bool) {
	if slices.ContainsFunc(recording, func(name string) bool { return strings.HasSuffix(u.Operator, name) }) {
		return 0, true
	}
	name := ""
	for _, o := range operators { // ValueAndGradient, PrepareGradient; but SecondDerivative is no Derivative
		if strings.HasSuffix(u.Operator, o.name) && len(o.name) > len(name) {
			name, d = o.name, o.demand
		}
	}
	if name == "" {
		return everything, false
	}
	if u.Open {
		return d | pushforwards | pullbacks | batches, true
	}
	code := false
	for _, e := range u.Engines {
		switch e {
		case "source.Forward": // the derivative of what it computes, as the inner engine
			d, code = d|pushforwards|batches, true
		case "source.Reverse":
			d, code = d|pullbacks, true
		case "nabla.Auto":
			code = true
		}
	}
	if !code { // engines that run the form over Reals, or the function
		return 0, true
	}
	return d, true
}

// wants reports whether t gets the derivative of a kind.
func (t *target) wants(kind *build) bool {
	return kind.part&t.demand == kind.part || slices.Contains(t.called, kind.suffix)
}

// ask sets the derivatives that t gets: all if a directive asks for no particular ones, otherwise those that the
// directive lists, that operators in the package compute with, and that functions of the package call. Without a list
// they are all if the function reaches operators in ways that are not known.
func (u *home) ask(t *target, listed demand) {
	t.demand = listed
	if t.marked && listed == 0 {
		t.demand = everything
	}
	for _, use := range t.Uses {
		if d, known := demandOf(use); known || listed == 0 {
			t.demand |= d
		}
	}
	if t.demand == everything {
		return
	}
	for _, kind := range u.program.builds {
		if u.identifiers()[t.base+kind.suffix] {
			t.called = append(t.called, kind.suffix)
		}
	}
}

// identifiers returns the identifiers in the source files of the package, without generated ones.
func (u *home) identifiers() map[string]bool {
	if u.idents == nil {
		u.idents = map[string]bool{}
		for _, f := range u.pkg.Syntax {
			if u.program.lower.IsStub(u.pkg.Fset.Position(f.Pos()).Filename) {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					u.idents[id.Name] = true
				}
				return true
			})
		}
	}
	return u.idents
}

// asking returns the operators that the directive of t is to list, to ask for a kind too.
func (t *target) asking(kind *build) string {
	word := "gradient"
	switch kind.part {
	case pushforwards:
		word = "pushforward"
	case seconds:
		word = "hvp"
	}
	return strings.Join(append(slices.Clone(t.words), word), " ")
}

// unasked returns the reason why t has no derivative of a kind that nothing asks for.
func (t *target) unasked(kind *build) string {
	return fmt.Sprintf("nothing in package %s asks for it; write //nabla:differentiate %s above %s and run nabla gen",
		t.In.Name(), t.asking(kind), t.of)
}
