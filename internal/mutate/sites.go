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

// A mutant is a package with one place of one file changed.
type mutant struct {
	pkg        *target
	file       string // absolute
	line, col  int
	start, end int    // bytes of the file
	text       string // in their place
	kind       string // what was done, in words
}

// target is a package whose tests are tried.
type target struct {
	Path, Dir string
	Files     []string // absolute, of this build, without tests
	Tests     int      // files of tests
}

var swapped = map[token.Token]token.Token{
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL, token.REM: token.MUL,
	token.AND: token.OR, token.OR: token.AND, token.XOR: token.AND, token.SHL: token.SHR, token.SHR: token.SHL,
	token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD_ASSIGN: token.SUB_ASSIGN, token.SUB_ASSIGN: token.ADD_ASSIGN,
	token.MUL_ASSIGN: token.QUO_ASSIGN, token.QUO_ASSIGN: token.MUL_ASSIGN,
	token.INC: token.DEC, token.DEC: token.INC,
}

// bounds are comparisons that differ where both sides are equal.
var bounds = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
}

// opposite are comparisons that are true where the other is not.
var opposite = map[token.Token]token.Token{
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LSS: token.GEQ, token.GEQ: token.LSS, token.GTR: token.LEQ,
	token.LEQ: token.GTR,
}

// mutants are all mutants of a package, of files that are not generated, in the order of
// the source.
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

// mutantsOf are the mutants of a file.
func mutantsOf(name string, src []byte) ([]*mutant, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if ast.IsGenerated(file) {
		return nil, nil
	}
	f := &finder{fset: fset, name: name, src: string(src), kept: map[ast.Node]bool{}}
	ast.Inspect(file, f.visit)
	return f.found, nil
}

// A finder collects the mutants of a file.
type finder struct {
	fset  *token.FileSet
	name  string
	src   string
	kept  map[ast.Node]bool // statements without which a loop would not end
	found []*mutant
}

func (f *finder) add(from, to token.Pos, text, kind string, args ...any) {
	p := f.fset.Position(from)
	m := &mutant{file: f.name, line: p.Line, col: p.Column, start: p.Offset, end: f.fset.Position(to).Offset,
		text: text}
	if m.kind = fmt.Sprintf(kind, args...); f.src[m.start:m.end] != text {
		f.found = append(f.found, m)
	}
}

// source is the text of a node.
func (f *finder) source(n ast.Node) string {
	return f.src[f.fset.Position(n.Pos()).Offset:f.fset.Position(n.End()).Offset]
}

func (f *finder) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ImportSpec, *ast.Field: // paths, tags, and lengths of arrays in types
		_, field := n.(*ast.Field)
		return field
	case *ast.IfStmt:
		f.condition(n.Cond)
	case *ast.ForStmt:
		if n.Post != nil {
			f.kept[n.Post] = true
		}
		f.condition(n.Cond)
	case *ast.BlockStmt:
		f.drop(n.List)
	case *ast.CaseClause:
		f.drop(n.Body)
	case *ast.CommClause:
		f.drop(n.Body)
	case *ast.BinaryExpr:
		f.binary(n)
	case *ast.AssignStmt:
		f.operator(n.TokPos, n.Tok, swapped, "operator")
	case *ast.IncDecStmt:
		if !f.kept[n] {
			f.operator(n.TokPos, n.Tok, swapped, "operator")
		}
	case *ast.BasicLit:
		f.constant(n)
	}
	return true
}

// condition negates the condition of an if or for. Comparisons are negated as such.
func (f *finder) condition(e ast.Expr) {
	if e == nil {
		return
	}
	if b, ok := e.(*ast.BinaryExpr); ok && opposite[b.Op] != 0 {
		return
	}
	f.add(e.Pos(), e.End(), "!("+f.source(e)+")", "negated condition")
}

func (f *finder) binary(n *ast.BinaryExpr) {
	if isString(n.X) || isString(n.Y) {
		return
	}
	f.operator(n.OpPos, n.Op, swapped, "operator")
	f.operator(n.OpPos, n.Op, bounds, "boundary")
	f.operator(n.OpPos, n.Op, opposite, "negated comparison")
}

// isString reports whether e is a string for what can be seen.
func isString(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Kind == token.STRING
	case *ast.BinaryExpr:
		return e.Op == token.ADD && (isString(e.X) || isString(e.Y))
	}
	return false
}

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

// drop leaves out each of the statements that can be, those that declare nothing.
func (f *finder) drop(list []ast.Stmt) {
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

// apply is the file with the mutation.
func (m *mutant) apply(src []byte) []byte {
	out := append([]byte{}, src[:m.start]...)
	out = append(out, m.text...)
	return append(out, src[m.end:]...)
}

// diff is the lines of src that the mutation changes, before and after.
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

// place is where the mutant is, as seen from dir.
func (m *mutant) place(dir string) string {
	name := m.file
	if rel, err := filepath.Rel(dir, name); err == nil && !strings.HasPrefix(rel, "..") {
		name = rel
	}
	return fmt.Sprintf("%s:%d:%d", name, m.line, m.col)
}

// shuffled puts mutants into an order that depends on the seed alone. Packages come up in
// proportion to what can be changed in them.
func shuffled(all []*mutant, seed uint64) []*mutant {
	r := rand.New(rand.NewPCG(seed, 0))
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}
