// Package data has functions that use github.com/sajari/regression and github.com/dhconnelly/rtreego.
package data

import (
	"github.com/dhconnelly/rtreego"
	"github.com/sajari/regression"
)

// Predicted is a prediction of a linear regression through observations.
//
//corpus:at 1.1 1.9 3.2 3.8 5.3
func Predicted(y []float64) (float64, error) {
	r := new(regression.Regression)
	r.SetObserved("y")
	r.SetVar(0, "x")
	for i, v := range y {
		r.Train(regression.DataPoint(v, []float64{float64(i)}))
	}
	if err := r.Run(); err != nil {
		return 0, err
	}
	return r.Predict([]float64{6})
}

// Volume is the volume of a box.
//
//corpus:at 1.1 1.9 3.2
func Volume(x []float64) (float64, error) {
	rect, err := rtreego.NewRect(rtreego.Point{0, 0, 0}, x)
	if err != nil {
		return 0, err
	}
	return rect.Size(), nil
}

// A place is an entry of a tree.
type place struct {
	point rtreego.Point
	value float64
}

// Bounds returns a small box.
func (p *place) Bounds() rtreego.Rect { return p.point.ToRect(1e-6) }

// Nearest is the value of the place that is nearest.
//
//corpus:at 0.8 0.9 0.3 0.4
func Nearest(x []float64) float64 {
	tree := rtreego.NewTree(2, 2, 5)
	for i, v := range x {
		tree.Insert(&place{rtreego.Point{float64(i), float64(i % 2)}, v * v})
	}
	return tree.NearestNeighbor(rtreego.Point{1.9, 0.1}).(*place).value
}
