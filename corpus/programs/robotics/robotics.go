// Package robotics has programs about robots: kinematics, paths and localisation.
package robotics

import (
	"container/heap"
	"errors"
	"math"
)

// A Transform is a homogeneous matrix.
type Transform [4][4]float64

// Mul multiplies transforms.
func (a Transform) Mul(b Transform) (c Transform) {
	for i := range c {
		for j := range c[i] {
			for k := range b {
				c[i][j] += a[i][k] * b[k][j]
			}
		}
	}
	return c
}

// A Link has the parameters of Denavit and Hartenberg.
type Link struct{ Theta, D, A, Alpha float64 }

// Transform returns the transform of a link.
func (l Link) Transform() Transform {
	st, ct := math.Sincos(l.Theta)
	sa, ca := math.Sincos(l.Alpha)
	return Transform{
		{ct, -st * ca, st * sa, l.A * ct},
		{st, ct * ca, -ct * sa, l.A * st},
		{0, sa, ca, l.D},
		{0, 0, 0, 1},
	}
}

// Reach is the place of the hand of an arm with six joints.
//
//corpus:at 0.1 -0.4 0.7 0.2 -0.3 0.5
func Reach(q []float64) []float64 {
	links := []Link{
		{D: 0.4, Alpha: math.Pi / 2}, {A: 0.43}, {D: 0.15, A: 0.02, Alpha: -math.Pi / 2},
		{D: 0.43, Alpha: math.Pi / 2}, {Alpha: -math.Pi / 2}, {D: 0.1},
	}
	t := Transform{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}
	for i, l := range links {
		l.Theta = q[i]
		t = t.Mul(l.Transform())
	}
	return []float64{t[0][3], t[1][3], t[2][3]}
}

// Inverse returns the angles of an arm with two joints.
//
//corpus:at 0.9 0.7
func Inverse(x, y float64) (a, b float64, err error) {
	const l1, l2 = 1.0, 0.8
	c := (x*x + y*y - l1*l1 - l2*l2) / (2 * l1 * l2)
	if c < -1 || c > 1 {
		return 0, 0, errors.New("out of reach")
	}
	b = math.Acos(c)
	a = math.Atan2(y, x) - math.Atan2(l2*math.Sin(b), l1+l2*math.Cos(b))
	return a, b, nil
}

// A Joint moves its children.
type Joint interface {
	Apply(x, y, angle float64) (float64, float64, float64)
}

// Revolute turns.
type Revolute struct{ Length, Angle float64 }

// Apply implements Joint.
func (r Revolute) Apply(x, y, angle float64) (float64, float64, float64) {
	angle += r.Angle
	return x + r.Length*math.Cos(angle), y + r.Length*math.Sin(angle), angle
}

// Prismatic extends.
type Prismatic struct{ Extension float64 }

// Apply implements Joint.
func (p Prismatic) Apply(x, y, angle float64) (float64, float64, float64) {
	return x + p.Extension*math.Cos(angle), y + p.Extension*math.Sin(angle), angle
}

// Arm is the place of a hand behind joints of different kinds.
//
//corpus:at 0.4 0.8 -0.3
func Arm(q []float64) (x, y float64) {
	arm := []Joint{Revolute{1, q[0]}, Prismatic{q[1]}, Revolute{0.5, q[2]}}
	angle := 0.0
	for _, j := range arm {
		x, y, angle = j.Apply(x, y, angle)
	}
	return
}

// A Twist is embedded in robots.
type Twist struct{ V, W float64 }

// A Pose is a place and heading.
type Pose struct{ X, Y, Heading float64 }

// A Robot has a pose and a twist.
type Robot struct {
	Pose
	Twist
}

// Move moves the robot along an arc.
func (r *Robot) Move(dt float64) {
	if math.Abs(r.W) < 1e-9 {
		r.X += r.V * dt * math.Cos(r.Heading)
		r.Y += r.V * dt * math.Sin(r.Heading)
		return
	}
	radius := r.V / r.W
	h := r.Heading
	r.Heading += r.W * dt
	r.X += radius * (math.Sin(r.Heading) - math.Sin(h))
	r.Y -= radius * (math.Cos(r.Heading) - math.Cos(h))
}

// Driven is the place after driving with given wheel speeds.
//
//corpus:at 1 0.8 0.5 0.9 1.1 0.7
func Driven(wheels []float64) (x, y, heading float64) {
	var r Robot
	for i := 0; i+1 < len(wheels); i += 2 {
		left, right := wheels[i], wheels[i+1]
		r.Twist = Twist{(left + right) / 2, (right - left) / 0.4}
		r.Move(0.3)
	}
	return r.X, r.Y, r.Heading
}

