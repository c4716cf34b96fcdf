package ir

import (
	"fmt"
	"runtime"
	"slices"
	"sort"
	"strings"
)

// The evaluator: a tree-walking interpreter. It is slow and direct, so that tests can compare
// compiled code and the results of passes with it. Panics of the evaluated function are
// *PanicErrors, which Eval recovers.

// A Machine holds the limits and the environment of evaluations. The zero Machine is ready to use.
// It must not be used by two goroutines at the same time.
type Machine struct {
	// Steps bounds the number of executed statements and loop iterations; 0 means ten million.
	Steps int
	// Depth bounds the number of nested calls; 0 means a thousand.
	Depth int
	// Globals maps names of package-level variables, package.Name, to their values, which the
	// evaluator does not modify.
	Globals map[string]Value
	// Rules maps names of rules to functions that perform their calls. Functions of package math
	// with two results, those of package checkpoint, and those of package rt for maps and package
	// variables are built in.
	Rules map[string]func(args []Value) (results []Value)
	// Numbers computes with numbers of a trace, which arguments may hold; see [NumberValue].
	Numbers Numbers

	// steps and depth are the statements and nested calls that the current evaluation has left.
	steps, depth int
	// running is the frame that executed a statement last.
	running *frame
}

// Eval evaluates f, which [Check] must accept, with Go's semantics: integers wrap, every float
// operation is rounded by itself, slices share memory, and append reallocates only if the capacity
// is exceeded, to twice the capacity if that is enough. Arguments of array or struct type are copied;
// memory that arguments refer to is modified in place.
//
// A panic is returned as a *[PanicError], and an evaluation of more than ten million steps as a
// *[LimitError]. If the evaluator itself fails, the error is that of Check for f or a callee, or an
// *[EvaluatorError] if all of them are well-formed.
func Eval(f *Func, args []Value) (results []Value, err error) {
	return new(Machine).Eval(f, args)
}

// Eval is like the function [Eval], with the limits and the environment of m.
func (m *Machine) Eval(f *Func, args []Value) (results []Value, err error) {
	if len(args) != len(f.Params) {
		return nil, fmt.Errorf("ir: %d arguments for %s, which has %d parameters", len(args), f.Name, len(f.Params))
	}
	if m.steps = m.Steps; m.steps == 0 {
		m.steps = 10_000_000
	}
	if m.depth = m.Depth; m.depth == 0 {
		m.depth = 1000
	}
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *PanicError:
			results, err = nil, e
		case *LimitError:
			results, err = nil, e
		case runtime.Error:
			results, err = nil, m.diagnose(f, e)
		case error:
			if e != errIllFormed {
				panic(e)
			}
			results, err = nil, m.diagnose(f, e)
		default:
			panic(e)
		}
	}()
	m.running = nil
	return m.call(f, args), nil
}

// diagnose returns the error for a failure of the evaluator in a call of f. If f or a callee is not
// well-formed, that is the cause, and the error is that of [Check]. Otherwise it is an
// *[EvaluatorError].
func (m *Machine) diagnose(f *Func, failure error) error {
	seen := map[*Func]bool{f: true}
	for list := []*Func{f}; len(list) > 0; list = list[1:] {
		if err := Check(list[0]); err != nil {
			return fmt.Errorf("%w: %w", errIllFormed, err)
		}
		Walk(list[0].Body, func(s Stmt) bool {
			if c, ok := s.(*Call); ok && c.Callee.Func != nil && !seen[c.Callee.Func] {
				seen[c.Callee.Func] = true
				list = append(list, c.Callee.Func)
			}
			return true
		})
	}
	e := &EvaluatorError{Func: f.Name, Err: failure}
	if fr := m.running; fr != nil {
		e.Func = fr.f.Name
		if fr.at != nil {
			e.Pos = fr.at.Position()
		}
	}
	return e
}

// call evaluates one call of f. Parts of arguments and results are copied.
func (m *Machine) call(f *Func, args []Value) []Value {
	if m.depth--; m.depth < 0 {
		panic(limitError("too many calls under way in %s", f.Name))
	}
	defer func() { m.depth++ }()
	fr := &frame{m: m, f: f, vars: make(map[*Var]*Value)}
	for i, v := range f.Params {
		fr.declare(v, args[i].clone())
	}
	for _, v := range f.Results {
		fr.declare(v, zeroValue(v.Type))
	}
	fr.block(f.Body)
	out := make([]Value, len(f.Results))
	for i, v := range f.Results {
		out[i] = fr.vars[v].clone()
	}
	return out
}

// A frame is the activation record of a call. vars maps variables to their storage, which
// declarations replace; at is the statement being executed, for the positions of panics.
type frame struct {
	m    *Machine
	f    *Func
	vars map[*Var]*Value
	at   Stmt
}

