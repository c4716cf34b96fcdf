// Package learning has programs that learn: networks, trees and clusters.
package learning

import (
	"math"
	"math/rand"
	"sort"

	"gonum.org/v1/gonum/mat"
)

// A Layer is a part of a network.
type Layer interface {
	Forward(x []float64) []float64
}

// Dense is a layer with weights.
type Dense struct {
	W [][]float64
	B []float64
}

// Forward implements Layer.
func (d *Dense) Forward(x []float64) []float64 {
	y := make([]float64, len(d.B))
	for i, row := range d.W {
		y[i] = d.B[i]
		for j, w := range row {
			y[i] += w * x[j]
		}
	}
	return y
}

// Activation applies a function.
type Activation struct{ F func(float64) float64 }

// Forward implements Layer.
func (a Activation) Forward(x []float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = a.F(v)
	}
	return y
}

// Network is a list of layers.
type Network []Layer

// Forward goes through the layers.
func (n Network) Forward(x []float64) []float64 {
	for _, l := range n {
		x = l.Forward(x)
	}
	return x
}

// Network loss with respect to the weights.
//
//corpus:at 0.3 -0.2 0.5 0.8 0.1 -0.4 0.7 0.2 0.9
func NetworkLoss(p []float64) float64 {
	n := Network{
		&Dense{W: [][]float64{p[0:2], p[2:4]}, B: p[4:6]},
		Activation{math.Tanh},
		&Dense{W: [][]float64{p[6:8]}, B: p[8:9]},
	}
	data := []struct{ x, y []float64 }{{[]float64{0, 1}, []float64{1}}, {[]float64{1, 1}, []float64{0}}}
	loss := 0.0
	for _, d := range data {
		e := n.Forward(d.x)[0] - d.y[0]
		loss += e * e
	}
	return loss
}

// Plain is the same network with loops only.
//
//corpus:at 0.3 -0.2 0.5 0.8 0.1 -0.4 0.7 0.2 0.9
func Plain(p []float64) float64 {
	sigmoid := func(z float64) float64 { return 1 / (1 + math.Exp(-z)) }
	xs, ys := [][]float64{{0, 1}, {1, 1}, {1, 0}}, []float64{1, 0, 1}
	loss := 0.0
	for k, x := range xs {
		var hidden [2]float64
		for i := range hidden {
			hidden[i] = math.Max(0.01*(p[2*i]*x[0]+p[2*i+1]*x[1]+p[4+i]), p[2*i]*x[0]+p[2*i+1]*x[1]+p[4+i])
		}
		out := sigmoid(p[6]*hidden[0] + p[7]*hidden[1] + p[8])
		loss -= ys[k]*math.Log(out) + (1-ys[k])*math.Log(1-out)
	}
	return loss
}

// Softmax is the cross entropy of logits for a label.
//
//corpus:at 1.2 0.7 2.2 -0.3
func Softmax(z []float64) float64 {
	p := softmax(z)
	return -math.Log(p[1])
}

