package bench

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Formats are the names of the formats that Write knows.
var Formats = []string{"table", "csv", "json"}

// Write writes the rows in a format.
func Write(w io.Writer, format string, rows []Row) error {
	switch format {
	case "table":
		return writeTable(w, rows)
	case "csv":
		return writeCSV(w, rows)
	case "json":
		return writeJSON(w, rows)
	}
	return fmt.Errorf("unknown format %q; formats: %s", format, strings.Join(Formats, ", "))
}

// number is a float64 that JSON writes as null and CSV as nothing where it is not
// finite.
type number float64

func (n number) MarshalJSON() ([]byte, error) {
	if s := n.String(); s != "" {
		return []byte(s), nil
	}
	return []byte("null"), nil
}

func (n number) String() string {
	v := float64(n)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	// Times and ratios are not known to more digits.
	if a := math.Abs(v); a >= 1e-3 && a < 1e15 {
		return strconv.FormatFloat(math.Round(v*1e4)/1e4, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// record is a row as JSON shows it.
type record struct {
	Task         string `json:"task"`
	N            int    `json:"n"`
	Engine       string `json:"engine"`
	PlainNS      number `json:"plain_ns"`
	DerivativeNS number `json:"derivative_ns"`
	Ratio        number `json:"ratio"`
	PrepareNS    number `json:"prepare_ns"`
	Allocs       number `json:"allocs"`
	Error        number `json:"error"`
	OK           bool   `json:"ok"`
}

func (r Row) record() record {
	return record{
		r.Task, r.N, r.Engine, number(r.PlainNS), number(r.DerivativeNS), number(r.Ratio),
		number(r.PrepareNS), number(r.Allocs), number(r.Error), r.OK,
	}
}

// writeJSON writes an array with an object per line.
func writeJSON(w io.Writer, rows []Row) error {
	b := bufio.NewWriter(w)
	b.WriteString("[")
	for i, r := range rows {
		if i > 0 {
			b.WriteString(",")
		}
		line, err := json.Marshal(r.record())
		if err != nil {
			return err
		}
		b.WriteString("\n  ")
		b.Write(line)
	}
	if len(rows) > 0 {
		b.WriteString("\n")
	}
	b.WriteString("]\n")
	return b.Flush()
}

func writeCSV(w io.Writer, rows []Row) error {
	c := csv.NewWriter(w)
	c.Write([]string{"task", "n", "engine", "plain_ns", "derivative_ns", "ratio", "prepare_ns", "allocs", "error", "ok"})
	for _, row := range rows {
		r := row.record()
		c.Write([]string{
			r.Task, strconv.Itoa(r.N), r.Engine, r.PlainNS.String(), r.DerivativeNS.String(), r.Ratio.String(),
			r.PrepareNS.String(), r.Allocs.String(), r.Error.String(), strconv.FormatBool(r.OK),
		})
	}
	c.Flush()
	return c.Error()
}

func writeTable(w io.Writer, rows []Row) error {
	cells := [][]string{{"engine", "task", "n", "function", "derivative", "ratio", "prepare", "allocs", "error", ""}}
	for _, r := range rows {
		cells = append(cells, []string{
			r.Engine, r.Task, strconv.Itoa(r.N), duration(r.PlainNS), duration(r.DerivativeNS),
			significant(r.Ratio), duration(r.PrepareNS), count(r.Allocs), scientific(r.Error), verdict(r),
		})
	}
	widths := make([]int, len(cells[0]))
	for _, row := range cells {
		for j, s := range row {
			widths[j] = max(widths[j], utf8.RuneCountInString(s))
		}
	}
	b := bufio.NewWriter(w)
	for _, row := range cells {
		var line strings.Builder
		for j, s := range row {
			pad := strings.Repeat(" ", widths[j]-utf8.RuneCountInString(s))
			switch {
			case j < 2 || j == len(row)-1: // words
				line.WriteString(s + pad + "  ")
			default:
				line.WriteString(pad + s + "  ")
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.Flush()
}

// verdict is what a reader must not overlook.
func verdict(r Row) string {
	switch {
	case r.Err != nil:
		return "FAILED"
	case !r.OK:
		return "WRONG"
	}
	return ""
}

// significant is v with three digits, and with none behind the point from 100 on.
func significant(v float64) string {
	switch {
	case math.IsNaN(v):
		return "-"
	case v >= 99.95:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

func duration(ns float64) string {
	switch {
	case math.IsNaN(ns):
		return "-"
	case ns < 999.5:
		return significant(ns) + " ns"
	case ns < 999.5e3:
		return significant(ns/1e3) + " µs"
	case ns < 999.5e6:
		return significant(ns/1e6) + " ms"
	}
	return significant(ns/1e9) + " s"
}

func count(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

func scientific(v float64) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case v == 0:
		return "0"
	}
	return strconv.FormatFloat(v, 'e', 1, 64)
}
