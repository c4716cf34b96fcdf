package nabla_test

import (
	"strings"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
)

// TestMessagesSayWhatToDo checks that messages about lengths and settings give the mistake, the
// expected value and the next step.
func TestMessagesSayWhatToDo(t *testing.T) {
	x := []float64{1, 2}
	p, err := nabla.PrepareGradient(product, forwarddiff.Backend{}, x)
	if err != nil {
		t.Fatal(err)
	}
	_, short := p.Gradient(nil, x[:1])
	_, long := p.Gradient(make([]float64, 3), x)
	_, two := nabla.Gradient(nabla.InPlace(2, func(y, x []nabla.Real) { copy(y, x) }), forwarddiff.Backend{}, x)
	_, negative := nabla.Jacobian(nabla.InPlace(-2, func(y, x []nabla.Real) {}), forwarddiff.Backend{}, x)
	_, chunk := nabla.Gradient(product, forwarddiff.Backend{Chunk: -1}, x)
	_, step := nabla.Gradient(product, finitediff.Backend{RelStep: -1}, x)
	_, method := nabla.Gradient(product, finitediff.Backend{Method: 17}, x)
	for _, c := range []struct {
		err  error
		want []string
	}{
		{short, []string{"Gradient", "len(x)", "1", "2", "Resize"}},
		{long, []string{"Gradient", "len(dst)", "3", "2", "nil"}},
		{two, []string{"Gradient", "outputs", "2", "1", "Jacobian"}},
		{negative, []string{"InPlace", "m is -2", "0 or more"}},
		{chunk, []string{"Chunk is -1", "0 or more"}},
		{step, []string{"RelStep is -1", "positive"}},
		{method, []string{"method(17)", "Central"}},
	} {
		if c.err == nil {
			t.Errorf("no error, want one with %q", c.want)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(c.err.Error(), w) {
				t.Errorf("%q says nothing of %q", c.err, w)
			}
		}
	}
}
