package main

import (
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/examples/internal/showtest"
)

func TestRun(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("rounding that differs in the first steps leads to another network")
	}
	showtest.Run(t, example)
}

// backpropagate returns the gradient of Loss as textbooks have it, layer by layer.
func backpropagate(n *Network, d *Batch) *Network {
	g := &Network{}
	for _, l := range n.Layers {
		layer := Layer{B: make([]float64, len(l.B))}
		for _, row := range l.W {
			layer.W = append(layer.W, make([]float64, len(row)))
			for j, w := range row {
				layer.W[len(layer.W)-1][j] = 2e-4 * w
			}
		}
		g.Layers = append(g.Layers, layer)
	}
	last := len(n.Layers) - 1
	for k, x := range d.X {
		outputs := [][]float64{x}
		for i, l := range n.Layers {
			var out []float64
			for u, v := range l.B {
				for j, w := range l.W[u] {
					v += w * outputs[i][j]
				}
				if i < last {
					v = math.Tanh(v)
				}
				out = append(out, v)
			}
			outputs = append(outputs, out)
		}
		errors := []float64{-d.Y[k] / (1 + math.Exp(d.Y[k]*outputs[last+1][0])) / float64(len(d.X))}
		for i := last; i >= 0; i-- {
			before := make([]float64, len(outputs[i]))
			for u, e := range errors {
				g.Layers[i].B[u] += e
				for j, v := range outputs[i] {
					g.Layers[i].W[u][j] += e * v
					before[j] += e * n.Layers[i].W[u][j] * (1 - v*v)
				}
			}
			errors = before
		}
	}
	return g
}

func TestGradient(t *testing.T) {
	d := spirals(0, 97)
	n := initial(rand.New(rand.NewPCG(3, 4)), 2, 7, 5, 1)
	f, layout, err := nabla.BindStructPlain(Loss, n, &d)
	if err != nil {
		t.Fatal(err)
	}
	g, err := nabla.Gradient(f, nil, layout.Flatten(nil, n))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range layout.Flatten(nil, backpropagate(n, &d)) {
		if math.Abs(g[i]-want) > 1e-14 {
			t.Errorf("derivative by %s is %v, want %v", layout.Name(i), g[i], want)
		}
	}
}

// TestLearnt asks for what training is for: all points learnt and nearly all of those between them.
func TestLearnt(t *testing.T) {
	d, between := spirals(0, 97), spirals(0.5, 96)
	n, _, err := train(io.Discard, d, 1000, nil)
	if err != nil {
		t.Fatal(err)
	}
	if w := wrong(n, d); w > 0 {
		t.Errorf("%d points are wrong", w)
	}
	if w := wrong(n, between); w > 15 {
		t.Errorf("%d of %d points between are wrong", w, len(between.X))
	}
}
