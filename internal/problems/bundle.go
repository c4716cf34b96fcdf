package problems

import (
	"math"

	"github.com/nabla-ad/nabla"
)

// A Feature is the observed image of a point.
type Feature struct{ Z []float64 }

// ReprojectionPlain computes the weighted difference y of the image of a point and its observation. x holds the camera,
// 11 numbers (rotation vector 3, centre 3, focal length, principal point 2, radial distortion 2); the point, 3; and the
// weight.
//
//nabla:differentiate
func ReprojectionPlain(y, x []float64, f *Feature) {
	cam, point, weight := x[:11], x[11:14], x[14]
	a := [3]float64{point[0] - cam[3], point[1] - cam[4], point[2] - cam[5]}
	p := rotatePlain([3]float64{cam[0], cam[1], cam[2]}, a)
	u, v := p[0]/p[2], p[1]/p[2]
	s := u*u + v*v
	l := 1 + cam[9]*s + cam[10]*(s*s)
	y[0] = weight * (u*l*cam[6] + cam[7] - f.Z[0])
	y[1] = weight * (v*l*cam[6] + cam[8] - f.Z[1])
}

// rotatePlain returns a, rotated about the axis r by the angle |r|.
func rotatePlain(r, a [3]float64) [3]float64 {
	sq := r[0]*r[0] + r[1]*r[1] + r[2]*r[2]
	if sq == 0 {
		c := crossPlain(r, a)
		return [3]float64{a[0] + c[0], a[1] + c[1], a[2] + c[2]}
	}
	theta := math.Sqrt(sq)
	sin, cos := math.Sin(theta), math.Cos(theta)
	v := [3]float64{r[0] / theta, r[1] / theta, r[2] / theta}
	c := crossPlain(v, a)
	d := (v[0]*a[0] + v[1]*a[1] + v[2]*a[2]) * (1 - cos)
	var out [3]float64
	for i := range out {
		out[i] = a[i]*cos + c[i]*sin + v[i]*d
	}
	return out
}

