package shortcut_test

import (
	"flag"
	"fmt"
	"testing"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/adjoint"
	"github.com/nabla-ad/nabla/gen/internal/randprog"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/shortcut"
	"github.com/nabla-ad/nabla/gen/tangent"
	"github.com/nabla-ad/nabla/internal/longtest"
)

var (
	programs  = flag.Int("programs", 0, "how many random programs are differentiated; 0 is the default for the form")
	firstSeed = flag.Uint64("seed", 1, "of the first random program")
)

func TestMain(m *testing.M) { longtest.Main(m) }

// checkShortcuts compares all derivatives of a program with differences, at inputs with zeros. Incomplete disables the
// completion of branches.
func checkShortcuts(c *randprog.Case, incomplete bool, tally *randprog.Tally) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("crash: %v", r)
		}
	}()
	shortcuts := shortcut.New(nil, nil)
	complete := func(f *ir.Func, mask uint64) (*ir.Func, error) {
		if incomplete || f.Object == nil { // of a derivative
			return f, nil
		}
		return shortcuts.Complete(f, activity.Bits(mask))
	}
	tangents := tangent.New()
	build := func(f *ir.Func, mask uint64) (randprog.Tangent, error) {
		f, err := complete(f, mask)
		if err != nil {
			return randprog.Tangent{}, err
		}
		if err := ir.Check(f); err != nil {
			return randprog.Tangent{}, err
		}
		t, facts, err := tangents.Build(f, activity.Bits(mask))
		if err != nil {
			return randprog.Tangent{}, err
		}
		return randprog.Tangent{F: t, Params: facts.Params.Uint64(), Results: facts.Results.Uint64()}, nil
	}
	if err := c.Check(build, tally); err != nil {
		return err
	}
	mask, overlap := c.Mask(0)
	f, err := complete(c.F, mask)
	if err != nil {
		return err
	}
	a, err := adjoint.New(c.F.Object.Pkg(), "Work", adjoint.Options{}).Of(f, activity.Bits(mask))
	if err != nil {
		return err
	}
	b := &randprog.Adjoint{F: a.Func, Mask: mask, Overlap: overlap, Shadows: a.Shadows.Uint64(),
		Seeds: a.Seeds.Uint64(), Bars: a.Bars.Uint64()}
	s := c.Adjoints(build)
	if err := s.Check(b, tally); err != nil {
		return err
	}
	return s.Second(b, tally)
}

// TestRandom differentiates random programs with branches that leave out zeros: values, tangents, adjoints and second
// derivatives are right at zeros. Without complete branches most of them are not.
func TestRandom(t *testing.T) {
	n := longtest.Cases(*programs, 20, 20, 250)
	wrong, total := 0, 0
	var tally randprog.Tally
	for from := 0; from < n; from += 20 {
		var list []*randprog.Program
		for i := range min(20, n-from) {
			list = append(list, randprog.NewShortcuts(*firstSeed+uint64(from+i)))
		}
		cases, err := randprog.Load(list, 6)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			total++
			if err := checkShortcuts(c, false, &tally); err != nil {
				t.Errorf("seed %d: %v", c.Program.Seed, err)
				if testing.Verbose() {
					t.Log(c.Source())
				}
			}
			if total%4 == 0 && checkShortcuts(c, true, new(randprog.Tally)) != nil {
				wrong++
			}
		}
	}
	t.Log(tally)
	if wrong*10 < total/4*8 {
		t.Errorf("without complete branches only %d of %d programs are wrong", wrong, total/4)
	}
	if tally.Skipped*4 > tally.Samples {
		t.Errorf("%v", tally)
	}
}
