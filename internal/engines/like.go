package engines

import (
	"reflect"

	"github.com/nabla-ad/nabla"
)

// Like returns a row for a backend that is not in the list, such as an engine with other settings or a composite: the
// form of functions and the tolerances are those of the engines of the list that it is made of.
func Like(b nabla.Backend) Engine {
	row := Engine{Backend: b, Functions: Generated, Sparse: true}
	rows := map[reflect.Type]Engine{}
	for _, e := range Single() {
		if _, ok := rows[reflect.TypeOf(e.Backend)]; !ok {
			rows[reflect.TypeOf(e.Backend)] = e
		}
	}
	for i, leaf := range leaves(b) {
		e, ok := rows[reflect.TypeOf(leaf)]
		if !ok {
			e = Engine{Functions: OverReals}
		}
		if e.Functions != Generated && (row.Functions == Generated || e.Functions == BlackBox) {
			row.Functions = e.Functions
		}
		row.Conform.Tol = max(row.Conform.Tol, e.Conform.Tol)
		row.Conform.SecondTol = max(row.Conform.SecondTol, e.Conform.SecondTol)
		row.Sparse = row.Sparse && e.Sparse
		row.Conform.AllocFree = i == 0 && e.Conform.AllocFree && reflect.TypeOf(b) == reflect.TypeOf(leaf)
		if row.Functions == Generated {
			row.Conform.Function = e.Conform.Function
		}
	}
	if row.Functions != Generated {
		row.Conform.Function = nil
	}
	return row
}

// leaves returns the engines that b is made of.
func leaves(b nabla.Backend) []nabla.Backend {
	switch c := b.(type) {
	case nabla.Policy:
		return leaves(c.Backend)
	case nabla.AutoSparse:
		return leaves(c.Dense)
	case nabla.SecondOrder:
		return append(leaves(c.Outer), leaves(c.Inner)...)
	case nabla.MixedMode:
		return append(leaves(c.Forward), leaves(c.Reverse)...)
	}
	return []nabla.Backend{b}
}
