package gen

import (
	"cmp"
	"errors"
	"fmt"
	"go/token"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/nabla-ad/nabla/gen/activity"
	"github.com/nabla-ad/nabla/gen/adjoint"
	"github.com/nabla-ad/nabla/gen/lower"
	"github.com/nabla-ad/nabla/gen/traced"
)

// Severity says what a problem means for a run.
type Severity uint8

// The severities. A note is about something that does without, such as a derivative that
// another one can stand for.
const (
	Note Severity = iota
	Warning
	Error
)

func (s Severity) String() string { return [...]string{"note", "warning", "error"}[s] }

// Problem says why something was not generated.
type Problem struct {
	Pos      token.Position
	Func     string // empty where no function is to blame
	Reason   string
	Remedy   string // the way round, if there is one
	Severity Severity
}

// Error is file:line:col: function F: reason; way round.
func (p *Problem) Error() string {
	s := p.Pos.String() + ": "
	if p.Severity != Error {
		s += p.Severity.String() + ": "
	}
	if p.Func != "" {
		s += "function " + p.Func + ": "
	}
	s += p.Reason
	if p.Remedy != "" {
		s += "; " + p.Remedy
	}
	return s
}

// Problems are those of all packages.
func (r *Report) Problems() (out []*Problem) {
	for _, pkg := range r.Packages {
		out = append(out, pkg.Problems...)
	}
	return out
}

func comparePositions(a, b token.Position) int {
	return cmp.Or(strings.Compare(a.Filename, b.Filename), a.Line-b.Line, a.Column-b.Column)
}

// sortedProblems is in the order of the source and has each once, with the gravest
// severity.
func sortedProblems(list []*Problem) []*Problem {
	slices.SortStableFunc(list, func(a, b *Problem) int {
		return cmp.Or(comparePositions(a.Pos, b.Pos), strings.Compare(a.Func, b.Func),
			strings.Compare(a.Reason, b.Reason), int(b.Severity)-int(a.Severity))
	})
	return slices.CompactFunc(list, func(a, b *Problem) bool {
		return a.Pos == b.Pos && a.Func == b.Func && a.Reason == b.Reason
	})
}

// problem notes a problem of the package.
func (u *home) problem(p *Problem) { u.out.Problems = append(u.out.Problems, p) }

// refused notes why a function, or one that it calls, is refused.
func (u *home) refused(t *target, severity Severity, err error) []*Problem {
	list := problemsOf(t, severity, err)
	u.out.Problems = append(u.out.Problems, list...)
	return list
}

// words are some problems of a function as generated code says them, without the directories
// of files: what is generated is the same wherever that is done.
func words(list []*Problem) string {
	const most = 3
	var text strings.Builder
	for i, p := range list {
		if i == most {
			fmt.Fprintf(&text, "; and %d more", len(list)-most)
			break
		}
		q := *p
		q.Severity = Error
		if i > 0 {
			text.WriteString("; and ")
			q.Func, q.Remedy = "", ""
		}
		s := q.Error()
		if dir := filepath.Dir(p.Pos.Filename); filepath.IsAbs(dir) {
			s = strings.ReplaceAll(s, dir+string(filepath.Separator), "")
		}
		text.WriteString(s)
	}
	return text.String()
}

// problemsOf says why a function, or one that it calls, is refused.
func problemsOf(t *target, severity Severity, err error) (list []*Problem) {
	var all lower.Refusals
	if errors.As(err, &all) {
		for _, r := range all {
			reason := r.Reason
			if r.What != "" && r.What != "function "+r.Func {
				reason = r.What + ": " + reason
			}
			list = append(list, &Problem{r.Pos, callee(t, r.Func), reason, r.Remedy, severity})
		}
		return list
	}
	p := &Problem{Pos: t.pos, Func: t.of, Reason: err.Error(), Severity: severity}
	var passive *activity.Error
	if errors.As(err, &passive) {
		p.Pos, p.Func, p.Reason, p.Remedy = passive.Pos, callee(t, passive.Func), passive.What, passive.Remedy
	}
	var refusal Refusal
	if errors.As(err, &refusal) {
		f, what, remedy := refusal.Refused()
		p.Func, p.Reason, p.Remedy = callee(t, f), what, remedy
		if pos := refusal.Position(); pos.IsValid() {
			p.Pos = pos
		}
	}
	var reverse *adjoint.Error
	if errors.As(err, &reverse) {
		p.Func, p.Reason, p.Remedy = callee(t,
			reverse.Func), "no adjoint: "+reverse.What, "use the tangent, or write it in another way"
		if reverse.Remedy != "" {
			p.Remedy = reverse.Remedy
		}
		if reverse.Pos.IsValid() {
			p.Pos = reverse.Pos
		}
	}
	var over *traced.Error
	if errors.As(err, &over) {
		p.Func, p.Reason, p.Remedy = callee(t, over.Func), "no traced form: "+over.What+": "+over.Reason, over.Remedy
		if over.Pos.IsValid() {
			p.Pos = over.Pos
		}
	}
	return []*Problem{p}
}

