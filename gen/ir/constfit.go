package ir

import (
	"go/constant"
	"go/types"
	"math/big"
	"strconv"
)

// constantFits returns a message if v is not representable as a value of type t, and "" if it is. A
// float must be finite after rounding to t. A nil v is the zero value of every type.
func constantFits(v constant.Value, t types.Type) string {
	if v == nil {
		return ""
	}
	ok := false
	switch v.Kind() {
	case constant.Bool:
		ok = IsBool(t)
	case constant.String:
		ok = IsString(t)
	case constant.Complex:
		if IsComplex(t) {
			if err := constantFits(constant.Real(v), PartType(t)); err != "" {
				return err
			}
			return constantFits(constant.Imag(v), PartType(t))
		}
	case constant.Int, constant.Float:
		switch {
		case IsComplex(t):
			return constantFits(v, PartType(t))
		case IsFloat(t):
			x, _ := constant.Float64Val(constant.ToFloat(v))
			if basic(t).Kind() == types.Float32 {
				y, _ := constant.Float32Val(constant.ToFloat(v))
				x = float64(y)
			}
			ok = x-x == 0
		case IsInteger(t):
			i := constant.ToInt(v)
			ok = i.Kind() == constant.Int && inRange(i, basic(t).Kind())
		}
	}
	if ok {
		return ""
	}
	text := v.String()
	return "the constant " + text + " is no " + types.TypeString(t, (*types.Package).Name)
}

// bitsOf returns the size of an integer type and whether it is signed. An int has the size it has
// on the machine that runs the compiler.
func bitsOf(k types.BasicKind) (bits int, signed bool) {
	switch k {
	case types.Int8, types.Int16, types.Int32, types.Int64:
		return 8 << (k - types.Int8), true
	case types.Uint8, types.Uint16, types.Uint32, types.Uint64:
		return 8 << (k - types.Uint8), false
	case types.Int, types.UntypedInt, types.UntypedRune:
		return strconv.IntSize, true
	}
	return strconv.IntSize, false
}

// inRange reports whether the integer v is in the range of the integer type k.
func inRange(v constant.Value, k types.BasicKind) bool {
	n, ok := new(big.Int).SetString(v.ExactString(), 10)
	if !ok {
		return false
	}
	bits, signed := bitsOf(k)
	if !signed {
		return n.Sign() >= 0 && n.BitLen() <= bits
	}
	if n.Sign() < 0 {
		n.Not(n)
	}
	return n.BitLen() < bits
}
