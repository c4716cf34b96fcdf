package program

import (
	"math"

	"github.com/nabla-ad/nabla/internal/vector"
	"github.com/nabla-ad/nabla/rules"
)

// sameBits reports whether a and b have equal bits or are both NaN. The payload of a NaN depends on the operand order
// that the compiler chooses.
func sameBits(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
}

// scalar returns the value of a one-lane elementary instruction. It handles common operations inline; a call of package
// math in this function would slow all of them down.
func scalar(c *instr, m []float64) float64 {
	a := m[c.a]
	switch rules.Op(c.op) {
	case rules.Add:
		return a + m[c.b]
	case rules.Sub:
		return a - m[c.b]
	case rules.Mul:
		return float64(a * m[c.b])
	case rules.Div:
		return a / m[c.b]
	case rules.Neg:
		return -a
	case rules.Sq:
		return a * a
	}
	return scalarSlow(c, m)
}

// scalarSlow returns the value of a one-lane elementary instruction by package rules.
func scalarSlow(c *instr, m []float64) float64 {
	switch op := rules.Op(c.op); op.Arity() {
	case 1:
		return rules.Value1(op, m[c.a])
	case 2:
		return rules.Value2(op, m[c.a], m[c.b])
	default:
		return rules.Value3(op, m[c.a], m[c.b], m[c.c])
	}
}

// lanes runs an elementary instruction of many lanes.
func lanes(c *instr, m []float64, index []int32) {
	n := int(c.n)
	dst := m[c.d : int(c.d)+n : int(c.d)+n]
	op := rules.Op(c.op)
	switch op.Arity() {
	case 1:
		if c.form == formRuns {
			unary(op, dst, m[c.a:int(c.a)+n])
			return
		}
		unaryGather(op, dst, m, index[c.a:int(c.a)+n])
	case 2:
		switch c.form {
		case formRuns:
			binaryRuns(op, dst, m[c.a:int(c.a)+n], m[c.b:int(c.b)+n])
		case formRunSlot:
			binaryRunSlot(op, dst, m[c.a:int(c.a)+n], m[c.b])
		case formSlotRun:
			binarySlotRun(op, dst, m[c.a], m[c.b:int(c.b)+n])
		default:
			binaryGather(op, dst, m, index[c.a:int(c.a)+n], index[c.b:int(c.b)+n])
		}
	default:
		ia, ib, ic := index[c.a:int(c.a)+n], index[c.b:int(c.b)+n], index[c.c:int(c.c)+n]
		if op == rules.Select {
			for i := range dst {
				if m[ia[i]] != 0 {
					dst[i] = m[ib[i]]
				} else {
					dst[i] = m[ic[i]]
				}
			}
			return
		}
		for i := range dst {
			dst[i] = rules.Value3(op, m[ia[i]], m[ib[i]], m[ic[i]])
		}
	}
}

// unary sets dst[i] = op(a[i]). dst and a may be the same slice.
func unary(op rules.Op, dst, a []float64) {
	a = a[:len(dst)]
	switch op {
	case rules.Neg:
		for i, v := range a {
			dst[i] = -v
		}
	case rules.Sq:
		for i, v := range a {
			dst[i] = v * v
		}
	case rules.Inv:
		for i, v := range a {
			dst[i] = 1 / v
		}
	case rules.Sqrt:
		for i, v := range a {
			dst[i] = math.Sqrt(v)
		}
	case rules.Exp:
		vector.Exp(dst, a)
	case rules.Log:
		vector.Log(dst, a)
	case rules.Log1p:
		vector.Log1p(dst, a)
	case rules.Expm1:
		vector.Expm1(dst, a)
	case rules.Sin:
		vector.Sin(dst, a)
	case rules.Cos:
		vector.Cos(dst, a)
	case rules.Tanh:
		vector.Tanh(dst, a)
	case rules.Logistic, rules.Softplus, rules.SechSq:
		overExponentials(op, dst, a)
	default:
		for i, v := range a {
			dst[i] = rules.Value1(op, v)
		}
	}
}

