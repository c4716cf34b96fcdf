package lower

import (
	"bytes"
	"crypto/sha256"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// Stubs of generated files, which replace them when packages are loaded.

// kept has the last stub of each file, since one process may load packages again and again.
var kept struct {
	sync.Mutex
	stubs map[string]keptStub
}

// A keptStub is the stub of a text.
type keptStub struct {
	text [sha256.Size]byte
	stub []byte
}

// stub returns newStub of a file, or the one of an earlier call with the same text.
func stub(name string, text []byte) []byte {
	sum := sha256.Sum256(text)
	kept.Lock()
	k, ok := kept.stubs[name]
	kept.Unlock()
	if ok && k.text == sum {
		return k.stub
	}
	out, alone := newStub(name, text)
	if !alone {
		return out
	}
	k = keptStub{sum, out}
	kept.Lock()
	defer kept.Unlock()
	if kept.stubs == nil {
		kept.stubs = map[string]keptStub{}
	}
	kept.stubs[name] = k
	return k.stub
}

// newStub returns a file with the exported names of a generated file and its build constraint:
// functions that panic and types without fields. Of a broken text the declarations that can be
// parsed remain. It reports whether the stub depends on nothing but name and text.
func newStub(name string, text []byte) (stub []byte, alone bool) {
	fset := token.NewFileSet()
	f, _ := parser.ParseFile(fset, name, withoutBodies(text), parser.SkipObjectResolution)
	if f == nil || f.Name == nil || !token.IsIdentifier(f.Name.Name) || f.Name.Name == "_" {
		return []byte(Header + "\n\n" + constraintLine(text) + "package " + siblingPackage(name) + "\n"), false
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
	// Only imports that the stub refers to are kept, since unused ones are errors.
	used := map[string]bool{}
	for _, d := range decls {
		body.WriteByte('\n')
		// A declaration of a broken file that cannot be printed is omitted.
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
	return out.Bytes(), true
}

// siblingPackage returns the name of the package of other files in the directory of name.
func siblingPackage(name string) string {
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

// exportedReceiver reports whether d has no receiver or one of an exported type.
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

// stubFunc returns d with a body that panics.
func stubFunc(d *ast.FuncDecl) ast.Decl {
	text := &ast.BasicLit{Kind: token.STRING, Value: `"run nabla gen"`}
	call := &ast.CallExpr{Fun: ast.NewIdent("panic"), Args: []ast.Expr{text}}
	body := &ast.BlockStmt{List: []ast.Stmt{&ast.ExprStmt{X: call}}}
	return &ast.FuncDecl{Recv: d.Recv, Name: d.Name, Type: d.Type, Body: body}
}

// stubTypes returns the exported types of a declaration as empty structs.
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
