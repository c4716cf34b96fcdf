package rt

import "github.com/nabla-ad/nabla/internal/core"

// Returned ends the call of an operator with the error that the differentiated function has returned. It does nothing
// if err is nil.
func Returned(err error) { core.Returned(err) }
