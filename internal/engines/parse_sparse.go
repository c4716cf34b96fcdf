package engines

import (
	"strconv"
	"strings"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/coloring"
	"github.com/nabla-ad/nabla/sparsity"
)

// detector parses the name of a detector.
func (p *parser) detector(depth int) sparsity.Detector {
	p.spaces()
	start := p.pos
	limit := func() (n int) {
		if p.accept("(") {
			p.expect("limit")
			n = int(p.integer(31))
			p.expect(")")
		}
		return n
	}
	switch name := p.word(); name {
	case "global":
		return sparsity.Global{Limit: limit()}
	case "local":
		return sparsity.Local{Limit: limit()}
	case "recorded":
		if p.accept("(") {
			p.fail(start, name, "a detector that a name shows in full, which points are not")
		}
		return sparsity.Recorded{}
	case "none":
		return sparsity.None{}
	case "dense":
		p.expect("(")
		return p.dense(depth + 1)
	default:
		p.fail(start, name, "a detector that a name shows in full: global, local, recorded, none or dense",
			"global", "local", "recorded", "none", "dense")
	}
	return nil
}

// dense parses the backend of a DenseDetector and its settings.
func (p *parser) dense(depth int) sparsity.Detector {
	d := nabla.DenseDetector{Backend: p.backend(depth)}
	for p.accept(",") {
		p.spaces()
		start := p.pos
		switch key := p.word(); key {
		case "tol":
			d.Tol = p.float()
		case "direct":
			d.Direct = true
		default:
			p.fail(start, key, "a setting that a name shows in full: tol or direct", "tol", "direct")
		}
	}
	p.expect(")")
	return d
}

// coloring parses the name of an algorithm.
func (p *parser) coloring() coloring.Algorithm {
	p.spaces()
	start := p.pos
	switch name := p.word(); name {
	case "Greedy":
		return p.greedy()
	case "Optimal":
		p.expect("(")
		budget := p.number()
		p.expect(")")
		if (coloring.Optimal{Budget: budget}).String() == (coloring.Optimal{}).String() {
			budget = 0
		}
		return coloring.Optimal{Budget: budget}
	case "None":
		return coloring.None{}
	default:
		p.fail(start, name, "an algorithm that a name shows in full: Greedy, Optimal or None",
			"Greedy", "Optimal", "None")
	}
	return nil
}

// greedy parses the orders of a Greedy. Its zero value has the natural order.
func (p *parser) greedy() coloring.Algorithm {
	var g coloring.Greedy
	p.expect("(")
	for {
		g.Orders = append(g.Orders, p.order())
		if !p.accept(",") {
			break
		}
	}
	if p.accept(";") {
		p.expect("postprocessed")
		g.Postprocess = true
	}
	p.expect(")")
	if _, natural := g.Orders[0].(coloring.Natural); natural && len(g.Orders) == 1 {
		g.Orders = nil
	}
	return g
}

// number parses a positive integer.
func (p *parser) number() int {
	p.spaces()
	start := p.pos
	w := p.word()
	v, err := strconv.Atoi(w)
	if err != nil {
		p.fail(start, w, "an integer")
	}
	return v
}

// plainOrders are the orders without settings other than ColPack.
var plainOrders = []coloring.Order{
	coloring.Natural{}, coloring.LargestFirst{}, coloring.SmallestFirst{}, coloring.PerfectElimination{},
	coloring.SmallestLast, coloring.IncidenceDegree, coloring.DynamicLargestFirst,
	coloring.Dynamic{Forward: true, Descending: true},
}

func (p *parser) order() coloring.Order {
	p.spaces()
	start := p.pos
	if p.accept("Random(") {
		w := p.word()
		seed, err := strconv.ParseUint(w, 10, 64)
		if err != nil {
			p.fail(p.pos-len(w), w, "a seed")
		}
		p.expect(")")
		return coloring.Random{Seed: seed}
	}
	var names []string
	best, length := coloring.Order(nil), 0
	for _, o := range plainOrders { // the longest name, as one may begin with another
		name := o.String()
		names = append(names, name)
		if strings.HasPrefix(p.text[p.pos:], name) && len(name) > length {
			best, length = o, len(name)
		}
	}
	if best == nil {
		p.fail(start, p.rest(), "an order: "+strings.Join(names, ", ")+" or Random", names...)
	}
	p.pos += length
	if d, ok := best.(coloring.Dynamic); ok && p.accept("(ColPack)") {
		d.ColPack = true
		return d
	}
	return best
}
