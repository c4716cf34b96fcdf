package gen

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/nabla-ad/nabla/gen/current"
	"github.com/nabla-ad/nabla/gen/internal/license"
	"github.com/nabla-ad/nabla/gen/lower"
)

// A Survey compares the hashes in the generated files of packages with those of the sources, without parsing these. It
// must not be used concurrently.
type Survey struct {
	dir      string
	patterns []string
	opts     Options

	roots []*packages.Package // without syntax and types
	env   map[string]string   // variables of go env
	// local holds the Go files of directories of modules on this machine as they are before generation.
	local map[string][]current.File
	// states holds the states of the files of Dirs when they were read, by directory.
	states map[string]map[string]fileState
	// licenses holds the hashes of the licences of such modules, by directory.
	licenses map[string]string
}

// surveyVariables are the variables of go env that a Survey uses.
var surveyVariables = []string{"GOVERSION", "GOOS", "GOARCH", "GOEXPERIMENT", "CGO_ENABLED", "GOROOT", "GOMODCACHE"}

// NewSurvey finds the packages that match patterns, relative to dir, and the packages that they import, and reads their
// files. It calls the go command to list them. A nil opts selects the defaults.
func NewSurvey(dir string, patterns []string, opts *Options) (*Survey, error) {
	s := &Survey{dir: dir, patterns: patterns, local: map[string][]current.File{}, licenses: map[string]string{},
		states: map[string]map[string]fileState{}}
	if opts != nil {
		s.opts = *opts
	}
	if err := s.list(); err != nil {
		return nil, err
	}
	for _, dir := range s.Dirs() { // of go.mod files
		s.states[dir] = states(dir)
	}
	for _, root := range s.roots { // hashes of files before they are parsed
		if _, err := s.sum(root); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// list lists the packages.
func (s *Survey) list() error {
	env := s.opts.Load.Env
	if env == nil {
		env = os.Environ()
	}
	cmd := exec.Command("go", append([]string{"env", "-json"}, surveyVariables...)...)
	cmd.Dir, cmd.Env = s.dir, env
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &s.env)
	}
	if err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	s.roots, err = packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps | packages.NeedModule,
		Dir:  s.dir, Env: env, BuildFlags: s.opts.Load.Flags,
	}, s.patterns...)
	return err
}

// Outdated returns the import paths of the packages whose generated code may be out of date, and whether these are all
// packages. A package is left out if its hashes agree and a generation would report no error and, unless warnings is
// set, no warning.
func (s *Survey) Outdated(warnings bool) (paths []string, all bool) {
	for _, pkg := range s.roots {
		if len(pkg.Errors) > 0 || pkg.Module == nil { // a load says more
			return nil, true
		}
		if !s.current(pkg, warnings) {
			paths = append(paths, pkg.PkgPath)
		}
	}
	return paths, len(paths) == len(s.roots)
}

// Load loads the packages of the survey whose paths are given, or all if none is. Report.Write of the program records
// hashes of the sources as the survey found them.
func (s *Survey) Load(paths ...string) (*Program, error) {
	patterns := s.patterns
	if len(paths) > 0 {
		patterns = paths
	}
	opts := s.opts
	if opts.Load.Bodies == nil && len(opts.Load.Overlay) == 0 && !opts.Load.Tests {
		opts.Load.Bodies = s.followed().bodies
	}
	p, err := Load(s.dir, patterns, &opts)
	if err == nil {
		p.survey = s
	}
	return p, err
}

// Dirs returns the directories of the files that the code of the packages depends on, ordered by name: those of
// packages in modules on this machine, and of their go.mod files.
func (s *Survey) Dirs() (list []string) {
	for dir := range s.local {
		list = append(list, dir)
	}
	packages.Visit(s.roots, nil, func(pkg *packages.Package) {
		if pkg.Module != nil && s.isLocal(pkg) && pkg.Module.GoMod != "" {
			list = append(list, filepath.Dir(pkg.Module.GoMod))
		}
	})
	slices.Sort(list)
	return slices.Compact(list)
}

// current reports whether the generated files of a package are those that a generation would write.
func (s *Survey) current(pkg *packages.Package, warnings bool) bool {
	if len(s.opts.Load.Overlay) > 0 || s.opts.Load.Tests {
		return false
	}
	if len(pkg.GoFiles) == 0 {
		return len(pkg.OtherFiles) == 0 && len(pkg.IgnoredFiles) == 0
	}
	now, err := s.sum(pkg)
	if err != nil || now == nil {
		return false
	}
	var old *sum
	var hash outputHash
	for _, name := range outputsOnDisk(pkg) {
		text, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !isOurs(text) {
			continue
		}
		if err != nil {
			return false
		}
		if found := parseSum(text); found != nil {
			if old != nil {
				return false
			}
			old = found
		}
		hash.add(name, text)
	}
	if len(hash.lines) == 0 {
		return s.hasNoTargets(pkg)
	}
	return old != nil && old.serves(&s.opts, warnings) && now.generator != "" && now.generator == old.generator &&
		now.sources == old.sources && now.build == old.build && hash.sum() == old.output &&
		testIsCurrent(directory(pkg))
}

// HasOutputs reports whether there is a generated file in one of the packages.
func (s *Survey) HasOutputs() bool {
	return slices.ContainsFunc(s.roots, func(pkg *packages.Package) bool {
		return len(pkg.GoFiles) > 0 && slices.ContainsFunc(outputsOnDisk(pkg), func(name string) bool {
			text, err := os.ReadFile(name)
			return err == nil && isOurs(text)
		})
	})
}

