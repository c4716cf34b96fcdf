package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A mutant is a package with a change in one place of one file.
type mutant struct {
	pkg        *target
	file       string // absolute name
	line, col  int
	start, end int    // replaced bytes of the file
	text       string // their replacement
	kind       string // description of the change
}

// A target is a package whose tests are tried.
type target struct {
	Path, Dir string
	Files     []string // absolute names of the files of this build, without tests
	Tests     int      // number of test files
}

// swapped maps operators to the operators that replace them.
var swapped = map[token.Token]token.Token{
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL, token.REM: token.MUL,
	token.AND: token.OR, token.OR: token.AND, token.XOR: token.AND, token.SHL: token.SHR, token.SHR: token.SHL,
	token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD_ASSIGN: token.SUB_ASSIGN, token.SUB_ASSIGN: token.ADD_ASSIGN,
	token.MUL_ASSIGN: token.QUO_ASSIGN, token.QUO_ASSIGN: token.MUL_ASSIGN,
	token.INC: token.DEC, token.DEC: token.INC,
}

// boundaryOperators maps comparisons to those that differ only if both sides are equal.
var boundaryOperators = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
}

// negatedOperators maps comparisons to their negations.
var negatedOperators = map[token.Token]token.Token{
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LSS: token.GEQ, token.GEQ: token.LSS, token.GTR: token.LEQ,
	token.LEQ: token.GTR,
}

// mutants returns all mutants of a package, without those of generated files, in the order of the source.
func (p *target) mutants() (all []*mutant, err error) {
	for _, name := range p.Files {
		src, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		of, err := mutantsOf(name, src)
		if err != nil {
			return nil, err
		}
		for _, m := range of {
			m.pkg = p
		}
		all = append(all, of...)
	}
	return all, nil
}

// mutantsOf returns the mutants of a file.
func mutantsOf(name string, src []byte) ([]*mutant, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if ast.IsGenerated(file) {
		return nil, nil
	}
	f := &finder{fset: fset, name: name, src: string(src), required: map[ast.Node]bool{}}
	ast.Inspect(file, f.visit)
	return f.found, nil
}

// A finder collects the mutants of a file.
type finder struct {
	fset     *token.FileSet
	name     string
	src      string
	required map[ast.Node]bool // statements without which a loop would not end
	found    []*mutant
}

// add adds the mutant that replaces the source between two positions by text.
func (f *finder) add(from, to token.Pos, text, kind string, args ...any) {
	p := f.fset.Position(from)
	m := &mutant{file: f.name, line: p.Line, col: p.Column, start: p.Offset, end: f.fset.Position(to).Offset,
		text: text}
	if m.kind = fmt.Sprintf(kind, args...); f.src[m.start:m.end] != text {
		f.found = append(f.found, m)
	}
}

// source returns the text of a node.
func (f *finder) source(n ast.Node) string {
	return f.src[f.fset.Position(n.Pos()).Offset:f.fset.Position(n.End()).Offset]
}

// visit adds the mutants of a node. It reports whether its children have mutants: paths, tags and lengths of arrays
// have none.
func (f *finder) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ImportSpec, *ast.Field: // paths, tags, and lengths of arrays in types
		_, field := n.(*ast.Field)
		return field
	case *ast.IfStmt:
		f.condition(n.Cond)
	case *ast.ForStmt:
		if n.Post != nil {
			f.required[n.Post] = true
		}
		f.condition(n.Cond)
	case *ast.BlockStmt:
		f.dropStatements(n.List)
	case *ast.CaseClause:
		f.dropStatements(n.Body)
	case *ast.CommClause:
		f.dropStatements(n.Body)
	case *ast.BinaryExpr:
		f.binary(n)
	case *ast.AssignStmt:
		f.operator(n.TokPos, n.Tok, swapped, "operator")
	case *ast.IncDecStmt:
		if !f.required[n] {
			f.operator(n.TokPos, n.Tok, swapped, "operator")
		}
	case *ast.BasicLit:
		f.constant(n)
	}
	return true
}