// declare creates a new variable for v, so that pointers to the previous one stay valid.
func (fr *frame) declare(v *Var, x Value) { fr.vars[v] = &x }

// lookup returns the variable for v, or a copy of the value of a package-level one.
func (fr *frame) lookup(v *Var) *Value {
	if x := fr.vars[v]; x != nil {
		return x
	}
	if v != nil && v.Kind == Global {
		if x, ok := fr.m.Globals[v.Name]; ok {
			return &x
		}
		if v.Init != nil {
			return &fr.m.call(v.Init, nil)[0]
		}
		panic(limitError("the variable %s has no value", v.Name))
	}
	panic(errIllFormed)
}

// block executes statements and returns the label that is left, nil if b completes normally.
func (fr *frame) block(b Block) *Label {
	for _, s := range b {
		if l := fr.stmt(s); l != nil {
			return l
		}
	}
	return nil
}

// step counts a statement or an iteration against the limit.
func (fr *frame) step() {
	if fr.m.steps--; fr.m.steps < 0 {
		panic(limitError("too many steps"))
	}
}

// stmt executes s and returns the label that is left, nil if s completes normally.
func (fr *frame) stmt(s Stmt) *Label {
	fr.step()
	fr.at, fr.m.running = s, fr
	switch s := s.(type) {
	case *If:
		if fr.expr(s.Cond).bool() {
			return fr.block(s.Then)
		}
		return fr.block(s.Else)
	case *Scope:
		if l := fr.block(s.Body); l != s.L {
			return l
		}
	case *Loop:
		return fr.loop(s)
	case *Leave:
		return s.L
	default:
		fr.simple(s)
	}
	return nil
}

// loop executes a loop and returns the label that is left, nil if the loop ends by itself or by its
// own label.
func (fr *frame) loop(s *Loop) *Label {
	var i, hi Value
	if s.V != nil {
		i, hi = fr.expr(s.Lo), fr.expr(s.Hi)
	}
	for {
		if s.V != nil {
			if s.Step > 0 && !less(i, hi, s.V.Type) || s.Step < 0 && !less(hi, i, s.V.Type) {
				return nil
			}
			fr.declare(s.V, i)
		}
		fr.step()
		switch l := fr.block(s.Body); l {
		case nil, s.Next:
		case s.L:
			return nil
		default:
			return l
		}
		if s.V != nil {
			next := wrap(intValue(i.int()+s.Step), basic(s.V.Type).Kind())
			if less(next, i, s.V.Type) != (s.Step < 0) {
				panic(limitError("the index %s overflows", s.V.Name))
			}
			i = next
		}
	}
}

// simple executes a statement without blocks. The operands of a target are evaluated before the
// right side, and its memory is resolved after it, as Go does.
func (fr *frame) simple(s Stmt) {
	switch s := s.(type) {
	case *Let:
		if s.E == nil {
			fr.declare(s.V, zeroValue(s.V.Type))
		} else {
			fr.declare(s.V, fr.assigned(s.E, s.V.Type).clone())
		}
	case *Set:
		at := fr.resolve(s.P)
		x := fr.assigned(s.E, s.P.Type()).clone()
		at.find().assign(x)
	case *Add:
		at := fr.resolve(s.P)
		x := fr.expr(s.E)
		dst := at.find()
		if traced(*dst, x) {
			*dst = fr.m.numbers(additionOp.String(), *dst, x)
			return
		}
		*dst = arith(additionOp, *dst, x, s.P.Type())
	case *Call:
		fr.callStmt(s)
	case *Append:
		fr.appendStmt(s)
	case *Copy:
		dst, src := fr.expr(s.Dst).slice(), fr.expr(s.Src)
		from := src.slice()
		if IsString(s.Src.Type()) {
			from = stringToSlice(src.string(), ElemOf(s.Dst.Type())).slice()
		}
		n := copyValues(dst, from)
		if s.N != nil {
			fr.lookup(s.N).assign(intValue(int64(n)))
		}
	case *Clear:
		of := ElemOf(s.S.Type())
		for _, x := range indexed(fr.expr(s.S).slice()) {
			x.assign(zeroValue(of))
		}
	case *Batch:
		fr.batch(s)
	case *Panic:
		fr.panicStmt(s)
	default:
		panic(errIllFormed)
	}
}

// batch executes s.
func (fr *frame) batch(s *Batch) {
	dst := fr.expr(s.Dst).slice()
	args := make([]slice, len(s.Args))
	for i, e := range s.Args {
		args[i] = fr.expr(e).slice()
		if len(args[i]) != len(dst) {
			panic(errIllFormed)
		}
	}
	for i, to := range indexed(dst) {
		list := make([]Value, len(args))
		for k, a := range args {
			list[k] = a[i]
		}
		to.assign(elementaryValue(s.Name, list))
	}
}

