package mmio

import (
	"bufio"
	"io"
	"strconv"
)

// Write writes a coordinate file: the header, and the entries that each passes to add, whose positions are counted from
// 0. add must be called h.Listed times. Values are written with as many digits as are needed to read the same number,
// and not at all for a pattern.
func Write(w io.Writer, h Header, each func(add func(i, j int, v float64))) error {
	b := bufio.NewWriter(w)
	b.WriteString("%%MatrixMarket matrix coordinate " + string(h.Field) + " " + string(h.Symmetry) + "\n")
	line := make([]byte, 0, 64)
	number := func(n int, end byte) { line = append(strconv.AppendInt(line, int64(n), 10), end) }
	number(h.Rows, ' ')
	number(h.Cols, ' ')
	number(h.Listed, '\n')
	b.Write(line)
	each(func(i, j int, v float64) {
		line = line[:0]
		number(i+1, ' ')
		number(j+1, ' ')
		if h.Field != Pattern {
			line = append(strconv.AppendFloat(line, v, 'g', -1, 64), ' ')
		}
		line[len(line)-1] = '\n'
		b.Write(line)
	})
	return b.Flush() // returns the first error of all writes
}
