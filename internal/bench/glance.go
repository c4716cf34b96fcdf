package bench

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/nabla-ad/nabla/internal/tabular"
)

// A glance compares engines by their ratios in the same tasks: the tasks of one kind, dense or sparse.
type glance struct {
	title string
	tasks []taskSize
	lines []glanceLine
}

// A glanceLine has the figures of an engine.
type glanceLine struct {
	engine  string
	ratios  []float64 // by task; NaN without a correct row
	bad     []bool    // by task: the derivative is wrong or failed
	mean    float64   // geometric mean of the ratios; NaN unless there is one for each task
	once    float64   // the same of unprepared calls
	fastest int       // number of tasks
}

// missing returns the tasks without a ratio.
func (g glance) missing(l glanceLine) (names []string) {
	for i, v := range l.ratios {
		if math.IsNaN(v) {
			names = append(names, g.tasks[i].name())
		}
	}
	return names
}

// glances returns the comparisons: of the tasks with dense derivatives, and of those with sparse ones, where dense
// engines are compared too. A comparison without rows is left out.
func glances(rows []Row) []glance {
	var dense, sparse []taskSize
	for _, t := range taskSizesOf(rows) {
		if anySparse(t.rows) {
			sparse = append(sparse, t)
		} else {
			dense = append(dense, t)
		}
	}
	var all []glance
	for _, g := range []glance{{title: "Values and dense derivatives", tasks: dense},
		{title: "Sparse Jacobians and Hessians", tasks: sparse}} {
		if len(g.tasks) > 0 {
			g.compare()
			all = append(all, g)
		}
	}
	return all
}

// compare sets the lines: one for each engine with a row, engines with all tasks first, in the order of their means.
func (g *glance) compare() {
	var rows []Row
	for _, t := range g.tasks {
		rows = append(rows, t.rows...)
	}
	for _, name := range enginesOf(rows) {
		l := glanceLine{engine: name, bad: make([]bool, len(g.tasks))}
		var once []float64
		for i, t := range g.tasks {
			ratio, unprepared := math.NaN(), math.NaN()
			for _, r := range t.rows {
				if r.Engine != name {
					continue
				}
				l.bad[i] = !r.OK && !r.Refused()
				if r.OK {
					ratio, unprepared = r.Ratio, r.UnpreparedNS/r.PlainNS
					if fastest(t.rows, r, func(r Row) float64 { return r.DerivativeNS }) {
						l.fastest++
					}
				}
			}
			l.ratios, once = append(l.ratios, ratio), append(once, unprepared)
		}
		l.mean, l.once = meanOfAll(l.ratios), meanOfAll(once)
		g.lines = append(g.lines, l)
	}
	slices.SortStableFunc(g.lines, func(a, b glanceLine) int {
		switch {
		case a.mean < b.mean || !math.IsNaN(a.mean) && math.IsNaN(b.mean):
			return -1
		case b.mean < a.mean || !math.IsNaN(b.mean) && math.IsNaN(a.mean):
			return 1
		}
		return 0
	})
}

// meanOfAll returns the geometric mean, NaN if an element is NaN.
func meanOfAll(v []float64) float64 {
	if slices.ContainsFunc(v, math.IsNaN) {
		return math.NaN()
	}
	return geometricMean(v)
}

// fastest reports whether no other correct row has a smaller time.
func fastest(rows []Row, r Row, ns func(Row) float64) bool {
	if math.IsNaN(ns(r)) {
		return false
	}
	return !slices.ContainsFunc(rows, func(o Row) bool { return o.OK && ns(o) < ns(r) })
}

// heat returns the class of the shade of a ratio: 0 for at most 1, 7 from 1000 on.
func heat(ratio float64) string {
	for i, limit := range []float64{1, 2, 5, 10, 30, 100, 1000} {
		if ratio <= limit {
			return "h" + strconv.Itoa(i)
		}
	}
	return "h7"
}

// table returns the table of the page.
func (g glance) table(id string, legend []pageKey) pageTable {
	t := pageTable{ID: id, Caption: g.title, Columns: []pageColumn{
		{"engine", "", true},
		{"mean", "geometric mean of the ratios, of engines that have all of these tasks", false},
	}}
	for _, task := range g.tasks {
		t.Columns = append(t.Columns, pageColumn{task.name(), task.title + ": " + task.formula, false})
	}
	t.Columns = append(t.Columns, pageColumn{"mean unprepared", "the same without preparation", false},
		pageColumn{"fastest in", "number of tasks, prepared", false})
	for _, l := range g.lines {
		key := keyOf(legend, l.engine)
		mean := func(v float64) pageCell {
			c := pageCell{Text: tabular.Significant(v), Value: sortValue(v)}
			if missing := g.missing(l); len(missing) > 0 {
				c.Text, c.Note = fmt.Sprintf("%d of %d", len(g.tasks)-len(missing), len(g.tasks)),
					"tasks; without "+strings.Join(missing, ", ")
			}
			return c
		}
		cells := []pageCell{{Text: l.engine, Value: l.engine, Word: true, Key: key}, mean(l.mean)}
		for i, v := range l.ratios {
			c := pageCell{Text: tabular.Significant(v), Value: sortValue(v), Heat: heat(v)}
			if math.IsNaN(v) {
				c.Text, c.Heat = "", ""
			}
			if l.bad[i] {
				c.Text, c.Bad = "wrong", true
			}
			cells = append(cells, c)
		}
		cells = append(cells, mean(l.once), pageCell{Text: strconv.Itoa(l.fastest), Value: strconv.Itoa(l.fastest)})
		t.Rows = append(t.Rows, pageRow{key.Class, cells})
	}
	return t
}
