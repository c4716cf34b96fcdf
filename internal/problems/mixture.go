package problems

import (
	_ "embed"
	"encoding/json"
	"math"

	"github.com/nabla-ad/nabla"
)

// A Mixture is the data of a Gaussian mixture of K components in D dimensions, and the parameters of the Wishart prior
// on their precisions.
type Mixture struct {
	D, K   int
	Points []float64 // point after point
	Gamma  float64
	M      int
}

// The parameters of the posterior are, one after the other: K log weights alpha; K means of D; and for each component
// the triangle Q of its precision QᵀQ, D logarithms of the diagonal followed by the strict lower triangle column by
// column.

// params returns the number of parameters of the posterior.
func (c *Mixture) params() int { return c.K * (1 + c.D + c.D*(c.D+1)/2) }

// constant returns the part of the posterior that does not depend on the parameters.
func (c *Mixture) constant() float64 {
	d, n := float64(c.D), len(c.Points)/c.D
	dof := c.D + c.M + 1
	lgamma := d * (d - 1) / 4 * math.Log(math.Pi)
	for j := 1; j <= c.D; j++ {
		l, _ := math.Lgamma(float64(dof+1-j) / 2)
		lgamma += l
	}
	norm := float64(dof)*d*(math.Log(c.Gamma)-0.5*math.Ln2) - lgamma
	return -float64(n)*d*0.5*math.Log(2*math.Pi) - float64(c.K)*norm
}

// LogPosteriorPlain returns the logarithm of the mixture's density at the points times the prior.
//
//nabla:differentiate
func LogPosteriorPlain(x []float64, c *Mixture) float64 {
	d, k, n := c.D, c.K, len(c.Points)/c.D
	tri := d * (d + 1) / 2
	alphas, means, icf := x[:k], x[k:k+k*d], x[k+k*d:]

	diag := make([]float64, k*d) // exp of the log diagonals
	sums := make([]float64, k)   // sums of the log diagonals
	for j := range k {
		for i := range d {
			q := icf[j*tri+i]
			diag[j*d+i] = math.Exp(q)
			sums[j] += q
		}
	}
	terms := make([]float64, k)
	xc := make([]float64, d)
	qx := make([]float64, d)
	total := 0.0
	for p := range n {
		for j := range k {
			for i := range d {
				xc[i] = c.Points[p*d+i] - means[j*d+i]
				qx[i] = diag[j*d+i] * xc[i]
			}
			l := j*tri + d
			for col := range d {
				for row := col + 1; row < d; row++ {
					qx[row] += icf[l] * xc[col]
					l++
				}
			}
			sq := 0.0
			for i := range d {
				sq += qx[i] * qx[i]
			}
			terms[j] = alphas[j] + sums[j] - 0.5*sq
		}
		total += logSumExp(terms)
	}
	prior := 0.0
	for j := range k {
		sq := 0.0
		for i := range d {
			sq += diag[j*d+i] * diag[j*d+i]
		}
		for i := d; i < tri; i++ {
			l := icf[j*tri+i]
			sq += l * l
		}
		prior += 0.5*c.Gamma*c.Gamma*sq - float64(c.M)*sums[j]
	}
	return total - float64(n)*logSumExp(alphas) + prior + c.constant()
}

// logSumExp returns log Σ exp(x) without overflow.
func logSumExp(x []float64) float64 {
	shift := x[0]
	for _, v := range x[1:] {
		shift = math.Max(shift, v)
	}
	s := 0.0
	for _, v := range x {
		s += math.Exp(v - shift)
	}
	return math.Log(s) + shift
}

// A MixtureVec is a [Mixture] for functions over Reals, with workspace.
type MixtureVec struct {
	D, K   int
	Points nabla.Vec
	Gamma  float64
	M      int

	// constant is not computed from parameters.
	constant                  float64
	diag, sums, terms, xc, qx nabla.Scratch
}

