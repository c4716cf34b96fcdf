package gen

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/nabla-ad/nabla/gen/current"
)

// Sums: hashes of everything that code was generated from, and of the code, in one generated file of each package.

// A sum says what the generated code of a package was made of. All hashes are those of package current.
type sum struct {
	// sources is the hash of the source files of the package and of those that it imports from modules on this machine,
	// the versions of other modules, and the language versions.
	sources string
	// output is the hash of the generated files of this build.
	output string
	// build is the hash of what depends on the build: the version of Go, the platform, and which files are part of it.
	build string
	// generator is the version of nabla gen, or a hash if it was built from sources without a version.
	generator string
	// options are the layout, and words for other options and for the outcome; see optionWords.
	options []string
}

// Words of sum.options.
const (
	packageWord, sourceWord  = "package", "source" // layouts
	simdWord, testWord       = "simd", "test"
	lanesWord                = "lanes:" // and the widths, separated by colons
	warningsWord, errorsWord = "warnings", "errors"
)

// String returns the lines of a generated file that hold s.
func (s *sum) String() string {
	return fmt.Sprintf("%[1]ssources=%[2]s output=%[3]s build=%[4]s\n%[1]sgenerator=%[5]s options=%[6]s\n",
		current.SumPrefix, s.sources, s.output, s.build, s.generator, strings.Join(s.options, ","))
}

// parseSum returns the sum in a generated file, nil if there is none.
func parseSum(text []byte) *sum {
	_, rest, _ := strings.Cut(string(text), "\n")
	s, found := &sum{}, false
	for line := range strings.Lines(rest) {
		words, ok := strings.CutPrefix(line, current.SumPrefix)
		if !ok {
			break
		}
		found = true
		for _, word := range strings.Fields(words) {
			key, value, _ := strings.Cut(word, "=")
			switch key {
			case "sources":
				s.sources = value
			case "output":
				s.output = value
			case "build":
				s.build = value
			case "generator":
				s.generator = value
			case "options":
				s.options = strings.Split(value, ",")
			}
		}
	}
	if !found {
		return nil
	}
	return s
}

// insert returns the text of a generated file with s after the header, in place of another sum.
func (s *sum) insert(text []byte) []byte {
	first, rest, _ := strings.Cut(string(current.Bare(text)), "\n")
	return []byte(first + "\n" + s.String() + rest)
}

// replaces reports whether s is to be written where old is. A difference in the build alone is no reason, since files
// would alternate between platforms. In the module of the generator itself (own), one in a generator without a version
// is none either: each of its revisions would change all files.
func (s *sum) replaces(old *sum, own bool) bool {
	return old == nil || s.sources != old.sources || s.output != old.output || !slices.Equal(s.options, old.options) ||
		s.generator != old.generator && (!own || isVersion(s.generator))
}

// serves reports whether code with the sum s is the result of a generation with the options o, provided that the hashes
// agree. Its report has neither errors nor, unless they do not matter, warnings.
func (s *sum) serves(o *Options, warnings bool) bool {
	has := func(word string) bool { return slices.Contains(s.options, word) }
	return (o.Layout != OnePerPackage || has(packageWord)) && (o.Layout != OnePerSource || has(sourceWord)) &&
		(!o.SIMD || has(simdWord)) && (!o.Test || has(testWord)) &&
		!has(errorsWord) && (warnings || !has(warningsWord)) &&
		!slices.ContainsFunc(s.options, func(w string) bool {
			return strings.HasPrefix(w, lanesWord) && w != lanesOption(o.Lanes)
		}) && (len(o.Lanes) == 0 || has(lanesOption(o.Lanes)))
}

// optionWords returns sum.options for the result of a generation.
func optionWords(o *Options, pkg *Package) (words []string) {
	words = []string{packageWord}
	if pkg.perSource {
		words[0] = sourceWord
	}
	if o.SIMD {
		words = append(words, simdWord)
	}
	if pkg.tested {
		words = append(words, testWord)
	}
	if len(o.Lanes) > 0 {
		words = append(words, lanesOption(o.Lanes))
	}
	switch worst := slices.MaxFunc(append([]*Problem{{}}, pkg.Problems...), func(p, q *Problem) int {
		return cmp.Compare(p.Severity, q.Severity)
	}); worst.Severity {
	case Warning:
		words = append(words, warningsWord)
	case Error:
		words = append(words, errorsWord)
	}
	return words
}

// lanesOption returns the word for widths of vector mode.
func lanesOption(lanes []int) string {
	list := slices.Clone(lanes)
	slices.Sort(list)
	var words []string
	for _, n := range slices.Compact(list) {
		words = append(words, strconv.Itoa(n))
	}
	return lanesWord + strings.Join(words, ":")
}

// isVersion reports whether a generator is given by its version.
func isVersion(generator string) bool { return strings.HasPrefix(generator, "v") }

// generatorID returns the version of the module of nabla gen in this program if it was built from a release, otherwise
// the hash of the program, and "" if it cannot be read.
var generatorID = sync.OnceValue(func() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		if v := releasedVersion(info); v != "" {
			return v
		}
	}
	name, err := os.Executable()
	if err != nil {
		return ""
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	return current.Hash(text)
})

// releasedVersion returns the version of module nabla in a build, or "" if its sources are those of a directory, which
// may have changed since the version.
func releasedVersion(info *debug.BuildInfo) string {
	m := &info.Main
	if m.Path != nablaPath {
		i := slices.IndexFunc(info.Deps, func(m *debug.Module) bool { return m.Path == nablaPath })
		if i < 0 {
			return ""
		}
		m = info.Deps[i]
	} else if slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool {
		return strings.HasPrefix(s.Key, "vcs")
	}) {
		return ""
	}
	if m.Replace != nil || !isVersion(m.Version) {
		return ""
	}
	return m.Version
}

// An outputHash collects the hashes of generated files.
type outputHash struct{ lines []string }

// add adds a file that exists.
func (h *outputHash) add(name string, text []byte) {
	h.lines = append(h.lines, current.Hash(current.Bare(text))+" "+filepath.Base(name)+"\n")
}

// sum returns the hash of the files that were added.
func (h *outputHash) sum() string {
	slices.Sort(h.lines)
	return current.Hash([]byte(strings.Join(slices.Compact(h.lines), "")))
}

// writeLines writes a title and lines.
func writeLines(w io.Writer, title string, lines []string) {
	fmt.Fprintln(w, title)
	for _, line := range lines {
		fmt.Fprintln(w, line)
	}
}
