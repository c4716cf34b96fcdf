package nabla_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/tracker"
)

// captureEngines run a function over three kinds of traces.
var captureEngines = []nabla.Backend{forwarddiff.Backend{}, tracker.Backend{}, reversediff.Backend{Compile: true}}

func double(s *nabla.ScanStep) { s.Next[0] = s.State[0].Scale(2) }

// TestScanErrors checks the errors of loops that cannot be run: their types, and what they name.
func TestScanErrors(t *testing.T) {
	var outer nabla.Real
	for name, c := range map[string]struct {
		s         nabla.Scan
		n         int
		in        int    // inputs
		want      any    // the type of the error, a pointer to a pointer, or an error
		mentioned string // in the message
	}{
		"no step":               {nabla.Scan{Name: "a"}, 3, 0, new(*nabla.FuncError), "no Step"},
		"negative n":            {nabla.Scan{Name: "a", Step: double}, -1, 0, new(*nabla.FuncError), "-1 steps"},
		"negative outputs":      {nabla.Scan{Step: double, Outputs: -2}, 3, 0, new(*nabla.FuncError), "-2"},
		"negative memory":       {nabla.Scan{Step: double, Memory: -2}, 3, 0, new(*nabla.FuncError), "-2"},
		"inputs without a step": {nabla.Scan{Step: double}, 0, 2, new(*nabla.FuncError), "2 inputs for 0 steps"},
		"inputs of some steps":  {nabla.Scan{Step: double}, 3, 4, new(*nabla.FuncError), "4 inputs for 3 steps"},
		"no memory": {nabla.Scan{Name: "a", Step: double, Memory: 15}, 3, 0, new(*nabla.LimitError),
			"1 of 16 bytes"},
		// C(2+100, 2) = 5151.
		"too little memory": {nabla.Scan{Step: double, Memory: 32}, 5152, 0, new(*nabla.LimitError), "3 of 16 bytes"},
		"too short a result": {nabla.Scan{Step: func(s *nabla.ScanStep) { s.Next = nil }}, 3, 0, new(*nabla.FuncError),
			"Next to a slice of length 0, want 1"},
		"too many outputs": {nabla.Scan{Step: func(s *nabla.ScanStep) {
			double(s)
			s.Outputs = append(s.Outputs, s.State[0])
		}}, 3, 0, new(*nabla.FuncError), "Outputs to a slice of length 1, want 0"},
		"a result not written": {nabla.Scan{Name: "a", Outputs: 1, Step: double}, 3, 0, nabla.ErrOutputNotWritten,
			"Scan a"},
		"a panic": {nabla.Scan{Name: "a", Step: func(s *nabla.ScanStep) { panic("no") }}, 3, 0,
			new(*nabla.PanicError), "Scan a panicked: no"},
		"captured": {nabla.Scan{Name: "a", Step: func(s *nabla.ScanStep) { s.Next[0] = s.State[0].Mul(outer) }}, 3, 0,
			nabla.ErrForeignReal, "as an argument"},
		"captured alone": {nabla.Scan{Name: "a", Step: func(s *nabla.ScanStep) { s.Next[0] = outer.Sq() }}, 3, 0,
			nabla.ErrForeignReal, "as an argument"},
	} {
		run := c.s.Func()
		f := func(x []nabla.Real) nabla.Real {
			outer = x[1]
			last, _ := run(c.n, x[:1], nil, make([]nabla.Real, c.in))
			return last[0]
		}
		for _, b := range []nabla.Backend{
			forwarddiff.Backend{}, tracker.Backend{}, reversediff.Backend{}, reversediff.Backend{Compile: true},
		} {
			_, err := nabla.Gradient(f, b, []float64{1, 2})
			found := false
			switch want := c.want.(type) {
			case error:
				found = errors.Is(err, want)
			default:
				found = errors.As(err, want)
			}
			if !found || !strings.Contains(err.Error(), c.mentioned) || strings.Count(err.Error(), "nabla: ") != 1 {
				t.Errorf("%s, %s: the error is %v", name, b.Name(), err)
			}
		}
	}
}

