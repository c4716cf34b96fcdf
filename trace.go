package nabla

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/nabla-ad/nabla/internal/nonfinite"
)

// NonFinite is the operation at which a value or a derivative became NaN or infinite, found by [Trace].
type NonFinite struct {
	// Op is the name of the operation, "log" or "div", or that of a [Rule]. It is empty if no operation is to blame: an
	// input is not finite, or an output is a constant.
	Op string
	// Index is the number of operations that the function executed before.
	Index int
	// Args are the operands, and Values the results: one, but for a rule.
	Args, Values []float64
	// Output is the output of the function whose value, or derivative, is not finite.
	Output int
	// Derivative reports that the value of the output is finite, and its derivative with respect to input Input is not.
	Derivative bool
	// Input is the input that is not finite, or the one of the derivative; -1 if neither.
	Input int
	// Arg is the operand with respect to which the derivative is not finite, or a constant operand that is not finite
	// itself, such as a number of captured data; -1 if none.
	Arg int
	// Cotangent is the derivative of the output with respect to the result of the operation.
	Cotangent float64
	// Function, File and Line say which line of the program executed the operation. For a function over float64 it is
	// one of its generated code.
	Function, File string
	Line           int
}

// Trace runs f at x and returns the first operation whose value is NaN or infinite though its operands are finite, and
// on which an output that is not finite depends. If all outputs are finite it looks for such an operation among first
// derivatives: the first one on the way from an output back to the inputs at which the derivative of that output is no
// longer finite. It returns nil if values and first derivatives are finite, and also if an operation is not that no
// output depends on, such as the number that [Where] does not select.
//
//	bad, err := nabla.Trace(f, x)
//	if bad != nil {
//		log.Print(bad)
//	}
//
// f is a function over Reals, or one over float64 with generated code. Errors are those of f, an [UnsupportedError] for
// another function over float64, and a [LimitError] for more than 10 million operations. Trace is for the search of
// mistakes: it takes about 100 bytes and a microsecond for each operation, and a sweep over them for each output.
func Trace[F RecordableFunc](f F, x []float64) (*NonFinite, error) {
	g, err := functionOf("Trace", f, x, wantAny)
	if err != nil {
		return nil, err
	}
	if err := g.Untraceable(); err != nil {
		return nil, err
	}
	found, err := nonfinite.Find(g, x)
	if found == nil || err != nil {
		return nil, err
	}
	return &NonFinite{
		Op: found.Op, Index: found.Index, Args: found.Args, Values: found.Values, Output: found.Output,
		Derivative: found.Derivative, Input: found.Input, Arg: found.Arg, Cotangent: found.Cotangent,
		Function: found.Frame.Function, File: found.Frame.File, Line: found.Frame.Line,
	}, nil
}

// String says what happened in a line or two. The second is the text of the line of the program, if its file is there.
func (n *NonFinite) String() string {
	if n == nil {
		return "all values and first derivatives are finite"
	}
	switch {
	case n.Op == "" && n.Input >= 0:
		return fmt.Sprintf("input %d is %s", n.Input, list(n.Values))
	case n.Op == "":
		return fmt.Sprintf("output %d is the constant %s", n.Output, list(n.Values))
	}
	var b strings.Builder
	if n.Line > 0 {
		fmt.Fprintf(&b, "%s:%d: ", filepath.Base(n.File), n.Line)
	}
	fmt.Fprintf(&b, "%s(%s) = %s", n.Op, list(n.Args), list(n.Values))
	switch {
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
