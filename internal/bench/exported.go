package bench

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/internal/bench/exported"
	"github.com/nabla-ad/nabla/internal/problems"
	"github.com/nabla-ad/nabla/program"
	"github.com/nabla-ad/nabla/sparsity"
)

// Exported returns an Engine of the functions that package program/export wrote. It takes part in the tasks that have
// one.
func Exported() Engine {
	return Engine{
		Name: "export",
		Has:  func(t Task) bool { return exported.Lookup(t.Entry.Name, t.N) != nil },
		Sparse: func(p *problems.Problem) (Derivative, *nabla.SparsePlan, error) {
			f := exported.Lookup(p.Name, p.N)
			work := make([]float64, f.Work)
			d := func(y, d, x []float64) error {
				if !f.Call(y, d, x, p.Numbers(), work) {
					return program.ErrGuard
				}
				return nil
			}
			if f.ColPtr == nil {
				return d, nil, nil
			}
			pattern, err := sparsity.New(p.Rows(), p.N, f.ColPtr, f.RowIndex)
			return d, &nabla.SparsePlan{Pattern: pattern, Detector: "program/export"}, err
		},
	}
}

// ExportedTasks returns the tasks that have exported functions, as text.
func ExportedTasks() string {
	var names []string
	for _, e := range problems.Benchmarked() {
		var sizes []string
		for _, n := range exported.Sizes(e.Name) {
			sizes = append(sizes, strconv.Itoa(n))
		}
		if sizes != nil {
			names = append(names, fmt.Sprintf("%s (n = %s)", e.Name, strings.Join(sizes, ", ")))
		}
	}
	return strings.Join(names, ", ")
}
