package randfunc

import (
	"math"
	"slices"
)

// Shrink returns a program and points that are at most as large as p and xs, and for which fails still returns true.
// It applies single simplifications as long as one of them keeps the failure, for at most 20 rounds: it removes points
// and statements, replaces branches and loops by their bodies, and replaces variables, constants and components of
// points by simpler ones. fails must return true for p and xs.
func Shrink(p *Prog, xs [][]float64, fails func(p *Prog, xs [][]float64) bool) (*Prog, [][]float64) {
	try := func(q *Prog, ys [][]float64) bool {
		if !fails(q, ys) {
			return false
		}
		p, xs = q, ys
		return true
	}
	for again, rounds := true, 0; again && rounds < 20; rounds++ {
		again = false
		for i := len(xs) - 1; i >= 0 && len(xs) > 1; i-- {
			again = try(p, slices.Delete(slices.Clone(xs), i, i+1)) || again
		}
		for i := 0; ; i++ { // remove a statement, or replace it by its body
			q, ok := edit(p, i, func(s *Stmt) []Stmt { return nil })
			if !ok {
				break
			}
			if try(q, xs) {
				again = true
				i--
				continue
			}
			q, _ = edit(p, i, func(s *Stmt) []Stmt { return append(slices.Clone(s.Body), s.Else...) })
			if len(q.Body) > 0 && q.Size() < p.Size() && try(q, xs) {
				again = true
			}
		}
		for i := range p.Size() { // simplify arguments
			for a := range 4 {
				for to := range 3 {
					q, _ := edit(p, i, func(s *Stmt) []Stmt {
						if a < len(s.A) && s.A[a] > to {
							s.A[a] = to
						}
						return []Stmt{*s}
					})
					if q != nil && !same(p, q) && try(q, xs) {
						again = true
						break
					}
				}
			}
			for _, c := range []float64{0, 1} {
				q, _ := edit(p, i, func(s *Stmt) []Stmt {
					if s.C != 0 && s.C != 1 {
						s.C = c
					}
					return []Stmt{*s}
				})
				if q != nil && !same(p, q) && try(q, xs) {
					again = true
					break
				}
			}
		}
		for o := range p.Outs {
			for to := range p.Outs[o] {
				q := clone(p)
				q.Outs[o] = to
				if try(q, xs) {
					again = true
					break
				}
			}
		}
		for i := range xs {
			for j := range xs[i] {
				for _, c := range []float64{0, 1, -1, math.Round(xs[i][j]), math.Round(xs[i][j]*16) / 16} {
					if simpler(c, xs[i][j]) {
						ys := make([][]float64, len(xs))
						for k := range xs {
							ys[k] = slices.Clone(xs[k])
						}
						ys[i][j] = c
						if try(p, ys) {
							again = true
							break
						}
					}
				}
			}
		}
	}
	return p, xs
}

// simpler reports whether c is a simpler constant than x: in this order 0, 1, -1, integers, multiples of 1/16, others.
func simpler(c, x float64) bool {
	rank := func(v float64) int {
		switch {
		case v == 0 && !math.Signbit(v):
			return 0
		case v == 1:
			return 1
		case v == -1:
			return 2
		case v == math.Round(v):
			return 3
		case v*16 == math.Round(v*16):
			return 4
		}
		return 5
	}
	return rank(c) < rank(x)
}

// same reports whether p and q have the same source.
func same(p, q *Prog) bool { return p.String() == q.String() }

// clone returns a deep copy of p.
func clone(p *Prog) *Prog {
	q := *p
	q.Body = cloneBlock(p.Body)
	q.Outs = slices.Clone(p.Outs)
	return &q
}

func cloneBlock(body []Stmt) []Stmt {
	out := slices.Clone(body)
	for i := range out {
		s := &out[i]
		s.A, s.Caps = slices.Clone(s.A), slices.Clone(s.Caps)
		s.Body, s.Else = cloneBlock(s.Body), cloneBlock(s.Else)
		if s.Sub != nil {
			s.Sub = clone(s.Sub)
		}
	}
	return out
}

// edit returns a copy of p in which statement i is replaced by the statements that f returns for it, and reports
// whether p has statement i. Statements are counted in the order of the source, nested blocks and functions included. f
// may modify its argument.
func edit(p *Prog, i int, f func(s *Stmt) []Stmt) (*Prog, bool) {
	q := clone(p)
	found := false
	var walk func(body []Stmt) []Stmt
	walk = func(body []Stmt) []Stmt {
		for k := range body {
			if found {
				break
			}
			if i == 0 {
				found = true
				return slices.Replace(body, k, k+1, f(&body[k])...)
			}
			i--
			body[k].Body = walk(body[k].Body)
			body[k].Else = walk(body[k].Else)
			if s := body[k].Sub; s != nil {
				s.Body = walk(s.Body)
			}
		}
		return body
	}
	q.Body = walk(q.Body)
	return q, found
}
