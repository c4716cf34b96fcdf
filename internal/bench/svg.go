package bench

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/nabla-ad/nabla/internal/tabular"
)

// The charts are SVG with classes. A style sheet assigns the colours: that of the page, which has a light and a dark
// set, or that of a picture. Series k has the classes "k" and "s"+k.

// The widths of charts in units of their view box. Curves in one of labelledWidth have their names at the right.
const (
	chartWidth    = 480
	labelledWidth = 720
)

// A logAxis maps values to positions.
type logAxis struct {
	Decades
	at, end float64 // positions of its ends
}

// position returns the position of a value.
func (a logAxis) position(v float64) float64 {
	part := (math.Log10(v) - float64(a.From)) / float64(a.To-a.From)
	return a.at + part*(a.end-a.at)
}

// A canvas is SVG text being written.
type canvas struct {
	strings.Builder
	// page is set if the SVG is part of the page, where names of tasks are links.
	page bool
}

func (s *canvas) printf(format string, args ...any) { fmt.Fprintf(s, format, args...) }

// text draws a label. anchor is start, middle or end.
func (s *canvas) text(x, y float64, anchor, label string) {
	s.printf(`<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`+"\n", x, y, anchor, html.EscapeString(label))
}

func (s *canvas) line(class string, x1, y1, x2, y2 float64) {
	s.printf(`<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`+"\n", class, x1, y1, x2, y2)
}

// markers are the shapes that distinguish series without colours.
var markers = [...]string{
	`<circle r="4"/>`,
	`<rect x="-3.6" y="-3.6" width="7.2" height="7.2"/>`,
	`<path d="M0-5 4.6 3.6H-4.6Z"/>`,
	`<path d="M0-5.2 5.2 0 0 5.2-5.2 0Z"/>`,
	`<path d="M0 5-4.6-3.6H4.6Z"/>`,
	`<circle class="open" r="3.6"/>`,
	`<rect class="open" x="-3.4" y="-3.4" width="6.8" height="6.8"/>`,
	`<path class="open" d="M0-5.2 5.2 0 0 5.2-5.2 0Z"/>`,
	`<path class="open" d="M0-4.8 4.4 3.4H-4.4Z"/>`,
}

// palette is the number of colours. It is coprime to the number of markers, so that combinations distinguish many
// series.
const palette = 8

// marker returns the shape of series k.
func marker(k int) string { return markers[k%len(markers)] }

// marker draws the mark of series k, with a tooltip.
func (s *canvas) marker(k int, x, y float64, tip string) {
	s.printf(`<g class="m" transform="translate(%.1f %.1f)"><title>%s</title>%s</g>`+"\n",
		x, y, html.EscapeString(tip), marker(k))
}

// seriesClass returns the classes of series k: its identity and its colour.
func seriesClass(k int) string { return fmt.Sprintf("k%d s%d", k, k%palette) }

// svg returns a chart for the page.
func svg(c Chart, width float64) template.HTML {
	s := &canvas{page: true}
	height := s.chart(c, width)
	return template.HTML(fmt.Sprintf(`<svg viewBox="0 0 %.0f %.0f" role="img" aria-label="%s">`+"\n%s</svg>",
		width, height, html.EscapeString(c.Section+": "+c.Title), s.String()))
}

// chart draws a chart and returns its height.
func (s *canvas) chart(c Chart, width float64) (height float64) {
	if c.Curves != nil {
		return s.curves(c, width)
	}
	return s.dots(c, width)
}

// curves draws times against n, with logarithmic axes.
func (s *canvas) curves(c Chart, width float64) float64 {
	const left, top, bottom = 68.0, 10.0, 50.0
	right, height, labelled := 26.0, 330.0, width >= labelledWidth
	if labelled {
		right = 290 // the longest names have 45 letters
		height = max(height, top+bottom+labelGap*float64(len(c.Curves)))
	}
	x, y := logAxis{c.X, left, width - right}, logAxis{c.Y, height - bottom, top}
	for _, t := range y.Ticks(8) {
		s.line("grid", x.at, y.position(t), x.end, y.position(t))
		s.text(x.at-8, y.position(t)+4, "end", c.YTick(t))
	}
	for _, t := range x.Ticks(6) {
		s.line("grid", x.position(t), y.at, x.position(t), y.end)
		s.text(x.position(t), y.at+19, "middle", c.XTick(t))
	}
	s.line("axis", x.at, y.at, x.end, y.at)
	s.line("axis", x.at, y.at, x.at, y.end)
	s.text((x.at+x.end)/2, height-8, "middle", c.XLabel)
	var labels []float64
	if labelled {
		labels = labelHeights(c, y, top, height-bottom)
	}
	for i, curve := range c.Curves {
		class, name := "plain", "plain function"
		if curve.Engine >= 0 {
			class, name = seriesClass(curve.Engine), c.Engines[curve.Engine]
		}
		s.printf(`<g class="%s">`+"\n"+`<polyline points="`, class)
		for i, n := range curve.N {
			s.printf("%.1f,%.1f ", x.position(float64(n)), y.position(curve.NS[i]))
		}
		s.printf(`"/>` + "\n")
		for i, n := range curve.N {
			if k := curve.Engine; k >= 0 {
				tip := fmt.Sprintf("%s, n = %d: %s", c.Engines[k], n, tabular.Duration(curve.NS[i]))
				s.marker(k, x.position(float64(n)), y.position(curve.NS[i]), tip)
			}
		}
		if labelled {
			last := len(curve.N) - 1
			endX, endY := x.position(float64(curve.N[last])), y.position(curve.NS[last])
			s.printf(`<path class="leader" d="M%.1f %.1fL%.1f %.1fH%.1f"/>`+"\n", endX+6, endY, x.end+14, labels[i],
				x.end+20)
			s.text(x.end+24, labels[i]+4, "start", name)
		}
		s.printf("</g>\n")
	}
	return height
}

