// Package cp has functions that use github.com/jakecoffman/cp, a physics engine in the plane.
package cp

import "github.com/jakecoffman/cp"

// Moment is the moment of inertia of a polygon about a point.
//
//corpus:at 0 0 2 0.1 2.5 1.5 0.3 1.8
func Moment(x []float64) float64 {
	var verts []cp.Vector
	for i := 0; i+1 < len(x); i += 2 {
		verts = append(verts, cp.Vector{X: x[i], Y: x[i+1]})
	}
	return cp.MomentForPoly(2, len(verts), verts, cp.Vector{X: 0.3}, 0) + cp.AreaForPoly(len(verts), verts, 0.1)
}

// Centroid is the centre of a polygon.
//
//corpus:at 0 0 2 0.1 2.5 1.5 0.3 1.8
func Centroid(x []float64) (cx, cy float64) {
	verts := make([]cp.Vector, len(x)/2)
	for i := range verts {
		verts[i] = cp.Vector{X: x[2*i], Y: x[2*i+1]}
	}
	c := cp.CentroidForPoly(len(verts), verts)
	return c.X, c.Y
}

// Fall is the height of a body after a second.
//
//corpus:at 1 2 0.3
func Fall(vx, vy, damping float64) float64 {
	body := cp.NewBody(1, 0.5)
	body.SetVelocity(vx, vy)
	for range 10 {
		body.UpdateVelocity(cp.Vector{X: 0, Y: -9.81}, 1-damping*0.1, 0.1)
		p := body.Position().Add(body.Velocity().Mult(0.1))
		body.SetPosition(p)
	}
	return body.Position().Y + 0.5*body.Position().X
}

// Space simulates a body in a space.
//
//corpus:at 1 2
func Space(vx, vy float64) (x, y float64) {
	space := cp.NewSpace()
	space.SetGravity(cp.Vector{X: 0, Y: -10})
	body := space.AddBody(cp.NewBody(1, 1))
	body.SetVelocity(vx, vy)
	for range 20 {
		space.Step(0.05)
	}
	return body.Position().X, body.Position().Y
}

// Steer turns a direction towards another.
//
//corpus:at 1 0.2 -0.3 0.8 0.4
func Steer(x []float64) float64 {
	a, b := cp.Vector{X: x[0], Y: x[1]}, cp.Vector{X: x[2], Y: x[3]}
	v := a.Normalize().SLerp(b.Normalize(), x[4])
	return v.Rotate(cp.ForAngle(x[4])).ToAngle() + a.Project(b).Length()
}

// Closest is the distance of a point from a segment.
//
//corpus:at 0.5 1.2 0 0 2 0.3
func Closest(x []float64) float64 {
	p := cp.Vector{X: x[0], Y: x[1]}
	return p.Distance(p.ClosestPointOnSegment(cp.Vector{X: x[2], Y: x[3]}, cp.Vector{X: x[4], Y: x[5]}))
}
