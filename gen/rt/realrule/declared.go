package realrule

import (
	"fmt"
	"sync"

	"github.com/nabla-ad/nabla"
)

// A Declared performs the function of a nabla.Rule that the user declares. The zero value is ready to use, by several
// goroutines.
type Declared struct {
	once sync.Once
	name string
	of   func(x ...nabla.Real) []nabla.Real
}

// Call stores r(x) in y, where r is the rule that the first call got from rule. It panics if y has another length than
// the result.
func (d *Declared) Call(rule func() nabla.Rule, y, x []nabla.Real) {
	d.once.Do(func() {
		r := rule()
		d.name, d.of = r.Name, r.Func()
	})
	got := d.of(x...)
	if len(got) != len(y) {
		panic(fmt.Sprintf("nabla: rule %s: the function for plain numbers has %d outputs, and Out(%d) is %d", d.name,
			len(y), len(x), len(got)))
	}
	copy(y, got)
}
