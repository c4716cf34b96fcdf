package bench

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/nabla-ad/nabla/internal/tabular"
)

// A Chart is the content of a plot. All its numeric axes are logarithmic. It has either Curves, of time against n, or
// Dots, in lines of a task each.
type Chart struct {
	Section, Note string // heading of a group of charts
	Title         string
	XLabel        string
	Engines       []string
	X, Y          Decades // Y is for Curves only

	Curves []Curve

	Lines  []string // names of tasks, with their size
	Tasks  []string // names of tasks, by line
	Titles []string // what they are, by line
	Dots   []Dot
	Never  bool // there are dots whose value is +Inf
	// Rule reports whether the value 1 is marked.
	Rule bool
	tick func(float64) string
}

// A Curve holds the times of an engine at the sizes of one task. That of the plain function has Engine = -1.
type Curve struct {
	Engine int // index in Chart.Engines
	N      []int
	NS     []float64
}

// A Dot is the value of one engine in a task.
type Dot struct {
	Line, Engine int
	Value        float64
	Text         string // the value with its unit
}

// A Decades is the range of a logarithmic axis, from one power of ten to another.
type Decades struct{ From, To int }

// decades returns the range of the positive values, and false if there are none.
func decades(values []float64) (d Decades, ok bool) {
	lo, hi := math.Inf(1), 0.0
	for _, v := range values {
		if v > 0 && !math.IsInf(v, 1) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	if hi == 0 {
		return Decades{0, 1}, false
	}
	// A value that is a power of ten up to rounding lies on the edge.
	d = Decades{int(math.Floor(math.Log10(lo) + 1e-9)), int(math.Ceil(math.Log10(hi) - 1e-9))}
	d.To = max(d.To, d.From+1)
	return d, true
}

// Ticks returns powers of ten in the range, with at most limit steps between them.
func (d Decades) Ticks(limit int) []float64 {
	step := max(1, (d.To-d.From+limit-1)/limit)
	var ticks []float64
	for e := d.From; e <= d.To; e += step {
		ticks = append(ticks, math.Pow10(e))
	}
	return ticks
}

// XTick formats a power of ten at the x axis.
func (c Chart) XTick(v float64) string { return c.tick(v) }

// YTick formats a power of ten at the y axis.
func (c Chart) YTick(v float64) string { return powerOfTime(v) }

// powerOfTime formats a power of ten of nanoseconds.
func powerOfTime(ns float64) string {
	e := int(math.Round(math.Log10(ns)))
	switch {
	case e < 0:
		return fmt.Sprintf("%v ns", ns)
	case e >= 9:
		return fmt.Sprintf("%v s", math.Pow10(e-9))
	}
	return fmt.Sprintf("%v %s", math.Pow10(e%3), []string{"ns", "µs", "ms"}[e/3])
}

// power formats a power of ten.
func power(v float64) string {
	e := int(math.Round(math.Log10(v)))
	if e < 5 {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	s := "10"
	for _, digit := range strconv.Itoa(e) {
		s += string([]rune("⁰¹²³⁴⁵⁶⁷⁸⁹")[digit-'0'])
	}
	return s
}

// Charts returns the charts of the rows: for every task with several sizes time against n, then ratios, preparation
// times and break-even calls.
func Charts(rows []Row) []Chart {
	charts := curveCharts(rows)
	add := func(c Chart, value func(Row) float64, text func(float64) string) {
		if dots(&c, rows, value, text) {
			charts = append(charts, c)
		}
	}
	times := func(v float64) string { return tabular.Significant(v) + "×" }
	ratio := Chart{
		Section: "Ratio to the plain function",
		Note:    "How many calls of the plain function one derivative costs.",
		Title:   "Prepared call", XLabel: "time / time of the plain function",
		Rule: true, tick: func(v float64) string { return power(v) + "×" },
	}
	add(ratio, func(r Row) float64 { return r.Ratio }, times)
	ratio.Title = "Unprepared call"
	add(ratio, func(r Row) float64 { return r.UnpreparedNS / r.PlainNS }, times)
	prepare := Chart{
		Section: "Preparation",
		Note: "Its cost, and the number of calls after which it has paid off, compared with the cheapest " +
			"unprepared call of any engine in the same task.",
		Title: "Preparation time", XLabel: "time of the preparation", tick: powerOfTime,
	}
	add(prepare, func(r Row) float64 { return r.PrepareNS }, tabular.Duration)
	prepare.Title, prepare.XLabel, prepare.tick = "Break-even", "calls until it has paid for itself", power
	add(prepare, func(r Row) float64 { return r.BreakEven }, func(v float64) string {
		if math.IsInf(v, 1) {
			return "never"
		}
		return plural(v, "call")
	})
	return charts
}

// curveCharts returns, for each task with several sizes, a chart of the times of prepared calls and, if they were
// measured, one of unprepared calls. Both have the same axes.
func curveCharts(rows []Row) []Chart {
	var charts []Chart
	engines, sizes := enginesOf(rows), taskSizesOf(rows)
	for i, first := range sizes {
		if slices.IndexFunc(sizes, func(t taskSize) bool { return t.task == first.task }) != i {
			continue
		}
		same := slices.DeleteFunc(slices.Clone(sizes), func(t taskSize) bool { return t.task != first.task })
		slices.SortStableFunc(same, func(a, b taskSize) int { return a.n - b.n })
		collect := func(k int, ns func(Row) float64) (c Curve) {
			c.Engine = k
			for _, t := range same {
				for _, r := range t.rows {
					if r.OK && (k < 0 || r.Engine == engines[k]) && ns(r) > 0 {
						c.N, c.NS = append(c.N, t.n), append(c.NS, ns(r))
						break
					}
				}
			}
			return c
		}
		plain := collect(-1, func(r Row) float64 { return r.PlainNS })
		if len(plain.N) < 2 {
			continue
		}
		prepared, unprepared := []Curve{plain}, []Curve{plain}
		for k := range engines {
			if c := collect(k, func(r Row) float64 { return r.DerivativeNS }); len(c.N) > 0 {
				prepared = append(prepared, c)
			}
			if c := collect(k, func(r Row) float64 { return r.UnpreparedNS }); len(c.N) > 0 {
				unprepared = append(unprepared, c)
			}
		}
		var ns, times []float64 // the axes of both charts are the same
		for _, c := range slices.Concat(prepared, unprepared) {
			times = append(times, c.NS...)
			for _, n := range c.N {
				ns = append(ns, float64(n))
			}
		}
		chart := Chart{
			Section: "Time against n: " + first.task + ", " + first.title,
			Note:    "Value and derivative in one call. The dashed line is the plain function.",
			Title:   "Prepared call", XLabel: "number of inputs n", Engines: engines, Curves: prepared,
			tick: tabular.Count,
		}
		if first.rows[0].Hessian {
			chart.Note = "A Hessian in one call. The dashed line is the plain function."
		}
		chart.X, _ = decades(ns)
		chart.Y, _ = decades(times)
		charts = append(charts, chart)
		if len(unprepared) > 1 {
			chart.Title, chart.Curves = "Unprepared call", unprepared
			charts = append(charts, chart)
		}
	}
	return charts
}

// dots fills in the contents of a chart of dots from rows, and reports whether there are any.
func dots(c *Chart, rows []Row, value func(Row) float64, text func(float64) string) bool {
	c.Engines = enginesOf(rows)
	var values []float64
	for i, t := range taskSizesOf(rows) {
		c.Lines, c.Tasks = append(c.Lines, t.name()), append(c.Tasks, t.task)
		c.Titles = append(c.Titles, t.title+": "+t.formula)
		for _, r := range t.rows {
			if v := value(r); r.OK && v > 0 {
				c.Dots = append(c.Dots, Dot{i, slices.Index(c.Engines, r.Engine), v, text(v)})
				values = append(values, v)
				c.Never = c.Never || math.IsInf(v, 1)
			}
		}
	}
	if c.Rule {
		values = append(values, 1)
	}
	c.X, _ = decades(values)
	return len(c.Dots) > 0
}

// enginesOf returns the names of the engines in the order of the rows.
func enginesOf(rows []Row) []string {
	var names []string
	for _, r := range rows {
		if !slices.Contains(names, r.Engine) {
			names = append(names, r.Engine)
		}
	}
	return names
}

// A taskSize is a task at a size, with the rows of its engines.
type taskSize struct {
	task, title, formula string
	n                    int
	rows                 []Row
}

// name returns the name of the task with its size.
func (t taskSize) name() string { return fmt.Sprintf("%s n=%d", t.task, t.n) }

// taskSizesOf groups rows by task and size, in their order.
func taskSizesOf(rows []Row) []taskSize {
	var all []taskSize
	for _, r := range rows {
		i := slices.IndexFunc(all, func(t taskSize) bool { return t.task == r.Task && t.n == r.N })
		if i < 0 {
			i = len(all)
			all = append(all, taskSize{task: r.Task, title: r.Title, formula: r.Formula, n: r.N})
		}
		all[i].rows = append(all[i].rows, r)
	}
	return all
}

// plural formats a count with its noun.
func plural(v float64, what string) string {
	if v == 1 {
		return "1 " + what
	}
	return tabular.Count(v) + " " + what + "s"
}
