package ir

import (
	"go/constant"
	"go/token"
	"go/types"
	"math"
)

// Arithmetic of the evaluator on values, with Go's semantics: integers wrap to the size of their
// type, float32 and complex64 operations are rounded, and each float operation is rounded by itself.

// wrap truncates an integer to the size of its kind, with sign extension, and rounds a float to its
// precision.
func wrap(v Value, k types.BasicKind) Value {
	switch k {
	case types.Float64:
		return v
	case types.Float32:
		return floatValue(float64(float32(v.float())))
	case types.Complex128:
		return v
	case types.Complex64:
		return complexValue(complex128(complex64(v.complex())))
	}
	bits, signed := bitsOf(k)
	shift := 64 - uint(bits)
	if signed {
		return intValue(v.int() << shift >> shift)
	}
	return Value{num: v.num << shift >> shift}
}

// arith returns x op y for two values of type t. Division of integers by zero panics as in Go.
func arith(op token.Token, x, y Value, t types.Type) Value {
	k := basic(t).Kind()
	switch {
	case IsString(t):
		return stringValue(x.string() + y.string())
	case IsFloat(t):
		a, b := x.float(), y.float()
		if k == types.Float32 {
			return floatValue(float64(floatOp(op, float32(a), float32(b))))
		}
		return floatValue(floatOp(op, a, b))
	case IsComplex(t):
		a, b := x.complex(), y.complex()
		if k == types.Complex64 {
			return complexValue(complex128(floatOp(op, complex64(a), complex64(b))))
		}
		return complexValue(floatOp(op, a, b))
	}
	if op == token.QUO || op == token.REM {
		if y.num == 0 {
			panic(runtimePanic("integer divide by zero"))
		}
	}
	if _, signed := bitsOf(k); signed {
		return wrap(intValue(intOp(op, x.int(), y.int())), k)
	}
	return wrap(Value{num: intOp(op, x.num, y.num)}, k)
}

// floatOp returns a op b, rounded once. Results are returned through the function, which keeps the
// compiler from fusing an addition with a multiplication.
func floatOp[T float32 | float64 | complex64 | complex128](op token.Token, a, b T) T {
	switch op {
	case token.ADD:
		return a + b
	case token.SUB:
		return a - b
	case token.MUL:
		return a * b
	case token.QUO:
		return a / b
	}
	panic(errIllFormed)
}

// intOp returns a op b with the wraparound of the 64-bit type; the caller truncates to the size of
// the operands. The divisor of / and % is not zero.
func intOp[T int64 | uint64](op token.Token, a, b T) T {
	switch op {
	case token.ADD:
		return a + b
	case token.SUB:
		return a - b
	case token.MUL:
		return a * b
	case token.QUO:
		return a / b
	case token.REM:
		return a % b
	case token.AND:
		return a & b
	case token.OR:
		return a | b
	case token.XOR:
		return a ^ b
	case token.AND_NOT:
		return a &^ b
	}
	panic(errIllFormed)
}

// shiftOp returns x << n or x >> n for x of type t and n of type u. Counts beyond the size shift
// all bits out, as in Go.
func shiftOp(op token.Token, x, n Value, t, u types.Type) Value {
	k := basic(t).Kind()
	_, signed := bitsOf(k)
	if _, s := bitsOf(basic(u).Kind()); s && n.int() < 0 {
		panic(runtimePanic("negative shift amount"))
	}
	switch {
	case op == token.SHL:
		return wrap(Value{num: x.num << n.num}, k)
	case signed:
		return intValue(x.int() >> n.num)
	}
	return Value{num: x.num >> n.num}
}

// less reports whether x < y for two values of type t.
func less(x, y Value, t types.Type) bool {
	switch {
	case IsFloat(t):
		return x.float() < y.float()
	case IsString(t):
		return x.string() < y.string()
	}
	if _, signed := bitsOf(basic(t).Kind()); signed {
		return x.int() < y.int()
	}
	return x.num < y.num
}

