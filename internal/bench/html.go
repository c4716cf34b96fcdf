package bench

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/nabla-ad/nabla/internal/tabular"
	"github.com/nabla-ad/nabla/internal/timing"
)

var (
	//go:embed page/page.html
	pageHTML string
	//go:embed page/page.css
	pageCSS string
	//go:embed page/page.js
	pageJS string

	// page is the template, which contains style sheet and script.
	page = template.Must(template.New("page").Parse(pageHTML))
)

// A pageData is the input of the template.
type pageData struct {
	CSS   template.CSS
	JS    template.JS
	Facts []pageFact
	// Missing is the number of rows that an interruption cost, Wrong that of failed comparisons.
	Rows, Missing, Wrong int
	Legend               []pageKey
	Sections             []pageSection
	Summary, Table       pageTable
	Errors               []string
	Sparse               bool // some rows are
}

type pageFact struct{ Name, Value string }

// A pageKey explains a series.
type pageKey struct {
	K      int
	Class  string
	Name   string
	Marker template.HTML
	Label  template.HTML // the name, which may be broken before a parenthesis
}

type pageSection struct {
	ID, Title, Note string
	Figures         []pageFigure
}

type pageFigure struct {
	Title string
	SVG   template.HTML
}

type pageTable struct {
	ID, Caption string
	Columns     []pageColumn
	Rows        []pageRow
}

type pageColumn struct {
	Name, Note string
	Word       bool
}

type pageRow struct {
	Class string
	Cells []pageCell
}

type pageCell struct {
	Text, Value string // Value is the sort key
	Word, Bad   bool
	Key         *pageKey // of the engine, in the column of engines
}

