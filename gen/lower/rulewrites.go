package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Contracts of rules about memory that is written. Statements in the source of a rule that break one are found without
// an analysis of aliases: assignments through the name of a parameter.

// checkWrites refuses a rule that names with writes= fewer parameters than the function writes the memory of, and one
// whose pullback changes the memory of the function's parameters.
func (p *Program) checkWrites(w *resolvedRule, refuse func(reason, remedy string)) {
	fn := w.rule.Object
	params := (&ir.Rule{Object: fn}).Shape().Params
	if w.rule.ReadOnly != nil {
		written := p.directWrites(fn)
		for i, v := range params {
			if at, ok := written[v]; ok && w.rule.ReadOnly[i] {
				refuse("writes= does not name "+v.Name()+", whose memory it writes ("+at+")",
					"name all parameters whose memory it writes")
			}
		}
	}
	if w.pullback == nil {
		return
	}
	written := p.directWrites(w.pullback)
	for i, v := range (&ir.Rule{Object: w.pullback}).Shape().Params {
		if at, ok := written[v]; ok && i < len(params) {
			refuse("its pullback "+w.pullback.Name()+" writes the memory of "+v.Name()+" ("+at+
				"), which the reverse sweep reads again", "write to a copy")
		}
	}
}

// directWrites returns the parameters of a declared function, with its receiver, through which it assigns to memory,
// with the positions of the first assignments. Parameters that are assigned themselves are omitted.
func (p *Program) directWrites(fn *types.Func) map[types.Object]string {
	d := p.decls[fn]
	if d == nil || d.node.Body == nil {
		return nil
	}
	info := d.pkg.TypesInfo
	written, assigned := map[types.Object]string{}, map[types.Object]bool{}
	to := func(e ast.Expr) {
		v, indirect := assignedThrough(info, e)
		switch {
		case v == nil:
		case !indirect:
			assigned[v] = true
		case written[v] == "":
			pos := p.fset.Position(e.Pos())
			written[v] = pos.Filename[strings.LastIndexAny(pos.Filename, `/\`)+1:] + ":" + strconv.Itoa(pos.Line)
		}
	}
	ast.Inspect(d.node.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				to(e)
			}
		case *ast.IncDecStmt:
			to(n.X)
		case *ast.RangeStmt:
			for _, e := range []ast.Expr{n.Key, n.Value} {
				if e != nil {
					to(e)
				}
			}
		case *ast.UnaryExpr:
			if v, _ := assignedThrough(info, n.X); n.Op == token.AND && v != nil {
				assigned[v] = true
			}
		case *ast.CallExpr:
			f, ok := ast.Unparen(n.Fun).(*ast.Ident)
			if !ok || len(n.Args) == 0 {
				break
			}
			if _, ok := info.Uses[f].(*types.Builtin); ok && (f.Name == "copy" || f.Name == "clear") {
				to(&ast.IndexExpr{X: n.Args[0], Lbrack: n.Args[0].Pos()})
			}
		}
		return true
	})
	for v := range assigned {
		delete(written, v)
	}
	return written
}

// assignedThrough returns the variable at the root of the place e, nil if there is none, and whether the place is in
// memory to which the variable refers.
func assignedThrough(info *types.Info, e ast.Expr) (root types.Object, indirect bool) {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident:
			if v, ok := info.Uses[x].(*types.Var); ok {
				return v, indirect
			}
			return nil, false
		case *ast.IndexExpr:
			_, array := info.TypeOf(x.X).Underlying().(*types.Array)
			indirect = indirect || !array
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.StarExpr:
			indirect, e = true, x.X
		case *ast.SelectorExpr:
			if s := info.Selections[x]; s == nil || s.Kind() != types.FieldVal {
				return nil, false
			}
			indirect = indirect || isPointer(info.TypeOf(x.X))
			e = x.X
		default:
			return nil, false
		}
	}
}
