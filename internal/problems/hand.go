package problems

import (
	"math"

	"github.com/nabla-ad/nabla"
)

// A Hand is a model of a hand, whose skin is moved by bones, and measured points of a hand.
type Hand struct {
	Parents []int     // of each bone, -1 for the root; parents come first
	Base    []affine  // from the bone's frame to its parent's, when nothing is bent
	Inverse []affine  // from the hand's frame to the bone's, when nothing is bent
	Skin    []float64 // vertices, 3 numbers each
	Weights []float64 // how much each bone moves a vertex: vertex after vertex
	Points  []float64 // measured, 3 numbers each

	// Vertices holds the vertex at which each point was measured. If there are Triangles, they are used instead: three
	// vertices for each point.
	Vertices  []int
	Triangles [][3]int
}

// affine is the map x ↦ Ax + b, row by row, with A and b side by side.
type affine [3][4]float64

// The pose is 26 numbers: a rotation vector and a translation of the whole hand, and for each of five fingers the
// angles of its bones: two for the first and one each for the second and third. The bones of finger k are 2+4k to 5+4k;
// the last one does not turn. A problem with triangles has two more inputs before the pose for each point, its
// barycentric coordinates.

const (
	handBones = 22
	handPose  = 26
)

// bend returns the indices in the pose of the angles of a bone about x and about z, -1 if there is none.
func bend(bone int) (x, z int) {
	finger, joint := (bone-2)/4, (bone-2)%4
	switch {
	case bone < 2 || joint == 3:
		return -1, -1
	case joint == 0:
		return 6 + 4*finger, 7 + 4*finger
	}
	return 7 + 4*finger + joint, -1
}

func (a *affine) mul(b *affine) (c affine) {
	for i := range 3 {
		for j := range 4 {
			s := a[i][0]*b[0][j] + a[i][1]*b[1][j] + a[i][2]*b[2][j]
			if j == 3 {
				s += a[i][3]
			}
			c[i][j] = s
		}
	}
	return c
}

// linear returns the derivative of a·b with respect to b in direction b.
func (a *affine) linear(b *affine) affine {
	c := a.mul(b)
	for i := range 3 {
		c[i][3] -= a[i][3]
	}
	return c
}

func (a *affine) apply(x []float64) (y [3]float64) {
	for i := range 3 {
		y[i] = a[i][0]*x[0] + a[i][1]*x[1] + a[i][2]*x[2] + a[i][3]
	}
	return y
}

// turn returns the rotation by a about x, followed by that by b about z.
func turn(a, b float64) affine {
	sa, ca := math.Sin(a), math.Cos(a)
	sb, cb := math.Sin(b), math.Cos(b)
	return affine{{cb, -(sb * ca), sb * sa}, {sb, cb * ca, -(cb * sa)}, {0, sa, ca}}
}

// HandPlain computes the differences y of the measured points and those of the model.
//
//nabla:differentiate
func HandPlain(y, x []float64, h *Hand) {
	u, pose := x[:len(x)-handPose], x[len(x)-handPose:]
	var absolute, moves [handBones]affine
	for i := range handBones {
		own := h.Base[i]
		if ax, az := bend(i); ax >= 0 {
			b := 0.0
			if az >= 0 {
				b = pose[az]
			}
			r := turn(pose[ax], b)
			own = own.mul(&r)
		}
		absolute[i] = own
		if p := h.Parents[i]; p >= 0 {
			absolute[i] = absolute[p].mul(&own)
		}
		moves[i] = absolute[i].mul(&h.Inverse[i])
	}
	r := [3]float64{pose[0], pose[1], pose[2]}
	turned := r[0]*r[0]+r[1]*r[1]+r[2]*r[2] >= 1e-8
	skin := make([][3]float64, len(h.Skin)/3)
	for v := range skin {
		var z [3]float64
		for i := range handBones {
			if w := h.Weights[v*handBones+i]; w != 0 {
				for k, e := range moves[i].apply(h.Skin[3*v : 3*v+3]) {
					z[k] += w * e
				}
			}
		}
		if turned {
			z = rotatePlain(r, z)
		}
		for k := range 3 {
			skin[v][k] = z[k] + pose[3+k]
		}
	}
	for j := range len(h.Points) / 3 {
		for k := range 3 {
			at := 0.0
			if h.Triangles != nil {
				t := h.Triangles[j]
				a, b := u[2*j], u[2*j+1]
				at = a*skin[t[0]][k] + b*skin[t[1]][k] + (1-a-b)*skin[t[2]][k]
			} else {
				at = skin[h.Vertices[j]][k]
			}
			y[3*j+k] = h.Points[3*j+k] - at
		}
	}
}

// affineReal is an affine map over Reals.
type affineReal [3][4]nabla.Real

func (a *affine) reals() (r affineReal) {
	for i := range 3 {
		for j := range 4 {
			r[i][j] = nabla.Const(a[i][j])
		}
	}
	return r
}

