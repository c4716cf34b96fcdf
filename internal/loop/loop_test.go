package loop

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/nabla-ad/nabla/gen/rt/checkpoint"
	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/rules"
)

// rotation is a body whose step is a nonlinear map of the state with one parameter, one input and one output. Every
// third step takes another branch.
func rotation(memory int64) *Body {
	b := &Body{Name: "rotation", State: 2, Params: 1, Inputs: 1, Output: 1, Memory: memory}
	b.New = func() Step {
		return func(y, x []core.Rep, i core.Rep) {
			y[0] = core.Apply2(rules.Add, core.Apply1(rules.Sin, x[1]), x[3])
			y[1] = core.Apply2(rules.Mul, x[0], x[2])
			y[2] = core.Apply1(rules.Exp, core.Apply2(rules.Mul, x[0], x[3]))
			if i.V == 1 {
				core.Compare(core.OpGuardEq, i, core.Rep{V: 1}, true)
				y[1] = x[0]
				return
			}
			core.Compare(core.OpGuardEq, i, core.Rep{V: 1}, false)
		}
	}
	return b
}

// TestMemory reverses loops with few and many snapshots. Results are the same bit for bit, and the snapshots take the
// memory that they may.
func TestMemory(t *testing.T) {
	const n = 100
	x := []float64{0.3, 0.2, 0.9}
	for i := range n {
		x = append(x, math.Cos(float64(i))/4)
	}
	ybar := []float64{1, -2}
	for i := range n {
		ybar = append(ybar, math.Sin(float64(i)))
	}
	var want []float64
	for _, memory := range []int64{1 << 20, 10 * 24, 4 * 24, 24} {
		b := rotation(memory)
		got := make([]float64, len(x))
		l := b.Times(n)
		l.VJP(got, x, nil, ybar)
		if want == nil {
			want = got
		}
		for j, v := range got {
			if v != want[j] {
				t.Errorf("with %d bytes component %d is %v, with all states %v", memory, j, v, want[j])
			}
		}
		bytes := int64(0)
		for _, w := range b.free {
			bytes += 8 * int64(cap(w.at))
			for _, c := range w.snapshots {
				bytes += 8 * int64(len(c))
			}
		}
		if bytes > memory || bytes < min(memory, n*24)/2 {
			t.Errorf("the snapshots take %d bytes of %d", bytes, memory)
		}
		if len(b.branches) != 2 {
			t.Errorf("%d branches, want 2", len(b.branches))
		}
	}
}

// TestSnapshots checks that the memory named by the error suffices, and no less.
func TestSnapshots(t *testing.T) {
	for _, n := range []int{1, 100, 101, 102, 5151, 5152, 1_000_000} {
		b := &Body{State: 3}
		_, err := b.Snapshots(n, 2)
		var limit *core.LimitError
		if !errors.As(err, &limit) {
			t.Fatalf("%d steps without memory: %v", n, err)
		}
		b.Memory = int64(limit.Bytes)
		s, err := b.Snapshots(n, 2)
		if err != nil || checkpoint.Reach(s, mostRuns) < n {
			t.Errorf("%d steps with %d bytes: %d snapshots, %v", n, b.Memory, s, err)
		}
		if b.Memory--; s > 0 {
			if s, err = b.Snapshots(n, 2); err == nil {
				t.Errorf("%d steps with %d bytes: %d snapshots, want an error", n, b.Memory, s)
			}
		}
	}
}

// TestBranchesAreBounded runs a loop with a branch for each step.
func TestBranchesAreBounded(t *testing.T) {
	b := &Body{State: 1, Memory: 1 << 20, New: func() Step {
		return func(y, x []core.Rep, i core.Rep) {
			core.Escape(core.OpGuardInt, i, math.Trunc(i.V))
			y[0] = core.Apply2(rules.Mul, x[0], core.Rep{V: 1 + math.Trunc(i.V)/100})
		}
	}}
	const n = 3 * maxBranches
	want := 1.0
	for i := range n {
		want *= 1 + float64(i)/100
	}
	got := []float64{0}
	b.Times(n).VJP(got, []float64{2}, nil, []float64{1})
	if math.Abs(got[0]-want) > 1e-13*want {
		t.Errorf("the derivative is %v, want %v", got[0], want)
	}
	runs := 0
	for _, w := range b.free {
		for _, l := range w.lists {
			runs = max(runs, len(l.runs))
		}
	}
	if len(b.branches) > maxBranches || runs > 2*maxBranches {
		t.Errorf("%d branches and %d machines, want at most %d", len(b.branches), runs, maxBranches)
	}
}

// TestStructure compares patterns with those of products of the pattern of the step, for a step that moves numbers on:
// the state after n steps depends on that n places before.
func TestStructure(t *testing.T) {
	const size = 70
	b := &Body{State: size, Params: 1, New: func() Step {
		return func(y, x []core.Rep, _ core.Rep) {
			for i := range size {
				y[i] = core.Apply1(rules.Exp, x[(i+1)%size])
			}
			y[3] = core.Apply2(rules.Mul, y[3], x[size])
		}
	}}
	for _, n := range []int{0, 1, 2, 69, 70, 200} {
		for range 2 {
			rows, _ := b.Times(n).(core.Structured).Structure(0)
			for i, row := range rows {
				want := []int{(i + n) % size}
				for k := range n { // it passed place 3 before the end
					if (i+k)%size == 3 {
						want = append(want, size)
						break
					}
				}
				if !slices.Equal(row, want) {
					t.Fatalf("%d steps: number %d depends on %v, want %v", n, i, row, want)
				}
			}
		}
	}
	// The pattern of many steps with inputs and outputs is not followed.
	large := rotation(1)
	if rows, _ := large.Times(1 << 20).(core.Structured).Structure(0); rows != nil {
		t.Errorf("the pattern of a long loop has %d rows", len(rows))
	}
}
