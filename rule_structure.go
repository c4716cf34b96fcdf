package nabla

import (
	"fmt"

	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/sparsity"
)

// Structure returns the dependencies that the rule declares; see core.Structured.
func (c *ruleCall) Structure(n int) (rows [][]int, linear bool) {
	p := c.pattern(n)
	if p == nil {
		return nil, c.r.Linear
	}
	t := p.Transpose()
	rows = make([][]int, c.Outputs(n))
	for i := range rows {
		rows[i] = t.Col(i)
	}
	return rows, c.r.Linear
}

// pattern returns the rule's pattern for n inputs, or nil if it has none. Wrong dimensions are an
// error.
func (c *ruleCall) pattern(n int) *sparsity.Pattern {
	if c.r.Pattern == nil {
		return nil
	}
	defer c.caught("Pattern")
	p := c.r.Pattern(n)
	if p == nil {
		return nil
	}
	if m, cols := p.Dims(); m != c.Outputs(n) || cols != n {
		abort(&FuncError{Op: "Rule", Function: c.r.Name, Problem: fmt.Sprintf(
			"Pattern(%d) is %d×%d, want %d×%d, outputs by inputs", n, m, cols, c.Outputs(n), n)})
	}
	return p
}

// structureOf returns the structure of rule c; rows is nil if it is unknown.
func structureOf(c core.Custom, n int) (rows [][]int, linear bool) {
	if s, ok := c.(core.Structured); ok {
		return s.Structure(n)
	}
	return nil, false
}

// tangentStructure returns the structure of (x, v) ↦ J(x)·v for a rule of n inputs. An output
// depends on the components of v that correspond to the inputs on which it depends in the rule and,
// unless the rule is linear, on those inputs.
func tangentStructure(c core.Custom, n int) (rows [][]int, linear bool) {
	of, linear := structureOf(c, n)
	if of == nil {
		return nil, false
	}
	rows = make([][]int, len(of))
	for i, row := range of {
		for _, j := range row {
			rows[i] = append(rows[i], n+j)
		}
		if !linear {
			rows[i] = append(rows[i], row...)
		}
	}
	return rows, linear
}

// cotangentStructure returns the structure of (x, w) ↦ J(x)ᵀ·w for a rule of n inputs.
func cotangentStructure(c core.Custom, n int) (rows [][]int, linear bool) {
	of, linear := structureOf(c, n)
	if of == nil {
		return nil, false
	}
	rows = make([][]int, n)
	for i, row := range of {
		for _, j := range row {
			rows[j] = append(rows[j], n+i)
			if !linear { // the derivative of output i with respect to input j depends on all of row
				rows[j] = append(rows[j], row...)
			}
		}
	}
	return rows, linear
}

// Structure implements core.Structured.
func (t *tangentRule) Structure(int) ([][]int, bool) { return tangentStructure(t.of, t.n) }

// Structure implements core.Structured.
func (t *cotangentRule) Structure(int) ([][]int, bool) { return cotangentStructure(t.of, t.n) }

// Structure implements core.Structured.
func (r *realRule) Structure(int) ([][]int, bool) {
	if r.structure == nil {
		return nil, false
	}
	return r.structure()
}
