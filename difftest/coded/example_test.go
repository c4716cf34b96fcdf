package coded_test

import (
	"fmt"

	"github.com/nabla-ad/nabla/difftest"
	"github.com/nabla-ad/nabla/difftest/coded"
)

// Most scenarios of the kit have a function with generated code, which the conformance of package source runs.
func ExampleFunction() {
	all, found := difftest.Scenarios(""), 0
	for i := range all {
		if coded.Function(&all[i]) != nil {
			found++
		}
	}
	fmt.Println(found > len(all)/2)
	// Output:
	// true
}