// Vec returns c for functions over Reals.
func (c *Mixture) Vec() *MixtureVec {
	return &MixtureVec{
		D: c.D, K: c.K, Points: nabla.VecOf(c.Points), Gamma: c.Gamma, M: c.M,
		constant: c.constant(),
		diag:     nabla.NewScratch(c.K * c.D),
		sums:     nabla.NewScratch(c.K),
		terms:    nabla.NewScratch(c.K),
		xc:       nabla.NewScratch(c.D),
		qx:       nabla.NewScratch(c.D),
	}
}

// LogPosterior is [LogPosteriorPlain] over Reals.
func LogPosterior(x []nabla.Real, c *MixtureVec) nabla.Real {
	d, k, n := c.D, c.K, c.Points.Len()/c.D
	tri := d * (d + 1) / 2
	alphas, means, icf := x[:k], x[k:k+k*d], x[k+k*d:]

	diag, sums, terms := c.diag.Reals(), c.sums.Reals(), c.terms.Reals()
	xc, qx := c.xc.Reals(), c.qx.Reals()
	for j := range k {
		sums[j] = nabla.Const(0)
		for i := range d {
			q := icf[j*tri+i]
			diag[j*d+i] = nabla.Exp(q)
			sums[j] = sums[j].Add(q)
		}
	}
	var total nabla.Real
	for p := range n {
		for j := range k {
			for i := range d {
				xc[i] = c.Points.At(p*d + i).Sub(means[j*d+i])
				qx[i] = diag[j*d+i].Mul(xc[i])
			}
			l := j*tri + d
			for col := range d {
				for row := col + 1; row < d; row++ {
					qx[row] = qx[row].Add(icf[l].Mul(xc[col]))
					l++
				}
			}
			var sq nabla.Real
			for i := range d {
				sq = sq.Add(qx[i].Sq())
			}
			terms[j] = alphas[j].Add(sums[j]).Sub(sq.Scale(0.5))
		}
		total = total.Add(nabla.LogSumExp(terms...))
	}
	var prior nabla.Real
	for j := range k {
		var sq nabla.Real
		for i := range d {
			sq = sq.Add(diag[j*d+i].Sq())
		}
		for i := d; i < tri; i++ {
			sq = sq.Add(icf[j*tri+i].Sq())
		}
		prior = prior.Add(sq.Scale(0.5 * c.Gamma * c.Gamma).Sub(sums[j].Scale(float64(c.M))))
	}
	weights := nabla.LogSumExp(alphas...).Scale(float64(n))
	return total.Sub(weights).Add(prior).AddConst(c.constant)
}

// logPosteriorGradient returns the gradient, written by hand. With r the share of component j in a point and z =
// Q(x-mu), the point adds r to alpha[j], r·Qᵀz to mu[j], and r(1 - exp(q[i])·z[i]·(x-mu)[i]) and -r·z·(x-mu)ᵀ to Q's
// diagonal and triangle.
func logPosteriorGradient(x []float64, c *Mixture) []float64 {
	d, k, n := c.D, c.K, len(c.Points)/c.D
	tri := d * (d + 1) / 2
	g := make([]float64, len(x))
	galpha, gmean, gicf := g[:k], g[k:k+k*d], g[k+k*d:]
	alphas, means, icf := x[:k], x[k:k+k*d], x[k+k*d:]

	// the triangles as full matrices
	at := func(i, j int) int { return i*d + j }
	q := make([][]float64, k)
	logdet := make([]float64, k)
	for j := range k {
		q[j] = make([]float64, d*d)
		l := j*tri + d
		for col := range d {
			q[j][at(col, col)] = math.Exp(icf[j*tri+col])
			logdet[j] += icf[j*tri+col]
			for row := col + 1; row < d; row++ {
				q[j][at(row, col)] = icf[l]
				l++
			}
		}
	}
	share := func(t []float64) []float64 { // softmax
		top, sum := math.Inf(-1), 0.0
		for _, v := range t {
			top = max(top, v)
		}
		s := make([]float64, len(t))
		for i, v := range t {
			s[i] = math.Exp(v - top)
			sum += s[i]
		}
		for i := range s {
			s[i] /= sum
		}
		return s
	}
	dev, z := make([]float64, k*d), make([]float64, k*d)
	terms := make([]float64, k)
	for p := range n {
		for j := range k {
			terms[j] = alphas[j] + logdet[j]
			for row := range d {
				dev[at(j, row)] = c.Points[at(p, row)] - means[at(j, row)]
				z[at(j, row)] = 0
				for col := range row + 1 {
					z[at(j, row)] += q[j][at(row, col)] * dev[at(j, col)]
				}
				terms[j] -= z[at(j, row)] * z[at(j, row)] / 2
			}
		}
		for j, r := range share(terms) {
			galpha[j] += r
			l := j*tri + d
			for col := range d {
				gicf[j*tri+col] += r * (1 - q[j][at(col, col)]*dev[at(j, col)]*z[at(j, col)])
				for row := col; row < d; row++ {
					gmean[at(j, col)] += r * q[j][at(row, col)] * z[at(j, row)]
					if row > col {
						gicf[l] -= r * z[at(j, row)] * dev[at(j, col)]
						l++
					}
				}
			}
		}
	}
	for j, r := range share(alphas) {
		galpha[j] -= float64(n) * r
		for i := range tri {
			v := icf[j*tri+i]
			if i < d {
				gicf[j*tri+i] += c.Gamma*c.Gamma*math.Exp(2*v) - float64(c.M)
			} else {
				gicf[j*tri+i] += c.Gamma * c.Gamma * v
			}
		}
	}
	return g
}

