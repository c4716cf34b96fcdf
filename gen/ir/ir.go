package ir

import (
	"go/constant"
	"go/token"
	"go/types"
)

// A Func is a function of the intermediate representation. The fields other than Body describe its
// signature; Body is a tree of statements without jumps other than Leave and Panic.
type Func struct {
	Name string // used in the text form and in messages: package.Func, (*T).Method
	// Object is the declared function, nil for closures and for functions that the compiler builds.
	Object   *types.Func
	Package  *types.Package // of the declaration that the function was made of, nil for others
	Recv     bool           // the first parameter is a receiver
	Variadic bool           // the last parameter is a slice of the remaining arguments
	Passive  bool           // calls of it have no derivative
	// RecordsPassive is set for the sweeps of a passive function that record values. They have no tangent: recorded
	// values have to be on the tapes of values and of derivatives, and their results have no derivative.
	RecordsPassive bool
	Params         []*Var
	Results        []*Var
	Exit           *Label // the label that a return leaves
	Body           Block
	// Pos is the position of the declaration in the source.
	Pos token.Position
	// Unboxed is the function without Unbox and Box, where it has them, for forms over Reals.
	Unboxed *Func
	// Checkpoint is set for a function made of the iterations of a loop. Its last two parameters
	// are the index of the first iteration and the index after that of the last.
	Checkpoint *Checkpoint
}

// A Checkpoint holds the parameters of the checkpointing of a loop (Griewank & Walther 2008, ch.
// 12). The forward sweep takes snapshots of the loop state before some iterations only; the reverse
// sweep advances from a snapshot and reverses the iterations after it.
type Checkpoint struct {
	Levels    int // maximal number of runs of an iteration, its reversal included; 0 if Snapshots limits memory
	Snapshots int // maximal number of snapshots held at a time
	Steps     int // iterations per segment, which is reversed as a whole; used with Snapshots and Memory
	Memory    int // KiB of snapshots held at a time; 0 if Levels or Snapshots limits memory
}

// A VarKind is the origin of a variable.
type VarKind uint8

// The kinds of variables.
const (
	Local  VarKind = iota
	Param          // initialised by the caller
	Result         // initialised to zero
	Global         // package-level variable, or a declared function as a value; never assigned
)

// A Var is a variable; two places have the same root if and only if their Vars are the same
// pointer. Name is unique in the function. The name of a Global is package.Name.
type Var struct {
	Name   string
	Type   types.Type
	Kind   VarKind
	Object types.Object // in the source, nil for variables introduced by the compiler
	// Pos is the position of the declaration, zero for variables introduced by the compiler.
	Pos token.Position
	// Init is set for a Global that no package of generated code can name and that is never written: a function without
	// parameters that returns its value, for a private copy of the variable.
	Init *Func
}

// A Label identifies a statement or function that a Leave ends. Labels are compared as pointers.
type Label struct{ Name string }

// A Block is a list of statements that share a scope.
type Block []Stmt

// A Stmt is a statement: a pointer to one of the types below whose name does not end in Expr.
type Stmt interface{ Position() token.Position }

// At is the source position of a statement. Statements embed it.
type At struct{ Pos token.Position }

// Position returns a.Pos.
func (a At) Position() token.Position { return a.Pos }

type (
	// Let declares V and initialises it to E, or to the zero value if E is nil. Every execution
	// creates a new variable, so pointers to an earlier one stay valid.
	Let struct {
		At
		V *Var
		E Expr
	}
	// Set assigns E to the place P.
	Set struct {
		At
		P *Place
		E Expr
	}
	// Add adds E to the number at P. E must not read P.
	Add struct {
		At
		P *Place
		E Expr
	}
	// Call calls Callee and assigns its results to declared variables. A nil variable discards the
	// result. It is the only statement that executes other functions than elementary ones.
	Call struct {
		At
		Results []*Var
		Callee  *Callee
		Args    []Expr
	}
	// Append assigns append(S, Elems…) to P. If Spread is set, Elems has one element, the slice or
	// string whose elements are appended.
	Append struct {
		At
		P      *Place
		S      Expr
		Elems  []Expr
		Spread bool
	}
	// Copy is copy(Dst, Src). The number of elements is assigned to N unless that is nil.
	Copy struct {
		At
		N        *Var
		Dst, Src Expr
	}
	// Clear is clear(S) for a slice S.
	Clear struct {
		At
		S Expr
	}
	// Batch sets the elements of Dst, a slice of float64, to the elementary function Name of those of Args, slices of
	// its length that are Dst itself or apart from it. Only passes that come last make it: it has no derivative.
	Batch struct {
		At
		Name string
		Dst  Expr
		Args []Expr
	}
	// If executes Then or Else, which may be empty.
	If struct {
		At
		Cond       Expr
		Then, Else Block
	}
	// Scope executes Body. A leave of L ends it.
	Scope struct {
		At
		L    *Label
		Body Block
	}
	// Loop repeats Body. A leave of L ends the loop, a leave of Next the iteration.
	//
	// A counted loop has an index V, a new variable in each iteration that Body must not assign to.
	// It runs from Lo in steps of Step, a nonzero constant, while it is less than Hi, or greater
	// than Hi if Step is negative. Lo and Hi are evaluated once, and no step may overflow. A loop
	// whose V is nil runs until it is left; its Lo, Hi and Step are zero.
	Loop struct {
		At
		L, Next *Label
		V       *Var
		Lo, Hi  Expr
		Step    int64
		Body    Block
		// Checkpoint is nil unless the source requests checkpointing.
		Checkpoint *Checkpoint
		// Marked says that recordings are told where the iterations begin: see Loop of package rt.
		Marked bool
	}
	// Leave continues after the end of the scope, loop or function that L labels, or at the next
	// iteration if L is the Next label of a loop. It ends its block.
	Leave struct {
		At
		L *Label
	}
	// Panic panics with E. It ends its block.
	Panic struct {
		At
		E Expr
	}
)

