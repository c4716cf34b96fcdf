package gen

import (
	"fmt"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/lower"
	"github.com/nabla-ad/nabla/internal/spelling"
)

// misplaced adds problems for directives that do not exist, that have no function or no meaning for it, and for
// functions whose directives contradict each other.
func (u *home) misplaced() {
	for _, d := range u.program.lower.Directives() {
		if d.In != u.pkg.Types || d.Name == "checkpoint" {
			continue
		}
		p := &Problem{Pos: d.Pos, Severity: Error}
		switch {
		case strings.HasPrefix(d.Name, "//"):
			p.Reason = d.Name + " is an ordinary comment, because of the space"
			p.Remedy = "write //" + strings.TrimLeft(d.Name[2:], " ")
			p.Severity = Warning
		case !slices.Contains(lower.DirectiveNames, d.Name):
			p.Reason = "there is no directive //nabla:" + d.Name
			p.Remedy = meant(d.Name, lower.DirectiveNames) + "the directives are //nabla:" +
				strings.Join(lower.DirectiveNames, ", //nabla:")
		case d.Func == nil && d.Var != nil && d.Name == "differentiate":
			p.Reason = "//nabla:differentiate is above the variable " + d.Var.Name() +
				", and which function it holds is not known"
			p.Remedy = "declare a function, or assign a function literal in the declaration of the variable only"
		case d.Func == nil:
			p.Reason, p.Remedy = "//nabla:"+d.Name+
				" is not above a function", "put it into the doc comment of a function"
		case d.Name == "norule":
			u.noRules(d)
			continue
		case d.Name != "differentiate":
			if d.Name != "passive" || d.Args == "" {
				continue
			}
			p.Func, p.Pos = d.Func.Name(), d.Words()[0].Pos
			p.Reason = "//nabla:passive takes no arguments, and here is " + strconv.Quote(d.Args)
			p.Remedy = "put remarks into another line; passive=a,b for single parameters belongs to //nabla:rule"
		case generic(d.Func):
			p.Func = d.Func.Name()
			p.Reason = "//nabla:differentiate is above a generic function"
			p.Remedy = "mark a function that calls it, or pass an instance such as " +
				d.Func.Name() + "[float64] to an operator"
		case u.passive(d.Func):
			p.Func = d.Func.Name()
			p.Reason, p.Remedy = "it is both to be differentiated and passive", "remove one of "+
				"//nabla:differentiate and //nabla:passive"
		default:
			continue
		}
		u.problem(p)
	}
}

// meant returns "did you mean NAME? " with the name that is nearest to got, or "" if none is near.
func meant(got string, names []string) string {
	if name := spelling.Nearest(got, names); name != "" {
		return "did you mean " + name + "? "
	}
	return ""
}

// directivesOf returns the directives //nabla:differentiate of t.
func (u *home) directivesOf(t *target) (list []lower.Directive) {
	for _, d := range u.program.lower.Directives() {
		if d.Name == "differentiate" && d.Func == t.Func {
			list = append(list, d)
		}
	}
	return list
}

const wrtForm = "write //nabla:differentiate, //nabla:differentiate wrt=a,b with names of parameters, or " +
	"//nabla:differentiate gradient with names of operators"

// arguments returns what the directive of t lists: the parameters to differentiate with respect to, and the derivatives
// that the operators need. Both are empty if it lists none. The problems are those of the directive.
func (u *home) arguments(t *target) (mask activity.Mask, asked demand, list []*Problem) {
	problem := func(w lower.Word, reason, remedy string) {
		list = append(list, &Problem{w.Pos, t.of, reason, remedy, Error})
	}
	directives := u.directivesOf(t)
	if len(directives) > 1 {
		problem(lower.Word{Pos: directives[1].Pos}, "it has two comments //nabla:differentiate", "remove one of them")
		return mask, 0, list
	}
	given := false
	for _, d := range directives {
		for _, w := range d.Words() {
			parts := w.Split("=")
			key := parts[0].Text
			operator := slices.Index(operatorWords(), w.Text)
			switch {
			case operator >= 0:
				asked |= operators[operator].demand
				t.words = append(t.words, w.Text)
			case key != "wrt":
				problem(w, strconv.Quote(w.Text)+" is no argument of //nabla:differentiate",
					meant(key, append(operatorWords(), "wrt"))+wrtForm)
			case len(parts) != 2:
				problem(w, strconv.Quote(w.Text)+" is no list of parameters", wrtForm)
			case given:
				problem(w, "wrt= is given twice", "write one list, as in wrt=a,b")
			default:
				given = true
				for _, name := range parts[1].Split(",") {
					i, reason, remedy := t.active(name.Text)
					if reason == "" && mask.Has(i) {
						reason, remedy = "wrt= lists "+name.Text+" twice", "list it once"
					}
					if reason != "" {
						problem(name, reason, remedy)
						continue
					}
					mask = mask.With(i)
				}
			}
		}
	}
	return mask, asked, list
}