// overExponentials is unary for functions of x and e^-|x|, or e^-2|x|, by the operations of package rules. It selects
// by the bits of numbers: half of the branches on random signs would be foretold wrongly.
func overExponentials(op rules.Op, dst, a []float64) {
	var buf [64]float64
	for len(a) > 0 {
		n := min(len(a), len(buf))
		e, x, y := buf[:n], a[:n], dst[:n]
		if op == rules.SechSq {
			for i, v := range x {
				e[i] = -2 * math.Abs(v)
			}
		} else {
			for i, v := range x {
				e[i] = -math.Abs(v)
			}
		}
		vector.Exp(e, e)
		switch op {
		case rules.Logistic:
			one := math.Float64bits(1)
			for i, v := range e { // 1 / (1 + v), or v / (1 + v) of a negative number
				m := negative(x[i])
				y[i] = math.Float64frombits(one&^m|math.Float64bits(v)&m) / (1 + v)
			}
		case rules.Softplus:
			vector.Log1p(e, e)
			for i, v := range x { // v + e, or 0 + e of a negative number or NaN, whose sign is that of e
				y[i] = math.Float64frombits(math.Float64bits(v)&^(negative(v)|unordered(v))) + e[i]
			}
		case rules.SechSq:
			for i, v := range e {
				y[i] = 4 * v / ((1 + v) * (1 + v))
			}
		}
		dst, a = dst[n:], a[n:]
	}
}

// negative returns all bits for a number with a sign, otherwise none.
func negative(v float64) uint64 { return uint64(int64(math.Float64bits(v)) >> 63) }

// unordered returns all bits for a NaN, otherwise none.
func unordered(v float64) uint64 {
	return uint64(int64(math.Float64bits(math.Inf(1))-math.Float64bits(math.Abs(v))) >> 63)
}

// unaryGather sets dst[i] = op(m[ia[i]]).
func unaryGather(op rules.Op, dst, m []float64, ia []int32) {
	ia = ia[:len(dst)]
	switch op {
	case rules.Neg:
		for i, x := range ia {
			dst[i] = -m[x]
		}
	case rules.Sq:
		for i, x := range ia {
			v := m[x]
			dst[i] = v * v
		}
	default:
		for i, x := range ia {
			dst[i] = m[x]
		}
		unary(op, dst, dst)
	}
}

// binaryRuns sets dst[i] = op(a[i], b[i]).
func binaryRuns(op rules.Op, dst, a, b []float64) {
	a, b = a[:len(dst)], b[:len(dst)]
	switch op {
	case rules.Add:
		for i, v := range a {
			dst[i] = v + b[i]
		}
	case rules.Sub:
		for i, v := range a {
			dst[i] = v - b[i]
		}
	case rules.Mul:
		for i, v := range a {
			dst[i] = v * b[i]
		}
	case rules.Div:
		for i, v := range a {
			dst[i] = v / b[i]
		}
	case rules.Pow:
		vector.Pow(dst, a, b)
	case rules.PowDx:
		powDx(dst, a, func(i int) float64 { return b[i] })
	default:
		for i, v := range a {
			dst[i] = rules.Value2(op, v, b[i])
		}
	}
}

// binaryRunSlot sets dst[i] = op(a[i], b).
func binaryRunSlot(op rules.Op, dst, a []float64, b float64) {
	a = a[:len(dst)]
	switch op {
	case rules.Add:
		for i, v := range a {
			dst[i] = v + b
		}
	case rules.Sub:
		for i, v := range a {
			dst[i] = v - b
		}
	case rules.Mul:
		for i, v := range a {
			dst[i] = v * b
		}
	case rules.Div:
		for i, v := range a {
			dst[i] = v / b
		}
	case rules.Pow:
		vector.PowScalar(dst, a, b)
	case rules.PowDx:
		powDx(dst, a, func(int) float64 { return b })
	default:
		for i, v := range a {
			dst[i] = rules.Value2(op, v, b)
		}
	}
}

