package bench

import (
	_ "embed"
	"encoding/xml"
	"errors"
	"html"
	"io"
	"slices"
)

//go:embed page/picture.css
var pictureCSS string

// A picture has two charts side by side, below the names of the engines. Sizes are in the units of the view box.
const (
	pictureColumns     = 2
	pictureMargin      = 24.0
	pictureColumnWidth = labelledWidth
	keyHeight          = 22.0 // of a row of engines
	headHeight         = 40.0 // of a heading
	titleHeight        = 20.0 // of the title of a chart
)

// writeSVG writes the charts as one self-contained picture.
func writeSVG(w io.Writer, rows []Row) error {
	charts := Charts(rows)
	if len(charts) == 0 {
		return errors.New("there is nothing to plot: no derivative was measured")
	}
	s := new(canvas)
	bottom := s.key(charts[0].Engines, pictureMargin)
	for _, section := range sections(charts) {
		s.printf(`<text class="head" x="%.1f" y="%.1f">%s</text>`+"\n", pictureMargin, bottom+headHeight-12,
			html.EscapeString(section[0].Section))
		bottom += headHeight
		for pair := range slices.Chunk(section, pictureColumns) {
			height := 0.0
			for i, c := range pair {
				left := columnAt(i)
				s.printf(`<text class="title" x="%.1f" y="%.1f">%s</text>`+"\n", left, bottom+12,
					html.EscapeString(c.Title))
				s.printf(`<g transform="translate(%.1f %.1f)">`+"\n", left, bottom+titleHeight)
				height = max(height, s.chart(c, pictureColumnWidth))
				s.printf("</g>\n")
			}
			bottom += titleHeight + height
		}
	}
	bottom += pictureMargin
	var all canvas
	all.printf(`%s<svg xmlns="http://www.w3.org/2000/svg" width="%[2]g" height="%.0[3]f" viewBox="0 0 %[2]g %.0[3]f">`+
		"\n<style>\n%s</style>\n",
		xml.Header, columnAt(pictureColumns), bottom, pictureCSS)
	all.printf(`<rect class="ground" width="100%%" height="100%%"/>` + "\n")
	all.WriteString(s.String() + "</svg>\n")
	_, err := io.WriteString(w, all.String())
	return err
}

// columnAt returns the left edge of column i.
func columnAt(i int) float64 { return pictureMargin + float64(i)*(pictureColumnWidth+pictureMargin) }

// key draws the names of the engines with their marks, from top on, and returns the lower edge.
func (s *canvas) key(engines []string, top float64) float64 {
	n := len(engines) + 1
	for k := range n {
		x, y := columnAt(k%pictureColumns)+14, top+keyHeight*(float64(k/pictureColumns)+0.5)
		if k == len(engines) {
			s.printf(`<g class="plain"><polyline points="%.1f,%.1f %.1f,%.1f"/></g>`+"\n", x-10, y, x+10, y)
			s.text(x+18, y+4, "start", "plain function")
			break
		}
		s.printf(`<g class="%s">`+"\n", seriesClass(k))
		s.marker(k, x, y, engines[k])
		s.printf("</g>\n")
		s.text(x+18, y+4, "start", engines[k])
	}
	return top + keyHeight*float64((n+pictureColumns-1)/pictureColumns)
}

// sections groups charts of one section.
func sections(charts []Chart) [][]Chart {
	var all [][]Chart
	for i, c := range charts {
		if i == 0 || c.Section != charts[i-1].Section {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], c)
	}
	return all
}
