package ir

import (
	"fmt"
	"go/token"
	"go/types"
	"runtime"
	"strings"
)

// The part of the evaluator for expressions and places.

// additionOp is the operator of an Add.
const additionOp = token.ADD

// assigned returns the value of e as assigned to a variable of type t: boxed if t is an interface.
func (fr *frame) assigned(e Expr, t types.Type) Value { return box(fr.expr(e), e.Type(), t) }

// expr returns the value of e, which may share parts with a variable: a caller that stores it must
// clone it.
func (fr *frame) expr(e Expr) Value {
	switch e := e.(type) {
	case *Const:
		return constValue(e.Val, e.T)
	case *Load:
		return fr.load(e.P)
	case *Unary:
		return fr.unary(e)
	case *Binary:
		return fr.binary(e)
	case *Math:
		args := make([]Value, len(e.Args))
		for i, x := range e.Args {
			args[i] = fr.expr(x)
		}
		if traced(args...) {
			return fr.m.numbers(e.Name, args...)
		}
		if e.Name == "min" || e.Name == "max" {
			return minMax(e.Name, args, e.T)
		}
		if isVector(e.T) {
			return eachLane(func(k int) float64 { return elementaryValue(e.Name, []Value{args[0].parts()[k]}).float() })
		}
		return elementaryValue(e.Name, args)
	case *TypeTest:
		return boolValue(fr.expr(e.X).holds(e.Of))
	case *Unbox:
		x := fr.assert(fr.expr(e.X), pointee(e.T))
		return pointerTo(&x)
	case *Box:
		at := fr.expr(e.X).pointer()
		if at == nil {
			fr.panicf("invalid memory address or nil pointer dereference")
		}
		return box(at.clone(), pointee(e.X.Type()), e.T)
	case *Convert:
		if IsAssertion(e) {
			return fr.assert(fr.expr(e.X), e.T)
		}
		if convertsVector(e.X.Type(), e.T) {
			return convertVector(fr.expr(e.X), e.X.Type(), e.T)
		}
		x := fr.expr(e.X)
		if traced(x) {
			x = fr.m.leaves(x, e.T)
		}
		return convert(x, e.X.Type(), e.T)
	case *Len:
		return intValue(int64(fr.length(e)))
	case *Slice:
		x := fr.expr(e.X)
		if IsString(e.T) {
			return stringValue(fr.cutString(x.string(), fr.bounds(e.Lo, e.Hi, e.Max)))
		}
		return sliceValue(fr.cut(x.slice(), fr.bounds(e.Lo, e.Hi, e.Max)))
	case *SliceAt:
		at := fr.resolve(e.P)
		b := fr.bounds(e.Lo, e.Hi, e.Max)
		return sliceValue(fr.cut(slice(at.find().parts()), b))
	case *Addr:
		return pointerTo(fr.resolve(e.P).find())
	case *Make:
		return fr.make(e)
	case *New:
		x := zeroValue(pointee(e.T))
		return pointerTo(&x)
	case *Literal:
		return fr.literal(e)
	case *Opaque:
		if IsZeroShadow(e) {
			return fr.expr(e.Args[0]).zeroShadow(e.T, map[*Value]*Value{})
		}
		args := make([]any, len(e.Args))
		for i, x := range e.Args {
			args[i] = fr.expr(x).show(x.Type(), 4)
		}
		return box(stringValue(fmt.Sprintf(e.Format, args...)), types.Typ[types.String], e.T)
	}
	panic(errIllFormed)
}

// A resolvedPlace is a place with evaluated indices whose memory is not located yet. Go evaluates
// indices before and locates memory after the right side of an assignment.
type resolvedPlace struct {
	fr      *frame
	p       *Place
	indices []int64
}

// resolve evaluates the indices of p.
func (fr *frame) resolve(p *Place) resolvedPlace {
	r := resolvedPlace{fr: fr, p: p}
	for _, s := range p.Path {
		if s.isIndex() {
			r.indices = append(r.indices, fr.index(s.Index))
		}
	}
	return r
}

// index returns the value of an integer as an int64. An unsigned value too large for it becomes the
// largest int64, which is out of range everywhere.
func (fr *frame) index(e Expr) int64 {
	v := fr.expr(e).int()
	if _, signed := bitsOf(basic(e.Type()).Kind()); !signed && v < 0 {
		return 1<<63 - 1
	}
	return v
}

// find returns the variable at the place. It panics as Go does for an index out of range and a nil
// pointer. An element of a string is a copy.
func (r resolvedPlace) find() *Value {
	at := r.fr.lookup(r.p.Root)
	t := r.p.Root.Type
	next := 0
	for _, s := range r.p.Path {
		switch {
		case s.Field >= 0:
			at = &at.parts()[s.Field]
		case s.isIndex():
			list := []Value(at.slice())
			if isArray(t) {
				list = at.parts()
			}
			i := r.indices[next]
			next++
			if IsString(t) {
				str := at.string()
				r.fr.inRange(i, len(str))
				x := Value{num: uint64(str[i])}
				at = &x
				break
			}
			r.fr.inRange(i, len(list))
			at = &list[i]
		default:
			if at = at.pointer(); at == nil {
				r.fr.panicf("invalid memory address or nil pointer dereference")
			}
		}
		t = s.typeFrom(t)
	}
	return at
}

// inRange panics if i is not an index of n elements.
func (fr *frame) inRange(i int64, n int) {
	switch {
	case i < 0:
		fr.panicf("index out of range [%d]", i)
	case i >= int64(n):
		fr.panicf("index out of range [%d] with length %d", i, n)
	}
}

