package main

import (
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// writeDriver writes a program that makes a check.Case of each function, compares its derivatives with differences, and
// prints the results, beginning with the function that is its argument.
func writeDriver(dir string, list []*function) error {
	var s strings.Builder
	s.WriteString("package main\n\nimport (\n\"encoding/json\"\n\"os\"\n\n\"github.com/nabla-ad/nabla/corpus/check\"\n")
	alias := map[string]string{}
	for _, f := range list {
		if alias[f.dir] == "" {
			alias[f.dir] = fmt.Sprintf("p%d", len(alias))
			fmt.Fprintf(&s, "%s %q\n", alias[f.dir], "github.com/nabla-ad/nabla/corpus/"+f.dir)
		}
	}
	s.WriteString(`)

func main() {
	started := false
	for _, c := range cases {
		started = started || c.Name == os.Args[1]
		if started {
			if err := json.NewEncoder(os.Stdout).Encode(check.Run(&c)); err != nil {
				panic(err)
			}
		}
	}
}

func try(err error) {
	if err != nil {
		panic(err)
	}
}

var cases = []check.Case{
`)
	for _, f := range list {
		f.writeCase(&s, alias[f.dir])
	}
	s.WriteString("}\n")
	text, err := format.Source([]byte(s.String()))
	if err != nil {
		return fmt.Errorf("%w\n%s", err, s.String())
	}
	to := filepath.Join(dir, "driver_main")
	if err := os.MkdirAll(to, 0o777); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, "main.go"), text, 0o666)
}

