package lower

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/nabla-ad/nabla/gen/current"
)

// Loading of packages. Generated files are replaced by stubs, so that missing or outdated generated
// code cannot affect the next generation.

// Output is the name of the file with the generated code of a package that is valid in all builds,
// or with the part of it that functions of several source files share.
const Output = "nabla_gen.go"

// SIMDOutput is the name of the file with the vector variants of the same functions, and VectorOutput of that with
// their forms that call kernels in assembly.
const (
	SIMDOutput   = "nabla_gen_simd.go"
	VectorOutput = "nabla_gen_vector.go"
)

// Parts of the names of generated files.
const (
	outputStem   = "nabla_gen"
	outputPrefix = outputStem + "-" // prefix of files with a build constraint
	sourceSuffix = "_nabla"         // between the name of a source file and the constraint
	simdSuffix   = "_simd.go"
	vectorSuffix = "_vector" // of files of two kinds
)

// Header is the first line of generated files.
const Header = current.Header

// LoadOptions configure how packages are found. The zero value is usable.
type LoadOptions struct {
	Tests   bool              // include test packages
	Env     []string          // environment of the go command, nil for that of this process
	Flags   []string          // flags of the go command, such as -tags=…
	Overlay map[string][]byte // contents of files that replace those on disk
	// Bodies reports whether the functions of a package outside the standard library, in a directory, may be lowered;
	// nil means all may. Without their bodies loading takes less time.
	Bodies func(dir string) bool
	// Packages is the function that loads packages, nil for packages.Load. Tests have one that keeps those of earlier
	// loads.
	Packages func(c *packages.Config, patterns ...string) ([]*packages.Package, error)
}

// loadMode requests syntax and types of the packages and all their imports.
const loadMode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
	packages.NeedDeps | packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax |
	packages.NeedTypesInfo | packages.NeedModule

// Load type-checks the packages that match patterns, relative to dir, and all their imports.
//
// Packages may have errors: code that refers to generated functions has them before the first
// generation. They count only if they are in a function that is lowered. Generated files are not
// read but replaced by stubs of their exported names, so their contents can neither be the input of
// a generation nor prevent it.
func Load(dir string, patterns []string, opts LoadOptions) ([]*packages.Package, error) {
	env := opts.Env
	if env == nil {
		env = os.Environ()
	}
	vars, err := goEnv(dir, env, "GOROOT", "GOMOD")
	if err != nil {
		return nil, err
	}
	goroot, mod := vars[0], vars[1]
	overlay, err := stubOverlay(mod)
	if err != nil {
		return nil, err
	}
	for name, text := range opts.Overlay {
		if IsOutput(name, text) {
			text = stub(name, text)
		}
		overlay[name] = text
	}
	std := filepath.Join(goroot, "src") + string(filepath.Separator)
	load := opts.Packages
	if load == nil {
		load = packages.Load
	}
	pkgs, err := load(&packages.Config{
		Mode: loadMode, Dir: dir, Env: env, BuildFlags: opts.Flags, Tests: opts.Tests, Overlay: overlay,
		ParseFile: func(fset *token.FileSet, name string, src []byte) (*ast.File, error) {
			// Bodies in the standard library are not needed, and parsing them would take most of
			// the time.
			if rest, ok := strings.CutPrefix(name, std); ok && !lowerable(filepath.ToSlash(filepath.Dir(rest))) {
				return ParseDeclarations(fset, name, src)
			} else if !ok && opts.Bodies != nil && !opts.Bodies(filepath.Dir(name)) {
				return ParseDeclarations(fset, name, src)
			}
			return parser.ParseFile(fset, name, src, parser.ParseComments|parser.AllErrors)
		},
	}, patterns...)
	if err != nil {
		return nil, ListError(dir, env, err)
	}
	// A directory that has only tests is no error if a pattern matches it.
	pkgs = slices.DeleteFunc(pkgs, func(p *packages.Package) bool {
		return len(p.GoFiles) == 0 && len(p.OtherFiles) == 0 && len(p.IgnoredFiles) == 0 && len(p.Errors) == 0
	})
	for _, p := range pkgs {
		if p.Types == nil || len(p.Syntax) == 0 {
			if len(p.Errors) > 0 {
				return nil, loadError(dir, env, p)
			}
			return nil, fmt.Errorf("%s: no Go files", p.ID)
		}
	}
	return pkgs, nil
}

// ListError returns the error of listing packages without the go command's own words.
func ListError(dir string, env []string, err error) error {
	if err := moduleError(dir, env); err != nil {
		return err
	}
	if _, said, ok := strings.Cut(err.Error(), "stderr: "); ok {
		return errors.New(strings.TrimPrefix(strings.TrimSpace(said), "go: "))
	}
	return err
}

