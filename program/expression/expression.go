package expression

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/program"
	"github.com/nabla-ad/nabla/program/export"
	"github.com/nabla-ad/nabla/rules"
)

// An Expression is a formula in named inputs. It does not change: methods return new ones. All methods are safe for
// concurrent use. Those of the zero Expression return an [*EmptyError], or nothing.
type Expression struct {
	g  *graph
	id int32
}

// OfOptions configures [Of].
type OfOptions struct {
	// Names are those of the inputs of all groups, and then of the parameters. Nil names them after their group and
	// their number, counted from 1: x1, x2, or x for a group of one; parameters are p1, p2.
	Names []string
	// Exact applies only those rules that keep every bit, to what is derived from the expressions too.
	Exact bool
}

// MaxOrder is the highest order of [Expression.Derivative].
const MaxOrder = 50

// Of returns the outputs of p, of all groups, as expressions, with the operations of p. Errors are a [*ProgramError]
// and a [*NameError].
func Of(p *program.Program, o *OfOptions) ([]Expression, error) {
	if o == nil {
		o = new(OfOptions)
	}
	g := newGraph(levelOf(o.Exact))
	slot, err := g.loadAs(p, bare)
	if err != nil {
		return nil, err
	}
	names := o.Names
	if names == nil {
		names = defaultNames(p)
	}
	if n := p.NumIn() + p.Params; len(names) != n {
		return nil, &NameError{Op: "Of", Name: fmt.Sprint(len(names), " names"), Known: names,
			Problem: fmt.Sprintf("are given for %d inputs and parameters", n)}
	}
	for i, name := range names {
		if name == "" || slices.Contains(names[:i], name) {
			return nil, &NameError{Op: "Of", Name: name, Known: names, Problem: "is empty or the name of two inputs"}
		}
	}
	g.names = names
	list := make([]Expression, len(p.Result))
	for i, s := range p.Result {
		list[i] = Expression{g, slot[s]}.copied()
	}
	return list, nil
}

// defaultNames returns the names of the inputs and parameters of p.
func defaultNames(p *program.Program) []string {
	names := make([]string, 0, p.NumIn()+p.Params)
	for _, in := range p.Ins {
		for i := range in.N {
			if in.N == 1 {
				names = append(names, in.Name)
			} else {
				names = append(names, in.Name+strconv.Itoa(i+1))
			}
		}
	}
	for i := range p.Params {
		names = append(names, "p"+strconv.Itoa(i+1))
	}
	return names
}

// Constant returns the expression of a number.
func Constant(v float64) Expression {
	g := newGraph(allRules)
	return Expression{g, g.constant(v)}
}

// copied returns e in a graph that holds nothing else, with its inputs in their order.
func (e Expression) copied() Expression {
	g := newGraph(e.g.level)
	on := e.g.reach([]int32{e.id})
	for k, name := range e.g.names {
		n := node{op: program.Input, k: int32(k)}
		if first := len(e.g.names) - e.g.params; k >= first {
			n = node{op: program.Param, k: int32(k - first)}
		}
		if id, ok := e.g.index[n]; ok && on[id] {
			g.named(name)
		}
	}
	return Expression{g, g.take(e, nil, bare)}
}

// take adds the operations of e to g, with the rules of level l, and returns the node of e. Inputs of e named in put
// are replaced by nodes.
func (g *graph) take(e Expression, put map[string]int32, l level) int32 {
	on := e.g.reach([]int32{e.id})
	to := make([]int32, e.id+1)
	for id := range e.id + 1 {
		if !on[id] {
			continue
		}
		switch n := e.g.nodes[id]; n.op {
		case program.Input, program.Param:
			if n.op == program.Param { // of a graph that program was loaded into; copies have inputs alone
				n.k += int32(len(e.g.names) - e.g.params)
			}
			name := e.g.names[n.k]
			if id2, ok := put[name]; ok {
				to[id] = id2
			} else {
				to[id] = g.named(name)
			}
		case program.Const:
			to[id] = g.add(n)
		default:
			var a [3]int32
			for i, x := range e.g.args(id) {
				a[i] = to[x]
			}
			to[id] = g.make(rules.Op(n.op), a, l)
		}
	}
	return to[e.id]
}