// writeCase writes f as an element of a []check.Case.
func (f *function) writeCase(s *strings.Builder, pkg string) {
	// type of a parameter
	typ := func(sh shape) string {
		if sh.local {
			return pkg + "." + sh.typ
		}
		return sh.typ
	}
	// vars declares variables name0, … with the numbers of the vector from, one for each shape.
	vars := func(shapes []shape, name, from string) {
		n, behind := 0, 0
		for _, sh := range shapes {
			behind += len(sh.leaves)
		}
		sliced := false
		for i, sh := range shapes {
			if sh.slice {
				fmt.Fprintf(s, "%s%d := %s[%d:len(%s)-%d]\n", name, i, from, n, from, behind-n)
				sliced = true
				continue
			}
			fmt.Fprintf(s, "var %s%d %s\n", name, i, typ(sh))
			for _, leaf := range sh.leaves {
				index := fmt.Sprint(n)
				if sliced {
					index = fmt.Sprintf("len(%s)-%d", from, behind-n)
				}
				fmt.Fprintf(s, "%s%d%s = %s[%s]\n", name, i, leaf, from, index)
				n++
			}
		}
	}
	// flat appends the numbers of variables to a vector.
	flat := func(shapes []shape, name, to string) {
		for i, sh := range shapes {
			if sh.slice {
				fmt.Fprintf(s, "%s = append(%s, %s%d...)\n", to, to, name, i)
			}
			for _, leaf := range sh.leaves {
				fmt.Fprintf(s, "%s = append(%s, %s%d%s)\n", to, to, name, i, leaf)
			}
		}
	}
	names := func(shapes []shape, name string, which func(shape) bool) (list []string) {
		for i, sh := range shapes {
			if which == nil || which(sh) {
				list = append(list, fmt.Sprintf("%s%d", name, i))
			}
		}
		return list
	}
	isSlice := func(sh shape) bool { return sh.slice }
	isValue := func(sh shape) bool { return !sh.slice }
	// call calls a derivative. The leading arguments and results are those of every derivative of its kind. The others
	// are matched by name: some are missing if they are zero, and there may be tangents of seeds and of the workspace.
	call := func(suffix string, results, args []string, moreResults, moreArgs []string) {
		g := f.signatures[f.ident+suffix]
		if suffix != "" {
			if f.fails { // the error is the last result
				results = slices.DeleteFunc(results, func(name string) bool { return name == "err" })
				g.Results = g.Results[:len(g.Results)-1]
			}
			used := map[string]bool{}
			for _, v := range g.Results[min(len(results), len(g.Results)):] {
				results = append(results, match(v.Name, moreResults, used, "_"))
			}
			used = map[string]bool{}
			for _, v := range g.Params[min(len(args), len(g.Params)):] {
				args = append(args, match(v.Name, moreArgs, used, v.Zero))
			}
			if f.fails {
				results = append(results, "err")
			}
		}
		fmt.Fprintf(s, "%s = %s.%s%s(%s)\n", strings.Join(results, ", "), pkg, f.ident, suffix,
			strings.Join(args, ", "))
		if f.fails {
			s.WriteString("try(err)\n")
		}
	}
	// declare declares zero variables for results.
	declare := func(shapes []shape, name string, which func(shape) bool) {
		for i, sh := range shapes {
			if which == nil || which(sh) {
				fmt.Fprintf(s, "var %s%d %s\n", name, i, typ(sh))
			}
		}
	}
	declareValues := func() {
		declare(f.results, "r", nil)
		if f.fails {
			s.WriteString("var err error\n")
		}
	}
	values := func() []string {
		list := names(f.results, "r", nil)
		if f.fails {
			list = append(list, "err")
		}
		return list
	}
	// shadows declares zero slices for slice parameters.
	shadows := func(name string) {
		for i, sh := range f.params {
			if sh.slice {
				fmt.Fprintf(s, "%s%d := make([]float64, len(x%d))\n", name, i, i)
			}
		}
	}
	join := func(lists ...[]string) (all []string) {
		for _, l := range lists {
			all = append(all, l...)
		}
		return all
	}

	fmt.Fprintf(s, "{\nName: %q,\nAt: %#v,\nTolerance: %g,\n", f.name(), f.at, f.tolerance)
	s.WriteString("F: func(x []float64) (y []float64) {\n")
	vars(f.params, "x", "x")
	declareValues()
	call("", values(), names(f.params, "x", nil), nil, nil)
	flat(f.results, "r", "y")
	s.WriteString("return y\n},\nTangent: func(x, d []float64) (y, dy []float64) {\n")
	vars(f.params, "x", "x")
	vars(f.params, "d", "d")
	declareValues()
	declare(f.results, "rd", nil)
	g := f.signatures[f.ident+"Tangent"]
	dots := names(f.results, "rd", nil)
	if n := len(values()); len(g.Results) < n+len(dots) { // of results that depend on no parameter
		dots = nil
		for i, v := range g.Results[:len(f.results)] {
			for _, dot := range g.Results[len(f.results):] {
				if base(dot.Name) == base(v.Name)+"Dot" {
					dots = append(dots, fmt.Sprintf("rd%d", i))
				}
			}
		}
	}
	call("Tangent", join(values(), dots), join(names(f.params, "x", nil), names(f.params, "d", nil)), nil, nil)
	flat(f.results, "r", "y")
	flat(f.results, "rd", "dy")
	s.WriteString("return y, dy\n},\nAdjoint: func(x, w []float64) (y, bar []float64) {\n")
	vars(f.params, "x", "x")
	vars(f.results, "w", "w")
	shadows("b")
	declareValues()
	declare(f.params, "b", isValue)
	reverse := join(names(f.params, "x", nil), names(f.params, "b", isSlice), names(f.results, "w", nil),
		[]string{"nil"})
	call("Adjoint", values(), reverse, f.shadowNames("b", "Bar"), nil)
	flat(f.results, "r", "y")
	flat(f.params, "b", "bar")
	s.WriteString("return y, bar\n},\nSecond: func(x, w, d []float64) (bar, dbar []float64) {\n")
	vars(f.params, "x", "x")
	vars(f.results, "w", "w")
	vars(f.params, "d", "d")
	shadows("b")
	shadows("bd")
	declareValues()
	declare(f.params, "b", isValue)
	declare(f.params, "bd", isValue)
	call("AdjointTangent", values(), reverse, join(f.shadowNames("b", "Bar"), f.shadowNames("bd", "BarDot")),
		join(f.shadowNames("d", "Dot"), f.shadowNames("bd", "BarDot")))
	for _, r := range names(f.results, "r", nil) {
		fmt.Fprintf(s, "_ = %s\n", r)
	}
	for _, r := range names(f.params, "d", nil) {
		fmt.Fprintf(s, "_ = %s\n", r)
	}
	flat(f.params, "b", "bar")
	flat(f.params, "bd", "dbar")
	s.WriteString("return bar, dbar\n},\n},\n")
}

// shadowNames returns pairs of a name in generated code and a variable of the driver, name=variable, for the shadows of
// the parameters.
func (f *function) shadowNames(variable, suffix string) (list []string) {
	for i, name := range f.names {
		list = append(list, fmt.Sprintf("%s%s=%s%d", name, suffix, variable, i))
	}
	return list
}

// match returns the variable for a parameter or result of generated code, and other if there is none. The name may have
// additional digits. A variable is used once.
func match(name string, pairs []string, used map[string]bool, other string) string {
	for _, same := range []func(string) bool{
		func(left string) bool { return left == name },
		func(left string) bool { return base(left) == base(name) },
	} {
		for _, p := range pairs {
			if left, right, _ := strings.Cut(p, "="); same(left) && !used[right] {
				used[right] = true
				return right
			}
		}
	}
	return other
}

// base removes the digits that make the names of generated code unique.
func base(name string) string {
	s := strings.TrimRight(name, "0123456789")
	for _, suffix := range []string{"BarDot", "Bar", "Dot"} {
		if rest, ok := strings.CutSuffix(s, suffix); ok {
			return strings.TrimRight(rest, "0123456789") + suffix
		}
	}
	return s
}
