package show

import (
	"image/color"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Colours of lines and points.
var (
	Blue  = color.RGBA{R: 31, G: 119, B: 180, A: 255}
	Red   = color.RGBA{R: 214, G: 39, B: 40, A: 255}
	Green = color.RGBA{R: 44, G: 160, B: 44, A: 255}
	Gray  = color.RGBA{R: 150, G: 150, B: 150, A: 255}
	Light = color.RGBA{R: 190, G: 215, B: 235, A: 255} // of areas
)

// A Picture is a plot to which lines and points are added. Its Save returns the first error.
type Picture struct {
	*plot.Plot
	err error
}

// New returns a picture with a title and labels of its axes.
func New(title, x, y string) *Picture {
	p := &Picture{Plot: plot.New()}
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Legend.Top = true
	return p
}

// Line adds a line, with a name in the legend unless it is empty.
func (p *Picture) Line(name string, at plotter.XYs, c color.Color, width vg.Length) {
	line, err := plotter.NewLine(at)
	if err != nil {
		p.fail(err)
		return
	}
	line.Color, line.Width = c, width
	p.Add(line)
	if name != "" {
		p.Legend.Add(name, line)
	}
}

// Points adds points, with a name in the legend unless it is empty.
func (p *Picture) Points(name string, at plotter.XYs, c color.Color, radius vg.Length) {
	points, err := plotter.NewScatter(at)
	if err != nil {
		p.fail(err)
		return
	}
	points.Color, points.Radius, points.Shape = c, radius, draw.CircleGlyph{}
	p.Add(points)
	if name != "" {
		p.Legend.Add(name, points)
	}
}

// Label adds names to the right of points.
func (p *Picture) Label(names []string, at plotter.XYs) {
	labels, err := plotter.NewLabels(plotter.XYLabels{XYs: at, Labels: names})
	if err != nil {
		p.fail(err)
		return
	}
	labels.Offset = vg.Point{X: 4, Y: -3}
	p.Add(labels)
}

// Curve adds f between two arguments, as Line does.
func (p *Picture) Curve(name string, f func(float64) float64, from, to float64, c color.Color, width vg.Length) {
	const steps = 200
	at := make(plotter.XYs, steps+1)
	for i := range at {
		x := from + (to-from)*float64(i)/steps
		at[i] = plotter.XY{X: x, Y: f(x)}
	}
	p.Line(name, at, c, width)
}

// Band adds the area between two lines.
func (p *Picture) Band(below, above plotter.XYs) {
	around := slices.Clone(above)
	slices.Reverse(around)
	area, err := plotter.NewPolygon(append(slices.Clone(below), around...))
	if err != nil {
		p.fail(err)
		return
	}
	area.Color, area.LineStyle.Width = Light, 0
	p.Add(area)
}

// Errors adds vertical bars of the given half-lengths around points.
func (p *Picture) Errors(at plotter.XYs, half []float64, c color.Color, cap vg.Length) {
	data := struct {
		plotter.XYs
		plotter.YErrors
	}{at, make(plotter.YErrors, len(half))}
	for i, h := range half {
		data.YErrors[i].Low, data.YErrors[i].High = h, h
	}
	bars, err := plotter.NewYErrorBars(data)
	if err != nil {
		p.fail(err)
		return
	}
	bars.Color, bars.CapWidth = c, cap
	p.Add(bars)
}

func (p *Picture) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

// Save draws the picture to a file of 6 by 4 inches.
func (p *Picture) Save(file string) error { return SaveGrid(file, 1, p) }

// SaveGrid draws pictures in the given number of columns to a file of 6 by 4 inches.
func SaveGrid(file string, columns int, pictures ...*Picture) error {
	plots := make([][]*plot.Plot, (len(pictures)+columns-1)/columns)
	for i, p := range pictures {
		if p.err != nil {
			return p.err
		}
		plots[i/columns] = append(plots[i/columns], p.Plot)
	}
	c, err := draw.NewFormattedCanvas(6*vg.Inch, 4*vg.Inch, strings.TrimPrefix(filepath.Ext(file), "."))
	if err != nil {
		return err
	}
	tiles := draw.Tiles{Rows: len(plots), Cols: columns, PadX: vg.Millimeter * 4, PadY: vg.Millimeter * 3,
		PadTop: vg.Millimeter, PadRight: vg.Millimeter * 3, PadBottom: vg.Millimeter, PadLeft: vg.Millimeter}
	canvases := plot.Align(plots, tiles, draw.New(c))
	for i, row := range plots {
		for j, p := range row {
			p.Draw(canvases[i][j])
		}
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	if _, err := c.WriteTo(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
