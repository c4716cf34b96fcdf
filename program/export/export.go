package export

import (
	"io"

	"github.com/nabla-ad/nabla/program"
	"github.com/nabla-ad/nabla/sparsity"
)

// Formats are the formats that [Write] takes.
var Formats = []string{"go", "c", "json", "latex", "dot", "text"}

// Options configure the source code that is written.
type Options struct {
	// Name is the name of the function; the default is F in Go and f in C.
	Name string
	// Package is the name of the package of a Go file; the default is main.
	Package string
	// Comment says what the function computes. The default names the groups of inputs and outputs.
	Comment string
	// Numbers makes groups of one number plain numbers in Go: parameters and results in place of slices of length 1.
	Numbers bool
	// Unroll is the number of lanes from which equal operations that do not depend on each other become a loop; fewer
	// are written one after another. 0 stands for [DefaultUnroll], and math.MaxInt for code without loops. What is a
	// loop does not depend on the lanes of the statements.
	Unroll int
	// Pattern, if not nil, has the positions of the outputs, or of the last group of them, in a sparse matrix, column
	// after column. They are written as constant arrays.
	Pattern *sparsity.Pattern
}

// stackNumbers is the number of float64 up to which a function has memory of its own, on the stack.
const stackNumbers = 512

// Work returns the number of float64 that the function takes as its last parameter, as memory, in Go and C; 0 if it
// takes none. Errors are those of [Go].
func Work(p *program.Program, o Options) (int, error) {
	lines, err := linesOf(p, "Go", o)
	if err != nil {
		return 0, err
	}
	if n := planOf(p, lines, o).work; n > stackNumbers {
		return n, nil
	}
	return 0, nil
}

// Write writes p to w in one of the [Formats]. Errors are a [*FormatError], those of the format, and those of w.
func Write(w io.Writer, format string, p *program.Program, o Options) error {
	var text []byte
	var err error
	switch format {
	case "go":
		text, err = Go(p, o)
	case "c":
		text, err = C(p, o)
	case "json":
		text, err = JSON(p)
	case "latex":
		text, err = LaTeX(p, o)
	case "dot":
		text, err = []byte(p.DOT()), program.Check(p)
	case "text":
		text, err = []byte(p.String()), program.Check(p)
	default:
		err = &FormatError{Format: format}
	}
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}
