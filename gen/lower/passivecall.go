package lower

import (
	"go/ast"
	"go/constant"
	"go/types"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Calls of functions of the standard library that carry no derivative: printing and logging, and computations on
// strings, times and other data. They become calls of passive rules, which derivatives perform where the function
// performs them, in the part that computes its values. Which functions these are follows from lists of packages and
// from the types of parameters and results.

// passivePackages maps packages of the standard library to the functions and methods whose calls carry no derivative;
// nil means all whose types permit it, see passiveSignature.
var passivePackages = map[string]map[string]bool{
	"bytes":         nil,
	"errors":        wordSet("Is Join New Unwrap"),
	"fmt":           wordSet("Errorf Print Printf Println Fprint Fprintf Fprintln Sprint Sprintf Sprintln"),
	"log":           wordSet(logNames + " Default SetFlags SetPrefix Flags Prefix"),
	"log/slog":      wordSet("Debug Info Warn Error Default With WithGroup"),
	"math/rand":     wordSet(randomNames + " NewSource Int31 Int31n Int63 Int63n Intn Seed"),
	"math/rand/v2":  wordSet(randomNames + " " + randomV2Names),
	"os":            wordSet("Exit"),
	"path":          nil,
	"path/filepath": wordSet("Base Clean Dir Ext FromSlash IsAbs Join Split ToSlash VolumeName"),
	"strconv":       nil,
	"strings":       nil,
	"sync":          wordSet("Do Lock Unlock RLock RUnlock"),
	"sync/atomic":   wordSet("Add Load Store Swap CompareAndSwap"),
	"time":          nil,
	"unicode":       nil,
	"unicode/utf16": nil,
	"unicode/utf8":  nil,
}

// randomNames are those of both packages of random numbers.
const randomNames = "New NewZipf ExpFloat64 Float32 Float64 Int NormFloat64 Perm Uint32 Uint64"

const randomV2Names = "NewPCG NewChaCha8 Int32 Int32N Int64 Int64N IntN Uint Uint32N Uint64N UintN"

const logNames = "Print Printf Println Fatal Fatalf Fatalln Panic Panicf Panicln"

// endless holds the functions that do not return.
var endless = wordSet("os.Exit log.Fatal log.Fatalf log.Fatalln log.Panic log.Panicf log.Panicln " +
	"(*log.Logger).Fatal (*log.Logger).Fatalf (*log.Logger).Fatalln " +
	"(*log.Logger).Panic (*log.Logger).Panicf (*log.Logger).Panicln")

// output holds the functions whose only effect is output that the program does not read.
var output = wordSet("fmt.Print fmt.Printf fmt.Println log.Print log.Printf log.Println " +
	"(*log.Logger).Print (*log.Logger).Printf (*log.Logger).Println " +
	"log/slog.Debug log/slog.Info log/slog.Warn log/slog.Error " +
	"(*log/slog.Logger).Debug (*log/slog.Logger).Info (*log/slog.Logger).Warn (*log/slog.Logger).Error print println")

// computes holds the packages whose functions have no effects; methods of pointers may have some.
var computes = wordSet("bytes errors path path/filepath strconv strings unicode unicode/utf16 unicode/utf8")

// unsteady holds the functions of package time that do not compute from their arguments alone.
var unsteady = wordSet("time.Now time.Since time.Until time.Sleep time.LoadLocation")

// passiveStandard reports whether fn is a function of the standard library whose calls carry no derivative. Why is the
// reason if it is one of a listed package that cannot be called so.
func passiveStandard(fn *types.Func) (ok bool, why string) {
	if fn.Pkg() == nil {
		return isErrorText(fn), ""
	}
	names, listed := passivePackages[fn.Pkg().Path()]
	if !listed || names != nil && !names[fn.Name()] || isGeneric(fn) {
		return false, ""
	}
	if strings.HasPrefix(fn.Pkg().Path(), "math/rand") && fn.Signature().Recv() == nil &&
		!strings.HasPrefix(fn.Name(), "New") {
		return false, "its random numbers come from a source that the whole program shares, so that no call can be " +
			"repeated"
	}
	if why := passiveSignature(fn); why != "" {
		return false, why
	}
	return true, ""
}

// passiveRemedy returns the remedy for a call of a function of a listed package that cannot be called.
func passiveRemedy(fn *types.Func) string {
	switch fn.Pkg().Path() {
	case "math/rand", "math/rand/v2":
		return "draw from a generator that the function makes with rand.New and a seed"
	case "sync":
		return "do it in an init function, or call it in a function with //nabla:passive"
	}
	return remedyRule
}

// withoutSource returns the reason and the remedy for a function of the standard library that is refused, as its source
// is not lowered; "" for others.
func withoutSource(name string) (why, remedy string) {
	switch name {
	case "maps.Clone":
		return "its source is part of the run-time system", "make a map, and fill it with maps.Copy"
	case "fmt.Sscan", "fmt.Sscanf", "fmt.Sscanln", "fmt.Scan", "fmt.Scanf", "fmt.Scanln", "fmt.Fscan", "fmt.Fscanf",
		"fmt.Fscanln":
		return "it stores numbers through pointers in interface values",
			"use strconv.ParseFloat, or a function with //nabla:passive that returns the numbers"
	}
	return "", ""
}

// onceDo is the method of sync.Once.
const onceDo = "(*sync.Once).Do"

// once lowers a call of the method Do of sync.Once with a declared function, which computes package variables from
// package variables: they carry no derivative. It is called as it is, where the function calls it.
func (l *lowerer) once(call *ast.CallExpr, fn *types.Func, args []ir.Expr) (*ir.Callee, []ir.Expr) {
	var f *types.Func
	switch x := ast.Unparen(call.Args[0]).(type) {
	case *ast.Ident:
		f, _ = l.d.pkg.TypesInfo.Uses[x].(*types.Func)
	case *ast.SelectorExpr:
		f, _ = l.d.pkg.TypesInfo.Uses[x.Sel].(*types.Func)
	}
	if f == nil || f.Signature().Recv() != nil {
		l.refuse(call, "call of "+fn.FullName(), "the function that it calls is not a declared one",
			"declare a function for it, and pass its name")
		return nil, nil
	}
	v := &ir.Var{Name: f.Pkg().Name() + "." + f.Name(), Type: f.Type(), Kind: ir.Global, Object: f, Pos: l.pos(call)}
	return &ir.Callee{Rule: passiveRule(fn)}, append(args, v.Load())
}

// isErrorText reports whether fn is the method of type error.
func isErrorText(fn *types.Func) bool { return fn.Pkg() == nil && fn.Name() == "Error" }

// passiveSignature returns why a function cannot be called as a passive one, "" if it can. It must not pass on numbers
// through memory, nor return memory that the representation does not know to be shared.
func passiveSignature(fn *types.Func) string {
	sig := fn.Signature()
	slice := false
	for v := range sig.Params().Variables() {
		switch t := v.Type(); u := t.Underlying().(type) {
		case *types.Signature:
			return "it calls functions that it is passed"
		case *types.Chan:
			return "channels have no derivative"
		case *types.Slice:
			if !ir.IsString(u.Elem()) && !types.IsInterface(u.Elem()) {
				slice = true
			}
		case *types.Pointer:
			if _, ok := u.Elem().Underlying().(*types.Basic); ok || ir.ReachesFloats(t) {
				return "it may write numbers"
			}
		}
	}
	for v := range sig.Results().Variables() {
		switch u := v.Type().Underlying().(type) {
		case *types.Signature, *types.Chan:
			return "its result is a function or a channel"
		case *types.Slice:
			if slice && !ir.IsString(u.Elem()) {
				return "its result may share memory with its argument"
			}
		case *types.Struct:
			for f := range u.Fields() {
				if _, ok := f.Type().Underlying().(*types.Chan); ok {
					return "its result holds a channel"
				}
			}
		case *types.Pointer:
			if st, ok := u.Elem().Underlying().(*types.Struct); ok {
				for f := range st.Fields() {
					if _, ok := f.Type().Underlying().(*types.Chan); ok {
						return "its result holds a channel"
					}
				}
			}
		}
	}
	if slice && (strings.HasPrefix(fn.Name(), "Read") || strings.HasPrefix(fn.Name(), "Encode")) {
		return "it writes to its argument"
	}
	return ""
}

// passiveRule returns the rule of a function of the standard library that carries no derivative.
func passiveRule(fn *types.Func) *ir.Rule {
	name := ruleName(fn)
	r := &ir.Rule{Name: name, Object: fn, Passive: true, Output: output[name]}
	r.Effects = fn.Pkg() == nil || !computes[fn.Pkg().Path()] && fn.Pkg().Path() != "time" || unsteady[name] ||
		fn.Signature().Recv() != nil && isPointer(fn.Signature().Recv().Type())
	for range r.Shape().Params {
		r.ReadOnly = append(r.ReadOnly, true)
	}
	return r
}

// writerArgument refuses the first argument of fmt.Fprint and similar functions if the effects of writing to it are not
// known: it must be a file, a buffer or another object of the standard library.
func (l *lowerer) writerArgument(call *ast.CallExpr, fn *types.Func) bool {
	if fn.Pkg() == nil || fn.Pkg().Path() != "fmt" || !strings.HasPrefix(fn.Name(), "Fprint") {
		return true
	}
	t := l.typeOf(call.Args[0])
	if n, ok := types.Unalias(deref(t)).(*types.Named); ok && !types.IsInterface(t) && n.Obj().Pkg() != nil {
		switch n.Obj().Pkg().Path() {
		case "os", "strings", "bytes", "bufio", "text/tabwriter":
			return true
		}
	}
	l.refuse(call, "call of "+fn.FullName(), "its writer is of type "+typeText(t)+", and writing to it may do anything",
		"write to os.Stdout, os.Stderr, a *os.File, *strings.Builder or *bytes.Buffer")
	return false
}

// isEndless reports whether a call never returns.
func (l *lowerer) isEndless(call *ast.CallExpr) bool {
	c := l.callee(call)
	return c.kind == declared && endless[c.fn.FullName()]
}

// neverReturns ends the block after a call of a function that does not return.
func (l *lowerer) neverReturns(call *ast.CallExpr) {
	text := &ir.Const{Typed: ir.Typed{T: types.Typ[types.String]},
		Val: constant.MakeString(l.callee(call).fn.FullName() + " returned")}
	l.emit(&ir.Panic{At: l.at(call), E: text})
}

// printBuiltin lowers a call of print or println.
func (l *lowerer) printBuiltin(call *ast.CallExpr, name string) {
	var params []*types.Var
	var args []ir.Expr
	for _, a := range call.Args {
		e := l.expr(a)
		args = append(args, e)
		params = append(params, types.NewParam(call.Pos(), nil, "", e.Type()))
	}
	// A function of that name with parameters of just these types stands for the builtin.
	sig := types.NewSignatureType(nil, nil, nil, types.NewTuple(params...), nil, false)
	fn := types.NewFunc(call.Pos(), nil, name, sig)
	l.emit(&ir.Call{At: l.at(call), Callee: &ir.Callee{Rule: passiveRule(fn)}, Args: args})
}