func (a *affineReal) mul(b *affineReal) (c affineReal) {
	for i := range 3 {
		for j := range 4 {
			s := a[i][0].Mul(b[0][j]).Add(a[i][1].Mul(b[1][j])).Add(a[i][2].Mul(b[2][j]))
			if j == 3 {
				s = s.Add(a[i][3])
			}
			c[i][j] = s
		}
	}
	return c
}

func (a *affineReal) apply(x []float64) (y [3]nabla.Real) {
	for i := range 3 {
		y[i] = a[i][0].Scale(x[0]).Add(a[i][1].Scale(x[1])).Add(a[i][2].Scale(x[2])).Add(a[i][3])
	}
	return y
}

func turnReal(a, b nabla.Real) affineReal {
	sa, ca := nabla.Sin(a), nabla.Cos(a)
	sb, cb := nabla.Sin(b), nabla.Cos(b)
	var zero nabla.Real
	return affineReal{
		{cb, sb.Mul(ca).Neg(), sb.Mul(sa), zero}, {sb, cb.Mul(ca), cb.Mul(sa).Neg(), zero}, {zero, sa, ca, zero},
	}
}

// HandResidual is [HandPlain] over Reals.
func HandResidual(y, x []nabla.Real, h *Hand) {
	u, pose := x[:len(x)-handPose], x[len(x)-handPose:]
	var absolute, moves [handBones]affineReal
	for i := range handBones {
		own := h.Base[i].reals()
		if ax, az := bend(i); ax >= 0 {
			var b nabla.Real
			if az >= 0 {
				b = pose[az]
			}
			r := turnReal(pose[ax], b)
			own = own.mul(&r)
		}
		absolute[i] = own
		if p := h.Parents[i]; p >= 0 {
			absolute[i] = absolute[p].mul(&own)
		}
		inverse := h.Inverse[i].reals()
		moves[i] = absolute[i].mul(&inverse)
	}
	r := [3]nabla.Real{pose[0], pose[1], pose[2]}
	turned := r[0].Sq().Add(r[1].Sq()).Add(r[2].Sq()).GreaterEq(nabla.Const(1e-8))
	skin := make([][3]nabla.Real, len(h.Skin)/3)
	for v := range skin {
		var z [3]nabla.Real
		for i := range handBones {
			if w := h.Weights[v*handBones+i]; w != 0 {
				for k, e := range moves[i].apply(h.Skin[3*v : 3*v+3]) {
					z[k] = z[k].Add(e.Scale(w))
				}
			}
		}
		if turned {
			z = rotate(r, z)
		}
		for k := range 3 {
			skin[v][k] = z[k].Add(pose[3+k])
		}
	}
	for j := range len(h.Points) / 3 {
		for k := range 3 {
			at := nabla.Real{}
			if h.Triangles != nil {
				t := h.Triangles[j]
				a, b := u[2*j], u[2*j+1]
				c := nabla.Const(1).Sub(a).Sub(b)
				at = a.Mul(skin[t[0]][k]).Add(b.Mul(skin[t[1]][k])).Add(c.Mul(skin[t[2]][k]))
			} else {
				at = skin[h.Vertices[j]][k]
			}
			y[3*j+k] = nabla.Const(h.Points[3*j+k]).Sub(at)
		}
	}
}

// handJacobian returns the Jacobian, written by hand: each angle moves the bones that follow it, and the rotation
// vector moves everything.
func handJacobian(x []float64, h *Hand) []float64 {
	n, m := len(x), len(h.Points)
	u, pose := x[:n-handPose], x[n-handPose:]
	jac := make([]float64, m*n)

	// The bones, and their derivatives with respect to each angle.
	var absolute [handBones]affine
	var by [handPose][handBones]affine
	for i := range handBones {
		own, p := h.Base[i], h.Parents[i]
		var dx, dz affine
		ax, az := bend(i)
		if ax >= 0 {
			b := 0.0
			if az >= 0 {
				b = pose[az]
			}
			sa, ca := math.Sincos(pose[ax])
			sb, cb := math.Sincos(b)
			r := turn(pose[ax], b)
			rx := affine{{0, sb * sa, sb * ca}, {0, -cb * sa, -cb * ca}, {0, ca, -sa}}
			rz := affine{{-sb, -cb * ca, cb * sa}, {cb, -sb * ca, sb * sa}, {}}
			dx, dz = own.linear(&rx), own.linear(&rz)
			own = own.mul(&r)
		}
		absolute[i] = own
		if p >= 0 {
			absolute[i] = absolute[p].mul(&own)
			dx, dz = absolute[p].linear(&dx), absolute[p].linear(&dz)
			for j := 6; j < handPose; j++ {
				by[j][i] = by[j][p].mul(&own)
			}
		}
		if ax >= 0 {
			by[ax][i] = dx
		}
		if az >= 0 {
			by[az][i] = dz
		}
	}
	// The vertices.
	r := [3]float64(pose[:3])
	turned := r[0]*r[0]+r[1]*r[1]+r[2]*r[2] >= 1e-8
	skin := make([][3]float64, len(h.Skin)/3)
	moved := make([][handPose][3]float64, len(skin))
	for v := range skin {
		var z [3]float64
		var dz [handPose][3]float64
		for i := range handBones {
			w := h.Weights[v*handBones+i]
			if w == 0 {
				continue
			}
			at := h.Inverse[i].apply(h.Skin[3*v : 3*v+3])
			for k, e := range absolute[i].apply(at[:]) {
				z[k] += w * e
			}
			for j := 6; j < handPose; j++ {
				for k, e := range by[j][i].apply(at[:]) {
					dz[j][k] += w * e
				}
			}
		}
		rot, drot := rotation([3]float64{}, z)
		drot = matrix3{}
		if turned {
			rot, drot = rotation(r, z)
		}
		for k := range 3 {
			skin[v][k] = pose[3+k]
			moved[v][3+k][k] = 1
			for l := range 3 {
				skin[v][k] += rot[k][l] * z[l]
				moved[v][l][k] = drot[k][l]
				for j := 6; j < handPose; j++ {
					moved[v][j][k] += rot[k][l] * dz[j][l]
				}
			}
		}
	}
	for j := range m / 3 {
		corners, weights := [3]int{}, [3]float64{1}
		if h.Triangles != nil {
			corners = h.Triangles[j]
			weights = [3]float64{u[2*j], u[2*j+1], 1 - u[2*j] - u[2*j+1]}
		} else {
			corners[0] = h.Vertices[j]
		}
		for k := range 3 {
			row := jac[(3*j+k)*n:][:n]
			if h.Triangles != nil {
				row[2*j] = skin[corners[2]][k] - skin[corners[0]][k]
				row[2*j+1] = skin[corners[2]][k] - skin[corners[1]][k]
			}
			for c, w := range weights {
				for i := range handPose {
					row[n-handPose+i] -= w * moved[corners[c]][i][k]
				}
			}
		}
	}
	return jac
}

