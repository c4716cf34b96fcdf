package bench

import (
	"slices"
	"strconv"

	"github.com/nabla-ad/nabla/internal/tabular"
)

// The columns of reports, one list for the formats table, markdown and html. A new column is a row of columns or
// sparseColumns; csv and json have the fields of Row.

// A column is a column of the formats table, markdown and html.
type column struct {
	name string
	word bool // left-aligned, and sorted as text
	note string
	text func(Row) string
	// value returns the sort key of a row. NaN comes last.
	value func(Row) float64
}

// columns holds the columns of reports without sparse rows.
var columns = []column{
	{name: "engine", word: true, text: func(r Row) string { return r.Engine }},
	{name: "task", word: true, text: func(r Row) string { return r.Task }},
	{name: "n", note: "number of inputs", text: func(r Row) string { return strconv.Itoa(r.N) },
		value: func(r Row) float64 { return float64(r.N) }},
	{name: "function", note: "time of one call of the plain function",
		text:  func(r Row) string { return tabular.Duration(r.PlainNS) },
		value: func(r Row) float64 { return r.PlainNS }},
	{name: "derivative", note: "time of one call of the prepared derivative",
		text:  func(r Row) string { return tabular.Duration(r.DerivativeNS) },
		value: func(r Row) float64 { return r.DerivativeNS }},
	{name: "spread", note: "of the time of the derivative: interquartile range / median",
		text: func(r Row) string { return tabular.Percent(r.Spread) }, value: func(r Row) float64 { return r.Spread }},
	{name: "ratio", note: "derivative / function", text: func(r Row) string { return tabular.Significant(r.Ratio) },
		value: func(r Row) float64 { return r.Ratio }},
	{name: "unprepared", note: "time of one derivative without preparation",
		text:  func(r Row) string { return tabular.Duration(r.UnpreparedNS) },
		value: func(r Row) float64 { return r.UnpreparedNS }},
	{name: "prepare", note: "time of the preparation",
		text:  func(r Row) string { return tabular.Duration(r.PrepareNS) },
		value: func(r Row) float64 { return r.PrepareNS }},
	{name: "break-even", note: "calls after which preparation has paid for itself",
		text:  func(r Row) string { return breakEvenText(r.BreakEven) },
		value: func(r Row) float64 { return r.BreakEven }},
	{name: "calls", note: "of the user's function in one call of the prepared derivative",
		text: func(r Row) string { return tabular.Count(r.Calls) }, value: func(r Row) float64 { return r.Calls }},
	{name: "allocs", note: "allocations in one call of the prepared derivative",
		text: func(r Row) string { return tabular.Count(r.Allocs) }, value: func(r Row) float64 { return r.Allocs }},
	{name: "bytes", note: "allocated in one call of the prepared derivative",
		text: func(r Row) string { return tabular.Size(r.Bytes) }, value: func(r Row) float64 { return r.Bytes }},
	{name: "error", note: "the largest, relative to the largest component",
		text: func(r Row) string { return tabular.Scientific(r.Error) }, value: func(r Row) float64 { return r.Error }},
}

// sparseColumns holds the columns of reports with sparse rows.
var sparseColumns = []column{
	{name: "nnz", note: "entries of the sparsity pattern", text: func(r Row) string { return tabular.Count(r.nnz()) },
		value: Row.nnz},
	{name: "colours", note: "products for one derivative; none where the engine computes entries",
		text: func(r Row) string { return tabular.Count(r.colors()) }, value: Row.colors},
	{name: "detection", note: "time of finding the pattern, a part of the preparation",
		text: func(r Row) string { return tabular.Duration(r.detection()) }, value: Row.detection},
	{name: "colouring", note: "time of grouping columns or rows, a part of the preparation",
		text: func(r Row) string { return tabular.Duration(r.coloring()) }, value: Row.coloring},
}

// growthColumns holds the columns of reports with the memory of preparations.
var growthColumns = []column{
	perInput("function/n", "time of one call of the plain function, for each input", tabular.Duration,
		func(r Row) float64 { return r.PlainNS }),
	perInput("derivative/n", "time of one call of the prepared derivative, for each input", tabular.Duration,
		func(r Row) float64 { return r.DerivativeNS }),
	perInput("prepare/n", "time of the preparation, for each input", tabular.Duration,
		func(r Row) float64 { return r.PrepareNS }),
	perInput("allocated/n", "by the preparation, for each input", tabular.Size,
		func(r Row) float64 { return r.PrepareBytes }),
	perInput("kept/n", "by the prepared derivative, for each input, machine code not counted", tabular.Size,
		func(r Row) float64 { return r.KeptBytes }),
}

// perInput returns the column of a figure divided by the number of inputs.
func perInput(name, note string, text func(float64) string, figure func(Row) float64) column {
	value := func(r Row) float64 { return figure(r) / float64(r.N) }
	return column{name: name, note: note, text: func(r Row) string { return text(value(r)) }, value: value}
}

// columnsOf returns the columns of a report of these rows.
func columnsOf(rows []Row) []column {
	all := slices.Clone(columns)
	if anySparse(rows) {
		all = append(all, sparseColumns...)
	}
	if slices.ContainsFunc(rows, func(r Row) bool { return r.PrepareBytes > 0 }) {
		all = append(all, growthColumns...)
	}
	return append(all, column{name: "", word: true, text: verdict})
}

// tabularColumns returns the columns for package tabular.
func tabularColumns(rows []Row) []tabular.Column {
	var all []tabular.Column
	for _, c := range columnsOf(rows) {
		all = append(all, tabular.Column{Name: c.name, Word: c.word})
	}
	return all
}

// cells returns the text of each row and column.
func cells(rows []Row) [][]string {
	columns := columnsOf(rows)
	var all [][]string
	for _, r := range rows {
		line := make([]string, len(columns))
		for j, c := range columns {
			line[j] = c.text(r)
		}
		all = append(all, line)
	}
	return all
}
