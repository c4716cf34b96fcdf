package mmio

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A Reader reads one file. Header is known from the start.
type Reader struct {
	Header Header
	lines  *bufio.Scanner
	line   int
	read   int // data lines
}

// maxLine bounds the length of a line; the format itself allows 1024 bytes.
const maxLine = 1 << 20

// NewReader reads up to and including the line of sizes. A violation of the format is an *Error; other errors are those
// of r.
func NewReader(r io.Reader) (*Reader, error) {
	rd := &Reader{lines: bufio.NewScanner(r)}
	rd.lines.Buffer(nil, maxLine)
	if !rd.scan() {
		return nil, rd.end("the file is empty; it begins with %%MatrixMarket matrix coordinate real general")
	}
	if err := rd.banner(strings.Fields(strings.ToLower(rd.lines.Text()))); err != nil {
		return nil, err
	}
	words, err := rd.next("the sizes")
	if err != nil {
		return nil, err
	}
	return rd, rd.sizes(words)
}

// banner reads the first line.
func (r *Reader) banner(words []string) error {
	const form = "%%MatrixMarket matrix, then coordinate or array, then real, integer, complex or pattern, " +
		"then general, symmetric, skew-symmetric or hermitian"
	if len(words) == 0 || words[0] != "%%matrixmarket" {
		return r.errorf("no Matrix Market file: the first line is %s", form)
	}
	if len(words) != 5 {
		return r.errorf("the first line has %d words, want 5: %s", len(words), form)
	}
	if words[1] != "matrix" {
		return r.errorf("an object %q, want a matrix", words[1])
	}
	h := &r.Header
	switch words[2] {
	case "coordinate":
	case "array":
		h.Array = true
	default:
		return r.errorf("format %q, want coordinate or array", words[2])
	}
	switch h.Field = Field(words[3]); h.Field {
	case Real, Integer, Complex, Pattern:
	case "double":
		h.Field = Real
	default:
		return r.errorf("field %q, want real, integer, complex or pattern", words[3])
	}
	switch h.Symmetry = Symmetry(words[4]); h.Symmetry {
	case General, Symmetric, Skew, Hermitian:
	default:
		return r.errorf("symmetry %q, want general, symmetric, skew-symmetric or hermitian", words[4])
	}
	if h.Array && h.Field == Pattern {
		return r.errorf("an array of a pattern has no values; want coordinate pattern, or array real")
	}
	return nil
}

// sizes reads the line with the shape.
func (r *Reader) sizes(words []string) error {
	h := &r.Header
	want, form := 3, "rows, columns and entries"
	if h.Array {
		want, form = 2, "rows and columns"
	}
	if len(words) != want {
		return r.errorf("the sizes are %d numbers, want %d: %s", len(words), want, form)
	}
	n := [3]int{}
	for k, w := range words {
		v, err := strconv.Atoi(w)
		if err != nil || v < 0 {
			return r.errorf("%q is no size: want %s, which fit an int", w, form)
		}
		n[k] = v
	}
	h.Rows, h.Cols, h.Listed = n[0], n[1], n[2]
	if h.Symmetry != General && h.Rows != h.Cols {
		return r.errorf("a %s matrix of %d×%d, want a square one", h.Symmetry, h.Rows, h.Cols)
	}
	if !h.Array {
		return nil
	}
	long, wide := h.Rows, h.Cols
	if h.Symmetry != General {
		if long, wide = h.Rows, h.Rows+1; h.Symmetry == Skew {
			wide = h.Rows - 1
		}
		// One of two neighbours is even: halve it, and the product is the triangle.
		if long%2 == 0 {
			long /= 2
		} else {
			wide /= 2
		}
	}
	if h.Listed = long * wide; long != 0 && h.Listed/long != wide || h.Listed < 0 {
		return r.errorf("%d×%d values do not fit an int", h.Rows, h.Cols)
	}
	return nil
}

// Each calls entry for the entries in the order of the file, with positions counted from 0. A pattern has the value 1,
// and zeros of an array are left out. With expand, an entry off the diagonal of a file that is not general is followed
// by its mirror image. Each returns an *Error, an error of the reader, or nil after the end of the file.
func (r *Reader) Each(expand bool, entry func(i, j int, v complex128)) error {
	h := r.Header
	mirrored := expand && h.Symmetry != General
	i, j := r.start(0), 0
	for r.read = 0; r.read < h.Listed; r.read++ {
		words, err := r.next("entries")
		if err != nil {
			return err
		}
		if !h.Array {
			if i, j, err = r.place(words); err != nil {
				return err
			}
			words = words[2:]
		}
		v, err := r.value(words)
		if err != nil {
			return err
		}
		if v != 0 || !h.Array {
			entry(i, j, v)
			if mirrored && i != j {
				entry(j, i, h.Symmetry.mirror(v))
			}
		}
		if h.Array {
			if i++; i == h.Rows {
				j++
				i = r.start(j)
			}
		}
	}
	if words, err := r.next(""); err == nil {
		return r.errorf("%q follows after the %d entries that the sizes announce", strings.Join(words, " "), h.Listed)
	} else if !errors.Is(err, io.EOF) {
		return err
	}
	return r.plausible()
}

