package gen_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// refusedSource has functions of all shapes that operators take, all of them refused.
const refusedSource = `package refused

import (
	"fmt"
	"math"
	"os"
	"strconv"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/source"
)

//nabla:differentiate
func Prints(x []float64) float64 {
	fmt.Scanln(x[0]) // fmt.Println
	return x[0]
}

//nabla:differentiate
func Number(x float64) float64 { c := make(chan float64, 1); c <- x; return <-c } // channels

//nabla:differentiate
func InPlace(y, x []float64) {
	y[0] = called(x[0])
}

func called(x float64) float64 {
	k, _ := strconv.ParseFloat(os.Getenv("K"), 64) // os.Getenv
	return x * k
}

type Model struct{ K float64 }

//nabla:differentiate
func (m *Model) Loss(x []float64) float64 {
	go m.Loss(x) // go
	return m.K * x[0]
}

//nabla:differentiate
func Bound(x []float64, m *Model) []float64 {
	goto end // goto
end:
	return x
}

func generic[T ~float64](x []T) T {
	return T(math.Float64frombits(math.Float64bits(float64(x[0])))) // math.Float64bits
}

//nabla:passive
func constant(x []float64) float64 { return x[0] } // passive

func uses() {
	nabla.Gradient(generic[float64], source.Reverse{}, []float64{1})
	nabla.Gradient(constant, source.Reverse{}, []float64{1})
}

// Other has a type that operators do not take.
//
//nabla:differentiate
func Other(x, y float64) float64 { fmt.Scanln(x); return y }
`

const refusedTest = `package refused

import (
	"errors"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/forwarddiff"
	"github.com/nabla-ad/nabla/backend/reversediff"
	"github.com/nabla-ad/nabla/backend/source"
)

func TestRefused(t *testing.T) {
	for _, b := range []nabla.Backend{source.Reverse{}, source.Forward{}, forwarddiff.Backend{}, reversediff.Backend{}} {
		x, y := []float64{1}, []float64{0}
		check := func(want string, err error) {
			t.Helper()
			if !errors.Is(err, nabla.ErrUnsupported) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want %s", b.Name(), err, want)
			}
		}
		_, err := nabla.Gradient(Prints, b, x)
		check("refused.go:15:2: function Prints: call of fmt.Scanln", err)
		_, err = nabla.Derivative(Number, b, 1)
		check("refused.go:20:39: function Number: ", err)
		_, err = nabla.Pushforward(nabla.InPlace(1, InPlace), b, x, x)
		check("call of os.Getenv", err)
		check("refused.go:28:29: function called, which InPlace calls: ", err)
		_, err = nabla.Gradient(nabla.BindMethod((*Model).Loss, &Model{1}), b, x)
		check("refused.go:36:2: function (*Model).Loss: go", err)
		_, err = nabla.Pushforward(nabla.Bind(Bound, &Model{1}), b, x, x)
		check("refused.go:42:2: function Bound: goto", err)
		_, err = nabla.Gradient(generic[float64], b, x)
		check("refused.go:48:", err)
		_, err = nabla.Gradient(constant, b, x)
		check("function constant: it is passive", err)
		_ = y
	}
}
`

// TestRefusalsRegistered requires that the errors of engines contain the reason and the position of a refusal, also in
// packages without any generated function.
func TestRefusalsRegistered(t *testing.T) {
	dir := module(t, refusedFiles(t))
	r := generate(t, dir, ".")
	if changed, err := r.Write(); err != nil || len(changed) != 1 {
		t.Fatal(changed, err)
	}
	text := read(t, r.Packages[0].Files[0].Name)
	if strings.Contains(text, filepath.Dir(dir)) || strings.Contains(text, "Other") {
		t.Errorf("got\n%s", text)
	}
	if stale, err := generate(t, dir, ".").Stale(); err != nil || stale != nil {
		t.Errorf("stale: %v, %v", stale, err)
	}
	together(t, "refused").passes(t)
}

func refusedFiles(*testing.T) map[string]string {
	return map[string]string{"go.mod": "module refused\n\ngo 1.26\n", "refused.go": refusedSource,
		"refused_test.go": refusedTest}
}
