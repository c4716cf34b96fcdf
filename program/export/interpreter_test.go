package export

import (
	"math"

	"github.com/nabla-ad/nabla/program"
	"github.com/nabla-ad/nabla/rules"
)

// Interpret does what the exported function of p does: it runs the plan, with memory that holds NaNs before. Outputs,
// one group after another, share memory with inputs, the first output with the first input.
func Interpret(p *program.Program, o Options, x, params []float64) ([]float64, bool, error) {
	lines, err := linesOf(p, "Go", o)
	if err != nil {
		return nil, false, err
	}
	f := planOf(p, lines, o)
	m := &interpreter{plan: f, values: map[*class]float64{}, work: make([]float64, f.work), params: params}
	for i := range m.work {
		m.work[i] = math.NaN()
	}
	io := make([]float64, max(len(x), p.NumOut()))
	copy(io, x)
	m.ins, m.outs = parts(io, p.Ins), parts(io, p.Outs)
	if !m.run() {
		return nil, false, nil
	}
	return io[:p.NumOut()], true, nil
}

// parts divides x into groups.
func parts(x []float64, groups []program.Group) (list [][]float64) {
	for _, g := range groups {
		list = append(list, x[:g.N])
		x = x[g.N:]
	}
	return list
}

type interpreter struct {
	plan         *plan
	values       map[*class]float64 // of single numbers, and of lanes in the current iteration
	work, params []float64
	ins, outs    [][]float64
}

func (m *interpreter) run() bool {
	f := m.plan
	for b, list := range f.blocks {
		if b == f.out.start {
			m.fills()
		}
		for _, c := range list {
			if c.kind == reduce && c.from == nil {
				m.values[c] = math.Copysign(0, -1)
			} else if c.kind == reduce {
				m.values[c] = m.values[c.from]
			}
		}
		for i := range f.iter[b] {
			for _, c := range list {
				if !m.step(b, c, i) {
					return false
				}
			}
		}
	}
	if len(f.blocks) <= f.out.start {
		m.fills()
	}
	for _, s := range f.out.single {
		v := s.value
		if s.from != nil {
			v = m.lane(s.from, s.lane)
		}
		m.outs[s.group][s.at] = derivative(s.group, v)
	}
	for _, s := range f.out.stores {
		for i := range s.n {
			if !s.direct {
				m.outs[s.group][s.positions.of(i, 0, 1)] = derivative(s.group, m.lane(s.from, s.lanes.of(i, 0, 1)))
			}
		}
	}
	return true
}

func derivative(group int, v float64) float64 {
	if group > 0 {
		return v + 0
	}
	return v
}

func (m *interpreter) fills() {
	for _, s := range m.plan.out.fills {
		for i := range m.outs[s.group] {
			m.outs[s.group][i] = s.pattern[i%len(s.pattern)]
		}
	}
}

// lane returns a number of a class that is computed.
func (m *interpreter) lane(c *class, l int) float64 {
	if c.n == 1 {
		return m.values[c]
	}
	return m.work[c.offset+l]
}

// arg returns term k of a in an iteration of block b.
func (m *interpreter) arg(b int, c *class, a arg, i, k int) float64 {
	switch {
	case a.values != nil:
		return a.values[i]
	case a.from == nil && a.group == parameters:
		return m.params[a.at.of(i, k, c.terms)]
	case a.from == nil:
		return m.ins[a.group][a.at.of(i, k, c.terms)]
	case a.from.n == 1 || c.iter > 1 && a.from.block == b:
		return m.values[a.from]
	}
	return m.work[a.from.offset+a.at.of(i, k, c.terms)]
}

// step does what c does in iteration i and reports whether a guard holds.
func (m *interpreter) step(b int, c *class, i int) bool {
	var args []float64
	for _, a := range c.args {
		for k := range c.terms {
			args = append(args, m.arg(b, c, a, i, k))
		}
	}
	var v float64
	switch {
	case c.op.Guard():
		return holds(c.op, args[0], args[1]) == c.holds
	case c.kind == pack:
		for j, v := range args {
			m.work[c.offset+j] = v
		}
		return true
	case c.kind == copied:
		v = args[0]
	case c.op == program.Input:
		v = m.ins[c.group][c.at]
	case c.op == program.Param:
		v = m.params[c.at]
	case c.op == program.Const:
		v = c.value
	case c.op == program.Sum:
		switch {
		case c.kind == reduce:
			v = m.values[c]
		case c.from != nil:
			v = m.values[c.from]
		default:
			v, args = args[0], args[1:]
		}
		for _, a := range args {
			v += a
		}
	case len(args) == 1:
		v = rules.Value1(rules.Op(c.op), args[0])
	case len(args) == 2:
		v = rules.Value2(rules.Op(c.op), args[0], args[1])
	default:
		v = rules.Value3(rules.Op(c.op), args[0], args[1], args[2])
	}
	m.values[c] = v
	if c.array {
		w := v
		if !c.raw {
			w += 0
		}
		m.work[c.offset+i] = w
	}
	for _, s := range m.plan.out.stores {
		if s.direct && s.from == c {
			m.outs[s.group][s.positions.of(i, 0, 1)] = derivative(s.group, v)
		}
	}
	return true
}

func holds(op program.Op, a, b float64) bool {
	switch op {
	case program.GuardLt:
		return a < b
	case program.GuardLe:
		return a <= b
	case program.GuardEq:
		return a == b
	case program.GuardBits:
		return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
	}
	return int(a) == int(b)
}

// Features are what the plan of p has, of the kinds of classes, arguments and outputs that there are.
func Features(p *program.Program, o Options) map[string]bool {
	lines, err := linesOf(p, "Go", o)
	if err != nil {
		return nil
	}
	f := planOf(p, lines, o)
	has := map[string]bool{"fills": len(f.out.fills) > 0, "work": f.work > stackNumbers}
	memory := 0
	for b, list := range f.blocks {
		n := 0
		for _, c := range list {
			has[[]string{"single", "lanes", "part", "reduce", "pack", "copied"}[c.kind]] = true
			has["guards in a loop"] = has["guards in a loop"] || c.op.Guard() && c.iter > 1
			has["inner loop"] = has["inner loop"] || c.terms > 1
			if c.array {
				memory += c.n
			}
			for _, a := range c.args {
				has["table"] = has["table"] || a.at.table != nil
				has["stride"] = has["stride"] || a.at.stride > 1
				has["descending"] = has["descending"] || a.at.stride < 0
				has["shifted"] = has["shifted"] || a.at.run() && a.at.start > 0 && a.from != nil && a.from.n > 1
				has["constants"] = has["constants"] || a.values != nil
				if a.from != nil && a.from.kind == lanes && a.from.block == b {
					n++
				}
			}
		}
		has["fused"] = has["fused"] || n > 2
	}
	has["shared memory"] = memory > f.work
	for _, s := range f.out.stores {
		has["direct"] = has["direct"] || s.direct
		has["stored"] = has["stored"] || !s.direct
	}
	return has
}
