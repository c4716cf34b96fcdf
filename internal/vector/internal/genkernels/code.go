package main

import (
	"fmt"
	"math"
	"slices"
)

// A value is the result of an instruction, which assigns it once, or a constant: a negative number.
type value int

// A class is the kind of register that holds a value.
type class int

const (
	vector class = iota
	half         // the lower half of a vector of four, with integers of 32 bits
	mask         // a register of masks, which AVX-512 has; with AVX2 masks are vectors
)

// An operation is one instruction on values. Its operands are in the order of Intel's manuals, without the result: the
// reverse of the order of Go's assembler.
type operation struct {
	name string
	imm  string // a constant operand, such as a predicate
	args []value
	mask value // a register of masks that selects lanes, or none
	to   value // the result, or none

	commutes bool
	merges   bool // the result has the lanes of the first operand that the mask leaves out
	fused    bool // a product and a sum, with the name of VFMADD or VFNMADD; all three operands are of the same rank
}

const none = value(math.MinInt)

// code is a kernel: the operations on one vector.
type code struct {
	name      string
	lanes     int // 4 with AVX2, 8 with AVX-512
	ops       []operation
	classes   []class // of the values
	constants []uint64
}

// bits returns the constant that has these bits in each lane, and number the one that is x in each.
func (c *code) bits(bits uint64) value {
	i := slices.Index(c.constants, bits)
	if i < 0 {
		i = len(c.constants)
		c.constants = append(c.constants, bits)
	}
	return value(-1 - i)
}

func (c *code) number(x float64) value { return c.bits(math.Float64bits(x)) }

func (c *code) do(k class, op operation) value {
	op.to = value(len(c.classes))
	c.classes = append(c.classes, k)
	c.ops = append(c.ops, op)
	return op.to
}

func (c *code) binary(name string, a, b value) value {
	return c.do(vector, operation{name: name, args: []value{a, b}, mask: none})
}

func (c *code) commuting(name string, a, b value) value {
	return c.do(vector, operation{name: name, args: []value{a, b}, mask: none, commutes: true})
}

// immediate returns the result of an instruction with a constant operand.
func (c *code) immediate(name string, a value, imm int) value {
	return c.do(vector, operation{name: name, imm: fmt.Sprint("$", imm), args: []value{a}, mask: none})
}

func (c *code) convert(name string, to class, a value) value {
	return c.do(to, operation{name: name, args: []value{a}, mask: none})
}

func (c *code) load() value          { return c.do(vector, operation{name: "load", mask: none}) }
func (c *code) store(a value)        { c.effect("store", a) }
func (c *code) add(a, b value) value { return c.commuting("VADDPD", a, b) }
func (c *code) sub(a, b value) value { return c.binary("VSUBPD", a, b) }
func (c *code) mul(a, b value) value { return c.commuting("VMULPD", a, b) }
func (c *code) div(a, b value) value { return c.binary("VDIVPD", a, b) }
func (c *code) min(a, b value) value { return c.binary("VMINPD", a, b) }
func (c *code) and(a, b value) value { return c.commuting("VANDPD", a, b) }
func (c *code) or(a, b value) value  { return c.commuting("VORPD", a, b) }
func (c *code) xor(a, b value) value { return c.commuting("VXORPD", a, b) }

func (c *code) effect(name string, a value) {
	c.ops = append(c.ops, operation{name: name, args: []value{a}, mask: none, to: none})
}

// madd returns a·b + z with one rounding, and nmadd z - a·b.
func (c *code) madd(a, b, z value) value {
	return c.do(vector, operation{name: "VFMADD", args: []value{a, b, z}, mask: none, fused: true})
}

func (c *code) nmadd(a, b, z value) value {
	return c.do(vector, operation{name: "VFNMADD", args: []value{a, b, z}, mask: none, fused: true})
}

// Operations on integers.
func (c *code) addInts(a, b value) value           { return c.commuting("VPADDQ", a, b) }
func (c *code) subInts(a, b value) value           { return c.binary("VPSUBQ", a, b) }
func (c *code) shiftLeft(a value, n int) value     { return c.immediate("VPSLLQ", a, n) }
func (c *code) shiftRight(a value, n int) value    { return c.immediate("VPSRLQ", a, n) }
func (c *code) shiftRightBy(a, counts value) value { return c.binary("VPSRLVQ", a, counts) }

// andOr returns a&b | z.
func (c *code) andOr(a, b, z value) value {
	if c.lanes == 4 {
		return c.or(c.and(a, b), z)
	}
	return c.do(vector, operation{name: "VPTERNLOGQ", imm: "$0xea", args: []value{a, b, z}, mask: none, merges: true})
}