// compare returns the result of a comparison of two values of type t.
func compare(op token.Token, x, y Value, t types.Type) bool {
	switch op {
	case token.EQL:
		return equal(x, y, t)
	case token.NEQ:
		return !equal(x, y, t)
	case token.LSS:
		return less(x, y, t)
	case token.GTR:
		return less(y, x, t)
	case token.LEQ: // not !less(y, x), because of NaN
		return less(x, y, t) || equal(x, y, t)
	case token.GEQ:
		return less(y, x, t) || equal(x, y, t)
	}
	panic(errIllFormed)
}

// minMax returns the builtin min or max of values of type t, with Go's treatment of NaN and -0.
func minMax(name string, list []Value, t types.Type) Value {
	out := list[0]
	for _, v := range list[1:] {
		switch {
		case IsFloat(t):
			if name == "min" {
				out = floatValue(min(out.float(), v.float()))
			} else {
				out = floatValue(max(out.float(), v.float()))
			}
		case less(v, out, t) == (name == "min"):
			out = v
		}
	}
	return out
}

// constValue returns a constant as a value of type t, rounded to t if it is a float.
func constValue(v constant.Value, t types.Type) Value {
	if v == nil {
		return zeroValue(t)
	}
	switch {
	case IsBool(t):
		return boolValue(constant.BoolVal(v))
	case IsString(t):
		return stringValue(constant.StringVal(v))
	case IsFloat(t):
		if basic(t).Kind() == types.Float32 {
			x, _ := constant.Float32Val(constant.ToFloat(v))
			return floatValue(float64(x))
		}
		x, _ := constant.Float64Val(constant.ToFloat(v))
		return floatValue(x)
	case IsComplex(t):
		re, im := constValue(constant.Real(v), PartType(t)), constValue(constant.Imag(v), PartType(t))
		return complexValue(complex(re.float(), im.float()))
	case IsInteger(t):
		i := constant.ToInt(v)
		if x, ok := constant.Int64Val(i); ok {
			return intValue(x)
		}
		x, _ := constant.Uint64Val(i)
		return Value{num: x}
	}
	panic(errIllFormed)
}

// convert returns v, of type from, converted to type to. Types with one underlying type share the
// representation, so the value is returned unchanged.
func convert(v Value, from, to types.Type) Value {
	f, t := basic(from), basic(to)
	switch {
	case isInterface(to):
		return box(v, from, to)
	case f != nil && t != nil && isNumber(f) && isNumber(t):
		return convertNumber(v, f, t)
	case IsString(to) && IsInteger(from):
		i := v.int()
		if _, signed := bitsOf(f.Kind()); !signed && v.num > math.MaxInt32 || i != int64(rune(i)) {
			i = -1
		}
		return stringValue(string(rune(i)))
	case IsString(to) && ElemOf(from) != nil:
		return sliceToString(v.slice(), ElemOf(from))
	case IsString(from) && ElemOf(to) != nil:
		return stringToSlice(v.string(), ElemOf(to))
	case ElemOf(from) != nil && isArray(to):
		return sliceToArray(v.slice(), to)
	case ElemOf(from) != nil && pointee(to) != nil:
		panic(limitError("conversion of a slice to a pointer to an array"))
	}
	return v
}

// box returns v as the content of an interface if to is an interface type and from is not;
// otherwise it returns v.
func box(v Value, from, to types.Type) Value {
	if !isInterface(to) || isInterface(from) {
		return v
	}
	return Value{ref: boxed{from, v.clone()}}
}

