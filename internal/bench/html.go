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
	Glances              []pageTable
	Table                pageTable
	Tasks                []pageTask
	Errors               []string
	Sparse               bool // some rows are
}

type pageFact struct{ Name, Value string }

// A pageTask explains a task.
type pageTask struct{ Name, Title, Formula, Sizes string }

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
	Wide            bool // its figures have labels at the right
	Figures         []pageFigure
}

type pageFigure struct {
	Title string
	SVG   template.HTML
	// Narrow, unless empty, replaces SVG in narrow windows, where its labels have no room.
	Narrow template.HTML
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
	Note        string // shown on hover
	Heat        string // class of the shade
	Task        string // the task that the text is a link to
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
		f := pageFigure{Title: c.Title, SVG: svg(c, chartWidth)}
		if c.Curves != nil {
			f.SVG, f.Narrow = svg(c, labelledWidth), f.SVG
			s.Wide = true
		}
		s.Figures = append(s.Figures, f)
	}
	for i, g := range glances(r.Rows) {
		data.Glances = append(data.Glances, g.table(fmt.Sprintf("glance-%d", i+1), data.Legend))
	}
	data.Tasks = tasksOf(r.Rows)
	data.Table = rowTable(r.Rows, data.Legend)
	// The page is small: an error of the template must not leave half of it.
	var b strings.Builder
	if err := page.Execute(&b, data); err != nil {
		return err
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// tasksOf returns the tasks of the rows.
func tasksOf(rows []Row) []pageTask {
	var all []pageTask
	for _, t := range taskSizesOf(rows) {
		i := slices.IndexFunc(all, func(p pageTask) bool { return p.Name == t.task })
		if i < 0 {
			i = len(all)
			all = append(all, pageTask{Name: t.task, Title: t.title, Formula: t.formula})
		} else {
			all[i].Sizes += ", "
		}
		all[i].Sizes += tabular.Count(float64(t.n))
	}
	return all
}

// facts returns the known circumstances of the measurement.
func facts(i Info) []pageFact {
	var facts []pageFact
	add := func(name, value string) {
		if strings.TrimSpace(value) != "" {
			facts = append(facts, pageFact{name, value})
		}
	}
	add("nabla", i.Version)
	add("Go", strings.TrimPrefix(i.Go, "go"))
	add("system", strings.Trim(i.OS+"/"+i.Arch, "/"))
	add("processor", i.CPU)
	if i.CPUs > 0 {
		add("processors used", strconv.Itoa(i.CPUs))
	}
	if i.Budget > 0 {
		add("time per measurement", fmt.Sprintf("%v in %d rounds", i.Budget, timing.Rounds))
	}
	add("load before and after", i.Load)
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
			case c.name == "task":
				cell.Task, cell.Note = r.Task, r.Title+": "+r.Formula
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
