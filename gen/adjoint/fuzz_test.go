package adjoint_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/adjoint"
	"github.com/nabla-ad/nabla/gen/internal/randprog"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/tangent"
)

// loadStandard loads the standard library, so that the first input does not run into the time limit.
func loadStandard(f *testing.F) {
	if _, err := randprog.Load(nil, 0); err != nil {
		f.Fatal(err)
	}
}

// FuzzAdjoint checks adjoints of the programs that inputs encode.
func FuzzAdjoint(f *testing.F) {
	for i := range 12 {
		data := make([]byte, 100)
		for k := range data {
			data[k] = byte(k * (2*i + 1) * 37)
		}
		f.Add(data, byte(i))
	}
	names := variantNames()
	loadStandard(f)
	f.Fuzz(func(t *testing.T, data []byte, k byte) {
		p := randprog.FromBytes(data, randprog.Options{Short: true})
		list, err := randprog.Load([]*randprog.Program{p}, 4)
		if err != nil {
			t.Fatalf("%v\n%s", err, p.Source())
		}
		err = adjoints([]string{"", names[int(k)%len(names)]})(list[0], new(randprog.Tally))
		if err == nil {
			return
		}
		name, saveErr := list[0].Save(t.TempDir(), p.Seed, err)
		if saveErr != nil {
			t.Fatal(saveErr)
		}
		text, _ := os.ReadFile(name)
		t.Errorf("%v\n%s", err, text)
	})
}

// FuzzTransform checks that tangents and adjoints of functions that can be lowered are well-formed, or refused with an
// error.
func FuzzTransform(f *testing.F) {
	files, _ := filepath.Glob("testdata/failures/*.go")
	files = append(files, "../tangent/testdata/funcs/funcs.go", "../traced/testdata/funcs/funcs.go",
		"testdata/funcs/funcs.go")
	for i, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text), byte(i))
	}
	names := variantNames()
	loadStandard(f)
	f.Fuzz(func(t *testing.T, src string, k byte) {
		lowered, _, err := randprog.Declared(src)
		if err != nil {
			return
		}
		disabled := variants[names[int(k)%len(names)]]
		for _, g := range lowered {
			m := activity.Bits(1<<min(len(g.Params), 63) - 1)
			d, _, err := tangent.New().Build(g, m)
			if err == nil {
				err = ir.Check(d)
			} else if errors.As(err, new(*tangent.Error)) || errors.As(err, new(*activity.Error)) {
				err = nil
			}
			if err != nil {
				t.Errorf("the tangent of %v\n%v", g, err)
			}
			p := adjoint.New(g.Object.Pkg(), "Work", adjoint.Options{Overlap: k > 127})
			p.Disable(disabled)
			a, err := p.Of(g, m)
			if err == nil {
				err = ir.Check(a.Func)
			} else if errors.As(err, new(*adjoint.Error)) || errors.As(err, new(*activity.Error)) {
				err = nil
			}
			if err != nil {
				t.Errorf("the adjoint of %v\n%v", g, err)
			}
		}
	})
}
