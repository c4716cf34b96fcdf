package nabla

import (
	"bufio"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/nabla-ad/nabla/internal/nonfinite"
)

// NonFinite is the operation at which a value or a derivative became NaN or infinite, found by [Trace] or
// [TraceHessian]. Inputs, outputs, operands and operations are counted from 0.
type NonFinite struct {
	// Op is the name of the operation, "log" or "div", or that of a [Rule]. It is empty if no operation is to blame: an
	// input is not finite, or an output is a constant. Then Values has that number.
	Op string
	// Index is the number of operations that the function executed before.
	Index int
	// Args are the operands, and Values the results: one value, except for a rule. Both belong to the caller.
	Args, Values []float64
	// Output is the index of the output whose value, or derivative, is not finite.
	Output int
	// Derivative reports that the values of the outputs are finite, and a derivative with respect to input Input is
	// not: the first one, or if Second is set a second one.
	Derivative bool
	// Input is the index of the input that is not finite, or with respect to which the derivative is not; -1 if there
	// is none.
	Input int
	// Arg is the index of the operand with respect to which the derivative is not finite, or of a constant operand that
	// is not finite itself, such as a number of captured data; -1 if there is none.
	Arg int
	// Cotangent is the derivative of the output with respect to the result of the operation, if Derivative is set and
	// there is one result.
	Cotangent float64

	// Second reports that the first derivatives of the outputs are finite, and the second derivative with respect to
	// inputs Input and Input2 is not. The other fields of this group have a meaning only then.
	//
	// The term that is not finite is the second derivative of the operation with respect to operands Arg and Arg2,
	// times Cotangent, times Tangent, the derivative of operand Arg2 with respect to Input2. Or it is the first
	// derivative with respect to operand Arg times Cotangent, which is then the derivative of the output with respect
	// to the result and Input2; Arg2 is -1 in this case.
	Second       bool
	Input2, Arg2 int
	Tangent      float64

	// Function, File and Line say which line of the program executed the operation. For a function over float64 it is
	// the line of the source that the generated code was made from, as of the last run of nabla gen. If that is in
	// another module, or the program was built with -trimpath, File is the path of its package with the name of the
	// file, such as gonum.org/v1/gonum/floats/floats.go.
	Function, File string
	Line           int
}

// Trace runs f at x and reports the operation that made it return NaN or an infinity.
//
// If an output is not finite, it is the operation on the way to the first such output whose value is not finite
// although its operands are. The report names an input, a constant operand or a constant output instead if that is
// where the number comes from. If all outputs are finite, Trace goes back from each of them to the inputs: where a
// first derivative is not finite, it reports the operation at which the derivative stopped being finite. Values that no
// output depends on, such as the operand that [Where] does not select, are ignored. The result is nil if all outputs
// and all first derivatives are finite.
//
//	bad, err := nabla.Trace(f, x)
//	if bad != nil {
//		log.Print(bad)
//	}
//
// f is a function over Reals, or one over float64 with generated code. It runs once, or twice if it starts goroutines;
// x is not modified. Errors are those of f, panics included, an [UnsupportedError] if f is over float64 and has no
// generated code, and a [LimitError] for more than 10 million operations. Trace is for debugging: it keeps
// every operation with its place in the source, and sweeps over all of them for each output.
func Trace[F RecordableFunc](f F, x []float64) (*NonFinite, error) { return trace("Trace", f, x, 1) }

// TraceHessian is [Trace] to second order: if all outputs and first derivatives are finite, it reports the operation at
// which a second derivative of an output stopped being finite, with the second derivative of the operation and the
// factors that it is multiplied by ([NonFinite.Second]). The result is nil if all outputs, first and second derivatives
// are finite, so that all Hessians, products with them and second derivatives are.
//
//	bad, err := nabla.TraceHessian(f, x)
//	if bad != nil {
//		log.Print(bad)
//	}
//
// Arguments and errors are those of Trace. Beside these, a [Rule] without second derivatives is an [UnsupportedError].
// TraceHessian sweeps over all operations for each input, and for each pair of an input and an output.
func TraceHessian[F RecordableFunc](f F, x []float64) (*NonFinite, error) {
	return trace("TraceHessian", f, x, 2)
}

