// Package randfunc generates random functions, for tests that compare engines.
//
// A [Prog] is a small imperative program: assignments of elementary functions, branches, loops whose length depends on
// data, scratch memory, in-place outputs, escapes of values, and nested derivatives. [New] makes it from bytes, String
// prints it as Go, and [Shrink] makes it smaller. It runs over float64 ([Prog.Plain]), over nabla.Real ([Prog.Real])
// and over numbers that carry first and second derivatives with bounds on their rounding error ([Prog.Oracle]).
package randfunc

import "github.com/nabla-ad/nabla/rules"

// A Prog is a function of N numbers with M outputs.
type Prog struct {
	N, M    int
	Vars    int // number of variables: the inputs, the captured numbers, the others
	Caps    int // numbers captured from the enclosing function
	Scratch int // length of the scratch slice
	Body    []Stmt
	Outs    []int // variables that are returned
}

// A Kind is the kind of a statement.
type Kind uint8

// The kinds of statements. v are the variables, s the scratch slice, y the outputs.
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

// A Stmt is one statement. Its kind determines the fields in use.
type Stmt struct {
	Kind       Kind
	Fn         int // index into the table of functions
	D          int
	A          []int
	C          float64
	K          int
	Cond       Cond
	Body, Else []Stmt
	Sub        *Prog
	Caps       []int
	Engine     int // index of the engine that differentiates Sub
}

// A Cond is a comparison.
type Cond uint8

// The conditions. The last three are for Where only.
const (
	Lt Cond = iota
	Le
	Eq
	Gt
	NaN
	LtAnd // a < b and no < yes
	LtOr  // a < b or yes == no
	NotLt
	numConds
)

// A composite names a function of package nabla that is no elementary operation.
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

// A domain is the transformation of an argument into the domain of a function, for programs with bounded values.
type domain uint8

const (
	anyReal  domain = iota
	positive        // x² + ½
	unit            // 0.9·tanh x
	above1          // x² + 1.5
	small           // 3·tanh x
	zeroTwo         // 1 + 0.9·tanh x
)

// A function is a row of the table: an elementary operation or a composite.
type function struct {
	name  string // Go expression, to be followed by the arguments
	arity int
	op    rules.Op
	comp  composite
	in    [3]domain
}

// functions is the table of all functions that a program can call.
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

// Has reports whether p has a statement of kind k, also inside others.
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

// Size is the number of statements.
func (p *Prog) Size() int { return size(p.Body) }

// size returns the number of statements of a block, including nested ones.
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

// Singles is the programs of one call, by the name of the function in package nabla,
// without those that take a constant besides.
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