// outputsOnDisk returns the names of the generated files of this build that may exist, without the test.
func outputsOnDisk(pkg *packages.Package) (list []string) {
	add := func(name string) {
		f := &File{Name: name}
		forms, kernels := f.vectorNames()
		list = append(list, f.Name, f.simdName(), forms, kernels, f.licensesName())
	}
	add(filepath.Join(directory(pkg), lower.Output))
	for _, name := range pkg.GoFiles {
		if lower.IsOutput(name, []byte(lower.Header)) {
			add(name)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// hasNoTargets reports whether it is known without types that nothing is to be generated in a package, and nothing to
// be said about it: no package that it imports, and no test, imports package nabla, and it has no directive.
func (s *Survey) hasNoTargets(pkg *packages.Package) bool {
	imports := false
	packages.Visit([]*packages.Package{pkg}, nil, func(p *packages.Package) {
		imports = imports || p.Imports[nablaPath] != nil
	})
	if imports {
		return false
	}
	tests, _ := filepath.Glob(filepath.Join(directory(pkg), "*_test.go"))
	for _, name := range append(tests, pkg.GoFiles...) {
		text, err := os.ReadFile(name)
		if err != nil || directiveLike.Match(text) || bytes.Contains(text, []byte(`"`+nablaPath+`"`)) {
			return false
		}
	}
	_, err := os.Stat(filepath.Join(directory(pkg), current.TestFile))
	return errors.Is(err, fs.ErrNotExist)
}

// directiveLike matches directives, and comments that may be meant as such.
var directiveLike = regexp.MustCompile(`// *nabla:`)

// isLocal reports whether the files of a package may change: they are neither those of the standard library nor in the
// module cache.
func (s *Survey) isLocal(pkg *packages.Package) bool {
	dir := directory(pkg)
	return dir != "" && !within(dir, filepath.Join(s.env["GOROOT"], "src")) && !within(dir, s.env["GOMODCACHE"])
}

// within reports whether the file name is below dir.
func within(name, dir string) bool {
	rest, ok := strings.CutPrefix(name, dir)
	return ok && dir != "" && (rest == "" || os.IsPathSeparator(rest[0]))
}

// files returns the Go files of a directory, without generated ones, as they were when they were read first.
func (s *Survey) files(dir string) ([]current.File, error) {
	if list, ok := s.local[dir]; ok {
		return list, nil
	}
	s.states[dir] = states(dir)
	list, err := current.Dir(dir)
	if err != nil {
		return nil, err
	}
	s.local[dir] = slices.DeleteFunc(list, func(f current.File) bool { return isOutputFile(f) })
	return s.local[dir], nil
}

// isOutputFile reports whether f was generated in the directory that it is in.
func isOutputFile(f current.File) bool {
	return f.Generated && lower.IsOutput(f.Name, []byte(lower.Header))
}

// sum returns the sum of a package without output and options, nil if its sources cannot be identified: if it is in no
// module.
func (s *Survey) sum(pkg *packages.Package) (*sum, error) {
	if pkg.Module == nil {
		return nil, nil
	}
	var sources, build, generator bytes.Buffer
	for _, name := range surveyVariables {
		if name != "GOROOT" && name != "GOMODCACHE" {
			fmt.Fprintln(&build, name, s.env[name])
		}
	}
	id := generatorID()
	lines := map[string][]string{}
	var first error
	packages.Visit([]*packages.Package{pkg}, nil, func(p *packages.Package) {
		m := p.Module
		if m == nil || first != nil {
			return
		}
		fmt.Fprintln(&build, p.PkgPath)
		for _, name := range p.GoFiles {
			if !lower.IsOutput(name, []byte(lower.Header)) {
				fmt.Fprintln(&build, filepath.Base(name))
			}
		}
		if !s.isLocal(p) {
			lines["module "+moduleVersion(m)] = nil
			return
		}
		files, err := s.files(directory(p))
		first = err
		var list []string
		for _, f := range files {
			list = append(list, f.Hash+" "+f.Name)
		}
		if m.Path == nablaPath && p != pkg {
			writeLines(&generator, p.PkgPath, list)
			return
		}
		lines["package "+p.PkgPath] = list
		lines["language "+m.Path+" "+m.GoVersion] = nil
		if m.Path != pkg.Module.Path {
			lines["licence "+m.Path+" "+s.license(m.Dir)] = nil
		}
	})
	if first != nil {
		return nil, first
	}
	for _, title := range slices.Sorted(maps.Keys(lines)) {
		writeLines(&sources, title, lines[title])
	}
	if generator.Len() > 0 && id != "" {
		id = current.Hash(append(generator.Bytes(), id...))
	}
	return &sum{sources: current.Hash(sources.Bytes()), build: current.Hash(build.Bytes()), generator: id}, nil
}

// moduleVersion returns path and version of a module, and of the one that replaces it.
func moduleVersion(m *packages.Module) string {
	text := m.Path + " " + m.Version
	if m.Replace != nil {
		text += " => " + m.Replace.Path + " " + m.Replace.Version
	}
	return text
}

// license returns the hash of the files in a directory that have licences, "" if they cannot be read.
func (s *Survey) license(dir string) string {
	hash, ok := s.licenses[dir]
	if !ok {
		var all []byte
		names, _ := license.Files(dir)
		for _, name := range names {
			text, _ := os.ReadFile(name)
			all = append(append(all, name[len(dir):]...), text...)
		}
		hash = current.Hash(all)
		s.licenses[dir] = hash
	}
	return hash
}