// powDx sets dst[i] to the derivative of x^p by x, for x = a[i] and p = exponent(i), by the operations of
// package rules.
func powDx(dst, a []float64, exponent func(i int) float64) {
	const chunk = 64
	var x, p, power [chunk]float64
	for first := 0; first < len(a); first += chunk {
		n := copy(x[:], a[first:])
		for i := range n {
			p[i] = exponent(first + i)
			power[i] = p[i] - 1
		}
		vector.Pow(power[:n], x[:n], power[:n])
		for i, v := range power[:n] {
			if p[i] != 0 && rules.Value2(rules.PowScale, x[i], p[i]) == 1 {
				dst[first+i] = p[i] * v
			} else {
				dst[first+i] = rules.Value2(rules.PowDx, x[i], p[i])
			}
		}
	}
}

// binarySlotRun sets dst[i] = op(a, b[i]).
func binarySlotRun(op rules.Op, dst []float64, a float64, b []float64) {
	b = b[:len(dst)]
	switch op {
	case rules.Add:
		for i, v := range b {
			dst[i] = a + v
		}
	case rules.Sub:
		for i, v := range b {
			dst[i] = a - v
		}
	case rules.Mul:
		for i, v := range b {
			dst[i] = a * v
		}
	case rules.Div:
		for i, v := range b {
			dst[i] = a / v
		}
	default:
		for i, v := range b {
			dst[i] = rules.Value2(op, a, v)
		}
	}
}

// binaryGather sets dst[i] = op(m[ia[i]], m[ib[i]]).
func binaryGather(op rules.Op, dst, m []float64, ia, ib []int32) {
	ia, ib = ia[:len(dst)], ib[:len(dst)]
	switch op {
	case rules.Add:
		for i, x := range ia {
			dst[i] = m[x] + m[ib[i]]
		}
	case rules.Sub:
		for i, x := range ia {
			dst[i] = m[x] - m[ib[i]]
		}
	case rules.Mul:
		for i, x := range ia {
			dst[i] = m[x] * m[ib[i]]
		}
	case rules.Div:
		for i, x := range ia {
			dst[i] = m[x] / m[ib[i]]
		}
	default:
		for i, x := range ia {
			dst[i] = rules.Value2(op, m[x], m[ib[i]])
		}
	}
}

// sum runs a Sum instruction: it adds the terms of each lane in their order.
func sum(c *instr, m []float64, index []int32) {
	n, k := int(c.n), int(c.k)
	if c.form == formRuns {
		terms := m[c.a : int(c.a)+k]
		s := terms[0]
		for _, v := range terms[1:] {
			s += v
		}
		m[c.d] = s
		return
	}
	dst := m[c.d : int(c.d)+n]
	ia := index[c.a : int(c.a)+n*k]
	switch k {
	case 1:
		for i, x := range ia[:len(dst)] {
			dst[i] = m[x]
		}
	case 2:
		for i := range dst {
			dst[i] = m[ia[2*i]] + m[ia[2*i+1]]
		}
	case 3:
		for i := range dst {
			dst[i] = m[ia[3*i]] + m[ia[3*i+1]] + m[ia[3*i+2]]
		}
	case 4:
		for i := range dst {
			dst[i] = m[ia[4*i]] + m[ia[4*i+1]] + m[ia[4*i+2]] + m[ia[4*i+3]]
		}
	default:
		// Several lanes at once hide the latency of the additions.
		i := 0
		for ; i+4 <= n; i += 4 {
			p, q, r, t := ia[i*k:(i+1)*k], ia[(i+1)*k:(i+2)*k], ia[(i+2)*k:(i+3)*k], ia[(i+3)*k:(i+4)*k]
			q, r, t = q[:len(p)], r[:len(p)], t[:len(p)]
			s0, s1, s2, s3 := m[p[0]], m[q[0]], m[r[0]], m[t[0]]
			for j := 1; j < len(p); j++ {
				s0 += m[p[j]]
				s1 += m[q[j]]
				s2 += m[r[j]]
				s3 += m[t[j]]
			}
			dst[i], dst[i+1], dst[i+2], dst[i+3] = s0, s1, s2, s3
		}
		for ; i < n; i++ {
			p := ia[i*k : (i+1)*k]
			s := m[p[0]]
			for _, x := range p[1:] {
				s += m[x]
			}
			dst[i] = s
		}
	}
}
