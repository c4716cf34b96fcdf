package lower_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/nabla-ad/nabla/gen/internal/randprog"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/lower"
)

// FuzzLower: functions are refused for reasons that are said, or become ones that the
// checker accepts.
func FuzzLower(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		f.Fatal("no golden files", err)
	}
	for _, name := range files {
		a, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range a.Files {
			if strings.HasSuffix(file.Name, ".go") {
				f.Add(string(file.Data))
			}
		}
	}
	for _, name := range []string{"../tangent/testdata/funcs/funcs.go", "../adjoint/testdata/funcs/funcs.go",
		"../traced/testdata/funcs/funcs.go"} {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	for seed := range uint64(8) {
		f.Add(randprog.New(seed, randprog.Options{}).Source())
	}
	// The standard library is loaded before, so that no single input waits for it.
	if _, err := randprog.Load(nil, 0); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, src string) {
		lowered, refused, err := randprog.Declared(src)
		if err != nil {
			return
		}
		for _, g := range lowered {
			if err := ir.Check(g); err != nil {
				t.Errorf("%v\n%v", err, g)
			}
		}
		for _, err := range refused {
			var list lower.Refusals
			if !errors.As(err, &list) || len(list) == 0 {
				t.Errorf("refused by %v", err)
			}
			for _, r := range list {
				if r.What == "" || r.Reason == "" || !r.Pos.IsValid() {
					t.Errorf("refused by %+v", r)
				}
			}
		}
	})
}
