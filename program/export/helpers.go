package export

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/nabla-ad/nabla/rules"
)

// A declaration is a function, variable or constants of package rules that values of rules need, as source.
type declaration struct {
	text  string
	names []use // names of declarations in text
}

// A use is the name of a declaration at an offset of the source of another one.
type use struct {
	at   int
	name string
}

// declarations returns those of rules.Sources, by name.
var declarations = sync.OnceValue(func() map[string]*declaration {
	all := map[string]*declaration{}
	type file struct {
		src  string
		fset *token.FileSet
		tree *ast.File
	}
	var files []file
	for _, src := range rules.Sources {
		fset := token.NewFileSet()
		tree, err := parser.ParseFile(fset, "", src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			panic(err) // it is compiled into this program
		}
		files = append(files, file{src, fset, tree})
		for _, d := range tree.Decls {
			for _, name := range declared(d) {
				all[name] = nil
			}
		}
	}
	for _, f := range files {
		for _, d := range f.tree.Decls {
			names := declared(d)
			if len(names) == 0 {
				continue
			}
			from := d.Pos()
			if doc := docOf(d); doc != nil {
				from = doc.Pos()
			}
			start := f.fset.Position(from).Offset
			x := &declaration{text: f.src[start:f.fset.Position(d.End()).Offset]}
			if strings.HasPrefix(x.text, "// "+names[0]+" ") {
				x.names = append(x.names, use{3, names[0]})
			}
			ast.Inspect(d, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					if _, ok := all[id.Name]; ok {
						x.names = append(x.names, use{f.fset.Position(id.Pos()).Offset - start, id.Name})
					}
				}
				return true
			})
			for _, name := range names {
				all[name] = x
			}
		}
	}
	return all
})

// declared returns the names that d declares at top level, imports aside.
func declared(d ast.Decl) (names []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		names = append(names, d.Name.Name)
	case *ast.GenDecl:
		for _, s := range d.Specs {
			if v, ok := s.(*ast.ValueSpec); ok {
				for _, id := range v.Names {
					names = append(names, id.Name)
				}
			}
		}
	}
	return names
}

func docOf(d ast.Decl) *ast.CommentGroup {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return d.Doc
	case *ast.GenDecl:
		return d.Doc
	}
	return nil
}

// helpers collects the declarations that an exported function needs, under names that begin with prefix.
type helpers struct {
	prefix string
	used   map[*declaration]bool
	list   []*declaration
}

// newHelpers returns helpers for a function. Their names are not exported.
func newHelpers(function string) *helpers {
	r := []rune(function)
	r[0] = unicode.ToLower(r[0])
	return &helpers{prefix: string(r), used: map[*declaration]bool{}}
}

// name returns the name in the exported file for a name of package rules, and needs its declaration.
func (h *helpers) name(s string) string {
	d := declarations()[s]
	if d == nil {
		return s
	}
	h.need(d)
	return h.renamed(s)
}

func (h *helpers) renamed(s string) string { return h.prefix + strings.ToUpper(s[:1]) + s[1:] }

// has reports whether s is the name that a declaration has in the file if it is needed.
func (h *helpers) has(s string) bool {
	for name := range declarations() {
		if h.renamed(name) == s {
			return true
		}
	}
	return false
}

func (h *helpers) need(d *declaration) {
	if h.used[d] {
		return
	}
	h.used[d] = true
	h.list = append(h.list, d)
	for _, u := range d.names {
		h.need(declarations()[u.name])
	}
}

// source returns the declarations needed.
func (h *helpers) source() string {
	slices.SortFunc(h.list, func(a, b *declaration) int { return strings.Compare(a.text, b.text) })
	var b strings.Builder
	for _, d := range h.list {
		b.WriteString("\n")
		at := 0
		for _, u := range d.names {
			b.WriteString(d.text[at:u.at])
			b.WriteString(h.renamed(u.name))
			at = u.at + len(u.name)
		}
		b.WriteString(d.text[at:] + "\n")
	}
	return b.String()
}
