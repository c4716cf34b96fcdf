package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A function of the corpus is one with a comment
//
//	//corpus:at 0.3 1.2
//
// that lists the numbers of its arguments at a point where it is smooth; several points have one line each. A line
// //corpus:tolerance 1e-3 sets the relative error that is allowed. Parameters and results are numbers, arrays and
// structs of numbers, and one slice of numbers; the last result may be an error.
type function struct {
	dir, pkg, ident string // libraries/orb, orb, Distance
	file            string
	line            int // of the first directive
	at              [][]float64
	tolerance       float64
	names           []string // of the parameters
	params, results []shape
	fails           bool // the last result is an error

	generated  map[string]bool      // suffixes of the derivatives
	signatures map[string]signature // of all derivatives of the package
	refusals   []refusal
	warnings   []refusal // of numbers that are found by comparisons alone
	outcome    outcome
	why        string
}

// A refusal is a problem that nabla gen reports.
type refusal struct{ Pos, Func, Reason, Remedy string }

type outcome int

const (
	untested outcome = iota
	right
	refused
	wrong
	unclear
	warned // wrong, and nabla gen warns of it
)

func (o outcome) String() string {
	return [...]string{"untested", "right", "refused", "wrong", "unclear", "warned"}[o]
}

// name returns the name of f in lists: the directory below the corpus and the identifier.
func (f *function) name() string { return f.dir + "." + f.ident }

// A shape is the type of a parameter or result: a slice of numbers, or a type with a fixed number of numbers.
type shape struct {
	slice  bool
	typ    string   // the type in source, without package
	local  bool     // declared in the package
	leaves []string // selectors of the numbers, "" for a number itself
}

const directive = "//corpus:"

// functions returns the functions of the corpus below root, by name.
func functions(root string) (list []*function, err error) {
	for _, part := range []string{"libraries", "programs"} {
		dirs, err := filepath.Glob(filepath.Join(root, part, "*"))
		if err != nil {
			return nil, err
		}
		for _, dir := range dirs {
			fs, err := functionsOf(root, dir)
			if err != nil {
				return nil, err
			}
			list = append(list, fs...)
		}
	}
	slices.SortFunc(list, func(a, b *function) int { return strings.Compare(a.name(), b.name()) })
	return list, nil
}

func functionsOf(root, dir string) (list []*function, err error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	rel, err := filepath.Rel(root, dir)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	var files []*ast.File
	types := map[string]ast.Expr{}
	for _, name := range names {
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				for _, s := range g.Specs {
					if t, ok := s.(*ast.TypeSpec); ok {
						types[t.Name.Name] = t.Type
					}
				}
			}
		}
	}
	for _, file := range files {
		for _, d := range file.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || decl.Doc == nil {
				continue
			}
			f := &function{dir: filepath.ToSlash(rel), pkg: file.Name.Name, ident: decl.Name.Name,
				file: filepath.Base(fset.Position(decl.Pos()).Filename)}
			if err := f.read(fset, decl, types); err != nil {
				return nil, fmt.Errorf("%s: %w", fset.Position(decl.Pos()), err)
			}
			if f.at != nil {
				list = append(list, f)
			}
		}
	}
	return list, nil
}

