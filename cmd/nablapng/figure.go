package main

import (
	"errors"
	"image/color"
	"io"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/nabla-ad/nabla/internal/bench"
)

// The picture is a grid of two columns.
const (
	columns = 2
	width   = 6.2 * vg.Inch // of a chart
	height  = 4.2 * vg.Inch // of a chart of curves
	line    = 0.42 * vg.Inch
	margin  = 0.25 * vg.Inch
	keyRow  = 0.3 * vg.Inch
)

// colors and shapes tell engines apart; they are those of the page.
var (
	colors = []color.RGBA{
		{0x00, 0x68, 0xb4, 255}, {0xc2, 0x41, 0x0c, 255}, {0x00, 0x80, 0x5a, 255}, {0x9d, 0x3c, 0x9d, 255},
		{0x8a, 0x6a, 0x00, 255}, {0x3b, 0x4c, 0xc0, 255}, {0xb0, 0x00, 0x3a, 255}, {0x4d, 0x57, 0x63, 255},
	}
	shapes = []mark{
		{circle, false}, {square, false}, {up, false}, {diamond, false}, {down, false}, {circle, true}, {square, true},
		{diamond, true}, {up, true},
	}
	ink  = color.RGBA{0x1b, 0x1f, 0x27, 255}
	soft = color.RGBA{0xd5, 0xd9, 0xe0, 255}
)

// A mark is a polygon with these corners, in units of its radius, or a circle if it has none.
type mark struct {
	corners [][2]vg.Length
	open    bool
}

var (
	// The shapes of marks.
	circle  [][2]vg.Length
	square  = [][2]vg.Length{{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}}
	up      = [][2]vg.Length{{0, 1.25}, {1.15, -0.9}, {-1.15, -0.9}}
	down    = [][2]vg.Length{{0, -1.25}, {1.15, 0.9}, {-1.15, 0.9}}
	diamond = [][2]vg.Length{{0, 1.3}, {1.3, 0}, {0, -1.3}, {-1.3, 0}}
)

// DrawGlyph implements draw.GlyphDrawer.
func (m mark) DrawGlyph(c *draw.Canvas, style draw.GlyphStyle, at vg.Point) {
	var p vg.Path
	if m.corners == nil {
		p.Move(vg.Point{X: at.X + style.Radius, Y: at.Y})
		p.Arc(at, style.Radius, 0, 2*math.Pi)
	}
	for i, corner := range m.corners {
		to := vg.Point{X: at.X + corner[0]*style.Radius, Y: at.Y + corner[1]*style.Radius}
		if i == 0 {
			p.Move(to)
		} else {
			p.Line(to)
		}
	}
	p.Close()
	if !m.open {
		c.SetColor(style.Color)
		c.Fill(p)
		return
	}
	c.SetColor(color.White)
	c.Fill(p)
	c.SetLineStyle(draw.LineStyle{Color: style.Color, Width: 1.5})
	c.Stroke(p)
}

// write draws the charts of the rows. It fails if there is nothing to plot.
func write(w io.Writer, rows []bench.Row) error {
	charts := bench.Charts(rows)
	if len(charts) == 0 {
		return errors.New("there is nothing to plot: no derivative was measured")
	}
	p, err := newPicture(charts)
	if err != nil {
		return err
	}
	canvas := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(p.width, p.height), vgimg.UseDPI(120))}
	p.draw(draw.New(canvas))
	_, err = canvas.WriteTo(w)
	return err
}

// A picture holds the charts in rows of two, below the names of the engines.
type picture struct {
	width, height, head vg.Length
	engines             []string
	rows                [][]*plot.Plot
	heights             []vg.Length // of the rows
}

// newPicture lays out the charts in rows of two, with a new row for each section.
func newPicture(charts []bench.Chart) (*picture, error) {
	p := &picture{width: columns*width + (columns+1)*margin, engines: charts[0].Engines}
	p.head = margin + keyRow*vg.Length((len(p.engines)+columns)/columns)
	p.height = p.head + margin
	for section := range slices.Values(sections(charts)) {
		for pair := range slices.Chunk(section, columns) {
			row, h := []*plot.Plot{}, height
			for _, c := range pair {
				drawn, err := newPlot(c)
				if err != nil {
					return nil, err
				}
				row = append(row, drawn)
				if c.Curves == nil {
					h = 1.2*vg.Inch + line*vg.Length(len(c.Lines))
				}
			}
			p.rows, p.heights = append(p.rows, row), append(p.heights, h)
			p.height += h + margin
		}
	}
	return p, nil
}

// sections groups charts of one section.
func sections(charts []bench.Chart) [][]bench.Chart {
	var all [][]bench.Chart
	for i, c := range charts {
		if i == 0 || c.Section != charts[i-1].Section {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], c)
	}
	return all
}

// draw draws the names of the engines and then the charts, row by row.
func (p *picture) draw(c draw.Canvas) {
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	p.drawKey(c)
	top := c.Max.Y - p.head
	for i, row := range p.rows {
		for j, one := range row {
			left := c.Min.X + margin + vg.Length(j)*(width+margin)
			one.Draw(draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
				Min: vg.Point{X: left, Y: top - p.heights[i]}, Max: vg.Point{X: left + width, Y: top},
			}})
		}
		top -= p.heights[i] + margin
	}
}

