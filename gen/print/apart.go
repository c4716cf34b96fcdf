package print

import (
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Apart are slices of one type that a function is given. Those that are written to may
// share memory with no other of them, which is tried where the function begins.
type Apart struct{ Written, Read []*ir.Var }

// apart prints the trial.
func (p *printer) apart(a Apart) {
	var names []string
	for _, list := range [][]*ir.Var{a.Written, a.Read} {
		for _, v := range list {
			names = append(names, p.name(v))
		}
	}
	all := strings.Join(names, ", ")
	p.line("%s(%q, %q, %d, %s)", p.runtime("Apart"), p.file.names[p.f], all, len(a.Written), all)
}
