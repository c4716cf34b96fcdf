package ir

import (
	"fmt"
	"runtime"
)

// Machine evaluates functions. The zero Machine is ready.
type Machine struct {
	// Steps bounds the statements that an evaluation executes, iterations of loops
	// included; 0 is ten millions.
	Steps int
	// Depth bounds how many calls are under way at once; 0 is a thousand.
	Depth int
	// Globals are the variables of packages by name, package.Name. The evaluator reads
	// them only.
	Globals map[string]Value
	// Rules are the functions that a Call knows by a rule, by the name of the rule. Those of
	// package math are known.
	Rules map[string]func(args []Value) (results []Value)

	steps, depth int
}

// Eval evaluates f, which [Check] accepts, as Go would: integers wrap, every float
// operation is rounded by itself, slices share memory and append moves them only when
// the capacity is exceeded, to twice the capacity if that is enough. A panic is an error
// of type *[PanicError], and an evaluation of more than ten million steps one of type
// *[LimitError]. Arguments of array or struct type are copied; memory that arguments
// refer to is written to as the function does.
func Eval(f *Func, args []Value) (results []Value, err error) {
	return new(Machine).Eval(f, args)
}

// Eval is the function [Eval] under the machine's settings.
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
			results, err = nil, fmt.Errorf("%w: %w", errIllFormed, e)
		case error:
			if e != errIllFormed {
				panic(e)
			}
			results, err = nil, e
		default:
			panic(e)
		}
	}()
	return m.call(f, args), nil
}

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

// frame is a call that is under way.
type frame struct {
	m    *Machine
	f    *Func
	vars map[*Var]*Value
	at   Stmt
}

// declare makes a new variable, so that pointers to the last one of this name stay.
func (fr *frame) declare(v *Var, x Value) { fr.vars[v] = &x }

func (fr *frame) variable(v *Var) *Value {
	if x := fr.vars[v]; x != nil {
		return x
	}
	if v != nil && v.Kind == Global {
		if x, ok := fr.m.Globals[v.Name]; ok {
			return &x
		}
		panic(limitError("the variable %s has no value", v.Name))
	}
	panic(errIllFormed)
}

// block executes statements and says what label is left, nil for none.
func (fr *frame) block(b Block) *Label {
	for _, s := range b {
		if l := fr.stmt(s); l != nil {
			return l
		}
	}
	return nil
}

func (fr *frame) step() {
	if fr.m.steps--; fr.m.steps < 0 {
		panic(limitError("too many steps"))
	}
}

func (fr *frame) stmt(s Stmt) *Label {
	fr.step()
	fr.at = s
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

// simple executes a statement without blocks.
func (fr *frame) simple(s Stmt) {
	switch s := s.(type) {
	case *Let:
		if s.E == nil {
			fr.declare(s.V, zeroValue(s.V.Type))
		} else {
			fr.declare(s.V, fr.as(s.E, s.V.Type).clone())
		}
	case *Set:
		at := fr.operands(s.P)
		x := fr.as(s.E, s.P.Type()).clone()
		at.find().assign(x)
	case *Add:
		at := fr.operands(s.P)
		x := fr.expr(s.E)
		dst := at.find()
		*dst = arith(addition, *dst, x, s.P.Type())
	case *Call:
		fr.callStmt(s)
	case *Append:
		fr.appendStmt(s)
	case *Copy:
		dst, src := fr.expr(s.Dst).slice(), fr.expr(s.Src)
		from := src.slice()
		if isString(s.Src.Type()) {
			from = stringToSlice(src.string(), elem(s.Dst.Type())).slice()
		}
		n := copyValues(dst, from)
		if s.N != nil {
			fr.variable(s.N).assign(intValue(int64(n)))
		}
	case *Clear:
		of := elem(s.S.Type())
		for _, x := range indexed(fr.expr(s.S).slice()) {
			x.assign(zeroValue(of))
		}
	case *Panic:
		fr.panicStmt(s)
	default:
		panic(errIllFormed)
	}
}

// indexed are the variables that a slice is made of.
func indexed(s slice) []*Value {
	out := make([]*Value, len(s))
	for i := range s {
		out[i] = &s[i]
	}
	return out
}

func (fr *frame) callStmt(s *Call) {
	args := make([]Value, len(s.Args))
	for i, e := range s.Args {
		if f := s.Callee.Func; f != nil {
			args[i] = fr.as(e, f.Params[i].Type).clone()
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
			rule = pairs[s.Callee.Rule.Name]
		}
		if rule == nil {
			rule = schedules[s.Callee.Rule.Name]
		}
		if rule == nil {
			panic(limitError("no rule %s", s.Callee.Rule.Name))
		}
		results = rule(args)
	}
	fr.at = s
	for i, v := range s.Results {
		if v == nil {
			continue
		}
		x := results[i]
		if f := s.Callee.Func; f != nil {
			x = box(x, f.Results[i].Type, v.Type)
		}
		fr.variable(v).assign(x)
	}
}

func (fr *frame) appendStmt(s *Append) {
	at := fr.operands(s.P)
	to := fr.expr(s.S).slice()
	of := elem(s.S.Type())
	var list []Value
	switch {
	case !s.Spread:
		for _, e := range s.Elems {
			list = append(list, fr.as(e, of))
		}
	case isString(s.Elems[0].Type()):
		list = stringToSlice(fr.expr(s.Elems[0]).string(), of).slice()
	default:
		list = append(list, fr.expr(s.Elems[0]).slice()...)
	}
	at.find().assign(sliceValue(appendValues(to, of, list)))
}

func (fr *frame) panicStmt(s *Panic) {
	t := s.E.Type()
	x := fr.expr(s.E)
	if b, ok := x.ref.(boxed); ok && isInterface(t) {
		x, t = b.v, b.t
	}
	p := &PanicError{Value: x, Type: t, Text: x.Text(t)}
	panic(fr.located(p))
}

// located says where a panic happens.
func (fr *frame) located(p *PanicError) *PanicError {
	p.Func = fr.f.Name
	if fr.at != nil {
		p.Pos = fr.at.Position()
	}
	return p
}

// fail panics as the runtime does.
func (fr *frame) fail(format string, args ...any) {
	panic(fr.located(runtimePanic(fmt.Sprintf(format, args...))))
}
