package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/nabla-ad/nabla/program"
	"github.com/nabla-ad/nabla/rules"
)

// Version is the version of the JSON format that this package writes. It reads all up to it.
const Version = 1

// formatName is the value of the field format.
const formatName = "nabla program"

// The JSON format has the statements of the text form. An operand is a slot, an object with a first slot and a stride,
// or the list of all its slots. Numbers that JSON lacks are strings, as in the text form.
type (
	document struct {
		Format     string      `json:"format"`
		Version    int         `json:"version"`
		Statements []statement `json:"statements"`
		Outputs    []output    `json:"outputs"`
	}
	statement struct {
		Op       string    `json:"op"`
		Lanes    int32     `json:"lanes"`
		Name     *string   `json:"name,omitempty"`  // of a group of inputs, or of a custom rule
		Terms    int32     `json:"terms,omitempty"` // of each lane of a sum
		Values   []number  `json:"values,omitempty"`
		Operands []operand `json:"operands,omitempty"`
		Holds    []bool    `json:"holds,omitempty"` // outcome in each lane of a guard
	}
	output struct {
		Name  string  `json:"name"`
		Slots []int32 `json:"slots"`
	}
	strided struct {
		Slot   int32 `json:"slot"`
		Stride int32 `json:"stride"`
	}
)

// A number is a float64 with all its values.
type number float64

func (n number) MarshalJSON() ([]byte, error) {
	v := float64(n)
	switch {
	case v != v && math.Float64bits(v) != math.Float64bits(math.NaN()):
		return fmt.Appendf(nil, `"NaN(%#x)"`, math.Float64bits(v)), nil
	case v != v:
		return []byte(`"NaN"`), nil
	case math.IsInf(v, 0):
		return fmt.Appendf(nil, `"%+v"`, v), nil
	}
	return strconv.AppendFloat(nil, v, 'g', -1, 64), nil
}

func (n *number) UnmarshalJSON(b []byte) error {
	s := string(b)
	if t, ok := strings.CutPrefix(s, `"`); ok {
		s = strings.TrimSuffix(t, `"`)
		if hex, ok := strings.CutPrefix(s, "NaN(0x"); ok {
			bits, err := strconv.ParseUint(strings.TrimSuffix(hex, ")"), 16, 64)
			if v := math.Float64frombits(bits); err == nil && v != v {
				*n = number(v)
				return nil
			}
			return fmt.Errorf("got the constant %s, want the bits of a NaN", b)
		}
		if s != "NaN" && s != "+Inf" && s != "-Inf" {
			return fmt.Errorf("got the constant %s, want a number, \"NaN\", \"+Inf\" or \"-Inf\"", b)
		}
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return fmt.Errorf("got the constant %s, want a float64", b)
	}
	*n = number(v)
	return nil
}

// An operand is an operand of a program, with its slots if they are listed.
type operand struct {
	slot   int32
	stride int32
	list   []int32
}

func (o operand) MarshalJSON() ([]byte, error) {
	switch {
	case o.list != nil:
		return json.Marshal(o.list)
	case o.stride != 0:
		return json.Marshal(strided{o.slot, o.stride})
	}
	return strconv.AppendInt(nil, int64(o.slot), 10), nil
}

func (o *operand) UnmarshalJSON(b []byte) error {
	switch b[0] {
	case '[':
		o.list = []int32{}
		return json.Unmarshal(b, &o.list)
	case '{':
		var s strided
		d := json.NewDecoder(bytes.NewReader(b))
		d.DisallowUnknownFields()
		err := d.Decode(&s)
		o.slot, o.stride = s.Slot, s.Stride
		if o.stride == program.Gather {
			return fmt.Errorf("got the stride %d, want one of less than 31 bits", o.stride)
		}
		return err
	}
	return json.Unmarshal(b, &o.slot)
}

