// Command census measures how much of gonum nabla gen can differentiate: for each numeric package, how many functions
// have floats in and out, how many of these have a tangent and an adjoint, how many of the derivatives can be printed
// as Go source of another module, and the reasons of refusals.
//
//	go run ./gen/internal/census             the table
//	go run ./gen/internal/census -check      also compare derivatives with differences
//	go run ./gen/internal/census -list refused mat stat
//
// The last columns count the functions that another package can call, with a concrete type for each parameter of an
// interface type, a literal for each function, and the numbers of matrices and structs that are returned.
//
// The version of gonum is that of go.mod, built as by default, with assembly. Package names restrict the
// census to these packages.
package main

import (
	"flag"
	"fmt"
	"go/types"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/nabla-ad/nabla/gen/lower"
)

func main() {
	check := flag.Bool("check", false, "compare derivatives with differences")
	list := flag.String("list", "",
		"also print functions: refused, called, uncalled, unwritten, skipped, searches or all")
	match := flag.String("func", "", "only functions whose name contains this")
	flag.Parse()
	names := flag.Args()
	if len(names) == 0 {
		names = numeric
	}
	c, err := transformAll(".", names, *match, *check)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	c.print(os.Stdout, *check)
	c.list(os.Stdout, *list)
	if len(c.broken) > 0 {
		os.Exit(1)
	}
}

// A census holds the functions of each package and the errors found.
type census struct {
	packages []*packages.Package
	funcs    map[*packages.Package][]*transformed
	// mistakes of nabla gen
	broken []error
}

// transformAll transforms the functions of the named packages whose full names contain match, and compares their
// derivatives with differences if check is set.
func transformAll(dir string, names []string, match string, check bool) (*census, error) {
	pkgs, all, err := load(dir, names)
	if err != nil {
		return nil, err
	}
	c := &census{packages: pkgs, funcs: map[*packages.Package][]*transformed{}}
	g := newGlobals(pkgs)
	// Code is generated in a package of another module, which can name exported objects only.
	u := user(pkgs)
	counted := map[*packages.Package][]*types.Func{}
	var every []*types.Func
	for _, pkg := range pkgs {
		counted[pkg] = slices.DeleteFunc(functions(pkg), func(fn *types.Func) bool {
			return !strings.Contains(fn.FullName(), match)
		})
		every = append(every, counted[pkg]...)
	}
	calls, err := addCalls(u, every, all)
	if err != nil {
		return nil, err
	}
	p := lower.New([]*packages.Package{u}, lower.Options{})
	one := func(fn *types.Func, made, check bool) *transformed {
		t, err := transform(p, fn, u.Types)
		t.made = made
		if err == nil && t.ok() {
			err = t.write(u, all)
			if check {
				v := t.check(g)
				t.verdict = &v
				if v.outcome == disagreed {
					c.broken = append(c.broken, v.err)
				}
			}
		}
		if err != nil {
			c.broken = append(c.broken, err)
		}
		return t
	}
	for _, pkg := range pkgs {
		for _, fn := range counted[pkg] {
			to := calls[fn]
			t := one(fn, false, check && !(to != nil && made(fn)))
			t.exported = callable(fn)
			if to != nil && (made(fn) || !t.written) {
				t.called = one(to, made(fn), check)
				t.called.fn = fn
			}
			c.funcs[pkg] = append(c.funcs[pkg], t)
		}
	}
	return c, nil
}

// A row is a line of the table.
type row struct{ functions, lowered, tangent, adjoint, both, written, exported, called int }

// add counts t.
func (r *row) add(t *transformed) {
	count := func(n *int, is bool) {
		if is {
			*n++
		}
	}
	r.functions++
	count(&r.lowered, t.f != nil)
	count(&r.tangent, t.tangent != nil)
	count(&r.adjoint, t.adjoint != nil)
	count(&r.both, t.ok())
	count(&r.written, t.written)
	count(&r.exported, t.exported)
	count(&r.called, t.exported && (t.written || t.called != nil && t.called.written))
}

