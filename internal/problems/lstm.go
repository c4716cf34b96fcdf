package problems

import (
	"math"

	"github.com/nabla-ad/nabla"
)

// A Recurrent is the data of an LSTM network: its initial state and the text it reads, Bits numbers for each character.
type Recurrent struct {
	Layers, Bits int
	State        []float64 // of each layer, hidden and cell
	Text         []float64
}

// The parameters are, for each layer, the weights of the gates forget, in, out and change, Bits each, and their biases
// in the same order; then the weights of the input and of the output, and the biases of the output.

// RecurrentLossPlain returns the mean negative log-likelihood of each character given those before it, as defined by
// the ADBench suite: with 2 + Σ exp in the normalisation, which is not shifted.
//
//nabla:differentiate
func RecurrentLossPlain(p []float64, d *Recurrent) float64 {
	b := d.Bits
	extra := p[8*d.Layers*b:]
	state := append([]float64(nil), d.State...)
	x, y := make([]float64, b), make([]float64, b)
	total := 0.0
	chars := len(d.Text) / b
	for t := range chars - 1 {
		for i := range b {
			x[i] = d.Text[t*b+i] * extra[i]
		}
		for k := range d.Layers {
			w, bias := p[8*k*b:], p[(8*k+4)*b:]
			hidden, cell := state[2*k*b:], state[(2*k+1)*b:]
			for i := range b {
				forget := sigmoidPlain(x[i]*w[i] + bias[i])
				in := sigmoidPlain(hidden[i]*w[b+i] + bias[b+i])
				out := sigmoidPlain(x[i]*w[2*b+i] + bias[2*b+i])
				change := math.Tanh(hidden[i]*w[3*b+i] + bias[3*b+i])
				cell[i] = cell[i]*forget + in*change
				hidden[i] = out * math.Tanh(cell[i])
				x[i] = hidden[i]
			}
		}
		sum := 0.0
		for i := range b {
			y[i] = x[i]*extra[b+i] + extra[2*b+i]
			sum += math.Exp(y[i])
		}
		norm := math.Log(2 + sum)
		for i := range b {
			total += d.Text[(t+1)*b+i] * (y[i] - norm)
		}
	}
	return -total / float64((chars-1)*b)
}

