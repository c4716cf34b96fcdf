package program

import (
	"math"
	"slices"

	"github.com/nabla-ad/nabla/internal/core"
)

// A kept holds the pullbacks that calls of custom rules keep during a run, for the calls of their cotangents in the
// same run. They are found by the inputs, bit for bit, so that a pullback is never used at another point; and they end
// with the run, since the data that a rule reads may change between runs.
type kept struct {
	makes []core.Pullable  // by custom rule: it, if it keeps pullbacks that the program uses
	uses  []core.Cotangent // by custom rule: it, if it uses the pullbacks of another one
	list  []keptPullback
	next  int // where the search begins: cotangents are mostly called in the reverse order of values
}

// A keptPullback is a pullback of the rule with an identity.
type keptPullback struct {
	of any
	by core.Pullback
}

// newKept returns memory for the pullbacks of p, nil if p computes no value whose pullback it uses.
func newKept(p *Program) *kept {
	k := &kept{makes: make([]core.Pullable, len(p.Customs)), uses: make([]core.Cotangent, len(p.Customs))}
	makes, uses := map[any]bool{}, map[any]bool{}
	for i := range p.Stmts {
		s := &p.Stmts[i]
		if s.Op != Call {
			continue
		}
		c := p.Customs[s.K]
		if v, ok := c.(core.Pullable); ok && v.Pulls() {
			k.makes[s.K] = v
			makes[v.Identity()] = true
		}
		if t, ok := c.(core.Cotangent); ok {
			k.uses[s.K] = t
			uses[t.Of()] = true
		}
	}
	both := false
	for i, v := range k.makes {
		if v != nil && !uses[v.Identity()] {
			k.makes[i] = nil // its value suffices
		}
	}
	for i, t := range k.uses {
		if t != nil && !makes[t.Of()] {
			k.uses[i] = nil
		}
		both = both || k.uses[i] != nil
	}
	if !both {
		return nil
	}
	return k
}

// call computes the outputs of rule i, and reports whether it has done so.
func (k *kept) call(i int32, out, in []float64) bool {
	if p := k.makes[i]; p != nil {
		k.list = append(k.list, keptPullback{p.Identity(), p.ValueVJP(out, in)})
		k.next = len(k.list) - 1
		return true
	}
	if c := k.uses[i]; c != nil {
		x := in[:len(out)] // the outputs are cotangents of the inputs, and the seed comes behind these
		if p := k.find(c.Of(), x); p != nil {
			c.ValueBy(p, out, in)
			return true
		}
	}
	return false
}

// find returns the pullback of a rule at x, bit for bit, nil if there is none.
func (k *kept) find(of any, x []float64) core.Pullback {
	for range k.list {
		if p := &k.list[k.next]; p.of == of && slices.EqualFunc(p.by.Point(), x, equalBits) {
			return p.by
		}
		if k.next--; k.next < 0 {
			k.next = len(k.list) - 1
		}
	}
	return nil
}

// equalBits reports whether a and b are the same bit for bit, NaNs with their payloads.
func equalBits(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }

// clear drops all pullbacks.
func (k *kept) clear() {
	clear(k.list)
	k.list, k.next = k.list[:0], 0
}
