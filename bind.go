package nabla

import "github.com/nabla-ad/nabla/engine"

// binding is the struct bound to a function, as engines see it.
type binding struct{ engine.Context }
