package gen

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/nabla-ad/nabla/gen/internal/license"
	"github.com/nabla-ad/nabla/gen/lower"
)

// Licences of the modules from which code is derived. The derivative of a function that is followed is an adaptation of
// its source, so generated files name the modules, and a file beside them has the texts of their licences.

// A sourceModule is a module, or the standard library, from which code is derived.
type sourceModule struct {
	name string // path and version
	dir  string // that has its licence
	// of is the first function that its code went into.
	of *target
	license.License
}

// findLicenses sets the notice and the file of licences of the unit, and warns of licences that ask for more than a
// notice.
func (u *unit) findLicenses() error {
	u.notice, u.licenses = "", nil
	var list []*sourceModule
	for _, t := range u.targets {
		if len(t.built) == 0 {
			continue
		}
		for _, pkg := range u.program.lower.Adapted(t.f) {
			o := moduleOf(pkg)
			if !slices.ContainsFunc(list, func(p *sourceModule) bool { return p.name == o.name }) {
				o.of = t
				list = append(list, o)
			}
		}
	}
	if len(list) == 0 {
		return nil
	}
	slices.SortFunc(list, func(a, b *sourceModule) int { return cmp.Compare(a.name, b.name) })
	var lines, texts strings.Builder
	for _, o := range list {
		if o.Name == "" {
			var err error
			if o.License, err = u.program.license(o.dir); err != nil {
				return fmt.Errorf("the licence of %s: %w", o.name, err)
			}
		}
		if o.Warning != "" {
			u.problem(&Problem{o.of.pos, o.of.of, "code is derived from " + o.name + ", which " + o.Warning,
				"look at its licence before you distribute the generated code", Warning})
		}
		line := o.name + " (" + o.Name + ")\n"
		lines.WriteString("\t" + line)
		texts.WriteString("\n" + line + strings.Repeat("-", len(line)-1) + "\n\n" + o.Text + "\n")
	}
	file := filepath.Base(u.file.licensesName())
	u.notice = "Parts are derived, with changes, from the source code of\n\n" + lines.String() +
		"\nwhose licences are in " +
		file + "."
	u.licenses = []byte(lower.Header + "\n\nLicences of the source code from which parts of " +
		filepath.Base(u.file.Name) +
		" are derived, with changes.\n" + texts.String())
	return nil
}

// moduleOf returns the module of a package.
func moduleOf(pkg *packages.Package) *sourceModule {
	m := pkg.Module
	if m == nil {
		return &sourceModule{name: "the standard library of Go", License: license.Go()}
	}
	o := &sourceModule{name: m.Path, dir: m.Dir}
	if m.Version != "" {
		o.name += " " + m.Version
	}
	if m.Replace != nil && o.dir == "" {
		o.dir = m.Replace.Dir
	}
	return o
}

// license returns the licence in a directory, which is read once.
func (p *Program) license(dir string) (license.License, error) {
	if l, ok := p.licenses[dir]; ok {
		return l, nil
	}
	l, err := license.Find(dir)
	if err == nil {
		if p.licenses == nil {
			p.licenses = map[string]license.License{}
		}
		p.licenses[dir] = l
	}
	return l, err
}
