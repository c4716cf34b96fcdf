package ir

import (
	"go/types"
	"strings"
)

// A mapping is a map of the evaluator. Its keys are in the order in which they were added, so that evaluations are
// repeatable: Go's order is random.
type mapping struct{ keys, elems []Value }

// find returns the position of a key, -1 if there is none.
func (m *mapping) find(k Value, of types.Type) int {
	if m != nil {
		for i, x := range m.keys {
			if equal(x, k, of) {
				return i
			}
		}
	}
	return -1
}

// callRuntime performs calls of the functions of package rt for maps and package variables. It reports whether r is one
// of them.
func callRuntime(r *Rule, args []Value) (results []Value, ok bool) {
	if r.Object == nil || !strings.HasSuffix(r.Object.Pkg().Path(), "/gen/rt") {
		return nil, false
	}
	sig, name := r.Object.Signature(), r.Object.Name()
	switch name {
	case "MakeMap":
		return []Value{{ref: &mapping{}}}, true
	case "SetVariable", "SetSlice":
		// The memory of a slice is kept by SetSlice, which no function can observe: nothing else refers to it.
		args[0].pointer().assign(*args[1].pointer())
		return nil, true
	}
	if !strings.HasPrefix(name, "Map") || len(args) == 0 {
		return nil, false
	}
	t, isMap := sig.Params().At(0).Type().Underlying().(*types.Map)
	if !isMap {
		return nil, false
	}
	m, _ := args[0].ref.(*mapping)
	switch name {
	case "MapGet":
		if i := m.find(args[1], t.Key()); i >= 0 {
			return []Value{m.elems[i].clone(), boolValue(true)}, true
		}
		return []Value{zeroValue(t.Elem()), boolValue(false)}, true
	case "MapSet":
		if m == nil {
			panic(runtimePanic("assignment to entry in nil map"))
		}
		if i := m.find(args[1], t.Key()); i >= 0 {
			m.elems[i] = args[2].clone()
		} else {
			m.keys, m.elems = append(m.keys, args[1].clone()), append(m.elems, args[2].clone())
		}
	case "MapDelete":
		if i := m.find(args[1], t.Key()); i >= 0 {
			m.keys = append(m.keys[:i:i], m.keys[i+1:]...)
			m.elems = append(m.elems[:i:i], m.elems[i+1:]...)
		}
	case "MapClear":
		if m != nil {
			m.keys, m.elems = nil, nil
		}
	case "MapLen":
		if m == nil {
			return []Value{intValue(0)}, true
		}
		return []Value{intValue(int64(len(m.keys)))}, true
	case "MapKeys":
		var keys slice
		if m != nil {
			for _, k := range m.keys {
				keys = append(keys, k.clone())
			}
		}
		return []Value{sliceValue(keys)}, true
	default:
		return nil, false
	}
	return nil, true
}
