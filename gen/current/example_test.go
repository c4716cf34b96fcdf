package current_test

import (
	"fmt"

	"github.com/nabla-ad/nabla/gen/current"
)

// Only the lines of a go.mod that concern a module matter for code that was generated from it.
func ExampleRequired() {
	before := current.Required([]byte("module m\n\nrequire example.com/a v1.2.3\n"), "example.com/a")
	other := current.Required([]byte("module m\n\nrequire example.com/a v1.2.3\nrequire example.com/b v1.0.0\n"),
		"example.com/a")
	newer := current.Required([]byte("module m\n\nrequire example.com/a v1.2.4\n"), "example.com/a")
	fmt.Println(before == other, before == newer)
	// Output:
	// true false
}
