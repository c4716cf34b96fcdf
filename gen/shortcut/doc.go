// Package shortcut makes derivatives right where a function leaves out terms that are zero. In
//
//	if v != 0 {
//		y += v * x
//	}
//
// the branch changes nothing: at v = 0 the term is 0. Its derivative x is not, and a derivative of the branch that was
// taken lacks it. The branch is redundant, and the function is differentiated as if it were not there.
//
// [Program.Complete] finds branches on whether a number with derivatives equals a constant, such as v != 0, v == 0 or
// alpha == 1, and proves that the two sides agree where it does: by partial evaluation of the side that is taken
// elsewhere, with the number replaced by the constant. The other side gets the derivatives of that side, and keeps its
// values bit for bit, also where 0 is multiplied by an infinity or NaN:
//
//	if v != 0 {
//		y += v * x
//	} else {
//		y += graft(0, v*x)
//	}
//
// Graft(x, y) is an expression with the value of x and the derivative of y ([ir.GraftName]). Code for values has no
// trace of it.
//
// # Terms
//
// The full side is that of the other values, with all that follows up to the point where the shortcut, the side
// taken at the constant, joins it: after a continue or return that is the rest of the iteration or function. The two
// agree if
//
//   - each variable that outlives them has the same value after both, a constant or an unchanged one, and
//   - the full side stores to memory only values that are there already, such as y + v*x, or a constant that the
//     shortcut stores, too, as where beta == 0 clears y that is scaled otherwise.
//
// Products with a zero are zero unless the other factor may be singular there, such as the logarithm of the same
// number: the derivative of v*log(v) at 0 is infinite, and such branches remain as they are. So do branches at kinks,
// where the full side compares the number for order. Functions that are called are evaluated for the constants in
// their arguments, to any depth.
//
// A full side that panics at the constant, as by an index that is out of range, panics in derivatives, too.
package shortcut
