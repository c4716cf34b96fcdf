package main

import (
	"fmt"
	"math"
	"slices"
)

// A value is the result of an operation if it is positive, and a constant if it is negative.
type value int

const none value = 0

// A class is the kind of register that holds a value.
type class int

const (
	vector class = iota
	half         // a vector of half the size: four integers of 32 bits
	mask         // a mask register of AVX-512; with AVX2 masks are vectors, each lane of which has all bits or none
)

// An operation is one instruction, or the load or store of a vector, or a requirement. Operands are in the order of
// Intel's manuals, the reverse of that of Go's assembler.
type operation struct {
	name      string
	immediate string // the operand that is part of the instruction, if it has one
	args      []value
	mask      value // the mask register that selects lanes, or none
	to        value // the result, or none

	commutes bool
	merges   bool // the result replaces the first operand, in the lanes of the mask
	fused    bool // the name lacks the order of the operands, of which the result replaces one
}

// code is a kernel: operations that compute a function of the numbers of one vector.
type code struct {
	name      string
	lanes     int // four with AVX2, eight with AVX-512
	ops       []operation
	classes   []class  // of the results, by value
	constants []uint64 // the bits of constants
}

func newCode(name string, lanes int) *code {
	return &code{name: name, lanes: lanes, classes: make([]class, 1)}
}

// bits returns the constant that has these bits in each lane.
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

func (c *code) op(name string, args ...value) value {
	return c.do(vector, operation{name: name, args: args})
}

func (c *code) commuting(name string, a, b value) value {
	return c.do(vector, operation{name: name, args: []value{a, b}, commutes: true})
}

func (c *code) immediate(name string, n int, a value) value {
	return c.do(vector, operation{name: name, immediate: fmt.Sprint("$", n), args: []value{a}})
}

func (c *code) load() value   { return c.op("load") }
func (c *code) store(a value) { c.ops = append(c.ops, operation{name: "store", args: []value{a}}) }

// require leaves the block to package math, unless the mask has all lanes.
func (c *code) require(m value) { c.ops = append(c.ops, operation{name: "require", args: []value{m}}) }

func (c *code) add(a, b value) value { return c.commuting("VADDPD", a, b) }
func (c *code) sub(a, b value) value { return c.op("VSUBPD", a, b) }
func (c *code) mul(a, b value) value { return c.commuting("VMULPD", a, b) }
func (c *code) div(a, b value) value { return c.op("VDIVPD", a, b) }
func (c *code) min(a, b value) value { return c.op("VMINPD", a, b) }
func (c *code) and(a, b value) value { return c.commuting("VANDPD", a, b) }
func (c *code) or(a, b value) value  { return c.commuting("VORPD", a, b) }
func (c *code) xor(a, b value) value { return c.commuting("VXORPD", a, b) }

// andOr returns a&b | z.
func (c *code) andOr(a, b, z value) value {
	if c.lanes == 4 {
		return c.or(c.and(a, b), z)
	}
	return c.do(vector, operation{name: "VPTERNLOGQ", immediate: "$0xea", args: []value{a, b, z}, merges: true})
}

// addProduct returns z + a·b with one rounding, and subProduct z - a·b.
func (c *code) addProduct(z, a, b value) value { return c.fused("VFMADD", z, a, b) }
func (c *code) subProduct(z, a, b value) value { return c.fused("VFNMADD", z, a, b) }

func (c *code) fused(name string, z, a, b value) value {
	return c.do(vector, operation{name: name, args: []value{a, b, z}, fused: true})
}

func (c *code) addInts(a, b value) value           { return c.commuting("VPADDQ", a, b) }
func (c *code) subInts(a, b value) value           { return c.op("VPSUBQ", a, b) }
func (c *code) shiftLeft(a value, n int) value     { return c.immediate("VPSLLQ", n, a) }
func (c *code) shiftRight(a value, n int) value    { return c.immediate("VPSRLQ", n, a) }
func (c *code) shiftRightBy(a, counts value) value { return c.op("VPSRLVQ", a, counts) }

// toInts returns the nearest integers, and truncToInts those towards zero: of 32 bits with AVX2, which has no
// conversions to and from larger ones.
func (c *code) toInts(a value) value      { return c.convert("VCVTPD2DQY", "VCVTPD2QQ", half, a) }
func (c *code) truncToInts(a value) value { return c.convert("VCVTTPD2DQY", "VCVTTPD2QQ", half, a) }

