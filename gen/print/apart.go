package print

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
)

// DisjointCheck are slices that a function is given. Those that are written to may share memory
// with no other of them, which is tried where the function begins.
type DisjointCheck struct{ Written, Read []*ir.Var }

// apart prints the trial.
func (p *printer) apart(a DisjointCheck) {
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

func elemOf(v *ir.Var) types.Type { return v.Type.Underlying().(*types.Slice).Elem() }

// Shadows are parameters that hold derivatives of others: in one direction, or of one weighted sum. They may be nil,
// and so
// may slices and pointers in them. The function begins by making whatever is missing.
type Shadows struct {
	Primal, Shadow []*ir.Var
	// SlicesOnly means that they are slices of numbers, and that none need overlap another.
	SlicesOnly bool
	// UsesCapacity means that the function may use memory behind the length of a slice.
	UsesCapacity bool
}

// missing makes what is missing of shadows. Slices of numbers that the body does not
// mention are left alone.
func (p *printer) missing(s Shadows, body ir.Block) {
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
			p.hollow(of, name, s.Primal[i].Type, v.Type, nil)), append(locals, local), local+".Shadow"
		news = append(news, fmt.Sprintf("%s(%s, %s)", p.runtime("MissingOf"), of, name))
	}
	// The function calls itself: a deferred call would keep its results out of registers.
	var args, results []string
	for _, v := range p.f.Params {
		if w := whole[v]; w != "" {
			args = append(args, w)
		} else {
			args = append(args, p.name(v))
		}
	}
	for _, v := range p.f.Results {
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

// hollow is the condition that something is missing in the shadow of a value of type t, which leads to numbers. Package
// rt
// looks into slices of slices, and where types lead to themselves or have fields that the file cannot name.
func (p *printer) hollow(of, shadow string, t, like types.Type, seen []types.Type) string {
	look := func(name, of, shadow string) string { return p.runtime(name) + "(" + of + ", " + shadow + ")" }
	missing := of + " != nil && " + shadow + " == nil"
	switch u := t.Underlying().(type) {
	case *types.Slice:
		rows, ok := u.Elem().Underlying().(*types.Slice)
		switch {
		case !ir.LeadsToFloats(u.Elem()):
			return missing
		case ok && !ir.LeadsToFloats(rows.Elem()) && types.Identical(u.Elem(), rows):
			return look("HollowRows", of, shadow)
		}
		return look("HollowSlice", of, shadow)
	case *types.Pointer:
		if !ir.LeadsToFloats(u.Elem()) {
			return missing
		}
		same := func(s types.Type) bool { return types.Identical(s, t) }
		if st, ok := u.Elem().Underlying().(*types.Struct); ok && !slices.ContainsFunc(seen, same) {
			if inside := p.hollowFields(of, shadow, st, like.Underlying().(*types.Pointer).Elem(),
				append(seen, t)); inside != "" {
				return of + " != nil && (" + shadow + " == nil || " + inside + ")"
			}
		}
		return look("Hollow", of, shadow)
	case *types.Struct:
		if inside := p.hollowFields(of, shadow, u, like, seen); inside != "" {
			return inside
		}
	}
	return look("Hollow", "&"+of, "&"+shadow)
}

// hollowFields is that condition for the fields of a struct, empty if the file cannot name all of them.
func (p *printer) hollowFields(of, shadow string, t *types.Struct, like types.Type, seen []types.Type) string {
	var list []string
	for f := range t.Fields() {
		if !ir.LeadsToFloats(f.Type()) {
			continue
		}
		if !p.visible(f) && !p.owned[t] || f.Name() == "_" {
			return ""
		}
		for g := range like.Underlying().(*types.Struct).Fields() {
			if g.Name() == f.Name() {
				list = append(list, p.hollow(of+"."+f.Name(), shadow+"."+f.Name(), f.Type(), g.Type(), seen))
			}
		}
	}
	return strings.Join(list, " || ")
}