// labelGap is the distance of the labels of curves.
const labelGap = 13.0

// labelHeights returns the heights of the names of the curves, near their last points.
func labelHeights(c Chart, y logAxis, from, to float64) []float64 {
	var at []float64
	for _, curve := range c.Curves {
		at = append(at, y.position(curve.NS[len(curve.NS)-1]))
	}
	return spread(at, labelGap, from, to)
}

// The rows of dots: marks of one row are in several lanes, so that they do not cover each other.
const (
	dotLanes = 3
	dotGap   = 9.0
	dotRow   = 32.0
)

// dots draws a row for each line of the chart.
func (s *canvas) dots(c Chart, width float64) float64 {
	const top, bottom, neverWidth = 8.0, 50.0, 64.0
	left := 106.0
	for _, l := range c.Lines {
		left = max(left, 12+8.5*float64(utf8.RuneCountInString(l))) // narrow windows have a larger font
	}
	x := logAxis{c.X, left, width - 30}
	never := width - neverWidth // left edge of the column of +Inf
	if c.Never {
		x.end = never - 24
	}
	base := top + dotRow*float64(len(c.Lines))
	for i, l := range c.Lines {
		y := top + dotRow*float64(i)
		if i%2 == 0 {
			s.printf(`<rect class="band" x="0" y="%.1f" width="%.0f" height="%.1f"/>`+"\n", y, width, dotRow)
		}
		s.task(left-10, y+dotRow/2+4, l, c.Tasks[i], c.Titles[i])
	}
	for _, t := range x.Ticks(5) {
		s.line("grid", x.position(t), top, x.position(t), base)
		s.text(x.position(t), base+19, "middle", c.XTick(t))
	}
	if c.Rule {
		s.line("rule", x.position(1), top, x.position(1), base)
	}
	if c.Never {
		s.printf(`<rect class="never" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`+"\n", never, top, neverWidth,
			base-top)
		s.text(never+neverWidth/2, base+19, "middle", "never")
	}
	s.line("axis", left, base, x.end, base)
	s.text((left+x.end)/2, base+bottom-8, "middle", c.XLabel)
	places := make([][2]float64, len(c.Dots))
	for i := range c.Lines {
		c.place(places, i, x, top+dotRow*(float64(i)+0.5), never+10, neverWidth-20)
	}
	for k, name := range c.Engines {
		s.printf(`<g class="%s">`+"\n", seriesClass(k))
		for i, d := range c.Dots {
			if d.Engine == k {
				s.marker(k, places[i][0], places[i][1], fmt.Sprintf("%s, %s: %s", name, c.Lines[d.Line], d.Text))
			}
		}
		s.printf("</g>\n")
	}
	return base + bottom
}

// place sets the places of the dots of a line, whose middle is at y. Dots at +Inf fill the columns of an area of the
// given width from left on.
func (c Chart) place(places [][2]float64, line int, x logAxis, y, left, width float64) {
	var finite, infinite []int
	var at []float64
	for i, d := range c.Dots {
		switch {
		case d.Line != line:
		case math.IsInf(d.Value, 1):
			infinite = append(infinite, i)
		default:
			finite, at = append(finite, i), append(at, x.position(d.Value))
		}
	}
	for k, lane := range lanes(at, dotLanes, dotGap) {
		places[finite[k]] = [2]float64{at[k], y + dotGap*float64(lane-dotLanes/2)}
	}
	columns := (len(infinite) + dotLanes - 1) / dotLanes
	for k, i := range infinite {
		step := dotGap
		if columns > 1 {
			step = min(dotGap, width/float64(columns-1))
		}
		places[i] = [2]float64{left + width/2 + step*(float64(k/dotLanes)-float64(columns-1)/2),
			y + dotGap*float64(k%dotLanes-dotLanes/2)}
	}
}

// task draws the name of a line, which the title explains. In the page it is a link to the formula.
func (s *canvas) task(x, y float64, label, task, title string) {
	if s.page {
		s.printf(`<a href="#task-%s">`, html.EscapeString(task))
		defer s.printf("</a>\n")
	}
	s.printf(`<text x="%.1f" y="%.1f" text-anchor="end"><title>%s</title>%s</text>`, x, y, html.EscapeString(title),
		html.EscapeString(label))
}