// writeHTML writes a page that refers to no other file.
func writeHTML(w io.Writer, r Report) error {
	engines := enginesOf(r.Rows)
	data := pageData{
		CSS: template.CSS(pageCSS), JS: template.JS(pageJS), Facts: facts(r.Info),
		Rows: len(r.Rows), Missing: max(0, r.Want-len(r.Rows)), Sparse: anySparse(r.Rows),
	}
	for k, name := range engines {
		data.Legend = append(data.Legend, pageKey{
			k, seriesClass(k), name, template.HTML(marker(k)),
			template.HTML(strings.ReplaceAll(template.HTMLEscapeString(name), "(", "<wbr>(")),
		})
	}
	for _, row := range r.Rows {
		if !row.OK && !row.Refused() {
			data.Wrong++
		}
		if row.Err != nil {
			data.Errors = append(data.Errors, fmt.Sprintf("%s n=%d %s: %v", row.Task, row.N, row.Engine, row.Err))
		}
	}
	for _, c := range Charts(r.Rows) {
		if n := len(data.Sections); n == 0 || data.Sections[n-1].Title != c.Section {
			data.Sections = append(data.Sections,
				pageSection{ID: fmt.Sprintf("plots-%d", n+1), Title: c.Section, Note: c.Note})
		}
		s := &data.Sections[len(data.Sections)-1]
		s.Figures = append(s.Figures, pageFigure{c.Title, svg(c)})
	}
	data.Summary = summaryTable(r.Rows, data.Legend)
	data.Table = rowTable(r.Rows, data.Legend)
	// The page is small: an error of the template must not leave half of it.
	var b strings.Builder
	if err := page.Execute(&b, data); err != nil {
		return err
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// facts returns the known circumstances of the measurement.
func facts(i Info) []pageFact {
	var facts []pageFact
	add := func(name, value string) {
		if strings.TrimSpace(value) != "" {
			facts = append(facts, pageFact{name, value})
		}
	}
	add("Go", strings.TrimPrefix(i.Go, "go"))
	add("system", strings.Trim(i.OS+"/"+i.Arch, "/"))
	add("processor", i.CPU)
	if i.CPUs > 0 {
		add("processors used", strconv.Itoa(i.CPUs))
	}
	if i.Budget > 0 {
		add("time per measurement", fmt.Sprintf("%v in %d rounds", i.Budget, timing.Rounds))
	}
	add("date", i.Date)
	return facts
}

// sortValue returns the text of a sort key for the page; an empty one comes last.
func sortValue(v float64) string {
	switch {
	case math.IsNaN(v):
		return ""
	case math.IsInf(v, 1):
		return "Infinity"
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// rowTable returns the table with a line per row.
func rowTable(rows []Row, legend []pageKey) pageTable {
	t := pageTable{ID: "rows", Caption: "All measurements"}
	columns := columnsOf(rows)
	for _, c := range columns {
		if c.name == "" {
			c.name, c.note = "check", "whether value and derivative agree with the reference"
		}
		t.Columns = append(t.Columns, pageColumn{c.name, c.note, c.word})
	}
	for _, r := range rows {
		key := keyOf(legend, r.Engine)
		line := pageRow{Class: key.Class}
		for j, c := range columns {
			cell := pageCell{Text: c.text(r), Word: c.word}
			cell.Value = cell.Text
			switch {
			case j == 0:
				cell.Key = key
			case c.name == "":
				if cell.Bad = !r.OK && !r.Refused(); r.OK {
					cell.Text, cell.Value = "ok", "ok"
				}
			case !c.word:
				cell.Value = sortValue(c.value(r))
			}
			line.Cells = append(line.Cells, cell)
		}
		t.Rows = append(t.Rows, line)
	}
	return t
}

// keyOf returns the key of an engine, nil if it has no series.
func keyOf(legend []pageKey, engine string) *pageKey {
	i := slices.IndexFunc(legend, func(k pageKey) bool { return k.Name == engine })
	return &legend[i]
}

// An engineFigure holds the figures of one engine over all tasks.
type engineFigure struct {
	engine             string
	ok, rows           int
	ratio, once        float64 // geometric means over correct rows
	least, most        float64 // ratios
	fastest, firstOnce int     // number of tasks
}

// engineFigures returns the figures of each engine over all tasks.
func engineFigures(rows []Row) []engineFigure {
	var all []engineFigure
	sizes := taskSizesOf(rows)
	for _, name := range enginesOf(rows) {
		s := engineFigure{engine: name, least: math.NaN(), most: math.NaN()}
		var ratios, once []float64
		for _, t := range sizes {
			for _, r := range t.rows {
				if r.Engine != name {
					continue
				}
				s.rows++
				if !r.OK {
					continue
				}
				s.ok++
				ratios, once = append(ratios, r.Ratio), append(once, r.UnpreparedNS/r.PlainNS)
				if fastest(t.rows, r, func(r Row) float64 { return r.DerivativeNS }) {
					s.fastest++
				}
				if fastest(t.rows, r, func(r Row) float64 { return r.UnpreparedNS }) {
					s.firstOnce++
				}
			}
		}
		s.ratio, s.once = geometricMean(ratios), geometricMean(once)
		if len(ratios) > 0 {
			s.least, s.most = slices.Min(ratios), slices.Max(ratios)
		}
		all = append(all, s)
	}
	return all
}

// fastest reports whether no other correct row has a smaller time.
func fastest(rows []Row, r Row, ns func(Row) float64) bool {
	if math.IsNaN(ns(r)) {
		return false
	}
	return !slices.ContainsFunc(rows, func(o Row) bool { return o.OK && ns(o) < ns(r) })
}

// summaryTable returns the table with a line per engine.
func summaryTable(rows []Row, legend []pageKey) pageTable {
	t := pageTable{ID: "summary", Caption: "At a glance", Columns: []pageColumn{
		{"engine", "", true},
		{"ratio", "derivative / function, geometric mean of the tasks that it has part in, prepared", false},
		{"smallest", "ratio of the tasks, prepared", false},
		{"largest", "ratio of the tasks, prepared", false},
		{"fastest in", "how many tasks, prepared", false},
		{"ratio unprepared", "geometric mean of the tasks that it has part in", false},
		{"fastest unprepared in", "how many tasks", false},
		{"correct", "rows that passed the check", false},
	}}
	for _, s := range engineFigures(rows) {
		key := keyOf(legend, s.engine)
		ratio := func(v float64) pageCell { return pageCell{Text: tabular.Significant(v), Value: sortValue(v)} }
		whole := func(n int) pageCell { return pageCell{Text: strconv.Itoa(n), Value: strconv.Itoa(n)} }
		correct := whole(s.ok)
		correct.Text, correct.Bad = fmt.Sprintf("%d of %d", s.ok, s.rows), s.ok < s.rows
		t.Rows = append(t.Rows, pageRow{key.Class, []pageCell{
			{Text: s.engine, Value: s.engine, Word: true, Key: key},
			ratio(s.ratio), ratio(s.least), ratio(s.most), whole(s.fastest), ratio(s.once), whole(s.firstOnce), correct,
		}})
	}
	return t
}
