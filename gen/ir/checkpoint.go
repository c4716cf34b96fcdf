package ir

import (
	"fmt"
	"go/token"
	"go/types"
	"strconv"

	"github.com/nabla-ad/nabla/gen/rt/checkpoint"
)

// Checkpointing of loops in the text form and in the evaluator. The functions of package checkpoint
// compute which iterations to snapshot; adjoints of checkpointed loops call them by rules.

// checkpointTokens is the number of tokens of the text of a [Checkpoint] without Memory, which adds two.
const checkpointTokens = 8

// checkpointText returns the text of c with a space before it, empty for nil.
func checkpointText(c *Checkpoint) string {
	if c == nil {
		return ""
	}
	if c.Memory > 0 {
		return fmt.Sprintf(" checkpoint(%d, %d, %d, %d)", c.Levels, c.Snapshots, c.Steps, c.Memory)
	}
	return fmt.Sprintf(" checkpoint(%d, %d, %d)", c.Levels, c.Snapshots, c.Steps)
}

// checkpoint parses checkpoint(levels, snapshots, steps), or that with a fourth number, the memory, ending before token
// n. It returns nil if there is none.
func (p *parser) checkpoint(n int) *Checkpoint {
	if c := p.checkpointOf(n-checkpointTokens, 3); c != nil {
		return c
	}
	return p.checkpointOf(n-checkpointTokens-2, 4)
}

// checkpointOf parses a checkpoint with the given number of numbers from token k on.
func (p *parser) checkpointOf(k, numbers int) *Checkpoint {
	t := p.line.toks
	if k < 0 || t[k].tok != token.IDENT || t[k].lit != "checkpoint" || t[k+1].tok != token.LPAREN {
		return nil
	}
	var v [4]int
	for i := range numbers {
		end := token.COMMA
		if i == numbers-1 {
			end = token.RPAREN
		}
		if t[k+2+2*i].tok != token.INT || t[k+3+2*i].tok != end {
			return nil
		}
		var err error
		if v[i], err = strconv.Atoi(t[k+2+2*i].lit); err != nil {
			p.fail(t[k+2+2*i].off, "not a number")
		}
	}
	return &Checkpoint{Levels: v[0], Snapshots: v[1], Steps: v[2], Memory: v[3]}
}

// scheduleFuncs maps names of functions of package checkpoint to their evaluation.
var scheduleFuncs = map[string]func([]Value) []Value{
	"checkpoint.Size": func(a []Value) []Value {
		return []Value{intValue(int64(checkpoint.Size(int(a[0].int()), int(a[1].int()))))}
	},
	"checkpoint.Fit": func(a []Value) []Value {
		return []Value{intValue(int64(checkpoint.Fit(int(a[0].int()), int(a[1].int()), int(a[2].int()))))}
	},
	"checkpoint.Endless": func([]Value) []Value { return []Value{intValue(int64(checkpoint.Endless()))} },
	"checkpoint.Next": func(a []Value) []Value {
		return []Value{intValue(int64(checkpoint.Next(int(a[0].int()), int(a[1].int()), int(a[2].int()),
			int(a[3].int()))))}
	},
}

// schedulePackage has the declarations of these functions, with the types that rules need.
var schedulePackage = types.NewPackage("github.com/nabla-ad/nabla/gen/rt/checkpoint", "checkpoint")

func init() {
	for name, params := range map[string]int{"Size": 2, "Next": 4, "Fit": 3, "Endless": 0} {
		var list []*types.Var
		for range params {
			list = append(list, types.NewParam(token.NoPos, schedulePackage, "", types.Typ[types.Int]))
		}
		result := types.NewTuple(types.NewParam(token.NoPos, schedulePackage, "", types.Typ[types.Int]))
		sig := types.NewSignatureType(nil, nil, nil, types.NewTuple(list...), result, false)
		schedulePackage.Scope().Insert(types.NewFunc(token.NoPos, schedulePackage, name, sig))
	}
	schedulePackage.MarkComplete()
}

// ScheduleRule returns a rule for a function of package checkpoint in the module's gen/rt. All
// parameters and results are ints, so it is passive. It panics if there is no such function.
func ScheduleRule(name string) *Rule {
	return &Rule{Name: "checkpoint." + name, Object: schedulePackage.Scope().Lookup(name).(*types.Func), Passive: true}
}
