package problems

import (
	"math"

	"github.com/nabla-ad/nabla/sparsity"
)

// A ByHand is a value with its derivative, written by hand as fast as is reasonable in Go: the limit of an engine. It
// has a workspace and serves one goroutine.
type ByHand struct {
	// Pattern is that of a sparse derivative, nil for a dense one.
	Pattern *sparsity.Pattern
	// Call writes y = f(x), unless the derivative is a Hessian, and d, the derivative at x: row by row, or in the order
	// of Pattern.
	Call func(y, d, x []float64)
}

func sumSquaresByHand() *ByHand {
	return &ByHand{Call: func(y, grad, x []float64) {
		s := 0.0
		grad = grad[:len(x)]
		for i, v := range x {
			s += v * v
			grad[i] = 2 * v
		}
		y[0] = s
	}}
}

func rosenbrockByHand() *ByHand {
	return &ByHand{Call: func(y, grad, x []float64) {
		s, carry := 0.0, 0.0
		now := x[0]
		rest := x[1:]
		grad = grad[:len(x)]
		for i, next := range rest {
			a, b := next-now*now, 1-now
			s += 100*(a*a) + b*b
			grad[i] = carry - 400*now*a - 2*b
			carry = 200 * a
			now = next
		}
		grad[len(rest)] = carry
		y[0] = s
	}}
}

// diffSquaresHessianByHand is the tridiagonal Hessian, which is constant.
func diffSquaresHessianByHand(n int) *ByHand {
	return &ByHand{Pattern: sparsity.Banded(n, n, 1, 1), Call: func(_, d, _ []float64) {
		for k := 0; k+2 < len(d); k += 3 { // the diagonal, the entry below it, and the one above the next
			d[k], d[k+1], d[k+2] = 4, -2, -2
		}
		d[0], d[len(d)-1] = 2, 2
	}}
}

// lorenzByHand records the states, and computes the stages of each step again in the reverse sweep.
func lorenzByHand() *ByHand {
	const h = lorenzStep
	states := make([][3]float64, lorenzSteps)
	return &ByHand{Call: func(value, grad, p []float64) {
		x, y, z := p[0], p[1], p[2]
		s, r, b := p[3], p[4], p[5]
		for n := range states {
			states[n] = [3]float64{x, y, z}
			x1, y1, z1 := s*(y-x), x*(r-z)-y, x*y-b*z
			u, v, w := x+h/2*x1, y+h/2*y1, z+h/2*z1
			x2, y2, z2 := s*(v-u), u*(r-w)-v, u*v-b*w
			u, v, w = x+h/2*x2, y+h/2*y2, z+h/2*z2
			x3, y3, z3 := s*(v-u), u*(r-w)-v, u*v-b*w
			u, v, w = x+h*x3, y+h*y3, z+h*z3
			x4, y4, z4 := s*(v-u), u*(r-w)-v, u*v-b*w
			x += h / 6 * (x1 + 2*x2 + 2*x3 + x4)
			y += h / 6 * (y1 + 2*y2 + 2*y3 + y4)
			z += h / 6 * (z1 + 2*z2 + 2*z3 + z4)
		}
		value[0] = x*x + y*y + z*z
		gx, gy, gz := 2*x, 2*y, 2*z
		var gs, gr, gb float64
		for n := len(states) - 1; n >= 0; n-- {
			x, y, z := states[n][0], states[n][1], states[n][2]
			x1, y1, z1 := s*(y-x), x*(r-z)-y, x*y-b*z
			u2, v2, w2 := x+h/2*x1, y+h/2*y1, z+h/2*z1
			x2, y2, z2 := s*(v2-u2), u2*(r-w2)-v2, u2*v2-b*w2
			u3, v3, w3 := x+h/2*x2, y+h/2*y2, z+h/2*z2
			x3, y3, z3 := s*(v3-u3), u3*(r-w3)-v3, u3*v3-b*w3
			u4, v4, w4 := x+h*x3, y+h*y3, z+h*z3
			// The cotangents of the stages, from the last to the first, and of the points that they are evaluated at.
			kx, ky, kz := h/6*gx, h/6*gy, h/6*gz
			gs, gr, gb = gs+kx*(v4-u4), gr+ky*u4, gb-kz*w4
			ax, ay, az := ky*(r-w4)+kz*v4-s*kx, s*kx-ky+kz*u4, -ky*u4-b*kz
			kx, ky, kz = h/3*gx+h*ax, h/3*gy+h*ay, h/3*gz+h*az
			gs, gr, gb = gs+kx*(v3-u3), gr+ky*u3, gb-kz*w3
			bx, by, bz := ky*(r-w3)+kz*v3-s*kx, s*kx-ky+kz*u3, -ky*u3-b*kz
			kx, ky, kz = h/3*gx+h/2*bx, h/3*gy+h/2*by, h/3*gz+h/2*bz
			gs, gr, gb = gs+kx*(v2-u2), gr+ky*u2, gb-kz*w2
			cx, cy, cz := ky*(r-w2)+kz*v2-s*kx, s*kx-ky+kz*u2, -ky*u2-b*kz
			kx, ky, kz = h/6*gx+h/2*cx, h/6*gy+h/2*cy, h/6*gz+h/2*cz
			gs, gr, gb = gs+kx*(y-x), gr+ky*x, gb-kz*z
			gx += ax + bx + cx + ky*(r-z) + kz*y - s*kx
			gy += ay + by + cy + s*kx - ky + kz*x
			gz += az + bz + cz - ky*x - b*kz
		}
		grad[0], grad[1], grad[2], grad[3], grad[4], grad[5] = gx, gy, gz, gs, gr, gb
	}}
}

