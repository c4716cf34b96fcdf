package gen_test

import (
	"fmt"
	"path/filepath"

	"github.com/nabla-ad/nabla/gen"
)

// The derivatives of a package of this module, which are up to date; Write would write those that are not.
func Example() {
	p, err := gen.Load(".", []string{"./internal/fourier"}, nil)
	if err != nil {
		panic(err)
	}
	report, err := p.Generate()
	if err != nil {
		panic(err)
	}
	for _, problem := range report.Problems() {
		if problem.Severity == gen.Error {
			fmt.Println(problem)
		}
	}
	for _, pkg := range report.Packages {
		for _, f := range pkg.Files {
			fmt.Println(filepath.Base(f.Name))
		}
	}
	stale, err := report.Stale()
	fmt.Println(len(stale), err)
	// Output:
	// nabla_gen.go
	// 0 <nil>
}
