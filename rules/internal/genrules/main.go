// Genrules rewrites the generated files of package rules. It runs in the
// directory of that package. If a generated file keeps the package from
// compiling, delete it first: genrules does not need it.
package main

import (
	"log"
	"os"

	"github.com/nabla-ad/nabla/rules/internal/rulegen"
)

func main() {
	ops, err := os.ReadFile("op.go")
	if err != nil {
		log.Fatal(err)
	}
	files, err := rulegen.Files(ops)
	if err != nil {
		log.Fatal(err)
	}
	for name, src := range files {
		if err := os.WriteFile(name, src, 0o666); err != nil {
			log.Fatal(err)
		}
	}
}