// start returns the first row that column j of an array lists.
func (r *Reader) start(j int) int {
	switch r.Header.Symmetry {
	case General:
		return 0
	case Skew:
		return j + 1
	}
	return j
}

// place reads the row and the column of an entry.
func (r *Reader) place(words []string) (i, j int, err error) {
	h := r.Header
	if len(words) < 2 {
		return 0, 0, r.errorf("%q is no entry: want a row, a column and a value", strings.Join(words, " "))
	}
	var err1, err2 error
	i, err1 = strconv.Atoi(words[0])
	j, err2 = strconv.Atoi(words[1])
	switch {
	case err1 != nil || err2 != nil:
		return 0, 0, r.errorf("(%s, %s) is no place: want a row and a column", words[0], words[1])
	case i < 1 || i > h.Rows || j < 1 || j > h.Cols:
		return 0, 0, r.errorf("entry (%d, %d) lies outside %d×%d; rows and columns count from 1", i, j, h.Rows, h.Cols)
	case h.Symmetry != General && i < j:
		return 0, 0, r.errorf("entry (%d, %d) lies above the diagonal of a %s matrix, which lists the lower "+
			"triangle; list it as (%d, %d) or call the matrix general", i, j, h.Symmetry, j, i)
	case h.Symmetry == Skew && i == j:
		return 0, 0, r.errorf("entry (%d, %d) lies on the diagonal of a skew-symmetric matrix, which is zero; leave "+
			"it out", i, j)
	}
	return i - 1, j - 1, nil
}

// value reads the value of an entry.
func (r *Reader) value(words []string) (complex128, error) {
	want := 1
	switch r.Header.Field {
	case Pattern:
		want = 0
	case Complex:
		want = 2
	}
	if len(words) != want {
		return 0, r.errorf("%d numbers for the value of an entry, want %d: the field is %s", len(words), want,
			r.Header.Field)
	}
	if want == 0 {
		return 1, nil
	}
	var part [2]float64
	for k, w := range words {
		v, err := strconv.ParseFloat(w, 64)
		if err == nil && r.Header.Field == Integer {
			_, err = strconv.ParseInt(w, 10, 64)
		}
		if errors.Is(err, strconv.ErrRange) {
			return 0, r.errorf("%s is out of range", w)
		}
		if err != nil {
			return 0, r.errorf("%q is no %s number", w, r.Header.Field)
		}
		part[k] = v
	}
	return complex(part[0], part[1]), nil
}

// mirror returns the value of the mirror image of an entry of value v.
func (s Symmetry) mirror(v complex128) complex128 {
	switch s {
	case Skew:
		return -v
	case Hermitian:
		return complex(real(v), -imag(v))
	}
	return v
}

// plausible refuses a shape that is out of all proportion to the entries: whoever
// stores the matrix by columns allocates for every row and column, so that a few
// bytes could ask for any amount of memory.
func (r *Reader) plausible() error {
	const free, perEntry = 1 << 20, 64
	if n := max(r.Header.Rows, r.Header.Cols); n > free && n/perEntry > r.read {
		return &Error{Line: r.line,
			Reason: fmt.Sprintf("a shape of %d×%d with %d entries: more than %d rows or columns need an entry for "+
				"every %d of them; drop the empty ones",
				r.Header.Rows, r.Header.Cols, r.read, free, perEntry)}
	}
	return nil
}

// scan goes to the next line.
func (r *Reader) scan() bool {
	r.line++
	return r.lines.Scan()
}

// next returns the words of the next line that is neither blank nor a comment. At
// the end of the file the error unwraps to io.EOF if nothing is missing, and is an
// *Error otherwise.
func (r *Reader) next(missing string) ([]string, error) {
	for r.scan() {
		if t := strings.TrimSpace(r.lines.Text()); t != "" && t[0] != '%' {
			return strings.Fields(t), nil
		}
	}
	switch missing {
	case "":
		return nil, r.end("")
	case "entries":
		return nil, r.end("the file ends after %d of %d entries", r.read, r.Header.Listed)
	}
	return nil, r.end("the file ends before %s", missing)
}

// end returns why there is no next line: an error of the reader, a line that is too
// long, or the end of the file, which the message names.
func (r *Reader) end(format string, args ...any) error {
	switch err := r.lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return r.errorf("more than %d bytes", maxLine)
	case err != nil:
		return fmt.Errorf("line %d: %w", r.line, err)
	case format == "":
		return io.EOF
	}
	return r.errorf(format, args...)
}

func (r *Reader) errorf(format string, args ...any) error {
	return &Error{Line: r.line, Reason: fmt.Sprintf(format, args...)}
}