// JSON returns p in the format that [Load] reads, with a line for each statement. Custom rules are written by name. The
// error is that of [program.Check].
func JSON(p *program.Program) ([]byte, error) {
	if err := program.Check(p); err != nil {
		return nil, err
	}
	b := fmt.Appendf(nil, "{\"format\": %q, \"version\": %d,\n\"statements\": [", formatName, Version)
	appendList := func(n int, at func(i int) any) error {
		for i := range n {
			sep := ",\n  "
			if i == 0 {
				sep = "\n  "
			}
			text, err := json.Marshal(at(i))
			if err != nil {
				return err
			}
			b = append(append(b, sep...), text...)
		}
		return nil
	}
	err := appendList(len(p.Stmts), func(i int) any { return written(p, &p.Stmts[i]) })
	if err != nil {
		return nil, err
	}
	b = append(b, "\n],\n\"outputs\": ["...)
	at := 0
	err = appendList(len(p.Outs), func(i int) any {
		n := p.Outs[i].N
		at += n
		return output{p.Outs[i].Name, append([]int32{}, p.Result[at-n:at]...)}
	})
	return append(b, "\n]}\n"...), err
}

// written returns s for JSON.
func written(p *program.Program, s *program.Stmt) statement {
	t := statement{Op: s.Op.String(), Lanes: s.N}
	n := s.N
	switch s.Op {
	case program.Input:
		t.Name = &p.Ins[s.K].Name
	case program.Const:
		for _, v := range p.Consts[s.K : s.K+s.N] {
			t.Values = append(t.Values, number(v))
		}
	case program.Sum:
		t.Terms = s.K
		n *= s.K
	case program.Call:
		name := p.Customs[s.K].Name()
		t.Name = &name
		list := make([]int32, s.B.Base)
		for l := range list {
			list[l] = address(p, s.A, int32(l))
		}
		t.Operands = []operand{{list: list}}
		return t
	}
	for _, o := range s.Operands() {
		switch {
		case n == 1:
			t.Operands = append(t.Operands, operand{slot: address(p, o, 0)})
		case o.Stride == program.Gather:
			t.Operands = append(t.Operands, operand{list: p.Index[o.Base : o.Base+n]})
		default:
			t.Operands = append(t.Operands, operand{slot: o.Base, stride: o.Stride})
		}
	}
	if s.Op.Guard() {
		for _, v := range p.Outcomes[s.C.Base : s.C.Base+s.N] {
			t.Holds = append(t.Holds, v != 0)
		}
	}
	return t
}

// Load reads the format that [JSON] writes. customs maps names to the custom rules that the program calls; it may be
// nil if there are none. The result passes [program.Check]. The error is a [*LoadError].
func Load(data []byte, customs map[string]program.Custom) (*program.Program, error) {
	fail := func(cause error, format string, args ...any) (*program.Program, error) {
		return nil, &LoadError{-1, fmt.Sprintf(format, args...), cause}
	}
	// The version comes first: a later one may have other fields.
	var head struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, syntax(err, data)
	}
	switch {
	case head.Format != formatName:
		return fail(ErrSyntax, "the format is %q, want %q", head.Format, formatName)
	case head.Version > Version:
		return fail(ErrVersion, "version %d, this package reads up to %d", head.Version, Version)
	case head.Version < 1:
		return fail(ErrSyntax, "version %d, want one from 1 to %d", head.Version, Version)
	}
	var doc document
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&doc); err != nil {
		return nil, syntax(err, data)
	}
	l := &loader{p: &program.Program{}, customs: customs, called: map[string]int32{}}
	for i, s := range doc.Statements {
		if err := l.statement(s); err != nil {
			err.Statement = i
			return nil, err
		}
	}
	for _, g := range doc.Outputs {
		l.p.Outs = append(l.p.Outs, program.Group{Name: g.Name, N: len(g.Slots)})
		l.p.Result = append(l.p.Result, g.Slots...)
	}
	if err := program.Check(l.p); err != nil {
		return fail(ErrMalformed, "%v", err)
	}
	return l.p, nil
}

// syntax returns the error for err, of package json.
func syntax(err error, data []byte) error {
	var s *json.SyntaxError
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) ||
		errors.As(err, &s) && (strings.HasPrefix(s.Error(), "unexpected end") ||
			// In the middle of a literal package json takes the end for a space.
			strings.HasPrefix(s.Error(), "invalid character ' ' in literal") && !bytes.HasSuffix(data, []byte{' '})) {
		return &LoadError{-1, fmt.Sprintf("they end after %d bytes", len(data)), ErrCutShort}
	}
	return &LoadError{-1, err.Error(), ErrSyntax}
}

