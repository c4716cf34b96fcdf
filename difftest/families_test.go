package difftest

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/internal/longtest"
)

func TestMain(m *testing.M) { longtest.Main(m) }

// TestClosedForms compares the closed forms, which are the expected results at other points than the catalogue's, with
// the numbers of the catalogue.
func TestClosedForms(t *testing.T) {
	for _, s := range Scenarios("") {
		if s.At == nil {
			t.Errorf("%s has no closed form", s.Name)
			continue
		}
		got, want := s.At(s.X, s.tangent()), s.want()
		for name, v := range map[string][2][]float64{"value": {got.Value, want.Value}, "first": {got.First, want.First},
			"second": {got.Second, want.Second}} {
			if d := difference(v[0], v[1], exactTol, 0); d != "" {
				t.Errorf("%s: %s: %s", s.Name, name, d)
			}
		}
	}
}

// TestBanded compares the scenarios with a banded matrix with numbers computed with 40 digits: all values and
// gradients, a sample of the matrices, and their norms.
func TestBanded(t *testing.T) {
	raw, err := os.ReadFile("testdata/banded.json")
	if err != nil {
		t.Fatal(err)
	}
	var refs []struct {
		Scenario string
		NNZ      int
		Value    []float64
		Gradient []float64
		Sample   [][3]float64
		Norm     float64
	}
	if err := json.Unmarshal(raw, &refs); err != nil {
		t.Fatal(err)
	}
	for _, r := range refs {
		found := 0
		for _, s := range Scenarios("sparse") {
			if !strings.HasPrefix(s.Name, r.Scenario) {
				continue
			}
			found++
			matrix := s.First
			if s.Operator == "hessian" {
				matrix = s.Second
				if d := difference(s.First, r.Gradient, exactTol, 0); d != "" {
					t.Errorf("%s: gradient: %s", s.Name, d)
				}
			}
			if d := difference(s.Value, r.Value, exactTol, 0); d != "" {
				t.Errorf("%s: value: %s", s.Name, d)
			}
			for _, e := range r.Sample {
				got := matrix[int(e[0])*bandedSize+int(e[1])]
				if math.Abs(got-e[2]) > exactTol*math.Abs(e[2]) {
					t.Errorf("%s: element %v, %v is %v, want %v", s.Name, e[0], e[1], got, e[2])
				}
			}
			norm := 0.0
			for _, v := range matrix {
				norm = math.Hypot(norm, v)
			}
			if math.Abs(norm-r.Norm) > exactTol*r.Norm || s.NNZ != r.NNZ {
				t.Errorf("%s: norm %v, %d elements; want %v, %d", s.Name, norm, s.NNZ, r.Norm, r.NNZ)
			}
		}
		if found == 0 {
			t.Errorf("no scenario %s", r.Scenario)
		}
	}
}

// A countingMatrix is a matrix that reports how many elements it stores.
type countingMatrix struct {
	*mat.Dense
	n int
}

func (c countingMatrix) NNZ() int { return c.n }

// messages is a Reporter that stores failures.
type messages []string

func (m *messages) Errorf(format string, args ...any) { *m = append(*m, fmt.Sprintf(format, args...)) }
func (m *messages) Skipf(string, ...any)              {}
func (m *messages) Run(_ string, f func(Reporter))    { f(m) }

// TestStoredElements requires that a matrix that stores more elements than the pattern has is reported, and no other.
func TestStoredElements(t *testing.T) {
	var s Scenario
	for _, s = range Scenarios("sparse") {
		if s.Name == "sparse/diffsquare_vec_to_vec/jacobian/out/out" {
			break
		}
	}
	if s.NNZ != 10 {
		t.Fatalf("%s: %d elements, want 10", s.Name, s.NNZ)
	}
	for n, want := range map[int]int{10: 0, 30: 1} {
		var m messages
		c := &checker{r: &m, b: nabla.SecondOrder{}, o: &Options{Tol: exactTol}, scenario: s.Name, s: &s}
		o := new(outcome)
		o.first.m = countingMatrix{mat.NewDense(5, 6, s.First), n}
		c.compare("prepared", variant{name: "Jacobian"}, o, s.X, nil, s.want())
		if len(m) != want || want == 1 && !strings.Contains(m[0], "[sparsity] "+s.Name) {
			t.Errorf("with %d elements: %q", n, m)
		}
	}
}
