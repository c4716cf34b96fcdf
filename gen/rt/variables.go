package rt

// Package-level variables that a differentiated function writes. Generated code works on a local variable, and stores
// its value at the end.

// SetVariable stores *v in a package variable.
func SetVariable[T any](p, v *T) { *p = *v }

// SetSlice stores the elements of *v in a package variable, up to its capacity. Its memory is kept if it has the same
// capacity.
func SetSlice[S ~[]E, E any](p, v *S) {
	s := *v
	if s == nil {
		*p = nil
		return
	}
	if *p == nil || cap(*p) != cap(s) {
		*p = make(S, len(s), cap(s))
	}
	*p = (*p)[:len(s)]
	copy((*p)[:cap(s)], s[:cap(s)])
}
