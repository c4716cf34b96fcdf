package print

import (
	"go/token"
	"go/types"
	"strconv"
	"strings"
	"unicode"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/internal/linetable"
)

// The table of lines at the end of a file: for each line of a function over Reals, the line of the source that it was
// made from. See package linetable.
//
// The lines of a function are known once the file is formatted. While a function is printed, a mark, which is no
// character of Go source, goes before each statement. The marks are taken out before the text is formatted, and found
// again by the characters before them: formatting changes only the space and the separators between them.

// A form is a function over Reals that is printed.
type form struct {
	name      string
	operation bool // it performs an operation, at no place of the source
	positions []token.Position
	starts    []int  // for each position the offset of its statement in text
	text      string // by bare
}

// statementMark is put before the text of a statement.
const statementMark = "\x00"

// begin notes that the text of s begins here. A statement without position belongs to the one before it.
func (p *printer) begin(s ir.Stmt) {
	if p.form != nil && s.Position().Line > 0 {
		p.form.positions = append(p.form.positions, s.Position())
		p.b.WriteString(statementMark)
	}
}

// finish stores the text of the function and returns it without marks. A nil form has none.
func (f *form) finish(text string) string {
	if f == nil {
		return text
	}
	f.starts = nil
	var b strings.Builder
	n := 0
	for i, piece := range strings.Split(text, statementMark) {
		if i > 0 {
			f.starts = append(f.starts, n)
		}
		piece = bare(piece)
		n += len(piece)
		b.WriteString(piece)
	}
	f.text = b.String()
	return strings.ReplaceAll(text, statementMark, "")
}

// bare returns s without what formatting changes: space, separators where a line ends, second pairs of parentheses, and
// upper case in the exponents and prefixes of numbers.
func bare(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || strings.ContainsRune(";,()", r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}

// overReals reports whether f has variables over Reals.
func overReals(f *ir.Func) (found bool) {
	for _, v := range ir.Vars(f) {
		ir.WalkTypeUntil(v.Type, func(t types.Type) bool {
			found = found || isReal(t)
			return !found
		})
	}
	return found
}

// appendLines appends a table of the lines of forms to a formatted file. It is a call of the given function, in a
// declaration without a name.
func (s Source) appendLines(text []byte, function string, forms []*form) []byte {
	file := string(text)
	var list []linetable.Form
	for _, f := range forms {
		if g, ok := s.places(f, file); ok {
			list = append(list, g)
		}
	}
	file += "\n// Lines of the source that functions over Reals were made from.\n"
	end := strings.Count(file, "\n") + 1
	file += "var _ = " + function + "(\n"
	for _, t := range linetable.Encode(list, end) {
		file += "\t" + strconv.Quote(t) + ",\n"
	}
	return []byte(file + ")\n")
}

// places returns the places of the lines of f in a formatted file. It reports false if the function in the file is not
// the one that was printed.
func (s Source) places(f *form, file string) (g linetable.Form, ok bool) {
	at := strings.Index(file, "\nfunc "+f.name+"(") + 1
	if at == 0 {
		return g, false
	}
	g.Line = strings.Count(file[:at], "\n") + 1
	n, next := 0, 0 // characters so far, and the statement that begins next
	var place *linetable.Place
	for line := range strings.Lines(file[at:]) {
		part := bare(line)
		if !strings.HasPrefix(f.text[n:], part) {
			return g, false
		}
		for first := true; next < len(f.starts) && f.starts[next] < n+len(part); next++ {
			// Nothing may be printed for a statement; the next one begins at the same character.
			if !first && f.starts[next] > f.starts[next-1] {
				continue
			}
			first, place = false, new(linetable.Place)
			if !f.operation {
				*place = s.Origin(f.positions[next])
			}
		}
		if part == "}" || part == "" {
			g.Places = append(g.Places, nil)
		} else {
			g.Places = append(g.Places, place)
		}
		if n += len(part); n == len(f.text) {
			return g, true
		}
	}
	return g, false
}
