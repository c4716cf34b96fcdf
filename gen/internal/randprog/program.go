package randprog

import (
	"fmt"
	"slices"
	"strings"
)

// A Program is a random function F with the functions that it calls.
type Program struct {
	Seed uint64
	Sig  Signature
	Body *Node
	Own  []*Node // functions of the program besides F
	// Exact is set if its results do not depend on the compiler, bit for bit.
	Exact bool
	// Old is set if its file is for Go 1.21, where a loop has one variable for all iterations.
	Old bool
	// Shortcuts is set for a program of NewShortcuts.
	Shortcuts bool
}

// hasSecondFunction reports whether the program has a second function with derivatives, G.
func (p *Program) hasSecondFunction() bool {
	return slices.ContainsFunc(p.Own, func(n *Node) bool { return strings.HasPrefix(n.Text, otherHead) })
}

// A Signature selects one of the signatures of F.
type Signature int

// The signatures.
const (
	Function Signature = iota // func(x []float64) float64
	InPlace                   // func(y, x []float64)
	Bounded                   // func(x []float64, n int) float64
	Several                   // func(a, b []float64, s float64) (float64, []float64)
	Everything
	numSignatures
)

// A Param is a parameter or a result.
type Param struct {
	Name string
	Kind Kind
}

// signatures holds the parameters and results of each signature.
var signatures = [numSignatures]struct{ params, results []Param }{
	Function: {[]Param{{"x", Slice}}, []Param{{"r", Float}}},
	InPlace:  {[]Param{{"y", Slice}, {"x", Slice}}, nil},
	Bounded:  {[]Param{{"x", Slice}, {"n", Int}}, []Param{{"r", Float}}},
	Several:  {[]Param{{"x", Slice}, {"y", Slice}, {"a", Float}}, []Param{{"r", Float}, {"out", Slice}}},
	Everything: {
		[]Param{{"a", Float}, {"b", Float}, {"x", Slice}, {"y", Slice}, {"n", Int}, {"p", Struct}, {"q", Pointer}},
		[]Param{{"r", Float}, {"k", Int}, {"out", Slice}},
	},
}

// Params returns the parameters of F.
func (s Signature) Params() []Param { return signatures[s].params }

// Results returns the results of F.
func (s Signature) Results() []Param { return signatures[s].results }

// goTypes maps kinds of expressions to their types.
var goTypes = map[Kind]string{
	Float: "float64", Int: "int", Bool: "bool", Small: "small", Slice: "[]float64", Struct: "P", Pointer: "*P",
	Array: "[3]float64", Wide: "Q", Ref: "*float64", Rows: "[][]float64", Mine: "*mine",
}

// list returns the source of a parameter list.
func list(params []Param) string {
	var out []string
	for _, p := range params {
		out = append(out, p.Name+" "+goTypes[p.Kind])
	}
	return strings.Join(out, ", ")
}

// write writes the functions of the program, with mark appended to F and to the names of the others.
func (p *Program) write(b *strings.Builder, mark string) {
	for _, f := range p.Own {
		f.print(b, mark)
		b.WriteString("\n\n")
	}
	fmt.Fprintf(b, "func F%s(%s) (%s) {\n", mark, list(p.Sig.Params()), list(p.Sig.Results()))
	p.Body.print(b, mark)
	b.WriteString("}\n\n")
}

// single reports whether the program also computes in float32.
func (p *Program) single() bool {
	var b strings.Builder
	p.write(&b, "")
	for _, w := range words(b.String()) {
		if w == "small" {
			return true
		}
	}
	return false
}

// clone returns a deep copy.
func (p *Program) clone() *Program {
	c := *p
	c.Body = p.Body.clone()
	c.Own = make([]*Node, len(p.Own))
	for i, f := range p.Own {
		c.Own[i] = f.clone()
	}
	return &c
}

// size returns the number of nodes.
func (p *Program) size() int {
	n := p.Body.size()
	for _, f := range p.Own {
		n += f.size()
	}
	return n
}

// Source returns the program as a file of package rnd that declares F and the part of the library that is used.
func (p *Program) Source() string {
	var b strings.Builder
	p.write(&b, "")
	return file(p.Old, b.String(), usedDeclarations(b.String(), p.Exact))
}

// Batch returns programs as files of package rnd with the functions F_0, F_1, …. Programs for an old version of Go are
// in a second file.
func Batch(list []*Program) []string {
	var b [2]strings.Builder
	exact := false
	for i, p := range list {
		to := &b[0]
		if p.Old {
			to = &b[1]
		}
		p.write(to, mark(i))
		exact = exact || p.Exact
	}
	files := []string{file(false, b[0].String(), declarations(exact))}
	if b[1].Len() > 0 {
		files = append(files, file(true, b[1].String(), ""))
	}
	return files
}

// OldVersion is the build constraint of files for an old version of Go.
const OldVersion = "//go:build go1.21\n\n"

// file returns a file of functions and declarations, with the imports that they need.
func file(old bool, funcs, decls string) string {
	var imports strings.Builder
	text := funcs + decls
	for _, path := range libraryImports {
		if strings.Contains(text, path[strings.LastIndexByte(path, '/')+1:]+".") {
			fmt.Fprintf(&imports, "\t%q\n", path)
		}
	}
	head := "package rnd\n\n"
	if old {
		head = OldVersion + head
	}
	if imports.Len() > 0 {
		head += "import (\n" + imports.String() + ")\n\n"
	}
	return head + funcs + decls
}

// mark returns the suffix of the names of program i of a batch.
func mark(i int) string { return fmt.Sprintf("_%d", i) }

// Calls returns a file with a variable calls, a list of functions that call those of [Batch] with an [Input] and return
// the same as [Case.Run].
func Calls(list []*Program) string {
	var b, table strings.Builder
	table.WriteString("var calls = []func(mem, numbers []float64, w [][3]int, n int) (floats []float64, ints []int){\n")
	for i, p := range list {
		b.WriteString(p.caller(mark(i)))
		fmt.Fprintf(&table, "\tCall%s,\n", mark(i))
	}
	return "package rnd\n\n" + b.String() + table.String() + "}\n"
}