// Refusal is an error of a build that says where in which function it stopped, why, and
// the way round. What is not known is left zero.
type Refusal interface {
	error
	Position() token.Position
	Refused() (function, reason, remedy string)
}

// callee is a function where t is refused, which t may only call.
func callee(t *target, name string) string {
	short := name
	if i := strings.IndexByte(name, '.'); i >= 0 { // p.F or (*p.T).M
		open := name[:len(name)-len(strings.TrimLeft(name, "(*"))]
		short = open + name[i+1:]
		if open == "(" { // (T).M
			short = strings.Replace(short[1:], ")", "", 1)
		}
	}
	own := strings.TrimSuffix(short, "_adjoint") == t.of // which second derivatives are of
	if i, j := strings.IndexByte(t.of, '['), strings.LastIndexByte(t.of, ']'); len(t.TypeArgs) > 0 && i >= 0 && j > i {
		own = strings.HasPrefix(short, t.of[:i]+t.of[j+1:]+"_")
	}
	if own {
		return t.of
	}
	return short + ", which " + t.of + " calls"
}

// unreadable notes what stops the go command from saying what is in the package. Nothing
// is then known of its targets.
func (u *home) unreadable() bool {
	bad := false
	for _, e := range u.pkg.Errors {
		if e.Kind == packages.TypeError && !strings.HasPrefix(e.Msg, "could not import") {
			continue
		}
		pos := position(e.Pos)
		if e.Kind == packages.TypeError && u.program.lower.IsStub(pos.Filename) { // which is replaced
			continue
		}
		bad = true
		if !pos.IsValid() {
			pos.Filename = directory(u.pkg)
		}
		u.problem(&Problem{Pos: pos, Reason: e.Msg, Severity: Error})
	}
	u.out.Problems = sortedProblems(u.out.Problems)
	return bad
}

// position reads file:line:col.
func position(s string) token.Position {
	var pos token.Position
	if s == "" || s == "-" {
		return pos
	}
	parts := strings.Split(s, ":")
	for i := len(parts) - 1; i > 0 && i >= len(parts)-2; i-- {
		n := 0
		if _, err := fmt.Sscanf(parts[i], "%d", &n); err != nil {
			break
		}
		pos.Column, pos.Line = pos.Line, n
		pos.Filename = strings.Join(parts[:i], ":")
	}
	if pos.Filename == "" {
		pos.Filename = s
	}
	return pos
}

// misplaced notes directives that stand on nothing they can be about.
func (u *home) misplaced() {
	for _, d := range u.program.lower.Directives() {
		if d.In != u.pkg.Types || !slices.Contains([]string{"differentiate", "passive", "rule"}, d.Name) {
			continue
		}
		p := &Problem{Pos: d.Pos, Severity: Error}
		switch {
		case d.Func == nil:
			p.Reason, p.Remedy = "//nabla:"+d.Name+
				" does not stand on a function", "put it into the comment right above the declaration of one"
		case d.Name != "differentiate":
			continue
		case generic(d.Func):
			p.Func = d.Func.Name()
			p.Reason = "//nabla:differentiate stands on a generic function, which is many"
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

// unmatched warns of functions that are passed to operators and get no code.
func (u *home) unmatched(targets []lower.Target) {
	for _, f := range u.program.lower.Unmatched(u.pkg.Types, targets) {
		u.problem(&Problem{Pos: f.Pos, Reason: f.Operator + " is passed a function that gets no code: " + f.Reason,
			Remedy: f.Remedy, Severity: Warning})
	}
}

// unfollowed notes directives for loops that cannot be followed, those that no refused
// function has.
func (u *home) unfollowed() {
	for _, d := range u.program.lower.Directives() {
		if d.In != u.pkg.Types || d.Bad == nil ||
			slices.ContainsFunc(u.out.Problems, func(p *Problem) bool { return p.Pos == d.Pos }) {
			continue
		}
		u.problem(&Problem{Pos: d.Pos, Reason: d.Bad.What + ": " + d.Bad.Reason, Remedy: d.Bad.Remedy, Severity: Error})
	}
}
