package bench

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/nabla-ad/nabla/internal/tabular"
	"github.com/nabla-ad/nabla/internal/timing"
)

// Formats lists the formats of Write.
var Formats = []string{"table", "csv", "json", "markdown", "benchstat", "html", "svg"}

// Write writes the report in a format. Only benchstat and html contain more than the rows. Format svg fails if there is
// nothing to plot.
func Write(w io.Writer, format string, r Report) error {
	switch format {
	case "table":
		return tabular.Text(w, tabularColumns(r.Rows), cells(r.Rows))
	case "csv":
		return writeCSV(w, r.Rows)
	case "json":
		return writeJSON(w, r.Rows)
	case "markdown":
		return tabular.Markdown(w, tabularColumns(r.Rows), cells(r.Rows))
	case "benchstat":
		return writeBenchstat(w, r)
	case "html":
		return writeHTML(w, r)
	case "svg":
		return writeSVG(w, r.Rows)
	}
	return fmt.Errorf("unknown format %q; formats: %s", format, strings.Join(Formats, ", "))
}

// anySparse reports whether a row has a sparse matrix.
func anySparse(rows []Row) bool {
	return slices.ContainsFunc(rows, func(r Row) bool { return r.Sparse != nil })
}

// A record is a row of JSON.
type record struct {
	Task         string         `json:"task"`
	N            int            `json:"n"`
	Engine       string         `json:"engine"`
	PlainNS      tabular.Number `json:"plain_ns"`
	DerivativeNS tabular.Number `json:"derivative_ns"`
	Ratio        tabular.Number `json:"ratio"`
	PrepareNS    tabular.Number `json:"prepare_ns"`
	Allocs       tabular.Number `json:"allocs"`
	Error        tabular.Number `json:"error"`
	OK           bool           `json:"ok"`
	Spread       tabular.Number `json:"spread"`
	PlainSpread  tabular.Number `json:"plain_spread"`
	Samples      int            `json:"samples"`
	UnpreparedNS tabular.Number `json:"unprepared_ns"`
	BreakEven    tabular.Number `json:"break_even_calls"`
	Bytes        tabular.Number `json:"bytes"`
	Calls        tabular.Number `json:"calls"`
	PrepareCalls tabular.Number `json:"prepare_calls"`
}

// record returns r for JSON.
func (r Row) record() record {
	return record{
		r.Task, r.N, r.Engine, tabular.Number(r.PlainNS), tabular.Number(r.DerivativeNS), tabular.Number(r.Ratio),
		tabular.Number(r.PrepareNS), tabular.Number(r.Allocs), tabular.Number(r.Error), r.OK,
		tabular.Number(r.Spread), tabular.Number(r.PlainSpread), len(r.Derivative.NS), tabular.Number(r.UnpreparedNS),
		tabular.Number(r.BreakEven),
		tabular.Number(r.Bytes), tabular.Number(r.Calls), tabular.Number(r.PrepareCalls),
	}
}

// A sparseRecord is a row of a report with sparse rows.
type sparseRecord struct {
	record
	NNZ         tabular.Number `json:"nnz"`
	Colors      tabular.Number `json:"colors"`
	DetectionNS tabular.Number `json:"detection_ns"`
	ColoringNS  tabular.Number `json:"coloring_ns"`
}

func (r Row) sparseRecord() sparseRecord {
	return sparseRecord{r.record(), tabular.Number(r.nnz()), tabular.Number(r.colors()), tabular.Number(r.detection()),
		tabular.Number(r.coloring())}
}

// Figures that a dense row lacks are NaN, and so is the number of colours of an engine that computes entries.
func (r Row) nnz() float64       { return r.sparse(func(s *Sparse) float64 { return float64(s.NNZ) }) }
func (r Row) detection() float64 { return r.sparse(func(s *Sparse) float64 { return s.DetectionNS }) }
func (r Row) coloring() float64  { return r.sparse(func(s *Sparse) float64 { return s.ColoringNS }) }
func (r Row) colors() float64 {
	return r.sparse(func(s *Sparse) float64 {
		if s.Colors == 0 {
			return math.NaN()
		}
		return float64(s.Colors)
	})
}

