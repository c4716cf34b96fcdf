package ir

import (
	"strings"

	"github.com/nabla-ad/nabla/rules"
)

// The operations of package rules that are not functions of package math are elementary functions
// too, named rules.op: the generated derivatives call them.
func init() {
	for op := rules.Invalid + 1; op < rules.NumOps; op++ {
		r := rules.Info(op)
		if strings.HasPrefix(r.Value, "math.") {
			continue
		}
		name := "rules." + r.Name
		switch r.Arity {
		case 1:
			elementary[name] = func(x float64) float64 { return rules.Value1(op, x) }
		case 2:
			elementary[name] = func(x, y float64) float64 { return rules.Value2(op, x, y) }
		case 3:
			elementary[name] = func(x, y, z float64) float64 { return rules.Value3(op, x, y, z) }
		}
	}
}
