package finitediff

import "math"

// A kind is the form of a first difference.
type kind uint8

const (
	onePoint kind = iota // (f(p) - f(x)) / (p - x)
	twoPoint             // (f(p) - f(q)) / (p - q), p and q on the two sides of x
	oneSided             // the parabola through x, p and q, both on one side of x
)

// A nodes holds the points at which a function of one variable is evaluated for its derivative at x.
type nodes struct {
	kind    kind
	x, p, q float64
}

// quotient returns the derivative from the values at p, q and x. Values that the kind does not use are ignored.
func (d *nodes) quotient(fp, fq, fx float64) float64 {
	switch d.kind {
	case onePoint:
		return (fp - fx) / (d.p - d.x)
	case twoPoint:
		return (fp - fq) / (d.p - d.q)
	}
	a, b := d.p-d.x, d.q-d.x
	r := b / a
	return (r*r*(fp-fx) - (fq - fx)) / (b * (r - 1))
}

// step returns the step of a component with value x.
func (s *settings) step(x float64) float64 { return max(s.rel*math.Abs(x), s.abs) }

// component returns the nodes in component i at x.
func (s *settings) component(i int, x float64) nodes {
	lo, hi := s.box(i)
	return s.method.nodes(x, s.step(x), lo, hi)
}

// nodes returns nodes with steps of about h inside [lo, hi], which contains x. The difference p - x is exact unless x
// and h differ widely in size.
func (m Method) nodes(x, h, lo, hi float64) nodes {
	if x-x != 0 || h != h { // the derivative is NaN, and f sees nothing but x
		return nodes{twoPoint, x, x, x}
	}
	if m == Forward || m == Backward {
		l, r := x-lo, hi-x
		if m == Backward {
			h, l, r = -h, r, l
		}
		// r is the room on the side of the method.
		if step := math.Abs(h); step > r && l > r {
			h = math.Copysign(min(step, l), -h)
		} else if step > r {
			h = math.Copysign(r, h)
		}
		return nodes{onePoint, x, shifted(x, h, lo, hi), x}
	}
	return central(x, h, lo, hi, 2)
}

// central places the nodes on both sides of x where that costs no more than half
// of the step, and on one side otherwise, so that a node at reach steps fits too.
func central(x, h, lo, hi, reach float64) nodes {
	if x-x != 0 || h != h {
		return nodes{twoPoint, x, x, x}
	}
	l, r := x-lo, hi-x
	both, one := min(h, l, r), min(h, max(l, r)/reach)
	switch {
	case both >= one/2:
		p := shifted(x, both, lo, hi)
		return nodes{twoPoint, x, p, shifted(x, x-p, lo, hi)}
	case r < l:
		one = -one
	}
	p := shifted(x, one, lo, hi)
	return nodes{oneSided, x, p, shifted(x, 2*(p-x), lo, hi)}
}

// third returns the additional node of the second derivative if both other nodes are on one side of x.
func (d *nodes) third(lo, hi float64) float64 { return shifted(d.x, 3*(d.p-d.x), lo, hi) }

// second returns the second derivative; ft is the value at the third node and used by the one-sided form only.
func (d *nodes) second(fp, fq, ft, fx float64) float64 {
	a, b := d.p-d.x, d.q-d.x
	if d.kind == oneSided {
		return (4*(fq-fx) - 5*(fp-fx) - (ft - fx)) / a / a
	}
	return 2 * ((fp-fx)/a - (fq-fx)/b) / (a - b)
}

// shifted returns x+h, moved by at least one float64 and kept in [lo, hi].
func shifted(x, h, lo, hi float64) float64 {
	p := x + h
	if p == x && h != 0 {
		p = math.Nextafter(x, math.Copysign(math.Inf(1), h))
	}
	return min(max(p, lo), hi)
}

// largestStep bounds the step along a direction that does not move.
const largestStep = 1e150

// along returns the step along v at x: no component moves further than its own step.
func (s *settings) along(x, v []float64) float64 {
	h := largestStep
	for i, vi := range v {
		h = min(h, s.step(x[i])/math.Abs(vi))
	}
	return h
}

// room returns how far x can move along v and against it inside the box.
func (s *settings) room(x, v []float64) (back, ahead float64) {
	back, ahead = math.MaxFloat64, math.MaxFloat64
	for i, vi := range v {
		lo, hi := s.box(i)
		switch {
		case x[i]-x[i] != 0: // stays where it is whatever the step
		case vi > 0:
			back, ahead = min(back, (x[i]-lo)/vi), min(ahead, (hi-x[i])/vi)
		case vi < 0:
			back, ahead = min(back, (x[i]-hi)/vi), min(ahead, (lo-x[i])/vi)
		}
	}
	return back, ahead
}

// move writes x + t·v inside the box.
func (s *settings) move(dst, x []float64, t float64, v []float64) {
	for i, vi := range v {
		dst[i] = x[i]
		if vi != 0 {
			dst[i] += float64(t * vi)
		}
	}
	if s.bounded {
		for i, p := range dst {
			lo, hi := s.box(i)
			if x[i] >= lo && x[i] <= hi {
				dst[i] = min(max(p, lo), hi)
			}
		}
	}
}