// T5 returns a mixture of 5 components in 10 dimensions at random parameters, with 100 random points.
func T5() *Problem {
	s := seed
	c := &Mixture{D: 10, K: 5, Gamma: 1}
	x := s.draw(c.params())
	c.Points = s.draw(100 * c.D)
	return mixture("T5", x, c, -1103.287595620955, "random parameters and points")
}

//go:embed data/gmm_d2_K5_n1000.json
var gmmFile []byte

// GMM returns ADBench's input gmm_d2_K5 with 1000 points.
func GMM() *Problem {
	var in struct {
		D, K      int
		Gamma     float64
		M         int
		Alphas    []float64
		Means     [][]float64
		ICF       [][]float64
		X         [][]float64
		Objective string
	}
	if err := json.Unmarshal(gmmFile, &in); err != nil {
		panic(err) // the file is part of the program
	}
	c := &Mixture{D: in.D, K: in.K, Gamma: in.Gamma, M: in.M}
	x := in.Alphas
	for _, row := range append(in.Means, in.ICF...) {
		x = append(x, row...)
	}
	for _, row := range in.X {
		c.Points = append(c.Points, row...)
	}
	return mixture("gmm", x, c, -5240.5905625495774, "input gmm/1k/gmm_d2_K5.txt")
}

func mixture(name string, x []float64, c *Mixture, value float64, source string) *Problem {
	v := c.Vec()
	return &Problem{
		Name: name, Title: "Gaussian mixture",
		Formula: "f(α, μ, Q) = Σᵢ log Σₖ exp(αₖ + log|Qₖ| − ½|Qₖ(xᵢ − μₖ)|²) − n log Σₖ exp αₖ + log prior(Q)",
		N:       len(x), M: 1,
		Source: "Šrajer, Kukelova & Fitzgibbon, Optim. Methods Softw. 33 (2018) 889 (ADBench), " + source +
			"; gradient by hand",
		Plain:     func(x []float64) float64 { return LogPosteriorPlain(x, c) },
		Traced:    func(x []nabla.Real) nabla.Real { return LogPosterior(x, v) },
		Func:      nabla.Bind(LogPosterior, v),
		Bound:     nabla.Bind(LogPosteriorPlain, c),
		ByHand:    func() *ByHand { return logPosteriorByHand(c) },
		Cases:     []Case{{X: x, Value: []float64{value}, Derivative: logPosteriorGradient(x, c)}},
		Tolerance: 1e-12, Difference: 1e-4,
	}
}