// condition negates the condition of an if or for. A comparison is replaced by the opposite one.
func (f *finder) condition(e ast.Expr) {
	if e == nil {
		return
	}
	if b, ok := e.(*ast.BinaryExpr); ok && negatedOperators[b.Op] != 0 {
		return
	}
	f.add(e.Pos(), e.End(), "!("+f.source(e)+")", "negated condition")
}

// binary adds the mutants of a binary expression.
func (f *finder) binary(n *ast.BinaryExpr) {
	if isString(n.X) || isString(n.Y) {
		return
	}
	f.operator(n.OpPos, n.Op, swapped, "operator")
	f.operator(n.OpPos, n.Op, boundaryOperators, "boundary")
	f.operator(n.OpPos, n.Op, negatedOperators, "negated comparison")
}

// isString reports whether e is syntactically a string.
func isString(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Kind == token.STRING
	case *ast.BinaryExpr:
		return e.Op == token.ADD && (isString(e.X) || isString(e.Y))
	}
	return false
}

// operator adds the mutant with another operator, if by has one.
func (f *finder) operator(at token.Pos, op token.Token, by map[token.Token]token.Token, kind string) {
	if to, ok := by[op]; ok {
		f.add(at, at+token.Pos(len(op.String())), to.String(), "%s: %s for %s", kind, to, op)
	}
}

// constant changes a number by one.
func (f *finder) constant(n *ast.BasicLit) {
	switch n.Kind {
	case token.INT:
		v, err := strconv.ParseInt(n.Value, 0, 64)
		if err != nil {
			return
		}
		f.add(n.Pos(), n.End(), strconv.FormatInt(v+1, 10), "constant: %d for %s", v+1, n.Value)
		if v > 0 {
			f.add(n.Pos(), n.End(), strconv.FormatInt(v-1, 10), "constant: %d for %s", v-1, n.Value)
		}
	case token.FLOAT:
		f.add(n.Pos(), n.End(), "("+n.Value+" + 1)", "constant: %s + 1 for %s", n.Value, n.Value)
	}
}

// dropStatements removes each of the statements that declare nothing.
func (f *finder) dropStatements(list []ast.Stmt) {
	for _, s := range list {
		kind := ""
		switch s := s.(type) {
		case *ast.ExprStmt, *ast.SendStmt, *ast.DeferStmt, *ast.IncDecStmt:
			kind = "dropped statement"
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE {
				kind = "dropped assignment"
			}
		case *ast.BranchStmt:
			kind = "dropped " + s.Tok.String()
		}
		if kind != "" {
			f.add(s.Pos(), s.End(), "", "%s", kind)
		}
	}
}

// apply returns the mutated file.
func (m *mutant) apply(src []byte) []byte {
	out := append([]byte{}, src[:m.start]...)
	out = append(out, m.text...)
	return append(out, src[m.end:]...)
}

// diff returns the lines of src that the mutation changes, before and after.
func (m *mutant) diff(src []byte) string {
	from := strings.LastIndexByte(string(src[:m.start]), '\n') + 1
	to := len(src)
	if i := strings.IndexByte(string(src[m.end:]), '\n'); i >= 0 {
		to = m.end + i
	}
	lines := func(sign, text string) string {
		return sign + strings.ReplaceAll(strings.TrimRight(text, " \t"), "\n", "\n"+sign) + "\n"
	}
	return lines("-", string(src[from:to])) + lines("+", string(src[from:m.start])+m.text+string(src[m.end:to]))
}

// position returns the file relative to dir, and the line.
func (m *mutant) position(dir string) string {
	name := m.file
	if rel, err := filepath.Rel(dir, name); err == nil && !strings.HasPrefix(rel, "..") {
		name = rel
	}
	return fmt.Sprintf("%s:%d:%d", name, m.line, m.col)
}

// shuffled returns the mutants in a random order that depends on the seed only. Packages occur in proportion to their
// numbers of mutants.
func shuffled(all []*mutant, seed uint64) []*mutant {
	r := rand.New(rand.NewPCG(seed, 0))
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}