func softmax(z []float64) []float64 {
	top := math.Inf(-1)
	for _, v := range z {
		top = math.Max(top, v)
	}
	p := make([]float64, len(z))
	sum := 0.0
	for i, v := range z {
		p[i] = math.Exp(v - top)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// Attention is an output of attention between three tokens.
//
//corpus:at 0.3 -0.2 0.5 0.8 0.1 -0.4
func Attention(x []float64) float64 {
	tokens := [][]float64{x[0:2], x[2:4], x[4:6]}
	total := 0.0
	for _, q := range tokens {
		scores := make([]float64, len(tokens))
		for j, k := range tokens {
			scores[j] = (q[0]*k[0] + q[1]*k[1]) / math.Sqrt2
		}
		w := softmax(scores)
		var out [2]float64
		for j, v := range tokens {
			out[0] += w[j] * v[0]
			out[1] += w[j] * v[1]
		}
		total += out[0]*out[1] + out[0]
	}
	return total
}

// LSTM is the last state of a cell with weights in a struct.
//
//corpus:at 0.3 -0.2 0.5 0.8
func LSTM(wi, wf, wo, wc float64) float64 {
	type cell struct{ h, c float64 }
	s := cell{}
	sigmoid := func(z float64) float64 { return 1 / (1 + math.Exp(-z)) }
	for _, x := range []float64{1, -0.5, 0.3, 0.8} {
		in := sigmoid(wi*x + 0.1*s.h)
		forget := sigmoid(wf*x + 0.2*s.h)
		out := sigmoid(wo*x - 0.1*s.h)
		s.c = forget*s.c + in*math.Tanh(wc*x+0.3*s.h)
		s.h = out * math.Tanh(s.c)
	}
	return s.h
}

// Trained is the loss after some steps of descent, with respect to rate and momentum.
//
//corpus:at 0.05 0.8
func Trained(rate, momentum float64) float64 {
	w := []float64{2, -1}
	velocity := make([]float64, len(w))
	for step := 0; step < 15; step++ {
		grad := []float64{2*w[0] + w[1], w[0] + 4*w[1]}
		for i := range w {
			velocity[i] = momentum*velocity[i] - rate*grad[i]
			w[i] += velocity[i]
		}
	}
	return w[0]*w[0] + w[0]*w[1] + 2*w[1]*w[1]
}

// Clustered is the inertia after three steps of k-means.
//
//corpus:at 0.1 0.4 2.2 2.9 5.1 5.3
func Clustered(x []float64) float64 {
	centres := []float64{x[0], x[2], x[4]}
	assign := make([]int, len(x))
	for iter := 0; iter < 3; iter++ {
		for i, v := range x {
			best := 0
			for k, c := range centres {
				if math.Abs(v-c) < math.Abs(v-centres[best]) {
					best = k
				}
			}
			assign[i] = best
		}
		counts := make([]int, len(centres))
		sums := make([]float64, len(centres))
		for i, v := range x {
			counts[assign[i]]++
			sums[assign[i]] += v
		}
		for k := range centres {
			if counts[k] > 0 {
				centres[k] = sums[k] / float64(counts[k])
			}
		}
	}
	inertia := 0.0
	for i, v := range x {
		d := v - centres[assign[i]]
		inertia += d * d
	}
	return inertia
}

// A node of a decision tree.
type node struct {
	feature     int
	threshold   float64
	left, right *node
	value       float64
}

func (n *node) predict(x []float64) float64 {
	if n.left == nil {
		return n.value
	}
	gate := 1 / (1 + math.Exp(-10*(x[n.feature]-n.threshold)))
	return (1-gate)*n.left.predict(x) + gate*n.right.predict(x)
}

// SoftTree is a prediction of a soft decision tree.
//
//corpus:at 0.4 1.2
func SoftTree(x []float64) float64 {
	tree := &node{feature: 0, threshold: 0.5,
		left:  &node{value: 1},
		right: &node{feature: 1, threshold: 1, left: &node{value: 2}, right: &node{value: 4}}}
	return tree.predict(x)
}

// Neighbours is a mean of the nearest values, weighted by distance.
//
//corpus:at 0.9 1.3
func Neighbours(x, y float64) float64 {
	type example struct{ x, y, value, distance float64 }
	examples := []example{{0, 0, 1, 0}, {1, 1, 2, 0}, {2, 0.5, 4, 0}, {1, 2.5, 3, 0}}
	for i := range examples {
		e := &examples[i]
		e.distance = math.Hypot(x-e.x, y-e.y)
	}
	sort.SliceStable(examples, func(i, j int) bool { return examples[i].distance < examples[j].distance })
	sum, weight := 0.0, 0.0
	for _, e := range examples[:2] {
		sum += e.value / e.distance
		weight += 1 / e.distance
	}
	return sum / weight
}

// Bayes is a log probability of a class by naive Bayes.
//
//corpus:at 1.1 0.3
func Bayes(x []float64) float64 {
	type stats struct{ mean, std float64 }
	classes := map[string][]stats{"a": {{1, 0.5}, {0, 1}}, "b": {{2, 0.7}, {1, 0.5}}}
	score := func(list []stats) (s float64) {
		for i, c := range list {
			z := (x[i] - c.mean) / c.std
			s -= z*z/2 + math.Log(c.std)
		}
		return
	}
	a, b := score(classes["a"]), score(classes["b"])
	return a - math.Log(math.Exp(a)+math.Exp(b))
}

// Regularised is the loss of a regression with matrices of gonum.
//
//corpus:at 0.5 1.2 0.1
func Regularised(w []float64) float64 {
	x := mat.NewDense(4, 2, []float64{1, 0.5, 1, 1.5, 1, 2.2, 1, 3.1})
	y := mat.NewVecDense(4, []float64{1, 2, 2.5, 4})
	var r mat.VecDense
	r.MulVec(x, mat.NewVecDense(2, w[:2]))
	r.SubVec(&r, y)
	return mat.Dot(&r, &r) + math.Exp(w[2])*(w[0]*w[0]+w[1]*w[1])
}

// Dropout is a loss with weights that are dropped at random.
//
//corpus:at 0.3 -0.2 0.5 0.8
func Dropout(w []float64) float64 {
	rng := rand.New(rand.NewSource(3))
	loss := 0.0
	for range 5 {
		z := 0.0
		for i, v := range w {
			if rng.Float64() < 0.5 {
				z += 2 * v * float64(i+1)
			}
		}
		loss += math.Log1p(math.Exp(-z))
	}
	return loss
}

// Policy is the value of states after sweeps over a table of transitions.
//
//corpus:at 0.9 1.2
func Policy(discount, reward float64) float64 {
	type transition struct {
		next []int
		p    []float64
	}
	states := []transition{{[]int{1}, []float64{1}}, {[]int{0, 2}, []float64{0.3, 0.7}}, {[]int{2}, []float64{1}}}
	value := make([]float64, len(states))
	for sweep := 0; sweep < 10; sweep++ {
		for s, t := range states[:2] {
			v := 0.0
			for i, n := range t.next {
				r := 0.0
				if n == 2 {
					r = reward
				}
				v += t.p[i] * (r + discount*value[n])
			}
			value[s] = v
		}
	}
	return value[0]
}