// drawKey draws the names of the engines with their marks.
func (p *picture) drawKey(c draw.Canvas) {
	style := plot.New().Legend.TextStyle
	style.YAlign = draw.YCenter
	style.Color = ink
	style.Font.Variant = "Sans"
	for k := range len(p.engines) + 1 {
		at := vg.Point{
			X: c.Min.X + 2*margin + vg.Length(k%columns)*(width+margin),
			Y: c.Max.Y - margin - keyRow*vg.Length(k/columns),
		}
		name := vg.Point{X: at.X + 18, Y: at.Y}
		if k < len(p.engines) {
			c.DrawGlyph(glyph(k), at)
			c.FillText(style, name, p.engines[k])
			continue
		}
		c.StrokeLine2(dashed(), at.X-9, at.Y, at.X+9, at.Y)
		c.FillText(style, name, "plain function")
	}
}

// glyph returns the mark of series k.
func glyph(k int) draw.GlyphStyle {
	return draw.GlyphStyle{Color: colors[k%len(colors)], Radius: 3.6, Shape: shapes[k%len(shapes)]}
}

// dashed returns the line style of the plain function.
func dashed() draw.LineStyle {
	return draw.LineStyle{Color: ink, Width: 1.2, Dashes: []vg.Length{5, 3}}
}

// newPlot returns the plot of one chart.
func newPlot(c bench.Chart) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = c.Section + " – " + strings.ToLower(c.Title[:1]) + c.Title[1:]
	p.Title.Padding = 8
	for _, style := range []*text.Style{
		&p.Title.TextStyle, &p.X.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label,
	} {
		style.Font.Variant = "Sans"
	}
	p.X.Label.Text = c.XLabel
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = soft, soft
	logarithmic(&p.X, c.X, c.XTick, 6)
	if c.Curves != nil {
		p.Add(grid)
		logarithmic(&p.Y, c.Y, c.YTick, 9)
		return p, addCurves(p, c)
	}
	grid.Horizontal.Color = nil
	p.Add(grid)
	return p, addDots(p, c)
}

// logarithmic sets the range and the ticks of an axis.
func logarithmic(a *plot.Axis, d bench.Decades, label func(float64) string, limit int) {
	a.Scale = plot.LogScale{}
	a.Min, a.Max = math.Pow10(d.From), math.Pow10(d.To)
	var ticks plot.ConstantTicks
	for _, v := range d.Ticks(limit) {
		ticks = append(ticks, plot.Tick{Value: v, Label: label(v)})
	}
	a.Tick.Marker = ticks
}

// addCurves adds a line with marks for each engine, and a dashed one for the plain function.
func addCurves(p *plot.Plot, c bench.Chart) error {
	for _, curve := range c.Curves {
		var points plotter.XYs
		for i, n := range curve.N {
			points = append(points, plotter.XY{X: float64(n), Y: curve.NS[i]})
		}
		lines, marks, err := plotter.NewLinePoints(points)
		if err != nil {
			return err
		}
		if curve.Engine < 0 {
			lines.LineStyle = dashed()
			p.Add(lines)
			continue
		}
		marks.GlyphStyle = glyph(curve.Engine)
		lines.Color, lines.Width = marks.GlyphStyle.Color, 1.2
		p.Add(lines, marks)
	}
	return nil
}

// addDots draws a line for each task, the first at the top, with the engines one below the other.
func addDots(p *plot.Plot, c bench.Chart) error {
	n := len(c.Lines)
	p.Y.Min, p.Y.Max = -0.5, float64(n)-0.5
	var ticks plot.ConstantTicks
	for i, l := range c.Lines {
		ticks = append(ticks, plot.Tick{Value: float64(n - 1 - i), Label: l})
	}
	p.Y.Tick.Marker = ticks
	p.Y.Tick.Length = 0
	never := p.X.Max
	if c.Never { // a decade of its own at the right
		never *= 10
		p.X.Max = never
		p.X.Tick.Marker = append(p.X.Tick.Marker.(plot.ConstantTicks), plot.Tick{Value: never, Label: "never"})
	}
	for i := range n - 1 { // between the lines
		between, err := plotter.NewLine(plotter.XYs{{X: p.X.Min, Y: float64(i) + 0.5},
			{X: p.X.Max, Y: float64(i) + 0.5}})
		if err != nil {
			return err
		}
		between.Color = soft
		p.Add(between)
	}
	if c.Rule {
		one, err := plotter.NewLine(plotter.XYs{{X: 1, Y: p.Y.Min}, {X: 1, Y: p.Y.Max}})
		if err != nil {
			return err
		}
		one.LineStyle = dashed()
		p.Add(one)
	}
	for k := range c.Engines {
		var points plotter.XYs
		for _, d := range c.Dots {
			if d.Engine != k {
				continue
			}
			below := 0.8 * ((float64(k)+0.5)/float64(len(c.Engines)) - 0.5)
			points = append(points, plotter.XY{X: min(d.Value, never), Y: float64(n-1-d.Line) - below})
		}
		if len(points) == 0 {
			continue
		}
		marks, err := plotter.NewScatter(points)
		if err != nil {
			return err
		}
		marks.GlyphStyle = glyph(k)
		p.Add(marks)
	}
	return nil
}
