package gen

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/tools/go/packages"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/lower"
	"github.com/nabla-ad/nabla/internal/loaded"
)

// Packages of this module are loaded once for all modules with the same requirements in which tests generate for one
// build: that is most of the time that a small package takes.
func init() {
	var mu sync.Mutex
	known := map[string][]*packages.Package{}
	loadPackages = func(c *packages.Config, paths ...string) ([]*packages.Package, error) {
		mod, err := os.ReadFile(filepath.Join(c.Dir, "go.mod"))
		if err != nil || slices.ContainsFunc(paths, func(path string) bool {
			return !strings.HasPrefix(path, nablaPath) && !strings.HasPrefix(path, "simd/")
		}) {
			return loaded.Packages(c, paths...)
		}
		_, requires, _ := strings.Cut(string(mod), "\n") // without the name
		key := fmt.Sprint(requires, c.Env, c.BuildFlags, paths)
		mu.Lock()
		defer mu.Unlock()
		if known[key] == nil {
			pkgs, err := loaded.Packages(c, paths...)
			if err != nil {
				return nil, err
			}
			known[key] = pkgs
		}
		return known[key], nil
	}
}

// Again is the program before anything was generated or broken. It does not load the packages again, also not those
// that generated code imports if p has generated.
func (p *Program) Again() *Program {
	q := &Program{opts: p.opts, pkgs: p.pkgs, extra: p.extra, sought: p.sought}
	q.lower, q.builds = lower.New(q.pkgs, q.lowering), buildsOf(q.opts)
	return q
}

// Break calls broken with the name of the primal and the new derivative whenever the named build has made one. It may
// modify the derivative or panic.
func (p *Program) Break(build string, broken func(of string, fn *ir.Func)) {
	for i, b := range p.builds {
		if b.name != build {
			continue
		}
		c := *b
		c.make = func(u *unit, t *target) (*built, error) {
			out, err := b.make(u, t)
			if out != nil {
				broken(t.of, out.fn)
			}
			return out, err
		}
		p.builds[i] = &c
	}
}

// BreakCallees makes the bodies of the direct and indirect callees of one function, and of its adjoint if that is made
// already, malformed while the named build of it is made.
func (p *Program) BreakCallees(build, of string) {
	for i, b := range p.builds {
		if b.name != build {
			continue
		}
		c := *b
		c.make = func(u *unit, t *target) (*built, error) {
			if t.of == of {
				callees := reached(t.f)[1:]
				if a := u.adjoints[t]; a != nil {
					callees = append(callees, reached(a.Func)[1:]...)
				}
				for _, f := range callees {
					body := f.Body
					f.Body = append(body[:len(body):len(body)], (*ir.Let)(nil))
					defer func() { f.Body = body }()
				}
			}
			return b.make(u, t)
		}
		p.builds[i] = &c
	}
}

// BreakRoles puts a mistake into how derivatives of the named build, of one function, are
// registered.
func (p *Program) BreakRoles(build, of string) {
	for i, b := range p.builds {
		if b.name != build {
			continue
		}
		c := *b
		c.make = func(u *unit, t *target) (*built, error) {
			out, err := b.make(u, t)
			if out != nil && t.of == of {
				out.params[1].of = 99 // there is no such parameter
			}
			return out, err
		}
		p.builds[i] = &c
	}
}

// BreakLowering calls begin before a function is lowered.
func (p *Program) BreakLowering(begin func(f *ir.Func)) {
	p.lowering.Begin = begin
	p.lower = lower.New(p.pkgs, p.lowering)
}

// TypeCheck checks a text as the generated file of a package.
func (p *Program) TypeCheck(path, text string) error {
	for _, pkg := range p.pkgs {
		if pkg.PkgPath == path {
			h, err := p.home(pkg)
			if err != nil {
				return err
			}
			return h.typeCheck(map[string][]byte{filepath.Join(directory(pkg), lower.Output): []byte(text)})
		}
	}
	return errors.New("no package " + path)
}

// SetGenerator makes id that of nabla gen, until the function that it returns is called.
func SetGenerator(id string) (restore func()) {
	old := generatorID
	generatorID = func() string { return id }
	return func() { generatorID = old }
}

// Demands reports whether it is known which derivatives an operator of package nabla computes with.
func Demands(operator string) bool {
	_, known := demandOf(lower.Use{Operator: operator, Open: true})
	return known
}
