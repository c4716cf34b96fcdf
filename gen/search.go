package gen

import (
	"slices"
	"strings"

	"github.com/nabla-ad/nabla/gen/activity"
)

// Warnings of numbers that a function finds by comparisons alone, as by bisection: derivatives with respect to the
// arguments that decide the comparisons are 0 where those of the number are not.

// searched warns of the searches in t. It names the parameters that decide them, each of which alone does.
func (u *unit) searched(t *target) {
	find := func(mask activity.Mask) []activity.Search {
		facts, err := activity.New().Analyze(u.simple(t, t.f), mask)
		if err != nil {
			return nil // the builds have reported it
		}
		return facts.Searches()
	}
	all := find(t.mask)
	if len(all) == 0 {
		return
	}
	by := map[activity.Search][]string{}
	for i, v := range t.f.Params {
		if !t.mask.Has(i) {
			continue
		}
		for _, s := range find(activity.Mask{}.With(i)) {
			by[s] = append(by[s], v.Name)
		}
	}
	for i, s := range all {
		if slices.Contains(all[:i], s) {
			continue
		}
		names := "its arguments"
		if len(by[s]) > 0 {
			names = strings.Join(by[s], ", ")
		}
		u.problem(&Problem{s.Pos, callee(t, s.Func),
			"the result depends on " + names + " by comparisons alone where " + s.Var + " is assigned, as in a " +
				"bisection; its derivative is 0 there",
			"give the search derivatives, those of the equation that it solves, by //nabla:rule", Warning})
	}
}
