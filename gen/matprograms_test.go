package gen_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/nabla-ad/nabla/internal/longtest"
)

// TestRandomMatrices runs random programs over matrices of gonum/mat: views, receivers that are operands or overlap
// them, memory behind matrices, and factorisations that are used again. One function executes all of them, so that its
// derivatives are compiled once. Programs must also find that calls of the pullbacks of rules are left out.
func TestRandomMatrices(t *testing.T) {
	longtest.Skip(t, "compiles the derivatives of all operations")
	files := archived(t, "matprograms.txt")
	dir := module(t, files)
	r := generate(t, dir, ".")
	if text := refusals(r, dir); text != "" {
		t.Error(text)
	}
	if _, err := r.Write(); err != nil {
		t.Fatal(err)
	}
	mistakes := []string{"blas64ad.CopyPullback", "matad.DetLUPullback", "matad.ProductPullback",
		"matad.ProductVecPullback", "matad.SolveLUPullback", "matad.SolveCholeskyPullback", "matad.SolveQRPullback",
		"matad.UpdateLUPullback", "matad.GramPullback"}
	name := filepath.Join(dir, "nabla_gen.go")
	text := read(t, name)
	for i, mistake := range mistakes {
		call := regexp.MustCompile(`(?m)^\t+` + regexp.QuoteMeta(mistake) + `\(.*\)$`)
		if !call.MatchString(text) {
			t.Errorf("no call of %s", mistake)
		}
		text = call.ReplaceAllString(text, fmt.Sprintf("if planted != %d {\n$0\n}", i+1))
	}
	write(t, name, text)
	write(t, filepath.Join(dir, "planted.go"), fmt.Sprintf(
		"package programs\n\nvar planted int\n\nvar mistakes = %#v\n", mistakes))
	t.Log(command(t, dir, "test", "-vet=off", "-ldflags=-w", "-v", "-run", "Programs|Planted", "."))
}
