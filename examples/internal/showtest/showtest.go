// Package showtest tests examples.
package showtest

import (
	"bytes"
	"flag"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/nabla-ad/nabla/examples/internal/show"
	"github.com/nabla-ad/nabla/optim"
)

var update = flag.Bool("update", false, "write output.txt and picture.svg")

// Run runs the example of the package under test and compares what it prints with output.txt and its picture with
// picture.svg.
func Run(t *testing.T, e show.Example) {
	t.Helper()
	picture := filepath.Join(t.TempDir(), "picture.svg")
	var output bytes.Buffer
	if err := e.Run(&output, picture); err != nil {
		t.Fatal(err)
	}
	drawn, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOARCH == "amd64" { // others contract products and sums, which changes last digits and random walks
		compare(t, "output.txt", output.Bytes())
		compare(t, "picture.svg", drawn)
	}
}

func compare(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not current, go test -update writes it; got:\n%.2000s", name, got)
	}
}

// Scatter estimates parameters from many sets of random data, and requires that the errors, in standard errors, have
// the mean 0 and the mean square 1 that they have where the standard errors are right, up to 4 deviations.
func Scatter(t *testing.T, sets int, truth []float64, estimate func() (*optim.LeastSquaresResult, error)) {
	t.Helper()
	mean, square := make([]float64, len(truth)), make([]float64, len(truth))
	n := float64(sets)
	for range sets {
		res, err := estimate()
		if err != nil {
			t.Fatal(err)
		}
		for i := range truth {
			z := (res.X[i] - truth[i]) / math.Sqrt(res.Covariance.At(i, i))
			mean[i] += z / n
			square[i] += z * z / n
		}
	}
	for i := range truth {
		if math.Abs(mean[i]) > 4/math.Sqrt(n) || math.Abs(square[i]-1) > 4*math.Sqrt(2/n) {
			t.Errorf("unknown %d: mean %v and mean square %v of errors in standard errors", i, mean[i], square[i])
		}
	}
}