// fromInts returns the results of the two as numbers.
func (c *code) fromInts(a value) value { return c.convert("VCVTDQ2PD", "VCVTQQ2PD", vector, a) }

func (c *code) convert(avx2, avx512 string, narrow class, a value) value {
	if c.lanes == 4 {
		return c.do(narrow, operation{name: avx2, args: []value{a}})
	}
	return c.op(avx512, a)
}

// wide returns the results of toInts and truncToInts as integers of 64 bits.
func (c *code) wide(a value) value {
	if c.lanes == 4 {
		return c.op("VPMOVSXDQ", a)
	}
	return a
}

// even returns the results of toInts and truncToInts, with one added to those that are odd.
func (c *code) even(a value) value {
	if c.lanes == 4 {
		odd := c.do(half, operation{name: "VPAND", args: []value{a, c.bits(1<<32 | 1)}})
		return c.do(half, operation{name: "VPADDD", args: []value{odd, a}})
	}
	return c.addInts(a, c.and(a, c.bits(1)))
}

// trunc returns the integral parts as numbers.
func (c *code) trunc(a value) value {
	if c.lanes == 4 {
		return c.immediate("VROUNDPD", 3, a)
	}
	return c.immediate("VRNDSCALEPD", 3, a)
}

// The predicates of comparisons.
const (
	equal    = 0
	less     = 1
	atMost   = 2
	notEqual = 4
	ordered  = 7 // neither is NaN
	atLeast  = 13
	greater  = 14
)

// compare returns the lanes for which the predicate holds, of those in a mask if there is one.
func (c *code) compare(a value, predicate int, b value, under ...value) value {
	return c.comparison(operation{name: "VCMPPD", immediate: fmt.Sprint("$", predicate), args: []value{a, b}}, under)
}

// above returns the lanes in which the integer a is greater than b, of those in a mask if there is one.
func (c *code) above(a, b value, under ...value) value {
	return c.comparison(operation{name: "VPCMPGTQ", args: []value{a, b}}, under)
}

func (c *code) comparison(op operation, under []value) value {
	switch {
	case c.lanes == 4 && len(under) > 0:
		return c.and(under[0], c.do(vector, op))
	case c.lanes == 4:
		return c.do(vector, op)
	case len(under) > 0:
		op.mask = under[0]
	}
	return c.do(mask, op)
}

// hasBit returns the lanes in which an integer has a bit, for choose only: with AVX2 just the sign of a lane is set.
func (c *code) hasBit(a value, n int) value {
	if c.lanes == 4 {
		return c.shiftLeft(a, 63-n)
	}
	return c.do(mask, operation{name: "VPTESTMQ", args: []value{a, c.bits(1 << n)}})
}

// either returns the union of two masks, and both their intersection.
func (c *code) either(a, b value) value {
	if c.lanes == 4 {
		return c.or(a, b)
	}
	return c.do(mask, operation{name: "KORB", args: []value{a, b}})
}

func (c *code) both(a, b value) value {
	if c.lanes == 4 {
		return c.and(a, b)
	}
	return c.do(mask, operation{name: "KANDB", args: []value{a, b}})
}

// choose returns a in the lanes of a mask and b in the others.
func (c *code) choose(m, a, b value) value {
	if c.lanes == 4 {
		return c.op("VBLENDVPD", b, a, m)
	}
	return c.do(vector, operation{name: "VBLENDMPD", args: []value{b, a}, mask: m})
}

// keep returns a in the lanes of a mask and zero in the others.
func (c *code) keep(m, a value) value {
	if c.lanes == 4 {
		return c.and(m, a)
	}
	return c.do(vector, operation{name: "VMOVAPD.Z", args: []value{a}, mask: m})
}

// addWhere adds b in the lanes of a mask, where subWhere subtracts it.
func (c *code) addWhere(m, a, b value) value { return c.where(m, "VADDPD", a, b) }
func (c *code) subWhere(m, a, b value) value { return c.where(m, "VSUBPD", a, b) }

func (c *code) where(m value, name string, a, b value) value {
	if c.lanes == 4 {
		return c.op(name, a, c.keep(m, b))
	}
	return c.do(vector, operation{name: name, args: []value{a, a, b}, mask: m, merges: true})
}
