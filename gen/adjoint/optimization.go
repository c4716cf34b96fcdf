package adjoint

// An optimization is a set of transformations that change the code of an adjoint but not its derivatives. All are
// enabled; tests disable some, so that they can compare adjoints that must compute the same derivatives.
type optimization uint16

const (
	// selectiveRecording records overwritten values only if the reversal reads them. Without it every value that might
	// be read is recorded, and neither fusion nor declarations in inner blocks are possible.
	selectiveRecording optimization = 1 << iota
	recomputation                   // evaluates cheap variables again in the reverse sweep
	fusion                          // reverses iterations of independent loops right after they ran
	privatization                   // treats arrays as private to an iteration of a fused loop
	arrayKills                      // recognises loops that assign all elements of an array
	inversion                       // finds overwritten values in those that replaced them
	reordering                      // reverses loops in ascending order if any order is right
	bufferReuse                     // takes memory that does not escape from the workspace
	localStorage                    // records values in local variables if both sweeps are in one function
	recordStorage                   // records the scalars of a straight-line region as one record
	inlining                        // inlines calls
	simplification                  // simplifies the primal and the adjoint

	allOptimizations = 1<<iota - 1
)

// enabled reports whether o is enabled.
func (p *Program) enabled(o optimization) bool { return p.disabled&o == 0 }

// apply reports whether o is to be applied at a place where it is possible if the argument says so: it must be
// enabled, too.
func (p *Program) apply(o optimization, possible bool) bool {
	if possible {
		p.reportApplicable(o)
	}
	return possible && p.enabled(o)
}

// reportApplicable tells the tests that o, if it were disabled, would change the adjoint.
func (p *Program) reportApplicable(o optimization) {
	if p.onApplicable != nil {
		p.onApplicable(o)
	}
}
