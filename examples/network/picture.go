package main

import (
	"image/color"
	"math"

	"github.com/nabla-ad/nabla/examples/internal/show"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// draw draws the points and the regions that the network takes the spirals to be in.
func draw(n *Network, learnt, between Batch, picture string) error {
	plt := show.New("Two spirals", "", "")
	plt.X.Min, plt.X.Max, plt.Y.Min, plt.Y.Max = -10.5, 10.5, -7, 7 // the scale is about the same in both directions
	plt.HideAxes()
	var cells []plotter.XYer
	const cell = 0.14
	for y := -7.0; y < 7; y += cell {
		for x, from := -10.5, math.NaN(); x <= 10.5; x += cell {
			inside := x+cell <= 10.5 && n.Score([]float64{x + cell/2, y + cell/2}) > 0
			if inside && math.IsNaN(from) {
				from = x
			} else if !inside && !math.IsNaN(from) {
				cells = append(cells, rectangle(from, x, y, y+cell))
				from = math.NaN()
			}
		}
	}
	region, err := plotter.NewPolygon(cells...)
	if err != nil {
		return err
	}
	region.Color, region.LineStyle.Width = color.RGBA{R: 205, G: 225, B: 240, A: 255}, 0
	plt.Add(region)
	for i, radius := range []vg.Length{2.5, 1.2} {
		d := []Batch{learnt, between}[i]
		var of [2]plotter.XYs
		for k, x := range d.X {
			of[k%2] = append(of[k%2], plotter.XY{X: x[0], Y: x[1]})
		}
		plt.Points("", of[0], show.Blue, radius)
		plt.Points("", of[1], show.Red, radius)
	}
	return plt.Save(picture)
}

func rectangle(x0, x1, y0, y1 float64) plotter.XYs {
	return plotter.XYs{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}}
}
