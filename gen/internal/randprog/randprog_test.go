package randprog_test

import (
	"errors"
	"go/constant"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/adjoint"
	"github.com/nabla-ad/nabla/gen/internal/randprog"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/tangent"
)

func load(t *testing.T, from, to uint64, opts randprog.Options) []*randprog.Case {
	t.Helper()
	var list []*randprog.Program
	for seed := from; seed < to; seed++ {
		list = append(list, randprog.New(seed, opts))
	}
	cases, err := randprog.Load(list, 3)
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

// TestDeterministic requires that a seed determines the program.
func TestDeterministic(t *testing.T) {
	for seed := range uint64(50) {
		a, b := randprog.New(seed, randprog.Options{}).Source(), randprog.New(seed, randprog.Options{}).Source()
		if a != b {
			t.Fatalf("seed %d gives two programs:\n%s\n%s", seed, a, b)
		}
	}
}

// TestExact requires that exact programs clip every slice whose capacity the compiler chooses.
func TestExact(t *testing.T) {
	for _, made := range []string{"append([]float64(nil), x...)", "append(p.X, d)", "[1][:1:1], "} {
		some := false
		for seed := range uint64(2000) {
			src := randprog.New(seed, randprog.Options{Exact: true}).Source()
			for line := range strings.Lines(src) {
				if strings.Contains(line, made) {
					if some = true; !strings.Contains(line, "clip(append(") {
						t.Fatalf("seed %d: %s", seed, line)
					}
				}
			}
			if some && seed >= 100 {
				break
			}
		}
		if !some {
			t.Errorf("no program has %q", made)
		}
	}
}

// constructs lists the constructs that random programs must contain, besides those of the library.
var constructs = []string{
	"(*mine)(&", "(*trio)(", "(*other)(", "(*tagged)(", "(*row)(", "[][]flt{", "struct{ p *flt", "[]*mine{", "[]mine{",
	"[]flt", "*flt", "new(flt)", "var e", "go:build go1.21", "\nfunc G(",
	"+= ", "-= ", "*= ", "/= ", "++", " = append(", "copy(", "clear(", "make([]float64", "new(float64)", "new(P)",
	"&P{", "for range", "for i",
	"range &", "break L", "continue L", "break W", "\nbreak", "\ncontinue", "fallthrough", "switch t := ", "switch {",
	"default:", "func(c",
	"[3]float64", "[2]P{", "[]P{", "[][]float64", "small(", "swapped(", "named(", "rings(", "even(", "fold(", "table[",
	"weights", "half",
	".push(", ".next()", ".moved(", ".plus\n", "panic(", "return\n", "return r", "if v := ", "} else {", "min(", "max(",
	"math.", "*r", ":len(",
	"T float64 | float32", "x ...float64", "f func(float64) float64", "k-1)", "*P) h", "P) h", "x, y = y, x",
	"[]*P{", "[2][]float64", "struct {", "type cell", "(*P).push", "[]small{", "cap(", "make([]float64, 1, 3)", ":= &x",
	"aDot", "a := float64(", "for ok := ",
}

func TestConstructs(t *testing.T) {
	left := slices.Clone(constructs)
	for seed := uint64(0); seed < 1000 && len(left) > 0; seed++ {
		src := randprog.New(seed, randprog.Options{}).Source()
		src, _, _ = strings.Cut(src, "\ntype P struct")
		left = slices.DeleteFunc(left, func(s string) bool { return strings.Contains(src, s) })
	}
	if len(left) > 0 {
		t.Errorf("1000 programs are without %q", left)
	}
}

// TestInputs requires that aliased slices overlap and others do not, and that all signatures occur.
func TestInputs(t *testing.T) {
	sigs := map[randprog.Signature]int{}
	overlaps := 0
	for seed := range uint64(200) {
		p := randprog.New(seed, randprog.Options{})
		sigs[p.Sig]++
		for k := range 4 {
			in := p.Input(k)
			for i, v := range in.Windows {
				if v[0] < 0 || v[1]-v[0] < 3 || v[2] < v[1] || v[2] > len(in.Mem) {
					t.Fatalf("window %v of %d", v, len(in.Mem))
				}
				for _, w := range in.Windows[:i] {
					if max(v[0], w[0]) < min(v[2], w[2]) {
						if overlaps++; !in.Aliased {
							t.Fatalf("windows %v and %v", v, w)
						}
					}
				}
			}
		}
	}
	if len(sigs) != 5 || overlaps < 100 {
		t.Errorf("signatures %v, %d overlaps", sigs, overlaps)
	}
}

// tangents returns a function that builds tangents of a case.
func tangents() func(f *ir.Func, mask uint64) (randprog.Tangent, error) {
	p := tangent.New()
	return func(f *ir.Func, mask uint64) (randprog.Tangent, error) {
		t, facts, err := p.Build(f, activity.Bits(mask))
		if err != nil {
			return randprog.Tangent{}, err
		}
		return randprog.Tangent{F: t, Params: facts.Params.Uint64(), Results: facts.Results.Uint64()}, nil
	}
}

// negated checks tangents in which sums of derivatives are replaced by differences.
func negated(c *randprog.Case) error {
	build := tangents()
	return c.Check(func(f *ir.Func, mask uint64) (randprog.Tangent, error) {
		t, err := build(f, mask)
		if err != nil {
			return t, err
		}
		for _, s := range t.F.Body {
			if s, ok := s.(*ir.Add); ok && strings.HasSuffix(s.P.Root.Name, "Dot") {
				s.E = &ir.Unary{Typed: ir.Typed{T: s.E.Type()}, Op: token.SUB, X: s.E}
			}
		}
		return t, nil
	}, new(randprog.Tally))
}

// TestShrink shrinks a program on which a wrong tangent fails, saves it and loads it again.
func TestShrink(t *testing.T) {
	done := false
	for _, c := range load(t, 0, 30, randprog.Options{}) {
		err := negated(c)
		if err == nil {
			continue
		}
		small := c.Shrink(negated, 3000)
		body, _, _ := strings.Cut(small.Source(), "\ntype ")
		if n := strings.Count(body, "\n"); n > 25 {
			t.Errorf("%d lines of %d are left:\n%s", n, strings.Count(c.Source(), "\n"), body)
		}
		var before, after *randprog.Failure
		if !errors.As(err, &before) || !errors.As(negated(small), &after) || before.Oracle != after.Oracle {
			t.Errorf("%v became %v", before, after)
		}
		dir := filepath.Join(t.TempDir(), "failures")
		name, err := small.Save(dir, c.Program.Seed, after)
		if err != nil {
			t.Fatal(err)
		}
		again, err := randprog.LoadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if f := negated(again); f == nil || f.Error() != after.Error() {
			t.Errorf("read again it fails by %v, not by %v", f, after)
		}
		done = true
		break
	}
	if !done {
		t.Error("no program fails")
	}
}

func TestLoadFileFails(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"no input": "// signature: 0\n\npackage rnd\n\nfunc F(x []float64) (r float64) { return x[0] }\n",
		"no types": "// signature: 0\n// input: {}\n\npackage rnd\n\nfunc F(x []float64) (r float64) { return y }\n",
		"no sense": "// signature: 17\n// input: {}\n\npackage rnd\n",
	} {
		file := filepath.Join(dir, "a.go")
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if c, err := randprog.LoadFile(file); err == nil {
			t.Errorf("%s: %v", name, c)
		}
	}
}