// Slam is the error of a graph of poses.
//
//corpus:at 0 0.1 1 0.2 1.9 1.1
func Slam(x []float64) float64 {
	type edge struct {
		i, j   int
		dx, dy float64
	}
	edges := []edge{{0, 1, 1, 0}, {1, 2, 1, 1}, {0, 2, 2, 1.1}}
	sum := 0.0
	for _, e := range edges {
		ex := x[2*e.j] - x[2*e.i] - e.dx
		ey := x[2*e.j+1] - x[2*e.i+1] - e.dy
		r2 := ex*ex + ey*ey
		sum += r2 / (1 + r2)
	}
	return sum
}

// Attitude is a heading after quaternion integration of rates.
//
//corpus:at 0.3 -0.2 0.5
func Attitude(wx, wy, wz float64) float64 {
	type quat struct{ w, x, y, z float64 }
	mul := func(a, b quat) quat {
		return quat{
			a.w*b.w - a.x*b.x - a.y*b.y - a.z*b.z,
			a.w*b.x + a.x*b.w + a.y*b.z - a.z*b.y,
			a.w*b.y - a.x*b.z + a.y*b.w + a.z*b.x,
			a.w*b.z + a.x*b.y - a.y*b.x + a.z*b.w,
		}
	}
	q := quat{w: 1}
	for i := 0; i < 10; i++ {
		d := mul(q, quat{0, wx / 2, wy / 2, wz / 2})
		q = quat{q.w + 0.1*d.w, q.x + 0.1*d.x, q.y + 0.1*d.y, q.z + 0.1*d.z}
		n := math.Sqrt(q.w*q.w + q.x*q.x + q.y*q.y + q.z*q.z)
		q.w, q.x, q.y, q.z = q.w/n, q.x/n, q.y/n, q.z/n
	}
	return math.Atan2(2*(q.w*q.z+q.x*q.y), 1-2*(q.y*q.y+q.z*q.z))
}

// Particles is an estimate by particles with weights.
//
//corpus:at 1.3 0.4
func Particles(measured, noise float64) float64 {
	seed := uint32(1)
	random := func() float64 {
		seed ^= seed << 13
		seed ^= seed >> 17
		seed ^= seed << 5
		return float64(seed) / math.MaxUint32
	}
	sum, weight := 0.0, 0.0
	for i := 0; i < 50; i++ {
		x := 3 * random()
		w := math.Exp(-(x - measured) * (x - measured) / (2 * noise * noise))
		sum += w * x
		weight += w
	}
	return sum / weight
}

type item struct {
	node int
	cost float64
}
type queue []item

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].cost < q[j].cost }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(item)) }
func (q *queue) Pop() any {
	old := *q
	last := old[len(old)-1]
	*q = old[:len(old)-1]
	return last
}

// Dijkstra is the cost of the cheapest path with given costs of edges.
//
//corpus:at 1 2.5 0.7 1.2 3.1
func Dijkstra(cost []float64) float64 {
	type edge struct{ to, id int }
	graph := [][]edge{{{1, 0}, {2, 1}}, {{2, 2}, {3, 4}}, {{3, 3}}, {}}
	best := []float64{0, math.Inf(1), math.Inf(1), math.Inf(1)}
	q := &queue{{0, 0}}
	for q.Len() > 0 {
		it := heap.Pop(q).(item)
		if it.cost > best[it.node] {
			continue
		}
		for _, e := range graph[it.node] {
			if c := it.cost + cost[e.id]*cost[e.id]; c < best[e.to] {
				best[e.to] = c
				heap.Push(q, item{e.to, c})
			}
		}
	}
	return best[3]
}

// Floyd is the sum of all cheapest paths, by a table.
//
//corpus:at 1 2.5 0.7 1.2 3.1
func Floyd(cost []float64) float64 {
	const n = 4
	var d [n][n]float64
	for i := range d {
		for j := range d[i] {
			if i != j {
				d[i][j] = 100
			}
		}
	}
	for k, e := range [][2]int{{0, 1}, {0, 2}, {1, 2}, {2, 3}, {1, 3}} {
		d[e[0]][e[1]], d[e[1]][e[0]] = cost[k], cost[k]
	}
	for k := range n {
		for i := range n {
			for j := range n {
				if v := d[i][k] + d[k][j]; v < d[i][j] {
					d[i][j] = v
				}
			}
		}
	}
	sum := 0.0
	for _, row := range d {
		for _, v := range row {
			sum += v * v
		}
	}
	return sum
}

// Profile is the time of a motion with limited speed and acceleration.
//
//corpus:at 2 0.8 1.5
//corpus:at 0.3 0.8 1.5
func Profile(distance, speed, acceleration float64) (t float64) {
	defer func() { t += 0.1 }()
	ramp := speed * speed / acceleration
	if ramp > distance {
		t = 2 * math.Sqrt(distance/acceleration)
		return t
	}
	return distance/speed + speed/acceleration
}
