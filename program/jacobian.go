package program

import "slices"

// JacobianOptions configures Jacobian.
type JacobianOptions struct {
	// Group is the output group that is differentiated.
	Group int
	// Forward goes column by column instead of row by row.
	Forward bool
	// Strong writes structural zeros as -0; see the package comment.
	Strong bool
}

// Jacobian is p together with all derivatives of one output group with respect to
// input group 0: the output group "jac", row by row. Each row, or column, is a sweep
// of its own over what it depends on, so that zeros of the matrix cost nothing; its
// size grows with their number, and the time to build it with that of all sweeps.
func Jacobian(p *Program, o JacobianOptions) *Program {
	b := derive(p)
	b.p.Outs = append(b.p.Outs, p.Outs...)
	b.p.Result = append(b.p.Result, p.Result...)
	at := total(p.Outs[:o.Group])
	outs := p.Result[at : at+p.Outs[o.Group].N]
	in := slices.IndexFunc(p.Stmts, func(s Stmt) bool { return s.Op == Input && s.K == 0 })
	x := &p.Stmts[in]
	n := int(x.N)
	jac := make([]int32, len(outs)*n)
	one := b.constant(1)
	if o.Forward {
		f := &pusher{builder: b, src: p, k: 1, strong: o.Strong}
		for j := range n {
			f.reset()
			f.tan[x.D+int32(j)] = one
			f.sweep()
			for i, s := range outs {
				t := f.tan[s]
				if t < 0 {
					t = b.zero(false)
				}
				jac[i*n+j] = t
			}
		}
	} else {
		v := &reverser{builder: b, src: p, k: 1, strong: o.Strong, on: p.depends(false), own: p.owners()}
		for i, s := range outs {
			v.reset()
			v.push(s, one, false)
			v.sweep()
			copy(jac[i*n:], v.lanesAdjoint(in, x))
		}
	}
	b.output("jac", b.result(jac, o.Strong))
	return b.p
}
