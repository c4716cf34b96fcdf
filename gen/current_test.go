package gen_test

import (
	"testing"

	"github.com/nabla-ad/nabla/gen"
	"github.com/nabla-ad/nabla/internal/longtest"
)

// TestCurrent checks that the generated code of this module is up to date.
func TestCurrent(t *testing.T) {
	if testing.Short() {
		t.Skip("generates the derivatives of a whole package")
	}
	// The code of the kit is half of it all.
	patterns := []string{"./internal/problems", "./gen/internal/fourier"}
	if longtest.Long() {
		patterns = append(patterns,
			"./difftest/coded", "./gen/internal/edges", "./gen/internal/kalman", "./gen/internal/schemes",
			"./internal/network",
			"./constrain/internal/coded", "./sums/internal/coded", "./implicit/internal/coded",
			"./ode/internal/coded")
	}
	p, err := gen.Load("..", patterns, nil)
	if err != nil {
		t.Fatal(err)
	}
	report, err := p.Generate()
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range report.Problems() {
		if problem.Severity == gen.Error {
			t.Error(problem)
		}
	}
	stale, err := report.Stale()
	if err != nil || len(stale) > 0 {
		t.Errorf("%v: run go run ./cmd/nabla gen ./internal/problems ./difftest/coded ./gen/internal/edges "+
			"./gen/internal/fourier ./gen/internal/kalman ./gen/internal/schemes ./internal/network "+
			"./constrain/internal/coded ./sums/internal/coded "+
			"./implicit/internal/coded ./ode/internal/coded: %v", stale, err)
	}
}
