package ir

import (
	"go/constant"
	"go/token"
	"go/types"
)

// Func is a function.
type Func struct {
	Name     string // in the text form and in messages: package.Func, (*T).Method
	Object   *types.Func
	Recv     bool // the first parameter is a receiver
	Variadic bool // the last parameter takes the remaining arguments, as a slice
	Passive  bool // calls of it carry no derivative
	Params   []*Var
	Results  []*Var
	Exit     *Label // what a return leaves
	Body     Block
	Pos      token.Position
	// Checkpoint is set for iterations of a loop that are a function: its last two
	// parameters are the first of them and the one behind the last.
	Checkpoint *Checkpoint
}

// Checkpoint says how the reverse sweep of a loop saves memory: it keeps the state of the
// loop before some iterations only, snapshots, and runs iterations again from there.
type Checkpoint struct {
	Levels    int // up to how often an iteration is run, the reversal included; 0 where Snapshots says it
	Snapshots int // how many there are at most
	Steps     int // iterations that are reversed at once, with Snapshots
}

// VarKind says where a variable comes from.
type VarKind uint8

// The kinds of variables.
const (
	Local  VarKind = iota
	Param          // its value comes from the caller
	Result         // zero at the beginning
	Global         // of a package, never written
)

// Var is a variable. Name is its own in the function; a Global's is package.Name.
type Var struct {
	Name   string
	Type   types.Type
	Kind   VarKind
	Object types.Object // in the source, nil for those that lowering made
	Pos    token.Position
}

// Label names what a Leave goes to the end of.
type Label struct{ Name string }

// Block is a list of statements.
type Block []Stmt

// Stmt is a statement: one of the types below whose name has no Expr.
type Stmt interface{ Position() token.Position }

// At is where a statement stands in the source.
type At struct{ Pos token.Position }

// Position is Pos.
func (a At) Position() token.Position { return a.Pos }

type (
	// Let declares V with the value E. A nil E is the zero value of the type.
	Let struct {
		At
		V *Var
		E Expr
	}
	// Set assigns E to a place.
	Set struct {
		At
		P *Place
		E Expr
	}
	// Add adds E, which does not read P, to the number at P.
	Add struct {
		At
		P *Place
		E Expr
	}
	// Call assigns the results of a call to variables that a Let has declared; nil
	// ones are dropped.
	Call struct {
		At
		Results []*Var
		Callee  *Callee
		Args    []Expr
	}
	// Append assigns append(S, Elems…) to a place. With Spread there is one element, the
	// slice that is appended.
	Append struct {
		At
		P      *Place
		S      Expr
		Elems  []Expr
		Spread bool
	}
	// Copy is copy(Dst, Src). N, if it is not nil, gets the number of elements.
	Copy struct {
		At
		N        *Var
		Dst, Src Expr
	}
	// Clear is clear(S) for a slice.
	Clear struct {
		At
		S Expr
	}
	// If has one or two branches.
	If struct {
		At
		Cond       Expr
		Then, Else Block
	}
	// Scope is a block that can be left.
	Scope struct {
		At
		L    *Label
		Body Block
	}
	// Loop repeats its body. A leave of L ends the loop, a leave of Next the iteration.
	//
	// A counted loop has an index V, a variable of each iteration, which the body does not
	// assign to: it goes from Lo in steps of Step, a constant other than 0, while it is less
	// than Hi, or for a negative step greater than Hi. Lo and Hi are evaluated once, and no
	// step overflows. Without V the loop goes on until it is left.
	Loop struct {
		At
		L, Next *Label
		V       *Var
		Lo, Hi  Expr
		Step    int64
		Body    Block
		// Checkpoint is nil unless the source asks for it.
		Checkpoint *Checkpoint
	}
	// Leave goes to the end of what L is the label of.
	Leave struct {
		At
		L *Label
	}
	// Panic panics with E.
	Panic struct {
		At
		E Expr
	}
)

// Callee is what a Call calls: a function in this form or, where Func is nil, one that
// is known by a rule.
type Callee struct {
	Func *Func
	Rule *Rule
}

// Expr is an expression. Its type is that of Go, untyped constants converted.
type Expr interface{ Type() types.Type }

// Typed has the type of an expression.
type Typed struct{ T types.Type }

// Type is the type of the expression.
func (t Typed) Type() types.Type { return t.T }

type (
	// Const is a constant. Text is how the source writes it, with its package where it has
	// a name; empty where Val says all. Val is nil for the zero value of any type.
	Const struct {
		Typed
		Val  constant.Value
		Text string
	}
	// Load reads a place.
	Load struct {
		Typed
		P *Place
	}
	// Unary is -X, +X, !X or ^X.
	Unary struct {
		Typed
		Op token.Token
		X  Expr
	}
	// Binary is an arithmetic operation, a comparison, && or ||. Its type is bool for the
	// last two kinds.
	Binary struct {
		Typed
		Op   token.Token
		X, Y Expr
	}
	// Math is a function of package math, or the builtin min or max, with a rule in the
	// table of elementary functions: Name is math.Sin, min, …
	Math struct {
		Typed
		Name string
		Args []Expr
	}
	// Convert converts between numbers, and between types with one underlying type.
	Convert struct {
		Typed
		X Expr
	}
	// Len is len(X), or cap(X) if Cap is set.
	Len struct {
		Typed
		X   Expr
		Cap bool
	}
	// Slice is X[Lo:Hi:Max] of a slice or a string; what is nil is left out.
	Slice struct {
		Typed
		X           Expr
		Lo, Hi, Max Expr
	}
	// SliceAt is P[Lo:Hi:Max] of the array at a place.
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
	// Make is make(T, N, Cap); Cap may be nil.
	Make struct {
		Typed
		N, Cap Expr
	}
	// New is new(T) of a zero value.
	New struct{ Typed }
	// Literal is a composite literal of a struct, an array or a slice. Keys are the fields
	// or the indices of the elements.
	Literal struct {
		Typed
		Keys  []int
		Elems []Expr
		Len   int // of a slice
	}
	// Opaque is an expression without floats that nothing else stands for, such as a string
	// that is put together for a panic: a call of a function of the standard library. Format
	// has a %v for each argument, and names the package by its path.
	Opaque struct {
		Typed
		Format string
		Args   []Expr
	}
)

// Place is a variable, or what a path leads to from it.
type Place struct {
	Root *Var
	Path []Step
}

// Step is a step of a path: a field if Field ≥ 0, an element if Index is set, else what
// a pointer points to.
type Step struct {
	Field int
	Index Expr
}

// The steps.
func FieldStep(i int) Step   { return Step{Field: i} }
func IndexStep(e Expr) Step  { return Step{Field: -1, Index: e} }
func DerefStep() Step        { return Step{Field: -1} }
func (s Step) IsDeref() bool { return s.Field < 0 && s.Index == nil }
