package nabla_test

import (
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/internal/problems"
	"github.com/nabla-ad/nabla/program"
)

// BenchmarkProgram takes the gradient programs of the tasks apart: recording, each
// pass of preparation, and the replay, per operation of the function.
func BenchmarkProgram(b *testing.B) {
	for _, e := range problems.Entries() {
		p, err := e.New(1000)
		if err != nil {
			b.Fatal(err)
		}
		if p.M != 1 {
			continue
		}
		x := p.Select(0).X
		var fn any = p.Traced
		if p.Func != nil {
			fn = p.Func
		}
		f, err := nabla.FunctionForTest(fn, x)
		if err != nil {
			b.Fatal(err)
		}
		primal, err := f.Program(x)
		if err != nil {
			b.Fatal(err)
		}
		ops := float64(primal.Operations())
		per := func(b *testing.B) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/ops, "ns/op-primal")
		}
		b.Run(p.Name+"/record", func(b *testing.B) {
			t := new(core.Tracer)
			xs, ys := make([]core.Rep, len(x)), make([]core.Rep, 1)
			for b.Loop() {
				if err := f.Record(t, ys, xs, x, core.RecordOptions{}); err != nil {
					b.Fatal(err)
				}
			}
			per(b)
		})
		adjoint := program.VJP(primal, program.VJPOptions{Unit: true})
		simple := program.Simplify(adjoint)
		scheduled := program.Schedule(simple)
		b.Run(p.Name+"/build", func(b *testing.B) {
			for b.Loop() {
				f.Program(x)
			}
			per(b)
		})
		b.Run(p.Name+"/vjp", func(b *testing.B) {
			for b.Loop() {
				program.VJP(primal, program.VJPOptions{Unit: true})
			}
			per(b)
		})
		b.Run(p.Name+"/simplify", func(b *testing.B) {
			for b.Loop() {
				program.Simplify(adjoint)
			}
			per(b)
		})
		b.Run(p.Name+"/schedule", func(b *testing.B) {
			for b.Loop() {
				program.Schedule(simple)
			}
			per(b)
		})
		b.Run(p.Name+"/compile", func(b *testing.B) {
			for b.Loop() {
				program.Compile(simple)
			}
			per(b)
		})
		b.Run(p.Name+"/replay", func(b *testing.B) {
			m := program.Compile(simple)
			copy(m.Input(0), x)
			if c := f.Context(); c != nil {
				c.Read(m.Params())
			}
			for b.Loop() {
				if !m.Run() {
					b.Fatal("a guard failed")
				}
			}
			per(b)
			b.ReportMetric(float64(scheduled.Operations())/ops, "ops/op-primal")
			b.ReportMetric(float64(len(scheduled.Stmts)), "stmts")
		})
	}
}
