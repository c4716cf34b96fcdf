// Network trains a neural network, whose weights are in a struct, to tell two spirals apart, by the method Adam with
// small batches of points.
//
// The spirals are those of Lang and Witbrock (1988), "Learning to tell two spirals apart", of 97 points each. As many
// points between these test what has been learnt.
package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/examples/internal/show"
)

//go:generate go tool nabla gen

// A Layer has a row of weights and a bias for each unit.
type Layer struct {
	W [][]float64
	B []float64
}

// A Network has layers of units with hyperbolic tangents, except for the last one.
type Network struct{ Layers []Layer }

// A Batch has points and their spirals, which are 1 or -1.
type Batch struct {
	X [][]float64
	Y []float64
}

// Score is the logarithm of the odds that x belongs to spiral 1.
func (n *Network) Score(x []float64) float64 {
	for k, layer := range n.Layers {
		next := make([]float64, len(layer.B))
		for i, v := range layer.B {
			for j, w := range layer.W[i] {
				v += w * x[j]
			}
			if k < len(n.Layers)-1 {
				v = math.Tanh(v)
			}
			next[i] = v
		}
		x = next
	}
	return x[0]
}

// Loss is the mean negative log-likelihood of the batch, with a little of the squares of the weights.
func Loss(n *Network, d *Batch) float64 {
	s := 0.0
	for i, x := range d.X {
		v := d.Y[i] * n.Score(x)
		s += math.Log1p(math.Exp(-math.Abs(v))) + max(0, -v)
	}
	squares := 0.0
	for _, layer := range n.Layers {
		for _, row := range layer.W {
			for _, w := range row {
				squares += w * w
			}
		}
	}
	return s/float64(len(d.X)) + 1e-4*squares
}

// spirals returns the points at count steps from the given one, each with its image on the other spiral.
func spirals(first float64, count int) Batch {
	var d Batch
	for i := range count {
		step := first + float64(i)
		s, c := math.Sincos(step * math.Pi / 16)
		r := 6.5 * (104 - step) / 104
		d.X = append(d.X, []float64{r * s, r * c}, []float64{-r * s, -r * c})
		d.Y = append(d.Y, 1, -1)
	}
	return d
}

// initial returns a network of random weights with layers of the given sizes.
func initial(r *rand.Rand, sizes ...int) *Network {
	n := &Network{}
	for k, units := range sizes[1:] {
		layer := Layer{B: make([]float64, units)}
		for i := range units {
			layer.W = append(layer.W, make([]float64, sizes[k]))
			layer.B[i] = r.NormFloat64()
			for j := range layer.W[i] {
				layer.W[i][j] = r.NormFloat64() / math.Sqrt(float64(sizes[k]))
			}
		}
		n.Layers = append(n.Layers, layer)
	}
	return n
}

// train trains a network by a number of passes over the points, and returns it with its weights in a vector. It prints
// the average loss of some of the passes.
func train(w io.Writer, d Batch, passes int, b nabla.Backend) (*Network, []float64, error) {
	r := rand.New(rand.NewPCG(1, 2))
	network, batch := initial(r, 2, 20, 20, 20, 1), Batch{}
	f, layout, err := nabla.BindStructPlain(Loss, network, &d)
	if err != nil {
		return nil, nil, err
	}
	x := layout.Flatten(nil, network)
	prep, err := nabla.PrepareGradient(f, b, x)
	if err != nil {
		return nil, nil, err
	}
	if err := prep.Rebind(&batch); err != nil { // from now on the loss is that of batch
		return nil, nil, err
	}
	var adam Adam
	for pass := range passes {
		rate := 0.005 * (1 + math.Cos(math.Pi*float64(pass)/float64(passes)))
		order, total := r.Perm(len(d.X)), 0.0
		for k := range batches {
			batch = Batch{}
			for _, i := range order[k*len(order)/batches : (k+1)*len(order)/batches] {
				batch.X, batch.Y = append(batch.X, d.X[i]), append(batch.Y, d.Y[i])
			}
			loss, g, err := prep.ValueAndGradient(nil, x)
			if err != nil {
				return nil, nil, err
			}
			total += loss
			adam.Step(x, g, rate)
		}
		if pass%100 == 99 {
			fmt.Fprintf(w, "pass %4d: loss %.3f\n", pass+1, total/batches)
		}
	}
	layout.Unflatten(network, x)
	return network, x, nil
}

// Adam is the method of Kingma and Ba (2015), with the constants that they recommend.
type Adam struct {
	mean, square []float64 // moving averages of gradients and of their squares
	steps        int
}

// Step moves x against the gradient g.
func (a *Adam) Step(x, g []float64, rate float64) {
	if a.steps == 0 {
		a.mean, a.square = make([]float64, len(x)), make([]float64, len(x))
	}
	a.steps++
	unbias1, unbias2 := 1-math.Pow(0.9, float64(a.steps)), 1-math.Pow(0.999, float64(a.steps))
	for i, v := range g {
		a.mean[i] = 0.9*a.mean[i] + 0.1*v
		a.square[i] = 0.999*a.square[i] + 0.001*v*v
		x[i] -= rate * a.mean[i] / unbias1 / (math.Sqrt(a.square[i]/unbias2) + 1e-8)
	}
}

// wrong returns the number of points that the network does not recognise.
func wrong(n *Network, d Batch) (count int) {
	for i, x := range d.X {
		if d.Y[i]*n.Score(x) <= 0 {
			count++
		}
	}
	return count
}

const batches = 8 // in each pass

// Some passes only, which is enough to compare engines.
var example = show.Example{Run: run, Solve: func(b nabla.Backend) (show.Solution, error) {
	_, x, err := train(io.Discard, spirals(0, 97), 10, b)
	return show.Solution{X: x, Calls: 10 * batches}, err
}}

func main() { example.Main() }

func run(w io.Writer, picture string) error {
	d, between := spirals(0, 97), spirals(0.5, 96)
	n, x, err := train(w, d, 1000, nil)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%d weights; wrong are %d of %d points learnt and %d of %d between them\n", len(x),
		wrong(n, d), len(d.X), wrong(n, between), len(between.X))
	return draw(n, d, between, picture)
}
