package adjoint

import (
	"github.com/nabla-ad/nabla/gen/ir"
)

// isConstant reports whether e is a constant or a conversion of one.
func isConstant(e ir.Expr) bool {
	switch x := e.(type) {
	case *ir.Const:
		return true
	case *ir.Convert:
		return isConstant(x.X)
	}
	return false
}