// print writes the tables.
func (c *census) print(w io.Writer, check bool) {
	line := func(name string, r row) {
		share := func(k, n int) float64 { return 100 * float64(k) / float64(max(1, n)) }
		fmt.Fprintf(w, "| %s | %d | %d | %d | %d | %d | %.0f %% | %d | %d | %d | %.0f %% |\n", name, r.functions,
			r.lowered, r.tangent, r.adjoint, r.both, share(r.both, r.functions), r.written, r.exported, r.called,
			share(r.called, r.exported))
	}
	fmt.Fprintln(w, "| package | functions | lowered | tangent | adjoint | both | share | in another module "+
		"| exported | as called | share |\n|---|---|---|---|---|---|---|---|---|---|---|")
	var all row
	for _, pkg := range c.packages {
		var r row
		for _, t := range c.funcs[pkg] {
			r.add(t)
			all.add(t)
		}
		line(strings.TrimPrefix(pkg.PkgPath, root), r)
	}
	line("all", all)

	if check {
		c.printChecks(w)
	}

	// A function is counted for each reason of its refusal, and separately if it has only one.
	type reason struct {
		text      string
		any, only int
	}
	var reasons []*reason
	of := map[string]*reason{}
	for _, list := range c.funcs {
		for _, t := range list {
			rs := t.reasons()
			for _, text := range rs {
				r := of[text]
				if r == nil {
					r = &reason{text: text}
					of[text] = r
					reasons = append(reasons, r)
				}
				r.any++
				if len(rs) == 1 {
					r.only++
				}
			}
		}
	}
	slices.SortFunc(reasons, func(a, b *reason) int {
		if a.any != b.any {
			return b.any - a.any
		}
		return strings.Compare(a.text, b.text)
	})
	fmt.Fprintln(w, "\n| reason of refusal | functions | only reason |\n|---|---|---|")
	for _, r := range reasons {
		fmt.Fprintf(w, "| %s | %d | %d |\n", r.text, r.any, r.only)
	}
	for _, err := range c.broken {
		fmt.Fprintf(w, "\nbug: %v\n", err)
	}
}

// printChecks writes the outcomes of the comparisons.
func (c *census) printChecks(w io.Writer) {
	count := map[string]int{}
	points := 0
	for _, list := range c.funcs {
		for _, t := range list {
			if v := t.compared(); v != nil {
				count[v.outcome]++
				points += v.points
			}
		}
	}
	fmt.Fprintln(w, "\n| derivatives against differences | functions |\n|---|---|")
	for _, o := range outcomes {
		fmt.Fprintf(w, "| %s | %d |\n", o, count[o])
	}
	fmt.Fprintf(w, "\n%d points agreed.\n", points)
}

// compared returns the verdict on t as users call it, if there is one, and else that on t, nil if there is none.
func (t *transformed) compared() *verdict {
	if t.called != nil && t.called.verdict != nil {
		return t.called.verdict
	}
	return t.verdict
}

// list writes the functions that which selects.
func (c *census) list(w io.Writer, which string) {
	for _, pkg := range c.packages {
		for _, t := range c.funcs[pkg] {
			switch {
			case which == "called" && t.called != nil && !t.called.written:
				fmt.Fprintf(w, "\n%s is refused as called:\n%v %v\n", t.fn.FullName(), t.called.err, t.called.printErr)
			case which == "uncalled" && t.exported && t.called == nil && !t.written:
				fmt.Fprintf(w, "%s has no caller\n", t.fn.FullName())
			case which == "refused" && t.err != nil:
				fmt.Fprintf(w, "\n%s is refused:\n%v\n", t.fn.FullName(), t.err)
			case which == "unwritten" && t.printErr != nil:
				fmt.Fprintf(w, "\n%s: %v\n", t.fn.FullName(), t.printErr)
			case which == "skipped" && t.compared() != nil && t.compared().outcome != agreed:
				fmt.Fprintf(w, "%s: %s %v\n", t.fn.FullName(), t.compared().outcome, t.compared().err)
			case which == "searches" && t.facts != nil:
				for _, s := range t.facts.Searches() {
					fmt.Fprintf(w, "%s: %s in %s at %s\n", t.fn.FullName(), s.Var, s.Func, s.Pos)
				}
			case which == "all":
				fmt.Fprintf(w, "%s %v %v\n", t.fn.FullName(), t.ok(), t.written)
			}
		}
	}
}
