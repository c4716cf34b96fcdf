package print

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// Code at the beginning of a function that checks or completes its arguments: slices that must not
// overlap, and shadows that may be nil.

// A DisjointCheck lists slice parameters of which those in Written must not share memory with any
// other. The function checks it at run time when it begins.
type DisjointCheck struct{ Written, Read []*ir.Var }

// disjointCheck prints a check by package rt. Slices of different types are compared as spans of
// bytes.
func (p *printer) disjointCheck(a DisjointCheck) {
	list := slices.Concat(a.Written, a.Read)
	var names, spans []string
	same := true
	for _, v := range list {
		names = append(names, p.name(v))
		same = same && types.Identical(elemOf(v), elemOf(list[0]))
	}
	all := strings.Join(names, ", ")
	if same {
		p.line("%s(%q, %q, %d, %s)", p.runtime("Apart"), p.file.names[p.f], all, len(a.Written), all)
		return
	}
	for _, name := range names {
		spans = append(spans, p.runtime("SpanOf")+"("+name+")")
	}
	p.line("%s(%q, %q, %d, %s)", p.runtime("SpansApart"), p.file.names[p.f], all, len(a.Written),
		strings.Join(spans, ", "))
}

// elemOf returns the element type of a slice variable.
func elemOf(v *ir.Var) types.Type { return v.Type.Underlying().(*types.Slice).Elem() }

// Shadows lists the shadows of parameters, for one direction or one seed. They may be nil, and so
// may slices and pointers in them: the function allocates missing ones when it begins.
type Shadows struct {
	// Primal[i] is the parameter whose shadow is Shadow[i].
	Primal, Shadow []*ir.Var
	// SlicesOnly is set if all are slices of numbers whose primals do not overlap, so that each
	// shadow can be allocated by itself.
	SlicesOnly bool
	// UsesCapacity is set if the function may use elements beyond the length of a slice.
	UsesCapacity bool
}

// completeShadows prints code that allocates missing shadows. Slices of numbers that the body does
// not use are not allocated. Otherwise a shadow must alias as its primal does: package rt builds it
// from all primals, the function calls itself with the complete shadows, and package rt copies the
// results back.
func (p *printer) completeShadows(s Shadows, body ir.Block) {
	if s.SlicesOnly {
		mentioned := ir.Vars(&ir.Func{Body: body})
		for i, v := range s.Shadow {
			if !slices.Contains(mentioned, v) {
				continue
			}
			of, name, behind := p.name(s.Primal[i]), p.name(v), ""
			if s.UsesCapacity {
				behind = ", cap(" + of + ")"
			}
			p.line("if %s == nil {\n%s = make(%s, len(%s)%s)\n}", name, name, p.typ(v.Type), of, behind)
		}
		return
	}
	var conds, locals, news []string
	whole := map[*ir.Var]string{}
	for i, v := range s.Shadow {
		of, name := p.name(s.Primal[i]), p.name(v)
		local := p.names.Name(v.Name + "Whole")
		conds, locals, whole[v] = append(conds,
			p.missingCondition(of, name, s.Primal[i].Type, v.Type, nil)), append(locals, local), local+".Shadow"
		news = append(news, fmt.Sprintf("%s(%s, %s)", p.runtime("MissingOf"), of, name))
	}
	// The function calls itself, since a deferred call would keep its results out of registers.
	var args, results []string
	for _, v := range p.f.Params {
		if w := whole[v]; w != "" {
			args = append(args, w)
		} else {
			args = append(args, p.name(v))
		}
	}
	for _, v := range errorLast(p.f.Results, p.f.Results) {
		results = append(results, p.name(v))
	}
	call := p.file.names[p.f] + "(" + strings.Join(args, ", ") + ")"
	if p.f.Variadic {
		call = strings.TrimSuffix(call, ")") + "...)"
	}
	if len(results) > 0 {
		call = strings.Join(results, ", ") + " = " + call
	}
	done := p.names.Name("done")
	p.line("if %s {\n%s := %s\n%s := %s(%s)\n%s\n%s()\nreturn\n}", strings.Join(conds, " || "),
		strings.Join(locals, ", "),
		strings.Join(news, ", "), done, p.runtime("Complete"), strings.Join(locals, ", "), call, done)
}

// missingCondition returns the condition that something is missing in the shadow of a value of type
// t from which floats can be reached. of and shadow are the texts of the two. The condition is
// printed inline, so that complete shadows cost little; package rt examines slices of slices,
// recursive types and structs with fields that the file cannot name. seen are the pointer types on
// the path, for recursion.
func (p *printer) missingCondition(of, shadow string, t, like types.Type, seen []types.Type) string {
	look := func(name, of, shadow string) string { return p.runtime(name) + "(" + of + ", " + shadow + ")" }
	missing := of + " != nil && " + shadow + " == nil"
	switch u := t.Underlying().(type) {
	case *types.Slice:
		rows, ok := u.Elem().Underlying().(*types.Slice)
		switch {
		case !ir.ReachesFloats(u.Elem()):
			return missing
		case ok && !ir.ReachesFloats(rows.Elem()) && types.Identical(u.Elem(), rows):
			return look("HollowRows", of, shadow)
		}
		return look("HollowSlice", of, shadow)
	case *types.Pointer:
		if !ir.ReachesFloats(u.Elem()) {
			return missing
		}
		// A struct is examined field by field, unless its type is recursive.
		same := func(s types.Type) bool { return types.Identical(s, t) }
		if st, ok := u.Elem().Underlying().(*types.Struct); ok && !slices.ContainsFunc(seen, same) {
			if inside := p.missingInFields(of, shadow, st, like.Underlying().(*types.Pointer).Elem(),
				append(seen, t)); inside != "" {
				return of + " != nil && (" + shadow + " == nil || " + inside + ")"
			}
		}
		return look("Hollow", of, shadow)
	case *types.Struct:
		if inside := p.missingInFields(of, shadow, u, like, seen); inside != "" {
			return inside
		}
	}
	return look("Hollow", "&"+of, "&"+shadow)
}

// missingInFields returns that condition for the fields of a struct, "" if the file cannot name all
// fields.
func (p *printer) missingInFields(of, shadow string, t *types.Struct, like types.Type, seen []types.Type) string {
	var list []string
	for f := range t.Fields() {
		if !ir.ReachesFloats(f.Type()) {
			continue
		}
		// Fields of types that the file declares are accessible whatever their names.
		if !p.visible(f) && !p.declaredStructs[t] || f.Name() == "_" {
			return ""
		}
		for g := range like.Underlying().(*types.Struct).Fields() {
			if g.Name() == f.Name() {
				list = append(list, p.missingCondition(of+"."+f.Name(), shadow+"."+f.Name(), f.Type(), g.Type(), seen))
			}
		}
	}
	return strings.Join(list, " || ")
}
