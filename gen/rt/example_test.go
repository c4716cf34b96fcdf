package rt_test

import (
	"errors"
	"fmt"

	"github.com/nabla-ad/nabla/gen/rt"
)

// Generated adjoints refuse memory that they write to and that is an argument too.
func ExampleApart() {
	defer func() {
		err, _ := recover().(error)
		var overlap *rt.OverlapError
		fmt.Println(errors.As(err, &overlap), err)
	}()
	x := make([]float64, 3)
	rt.Apart("FAdjoint", "xBar, x", 1, x[:2], x)
	// Output:
	// true FAdjoint: xBar and x share memory, and xBar is written to; pass slices that share none (rt.OverlapError)
}