func sigmoidPlain(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// A RecurrentVec is a [Recurrent] for functions over Reals, with workspace.
type RecurrentVec struct {
	Layers, Bits int
	State, Text  nabla.Vec

	state, x, y nabla.Scratch
}

// Vec returns d for functions over Reals.
func (d *Recurrent) Vec() *RecurrentVec {
	return &RecurrentVec{
		Layers: d.Layers, Bits: d.Bits, State: nabla.VecOf(d.State), Text: nabla.VecOf(d.Text),
		state: nabla.NewScratch(len(d.State)), x: nabla.NewScratch(d.Bits), y: nabla.NewScratch(d.Bits),
	}
}

// RecurrentLoss is [RecurrentLossPlain] over Reals.
func RecurrentLoss(p []nabla.Real, d *RecurrentVec) nabla.Real {
	b := d.Bits
	extra := p[8*d.Layers*b:]
	state, x, y := d.state.Reals(), d.x.Reals(), d.y.Reals()
	for i := range state {
		state[i] = d.State.At(i)
	}
	var total nabla.Real
	chars := d.Text.Len() / b
	for t := range chars - 1 {
		for i := range b {
			x[i] = d.Text.At(t*b + i).Mul(extra[i])
		}
		for k := range d.Layers {
			w, bias := p[8*k*b:], p[(8*k+4)*b:]
			hidden, cell := state[2*k*b:], state[(2*k+1)*b:]
			for i := range b {
				forget := sigmoid(x[i].Mul(w[i]).Add(bias[i]))
				in := sigmoid(hidden[i].Mul(w[b+i]).Add(bias[b+i]))
				out := sigmoid(x[i].Mul(w[2*b+i]).Add(bias[2*b+i]))
				change := nabla.Tanh(hidden[i].Mul(w[3*b+i]).Add(bias[3*b+i]))
				cell[i] = cell[i].Mul(forget).Add(in.Mul(change))
				hidden[i] = out.Mul(nabla.Tanh(cell[i]))
				x[i] = hidden[i]
			}
		}
		var sum nabla.Real
		for i := range b {
			y[i] = x[i].Mul(extra[b+i]).Add(extra[2*b+i])
			sum = sum.Add(nabla.Exp(y[i]))
		}
		norm := nabla.Log(nabla.Const(2).Add(sum))
		for i := range b {
			total = total.Add(d.Text.At((t+1)*b + i).Mul(y[i].Sub(norm)))
		}
	}
	return total.Neg().Div(nabla.Const(float64((chars - 1) * b)))
}

func sigmoid(x nabla.Real) nabla.Real {
	return nabla.Const(1).Div(nabla.Const(1).Add(nabla.Exp(x.Neg())))
}

// recurrentGradient returns the gradient, written by hand: the network is run forward, recording the gates, and then
// backward through time.
func recurrentGradient(p []float64, d *Recurrent) []float64 {
	type gates struct{ x, hidden, cell, forget, in, out, change, tanh float64 } // hidden and cell from before
	b, layers, chars := d.Bits, d.Layers, len(d.Text)/d.Bits
	extra := p[8*layers*b:]
	state := append([]float64(nil), d.State...)
	kept := make([]gates, (chars-1)*layers*b)
	last := make([]float64, (chars-1)*b) // the outputs of the last layer
	for t := range chars - 1 {
		for i := range b {
			x := d.Text[t*b+i] * extra[i]
			for k := range layers {
				at := func(j int) float64 { return p[(8*k+j)*b+i] }
				g := gates{x: x, hidden: state[2*k*b+i], cell: state[(2*k+1)*b+i]}
				g.forget = sigmoidPlain(x*at(0) + at(4))
				g.in = sigmoidPlain(g.hidden*at(1) + at(5))
				g.out = sigmoidPlain(x*at(2) + at(6))
				g.change = math.Tanh(g.hidden*at(3) + at(7))
				cell := g.cell*g.forget + g.in*g.change
				g.tanh = math.Tanh(cell)
				x = g.out * g.tanh
				state[2*k*b+i], state[(2*k+1)*b+i] = x, cell
				kept[(t*layers+k)*b+i] = g
			}
			last[t*b+i] = x
		}
	}
	grad := make([]float64, len(p))
	gextra := grad[8*layers*b:]
	bar := make([]float64, len(state)) // of the state after step t
	scale := -1 / float64((chars-1)*b)
	for t := chars - 2; t >= 0; t-- {
		sum, weight := 2.0, 0.0
		for i := range b {
			sum += math.Exp(last[t*b+i]*extra[b+i] + extra[2*b+i])
			weight += d.Text[(t+1)*b+i]
		}
		for i := range b {
			z := last[t*b+i]
			ybar := scale * (d.Text[(t+1)*b+i] - weight*math.Exp(z*extra[b+i]+extra[2*b+i])/sum)
			gextra[b+i] += ybar * z
			gextra[2*b+i] += ybar
			xbar := ybar * extra[b+i]
			for k := layers - 1; k >= 0; k-- {
				g := kept[(t*layers+k)*b+i]
				hbar, cbar := &bar[2*k*b+i], &bar[(2*k+1)*b+i]
				h := *hbar + xbar
				c := *cbar + h*g.out*(1-g.tanh*g.tanh)
				pre := [4]float64{ // derivatives with respect to the arguments of the gates
					c * g.cell * g.forget * (1 - g.forget),
					c * g.change * g.in * (1 - g.in),
					h * g.tanh * g.out * (1 - g.out),
					c * g.in * (1 - g.change*g.change),
				}
				w := func(j int) float64 { return p[(8*k+j)*b+i] }
				for j, from := range [4]float64{g.x, g.hidden, g.x, g.hidden} {
					grad[(8*k+j)*b+i] += pre[j] * from
					grad[(8*k+4+j)*b+i] += pre[j]
				}
				*cbar = c * g.forget
				*hbar = pre[1]*w(1) + pre[3]*w(3)
				xbar = pre[0]*w(0) + pre[2]*w(2)
			}
			gextra[i] += xbar * d.Text[t*b+i]
		}
	}
	return grad
}

// LSTM returns a random network of 2 layers that reads 10 random characters of 5 bits.
func LSTM() *Problem {
	const layers, bits, chars = 2, 5, 10
	s := seed
	p := s.draw((8*layers + 3) * bits)
	d := &Recurrent{Layers: layers, Bits: bits, State: s.draw(2 * layers * bits), Text: s.draw(chars * bits)}
	for i, v := range d.Text {
		d.Text[i] = 0
		if v > 0 {
			d.Text[i] = 1
		}
	}
	v := d.Vec()
	return &Problem{
		Name: "lstm", Title: "LSTM",
		Formula: "f = mean of −log p(characterₜ₊₁ | characters ≤ t) of a network with two LSTM layers",
		N:       len(p), M: 1,
		Source: "Šrajer, Kukelova & Fitzgibbon, Optim. Methods Softw. 33 (2018) 889 (ADBench), random parameters " +
			"and text; gradient by hand",
		Plain:     func(p []float64) float64 { return RecurrentLossPlain(p, d) },
		Traced:    func(p []nabla.Real) nabla.Real { return RecurrentLoss(p, v) },
		Func:      nabla.Bind(RecurrentLoss, v),
		Bound:     nabla.Bind(RecurrentLossPlain, d),
		Cases:     []Case{{X: p, Value: []float64{1.2904179687052218}, Derivative: recurrentGradient(p, d)}},
		Tolerance: 1e-12, Difference: 1e-5,
	}
}