// A loader makes a program of statements.
type loader struct {
	p       *program.Program
	customs map[string]program.Custom
	called  map[string]int32 // index in p.Customs
}

// operationNamed returns the operation called name, or 0.
func operationNamed(name string) program.Op {
	if op, ok := rules.Lookup(name); ok {
		return program.Op(op)
	}
	for op := program.Input; op <= program.GuardInt; op++ {
		if op.String() == name {
			return op
		}
	}
	return 0
}

// statement appends s. It checks the fields that decide how s is read; Check does the rest.
func (l *loader) statement(s statement) *LoadError {
	fail := func(cause error, format string, args ...any) *LoadError {
		return &LoadError{0, fmt.Sprintf(format, args...), cause}
	}
	p := l.p
	t := program.Stmt{Op: operationNamed(s.Op), N: s.Lanes}
	switch {
	case t.Op == 0:
		return fail(ErrOperation, "%q", s.Op)
	case s.Lanes < 0 || int64(p.Slots)+int64(s.Lanes) > math.MaxInt32:
		return fail(ErrMalformed, "%d lanes", s.Lanes)
	case len(s.Operands) != t.Op.Arity():
		return fail(ErrMalformed, "%s has %d operands, want %d", s.Op, len(s.Operands), t.Op.Arity())
	case t.Op != program.Const && len(s.Values) > 0, t.Op != program.Sum && s.Terms != 0,
		!t.Op.Guard() && len(s.Holds) > 0, t.Op != program.Input && t.Op != program.Call && s.Name != nil:
		return fail(ErrMalformed, "a field that %s does not have", s.Op)
	case (t.Op == program.Input || t.Op == program.Call) && s.Name == nil:
		return fail(ErrMalformed, "%s has no name", s.Op)
	}
	if !t.Op.Guard() {
		t.D = p.Slots
		p.Slots += s.Lanes
	}
	n := int64(s.Lanes)
	switch t.Op {
	case program.Input:
		t.K = int32(len(p.Ins))
		p.Ins = append(p.Ins, program.Group{Name: *s.Name, N: int(s.Lanes)})
	case program.Param:
		p.Params += int(s.Lanes)
	case program.Const:
		if len(s.Values) != int(s.Lanes) {
			return fail(ErrMalformed, "%d constants in %d lanes", len(s.Values), s.Lanes)
		}
		t.K = int32(len(p.Consts))
		for _, v := range s.Values {
			p.Consts = append(p.Consts, float64(v))
		}
	case program.Sum:
		t.K = s.Terms
		n *= int64(s.Terms)
	case program.Call:
		k, ok := l.custom(*s.Name)
		if !ok {
			return fail(ErrRule, "%q", *s.Name)
		}
		t.K = k
		n = int64(len(s.Operands[0].list))
		t.B.Base = int32(n)
	}
	if t.Op.Guard() {
		if len(s.Holds) != int(s.Lanes) {
			return fail(ErrMalformed, "%d outcomes in %d lanes", len(s.Holds), s.Lanes)
		}
		t.C.Base = int32(len(p.Outcomes))
		for _, h := range s.Holds {
			v := uint8(0)
			if h {
				v = 1
			}
			p.Outcomes = append(p.Outcomes, v)
		}
	}
	ops := [3]*program.Operand{&t.A, &t.B, &t.C}
	for i, o := range s.Operands {
		if o.list == nil {
			*ops[i] = program.Operand{Base: o.slot, Stride: o.stride}
			continue
		}
		if int64(len(o.list)) != n {
			return fail(ErrMalformed, "operand %d has %d slots, want %d", i+1, len(o.list), n)
		}
		if n == 0 {
			continue
		}
		*ops[i] = program.Operand{Base: int32(len(p.Index)), Stride: program.Gather}
		p.Index = append(p.Index, o.list...)
	}
	p.Stmts = append(p.Stmts, t)
	return nil
}

// custom returns the index of a custom rule.
func (l *loader) custom(name string) (int32, bool) {
	if k, ok := l.called[name]; ok {
		return k, true
	}
	c := l.customs[name]
	if c == nil {
		return 0, false
	}
	k := int32(len(l.p.Customs))
	l.p.Customs = append(l.p.Customs, c)
	l.called[name] = k
	return k, true
}
