package gen

import (
	"errors"
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/nabla-ad/nabla/gen/internal/lift"
	"github.com/nabla-ad/nabla/gen/lower"
)

// Functions that get no code, rewritten as declared functions.

// lifted returns the change that makes a declared function of an unmatched one. It returns nil and the reason if that
// is
// impossible, and nil, nil if the function is none that can be lifted.
func (p *Program) lifted(f lower.Unmatched) (*lift.Change, *lift.Refusal) {
	if f.Arg == nil {
		return nil, nil
	}
	c, err := lift.Of(lift.Request{Pkg: f.Pkg, File: f.File, Call: f.Call, Arg: f.Arg, Operator: f.Operator,
		Read: p.read})
	var refusal *lift.Refusal
	if errors.As(err, &refusal) {
		return nil, refusal
	}
	return c, nil
}

// rewrite returns the text of a change for a Problem. value is the function value in the call.
func rewrite(c *lift.Change, value ast.Expr) string {
	of := "the literal"
	if _, literal := ast.Unparen(value).(*ast.FuncLit); !literal {
		of = types.ExprString(value)
	}
	text := ""
	if c.Decls != "" {
		text = "// At package level:\n" + c.Decls + "\n"
	}
	if c.Define != "" {
		text += "// In place of the declaration of " + of + ":\n" + c.Define + "\n"
	}
	if name, _, declares := strings.Cut(c.Call, " := "); declares && name == of {
		return text + "// In place of the declaration of " + of + ":\n" + c.Call
	}
	return text + "// In the call, in place of " + of + ":\n" + c.Call
}

// Fix rewrites function literals and method values that are passed to operators, and for which no code can be
// generated,
// as declared functions, with the captured variables in structs that nabla.Bind binds. It returns the new contents of
// the
// source files that change, and writes nothing. Functions that it cannot rewrite are problems of [Program.Generate].
//
// It is an error if the new source does not compile.
func (p *Program) Fix() (files map[string][]byte, err error) {
	files = map[string][]byte{}
	for at := p; ; {
		round, err := at.fixes()
		if err != nil {
			return nil, err
		}
		if len(round) == 0 {
			return files, nil
		}
		maps.Copy(files, round)
		opts := p.opts
		opts.Load.Overlay = maps.Clone(p.opts.Load.Overlay)
		if opts.Load.Overlay == nil {
			opts.Load.Overlay = map[string][]byte{}
		}
		maps.Copy(opts.Load.Overlay, files)
		next, err := Load(p.dir, p.patterns, &opts)
		if err != nil {
			return nil, fmt.Errorf("the rewritten source: %w", err)
		}
		if e := added(at, next); e != nil {
			return nil, fmt.Errorf("the rewritten source does not compile, and nothing is written: %v", e)
		}
		at = next
	}
}

// fixes returns the files that change in one round; functions whose changes overlap wait for the next.
func (p *Program) fixes() (map[string][]byte, error) {
	targets := map[*types.Package][]lower.Target{}
	for _, t := range p.lower.Targets() {
		targets[t.In] = append(targets[t.In], t)
	}
	var list []*lift.Change
	for _, pkg := range p.pkgs {
		for _, f := range p.lower.Unmatched(pkg.Types, targets[pkg.Types]) {
			if c, _ := p.lifted(f); c != nil {
				list = append(list, c)
			}
		}
	}
	return lift.Apply(list, p.read)
}

// read returns the contents of a source file.
func (p *Program) read(name string) ([]byte, error) {
	if text, ok := p.opts.Load.Overlay[name]; ok {
		return text, nil
	}
	return os.ReadFile(name)
}

// added returns an error of the packages of q that those of p do not have, or nil.
func added(p, q *Program) error {
	var known []string
	for _, pkg := range p.pkgs {
		for _, e := range pkg.Errors {
			known = append(known, e.Msg)
		}
	}
	for _, pkg := range q.pkgs {
		for _, e := range pkg.Errors {
			if !slices.Contains(known, e.Msg) {
				return e
			}
		}
	}
	return nil
}
