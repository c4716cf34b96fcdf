package gen_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/internal/longtest"
)

// list is format for 0 to n-1, separated by commas.
func list(n int, format string) string {
	out := make([]string, n)
	for i := range out {
		out[i] = strings.ReplaceAll(format, "#", fmt.Sprint(i))
	}
	return strings.Join(out, ", ")
}

// TestManyParameters differentiates functions that call others with many parameters and results, more than any word has
// bits, and a checkpointed loop that hands on as many variables.
func TestManyParameters(t *testing.T) {
	p := together(t, "wide")
	if text := withoutNotes(p.problems["wide"]); text != "" {
		t.Error(text)
	}
	p.passes(t)
}

func wideFiles(t *testing.T) map[string]string {
	var b strings.Builder
	b.WriteString("package wide\n\n")
	widths := longtest.Sample([]int{33, 65, 200}, 1)
	for _, n := range widths {
		sum := strings.ReplaceAll(list(n, "(#+1)*p#*p#"), ", ", " + ")
		fmt.Fprintf(&b, `
func numbers%[1]d(%[2]s float64) float64 { return %[3]s }

func slices%[1]d(%[2]s []float64) float64 { return %[4]s }

func results%[1]d(x float64) (%[2]s float64) { return %[5]s }

//nabla:differentiate
func Numbers%[1]d(x []float64) float64 { return numbers%[1]d(%[6]s) }

//nabla:differentiate
func Slices%[1]d(x []float64) float64 { return slices%[1]d(%[7]s) }

//nabla:differentiate
func Results%[1]d(x []float64) float64 {
	%[2]s := results%[1]d(x[0])
	return numbers%[1]d(%[2]s)
}

// Own is no function that operators take.
//
//nabla:differentiate
func Own%[1]d(%[2]s float64) float64 { return %[3]s }

// Loop hands variables on from one iteration to the next.
//
//nabla:differentiate
func Loop%[1]d(x []float64) float64 {
	%[2]s := %[6]s
	//nabla:checkpoint
	for range 10 {
		%[2]s = %[8]s
	}
	return %[3]s
}
`, n, list(n, "p#"), sum, strings.ReplaceAll(list(n, "(#+1)*p#[0]*p#[0]"), ", ", " + "), list(n, "(#+1)*x"), list(n, "x[#%7]"), list(n, "x[#%7:]"), rotated(n))
	}
	tests := "package wide\n\nvar cases = []wide{"
	for _, n := range widths {
		tests += fmt.Sprintf("\n{%[1]d, Numbers%[1]d, Slices%[1]d, Results%[1]d, Loop%[1]d, func(dot float64) "+
			"float64 { _, d := Own%[1]dTangent(%[2]s, %[3]s); return d }},", n, list(n, "1"), list(n, "dot"))
	}
	return map[string]string{"wide.go": b.String(), "cases_test.go": tests + "\n}\n",
		"wide_test.go": read(t, "testdata/wide_test.txt")}
}

// rotated are variables that are exchanged, and made a bit smaller.
func rotated(n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("p%d*0.875", (i+1)%n)
	}
	return strings.Join(out, ", ")
}
