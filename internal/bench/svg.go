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

// chartWidth is the width of every chart in units of its view box.
const chartWidth = 480

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
type canvas struct{ strings.Builder }

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
func svg(c Chart) template.HTML {
	s := new(canvas)
	height := s.chart(c)
	return template.HTML(fmt.Sprintf(`<svg viewBox="0 0 %d %.0f" role="img" aria-label="%s">`+"\n%s</svg>",
		chartWidth, height, html.EscapeString(c.Section+": "+c.Title), s.String()))
}

// chart draws a chart and returns its height.
func (s *canvas) chart(c Chart) (height float64) {
	if c.Curves != nil {
		return s.curves(c)
	}
	return s.dots(c)
}

// curves draws times against n, with logarithmic axes.
func (s *canvas) curves(c Chart) float64 {
	const left, right, top, bottom, height = 68.0, 26.0, 10.0, 50.0, 330.0
	x, y := logAxis{c.X, left, chartWidth - right}, logAxis{c.Y, height - bottom, top}
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
	for _, curve := range c.Curves {
		class := "plain"
		if curve.Engine >= 0 {
			class = seriesClass(curve.Engine)
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
		s.printf("</g>\n")
	}
	return height
}

// dots draws a band for each line of the chart, with the engines one below the other.
func (s *canvas) dots(c Chart) float64 {
	const top, bottom, step, never = 8.0, 50.0, 7.0, chartWidth - 28
	left := 106.0
	for _, l := range c.Lines {
		left = max(left, 12+8.5*float64(utf8.RuneCountInString(l))) // narrow windows have a larger font
	}
	x := logAxis{c.X, left, chartWidth - 30}
	if c.Never {
		x.end = never - 48
	}
	band := step*float64(max(len(c.Engines), 2)) + 8
	base := top + band*float64(len(c.Lines))
	for i, l := range c.Lines {
		y := top + band*float64(i)
		if i%2 == 0 {
			s.printf(`<rect class="band" x="0" y="%.1f" width="%d" height="%.1f"/>`+"\n", y, chartWidth, band)
		}
		s.text(left-10, y+band/2+4, "end", l)
	}
	for _, t := range x.Ticks(5) {
		s.line("grid", x.position(t), top, x.position(t), base)
		s.text(x.position(t), base+19, "middle", c.XTick(t))
	}
	if c.Rule {
		s.line("rule", x.position(1), top, x.position(1), base)
	}
	if c.Never {
		s.line("grid", never, top, never, base)
		s.text(never, base+19, "middle", "never")
	}
	s.line("axis", left, base, x.end, base)
	s.text((left+x.end)/2, base+bottom-8, "middle", c.XLabel)
	inset := (band - step*float64(len(c.Engines)-1)) / 2
	for k, name := range c.Engines {
		s.printf(`<g class="%s">`+"\n", seriesClass(k))
		for _, d := range c.Dots {
			if d.Engine != k {
				continue
			}
			at := float64(never)
			if !math.IsInf(d.Value, 1) {
				at = x.position(d.Value)
			}
			s.marker(k, at, top+band*float64(d.Line)+inset+step*float64(k),
				fmt.Sprintf("%s, %s: %s", name, c.Lines[d.Line], d.Text))
		}
		s.printf("</g>\n")
	}
	return base + bottom
}