// randomHand returns a hand of 22 bones and 24 vertices, each moved by two bones, and 12 measured points.
func randomHand(s *lcg) *Hand {
	const vertices, points = 24, 12
	h := &Hand{Skin: s.draw(3 * vertices), Weights: make([]float64, vertices*handBones), Points: s.draw(3 * points)}
	var absolute [handBones]affine
	for i := range handBones {
		parent := i - 1
		if i > 2 && (i-2)%4 == 0 {
			parent = 1 // a finger begins at the wrist
		}
		h.Parents = append(h.Parents, parent)
		base := turn(s.next(), s.next())
		for k := range 3 {
			base[k][3] = s.next()
		}
		h.Base = append(h.Base, base)
		absolute[i] = base
		if parent >= 0 {
			absolute[i] = absolute[parent].mul(&base)
		}
		var inverse affine // Aᵀ and -Aᵀb
		for k := range 3 {
			for l := range 3 {
				inverse[k][l] = absolute[i][l][k]
				inverse[k][3] -= absolute[i][l][k] * absolute[i][l][3]
			}
		}
		h.Inverse = append(h.Inverse, inverse)
	}
	for v := range vertices {
		w := 0.5 + 0.5*s.next()
		h.Weights[v*handBones+(7*v+3)%handBones] = w
		h.Weights[v*handBones+(5*v+4)%handBones] += 1 - w
	}
	for j := range points {
		h.Vertices = append(h.Vertices, (11*j+2)%vertices)
	}
	return h
}

// HandSimple returns the problem of a random hand with points measured at vertices.
func HandSimple() *Problem {
	s := seed
	h := randomHand(&s)
	return handProblem("hand", h, s.draw(handPose))
}

// HandTriangles returns the problem with points measured within triangles, at positions that are inputs.
func HandTriangles() *Problem {
	s := seed
	h := randomHand(&s)
	points, vertices := len(h.Points)/3, len(h.Skin)/3
	pose := s.draw(handPose)
	u := s.draw(2 * points)
	for j := range points {
		h.Triangles = append(h.Triangles, [3]int{j, (j + 7) % vertices, (j + 13) % vertices})
		u[2*j], u[2*j+1] = 0.25+0.25*u[2*j], 0.25+0.25*u[2*j+1]
	}
	return handProblem("hand_triangles", h, append(u, pose...))
}

func handProblem(name string, h *Hand, x []float64) *Problem {
	m := len(h.Points)
	y := make([]float64, m)
	HandPlain(y, x, h)
	traced := func(y, x []nabla.Real) { HandResidual(y, x, h) }
	return &Problem{
		Name: name, Title: "hand tracking",
		Formula: "y = points of the skin, moved by the bones of the pose, − measured points",
		N:       len(x), M: m,
		Source: "Taylor et al., CVPR 2014, as in ADBench (Šrajer, Kukelova & Fitzgibbon, Optim. Methods " +
			"Softw. 33 (2018) 889), random model and points; Jacobian by hand",
		PlainVector:  func(y, x []float64) { HandPlain(y, x, h) },
		TracedVector: traced,
		Func:         nabla.InPlace(m, traced),
		Bound:        nabla.BindInPlace(m, HandPlain, h),
		Cases:        []Case{{X: x, Value: y, Derivative: handJacobian(x, h)}},
		Tolerance:    1e-12, Difference: 1e-5,
	}
}