// logisticByHand takes one exponential for the loss of a row and its derivative.
func logisticByHand(r *Regression) *ByHand {
	return &ByHand{Call: func(y, grad, w []float64) {
		clear(grad)
		s := 0.0
		for i, label := range r.Y {
			row := r.X[i*r.Cols : (i+1)*r.Cols][:len(w)]
			z := 0.0
			for j, v := range w {
				z += row[j] * v
			}
			e := math.Exp(-math.Abs(z))
			s += max(z, 0) + math.Log1p(e) - label*z
			share := 1 / (1 + e)
			if z < 0 {
				share = e * share
			}
			d := share - label
			g := grad[:len(row)]
			for j, v := range row {
				g[j] += d * v
			}
		}
		y[0] = s
	}}
}

// logPosteriorByHand takes one exponential for each component and point.
func logPosteriorByHand(c *Mixture) *ByHand {
	d, k, n := c.D, c.K, len(c.Points)/c.D
	tri := d * (d + 1) / 2
	diag, logdet := make([]float64, k*d), make([]float64, k)
	dev, z, terms := make([]float64, k*d), make([]float64, k*d), make([]float64, k)
	constant := c.constant()
	return &ByHand{Call: func(y, grad, x []float64) {
		clear(grad)
		galpha, gmean, gicf := grad[:k], grad[k:k+k*d], grad[k+k*d:]
		alphas, means, icf := x[:k], x[k:k+k*d], x[k+k*d:]
		for j := range k {
			logdet[j] = 0
			for i := range d {
				q := icf[j*tri+i]
				diag[j*d+i] = math.Exp(q)
				logdet[j] += q
			}
		}
		total := 0.0
		for p := range n {
			point := c.Points[p*d:][:d]
			for j := range k {
				mean, q := means[j*d:][:d], diag[j*d:][:d]
				xc, qx := dev[j*d:][:d], z[j*d:][:d]
				for i := range point {
					xc[i] = point[i] - mean[i]
					qx[i] = q[i] * xc[i]
				}
				l := icf[j*tri+d:][:tri-d]
				for col := range d {
					v, below := xc[col], qx[col+1:]
					for i, e := range l[:len(below)] {
						below[i] += e * v
					}
					l = l[len(below):]
				}
				sq := 0.0
				for _, v := range qx {
					sq += v * v
				}
				terms[j] = alphas[j] + logdet[j] - 0.5*sq
			}
			total += softmax(terms)
			for j, r := range terms {
				galpha[j] += r
				xc, qx := dev[j*d:][:d], z[j*d:][:d]
				q, gq, gm := diag[j*d:][:d], gicf[j*tri:][:d], gmean[j*d:][:d]
				l, gl := icf[j*tri+d:][:tri-d], gicf[j*tri+d:][:tri-d]
				for col, v := range xc {
					gq[col] += r * (1 - q[col]*v*qx[col])
					sum := q[col] * qx[col]
					below := qx[col+1:]
					g := gl[:len(below)]
					rv := r * v
					for i, e := range l[:len(below)] {
						sum += e * below[i]
						g[i] -= rv * below[i]
					}
					gm[col] += r * sum
					l, gl = l[len(below):], gl[len(below):]
				}
			}
		}
		copy(terms, alphas)
		weights := softmax(terms)
		gamma, prior := c.Gamma*c.Gamma, 0.0
		for j, r := range terms {
			galpha[j] -= float64(n) * r
			sq := 0.0
			for i := range tri {
				v := icf[j*tri+i]
				if i < d {
					e := diag[j*d+i]
					sq += e * e
					gicf[j*tri+i] += gamma*e*e - float64(c.M)
				} else {
					sq += v * v
					gicf[j*tri+i] += gamma * v
				}
			}
			prior += 0.5*gamma*sq - float64(c.M)*logdet[j]
		}
		y[0] = total - float64(n)*weights + prior + constant
	}}
}

// softmax replaces x by its shares exp(x)/Σ exp(x), and returns log Σ exp(x).
func softmax(x []float64) float64 {
	top := x[0]
	for _, v := range x[1:] {
		top = max(top, v)
	}
	sum := 0.0
	for i, v := range x {
		x[i] = math.Exp(v - top)
		sum += x[i]
	}
	for i := range x {
		x[i] /= sum
	}
	return math.Log(sum) + top
}