// active returns the index of the parameter with that name, or why derivatives with respect to it are not possible.
func (t *target) active(name string) (i int, reason, remedy string) {
	var able, names []string
	i = -1
	for k, v := range t.f.Params {
		if v.Object == nil || v.Object.Name() == "" || v.Object.Name() == "_" {
			continue
		}
		if v.Object.Name() == name {
			i = k
		}
		names = append(names, v.Object.Name())
		if activity.HasFloats(v.Type) {
			able = append(able, v.Object.Name())
		}
	}
	have := "parameters with floats: " + strings.Join(able, ", ")
	if len(able) == 0 {
		have = "it has no named parameter with floats"
	}
	root, _, part := strings.Cut(name, ".")
	switch {
	case i >= 0 && activity.HasFloats(t.f.Params[i].Type):
		return i, "", ""
	case i >= 0:
		qualifier := types.RelativeTo(t.Func.Pkg())
		return i, fmt.Sprintf("wrt= lists %s of type %s, which carries no derivative", name,
			types.TypeString(t.f.Params[i].Type, qualifier)), have
	case name == "":
		return i, "wrt= has an empty name", "separate names by commas only, as in wrt=a,b; " + have
	case part && slices.Contains(names, root):
		return i, fmt.Sprintf("wrt= lists %s, and a parameter such as %s carries derivatives as a whole", name, root),
			fmt.Sprintf("list %s, or make %s a parameter of its own", root, name)
	}
	return i, fmt.Sprintf("wrt= lists %s, and it has no parameter of that name", name), meant(name, names) + have
}

// data returns the names of the parameters with floats that carry no derivatives since the directive of t lists others.
func (t *target) data() (names []string) {
	if t.wrt.Empty() {
		return nil
	}
	for i, v := range t.f.Params {
		if !t.mask.Has(i) && activity.HasFloats(v.Type) {
			names = append(names, v.Name)
		}
	}
	return names
}

// choose sets the shape of t and the parameters that carry derivatives: those that the directive lists, otherwise those
// of its shape, otherwise all that can. A function of two structs has its shape without a list if an operator takes it
// in this package; the generated functions of others are for direct calls too. A function whose list lacks a parameter
// that operators differentiate with respect to is registered with that as the reason why it has no code.
func (u *home) choose(t *target) {
	t.shape = shapeOf(t.f)
	switch {
	case t.wrt.Empty() && t.shape != nil && (!t.shape.ambiguous() || t.Operator != "" || t.Passed != nil):
		t.mask = t.shape.mask()
	case t.wrt.Empty():
		for i, v := range t.f.Params {
			if activity.HasFloats(v.Type) {
				t.mask = t.mask.With(i)
			}
		}
	case t.shape == nil:
		t.mask = t.wrt
	case t.wrt.Has(t.shape.x):
		t.mask = t.wrt.Or(t.shape.mask())
	default:
		t.mask = t.wrt
		refused := *t
		t.shape = nil
		x := t.f.Params[refused.shape.x].Name
		p := &Problem{u.directivesOf(t)[0].Pos, t.of, "//nabla:differentiate lists " +
			strings.Join(t.listed(), ", ") + ", and operators differentiate with respect to " + x,
			"list " + x + " too, or pass a function that calls it", Warning}
		if refused.registers() {
			refused.why = map[string]string{"Adjoint": words([]*Problem{p})}
			u.ungenerated = append(u.ungenerated, &refused)
		}
		if t.Passed != nil {
			p.Pos = t.Passed.Pos
			u.problem(p)
		}
	}
}

// listed returns the names of the parameters that the directive of t lists.
func (t *target) listed() (names []string) {
	for i, v := range t.f.Params {
		if t.wrt.Has(i) {
			names = append(names, v.Name)
		}
	}
	return names
}
