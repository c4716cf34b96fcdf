package adjoint_test

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/adjoint"
	"github.com/nabla-ad/nabla/gen/internal/randprog"
	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/lower"
)

var (
	update = flag.Bool("update", false,
		"rewrite testdata/adjoints.txt, the hashes of all adjoints of functions in testdata")
	texts = flag.String("texts", "", "a directory to which TestAdjointsUnchanged writes the adjoints as text")
)

// hashFile holds one line per function and variant: name/variant and the hash of the text of its adjoint.
const hashFile = "testdata/adjoints.txt"

// TestAdjointsUnchanged compares the adjoints of all functions in testdata, under every variant, with
// the recorded hashes of their text. It detects changes of the output that leave derivatives right: another name,
// another order of fields, a value that is recorded and was not. After an intended change run it with -update; -texts
// writes the adjoints to a directory, so that those of two versions can be compared.
func TestAdjointsUnchanged(t *testing.T) {
	got := map[string]string{} // name/variant to text
	for _, path := range []string{"gen/tangent/testdata/funcs", "gen/adjoint/testdata/funcs",
		"gen/adjoint/testdata/loops"} {
		path = "github.com/nabla-ad/nabla/" + path
		p := load(t, path)
		dir := filepath.Base(filepath.Dir(filepath.Dir(path))) + "." + filepath.Base(path)
		for _, f := range exported(t, p, path) {
			adjointTexts(got, dir+"."+f.Name, f)
		}
		got[dir+"/all in one program"] = sharedText(exported(t, p, path))
	}
	files, err := filepath.Glob("testdata/failures/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		c, err := randprog.LoadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		adjointTexts(got, strings.TrimSuffix(filepath.Base(file), ".go"), c.F)
	}
	writeTexts(t, got)
	var out bytes.Buffer
	for _, k := range slices.Sorted(maps.Keys(got)) {
		fmt.Fprintf(&out, "%.6x %s\n", sha256.Sum256([]byte(got[k])), k)
	}
	if *update {
		if err := os.WriteFile(hashFile, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(hashFile)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(want, out.Bytes()) {
		return
	}
	lines := strings.Split(string(want), "\n")
	changed := 0
	for line := range strings.Lines(out.String()) {
		if line = strings.TrimSuffix(line, "\n"); !slices.Contains(lines, line) {
			if changed++; changed <= 20 {
				t.Errorf("%s: the adjoint is not the recorded one", line[len("0123456789ab "):])
			}
		}
	}
	t.Errorf("%d of %d adjoints differ from %s, which has %d; if that is intended, run this test with -update", changed,
		len(got), hashFile, len(lines)-1)
}

// exported returns the exported functions of a package in the form of package ir, in the order of their names.
func exported(t *testing.T, p *lower.Program, path string) (out []*ir.Func) {
	t.Helper()
	scope := p.Package(path).Scope()
	for _, name := range scope.Names() {
		if fn, ok := scope.Lookup(name).(*types.Func); ok && fn.Exported() {
			out = append(out, function(t, p, path, name))
		}
	}
	return out
}

// adjointTexts adds the texts of the adjoint of f under every variant that changes it, with and without overlapping
// arguments, and with respect to the first of its parameters alone.
func adjointTexts(out map[string]string, name string, f *ir.Func) {
	all, first := activeParams(f)
	build := func(key string, m activity.Mask, disabled adjoint.Optimization, o adjoint.Options) adjoint.Optimization {
		p := adjoint.New(types.NewPackage("w", "w"), "Work", o)
		p.Disable(disabled)
		applicable := p.Applicable()
		out[name+"/"+key] = adjointText(p, f, m) + workspaceText(p)
		return *applicable
	}
	applicable := build("", all, 0, adjoint.Options{})
	for key, disabled := range variants {
		if disabled&applicable != 0 {
			build(key, all, disabled, adjoint.Options{})
		}
	}
	if first != all {
		build("first parameter", first, 0, adjoint.Options{})
	}
	build("overlap", all, 0, adjoint.Options{Overlap: true})
}

// sharedText returns the text of the adjoints of all functions, built by one Program: its specialisations share names
// and the workspace.
func sharedText(list []*ir.Func) string {
	p := adjoint.New(types.NewPackage("w", "w"), "Work", adjoint.Options{})
	out := ""
	for _, f := range list {
		all, _ := activeParams(f)
		out += adjointText(p, f, all)
	}
	return out + workspaceText(p)
}

// activeParams returns the parameters that hold or lead to floats, and the first of them.
func activeParams(f *ir.Func) (all, first activity.Mask) {
	for i, v := range f.Params {
		if ir.ContainsFloats(v.Type) || ir.ReachesFloats(v.Type) {
			if all == (activity.Mask{}) {
				first = first.With(i)
			}
			all = all.With(i)
		}
	}
	return all, first
}

// adjointText returns all that is in the adjoint of f: the text of its function and of the functions that this calls,
// masks and remarks; or the error.
func adjointText(p *adjoint.Program, f *ir.Func, m activity.Mask) string {
	a, err := p.Of(f, m)
	if err != nil {
		return err.Error() + "\n"
	}
	var b bytes.Buffer
	for _, g := range reached(a.Func) {
		fmt.Fprintln(&b, g)
	}
	fmt.Fprintln(&b, a.Shadows, a.Seeds, a.Bars)
	for _, n := range a.Remarks {
		fmt.Fprintln(&b, n.Pos.Line, n.Pos.Column, n.Text, n.Ignored)
	}
	return b.String()
}

// workspaceText returns the declaration of the workspace of p and of the types that it declares.
func workspaceText(p *adjoint.Program) string {
	w := p.Workspace().Type
	var b bytes.Buffer
	seen := map[*types.Named]bool{}
	var declare func(t types.Type)
	declare = func(t types.Type) {
		switch t := t.(type) {
		case *types.Slice:
			declare(t.Elem())
		case *types.Named:
			s, ok := t.Underlying().(*types.Struct)
			if !ok || seen[t] || t.Obj().Pkg() != w.Obj().Pkg() {
				return
			}
			seen[t] = true
			fmt.Fprintf(&b, "type %v %v\n", t, s)
			for i := range s.NumFields() {
				declare(s.Field(i).Type())
			}
		}
	}
	declare(w)
	return b.String()
}

// writeTexts writes each text to a file of the directory that -texts names, if it names one.
func writeTexts(t *testing.T, all map[string]string) {
	t.Helper()
	if *texts == "" {
		return
	}
	for name, text := range all {
		file := filepath.Join(*texts, strings.NewReplacer("/", "_", " ", "-").Replace(name)+".txt")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
