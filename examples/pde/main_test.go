package main

import (
	"math"
	"testing"

	"github.com/nabla-ad/nabla/examples/internal/showtest"
)

func TestRun(t *testing.T) { showtest.Run(t, example) }

// TestConvergence: the error falls like the square of the spacing.
func TestConvergence(t *testing.T) {
	var errors []float64
	for _, side := range []int{11, 21, 41} {
		g := newGrid(side)
		z, _, err := solve(g, nil)
		if err != nil {
			t.Fatal(err)
		}
		largest := 0.0
		for i := 1; i < side-1; i++ {
			for j := 1; j < side-1; j++ {
				largest = max(largest, math.Abs(g.height(z, i, j)-scherk(g.at(j), g.at(i))))
			}
		}
		errors = append(errors, largest)
	}
	for i, e := range errors[1:] {
		if ratio := errors[i] / e; ratio < 3 || ratio > 5 {
			t.Errorf("errors %.2g: the ratio of two is %.2f, want about 4", errors, ratio)
		}
	}
}
