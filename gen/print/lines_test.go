package print_test

import (
	"errors"
	"fmt"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/internal/randprog"
	"github.com/nabla-ad/nabla/gen/print"
	"github.com/nabla-ad/nabla/gen/traced"
	"github.com/nabla-ad/nabla/internal/linetable"
	"github.com/nabla-ad/nabla/internal/longtest"
)

// function matches the call of a function that package math has too.
var function = regexp.MustCompile(`nabla\.(Sin|Cos|Exp|Log|Sqrt|Tanh|Atan|Abs|Hypot|Atan2|Erf|Cbrt|Log1p|Expm1)\(`)

// value matches the call of a variable of one letter or of an element.
var value = regexp.MustCompile(`\b[a-z]\(|\]\(`)

// TestRandomLines prints functions over Reals of random programs: the line of the source that the table has for a call
// of an elementary function calls that function, or a function value, which may be that function.
func TestRandomLines(t *testing.T) {
	n, calls, values := longtest.Cases(*programs, 10, 20, 1000), 0, 0
	var list []*randprog.Program
	for i := range n {
		list = append(list, randprog.New(*firstSeed+uint64(i), randprog.Options{}))
	}
	cases, err := randprog.Load(list, 1)
	if err != nil {
		t.Fatal(err)
	}
	source := map[string][]string{} // lines by file
	for i, text := range randprog.Batch(list) {
		source[fmt.Sprintf("rnd%d.go", i)] = strings.Split(text, "\n")
	}
	for _, c := range cases {
		pkg := c.F.Object.Pkg()
		f, _, err := traced.New(pkg).Build(c.F, activity.Bits(1<<len(c.Sig.Params())-1))
		if err != nil || f == c.F {
			continue
		}
		text, err := print.Source{Pkg: pkg, Funcs: []print.Func{{Func: f, Name: "Traced"}},
			Origin: func(pos token.Position) linetable.Place {
				return linetable.Place{Function: "rnd.F", File: "./rnd/" + pos.Filename, Line: pos.Line, Declared: 1}
			}}.Print()
		if errors.As(err, new(*print.Error)) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(text), "\n")
		register(t, lines)
		for i, line := range lines {
			m := function.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			calls++
			p, ok := linetable.Of("/gen.go", i+1)
			if ok {
				all := source[strings.TrimPrefix(p.File, "/rnd/")]
				text := all[p.Line-1]
				if strings.HasSuffix(text, "struct {") { // a literal over several lines
					text = strings.Join(all[p.Line-1:p.Line+3], "\n")
				}
				if strings.Contains(text, "math."+m[1]+"(") {
					continue
				}
				if value.MatchString(text) {
					values++
					continue
				}
				t.Error(text)
			}
			t.Errorf("seed %d: %s was made from line %d of %s", c.Program.Seed, strings.TrimSpace(line), p.Line, p.File)
		}
		if t.Failed() {
			return
		}
	}
	t.Log(calls, "calls,", values, "of function values")
	if calls < n || values*4 > calls {
		t.Errorf("%d calls in %d programs, %d of function values", calls, n, values)
	}
}

// register registers the table at the end of a file as that of /gen.go.
func register(t *testing.T, lines []string) {
	t.Helper()
	for i, line := range lines {
		if line != "var _ = rt.Lines(" {
			continue
		}
		var forms []string
		for _, form := range lines[i+1:] {
			text, err := strconv.Unquote(strings.TrimSuffix(strings.TrimSpace(form), ","))
			if err != nil {
				break
			}
			forms = append(forms, text)
		}
		linetable.Register("/gen.go", i+1, "placed/opt.init", forms)
		return
	}
	t.Errorf("no table in\n%s", strings.Join(lines, "\n"))
}
