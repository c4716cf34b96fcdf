// Package randfunc generates random functions, for tests that compare engines with each other and with a reference.
//
// A [Prog] is a small imperative program on numbered variables: calls of elementary functions, branches, loops whose
// trip count depends on data, scratch memory, outputs that are written and read again, escapes (a number is replaced by
// a constant of the same value, without derivative), and nested derivatives. A test decodes a program and points from
// random bytes or from those of a fuzzer ([New]), and runs it over three number types:
//
//   - float64 ([Prog.Plain]), for values and finite differences;
//   - nabla.Real ([Prog.Real]), which the engines under test differentiate;
//   - numbers that carry first and second derivatives with bounds on their rounding errors ([Prog.Oracle]), the
//     reference.
//
// All three share one interpreter, run, which gets the operations on numbers from an algebra. If a test fails, [Shrink]
// simplifies the program, and [Prog.String] and [Points] print it as Go.
package randfunc

import "github.com/nabla-ad/nabla/rules"

// A Prog is a function of N numbers with M outputs.
type Prog struct {
	N, M    int
	Vars    int // number of variables: first the inputs, then the captured numbers, then all others
	Caps    int // number of captured numbers, which are variables of the enclosing function
	Scratch int // length of the scratch slice
	Body    []Stmt
	Outs    []int // Outs[i] is the variable that output i is set to at the end
}

// A Kind is the kind of a statement.
type Kind uint8

// The kinds of statements with their meaning. v holds the variables, s is the scratch slice, and y holds the outputs.
// A0, A1, … are the elements of A, and index(x) is the integer part of |x| modulo len(s).
const (
	Apply   Kind = iota // v[D] = Fn(v[A]...)
	Const               // v[D] = C
	Where               // v[D] = Where(Cond(v[A0], v[A1]), v[A2], v[A3])
	Store               // s[K] = v[A0]
	Load                // v[D] = s[K]
	StoreAt             // s[index(v[A0])] = v[A1]
	LoadAt              // v[D] = s[index(v[A0])]
	Output              // y[K] = v[A0]; v[D] = y[K]
	Escape              // v[D] = Const(v[A0].Value())
	If                  // if Cond(v[A0], v[A1]) { Body } else { Else }
	For                 // for i := 0; i < K && v[A0] < v[A1]; i++ { Body }
	Grad                // v[D] = ∇Sub(v[A]...)[K], with v[Caps] captured
	Box                 // v[D] = DifferentiateWith(Sub)(v[A]...)
	numKinds
)

// A Stmt is one statement. The comments of the kinds say which of the fields are in use; the others are zero.
type Stmt struct {
	Kind       Kind
	Fn         int     // index into functions
	D          int     // variable that is assigned
	A          []int   // variables that are arguments
	C          float64 // constant
	K          int     // index, limit of a loop, or integer argument of a function
	Cond       Cond
	Body, Else []Stmt
	Sub        *Prog // function with one output that is differentiated inside
	Caps       []int // variables that Sub captures
	Engine     int   // index into Engines of the one that differentiates Sub
}

// A Cond is a comparison of two numbers a and b. LtAnd and LtOr also compare the two values, yes and no, between which
// a Where statement selects.
type Cond uint8

// The conditions. Those from LtAnd on are for Where only, and NaN in a Where counts as NotLt.
const (
	Lt Cond = iota
	Le
	Eq
	Gt
	NaN   // a is NaN
	LtAnd // a < b and no < yes
	LtOr  // a < b or yes == no
	NotLt // !(a < b)
	numConds
)

// A composite is a function of package nabla that is not an elementary operation of package rules. call defines it in
// terms of operations. Some functions take a number besides their arguments, from Stmt.C or Stmt.K.
type composite uint8

const (
	none composite = iota
	dim
	sum3
	dot2
	logSumExp3
	ldexp
	modfWhole
	modfFrac
	scale
	addConst
	powConst
	lgamma
	polygamma
	jn
	yn
	isInf
)

// A domain says how bounded programs transform an argument x of a function, so that the function is defined there and
// neither its value nor its derivatives are large.
type domain uint8