func crossPlain(a, b [3]float64) [3]float64 {
	return [3]float64{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}

// A FeatureVec is a [Feature] for functions over Reals.
type FeatureVec struct{ Z nabla.Vec }

// Reprojection is [ReprojectionPlain] over Reals.
func Reprojection(y, x []nabla.Real, f *FeatureVec) {
	cam, point, weight := x[:11], x[11:14], x[14]
	a := [3]nabla.Real{point[0].Sub(cam[3]), point[1].Sub(cam[4]), point[2].Sub(cam[5])}
	p := rotate([3]nabla.Real{cam[0], cam[1], cam[2]}, a)
	u, v := p[0].Div(p[2]), p[1].Div(p[2])
	s := u.Sq().Add(v.Sq())
	l := nabla.Const(1).Add(cam[9].Mul(s)).Add(cam[10].Mul(s.Sq()))
	y[0] = weight.Mul(u.Mul(l).Mul(cam[6]).Add(cam[7]).Sub(f.Z.At(0)))
	y[1] = weight.Mul(v.Mul(l).Mul(cam[6]).Add(cam[8]).Sub(f.Z.At(1)))
}

func rotate(r, a [3]nabla.Real) [3]nabla.Real {
	sq := r[0].Sq().Add(r[1].Sq()).Add(r[2].Sq())
	if sq.Equal(nabla.Const(0)) {
		c := cross(r, a)
		return [3]nabla.Real{a[0].Add(c[0]), a[1].Add(c[1]), a[2].Add(c[2])}
	}
	theta := nabla.Sqrt(sq)
	sin, cos := nabla.Sin(theta), nabla.Cos(theta)
	v := [3]nabla.Real{r[0].Div(theta), r[1].Div(theta), r[2].Div(theta)}
	c := cross(v, a)
	d := v[0].Mul(a[0]).Add(v[1].Mul(a[1])).Add(v[2].Mul(a[2])).Mul(nabla.Const(1).Sub(cos))
	var out [3]nabla.Real
	for i := range out {
		out[i] = a[i].Mul(cos).Add(c[i].Mul(sin)).Add(v[i].Mul(d))
	}
	return out
}

func cross(a, b [3]nabla.Real) [3]nabla.Real {
	return [3]nabla.Real{
		a[1].Mul(b[2]).Sub(a[2].Mul(b[1])),
		a[2].Mul(b[0]).Sub(a[0].Mul(b[2])),
		a[0].Mul(b[1]).Sub(a[1].Mul(b[0])),
	}
}

type matrix3 [3][3]float64

func (a matrix3) mul(b matrix3) (c matrix3) {
	for i := range 3 {
		for j := range 3 {
			for k := range 3 {
				c[i][j] += a[i][k] * b[k][j]
			}
		}
	}
	return c
}

// skew returns the matrix of the cross product with v.
func skew(v [3]float64) matrix3 {
	return matrix3{{0, -v[2], v[1]}, {v[2], 0, -v[0]}, {-v[1], v[0], 0}}
}

// rotation returns the matrix R of a rotation vector and the derivative of R·a with respect to that vector, -R[a](rrᵀ +
// (Rᵀ-1)[r])/|r|²: Gallego & Yezzi, "A Compact Formula for the Derivative of a 3-D Rotation in Exponential
// Coordinates", J. Math. Imaging Vis. 51 (2015).
func rotation(r, a [3]float64) (rot, deriv matrix3) {
	sq := r[0]*r[0] + r[1]*r[1] + r[2]*r[2]
	if sq == 0 {
		rot = skew(r)
		for i := range 3 {
			rot[i][i]++
			for j := range 3 {
				deriv[i][j] = -skew(a)[i][j]
			}
		}
		return rot, deriv
	}
	theta := math.Sqrt(sq)
	k := skew(r)
	k2 := k.mul(k)
	for i := range 3 {
		for j := range 3 {
			rot[i][j] = math.Sin(theta)/theta*k[i][j] + (1-math.Cos(theta))/sq*k2[i][j]
		}
		rot[i][i]++
	}
	var t matrix3 // Rᵀ - 1
	for i := range 3 {
		for j := range 3 {
			t[i][j] = rot[j][i]
		}
		t[i][i]--
	}
	t = t.mul(k)
	for i := range 3 {
		for j := range 3 {
			t[i][j] = -(t[i][j] + r[i]*r[j]) / sq
		}
	}
	return rot, rot.mul(skew(a)).mul(t)
}

// reprojectionJacobian returns the value and the Jacobian, written by hand.
func reprojectionJacobian(x []float64, z []float64) (y, jac []float64) {
	r, w := [3]float64(x[:3]), x[14]
	focal, k1, k2 := x[6], x[9], x[10]
	a := [3]float64{x[11] - x[3], x[12] - x[4], x[13] - x[5]}
	rot, drot := rotation(r, a)
	p := rotatePlain(r, a) // rounded as in the function: where p[2] is near 0 that matters
	u := [2]float64{p[0] / p[2], p[1] / p[2]}
	s := u[0]*u[0] + u[1]*u[1]
	l, dl := 1+k1*s+k2*s*s, k1+2*k2*s

	y, jac = make([]float64, 2), make([]float64, 30)
	for i := range 2 {
		row := jac[15*i : 15*(i+1)]
		e := focal*l*u[i] + x[7+i] - z[i]
		y[i] = w * e
		row[6] = w * l * u[i]
		row[7+i] = w
		row[9] = w * focal * s * u[i]
		row[10] = w * focal * s * s * u[i]
		row[14] = e
		// With respect to u, p, the rotation vector, the centre and the point.
		var du [2]float64
		for j := range 2 {
			du[j] = w * focal * dl * 2 * u[j] * u[i]
		}
		du[i] += w * focal * l
		dp := [3]float64{du[0] / p[2], du[1] / p[2], -(du[0]*u[0] + du[1]*u[1]) / p[2]}
		for j := range 3 {
			for k := range 3 {
				row[j] += dp[k] * drot[k][j]
				row[11+j] += dp[k] * rot[k][j]
			}
			row[3+j] = -row[11+j]
		}
	}
	return y, jac
}

// T6 returns the reprojection residuals of 1000 random observations, each a case with a Jacobian of 2×15. Some points
// lie almost in the plane of the camera, where derivatives are up to 4e20 and lose digits to rounding.
func T6() *Problem {
	const count = 1000
	s := seed
	cams, points := s.draw(11*count), s.draw(3*count)
	weights, feats := s.draw(count), s.draw(2*count)
	f, v := new(Feature), new(FeatureVec)
	p := &Problem{
		Name: "T6", Title: "bundle adjustment",
		Formula: "y = w (f l p + c − z), p = the point in the rotated camera over its depth, l = 1 + k₁|p|² + k₂|p|⁴",
		N:       15, M: 2,
		Source: "Šrajer, Kukelova & Fitzgibbon, Optim. Methods Softw. 33 (2018) 889 (ADBench), random inputs; " +
			"Jacobian by hand",
		PlainVector:  func(y, x []float64) { ReprojectionPlain(y, x, f) },
		TracedVector: func(y, x []nabla.Real) { Reprojection(y, x, v) },
		Func:         nabla.BindInPlace(2, Reprojection, v),
		Bound:        nabla.BindInPlace(2, ReprojectionPlain, f),
		Set: func(i int) {
			f.Z = feats[2*i : 2*i+2]
			v.Z = nabla.VecOf(f.Z)
		},
		Data: func() []float64 { return f.Z },
		ByHand: func() *ByHand {
			return &ByHand{Call: func(y, d, x []float64) { reprojectionByHand(y, d, x, f.Z) }}
		},
		Tolerance: 1e-9, Difference: 0.1,
	}
	for i := range count {
		x := append(append([]float64(nil), cams[11*i:11*i+11]...), points[3*i:3*i+3]...)
		x = append(x, weights[i])
		y, jac := reprojectionJacobian(x, feats[2*i:2*i+2])
		p.Cases = append(p.Cases, Case{X: x, Value: y, Derivative: jac})
	}
	p.Set(0)
	return p
}
