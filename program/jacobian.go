package program

// JacobianOptions configures Jacobian.
type JacobianOptions struct {
	// Group is the output group that is differentiated.
	Group int
	// Forward computes the Jacobian by columns instead of rows.
	Forward bool
	// Strong writes structural zeros as -0; see the package comment.
	Strong bool
}

// Jacobian returns p with all derivatives of one output group with respect to input group 0 as the output group "jac",
// in row-major order. Each row, or column, takes a sweep of its own over the statements it depends on, so structural
// zeros cost nothing at run time. The result grows with the number of nonzeros, and the time to build it with the cost
// of all sweeps.
func Jacobian(p *Program, o JacobianOptions) *Program {
	m, n := p.Outs[o.Group].N, int(p.Stmts[p.activeInput()].N)
	all := EntriesOptions{Group: o.Group, Rows: m, Cols: n, Forward: o.Forward, Strong: o.Strong}
	all.Ptr, all.Index = make([]int, n+1), make([]int, m*n)
	for j := range n {
		for i := range m {
			all.Index[j*m+i] = i
		}
		all.Ptr[j+1] = (j + 1) * m
	}
	p = single(p)
	b := derive(p)
	e := sweepEntries(b, p, all)
	jac := make([]int32, m*n)
	for k, s := range e.got {
		jac[k%m*n+k/m] = s
	}
	b.output("jac", b.result(jac, o.Strong))
	return b.p
}