const (
	anyReal  domain = iota
	positive        // x² + ½
	unit            // 0.9·tanh x
	above1          // x² + 1.5
	small           // 3·tanh x
	zeroTwo         // 1 + 0.9·tanh x
)

// A function is a row of the table of functions: it has an elementary operation, op, or a composite, comp.
type function struct {
	name  string // name of the function, of the method of Real, or of a result of Modf
	arity int
	op    rules.Op  // rules.Invalid for a composite
	comp  composite // none for an operation
	in    [3]domain // transformations of the first three arguments
}

// functions lists all functions that a program may call. Stmt.Fn is an index into it, and New decodes bytes to indices,
// so that a change of the order changes the programs of all recorded inputs. The first eight count as arithmetic and
// are decoded more often.
var functions = []function{
	{name: "Add", arity: 2, op: rules.Add},
	{name: "Sub", arity: 2, op: rules.Sub},
	{name: "Mul", arity: 2, op: rules.Mul},
	{name: "Div", arity: 2, op: rules.Div, in: [3]domain{anyReal, positive}},
	{name: "Neg", arity: 1, op: rules.Neg},
	{name: "Sq", arity: 1, op: rules.Sq},
	{name: "Scale", arity: 1, comp: scale},
	{name: "AddConst", arity: 1, comp: addConst},
	{name: "Inv", arity: 1, op: rules.Inv, in: [3]domain{positive}},
	{name: "Sqrt", arity: 1, op: rules.Sqrt, in: [3]domain{positive}},
	{name: "Cbrt", arity: 1, op: rules.Cbrt, in: [3]domain{positive}},
	{name: "Exp", arity: 1, op: rules.Exp, in: [3]domain{small}},
	{name: "Exp2", arity: 1, op: rules.Exp2, in: [3]domain{small}},
	{name: "Expm1", arity: 1, op: rules.Expm1, in: [3]domain{small}},
	{name: "Log", arity: 1, op: rules.Log, in: [3]domain{positive}},
	{name: "Log2", arity: 1, op: rules.Log2, in: [3]domain{positive}},
	{name: "Log10", arity: 1, op: rules.Log10, in: [3]domain{positive}},
	{name: "Log1p", arity: 1, op: rules.Log1p, in: [3]domain{positive}},
	{name: "Sin", arity: 1, op: rules.Sin},
	{name: "Cos", arity: 1, op: rules.Cos},
	{name: "Tan", arity: 1, op: rules.Tan, in: [3]domain{unit}},
	{name: "Asin", arity: 1, op: rules.Asin, in: [3]domain{unit}},
	{name: "Acos", arity: 1, op: rules.Acos, in: [3]domain{unit}},
	{name: "Atan", arity: 1, op: rules.Atan},
	{name: "Sinh", arity: 1, op: rules.Sinh, in: [3]domain{small}},
	{name: "Cosh", arity: 1, op: rules.Cosh, in: [3]domain{small}},
	{name: "Tanh", arity: 1, op: rules.Tanh},
	{name: "Asinh", arity: 1, op: rules.Asinh},
	{name: "Acosh", arity: 1, op: rules.Acosh, in: [3]domain{above1}},
	{name: "Atanh", arity: 1, op: rules.Atanh, in: [3]domain{unit}},
	{name: "Erf", arity: 1, op: rules.Erf},
	{name: "Erfc", arity: 1, op: rules.Erfc},
	{name: "Erfinv", arity: 1, op: rules.Erfinv, in: [3]domain{unit}},
	{name: "Erfcinv", arity: 1, op: rules.Erfcinv, in: [3]domain{zeroTwo}},
	{name: "Gamma", arity: 1, op: rules.Gamma, in: [3]domain{positive}},
	{name: "Digamma", arity: 1, op: rules.Digamma, in: [3]domain{positive}},
	{name: "J0", arity: 1, op: rules.J0},
	{name: "J1", arity: 1, op: rules.J1},
	{name: "Y0", arity: 1, op: rules.Y0, in: [3]domain{positive}},
	{name: "Y1", arity: 1, op: rules.Y1, in: [3]domain{positive}},
	{name: "Logistic", arity: 1, op: rules.Logistic},
	{name: "Softplus", arity: 1, op: rules.Softplus},
	{name: "Abs", arity: 1, op: rules.Abs},
	{name: "Floor", arity: 1, op: rules.Floor},
	{name: "Ceil", arity: 1, op: rules.Ceil},
	{name: "Trunc", arity: 1, op: rules.Trunc},
	{name: "Round", arity: 1, op: rules.Round},
	{name: "RoundToEven", arity: 1, op: rules.RoundToEven},
	{name: "Logb", arity: 1, op: rules.Logb},
	{name: "Hypot", arity: 2, op: rules.Hypot},
	{name: "Atan2", arity: 2, op: rules.Atan2, in: [3]domain{anyReal, positive}},
	{name: "Max", arity: 2, op: rules.Max},
	{name: "Min", arity: 2, op: rules.Min},
	{name: "Mod", arity: 2, op: rules.Mod, in: [3]domain{anyReal, positive}},
	{name: "Remainder", arity: 2, op: rules.Remainder, in: [3]domain{anyReal, positive}},
	{name: "Copysign", arity: 2, op: rules.Copysign},
	{name: "Nextafter", arity: 2, op: rules.Nextafter},
	{name: "Pow", arity: 2, op: rules.Pow, in: [3]domain{positive, small}},
	{name: "XLogY", arity: 2, op: rules.XLogY, in: [3]domain{anyReal, positive}},
	{name: "LogAddExp", arity: 2, op: rules.LogAddExp},
	{name: "FMA", arity: 3, op: rules.FMA},
	{name: "Dim", arity: 2, comp: dim},
	{name: "Sum", arity: 3, comp: sum3},
	{name: "Dot", arity: 4, comp: dot2},
	{name: "LogSumExp", arity: 3, comp: logSumExp3},
	{name: "Ldexp", arity: 1, comp: ldexp},
	{name: "ModfWhole", arity: 1, comp: modfWhole},
	{name: "ModfFrac", arity: 1, comp: modfFrac},
	{name: "PowConst", arity: 1, comp: powConst, in: [3]domain{positive}},
	{name: "Lgamma", arity: 1, comp: lgamma, in: [3]domain{positive}},
	{name: "Polygamma", arity: 1, comp: polygamma, in: [3]domain{positive}},
	{name: "Jn", arity: 1, comp: jn},
	{name: "Yn", arity: 1, comp: yn, in: [3]domain{positive}},
}