// sparse returns a figure of the sparse matrix, NaN for a dense one.
func (r Row) sparse(of func(*Sparse) float64) float64 {
	if r.Sparse == nil {
		return math.NaN()
	}
	return of(r.Sparse)
}

// writeJSON writes an array with one object per line.
func writeJSON(w io.Writer, rows []Row) error {
	b := bufio.NewWriter(w)
	b.WriteString("[")
	sparse := anySparse(rows)
	for i, r := range rows {
		if i > 0 {
			b.WriteString(",")
		}
		var line []byte
		var err error
		if sparse {
			line, err = json.Marshal(r.sparseRecord())
		} else {
			line, err = json.Marshal(r.record())
		}
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

// writeCSV writes a line of names, and a line per row with the numbers of JSON.
func writeCSV(w io.Writer, rows []Row) error {
	c := csv.NewWriter(w)
	sparse := anySparse(rows)
	head := []string{
		"task", "n", "engine", "plain_ns", "derivative_ns", "ratio", "prepare_ns", "allocs", "error", "ok",
		"spread", "plain_spread", "samples", "unprepared_ns", "break_even_calls", "bytes", "calls", "prepare_calls",
	}
	if sparse {
		head = append(head, "nnz", "colors", "detection_ns", "coloring_ns")
	}
	c.Write(head)
	for _, row := range rows {
		r := row.sparseRecord()
		line := []string{
			r.Task, strconv.Itoa(r.N), r.Engine, r.PlainNS.String(), r.DerivativeNS.String(), r.Ratio.String(),
			r.PrepareNS.String(), r.Allocs.String(), r.Error.String(), strconv.FormatBool(r.OK),
			r.Spread.String(), r.PlainSpread.String(), strconv.Itoa(r.Samples), r.UnpreparedNS.String(),
			r.BreakEven.String(),
			r.Bytes.String(), r.Calls.String(), r.PrepareCalls.String(),
		}
		if sparse {
			line = append(line, r.NNZ.String(), r.Colors.String(), r.DetectionNS.String(), r.ColoringNS.String())
		}
		c.Write(line)
	}
	c.Flush()
	return c.Error()
}

// writeBenchstat writes one line per sample, in the format of Go benchmarks (golang.org/design/14313-benchmark-format).
// The prepared derivative has the name of the engine alone.
func writeBenchstat(w io.Writer, r Report) error {
	b := bufio.NewWriter(w)
	for _, kv := range [][2]string{{"goos", r.Info.OS}, {"goarch", r.Info.Arch},
		{"pkg", "github.com/nabla-ad/nabla/cmd/nabla"}, {"cpu", r.Info.CPU}} {
		if kv[1] != "" {
			fmt.Fprintf(b, "%s: %s\n", kv[0], kv[1])
		}
	}
	lines := func(name string, s timing.Samples, memory string) {
		for _, ns := range s.NS {
			fmt.Fprintf(b, "Benchmark%s\t%8d\t%s ns/op%s\n", name, s.Calls, tabular.Number(ns), memory)
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
		lines(name, row.Derivative,
			fmt.Sprintf("\t%s B/op\t%s allocs/op", tabular.Number(row.Bytes), tabular.Number(row.Allocs)))
		lines(name+"/unprepared", row.Unprepared, "")
		lines(name+"/prepare", row.Prepare, "")
	}
	return b.Flush()
}

// verdict returns a warning in capitals for a failed or wrong result, otherwise "".
func verdict(r Row) string {
	switch {
	case r.Refused():
		return "refused"
	case r.Err != nil:
		return "FAILED"
	case !r.OK:
		return "WRONG"
	}
	return ""
}

// breakEvenText formats a number of calls, "never" for +Inf.
func breakEvenText(v float64) string {
	if math.IsInf(v, 1) {
		return "never"
	}
	return tabular.Count(v)
}