// load returns the value at p, which may share parts with it.
func (fr *frame) load(p *Place) Value {
	if len(p.Path) == 0 {
		return *fr.lookup(p.Root)
	}
	return *fr.resolve(p).find()
}

// unary evaluates a sign, a logical or a bitwise negation.
func (fr *frame) unary(e *Unary) Value {
	x := fr.expr(e.X)
	switch {
	case e.Op == token.NOT:
		return boolValue(!x.bool())
	case e.Op == token.ADD:
		return x
	case traced(x):
		return fr.m.numbers("-x", x)
	case IsFloat(e.T):
		return floatValue(-x.float())
	case IsComplex(e.T):
		return complexValue(-x.complex())
	case isVector(e.T):
		return eachLane(func(k int) float64 { return -x.parts()[k].float() })
	case e.Op == token.SUB:
		return wrap(intValue(-x.int()), basic(e.T).Kind())
	case e.Op == token.XOR:
		return wrap(intValue(^x.int()), basic(e.T).Kind())
	}
	panic(errIllFormed)
}

// binary evaluates an operation. A comparison with an interface boxes the other operand.
func (fr *frame) binary(e *Binary) Value {
	x := fr.expr(e.X)
	switch e.Op {
	case token.LAND:
		return boolValue(x.bool() && fr.expr(e.Y).bool())
	case token.LOR:
		return boolValue(x.bool() || fr.expr(e.Y).bool())
	}
	y := fr.expr(e.Y)
	t, u := e.X.Type(), e.Y.Type()
	defer fr.locatePanic()
	switch {
	case traced(x, y):
		return fr.m.numbers(e.Op.String(), x, y)
	case e.Op == token.SHL || e.Op == token.SHR:
		return shiftOp(e.Op, x, y, t, u)
	case isComparison(e.Op):
		if isInterface(u) {
			x, t = box(x, t, u), u
		}
		return boolValue(compare(e.Op, x, box(y, u, t), t))
	case isVector(t):
		return eachLane(func(k int) float64 { return floatOp(e.Op, x.parts()[k].float(), y.parts()[k].float()) })
	}
	return arith(e.Op, x, y, t)
}

// locatePanic is deferred. It adds the current position to a *PanicError in flight without one.
func (fr *frame) locatePanic() {
	switch e := recover().(type) {
	case nil:
	case *PanicError:
		if e.Func == "" {
			fr.locate(e)
		}
		panic(e)
	default:
		panic(e)
	}
}

// length evaluates len or cap. The length of an array is known without evaluating the operand.
func (fr *frame) length(e *Len) int {
	t := e.X.Type()
	if p := pointee(t); p != nil {
		t = p
	}
	if a, ok := t.Underlying().(*types.Array); ok {
		return int(a.Len()) // of a nil pointer too
	}
	x := fr.expr(e.X)
	switch {
	case IsString(t):
		return len(x.string())
	case e.Cap:
		return cap(x.slice())
	}
	return len(x.slice())
}

// bounds evaluates the bounds of a slice expression; those left out are nil.
func (fr *frame) bounds(lo, hi, max Expr) [3]*int64 {
	var out [3]*int64
	for i, e := range []Expr{lo, hi, max} {
		if e != nil {
			x := fr.index(e)
			out[i] = &x
		}
	}
	return out
}

// cut returns s[lo:hi:max]. Bounds out of range make the slice expression itself panic.
func (fr *frame) cut(s slice, b [3]*int64) slice {
	defer fr.convertPanic()
	lo, hi := int64(0), int64(len(s))
	if b[0] != nil {
		lo = *b[0]
	}
	if b[1] != nil {
		hi = *b[1]
	}
	if b[2] != nil {
		return s[lo:hi:*b[2]]
	}
	return s[lo:hi]
}

// cutString returns s[lo:hi].
func (fr *frame) cutString(s string, b [3]*int64) string {
	defer fr.convertPanic()
	lo, hi := int64(0), int64(len(s))
	if b[0] != nil {
		lo = *b[0]
	}
	if b[1] != nil {
		hi = *b[1]
	}
	return s[lo:hi]
}

// convertPanic is deferred. It turns a panic of Go's runtime into a panic of the evaluated
// function.
func (fr *frame) convertPanic() {
	switch e := recover().(type) {
	case nil:
	case runtime.Error:
		fr.panicf("%s", strings.TrimPrefix(e.Error(), "runtime error: "))
	default:
		panic(e)
	}
}

// make evaluates make, with Go's panics for invalid lengths.
func (fr *frame) make(e *Make) Value {
	n := fr.index(e.N)
	size := n
	if e.Cap != nil {
		size = fr.index(e.Cap)
	}
	switch {
	case n < 0:
		fr.panicf("makeslice: len out of range")
	case size < n:
		fr.panicf("makeslice: cap out of range")
	case size > maxLen:
		panic(limitError("slice of %d elements", size))
	}
	return sliceValue(slice(zeros(int(size), ElemOf(e.T)))[:n])
}

// literal evaluates a composite literal; elements without a key are zero.
func (fr *frame) literal(e *Literal) Value {
	out := Value{}
	var list []Value
	if of := ElemOf(e.T); of != nil {
		if e.Len > maxLen {
			panic(limitError("slice of %d elements", e.Len))
		}
		list = zeros(e.Len, of)
		out = sliceValue(list)
	} else {
		out = zeroValue(e.T)
		list = out.parts()
	}
	for i, k := range e.Keys {
		step := IndexStep(e.Elems[i])
		if isStruct(e.T) {
			step = FieldStep(k)
		}
		list[k].assign(fr.assigned(e.Elems[i], step.typeFrom(e.T)))
	}
	return out
}
