package program

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/rules"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

// goldens are small functions whose programs are kept in testdata, to be read.
var goldens = []struct {
	name string
	f    func(x, params []core.Rep) []core.Rep
	x    []float64
}{
	{"rosenbrock", func(x, _ []core.Rep) []core.Rep {
		s := num(0)
		for i := range len(x) - 1 {
			a := core.Apply2(rules.Sub, x[i+1], core.Apply2(rules.Mul, x[i], x[i]))
			b := core.Apply2(rules.Sub, num(1), x[i])
			t := core.Apply2(rules.Add, core.Apply2(rules.Mul, num(100), core.Apply2(rules.Mul, a, a)),
				core.Apply2(rules.Mul, b, b))
			s = core.Apply2(rules.Add, s, t)
		}
		return []core.Rep{s}
	}, []float64{1, 2, 3, 4}},
	{"branch", func(x, _ []core.Rep) []core.Rep { // |x0| by a branch, times max(x1, x2)
		a := x[0]
		neg := a.V < 0
		if core.Compare(core.OpGuardLt, a, num(0), neg); neg {
			a = core.Apply1(rules.Neg, a)
		}
		return []core.Rep{core.Apply2(rules.Mul, a, core.Apply2(rules.Max, x[1], x[2]))}
	}, []float64{-1, 2, 3}},
	{"custom", func(x, params []core.Rep) []core.Rep {
		y := core.Call(ruleF(0, 0), []core.Rep{core.Apply2(rules.Mul, x[0], params[0]), x[1]})
		return []core.Rep{core.Apply1(rules.Tanh, y[0]), core.Apply2(rules.Div, y[1], y[0])}
	}, []float64{0.5, 2}},
}

func TestGolden(t *testing.T) {
	for _, g := range goldens {
		t.Run(g.name, func(t *testing.T) {
			p := record(t, g.f, g.x, 3)
			vjp := VJP(p, VJPOptions{Unit: p.NumOut() == 1})
			jvp := JVP(p, JVPOptions{Lanes: 2})
			var b strings.Builder
			for _, stage := range []struct {
				title string
				p     *Program
			}{
				{"recorded", p},
				{"recorded, simplified, scheduled", Schedule(Simplify(p))},
				{"VJP", vjp},
				{"VJP, simplified", Simplify(vjp)},
				{"VJP, simplified, scheduled", Schedule(Simplify(vjp))},
				{"VJP, strong, simplified, scheduled",
					Schedule(Simplify(VJP(p, VJPOptions{Unit: p.NumOut() == 1, Strong: true})))},
				{"JVP of 2 lanes, simplified, scheduled", Schedule(Simplify(jvp))},
			} {
				mustCheck(t, stage.title, stage.p)
				fmt.Fprintf(&b, "# %s: %d operations in %d statements\n%s\n", stage.title, stage.p.Operations(),
					len(stage.p.Stmts), stage.p)
			}
			file := filepath.Join("testdata", g.name+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(b.String()), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatalf("%v; run the test with -update and read what it writes", err)
			}
			got, wants := strings.Split(b.String(), "\n"), strings.Split(string(want), "\n")
			title := ""
			for i := range max(len(got), len(wants)) {
				a, b := "the end", "the end"
				if i < len(got) {
					a = got[i]
				}
				if i < len(wants) {
					b = wants[i]
				}
				if strings.HasPrefix(a, "#") {
					title = a
				}
				if a != b {
					t.Fatalf("%s, line %d: got\n\t%s\nwant\n\t%s\nunder\n\t%s\nRun with -update and read the "+
						"difference.", file, i+1, a, b, title)
				}
			}
		})
	}
}
