package lower

import "github.com/nabla-ad/nabla/gen/ir"

// effects says behind which of its parameters a function may write memory, and behind
// which it may read some. It says too much rather than too little.
func effects(f *ir.Func) (write, read []bool) {
	e := &effect{done: map[*ir.Func]*effectOf{}}
	// Functions that call each other are gone through until nothing is added.
	for again := true; again; {
		e.changed = false
		e.visited = map[*ir.Func]bool{}
		e.function(f)
		again = e.changed
	}
	s := e.done[f]
	return s.write, s.read
}

type effect struct {
	done    map[*ir.Func]*effectOf
	visited map[*ir.Func]bool
	changed bool
}

// effectOf is what is known of a function: of its variables, the parameters whose memory
// they may lead to, a bit for each.
type effectOf struct {
	write, read []bool
	from        map[*ir.Var]map[int]bool
}

func (e *effect) function(f *ir.Func) *effectOf {
	s := e.done[f]
	if s == nil {
		s = &effectOf{write: make([]bool, len(f.Params)), read: make([]bool, len(f.Params)), from: map[*ir.Var]map[int]bool{}}
		for i, v := range f.Params {
			s.from[v] = map[int]bool{i: true}
		}
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

func (e *effect) mark(s *effectOf, list []bool, v *ir.Var) {
	for i := range s.from[v] {
		if !list[i] {
			list[i], e.changed = true, true
		}
	}
}

// flow says that v may lead to what x leads to, and the other way round where x is
// stored in memory that v leads to.
func (e *effect) flow(s *effectOf, v *ir.Var, x ir.Expr) {
	if v == nil || x == nil {
		return
	}
	for _, w := range roots(x) {
		for i := range s.from[w] {
			if s.from[v] == nil {
				s.from[v] = map[int]bool{}
			}
			if !s.from[v][i] {
				s.from[v][i], e.changed = true, true
			}
		}
	}
}

// roots are the variables that an expression mentions.
func roots(x ir.Expr) (out []*ir.Var) {
	ir.WalkExpr(x, func(x ir.Expr) bool {
		if p := ir.PlaceOf(x); p != nil {
			out = append(out, p.Root)
		}
		return true
	})
	return out
}

func (e *effect) stmt(s *effectOf, st ir.Stmt) {
	fx := ir.EffectOf(st)
	for _, p := range fx.Reads {
		if p.Behind() || len(p.Path) > 0 && p.Path[len(p.Path)-1].Field == ir.AnyStep().Field {
			e.mark(s, s.read, p.Root)
		}
	}
	for _, p := range fx.Writes {
		if p.Behind() {
			e.mark(s, s.write, p.Root)
		}
	}
	call, isCall := st.(*ir.Call)
	if !isCall {
		for _, x := range fx.Through {
			for _, v := range roots(x) {
				e.mark(s, s.write, v)
			}
		}
	}
	switch st := st.(type) {
	case *ir.Let:
		e.flow(s, st.V, st.E)
	case *ir.Set:
		e.flow(s, st.P.Root, st.E)
	case *ir.Append:
		e.flow(s, st.P.Root, st.S)
		for _, x := range st.Elems {
			e.flow(s, st.P.Root, x)
		}
	case *ir.Copy: // of headers
		for _, v := range roots(st.Dst) {
			e.flow(s, v, st.Src)
		}
	case *ir.Call:
		e.call(s, call)
	}
}

func (e *effect) call(s *effectOf, c *ir.Call) {
	writes := func(i int) bool { return c.Callee.Rule.Writes(i) }
	reads := func(int) bool { return true }
	if f := c.Callee.Func; f != nil {
		t := e.function(f)
		writes = func(i int) bool { return t.write[i] }
		reads = func(i int) bool { return t.read[i] }
	}
	for i, a := range c.Args {
		for _, v := range roots(a) {
			if writes(i) {
				e.mark(s, s.write, v)
				for j, b := range c.Args { // it may store one behind the other
					if j != i {
						e.flow(s, v, b)
					}
				}
			}
			if reads(i) {
				e.mark(s, s.read, v)
			}
		}
		for _, r := range c.Results {
			e.flow(s, r, a)
		}
	}
}
