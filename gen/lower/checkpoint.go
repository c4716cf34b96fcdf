package lower

import (
	"fmt"
	"go/ast"
	"math"
	"strconv"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// The directive //nabla:checkpoint, which requests checkpointing of the loop on the line below it.

// loops returns the loops of a file by the line on which they, or their labels, start.
func (p *Program) loops(f *ast.File) map[int]ast.Node {
	out := map[int]ast.Node{}
	add := func(at, n ast.Node) {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			if line := p.fset.Position(at.Pos()).Line; out[line] == nil { // Inspect visits the outer loop first
				out[line] = n
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if l, ok := n.(*ast.LabeledStmt); ok {
			add(l, l.Stmt)
		}
		if n != nil {
			add(n, n)
		}
		return true
	})
	return out
}

// checkpointForms is the remedy for directives that are malformed.
const checkpointForms = "write //nabla:checkpoint, //nabla:checkpoint levels=3, //nabla:checkpoint memory=64MB, or " +
	"//nabla:checkpoint snapshots=20 steps=10"

// checkpoint attaches a directive to loop, or returns why it cannot.
func (p *Program) checkpoint(d Directive, loop ast.Node) *Refusal {
	c, why := parseCheckpoint(d.Args)
	bad := func(why, remedy string) *Refusal {
		return &Refusal{Pos: d.Pos, What: "//nabla:checkpoint", Reason: why, Remedy: remedy}
	}
	switch {
	case why != "":
		return bad(why, checkpointForms)
	case loop == nil:
		return bad("it is not above a loop", "put it into the line above for")
	case p.checkpoints[loop] != nil:
		return bad("the loop has another", "remove one of them")
	}
	p.checkpoints[loop] = c
	return nil
}

// parseCheckpoint parses the arguments of the directive. Without arguments it means levels=2. why
// is empty if they are valid.
func parseCheckpoint(args string) (c *ir.Checkpoint, why string) {
	c = &ir.Checkpoint{}
	for _, arg := range strings.Fields(args) {
		name, text, ok := strings.Cut(arg, "=")
		if name == "memory" {
			if c.Memory != 0 {
				return nil, name + " is given twice"
			}
			if c.Memory, ok = kibibytes(text); !ok {
				return nil, fmt.Sprintf("memory is %q, want a number with KB, MB, GB, KiB, MiB or GiB, of at least "+
					"1KiB", text)
			}
			continue
		}
		of := map[string]*int{"levels": &c.Levels, "snapshots": &c.Snapshots, "steps": &c.Steps}[name]
		if of == nil || !ok {
			return nil, fmt.Sprintf("%q is not levels=, memory=, snapshots= or steps= with a number", arg)
		}
		if *of != 0 {
			return nil, name + " is given twice"
		}
		// levels counts executions of an iteration: one in the forward sweep and at least one
		// reversal.
		least := 1
		if name == "levels" {
			least = 2
		}
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil || n < int64(least) {
			return nil, fmt.Sprintf("%s is %q, want a number of at least %d", name, text, least)
		}
		*of = int(n)
	}
	switch {
	case c.Memory > 0 && c.Levels+c.Snapshots+c.Steps > 0:
		return nil, "memory determines the number of snapshots, and reverses one iteration at a time"
	case c.Memory > 0:
		c.Steps = 1
	case c.Levels > 0 && c.Snapshots+c.Steps > 0:
		return nil, "levels determines the number of snapshots and of steps that are reversed together"
	case c.Snapshots == 0 && c.Steps > 0:
		return nil, "steps needs snapshots"
	case c.Snapshots > 0:
		c.Steps = max(c.Steps, 1)
	default:
		c.Levels = max(c.Levels, 2)
	}
	return c, ""
}

// kibibytes returns a number of bytes with a unit, in KiB, rounded down. ok is false unless it is at least one and fits
// an int of 32 bits.
func kibibytes(text string) (kib int, ok bool) {
	for unit, size := range map[string]float64{"KB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1 << 10, "MiB": 1 << 20,
		"GiB": 1 << 30} {
		digits, found := strings.CutSuffix(text, unit)
		if !found {
			continue
		}
		n, err := strconv.ParseUint(digits, 10, 32)
		bytes := float64(n) * size
		return int(bytes / 1024), err == nil && bytes >= 1024 && bytes/1024 < math.MaxInt32
	}
	return 0, false
}

// badDirectives refuses a function with an invalid checkpoint directive in its body.
func (l *lowerer) badDirectives(n *ast.FuncDecl) {
	from, to := l.p.fset.Position(n.Pos()), l.p.fset.Position(n.End())
	for _, d := range l.p.dirs[l.d.pkg] {
		if d.Bad != nil && d.Pos.Filename == from.Filename && from.Offset <= d.Pos.Offset && d.Pos.Offset < to.Offset {
			r := *d.Bad
			r.Func = l.f.Name
			l.e.refusals = append(l.e.refusals, &r)
		}
	}
}