// round returns the nearest integers, which have less than 32 bits, and truncated those towards zero: as half of a
// vector with AVX2.
func (c *code) round(a value) value {
	if c.lanes == 4 {
		return c.convert("VCVTPD2DQY", half, a)
	}
	return c.convert("VCVTPD2QQ", vector, a)
}

func (c *code) truncated(a value) value {
	if c.lanes == 4 {
		return c.convert("VCVTTPD2DQY", half, a)
	}
	return c.convert("VCVTTPD2QQ", vector, a)
}

// towardsZero returns the integral part as numbers.
func (c *code) towardsZero(a value) value {
	if c.lanes == 4 {
		return c.immediate("VROUNDPD", a, 3)
	}
	return c.immediate("VRNDSCALEPD", a, 3)
}

// float returns results of round or truncated as numbers, and wide as integers of 64 bits.
func (c *code) float(a value) value {
	if c.lanes == 4 {
		return c.convert("VCVTDQ2PD", vector, a)
	}
	return c.convert("VCVTQQ2PD", vector, a)
}

func (c *code) wide(a value) value {
	if c.lanes == 4 {
		return c.convert("VPMOVSXDQ", vector, a)
	}
	return a
}

// even returns results of round or truncated with one added to those that are odd.
func (c *code) even(a value) value {
	one := c.bits(1<<32 | 1)
	if c.lanes == 4 {
		odd := c.do(half, operation{name: "VPAND", args: []value{a, one}, mask: none})
		return c.do(half, operation{name: "VPADDD", args: []value{odd, a}, mask: none})
	}
	one = c.bits(1)
	return c.addInts(a, c.and(a, one))
}

// Predicates of comparisons.
const (
	equal    = 0
	less     = 1
	atMost   = 2
	notEqual = 4
	atLeast  = 13
	greater  = 14
	ordered  = 7 // neither is NaN
)

// compare returns the lanes, of those in under if that is given, for which the predicate holds.
func (c *code) compare(a value, predicate int, b value, under ...value) value {
	return c.comparison(operation{name: "VCMPPD", imm: fmt.Sprint("$", predicate), args: []value{a, b}}, under)
}

// above returns the lanes, of those in under if that is given, where the integer a is greater than b.
func (c *code) above(a, b value, under ...value) value {
	return c.comparison(operation{name: "VPCMPGTQ", args: []value{a, b}}, under)
}

func (c *code) comparison(op operation, under []value) value {
	op.mask = none
	if c.lanes == 4 {
		m := c.do(vector, op)
		if len(under) > 0 {
			m = c.and(m, under[0])
		}
		return m
	}
	if len(under) > 0 {
		op.mask = under[0]
	}
	return c.do(mask, op)
}

// bit returns the lanes where a bit of an integer is set, for choose alone: with AVX2 the sign of a lane is its mask.
func (c *code) bit(a value, n int) value {
	if c.lanes == 4 {
		return c.shiftLeft(a, 63-n)
	}
	m := c.bits(1 << n)
	return c.do(mask, operation{name: "VPTESTMQ", args: []value{a, m}, mask: none})
}

func (c *code) either(a, b value) value { return c.masks("KORB", a, b, c.or) }
func (c *code) both(a, b value) value   { return c.masks("KANDB", a, b, c.and) }

func (c *code) masks(name string, a, b value, vectors func(a, b value) value) value {
	if c.lanes == 4 {
		return vectors(a, b)
	}
	return c.do(mask, operation{name: name, args: []value{a, b}, mask: none})
}

// choose returns a in the lanes of m and b in others.
func (c *code) choose(m, a, b value) value {
	if c.lanes == 4 {
		return c.do(vector, operation{name: "VBLENDVPD", args: []value{b, a, m}, mask: none})
	}
	return c.do(vector, operation{name: "VBLENDMPD", args: []value{b, a}, mask: m})
}

// keep returns a in the lanes of m and zero in others.
func (c *code) keep(m, a value) value {
	if c.lanes == 4 {
		return c.and(m, a)
	}
	return c.do(vector, operation{name: "VMOVAPD.Z", args: []value{a}, mask: m})
}

// addIn returns a + b in the lanes of m and a in others, and subIn a - b.
func (c *code) addIn(m, a, b value) value { return c.in(m, "VADDPD", a, b) }
func (c *code) subIn(m, a, b value) value { return c.in(m, "VSUBPD", a, b) }

func (c *code) in(m value, name string, a, b value) value {
	if c.lanes == 4 {
		return c.binary(name, a, c.keep(m, b))
	}
	return c.do(vector, operation{name: name, args: []value{a, a, b}, mask: m, merges: true})
}

// require leaves the block out, unless all lanes are in m.
func (c *code) require(m value) { c.effect("require", m) }
