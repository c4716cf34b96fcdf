package coloring

import (
	"fmt"
	"testing"

	"github.com/nabla-ad/nabla/sparsity"
)

var benchmarks = []struct {
	name      string
	make      func() *sparsity.Pattern
	symmetric bool
}{
	{"brusselator", func() *sparsity.Pattern { return brusselator(289) }, false},
	{"grid", func() *sparsity.Pattern { return grid(448) }, true},
	{"band", func() *sparsity.Pattern { return sparsity.Banded(100_000, 100_000, 5, 5) }, true},
	{"arrowhead", func() *sparsity.Pattern { return arrowhead(333_334) }, true},
}

func BenchmarkColor(b *testing.B) {
	for _, bench := range benchmarks {
		p := bench.make()
		for _, problem := range problems {
			if problem.Structure == Symmetric && !bench.symmetric {
				continue
			}
			for _, order := range []Order{Natural{}, SmallestLast} {
				if bench.name == "arrowhead" && (order != Natural{} && !problem.graphical()) {
					continue // all columns are neighbours: 10¹¹ pairs
				}
				b.Run(fmt.Sprintf("%s/nnz=%d/%v/%v", bench.name, p.NNZ(), problem, order), func(b *testing.B) {
					b.ReportAllocs()
					var c *Coloring
					for b.Loop() {
						c = color(b, p, problem, Greedy{Orders: []Order{order}, Postprocess: true})
					}
					b.ReportMetric(float64(c.Colors()), "colours")
				})
			}
		}
	}
}

func BenchmarkDecompress(b *testing.B) {
	for _, bench := range benchmarks[:2] {
		p := bench.make()
		for _, problem := range problems {
			if problem.Structure == Symmetric && !bench.symmetric {
				continue
			}
			c := color(b, p, problem, Greedy{Postprocess: true})
			data := make([]float64, p.NNZ())
			col, row := c.Compress(data)
			name := fmt.Sprintf("%s/nnz=%d/%v", bench.name, p.NNZ(), problem)
			b.Run(name+"/prepare", func(b *testing.B) {
				for b.Loop() {
					must(c.Decompressor(Full))
				}
			})
			d := must(c.Decompressor(Full))
			b.Run(name+"/decompress", func(b *testing.B) {
				for b.Loop() {
					d.Decompress(data, col, c.Forward(), row, c.Reverse())
				}
			})
		}
	}
}
