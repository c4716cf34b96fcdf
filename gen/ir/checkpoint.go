package ir

import (
	"fmt"
	"go/token"
	"go/types"
	"strconv"

	"github.com/nabla-ad/nabla/gen/rt/checkpoint"
)

// checkpointTokens is how many tokens the text of a [Checkpoint] has.
const checkpointTokens = 8

func checkpointText(c *Checkpoint) string {
	if c == nil {
		return ""
	}
	return fmt.Sprintf(" checkpoint(%d, %d, %d)", c.Levels, c.Snapshots, c.Steps)
}

// checkpoint reads checkpoint(levels, snapshots, steps) before token n; nil if it is not
// there.
func (p *parser) checkpoint(n int) *Checkpoint {
	t, k := p.line.toks, n-checkpointTokens
	kinds := [checkpointTokens]token.Token{token.IDENT, token.LPAREN, token.INT, token.COMMA, token.INT, token.COMMA,
		token.INT, token.RPAREN}
	for i, kind := range kinds {
		if k < 0 || t[k+i].tok != kind {
			return nil
		}
	}
	if t[k].lit != "checkpoint" {
		return nil
	}
	number := func(i int) int {
		v, err := strconv.Atoi(t[i].lit)
		if err != nil {
			p.fail(t[i].off, "not a number")
		}
		return v
	}
	return &Checkpoint{number(k + 2), number(k + 4), number(k + 6)}
}

// schedules are the functions of package checkpoint, which adjoints of loops call.
var schedules = map[string]func([]Value) []Value{
	"checkpoint.Size": func(a []Value) []Value {
		return []Value{intValue(int64(checkpoint.Size(int(a[0].int()), int(a[1].int()))))}
	},
	"checkpoint.Endless": func([]Value) []Value { return []Value{intValue(int64(checkpoint.Endless()))} },
	"checkpoint.Next": func(a []Value) []Value {
		return []Value{intValue(int64(checkpoint.Next(int(a[0].int()), int(a[1].int()), int(a[2].int()),
			int(a[3].int()))))}
	},
}

var schedulePackage = types.NewPackage("github.com/nabla-ad/nabla/gen/rt/checkpoint", "checkpoint")

func init() {
	for name, params := range map[string]int{"Size": 2, "Next": 4, "Endless": 0} {
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

// ScheduleRule is a function of package checkpoint, of the module's gen/rt, over integers.
func ScheduleRule(name string) *Rule {
	return &Rule{Name: "checkpoint." + name, Object: schedulePackage.Scope().Lookup(name).(*types.Func), Passive: true}
}