// trace is Trace or TraceHessian, called name, for derivatives up to the given order.
func trace(name string, f any, x []float64, order int) (*NonFinite, error) {
	g, err := functionOf(name, f, x, wantAny)
	if err != nil {
		return nil, err
	}
	if err := g.Untraceable(); err != nil {
		return nil, err
	}
	found, err := nonfinite.Find(g, x, order)
	if found == nil || err != nil {
		return nil, err
	}
	return &NonFinite{
		Op: found.Op, Index: found.Index, Args: found.Args, Values: found.Values, Output: found.Output,
		Derivative: found.Derivative, Input: found.Input, Arg: found.Arg, Cotangent: found.Cotangent,
		Second: found.Second, Input2: found.Input2, Arg2: found.Arg2, Tangent: found.Tangent,
		Function: found.Frame.Function, File: found.Frame.File, Line: found.Frame.Line,
	}, nil
}

// String describes the finding. A second line has the text of the line of the program, if its file is there.
func (n *NonFinite) String() string {
	if n == nil {
		return "all values and derivatives are finite"
	}
	switch {
	case n.Op == "" && n.Input >= 0:
		return fmt.Sprintf("input %d is %s", n.Input, list(n.Values))
	case n.Op == "":
		return fmt.Sprintf("output %d is the constant %s", n.Output, list(n.Values))
	}
	var b strings.Builder
	if n.Line > 0 {
		fmt.Fprintf(&b, "%s: ", n.place())
	}
	fmt.Fprintf(&b, "%s(%s) = %s", n.Op, list(n.Args), list(n.Values))
	switch {
	case n.Second:
		b.WriteString(n.second())
	case n.Derivative && len(n.Values) == 1:
		fmt.Fprintf(&b, ": its derivative with respect to argument %d, times %g, the derivative of output %d with "+
			"respect to the result, is not finite", n.Arg, n.Cotangent, n.Output)
	case n.Derivative:
		fmt.Fprintf(&b, ": the derivative of output %d with respect to argument %d is not finite", n.Output, n.Arg)
	case n.Arg >= 0:
		fmt.Fprintf(&b, ": argument %d is a constant that is not finite", n.Arg)
	}
	if n.Function != "" {
		fmt.Fprintf(&b, " (in %s, after %d operations)", n.Function[strings.LastIndexByte(n.Function, '/')+1:], n.Index)
	}
	if text := lineOf(n.File, n.Line); text != "" {
		b.WriteString("\n\t" + text)
	}
	return b.String()
}

// second describes the term of a second derivative that is not finite, and the second derivative it belongs to.
func (n *NonFinite) second() string {
	term := ""
	switch {
	case len(n.Values) != 1:
		term = fmt.Sprintf("a second derivative of output %d with respect to argument %d", n.Output, n.Arg)
	case n.Arg2 < 0:
		term = fmt.Sprintf("its derivative with respect to argument %d, times %g, the derivative of output %d with "+
			"respect to the result and input %d,", n.Arg, n.Cotangent, n.Output, n.Input2)
	default:
		term = fmt.Sprintf("its second derivative with respect to arguments %d and %d, times %g, the derivative of "+
			"output %d with respect to the result, and %g, that of argument %d with respect to input %d,", n.Arg,
			n.Arg2, n.Cotangent, n.Output, n.Tangent, n.Arg2, n.Input2)
	}
	return fmt.Sprintf(": %s is not finite in the second derivative with respect to inputs %d and %d", term, n.Input,
		n.Input2)
}

// place returns file and line: the name of the file, and its package if File is a path of one.
func (n *NonFinite) place() string {
	at := fmt.Sprintf("%s:%d", path.Base(filepath.ToSlash(n.File)), n.Line)
	if dir := path.Dir(n.File); dir != "." && strings.HasPrefix(n.Function, dir+".") {
		at += " of " + dir
	}
	return at
}

// list returns numbers, separated by commas, at most eight of them.
func list(v []float64) string {
	var b strings.Builder
	for i, x := range v {
		if i > 0 {
			b.WriteString(", ")
		}
		if i == 8 {
			fmt.Fprintf(&b, "… %d more", len(v)-i)
			break
		}
		b.WriteString(strconv.FormatFloat(x, 'g', -1, 64))
	}
	return b.String()
}

// lineOf returns a line of a file without the space around it, or nothing.
func lineOf(name string, line int) string {
	f, err := os.Open(name)
	if err != nil || line <= 0 {
		return ""
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	for range line {
		if !s.Scan() {
			return ""
		}
	}
	return strings.TrimSpace(s.Text())
}
