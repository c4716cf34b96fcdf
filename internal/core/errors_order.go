package core

import (
	"github.com/nabla-ad/nabla/internal/page"
)

// OrderError reports an order of differentiation that is negative or above a limit.
type OrderError struct {
	Op     string // the operator, or the rule whose derivatives end
	Order  int    // what was asked for
	Max    int    // the largest order that is possible
	Remedy string
}

func (e *OrderError) Error() string {
	if e.Order < 0 {
		return page.Namef("nabla.OrderError", "nabla: %s: order is %d, want 0 or more", e.Op, e.Order)
	}
	return page.Namef("nabla.OrderError",
		"nabla: %s: order is %d, and the limit is %d; %s", e.Op, e.Order, e.Max, e.Remedy)
}
