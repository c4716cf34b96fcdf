package lower

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
)

// stub is a file with the exported names of a generated one, for the same builds: functions
// that panic and types without fields. text may be broken; what can be parsed of it counts.
func stub(name string, text []byte) []byte {
	fset := token.NewFileSet()
	f, _ := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
	if f == nil || f.Name == nil || !token.IsIdentifier(f.Name.Name) || f.Name.Name == "_" {
		return []byte(Header + "\n\n" + constraintLine(text) + "package " + neighbour(name) + "\n")
	}
	var decls []ast.Decl
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && exportedReceiver(d) {
				decls = append(decls, stubFunc(d))
			}
		case *ast.GenDecl:
			if d.Tok == token.TYPE {
				decls = append(decls, stubTypes(d)...)
			}
		}
	}
	var body bytes.Buffer
	used := map[string]bool{}
	for _, d := range decls {
		body.WriteByte('\n')
		// A declaration of a broken file that cannot be printed is one name less.
		if printer.Fprint(&body, fset, d) == nil {
			body.WriteByte('\n')
		}
		ast.Inspect(d, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok {
					used[x.Name] = true
				}
			}
			return true
		})
	}
	var out bytes.Buffer
	out.WriteString(Header + "\n\n" + constraintLine(text) + "package " + f.Name.Name + "\n")
	for _, s := range f.Imports {
		path, err := strconv.Unquote(s.Path.Value)
		if err != nil {
			continue
		}
		base, alias := path[strings.LastIndexByte(path, '/')+1:], ""
		if s.Name != nil {
			base, alias = s.Name.Name, s.Name.Name+" "
		}
		if used[base] {
			out.WriteString("\nimport " + alias + s.Path.Value + "\n")
		}
	}
	out.Write(body.Bytes())
	return out.Bytes()
}

// neighbour is the name of the package that other files in the directory of name are of.
func neighbour(name string) string {
	list, _ := filepath.Glob(filepath.Join(filepath.Dir(name), "*.go"))
	for _, other := range list {
		if other == name || strings.HasSuffix(other, "_test.go") {
			continue
		}
		f, _ := parser.ParseFile(token.NewFileSet(), other, nil, parser.PackageClauseOnly)
		if f != nil && f.Name != nil && f.Name.Name != "_" {
			return f.Name.Name
		}
	}
	return "generated"
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return true
	}
	t := d.Recv.List[0].Type
	if p, ok := t.(*ast.StarExpr); ok {
		t = p.X
	}
	id, ok := t.(*ast.Ident)
	return ok && id.IsExported()
}

func stubFunc(d *ast.FuncDecl) ast.Decl {
	text := &ast.BasicLit{Kind: token.STRING, Value: `"run nabla gen"`}
	call := &ast.CallExpr{Fun: ast.NewIdent("panic"), Args: []ast.Expr{text}}
	body := &ast.BlockStmt{List: []ast.Stmt{&ast.ExprStmt{X: call}}}
	return &ast.FuncDecl{Recv: d.Recv, Name: d.Name, Type: d.Type, Body: body}
}

func stubTypes(d *ast.GenDecl) (out []ast.Decl) {
	for _, s := range d.Specs {
		t, ok := s.(*ast.TypeSpec)
		if !ok || !t.Name.IsExported() {
			continue
		}
		empty := &ast.TypeSpec{Name: t.Name, Type: &ast.StructType{Fields: &ast.FieldList{}}}
		out = append(out, &ast.GenDecl{Tok: token.TYPE, Specs: []ast.Spec{empty}})
	}
	return out
}
