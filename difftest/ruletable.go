package difftest

import (
	"maps"
	"slices"

	"github.com/nabla-ad/nabla"
)

// CheckRules checks all rules of a table with [CheckRule], each at its Points, of which it must have some. Messages
// name rules by their keys:
//
//	func TestRules(t *testing.T) { difftest.CheckRules(t, specialrules.Rules) }
func CheckRules(t T, table nabla.Rules) {
	t.Helper()
	if len(table) == 0 {
		t.Errorf("the table of rules is empty, so that nothing is checked")
	}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		r := table[name]
		r.Name = name
		if len(r.Points) == 0 {
			t.Errorf("rule %s has no Points; list inputs at which it is smooth", name)
			continue
		}
		CheckRule(t, r, r.Points...)
	}
}
