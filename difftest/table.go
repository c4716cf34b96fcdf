package difftest

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/nabla-ad/nabla/internal/tabular"
)

// A Kind is the kind of call that a row measures.
type Kind string

// The kinds of rows.
const (
	Prepared    Kind = "prepared"    // a call of a prepared object, with destinations
	Unprepared  Kind = "unprepared"  // a call of a function such as nabla.Gradient
	Preparation Kind = "preparation" // the preparation itself
)

// A Measurement is a row of a Table. Times are medians of one call in nanoseconds. Figures that were not measured are
// NaN.
type Measurement struct {
	Backend, Scenario, Operator string
	Kind                        Kind
	Call                        string  // gradient, value and gradient, …
	Calls                       float64 // evaluations of the function in one call, the mean of the first sixteen
	Samples                     int     // number of samples
	Evals                       int     // calls in each sample
	NS                          float64
	Spread                      float64 // interquartile range / median of the samples
	PlainNS                     float64 // time of the function itself, over plain numbers
	Ratio                       float64 // NS / PlainNS
	Allocs, Bytes               float64 // per call
	GC                          float64 // fraction of the processor time that the collector took
	Error                       float64 // largest difference, relative to the largest component of its result
	BreakEven                   float64 // calls after which preparation has paid off, +Inf for never
	Err                         error   // nil, or the reason that there are no figures
}

// unknown returns r without figures.
func (r Measurement) unknown() Measurement {
	nan := math.NaN()
	r.Calls, r.NS, r.Spread, r.PlainNS, r.Ratio = nan, nan, nan, nan, nan
	r.Allocs, r.Bytes, r.GC, r.Error, r.BreakEven = nan, nan, nan, nan, nan
	r.Samples, r.Evals = 0, 0
	return r
}

// A Table is the result of Benchmark.
type Table struct{ Rows []Measurement }

// Formats lists the formats of Table.Write.
var Formats = []string{"table", "csv", "json", "markdown"}

// String returns a table for people. Units are in the cells. Errors follow the table.
func (t *Table) String() string {
	var b strings.Builder
	tabular.Text(&b, tableColumns, t.cells()) // a Builder takes everything
	for _, r := range t.Rows {
		if r.Err != nil {
			fmt.Fprintf(&b, "%s, %s: %v\n", r.Scenario, r.Backend, r.Err)
		}
	}
	return b.String()
}

// Write writes the table in one of Formats. csv and json have nanoseconds and bytes; a number that is not finite is
// empty, or null.
func (t *Table) Write(w io.Writer, format string) error {
	switch format {
	case "table":
		_, err := io.WriteString(w, t.String())
		return err
	case "markdown":
		return tabular.Markdown(w, tableColumns, t.cells())
	case "csv":
		return t.csv(w)
	case "json":
		return t.json(w)
	}
	return fmt.Errorf("difftest: no format %q; formats: %s", format, strings.Join(Formats, ", "))
}

// tableColumns holds the columns of the text and Markdown formats.
var tableColumns = []tabular.Column{
	{Name: "scenario", Word: true}, {Name: "backend", Word: true}, {Name: "call", Word: true},
	{Name: "kind", Word: true},
	{Name: "time"}, {Name: "spread"}, {Name: "ratio"}, {Name: "break-even"}, {Name: "calls"}, {Name: "allocs"},
	{Name: "bytes"},
	{Name: "gc"}, {Name: "error"}, {Name: "", Word: true},
}

// cells returns the rows of the table as text, in the order of tableColumns.
func (t *Table) cells() [][]string {
	var all [][]string
	for _, r := range t.Rows {
		verdict, even := "", tabular.Count(r.BreakEven)
		if r.Err != nil {
			verdict = "FAILED"
		}
		if math.IsInf(r.BreakEven, 1) {
			even = "never"
		}
		off := "-"
		if r.Kind != Preparation && r.Err == nil {
			off = tabular.Scientific(r.Error)
		}
		calls := "-"
		if !math.IsNaN(r.Calls) {
			calls = strconv.FormatFloat(r.Calls, 'g', 3, 64)
		}
		all = append(all, []string{
			r.Scenario, r.Backend, r.Call, string(r.Kind), tabular.Duration(r.NS), tabular.Percent(r.Spread),
			tabular.Significant(r.Ratio), even, calls, tabular.Count(r.Allocs), tabular.Size(r.Bytes),
			tabular.Percent(r.GC), off, verdict,
		})
	}
	return all
}

// A field is a column of csv and json.
type field struct {
	name  string
	value func(r *Measurement) any
}

// text returns a column of strings.
func text(name string, f func(r *Measurement) string) field {
	return field{name, func(r *Measurement) any { return f(r) }}
}

// numeric returns a column of numbers, empty or null if they are not finite.
func numeric(name string, f func(r *Measurement) float64) field {
	return field{name, func(r *Measurement) any { return tabular.Number(f(r)) }}
}

// fields holds the columns of csv and json.
var fields = []field{
	text("backend", func(r *Measurement) string { return r.Backend }),
	text("scenario", func(r *Measurement) string { return r.Scenario }),
	text("operator", func(r *Measurement) string { return r.Operator }),
	text("kind", func(r *Measurement) string { return string(r.Kind) }),
	text("call", func(r *Measurement) string { return r.Call }),
	numeric("calls", func(r *Measurement) float64 { return r.Calls }),
	{"samples", func(r *Measurement) any { return r.Samples }},
	{"evals", func(r *Measurement) any { return r.Evals }},
	numeric("ns", func(r *Measurement) float64 { return r.NS }),
	numeric("spread", func(r *Measurement) float64 { return r.Spread }),
	numeric("plain_ns", func(r *Measurement) float64 { return r.PlainNS }),
	numeric("ratio", func(r *Measurement) float64 { return r.Ratio }),
	numeric("allocs", func(r *Measurement) float64 { return r.Allocs }),
	numeric("bytes", func(r *Measurement) float64 { return r.Bytes }),
	numeric("gc_fraction", func(r *Measurement) float64 { return r.GC }),
	numeric("error", func(r *Measurement) float64 { return r.Error }),
	numeric("break_even_calls", func(r *Measurement) float64 { return r.BreakEven }),
	text("failure", func(r *Measurement) string {
		if r.Err == nil {
			return ""
		}
		return r.Err.Error()
	}),
}

// csv writes a line of names and a line per row.
func (t *Table) csv(w io.Writer) error {
	c := csv.NewWriter(w)
	line := make([]string, len(fields))
	for j, f := range fields {
		line[j] = f.name
	}
	c.Write(line)
	for i := range t.Rows {
		for j, f := range fields {
			line[j] = fmt.Sprint(f.value(&t.Rows[i]))
		}
		c.Write(line)
	}
	c.Flush()
	return c.Error()
}

// json writes an array with one object per line.
func (t *Table) json(w io.Writer) error {
	b := bufio.NewWriter(w)
	b.WriteString("[")
	for i := range t.Rows {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString("\n  {")
		for j, f := range fields {
			if j > 0 {
				b.WriteString(",")
			}
			v, err := json.Marshal(f.value(&t.Rows[i]))
			if err != nil {
				return err
			}
			fmt.Fprintf(b, "%q:%s", f.name, v)
		}
		b.WriteString("}")
	}
	b.WriteString("\n]\n")
	return b.Flush()
}