// named returns the input with a name, which is added if there is none.
func (g *graph) named(name string) int32 {
	k := slices.Index(g.names, name)
	if k < 0 {
		k = len(g.names)
		g.names = append(g.names, name)
	}
	return g.input(k)
}

// made returns an error of method op if nothing has made e.
func (e Expression) made(op string) error {
	if e.g == nil {
		return &EmptyError{Op: op}
	}
	return nil
}

// Inputs returns the names of the inputs that e depends on, in their order.
func (e Expression) Inputs() []string {
	if e.g == nil {
		return nil
	}
	return e.copied().g.names
}

// Operations returns the number of operations of e.
func (e Expression) Operations() int {
	if e.g == nil {
		return 0
	}
	return e.g.operations([]int32{e.id})
}

// Derivative returns the derivative with respect to one input after the other: Derivative("x", "y") is ∂²/∂y∂x. It is
// the constant 0 if the expression does not depend on an input of the original program; an unknown name is a
// [*NameError]. More than MaxOrder names are an *OrderError of package nabla, and an expression that grows beyond 10
// million operations is a *LimitError.
//
// The time grows with the size of the result, which for a high order can be much larger than the expression.
func (e Expression) Derivative(names ...string) (Expression, error) {
	if err := e.made("Derivative"); err != nil {
		return Expression{}, err
	}
	if len(names) > MaxOrder {
		return Expression{}, &core.OrderError{Op: "Expression.Derivative", Order: len(names), Max: MaxOrder,
			Remedy: "use nabla.Derivatives, by Taylor arithmetic, for high orders"}
	}
	for _, name := range names {
		if err := e.known("Derivative", name); err != nil {
			return Expression{}, err
		}
	}
	for _, name := range names {
		d := e.copied()
		if slices.Contains(d.g.names, name) {
			if v, ok := d.g.tangent(d.id, d.g.named(name)); ok {
				d.id = d.g.node(v)
			} else {
				d.id = d.g.constant(0)
			}
		} else {
			d.id = d.g.constant(0)
		}
		if len(d.g.nodes) > maxNodes {
			return Expression{}, &core.LimitError{Limit: maxNodes}
		}
		all := e.g.names
		e = d.copied()
		e.g.names = append(e.g.names, missing(e.g.names, all)...) // they stay known, also if nothing depends on them
	}
	return e, nil
}

// maxNodes is the largest number of nodes of a graph.
const maxNodes = 10_000_000

// missing returns those of all that are not in have.
func missing(have, all []string) (list []string) {
	for _, name := range all {
		if !slices.Contains(have, name) {
			list = append(list, name)
		}
	}
	return list
}

// known returns an error of method op if there is no input called name in the graph of e.
func (e Expression) known(op, name string) error {
	if !slices.Contains(e.g.names, name) {
		return &NameError{Op: op, Name: name, Known: e.g.names, Problem: "is no input of the expression"}
	}
	return nil
}

// Substitute returns e with inputs replaced by expressions, all at once: x by y and y by x swaps the two. The result
// depends on the inputs of the replacements, of which those with the name of another input of e are the same. The error
// is a [*NameError] if a name is no input of e, and an [*EmptyError].
func (e Expression) Substitute(by map[string]Expression) (Expression, error) {
	if err := e.made("Substitute"); err != nil {
		return Expression{}, err
	}
	g := newGraph(e.g.level)
	for _, name := range e.g.names {
		g.named(name)
	}
	put := make(map[string]int32, len(by))
	names := make([]string, 0, len(by))
	for name := range by {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if err := e.known("Substitute", name); err != nil {
			return Expression{}, err
		}
		if err := by[name].made("Substitute"); err != nil {
			return Expression{}, err
		}
		put[name] = g.take(by[name], nil, bare)
	}
	return Expression{g, g.take(e, put, e.g.level)}.copied(), nil
}

