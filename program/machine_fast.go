package program

import "github.com/nabla-ad/nabla/rules"

// fast is the opcode of an instruction in runFast; fastNo if runFast does not implement it.
type fast uint8

const (
	fastNo fast = iota
	fastAdd
	fastSub
	fastMul
	fastDiv
	fastNeg
	fastSq
	fastSum // one lane, gathered
	fastAddGather
	fastSubGather
	fastMulGather
	fastNegGather
	fastSqGather
)

// fewLanes is the smallest number of lanes that run as one instruction. Below it the loop set-up costs more than
// running the lanes one by one.
const fewLanes = 4

// scalarKind maps an operation to its one-lane opcode in runFast.
var scalarKind = [256]fast{
	rules.Add: fastAdd, rules.Sub: fastSub, rules.Mul: fastMul,
	rules.Div: fastDiv, rules.Neg: fastNeg, rules.Sq: fastSq,
}

// kind returns the opcode of c in runFast.
func (c *instr) kind() fast {
	switch {
	case c.op == Sum && c.n == 1 && c.form == formOther:
		return fastSum
	case c.form == formOne:
		return scalarKind[c.op]
	case c.form == formOther:
		switch c.op {
		case Op(rules.Neg):
			return fastNegGather
		case Op(rules.Sq):
			return fastSqGather
		}
	case c.form == formGathers:
		switch c.op {
		case Op(rules.Add):
			return fastAddGather
		case Op(rules.Sub):
			return fastSubGather
		case Op(rules.Mul):
			return fastMulGather
		}
	}
	return fastNo
}

// runFast executes instructions from i on until one that it does not implement, and returns its position, or len(code).
// It makes no calls: a call anywhere in the function would make the compiler save registers in every case.
func runFast(code []instr, i int, m []float64, index []int32) int {
	for ; i < len(code); i++ {
		c := &code[i]
		switch c.fast {
		case fastAdd:
			m[c.d] = m[c.a] + m[c.b]
		case fastSub:
			m[c.d] = m[c.a] - m[c.b]
		case fastMul:
			m[c.d] = m[c.a] * m[c.b]
		case fastDiv:
			m[c.d] = m[c.a] / m[c.b]
		case fastNeg:
			m[c.d] = -m[c.a]
		case fastSq:
			v := m[c.a]
			m[c.d] = v * v
		case fastSum:
			ia := index[c.a : c.a+c.k]
			s := m[ia[0]]
			for _, x := range ia[1:] {
				s += m[x]
			}
			m[c.d] = s
		case fastAddGather:
			dst := m[c.d : c.d+c.n]
			ia, ib := index[c.a:c.a+c.n], index[c.b:c.b+c.n]
			ia, ib = ia[:len(dst)], ib[:len(dst)]
			for j := range dst {
				dst[j] = m[ia[j]] + m[ib[j]]
			}
		case fastSubGather:
			dst := m[c.d : c.d+c.n]
			ia, ib := index[c.a:c.a+c.n], index[c.b:c.b+c.n]
			ia, ib = ia[:len(dst)], ib[:len(dst)]
			for j := range dst {
				dst[j] = m[ia[j]] - m[ib[j]]
			}
		case fastMulGather:
			dst := m[c.d : c.d+c.n]
			ia, ib := index[c.a:c.a+c.n], index[c.b:c.b+c.n]
			ia, ib = ia[:len(dst)], ib[:len(dst)]
			for j := range dst {
				dst[j] = m[ia[j]] * m[ib[j]]
			}
		case fastNegGather:
			dst := m[c.d : c.d+c.n]
			ia := index[c.a : c.a+c.n]
			ia = ia[:len(dst)]
			for j, x := range ia {
				dst[j] = -m[x]
			}
		case fastSqGather:
			dst := m[c.d : c.d+c.n]
			ia := index[c.a : c.a+c.n]
			ia = ia[:len(dst)]
			for j, x := range ia {
				v := m[x]
				dst[j] = v * v
			}
		default:
			return i
		}
	}
	return i
}
