package engines

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/nabla-ad/nabla"
	"github.com/nabla-ad/nabla/backend/finitediff"
	"github.com/nabla-ad/nabla/coloring"
	"github.com/nabla-ad/nabla/difftest/zero"
	"github.com/nabla-ad/nabla/internal/spelling"
)

// A ParseError reports a text that names no backend.
type ParseError struct {
	Text   string
	Offset int    // where the error is, in bytes
	Got    string // what is there, empty at the end
	Want   string
	Near   string // the name that Got may be meant to be, or ""
}

func (e *ParseError) Error() string {
	got := strconv.Quote(e.Got)
	if e.Got == "" {
		got = "the end"
	}
	s := fmt.Sprintf("nabla: backend %q, column %d: got %s, want %s", e.Text, e.Offset+1, got, e.Want)
	if e.Near != "" {
		s += "; did you mean " + e.Near + "?"
	}
	return s
}

// Parse returns the backend with a name, the inverse of method Name.
//
//	backend  = policy [ "over" policy ]
//	policy   = operand { "+" setting }
//	operand  = engine [ "(" setting { "," setting } ")" ] | "auto" { "+" setting } | "(" backend ")"
//	         | "sparse" "(" backend { "," setting } ")" | "mixed" "(" backend "," backend ")"
//	setting  = name [ "=" value ]
//
// Engines are those of All and of package zero. Spaces between the parts, and settings in another order, make no
// difference. The result is the plainest value with that name: a setting that Name leaves out is the zero one, and
// there is no Policy without settings and no Preparation. The error is a *ParseError, also for what a name does not
// show: bounds, patterns and points.
func Parse(name string) (b nabla.Backend, err error) {
	p := &parser{text: name}
	defer p.caught(&err)
	b = p.backend(0)
	p.end()
	return b, nil
}

// registered maps the names of engines without settings to their types.
var registered = func() map[string]reflect.Type {
	types := map[string]reflect.Type{}
	for _, e := range Single() {
		t := reflect.TypeOf(e.Backend)
		types[reflect.Zero(t).Interface().(nabla.Backend).Name()] = t
	}
	types[zero.Forward{}.Name()] = reflect.TypeOf(zero.Forward{})
	types[zero.Reverse{}.Name()] = reflect.TypeOf(zero.Reverse{})
	return types
}()

// maxDepth bounds the nesting of composites.
const maxDepth = 50

type parser struct {
	text string
	pos  int
}

// caught turns the panic of fail into an error.
func (p *parser) caught(err *error) {
	if v := recover(); v != nil {
		e, ok := v.(*ParseError)
		if !ok {
			panic(v)
		}
		*err = e
	}
}

// fail ends the parse with an error at pos, where got is.
func (p *parser) fail(pos int, got, want string, names ...string) {
	panic(&ParseError{Text: p.text, Offset: pos, Got: got, Want: want, Near: spelling.Nearest(got, names)})
}

func (p *parser) spaces() {
	for p.pos < len(p.text) && p.text[p.pos] == ' ' {
		p.pos++
	}
}

func (p *parser) end() {
	if p.spaces(); p.pos < len(p.text) {
		p.fail(p.pos, p.text[p.pos:], `"over", "+" or the end`)
	}
}

// accept skips token and reports whether it is next.
func (p *parser) accept(token string) bool {
	p.spaces()
	if strings.HasPrefix(p.text[p.pos:], token) {
		p.pos += len(token)
		return true
	}
	return false
}

func (p *parser) expect(token string) {
	if !p.accept(token) {
		p.fail(p.pos, p.rest(), strconv.Quote(token))
	}
}

// rest returns the next word, or the next character.
func (p *parser) rest() string {
	start := p.pos
	w := p.word()
	p.pos = start
	if p.spaces(); w == "" && p.pos < len(p.text) {
		return p.text[p.pos : p.pos+1]
	}
	return w
}