// A Callee is the target of a Call: a function in this form, or if Func is nil a Rule. Exactly one
// of the two is set.
type Callee struct {
	Func *Func
	Rule *Rule
}

// Funcs returns the functions that code for a call of c refers to: the function itself, that which a rule calls, or the
// derivatives of an operation over Reals.
func (c *Callee) Funcs() (list []*Func) {
	add := func(f *Func) {
		if f != nil {
			list = append(list, f)
		}
	}
	add(c.Func)
	if c.Rule == nil {
		return list
	}
	add(c.Rule.Calls)
	if o := c.Rule.Operation; o != nil {
		for _, d := range []*Callee{o.Of.Tangent, o.Of.Pullback} {
			if d != nil && o.Of.Declared == nil {
				add(d.Func)
			}
		}
		add(o.Tangent)
		add(o.Pullback)
	}
	return list
}

// An Expr is an expression, which is free of side effects. Type returns its Go type; constants are
// typed, never untyped.
type Expr interface{ Type() types.Type }

// Typed holds the type of an expression. Expressions embed it.
type Typed struct{ T types.Type }

// Type returns the type of the expression.
func (t Typed) Type() types.Type { return t.T }

type (
	// Const is a constant. Text is its spelling in the source, qualified by the package if it is a
	// name, or empty if Val determines it. A nil Val is the zero value of any type.
	Const struct {
		Typed
		Val  constant.Value
		Text string
	}
	// Load is the value at P.
	Load struct {
		Typed
		P *Place
	}
	// Unary is -X, +X, !X or ^X, as Op is SUB, ADD, NOT or XOR.
	Unary struct {
		Typed
		Op token.Token
		X  Expr
	}
	// Binary is an arithmetic operation, a shift, a comparison, && or ||. The type of comparisons
	// and logical operations is a bool.
	Binary struct {
		Typed
		Op   token.Token
		X, Y Expr
	}
	// Math is a call of an elementary function: the builtin min or max, or a function of packages
	// math or rules that [Elementary] reports. Name is qualified: math.Sin, rules.lgamma, min.
	Math struct {
		Typed
		Name string
		Args []Expr
	}
	// Convert is a conversion between numbers, between types with identical underlying types, or
	// one of the conversions of strings, slices and interfaces that Go allows. From an interface to
	// a type that not all values of its type have, it is the type assertion X.(T), see [IsAssertion].
	Convert struct {
		Typed
		X Expr
	}
	// TypeTest reports whether the dynamic type of the interface value X is Of, or implements Of if
	// that is an interface type. It is false for nil.
	TypeTest struct {
		Typed
		X  Expr
		Of types.Type
	}
	// Unbox is a pointer to a copy of the value that the interface value X holds, see carrier.go. The type of the
	// expression is a pointer to the type of the value.
	Unbox struct {
		Typed
		X Expr
	}
	// Box is an interface value that holds the value that the pointer X points to.
	Box struct {
		Typed
		X Expr
	}
	// Len is len(X), or cap(X) if Cap is set. X is a slice, an array, a pointer to an array or a
	// string.
	Len struct {
		Typed
		X   Expr
		Cap bool
	}
	// Slice is X[Lo:Hi:Max] for a slice or a string X. Bounds may be nil.
	Slice struct {
		Typed
		X           Expr
		Lo, Hi, Max Expr
	}
	// SliceAt is P[Lo:Hi:Max] for a place P that holds an array; it aliases P.
	SliceAt struct {
		Typed
		P           *Place
		Lo, Hi, Max Expr
	}
	// Addr is &P.
	Addr struct {
		Typed
		P *Place
	}
	// Make is make(T, N, Cap) for a slice type. Cap may be nil.
	Make struct {
		Typed
		N, Cap Expr
	}
	// New is new(T), a pointer to a zero value. The type of the expression is the pointer type.
	New struct{ Typed }
	// Literal is a composite literal of a struct, an array or a slice. Keys[i] is the field or
	// index that Elems[i] initialises; the others are zero. An element is a literal itself only in the function of
	// [Var.Init], which no pass transforms.
	Literal struct {
		Typed
		Keys  []int
		Elems []Expr
		// Len is the length of a slice, 0 for the other types.
		Len int
	}
	// Opaque is an expression without floats that no other kind represents, such as a string built
	// for a panic by a function of the standard library. Format is its Go text with a %v for each
	// argument; it names packages by their paths.
	Opaque struct {
		Typed
		Format string
		Args   []Expr
	}
)

// A Place is a memory location: a variable and a path of selections from it. Places are values; a
// path must not be modified once it is shared.
type Place struct {
	Root *Var
	Path []Step
}

// A Step selects a part of a value: a field if Field ≥ 0, an element if Index is set, otherwise the
// variable that a pointer points to.
type Step struct {
	Field int
	Index Expr
}

// FieldStep selects field i of a struct.
func FieldStep(i int) Step { return Step{Field: i} }

// IndexStep selects the element with index e, which must not be nil.
func IndexStep(e Expr) Step { return Step{Field: -1, Index: e} }

// DerefStep follows a pointer.
func DerefStep() Step { return Step{Field: -1} }

// IsDeref reports whether s follows a pointer.
func (s Step) IsDeref() bool { return s.Field < 0 && s.Index == nil }