// Simplify returns e after all rules have been applied, those that keep every bit alone if exact is set.
func (e Expression) Simplify(exact bool) Expression {
	if e.g == nil {
		return e
	}
	g := newGraph(levelOf(exact))
	return Expression{g, g.take(e, nil, g.level)}.copied()
}

// Value returns the value of e where the inputs have the given values. The error is a [*NameError] if an input that e
// depends on has none.
func (e Expression) Value(at map[string]float64) (float64, error) {
	if err := e.made("Value"); err != nil {
		return 0, err
	}
	for _, name := range e.Inputs() {
		if _, ok := at[name]; !ok {
			return 0, &NameError{Op: "Value", Name: name, Known: e.Inputs(), Problem: "has no value"}
		}
	}
	return e.evaluate(func(name string) float64 { return at[name] }), nil
}

// evaluate returns the value of e.
func (e Expression) evaluate(at func(name string) float64) float64 {
	on := e.g.reach([]int32{e.id})
	v := make([]float64, e.id+1)
	for id := range v {
		if !on[id] {
			continue
		}
		switch n := &e.g.nodes[id]; n.op {
		case program.Input:
			v[id] = at(e.g.names[n.k])
		case program.Const:
			v[id] = math.Float64frombits(n.bits)
		default:
			var a [3]float64
			for i, x := range e.g.args(int32(id)) {
				a[i] = v[x]
			}
			v[id] = evaluate(rules.Op(n.op), a)
		}
	}
	return v[e.id]
}

// The random points of Equal.
const (
	equalPoints = 64
	equalWanted = 8 // points with finite values that are enough
	equalTol    = 1e-9
)

// Equal reports whether e and f have the same values, as far as evaluation at random points can tell: at 8 or more
// points where both are finite the values agree to a relative difference of 1e-9, and they are finite at the same
// points. Inputs with the same name are one input. Components of points have magnitudes between 0.1 and 10 and either
// sign. The answer false is certain but for rounding errors; true is not for expressions that differ only elsewhere,
// such as by a rare branch. Points are the same in every call.
//
// The error is a [*PointError] if there is no point with finite values, and an [*EmptyError].
func (e Expression) Equal(f Expression) (bool, error) {
	if err := e.made("Equal"); err != nil {
		return false, err
	}
	if err := f.made("Equal"); err != nil {
		return false, err
	}
	r := rand.New(rand.NewPCG(1, 2))
	found := 0
	for range equalPoints {
		at := map[string]float64{}
		value := func(name string) float64 {
			v, ok := at[name]
			if !ok {
				v = math.Exp2(6.6*r.Float64()-3.3) * float64(2*r.IntN(2)-1)
				at[name] = v
			}
			return v
		}
		a, b := e.evaluate(value), f.evaluate(value)
		fa, fb := a-a == 0, b-b == 0
		switch {
		case fa != fb:
			return false, nil
		case !fa:
			continue
		case math.Abs(a-b) > equalTol*max(math.Abs(a), math.Abs(b)):
			return false, nil
		}
		if found++; found == equalWanted {
			return true, nil
		}
	}
	if found == 0 {
		return false, &PointError{Points: equalPoints}
	}
	return true, nil
}

// Program returns a program that computes the given expressions, as the output group called name. Each input that one
// of them depends on is a group of one number, in the order in which the expressions have them. The error is an
// [*EmptyError].
func Program(name string, list ...Expression) (*program.Program, error) {
	g := newGraph(bare)
	out := output{name: name}
	for _, e := range list {
		if err := e.made("Program"); err != nil {
			return nil, err
		}
		out.nodes = append(out.nodes, g.take(e, nil, bare))
	}
	for _, in := range g.names {
		g.groups = append(g.groups, program.Group{Name: in, N: 1})
	}
	return g.program([]output{out}), nil
}

// LaTeX returns the expression as a formula called name, in the form of export.LaTeX: shared values have a line each.
// The error is an [*EmptyError].
func (e Expression) LaTeX(name string) ([]byte, error) {
	if err := e.made("LaTeX"); err != nil {
		return nil, err
	}
	p, err := Program(name, e)
	if err != nil {
		return nil, err
	}
	return export.LaTeX(p, export.Options{})
}
