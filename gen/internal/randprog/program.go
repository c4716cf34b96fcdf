package randprog

import (
	"fmt"
	"slices"
	"strings"
)

// Program is a random function F with the functions that are its own.
type Program struct {
	Seed uint64
	Sig  Signature
	Body *Node
	Own  []*Node // functions that F calls
	// Exact says that it does the same by any compiler.
	Exact bool
	// Old says that its file is for Go 1.21, where loops have one variable for all iterations.
	Old bool
}

// also is whether the program has a second function with derivatives, G.
func (p *Program) also() bool {
	return slices.ContainsFunc(p.Own, func(n *Node) bool { return strings.HasPrefix(n.Text, otherHead) })
}

// Signature is one of those that F can have.
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

// Param is a parameter or a result.
type Param struct {
	Name string
	Kind Kind
}

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

// Params are the parameters of F.
func (s Signature) Params() []Param { return signatures[s].params }

// Results are the results of F.
func (s Signature) Results() []Param { return signatures[s].results }

var goTypes = map[Kind]string{
	Float: "float64", Int: "int", Bool: "bool", Small: "small", Slice: "[]float64", Struct: "P", Pointer: "*P",
	Array: "[3]float64", Wide: "Q", Ref: "*float64", Rows: "[][]float64", Mine: "*mine",
}

func list(params []Param) string {
	var out []string
	for _, p := range params {
		out = append(out, p.Name+" "+goTypes[p.Kind])
	}
	return strings.Join(out, ", ")
}

// write writes the functions of the program, F with the mark behind it.
func (p *Program) write(b *strings.Builder, mark string) {
	for _, f := range p.Own {
		f.print(b, mark)
		b.WriteString("\n\n")
	}
	fmt.Fprintf(b, "func F%s(%s) (%s) {\n", mark, list(p.Sig.Params()), list(p.Sig.Results()))
	p.Body.print(b, mark)
	b.WriteString("}\n\n")
}

// single reports whether the program computes in float32 too.
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

func (p *Program) clone() *Program {
	c := *p
	c.Body = p.Body.clone()
	c.Own = make([]*Node, len(p.Own))
	for i, f := range p.Own {
		c.Own[i] = f.clone()
	}
	return &c
}

func (p *Program) size() int {
	n := p.Body.size()
	for _, f := range p.Own {
		n += f.size()
	}
	return n
}

// Source is the program as a file of package rnd, with F's name, and with as much of the
// library as it uses.
func (p *Program) Source() string {
	var b strings.Builder
	p.write(&b, "")
	return file(p.Old, b.String(), needed(b.String(), p.Exact))
}

// Batch is programs as files of package rnd, the functions F_0, F_1, …, those for an old
// version of Go in a second file.
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

// file is functions and declarations with the imports that they need.
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

// mark tells the names of the i-th program of a batch from those of others.
func mark(i int) string { return fmt.Sprintf("_%d", i) }

// Calls is a file with a variable calls, of functions that call those of [Batch] with an
// [Input] and give what [Case.Run] gives.
func Calls(list []*Program) string {
	var b, table strings.Builder
	table.WriteString("var calls = []func(mem, numbers []float64, w [][3]int, n int) (floats []float64, ints []int){\n")
	for i, p := range list {
		b.WriteString(p.caller(mark(i)))
		fmt.Fprintf(&table, "\tCall%s,\n", mark(i))
	}
	return "package rnd\n\n" + b.String() + table.String() + "}\n"
}
