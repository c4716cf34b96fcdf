package adjoint

import (
	"github.com/nabla-ad/nabla/gen/ir"
)

// run goes through the function from a state at its beginning to the one at its end.
func (f *flow) run(entry state) state {
	labels := map[*ir.Label]state{}
	end := f.list(f.b.body, entry, labels)
	return state{}.join(end).join(labels[f.b.g.f.Exit])
}

// entry is what the reverse sweeps of callers may read.
func (f *flow) entry() state {
	out := state{}
	if f.b.key.mode != split { // nobody, or a loop that brings back all itself
		return out
	}
	for _, v := range f.b.g.f.Params {
		f.reachable(out, v)
	}
	return out
}