// read reads the directives and the signature.
func (f *function) read(fset *token.FileSet, decl *ast.FuncDecl, types map[string]ast.Expr) error {
	for _, c := range decl.Doc.List {
		text, ok := strings.CutPrefix(c.Text, directive)
		if !ok {
			continue
		}
		word, rest, _ := strings.Cut(text, " ")
		var numbers []float64
		for _, s := range strings.Fields(rest) {
			v, err := strconv.ParseFloat(s, 64)
			if err != nil {
				return err
			}
			numbers = append(numbers, v)
		}
		switch {
		case word == "at" && len(numbers) > 0:
			if f.line == 0 {
				f.line = fset.Position(c.Pos()).Line
			}
			f.at = append(f.at, numbers)
		case word == "tolerance" && len(numbers) == 1:
			f.tolerance = numbers[0]
		default:
			return fmt.Errorf("unknown directive %s", c.Text)
		}
	}
	if f.at == nil {
		return nil
	}
	if decl.Recv != nil || decl.Type.TypeParams != nil {
		return fmt.Errorf("%s is a method or generic", f.ident)
	}
	slices, fixed := 0, 0
	for _, p := range decl.Type.Params.List {
		s, err := shapeOf(p.Type, types)
		if err != nil {
			return err
		}
		for _, name := range p.Names {
			f.names = append(f.names, name.Name)
			f.params = append(f.params, s)
			fixed += len(s.leaves)
			if s.slice {
				slices++
			}
		}
	}
	for _, p := range decl.Type.Results.List {
		if id, ok := p.Type.(*ast.Ident); ok && id.Name == "error" {
			f.fails = true
			continue
		}
		s, err := shapeOf(p.Type, types)
		if err != nil {
			return err
		}
		for range max(1, len(p.Names)) {
			f.results = append(f.results, s)
		}
	}
	for _, at := range f.at {
		if slices > 1 || slices == 0 && len(at) != fixed || len(at) < fixed {
			return fmt.Errorf("%s: %d numbers for parameters of %d", f.ident, len(at), fixed)
		}
	}
	return nil
}

// shapeOf returns the shape of a type.
func shapeOf(e ast.Expr, types map[string]ast.Expr) (shape, error) {
	if a, ok := e.(*ast.ArrayType); ok && a.Len == nil {
		if id, ok := a.Elt.(*ast.Ident); ok && id.Name == "float64" {
			return shape{slice: true, typ: "[]float64"}, nil
		}
	}
	leaves, err := leavesOf(e, types)
	if err != nil {
		return shape{}, err
	}
	s := shape{leaves: leaves}
	switch e := e.(type) {
	case *ast.Ident:
		s.typ, s.local = e.Name, e.Name != "float64"
	case *ast.ArrayType:
		s.typ = "[" + e.Len.(*ast.BasicLit).Value + "]float64"
	}
	return s, nil
}

// leavesOf returns the selectors of the numbers of a type.
func leavesOf(e ast.Expr, types map[string]ast.Expr) (list []string, err error) {
	switch e := e.(type) {
	case *ast.Ident:
		if e.Name == "float64" {
			return []string{""}, nil
		}
		if t := types[e.Name]; t != nil {
			return leavesOf(t, types)
		}
	case *ast.ArrayType:
		lit, ok := e.Len.(*ast.BasicLit)
		if !ok {
			break
		}
		n, err := strconv.Atoi(lit.Value)
		if err != nil {
			return nil, err
		}
		elem, err := leavesOf(e.Elt, types)
		if err != nil {
			return nil, err
		}
		for i := range n {
			for _, s := range elem {
				list = append(list, fmt.Sprintf("[%d]%s", i, s))
			}
		}
		return list, nil
	case *ast.StructType:
		for _, field := range e.Fields.List {
			inner, err := leavesOf(field.Type, types)
			if err != nil {
				return nil, err
			}
			for _, name := range field.Names {
				for _, s := range inner {
					list = append(list, "."+name.Name+s)
				}
			}
		}
		return list, nil
	}
	return nil, fmt.Errorf("a parameter or result has a type without a fixed number of float64s")
}

// copyTo writes the package of list, functions of one directory, to dir/list[0].dir, with directives of nabla in the
// place of the first ones of the corpus.
func copyTo(dir string, list []*function) error {
	names, err := filepath.Glob(filepath.Join(list[0].dir, "*.go"))
	if err != nil {
		return err
	}
	to := filepath.Join(dir, list[0].dir)
	if err := os.MkdirAll(to, 0o777); err != nil {
		return err
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		lines := strings.Split(string(text), "\n")
		for _, f := range list {
			if f.file == filepath.Base(name) {
				lines[f.line-1] = "//nabla:differentiate"
			}
		}
		text = []byte(strings.Join(lines, "\n"))
		if err := os.WriteFile(filepath.Join(to, filepath.Base(name)), text, 0o666); err != nil {
			return err
		}
	}
	return nil
}
