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
var Formats = []string{"table", "csv", "json", "markdown", "benchstat", "html"}

// Write writes the report in a format. Only benchstat and html have room for more
// than the rows.
func Write(w io.Writer, format string, r Report) error {
	switch format {
	case "table":
		return writeTable(w, r.Rows)
	case "csv":
		return writeCSV(w, r.Rows)
	case "json":
		return writeJSON(w, r.Rows)
	case "markdown":
		return writeMarkdown(w, r.Rows)
	case "benchstat":
		return writeBenchstat(w, r)
	case "html":
		return writeHTML(w, r)
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
	Spread       number `json:"spread"`
	PlainSpread  number `json:"plain_spread"`
	Samples      int    `json:"samples"`
	UnpreparedNS number `json:"unprepared_ns"`
	BreakEven    number `json:"break_even_calls"`
	Bytes        number `json:"bytes"`
	Calls        number `json:"calls"`
	PrepareCalls number `json:"prepare_calls"`
}

func (r Row) record() record {
	return record{
		r.Task, r.N, r.Engine, number(r.PlainNS), number(r.DerivativeNS), number(r.Ratio),
		number(r.PrepareNS), number(r.Allocs), number(r.Error), r.OK,
		number(r.Spread), number(r.PlainSpread), len(r.Derivative.NS), number(r.UnpreparedNS), number(r.BreakEven),
		number(r.Bytes), number(r.Calls), number(r.PrepareCalls),
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
	c.Write([]string{
		"task", "n", "engine", "plain_ns", "derivative_ns", "ratio", "prepare_ns", "allocs", "error", "ok",
		"spread", "plain_spread", "samples", "unprepared_ns", "break_even_calls", "bytes", "calls", "prepare_calls",
	})
	for _, row := range rows {
		r := row.record()
		c.Write([]string{
			r.Task, strconv.Itoa(r.N), r.Engine, r.PlainNS.String(), r.DerivativeNS.String(), r.Ratio.String(),
			r.PrepareNS.String(), r.Allocs.String(), r.Error.String(), strconv.FormatBool(r.OK),
			r.Spread.String(), r.PlainSpread.String(), strconv.Itoa(r.Samples), r.UnpreparedNS.String(), r.BreakEven.String(),
			r.Bytes.String(), r.Calls.String(), r.PrepareCalls.String(),
		})
	}
	c.Flush()
	return c.Error()
}

// A column is one of those that people read, in table, markdown and html.
type column struct {
	name string
	word bool // flush left, and sorted as text
	note string
	text func(Row) string
	// value is what sorts the column. NaN comes last.
	value func(Row) float64
}

var columns = []column{
	{name: "engine", word: true, text: func(r Row) string { return r.Engine }},
	{name: "task", word: true, text: func(r Row) string { return r.Task }},
	{name: "n", note: "number of inputs", text: func(r Row) string { return strconv.Itoa(r.N) }, value: func(r Row) float64 { return float64(r.N) }},
	{name: "function", note: "time of one call of the plain function", text: func(r Row) string { return duration(r.PlainNS) }, value: func(r Row) float64 { return r.PlainNS }},
	{name: "derivative", note: "time of one call of the prepared derivative", text: func(r Row) string { return duration(r.DerivativeNS) }, value: func(r Row) float64 { return r.DerivativeNS }},
	{name: "spread", note: "of the time of the derivative: interquartile range / median", text: func(r Row) string { return percent(r.Spread) }, value: func(r Row) float64 { return r.Spread }},
	{name: "ratio", note: "derivative / function", text: func(r Row) string { return significant(r.Ratio) }, value: func(r Row) float64 { return r.Ratio }},
	{name: "unprepared", note: "time of one derivative without preparation", text: func(r Row) string { return duration(r.UnpreparedNS) }, value: func(r Row) float64 { return r.UnpreparedNS }},
	{name: "prepare", note: "time of the preparation", text: func(r Row) string { return duration(r.PrepareNS) }, value: func(r Row) float64 { return r.PrepareNS }},
	{name: "break-even", note: "calls after which preparation has paid for itself", text: func(r Row) string { return breakEvenText(r.BreakEven) }, value: func(r Row) float64 { return r.BreakEven }},
	{name: "calls", note: "of the user's function in one call of the prepared derivative", text: func(r Row) string { return count(r.Calls) }, value: func(r Row) float64 { return r.Calls }},
	{name: "allocs", note: "allocations in one call of the prepared derivative", text: func(r Row) string { return count(r.Allocs) }, value: func(r Row) float64 { return r.Allocs }},
	{name: "bytes", note: "allocated in one call of the prepared derivative", text: func(r Row) string { return size(r.Bytes) }, value: func(r Row) float64 { return r.Bytes }},
	{name: "error", note: "the largest, relative to the largest component", text: func(r Row) string { return scientific(r.Error) }, value: func(r Row) float64 { return r.Error }},
	{name: "", word: true, text: verdict},
}

// cells are the columns of the rows, below their names.
func cells(rows []Row) [][]string {
	all := [][]string{make([]string, len(columns))}
	for j, c := range columns {
		all[0][j] = c.name
	}
	for _, r := range rows {
		line := make([]string, len(columns))
		for j, c := range columns {
			line[j] = c.text(r)
		}
		all = append(all, line)
	}
	return all
}

func writeMarkdown(w io.Writer, rows []Row) error {
	b := bufio.NewWriter(w)
	escape := strings.NewReplacer("|", `\|`)
	for i, line := range cells(rows) {
		for _, s := range line {
			b.WriteString("| " + escape.Replace(s) + " ")
		}
		b.WriteString("|\n")
		if i == 0 {
			for _, c := range columns {
				if c.word {
					b.WriteString("|---")
				} else {
					b.WriteString("|--:")
				}
			}
			b.WriteString("|\n")
		}
	}
	return b.Flush()
}

// writeBenchstat writes a line per sample, in the format of Go benchmarks
// (golang.org/design/14313-benchmark-format). The prepared derivative has the name
// of the engine alone.
func writeBenchstat(w io.Writer, r Report) error {
	b := bufio.NewWriter(w)
	for _, kv := range [][2]string{{"goos", r.Info.OS}, {"goarch", r.Info.Arch}, {"pkg", "github.com/nabla-ad/nabla/cmd/nabla"}, {"cpu", r.Info.CPU}} {
		if kv[1] != "" {
			fmt.Fprintf(b, "%s: %s\n", kv[0], kv[1])
		}
	}
	lines := func(name string, s Samples, memory string) {
		for _, ns := range s.NS {
			fmt.Fprintf(b, "Benchmark%s\t%8d\t%s ns/op%s\n", name, s.Calls, number(ns), memory)
		}
	}
	task := ""
	for _, row := range r.Rows {
		t := fmt.Sprintf("%s/n=%d", row.Task, row.N)
		if t != task && len(row.Plain.NS) > 0 { // they are the same for all engines
			task = t
			lines(t+"/plain", row.Plain, "")
		}
		name := t + "/" + strings.Join(strings.Fields(row.Engine), "_")
		lines(name, row.Derivative, fmt.Sprintf("\t%s B/op\t%s allocs/op", number(row.Bytes), number(row.Allocs)))
		lines(name+"/unprepared", row.Unprepared, "")
		lines(name+"/prepare", row.Prepare, "")
	}
	return b.Flush()
}

func writeTable(w io.Writer, rows []Row) error {
	cells := cells(rows)
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
			case columns[j].word:
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

func percent(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return strconv.FormatFloat(100*v, 'f', 1, 64) + "%"
}

// size is a number of bytes.
func size(v float64) string {
	switch {
	case math.IsNaN(v):
		return "-"
	case v < 999.5:
		return count(v) + " B"
	case v < 999.5e3:
		return significant(v/1e3) + " kB"
	case v < 999.5e6:
		return significant(v/1e6) + " MB"
	}
	return significant(v/1e9) + " GB"
}

func breakEvenText(v float64) string {
	if math.IsInf(v, 1) {
		return "never"
	}
	return count(v)
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