// indexed returns pointers to the elements of s.
func indexed(s slice) []*Value {
	out := make([]*Value, len(s))
	for i := range s {
		out[i] = &s[i]
	}
	return out
}

// callStmt executes a call of a function, or of a rule by its evaluation.
func (fr *frame) callStmt(s *Call) {
	args := make([]Value, len(s.Args))
	for i, e := range s.Args {
		if f := s.Callee.Func; f != nil {
			args[i] = fr.assigned(e, f.Params[i].Type).clone()
		} else {
			args[i] = fr.expr(e).clone()
		}
	}
	var results []Value
	if f := s.Callee.Func; f != nil {
		results = fr.m.call(f, args)
	} else {
		rule := fr.m.Rules[s.Callee.Rule.Name]
		if rule == nil {
			rule = pairFuncs[s.Callee.Rule.Name]
		}
		if rule == nil {
			rule = scheduleFuncs[s.Callee.Rule.Name]
		}
		if rule == nil && s.Callee.Rule.Calls != nil {
			rule = func(args []Value) []Value { return fr.m.order(s.Callee.Rule, args) }
		}
		if rule != nil {
			results = rule(args)
		} else if list, ok := callRuntime(s.Callee.Rule, args); ok {
			results = list
		} else {
			panic(limitError("no rule %s", s.Callee.Rule.Name))
		}
	}
	fr.at, fr.m.running = s, fr
	for i, v := range s.Results {
		if v == nil {
			continue
		}
		x := results[i]
		if f := s.Callee.Func; f != nil {
			x = box(x, f.Results[i].Type, v.Type)
		}
		fr.lookup(v).assign(x)
	}
}

// order performs a call of a function of package rt that returns the order of a sorted slice, see [Rule.Calls].
func (m *Machine) order(r *Rule, args []Value) []Value {
	call := func(i, j int) Value {
		return m.call(r.Calls, append([]Value{intValue(int64(i)), intValue(int64(j))}, args[1:]...))[0]
	}
	n := int(args[0].int())
	moved := &moves{less: func(i, j int) bool { return call(i, j).bool() }}
	if strings.HasPrefix(r.Object.Name(), "SortSlice") {
		moved.s = args[0].slice()
		n = len(moved.s)
	}
	for i := range n {
		moved.order = append(moved.order, i)
	}
	compare := func(i, j int) int { return int(call(i, j).int()) }
	switch r.Object.Name() {
	case "Order":
		slices.SortFunc(moved.order, compare)
	case "OrderStable":
		slices.SortStableFunc(moved.order, compare)
	case "SortSlice":
		sort.Sort(moved)
	case "SortSliceStable":
		sort.Stable(moved)
	default:
		panic(limitError("no rule %s", r.Name))
	}
	out := make(slice, n)
	for i, k := range moved.order {
		out[i] = intValue(int64(k))
	}
	return []Value{sliceValue(out)}
}

// A moves sorts a slice and its order.
type moves struct {
	s     slice
	order []int
	less  func(i, j int) bool
}

func (m *moves) Len() int           { return len(m.s) }
func (m *moves) Less(i, j int) bool { return m.less(i, j) }
func (m *moves) Swap(i, j int) {
	old := m.s[i].clone()
	m.s[i].assign(m.s[j])
	m.s[j].assign(old)
	m.order[i], m.order[j] = m.order[j], m.order[i]
}

// appendStmt executes an append. Elements to append are evaluated before any is written.
func (fr *frame) appendStmt(s *Append) {
	at := fr.resolve(s.P)
	to := fr.expr(s.S).slice()
	of := ElemOf(s.S.Type())
	var list []Value
	switch {
	case !s.Spread:
		for _, e := range s.Elems {
			list = append(list, fr.assigned(e, of))
		}
	case IsString(s.Elems[0].Type()):
		list = stringToSlice(fr.expr(s.Elems[0]).string(), of).slice()
	default:
		list = append(list, fr.expr(s.Elems[0]).slice()...)
	}
	at.find().assign(sliceValue(appendValues(to, of, list)))
}

// panicStmt panics with the dynamic value and type of the operand.
func (fr *frame) panicStmt(s *Panic) {
	t := s.E.Type()
	x := fr.expr(s.E)
	if b, ok := x.ref.(boxed); ok && isInterface(t) {
		x, t = b.v, b.t
	}
	p := &PanicError{Value: x, Type: t, Text: x.Text(t)}
	panic(fr.locate(p))
}

// locate sets the function and position of p to the current ones and returns p.
func (fr *frame) locate(p *PanicError) *PanicError {
	p.Func = fr.f.Name
	if fr.at != nil {
		p.Pos = fr.at.Position()
	}
	return p
}

// panicf panics with a runtime error at the current position.
func (fr *frame) panicf(format string, args ...any) {
	panic(fr.locate(runtimePanic(fmt.Sprintf(format, args...))))
}