// scaled multiplies every summand that is added to a number by 1.001.
func scaled(f *ir.Func) {
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		if s, ok := s.(*ir.Add); ok && s.P.Type() == types.Typ[types.Float64] {
			by := &ir.Const{Typed: ir.Typed{T: s.P.Type()}, Val: constant.MakeFloat64(1.001)}
			s.E = &ir.Binary{Typed: ir.Typed{T: s.P.Type()}, Op: token.MUL, X: s.E, Y: by}
		}
		return true
	})
}

// TestAdjoint requires that the oracles accept correct adjoints and reject wrong ones.
func TestAdjoint(t *testing.T) {
	bad, worse := 0, 0
	for _, c := range load(t, 100, 120, randprog.Options{}) {
		var tally randprog.Tally
		mask, overlap := c.Mask(0)
		a, err := adjoint.New(c.F.Object.Pkg(), "Work", adjoint.Options{}).Of(c.F, activity.Bits(mask))
		if err != nil {
			t.Fatal(err)
		}
		b := &randprog.Adjoint{F: a.Func, Mask: mask, Overlap: overlap, Shadows: a.Shadows.Uint64(),
			Seeds: a.Seeds.Uint64(), Bars: a.Bars.Uint64()}
		s := c.Adjoints(tangents())
		if err := s.Check(b, &tally); err != nil {
			t.Errorf("seed %d: %v", c.Program.Seed, err)
		}
		if err := s.Second(b, &tally); err != nil {
			t.Errorf("seed %d: %v", c.Program.Seed, err)
		}
		if tally.Samples == 0 {
			t.Errorf("seed %d: no samples", c.Program.Seed)
		}
		scaled(a.Func)
		if s.Check(b, &tally) != nil {
			bad++
		}
		if c.Adjoints(tangents()).Second(b, &tally) != nil {
			worse++
		}
	}
	if bad < 15 || worse < 10 {
		t.Errorf("only %d and %d of 20 wrong adjoints are found", bad, worse)
	}
}