// reprojectionByHand computes both rows from the products of the derivative of the rotation with the derivatives of the
// image. With r the rotation vector, θ its length, A = sin θ/θ and B = (1-cos θ)/θ², the rotated point is cos θ·a +
// A·r×a + B·(r·a)·r.
func reprojectionByHand(y, jac, x, z []float64) {
	r := [3]float64(x[:3])
	a := [3]float64{x[11] - x[3], x[12] - x[4], x[13] - x[5]}
	focal, k1, k2, weight := x[6], x[9], x[10], x[14]
	sq := r[0]*r[0] + r[1]*r[1] + r[2]*r[2]
	ra := [3]float64{r[1]*a[2] - r[2]*a[1], r[2]*a[0] - r[0]*a[2], r[0]*a[1] - r[1]*a[0]}
	dot := r[0]*a[0] + r[1]*a[1] + r[2]*a[2]
	// The derivatives of A and B with respect to r are dA·r and dB·r.
	sin, cos, sA, sB, dA, dB := 0.0, 1.0, 1.0, 0.0, 0.0, 0.0
	p := [3]float64{a[0] + ra[0], a[1] + ra[1], a[2] + ra[2]}
	if sq != 0 {
		theta := math.Sqrt(sq)
		sin, cos = math.Sincos(theta)
		sA, sB = sin/theta, (1-cos)/sq
		dA, dB = (cos-sA)/sq, (sA-2*sB)/sq
		v := [3]float64{r[0] / theta, r[1] / theta, r[2] / theta}
		c := crossPlain(v, a)
		d := (v[0]*a[0] + v[1]*a[1] + v[2]*a[2]) * (1 - cos)
		for i := range p { // rounded as in the function: where p[2] is near 0 that matters
			p[i] = a[i]*cos + c[i]*sin + v[i]*d
		}
	}
	inverse := 1 / p[2]
	u := [2]float64{p[0] / p[2], p[1] / p[2]}
	s := u[0]*u[0] + u[1]*u[1]
	l, dl := 1+k1*s+k2*(s*s), 2*(k1+2*k2*s)
	for i := range 2 {
		row := jac[15*i:][:15]
		e := u[i]*l*focal + x[7+i] - z[i]
		y[i] = weight * e
		scale := weight * focal
		du := [2]float64{scale * dl * u[0] * u[i], scale * dl * u[1] * u[i]}
		du[i] += scale * l
		g := [3]float64{du[0] * inverse, du[1] * inverse, -(du[0]*u[0] + du[1]*u[1]) * inverse}
		rg := r[0]*g[0] + r[1]*g[1] + r[2]*g[2]
		ag := a[0]*g[0] + a[1]*g[1] + a[2]*g[2]
		along := dA*(ra[0]*g[0]+ra[1]*g[1]+ra[2]*g[2]) + dB*dot*rg
		if sq != 0 {
			along -= sA * ag
		}
		ca, cr := crossPlain(a, g), crossPlain(r, g)
		for j := range 3 {
			row[j] = r[j]*along + sA*ca[j] + sB*(a[j]*rg+dot*g[j])
			back := cos*g[j] - sA*cr[j] + sB*r[j]*rg
			row[3+j], row[11+j] = -back, back
		}
		row[6] = weight * l * u[i]
		row[7+i], row[8-i] = weight, 0
		row[9] = scale * s * u[i]
		row[10] = scale * s * s * u[i]
		row[14] = e
	}
}

// brusselatorByHand writes the six entries of each row at places that are looked up once.
func brusselatorByHand(n int) *ByHand {
	nn, alpha := n*n, brusselatorAlpha(n)
	var rows, cols []int
	for _, e := range BrusselatorJacobian(make([]float64, 2*nn), n) {
		rows, cols = append(rows, e.Row), append(cols, e.Col)
	}
	pattern, err := sparsity.FromEntries(2*nn, 2*nn, rows, cols)
	if err != nil {
		panic(err) // the indices are in range
	}
	place := func(row, col int) int32 {
		k, _ := pattern.Index(row, col)
		return int32(k)
	}
	// The entries of the point itself, which vary: ∂u′/∂u, ∂u′/∂v, ∂v′/∂u, ∂v′/∂v; those of neighbours are alpha.
	places := make([][4]int32, nn)
	constant := make([]float64, pattern.NNZ())
	for at := range places {
		places[at] = [4]int32{place(at, at), place(at, nn+at), place(nn+at, at), place(nn+at, nn+at)}
	}
	for k := range rows {
		if rows[k]%nn != cols[k]%nn {
			constant[place(rows[k], cols[k])] += alpha
		}
	}
	return &ByHand{Pattern: pattern, Call: func(y, d, x []float64) {
		BrusselatorPlain(y, x, n)
		copy(d, constant)
		u, v := x[:nn], x[nn:2*nn]
		for at, to := range places {
			a, b := u[at], v[at]
			uv, uu := 2*a*b, a*a
			d[to[0]] = -4*alpha + uv - (brusselatorA + 1)
			d[to[1]] = uu
			d[to[2]] = brusselatorA - uv
			d[to[3]] = -4*alpha - uu
		}
	}}
}
