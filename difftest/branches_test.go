package difftest_test

import (
	"strings"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/difftest"
	"github.com/nabla-ad/nabla/engine"
)

// refusing refuses all functions without a line.
type refusing struct{ forwarddiff.Backend }

func (refusing) Name() string { return "refusing" }

func (refusing) PreparePushforward(*engine.Function, []float64, int) (engine.Pushforward, error) {
	return nil, &nabla.UnsupportedError{What: "everything"}
}

// TestNoBranches: with Options.NoBranches an engine that accepts branches fails, and so does one whose refusal does not
// name a line.
func TestNoBranches(t *testing.T) {
	for _, c := range []struct {
		b    nabla.Backend
		want []string
	}{
		{forwarddiff.Backend{}, []string{
			"[prepare] behaviour/branch/jacobian/out on forwarddiff: a function that compares numbers is accepted",
			"[prepare] behaviour/branch/jacobian/out on forwarddiff: Jacobian: a function that compares numbers is " +
				"accepted",
		}},
		{refusing{}, []string{
			"[prepare] behaviour/branch/pushforward/out on refusing: nabla: everything (nabla.UnsupportedError), " +
				"want a *sparsity.BranchError",
		}},
	} {
		r := newRecorder("behaviour/branch/")
		difftest.Check(r, c.b, &difftest.Options{NoBranches: true, NoModifiers: true})
		for _, want := range c.want {
			if !contains(*r.failed, want) {
				t.Errorf("no message with %q among\n%s", want, strings.Join(first(*r.failed, 12), "\n"))
			}
		}
	}
}
