package gen

import (
	"bytes"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/nabla-ad/nabla/gen/current"
	"github.com/nabla-ad/nabla/gen/lower"
)

// Recording of hashes: the sum of a package in one of its generated files, and the table of files in its test.

// tested decides whether the package is to have a test: if one is asked for or there is one already, and files are
// generated.
func (h *home) tested() error {
	out := h.out
	out.perSource, out.name = h.perSource, h.pkg.Name
	if h.program.survey == nil || out.kept {
		return nil
	}
	text, err := present(filepath.Join(directory(h.pkg), current.TestFile), h.program.opts.Test)
	if err != nil {
		return err
	}
	out.tested = (h.program.opts.Test || isOurs(text)) &&
		slices.ContainsFunc(out.outputs(), func(o output) bool { return o.text != nil })
	if isOurs(text) && !out.tested {
		out.Files = append(out.Files, &File{Name: filepath.Join(directory(h.pkg), current.TestFile)})
	}
	return nil
}

// dir returns the directory of the generated files, "" if there are none.
func (pkg *Package) dir() string {
	for _, o := range pkg.outputs() {
		return filepath.Dir(o.name)
	}
	return ""
}

// holder returns the generated file that has the sum: the first one without a constraint, or else the first one.
func (pkg *Package) holder() *File {
	var best *File
	for _, f := range pkg.Files {
		if f.Text != nil && (best == nil || best.Constraint != "" && f.Constraint == "") {
			best = f
		}
	}
	return best
}

// record writes the sums of the packages into their generated files, where they differ from those there, and the tests.
// It returns the names of the files that it changed.
func (r *Report) record() (changed []string, err error) {
	s := r.survey
	if err := s.listAgain(r); err != nil {
		return nil, err
	}
	for _, pkg := range r.Packages {
		i := slices.IndexFunc(s.roots, func(p *packages.Package) bool { return p.PkgPath == pkg.Path })
		if i < 0 || pkg.kept || pkg.holder() == nil {
			continue
		}
		names, err := s.record(s.roots[i], pkg)
		changed = append(changed, names...)
		if err != nil {
			return changed, err
		}
	}
	return changed, nil
}

// listAgain lists the packages again if their imports are not those that they had before generation, since sums count
// the imports of generated code too.
func (s *Survey) listAgain(r *Report) error {
	for _, pkg := range r.Packages {
		i := slices.IndexFunc(s.roots, func(p *packages.Package) bool { return p.PkgPath == pkg.Path })
		if i < 0 {
			continue
		}
		paths := map[string]bool{}
		for _, name := range s.roots[i].GoFiles {
			if !lower.IsOutput(name, []byte(lower.Header)) {
				addImports(paths, name, nil)
			}
		}
		for _, f := range pkg.Files {
			if f.Text != nil {
				addImports(paths, f.Name, f.Text)
			}
		}
		for path := range s.roots[i].Imports {
			if !paths[path] {
				return s.list()
			}
			delete(paths, path)
		}
		if len(paths) > 0 {
			return s.list()
		}
	}
	return nil
}

// addImports adds the imports of a Go file to paths, except that of cgo. A nil text is that of the file.
func addImports(paths map[string]bool, name string, text []byte) {
	var src any // a nil []byte would be an empty text
	if text != nil {
		src = text
	}
	f, _ := parser.ParseFile(token.NewFileSet(), name, src, parser.ImportsOnly)
	if f == nil {
		return
	}
	for _, s := range f.Imports {
		if path, err := strconv.Unquote(s.Path.Value); err == nil && path != "C" {
			paths[path] = true
		}
	}
}

// record records the hashes of one package.
func (s *Survey) record(root *packages.Package, pkg *Package) (changed []string, err error) {
	now, err := s.sum(root)
	if err != nil || now == nil || now.generator == "" {
		return nil, err
	}
	var hash outputHash
	for _, o := range pkg.outputs() {
		if o.text != nil {
			hash.add(o.name, o.text)
		}
	}
	now.output, now.options = hash.sum(), optionWords(&s.opts, pkg)
	holder := pkg.holder()
	for _, o := range pkg.outputs() {
		if o.text == nil {
			continue
		}
		text, err := os.ReadFile(o.name)
		if err != nil {
			return changed, err
		}
		old := parseSum(text)
		want := text
		switch {
		case o.name == holder.Name && now.replaces(old, root.Module.Path == nablaPath):
			want = now.insert(o.text)
		case o.name != holder.Name && old != nil:
			want = o.text
		}
		if !bytes.Equal(text, want) {
			if err := replace(o.name, want); err != nil {
				return changed, err
			}
			changed = append(changed, o.name)
		}
	}
	if name := pkg.staleTest(); name != "" {
		text, err := s.test(root, pkg)
		if err != nil {
			return changed, err
		}
		if err := replace(name, text); err != nil {
			return changed, err
		}
		changed = append(changed, name)
	}
	return changed, nil
}

