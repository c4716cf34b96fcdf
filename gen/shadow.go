package gen

import (
	"fmt"
	"go/types"
	"strings"

	"github.com/nabla-ad/nabla/gen/ir"
	"github.com/nabla-ad/nabla/gen/print"
)

// shadowSuffix is the suffix of functions that return shadows.
const shadowSuffix = "Shadow"

// shadowed returns the parameters whose shadows the adjoint of t takes, if that of one of them is more than a slice of
// numbers: its shape takes more than a call of make.
func (t *target) shadowed() (list []*ir.Var) {
	needed := false
	for _, b := range t.built {
		if b.build != adjointBuild {
			continue
		}
		for _, r := range b.params {
			if r.slot != bar || r.result || r.work {
				continue
			}
			v := t.f.Params[r.of]
			if !ir.HasRefs(v.Type) {
				continue
			}
			s, ok := v.Type.Underlying().(*types.Slice)
			needed = needed || !ok || ir.HasRefs(s.Elem())
			list = append(list, v)
		}
	}
	if !needed {
		return nil
	}
	return list
}

// nameShadow reserves the name of the function that returns shadows for t, if there is to be one.
func (u *unit) nameShadow(t *target) {
	name := t.base + shadowSuffix
	if u.cyclic || len(t.shadowed()) == 0 || u.taken(name) != "" {
		return
	}
	u.names[name] = t.of
	t.shadow = name
}

// shadowFunc returns the function that returns shadows for t, "" if there is none.
func (t *target) shadowFunc(s *print.Scope) string {
	list := t.shadowed()
	if t.shadow == "" || len(list) == 0 {
		return ""
	}
	names := newNames(s)
	var params, results, values, of []string
	for _, v := range list {
		name := names.of(v.Name)
		params = append(params, name+" "+s.Type(v.Type))
		results = append(results, s.Type(v.Type))
		values = append(values, s.Object(types.NewPackage(rtPath, "rt"), "ShadowOf")+"("+name+")")
		of = append(of, name)
	}
	result := strings.Join(results, ", ")
	if len(results) > 1 {
		result = "(" + result + ")"
	}
	return fmt.Sprintf("// %s returns memory for derivatives with respect to %s: "+
		"zeros, in the shape of the arguments.\n"+
		"func %s(%s) %s {\nreturn %s\n}\n\n", t.shadow, strings.Join(of, ", "), t.shadow, strings.Join(params, ", "),
		result, strings.Join(values, ", "))
}