// word skips letters, digits, and the characters of numbers, and returns them.
func (p *parser) word() string {
	p.spaces()
	start := p.pos
	for p.pos < len(p.text) {
		c := p.text[p.pos]
		exponent := (c == '+' || c == '-') && p.pos > start && p.text[p.pos-1] == 'e' &&
			strings.ContainsRune("0123456789-", rune(p.text[start]))
		if !exponent && !(c == '.' || c == '-' && p.pos == start || '0' <= c && c <= '9' ||
			'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z') {
			break
		}
		p.pos++
	}
	return p.text[start:p.pos]
}

func (p *parser) backend(depth int) nabla.Backend {
	outer := p.policy(depth)
	start := p.pos
	if p.word() != "over" {
		p.pos = start
		return outer
	}
	return nabla.SecondOrder{Outer: outer, Inner: p.policy(depth)}
}

func (p *parser) policy(depth int) nabla.Backend {
	b := p.operand(depth)
	policy, set := nabla.Policy{Backend: b}, false
	for p.accept("+") {
		set = true
		start := p.pos
		switch key := p.word(); key {
		case "fail":
			policy.OnGuard = nabla.Fail
		case "onguard":
			policy.OnGuard = nabla.GuardPolicy(p.integer(8))
		case "fixedcaptures":
			policy.FixedCaptures = true
		case "nostalecheck":
			policy.NoStaleCheck = true
		case "interpret":
			policy.Interpret = true
		case "workers":
			policy.Workers = int(p.integer(32))
		case "memory":
			policy.Memory = p.integer(64)
		default:
			p.fail(start, key, "a setting of a Policy: fail, fixedcaptures, nostalecheck, interpret, workers or memory",
				"fail", "fixedcaptures", "nostalecheck", "interpret", "workers", "memory")
		}
	}
	if set {
		return policy
	}
	return b
}

// integer parses "=" and an integer of at most the given size.
func (p *parser) integer(size int) int64 {
	p.expect("=")
	p.spaces()
	start := p.pos
	w := p.word()
	v, err := strconv.ParseInt(w, 10, 64)
	if f, bad := strconv.ParseFloat(w, 64); err != nil && bad == nil && f == float64(int32(f)) {
		v, err = int64(f), nil // as in 1e+06
	}
	if err == nil && size < 64 && (v < 0 || v >= 1<<size) {
		err = strconv.ErrRange
	}
	if err != nil {
		p.fail(start, w, "an integer")
	}
	return v
}

// float parses "=" and a number.
func (p *parser) float() float64 {
	p.expect("=")
	p.spaces()
	start := p.pos
	w := p.word()
	v, err := strconv.ParseFloat(w, 64)
	if err != nil {
		p.fail(start, w, "a number")
	}
	return v
}

func (p *parser) operand(depth int) nabla.Backend {
	if depth == maxDepth {
		p.fail(p.pos, p.rest(), fmt.Sprintf("at most %d nested backends", maxDepth))
	}
	if p.accept("(") {
		b := p.backend(depth + 1)
		p.expect(")")
		return b
	}
	p.spaces()
	start := p.pos
	switch name := p.word(); name {
	case "sparse":
		p.expect("(")
		return p.sparse(depth + 1)
	case "mixed":
		p.expect("(")
		m := nabla.MixedMode{Forward: p.backend(depth + 1)}
		p.expect(",")
		m.Reverse = p.backend(depth + 1)
		p.expect(")")
		return m
	case "auto":
		return p.auto()
	default:
		return p.engine(start, name)
	}
}

func (p *parser) auto() nabla.Backend {
	var a nabla.Auto
	for {
		start := p.pos
		if !p.accept("+") {
			return a
		}
		switch p.word() {
		case "approximate":
			a.Approximate = true
		case "dense":
			a.Dense = true
		default: // a setting of a Policy
			p.pos = start
			return a
		}
	}
}