// moduleError returns an error if dir is not in a module.
func moduleError(dir string, env []string) error {
	if vars, err := goEnv(dir, env, "GOMOD"); err != nil || vars[0] != os.DevNull {
		return nil
	}
	where, err := filepath.Abs(dir)
	if err != nil {
		where = dir
	}
	return fmt.Errorf("there is no go.mod in %s or above it; change to the directory of a module, or make one with "+
		"go mod init", where)
}

// loadError returns why there is no source of a package.
func loadError(dir string, env []string, p *packages.Package) error {
	if err := moduleError(dir, env); err != nil {
		return err
	}
	e := p.Errors[0]
	if e.Pos != "" && e.Pos != "-" {
		return fmt.Errorf("%s: %w", p.ID, e)
	}
	said := strings.TrimSpace(e.Msg)
	if strings.Contains(said, p.ID) {
		return errors.New(said)
	}
	return fmt.Errorf("%s: %s", p.ID, said)
}

// lowerable reports whether the source of a package of the standard library is lowered. Bodies of
// the others are not type-checked, which saves time.
func lowerable(path string) bool {
	switch path {
	case "cmp", "container/heap", "maps", "math/bits", "slices", "sort":
		return true
	}
	return false
}

// ParseDeclarations parses a file without the bodies of functions. Each is replaced by an infinite
// loop, which type-checks for any results.
func ParseDeclarations(fset *token.FileSet, name string, src []byte) (*ast.File, error) {
	f, err := parser.ParseFile(fset, name, withoutBodies(src), parser.SkipObjectResolution)
	if f == nil {
		return nil, err
	}
	for _, d := range f.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil {
			at := d.Body.Lbrace
			d.Body.List = []ast.Stmt{&ast.ForStmt{For: at, Body: &ast.BlockStmt{Lbrace: at, Rbrace: at}}}
		}
	}
	return f, err
}

// declarationsOnly reports whether the files of a package were parsed by ParseDeclarations.
func declarationsOnly(pkg *packages.Package) bool {
	for _, f := range pkg.Syntax {
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil {
				if len(d.Body.List) != 1 {
					return false
				}
				loop, ok := d.Body.List[0].(*ast.ForStmt)
				return ok && loop.For == d.Body.Lbrace
			}
		}
	}
	return false
}

// goEnv returns variables of go env.
func goEnv(dir string, env []string, names ...string) ([]string, error) {
	cmd := exec.Command("go", append([]string{"env"}, names...)...)
	cmd.Dir, cmd.Env = dir, env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return nil, fmt.Errorf("the go command, which finds packages, is not in PATH: %w", err)
		}
		return nil, fmt.Errorf("go env %s: %w: %s", strings.Join(names, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	values := strings.Split(strings.TrimSuffix(strings.ReplaceAll(string(out), "\r\n", "\n"), "\n"), "\n")
	if len(values) != len(names) {
		return nil, fmt.Errorf("go env %s: %d values, want %d", strings.Join(names, " "), len(values), len(names))
	}
	return values, nil
}

// stubOverlay returns stubs for all generated files of the module with the file mod, by name.
func stubOverlay(mod string) (map[string][]byte, error) {
	overlay := map[string][]byte{}
	if mod == "" || mod == os.DevNull {
		return overlay, nil
	}
	root := filepath.Dir(mod)
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() {
			if name != root && (base == "testdata" || base == "node_modules" || base[0] == '.' || base[0] == '_') {
				return filepath.SkipDir
			}
			return nil
		}
		if !isOutputName(base) {
			return nil
		}
		text, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) { // a symbolic link to a file that is not written yet
			text, err = []byte(Header+"\n"), nil
		}
		if err == nil && IsOutput(name, text) {
			overlay[name] = stub(name, text)
		}
		return err
	})
	return overlay, err
}

// isOutputName reports whether generated files may have this name.
func isOutputName(base string) bool {
	return base == Output || base == SIMDOutput || base == VectorOutput || isSourceOutputName(base) ||
		strings.HasPrefix(base, outputPrefix) && strings.HasSuffix(base, ".go")
}

// isSourceOutputName reports whether [OutputFile.For] returns names like this one.
func isSourceOutputName(base string) bool {
	stem, ok := strings.CutSuffix(base, ".go")
	if i := strings.LastIndex(stem, sourceSuffix+"-"); ok && i > 0 {
		return true
	}
	return ok && len(stem) > len(sourceSuffix) && strings.HasSuffix(stem, sourceSuffix)
}

// IsOutput reports whether a file with this name and text is a generated one.
func IsOutput(name string, text []byte) bool {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return isOutputName(filepath.Base(name)) && strings.TrimRight(string(line), "\r") == Header
}

// IsSourceOutput reports whether a file with this name and text was generated for the functions of
// one source file.
func IsSourceOutput(name string, text []byte) bool {
	return isSourceOutputName(filepath.Base(name)) && IsOutput(name, text)
}