// Has reports whether p has a statement of kind k, in nested blocks and functions too.
func (p *Prog) Has(k Kind) bool { return has(p.Body, k) }

func has(body []Stmt, k Kind) bool {
	for i := range body {
		s := &body[i]
		if s.Kind == k || has(s.Body, k) || has(s.Else, k) || s.Sub != nil && s.Sub.Has(k) {
			return true
		}
	}
	return false
}

// Size returns the number of statements of p, those of nested blocks and functions included.
func (p *Prog) Size() int { return size(p.Body) }

// size returns the number of statements of body, those of nested blocks and functions included.
func size(body []Stmt) int {
	n := len(body)
	for i := range body {
		n += size(body[i].Body) + size(body[i].Else)
		if s := body[i].Sub; s != nil {
			n += s.Size()
		}
	}
	return n
}

// Singles returns, for each function of package nabla that programs may call, a program that returns the function of
// its inputs: name of the function → program. Functions that take a constant, an order or an exponent besides their
// arguments are left out.
func Singles() map[string]*Prog {
	all := map[string]*Prog{}
	for i := range functions {
		f := &functions[i]
		switch f.comp {
		case scale, addConst, powConst, ldexp, polygamma, jn, yn:
			continue
		}
		p := &Prog{N: f.arity, M: 1, Vars: f.arity + 1, Scratch: 1, Outs: []int{f.arity}}
		s := Stmt{Kind: Apply, Fn: i, D: f.arity}
		for k := range f.arity {
			s.A = append(s.A, k)
		}
		p.Body = []Stmt{s}
		all[f.name] = p
	}
	return all
}
