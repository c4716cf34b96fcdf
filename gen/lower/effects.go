package lower

import (
	"go/types"

	"github.com/nabla-ad/nabla/gen/ir"
)

// effects says behind which of its parameters a function may write memory, and behind
// which it may read some. It says too much rather than too little: variables that can
// lead to the same memory are one class.
func effects(f *ir.Func) (write, read []bool) {
	e := &effect{done: map[*ir.Func]*effectOf{}}
	// Functions that call each other are gone through until nothing is added.
	for again := true; again; again = e.changed {
		e.changed, e.visited = false, map[*ir.Func]bool{}
		e.function(f)
	}
	s := e.done[f]
	for _, v := range f.Params {
		c := s.of(v)
		write, read = append(write, c.write), append(read, c.read)
	}
	return write, read
}

type effect struct {
	done    map[*ir.Func]*effectOf
	visited map[*ir.Func]bool
	changed bool
}

// effectOf is what is known of a function.
type effectOf struct{ classes map[*ir.Var]*class }

// class is a node of a union-find forest.
type class struct {
	up          *class
	write, read bool
}

func (s *effectOf) of(v *ir.Var) *class {
	c := s.classes[v]
	if c == nil {
		c = &class{}
		s.classes[v] = c
	}
	for c.up != nil {
		c = c.up
	}
	return c
}

func (e *effect) join(s *effectOf, v, w *ir.Var) {
	if a, b := s.of(v), s.of(w); a != b {
		b.up, e.changed = a, true
		a.write, a.read = a.write || b.write, a.read || b.read
	}
}

func (e *effect) wrote(s *effectOf, v *ir.Var) {
	if c := s.of(v); !c.write {
		c.write, e.changed = true, true
	}
}

func (e *effect) didRead(s *effectOf, v *ir.Var) {
	if c := s.of(v); !c.read {
		c.read, e.changed = true, true
	}
}

func (e *effect) function(f *ir.Func) *effectOf {
	s := e.done[f]
	if s == nil {
		s = &effectOf{classes: map[*ir.Var]*class{}}
		e.done[f] = s
	}
	if e.visited[f] {
		return s
	}
	e.visited[f] = true
	ir.Walk(f.Body, func(st ir.Stmt) bool {
		e.stmt(s, st)
		return true
	})
	return s
}

// flow says that x comes to stand in v or in memory that v leads to.
func (e *effect) flow(s *effectOf, v *ir.Var, x ir.Expr) {
	sources(x, func(w *ir.Var) { e.join(s, v, w) })
}

func (e *effect) stmt(s *effectOf, st ir.Stmt) {
	fx := ir.EffectOf(st)
	for _, p := range fx.Reads {
		if n := len(p.Path); n > 0 && p.Path[n-1].Field == ir.AnyStep().Field || p.Indirect() {
			e.didRead(s, p.Root)
		}
	}
	for _, p := range fx.Writes {
		if p.Indirect() {
			e.wrote(s, p.Root)
		}
	}
	call, isCall := st.(*ir.Call)
	if isCall {
		e.call(s, call)
		return
	}
	for _, x := range fx.Through {
		sources(x, func(v *ir.Var) { e.wrote(s, v) })
	}
	switch st := st.(type) {
	case *ir.Let:
		e.flow(s, st.V, st.E)
	case *ir.Set:
		e.flow(s, st.P.Root, st.E)
	case *ir.Append:
		e.flow(s, st.P.Root, st.S)
		for _, x := range st.Elems {
			if !st.Spread || headers(x) {
				e.flow(s, st.P.Root, x)
			}
		}
	case *ir.Copy:
		if headers(st.Src) {
			sources(st.Dst, func(v *ir.Var) { e.flow(s, v, st.Src) })
		}
	}
}

// headers says whether the elements of a slice can lead to memory.
func headers(x ir.Expr) bool {
	s, ok := x.Type().Underlying().(*types.Slice)
	return ok && leads(s.Elem())
}

func (e *effect) call(s *effectOf, c *ir.Call) {
	if c.Callee.Func == nil {
		e.rule(s, c)
		return
	}
	f := c.Callee.Func
	t := e.function(f)
	mine := map[*class]*ir.Var{} // of the callee's classes
	share := func(theirs, v *ir.Var) {
		if !leads(theirs.Type) {
			return
		}
		k := t.of(theirs)
		if k.write {
			e.wrote(s, v)
		}
		if k.read {
			e.didRead(s, v)
		}
		if w := mine[k]; w != nil {
			e.join(s, w, v)
		}
		mine[k] = v
	}
	for i, a := range c.Args {
		sources(a, func(v *ir.Var) { share(f.Params[i], v) })
	}
	for i, v := range c.Results {
		if v != nil {
			share(f.Results[i], v)
		}
	}
}

// rule is a call of which only a rule is known: headers may go from anywhere to all that
// it writes and gives.
func (e *effect) rule(s *effectOf, c *ir.Call) {
	var last *ir.Var
	all := false
	for _, v := range c.Results {
		all = all || v != nil && leads(v.Type)
	}
	for i, a := range c.Args {
		all = all || c.Callee.Rule.Writes(i) && leads(a.Type()) && !plainMemory(a.Type())
	}
	together := func(v *ir.Var) {
		if last != nil && all {
			e.join(s, last, v)
		}
		last = v
	}
	for i, a := range c.Args {
		sources(a, func(v *ir.Var) {
			if c.Callee.Rule.Writes(i) {
				e.wrote(s, v)
			}
			e.didRead(s, v)
			together(v)
		})
	}
	for _, v := range c.Results {
		if v != nil && leads(v.Type) {
			together(v)
		}
	}
}

// plainMemory says whether all that a value of type t leads to can hold no slices and
// pointers.
func plainMemory(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return !leads(u.Elem())
	case *types.Pointer:
		return !leads(u.Elem())
	case *types.Array:
		return plainMemory(u.Elem())
	case *types.Struct:
		for v := range u.Fields() {
			if !plainMemory(v.Type()) {
				return false
			}
		}
		return true
	}
	return !leads(t)
}