// TestScanInGoroutines runs loops with mistakes, and without, in a goroutine of the function.
func TestScanInGoroutines(t *testing.T) {
	run := nabla.Scan{Step: double}.Func()
	for _, n := range []int{-1, 3} {
		f := func(x []nabla.Real) nabla.Real {
			done := make(chan nabla.Real)
			go func() {
				last, _ := run(n, x, nil, nil)
				done <- last[0]
			}()
			return <-done
		}
		for _, b := range captureEngines {
			g, err := nabla.Gradient(f, b, []float64{1})
			var wrong *nabla.FuncError
			if n < 0 && !errors.As(err, &wrong) || n > 0 && (err != nil || g[0] != 8) {
				t.Errorf("%d steps, %s: %v, %v", n, b.Name(), g, err)
			}
		}
	}
}

// TestScanWithGoroutines has a step that computes in goroutines.
func TestScanWithGoroutines(t *testing.T) {
	run := nabla.Scan{Step: func(s *nabla.ScanStep) {
		done := make(chan bool)
		for i := range s.Next {
			go func() {
				s.Next[i] = nabla.Sin(s.State[i]).Mul(s.State[1-i])
				done <- true
			}()
		}
		<-done
		<-done
	}}.Func()
	plain := nabla.Scan{Step: func(s *nabla.ScanStep) {
		s.Next[0], s.Next[1] = nabla.Sin(s.State[0]).Mul(s.State[1]), nabla.Sin(s.State[1]).Mul(s.State[0])
	}}
	c := scanCase{n: 5, state: 2}
	compareSecond(t, "goroutines", reversediff.Backend{Compile: true}, c.sum(run), c.sum(unrolled(plain)),
		[]float64{1, 2})
}

// TestScanReadsCapturedData changes data that the step captures, in the branch that is taken and which branch that is.
// The function that calls the loop is at package level, so that it is not compared at the third call.
func TestScanReadsCapturedData(t *testing.T) {
	for _, b := range captureEngines {
		capturedFactor, capturedBound = 2, 0
		p, err := nabla.PrepareGradient(readsCaptured, b, []float64{1.5})
		if err != nil {
			t.Fatal(err)
		}
		check := func(want float64) {
			t.Helper()
			if g, err := p.Gradient(nil, []float64{1.5}); err != nil || g[0] != want {
				t.Errorf("%s: gradient %v, %v, want %v", b.Name(), g, err, want)
			}
		}
		check(8)
		check(8)
		capturedFactor = 3
		check(27)
		capturedBound = 100
		check(-1)
		capturedBound = 0
		check(27)
	}
}

var (
	capturedFactor, capturedBound float64

	capturingLoop = nabla.Scan{Step: func(s *nabla.ScanStep) {
		if s.State[0].Less(nabla.Const(capturedBound)) {
			s.Next[0] = s.State[0].Neg()
			return
		}
		s.Next[0] = s.State[0].Scale(capturedFactor)
	}}.Func()
)

func readsCaptured(x []nabla.Real) nabla.Real {
	last, _ := capturingLoop(3, x, nil, nil)
	return last[0]
}

// TestCheckpointErrors checks the errors of functions that are no checkpoints.
func TestCheckpointErrors(t *testing.T) {
	var outer nabla.Real
	calls := 0
	for name, c := range map[string]struct {
		f    func(x []nabla.Real) []nabla.Real
		want any
	}{
		"nil": {nil, new(*nabla.FuncError)},
		"another number of outputs": {func(x []nabla.Real) []nabla.Real {
			calls++
			return make([]nabla.Real, calls)
		}, new(*nabla.ShapeError)},
		"captured": {func(x []nabla.Real) []nabla.Real { return []nabla.Real{x[0].Mul(outer)} },
			nabla.ErrForeignReal},
		"captured alone": {func(x []nabla.Real) []nabla.Real { return []nabla.Real{outer} }, nabla.ErrForeignReal},
		"a panic":        {func(x []nabla.Real) []nabla.Real { panic("no") }, new(*nabla.PanicError)},
	} {
		run := nabla.Checkpoint(c.f)
		f := func(x []nabla.Real) nabla.Real {
			outer = x[1]
			return run(x[:1])[0]
		}
		constant := func(x []nabla.Real) nabla.Real {
			outer = x[1]
			return run([]nabla.Real{nabla.Const(1)})[0]
		}
		for _, b := range captureEngines {
			for _, f := range []func(x []nabla.Real) nabla.Real{f, constant} {
				_, err := nabla.Gradient(f, b, []float64{1, 2})
				found := false
				switch want := c.want.(type) {
				case error:
					found = errors.Is(err, want)
				default:
					found = errors.As(err, want)
				}
				if !found {
					t.Errorf("%s, %s: the error is %v", name, b.Name(), err)
				}
			}
		}
	}
}