// convertNumber converts between numeric types. Floats out of the range of an integer type give the
// result of the machine that runs the evaluator.
func convertNumber(v Value, f, t *types.Basic) Value {
	_, signed := bitsOf(f.Kind())
	switch {
	case IsComplex(t):
		return wrap(v, t.Kind())
	case IsFloat(f) && IsFloat(t):
		return wrap(v, t.Kind())
	case IsFloat(f):
		if t.Kind() == types.Uint64 || t.Kind() == types.Uint || t.Kind() == types.Uintptr {
			return wrap(Value{num: uint64(v.float())}, t.Kind())
		}
		return wrap(intValue(int64(v.float())), t.Kind())
	case IsFloat(t) && t.Kind() == types.Float32:
		if signed {
			return floatValue(float64(float32(v.int())))
		}
		return floatValue(float64(float32(v.num)))
	case IsFloat(t):
		if signed {
			return floatValue(float64(v.int()))
		}
		return floatValue(float64(v.num))
	}
	return wrap(v, t.Kind())
}

// sliceToString converts a slice of bytes or runes to a string.
func sliceToString(s slice, of types.Type) Value {
	if isByte(of) {
		b := make([]byte, len(s))
		for i, v := range s {
			b[i] = byte(v.num)
		}
		return stringValue(string(b))
	}
	r := make([]rune, len(s))
	for i, v := range s {
		r[i] = rune(v.int())
	}
	return stringValue(string(r))
}

// stringToSlice converts a string to a new slice of bytes or runes.
func stringToSlice(s string, of types.Type) Value {
	out := slice{}
	if isByte(of) {
		for i := range len(s) {
			out = append(out, Value{num: uint64(s[i])})
		}
	} else {
		for _, r := range s {
			out = append(out, intValue(int64(r)))
		}
	}
	return sliceValue(out[:len(out):len(out)])
}

// sliceToArray returns a copy of the first elements of s as an array of type to.
func sliceToArray(s slice, to types.Type) Value {
	out := zeroValue(to)
	p := out.parts()
	if len(s) < len(p) {
		panic(runtimePanic("cannot convert slice to array or pointer to array"))
	}
	copyValues(slice(p), s[:len(p)])
	return out
}

// elementaryValue applies an elementary function other than min and max to its arguments.
func elementaryValue(name string, a []Value) Value {
	arg := func(i int) float64 { return a[i].float() }
	switch name {
	case GraftName:
		return a[0]
	case RealName:
		return floatValue(real(a[0].complex()))
	case ImagName:
		return floatValue(imag(a[0].complex()))
	case ComplexName:
		return complexValue(complex(arg(0), arg(1)))
	}
	switch f := elementary[name].(type) {
	case func() complex128:
		return complexValue(f())
	case func(complex128) bool:
		return boolValue(f(a[0].complex()))
	case func(complex128) complex128:
		return complexValue(f(a[0].complex()))
	case func(complex128, complex128) complex128:
		return complexValue(f(a[0].complex(), a[1].complex()))
	case func() float64:
		return floatValue(f())
	case func(float64) float64:
		return floatValue(f(arg(0)))
	case func(float64, float64) float64:
		return floatValue(f(arg(0), arg(1)))
	case func(float64, float64, float64) float64:
		return floatValue(f(arg(0), arg(1), arg(2)))
	case func(float64) bool:
		return boolValue(f(arg(0)))
	case func(float64) int:
		return intValue(int64(f(arg(0))))
	case func(int) float64:
		return floatValue(f(int(a[0].int())))
	case func(int, float64) float64:
		return floatValue(f(int(a[0].int()), arg(1)))
	case func(float64, int) float64:
		return floatValue(f(arg(0), int(a[1].int())))
	case func(float64, int) bool:
		return boolValue(f(arg(0), int(a[1].int())))
	case func(float64) uint64:
		return Value{num: f(arg(0))}
	case func(uint64) float64:
		return floatValue(f(a[0].num))
	case func(float32, float32) float32:
		return floatValue(float64(f(float32(arg(0)), float32(arg(1)))))
	case func(float32) uint32:
		return Value{num: uint64(f(float32(arg(0))))}
	case func(uint32) float32:
		return floatValue(float64(f(uint32(a[0].num))))
	}
	panic(errIllFormed)
}