// staleTest returns the name of the test of the package if there is to be one and it is missing or would fail,
// otherwise "".
func (pkg *Package) staleTest() string {
	if !pkg.tested || pkg.kept {
		return ""
	}
	name := filepath.Join(pkg.dir(), current.TestFile)
	if _, err := os.Stat(name); err == nil && testIsCurrent(pkg.dir()) {
		return ""
	}
	return name
}

const (
	testBegin = lower.Header + "\n\npackage %s_test\n\nimport (\n\t\"testing\"\n\n" +
		"\tnablaCurrent \"" + nablaPath + "/gen/current\"\n)\n\n" +
		"// TestNablaGenIsCurrent fails if a file that the generated code was made of has changed since.\n" +
		"func TestNablaGenIsCurrent(t *testing.T) { nablaCurrent.Check(t, nablaGenFiles) }\n\n" +
		"// nablaGenFiles holds the hashes of the files, by directory.\n" +
		"const nablaGenFiles = `\n"
	testEnd = "`\n"
)

// testIsCurrent reports whether the test in a directory, if there is one and it is generated, has the form that it
// would have now, and would pass.
func testIsCurrent(dir string) bool {
	text, err := os.ReadFile(filepath.Join(dir, current.TestFile))
	if errors.Is(err, fs.ErrNotExist) || err == nil && !isOurs(text) {
		return true
	}
	begin, table, found := strings.Cut(string(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))), "`\n")
	_, rest, _ := strings.Cut(begin, "\npackage ")
	name, _, _ := strings.Cut(rest, "_test\n")
	table, ended := strings.CutSuffix(table, testEnd)
	if err != nil || !found || !ended || begin+"`\n" != fmt.Sprintf(testBegin, name) {
		return false
	}
	changes, err := current.Verify(dir, table)
	return err == nil && len(changes) == 0
}

// test returns the text of the test of a package.
func (s *Survey) test(root *packages.Package, pkg *Package) ([]byte, error) {
	dirs := map[string][]string{}
	modules := map[string]bool{}
	here := pkg.dir()
	var first error
	packages.Visit([]*packages.Package{root}, nil, func(p *packages.Package) {
		m := p.Module
		if m == nil || first != nil {
			return
		}
		if m.Path != root.Module.Path {
			modules[m.Path] = true
		}
		if !s.isLocal(p) || m.Path == nablaPath && p != root || m.Replace != nil && filepath.IsAbs(m.Replace.Path) {
			return
		}
		files, err := s.files(directory(p))
		if p == root && err == nil {
			files, err = withOutputs(files, here)
		}
		var lines []string
		for _, f := range files {
			lines = append(lines, f.Hash+" "+f.Name)
		}
		rel, e := filepath.Rel(here, directory(p))
		first = errors.Join(err, e)
		dirs["dir "+filepath.ToSlash(rel)] = lines
	})
	if first != nil {
		return nil, first
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, testBegin, pkg.name)
	for _, title := range slices.Sorted(maps.Keys(dirs)) {
		writeLines(&b, title, dirs[title])
	}
	if len(modules) > 0 {
		if err := writeModules(&b, root.Module, here, slices.Sorted(maps.Keys(modules))); err != nil {
			return nil, err
		}
	}
	if strings.Count(b.String(), "`") > 1 {
		return nil, fmt.Errorf("%s: the name of a file that it depends on has a `, which nabla gen -test does not "+
			"write; rename the file", pkg.Path)
	}
	return append(b.Bytes(), testEnd...), nil
}

// withOutputs adds the generated files of a directory, as they are now, to its source files.
func withOutputs(files []current.File, dir string) ([]current.File, error) {
	all, err := current.Dir(dir)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(f current.File) bool { return !isOutputFile(f) })
	return append(slices.Clip(files), all...), nil
}

// writeModules writes the section of a table for the requirements of a module on others.
func writeModules(b *bytes.Buffer, m *packages.Module, here string, paths []string) error {
	text, err := os.ReadFile(m.GoMod)
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(here, filepath.Dir(m.GoMod))
	if err != nil {
		return err
	}
	var lines []string
	for _, path := range paths {
		lines = append(lines, current.Required(text, path)+" "+path)
	}
	writeLines(b, "mod "+filepath.ToSlash(rel), lines)
	return nil
}