// engine parses the settings of the engine called name, which begins at start.
func (p *parser) engine(start int, name string) nabla.Backend {
	at := p.pos
	if p.accept("(") { // a mode may belong to the name
		mode := p.word()
		if t, ok := registered[name+"("+mode+")"]; ok {
			return p.settings(t, p.accept(","))
		}
		p.pos = at
	}
	t, ok := registered[name]
	if !ok {
		p.unknown(start, name)
	}
	if !p.accept("(") {
		return reflect.Zero(t).Interface().(nabla.Backend)
	}
	return p.settings(t, true)
}

// settings parses the rest of the brackets behind the name of an engine of type t, which has settings if more is set.
func (p *parser) settings(t reflect.Type, more bool) nabla.Backend {
	v := reflect.New(t).Elem()
	for more {
		p.setting(v)
		more = p.accept(",")
	}
	p.expect(")")
	return v.Interface().(nabla.Backend)
}

// unknown fails for an engine that does not exist. If engines of that name have modes, these are suggested.
func (p *parser) unknown(start int, name string) {
	names := []string{"sparse", "mixed", "auto"}
	for n := range registered {
		names = append(names, n)
	}
	if p.accept("(") {
		name += "(" + p.word()
		if p.accept(")") {
			name += ")"
		}
	}
	p.fail(start, name, "an engine", names...)
}

// setting parses a setting of an engine and stores it in the field with that name, or, for a flag that is the name of a
// value, in the field of its type.
func (p *parser) setting(v reflect.Value) {
	p.spaces()
	start := p.pos
	key := p.word()
	var names []string
	for f, field := range v.Fields() {
		switch name := strings.ToLower(f.Name); {
		case !f.IsExported():
		case f.Type.Kind() == reflect.Uint8:
			if choose(field, key) {
				return
			}
		case key != name:
			names = append(names, name)
		case f.Type.Kind() == reflect.Bool:
			field.SetBool(true)
			return
		case f.Type.Kind() == reflect.Int:
			n := p.integer(64)
			if _, adaptive := v.Interface().(finitediff.Adaptive); adaptive && key == "levels" && n == 0 {
				n = finitediff.NoLevels // a zero field means the default, which a name does not show
			}
			field.SetInt(n)
			return
		case f.Type.Kind() == reflect.Float64:
			field.SetFloat(p.float())
			return
		default:
			p.fail(start, key, "a setting that a name shows in full")
		}
	}
	p.fail(start, key, "a setting: "+strings.Join(names, ", "), names...)
}

// choose sets field, a small integer with a method String, to its value called name, and reports whether there is one.
func choose(field reflect.Value, name string) bool {
	for k := range uint64(16) {
		old := field.Uint()
		field.SetUint(k)
		if s, ok := field.Interface().(fmt.Stringer); ok && s.String() == name {
			return true
		}
		field.SetUint(old)
	}
	return false
}

// sparse parses the backend of an AutoSparse and its settings.
func (p *parser) sparse(depth int) nabla.Backend {
	s := nabla.AutoSparse{Dense: p.backend(depth)}
	for p.accept(",") {
		p.spaces()
		start := p.pos
		switch key := p.word(); key {
		case "detector":
			p.expect("=")
			s.Detector = p.detector(depth)
		case "coloring":
			p.expect("=")
			s.Coloring = p.coloring()
		case "reversecost":
			s.ReverseCost = p.float()
		case coloring.Substitution.String():
			s.Decompression = coloring.Substitution
		case "workers":
			s.Workers = int(p.integer(31))
		case "noprobe":
			s.NoProbe = true
		default:
			names := []string{"detector", "coloring", "reversecost", "substitution", "workers", "noprobe"}
			p.fail(start, key, "a setting: "+strings.Join(names, ", "), names...)
		}
	}
	p.expect(")")
	return s
}

// Split returns the names in a list that are separated by commas outside of parentheses, without spaces around them.
func Split(list string) (names []string) {
	depth, start := 0, 0
	for i, c := range list + "," {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && (depth <= 0 || i == len(list)):
			names = append(names, strings.TrimSpace(list[start:i]))
			start = i + 1
		}
	}
	return names
}
