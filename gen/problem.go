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

// A Severity is the effect of a problem on a run.
type Severity uint8

// The severities. A Note concerns a derivative that others can replace, a Warning a function that is not marked by a
// directive, or a directive without effect. With an Error the run fails.
const (
	Note Severity = iota
	Warning
	Error
)

func (s Severity) String() string { return [...]string{"note", "warning", "error"}[s] }

// A Problem reports that a derivative or a file was not generated, or that a directive or request in the source has no
// effect, with the reason and the place in the source.
type Problem struct {
	Pos      token.Position
	Func     string // empty if the problem concerns no function
	Reason   string
	Remedy   string // next step, if there is one
	Severity Severity
}

// Error returns "file:line:col: function F: reason; remedy".
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

// Problems returns the problems of all packages.
func (r *Report) Problems() (out []*Problem) {
	for _, pkg := range r.Packages {
		out = append(out, pkg.Problems...)
	}
	return out
}

func comparePositions(a, b token.Position) int {
	return cmp.Or(strings.Compare(a.Filename, b.Filename), a.Line-b.Line, a.Column-b.Column)
}

// sortedProblems sorts list by position and returns it without duplicates; of equal problems the one with the highest
// severity remains. It modifies list.
func sortedProblems(list []*Problem) []*Problem {
	slices.SortStableFunc(list, func(a, b *Problem) int {
		return cmp.Or(comparePositions(a.Pos, b.Pos), strings.Compare(a.Func, b.Func),
			strings.Compare(a.Reason, b.Reason), int(b.Severity)-int(a.Severity))
	})
	return slices.CompactFunc(list, func(a, b *Problem) bool {
		return a.Pos == b.Pos && a.Func == b.Func && a.Reason == b.Reason
	})
}

// problem adds p to the problems of the package.
func (u *home) problem(p *Problem) { u.out.Problems = append(u.out.Problems, p) }

// refused adds the problems for the refusal err of t, or of one of its callees, and returns them.
func (u *home) refused(t *target, severity Severity, err error) []*Problem {
	list := problemsOf(t, severity, err)
	u.out.Problems = append(u.out.Problems, list...)
	return list
}

// words returns the text of problems for generated code, without the directories of files, so that the generated code
// does not depend on the machine.
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

// problemsOf translates the error of lowering or of a build of t into problems.
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
			reverse.Func), "no adjoint: "+reverse.What, "use the tangent, or write the function in another way"
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

// A Refusal is an error of a build that knows the function and position it is about, the reason and the next step.
// Unknown values are zero.
type Refusal interface {
	error
	Position() token.Position
	Refused() (function, reason, remedy string)
}

// callee returns the name under which a problem reports a function: that of t itself, or of another function together
// with the name of t, which calls it.
func callee(t *target, name string) string {
	short := name
	plain, _, _ := strings.Cut(name, "[")
	slash := strings.LastIndexByte(plain, '/')               // of the path of the package
	if i := strings.IndexByte(name[slash+1:], '.'); i >= 0 { // p.F or (*p.T).M
		i += slash + 1
		open := name[:len(name)-len(strings.TrimLeft(name, "(*"))]
		short = open + name[i+1:]
		if open == "(" { // (T).M
			short = strings.Replace(short[1:], ")", "", 1)
		}
	}
	own := strings.TrimSuffix(short, "_adjoint") == t.of // second derivatives are those of the adjoint
	if i, j := strings.IndexByte(t.of, '['), strings.LastIndexByte(t.of, ']'); len(t.TypeArgs) > 0 && i >= 0 && j > i {
		own = strings.HasPrefix(short, t.of[:i]+t.of[j+1:]+"_")
	}
	if own {
		return t.of
	}
	return short + ", which " + t.of + " calls"
}

// unreadable reports whether the go command could not read the package, whose targets are unknown then, and adds the
// errors to the problems. Type errors do not count: functions may call code that is not generated yet.
func (u *home) unreadable() bool {
	bad := false
	const most = 10 // as the compiler prints
	for _, e := range u.pkg.Errors {
		if e.Kind == packages.TypeError && !strings.HasPrefix(e.Msg, "could not import") {
			continue
		}
		pos := position(e.Pos)
		if e.Kind == packages.TypeError && u.program.lower.IsStub(pos.Filename) { // to be replaced
			continue
		}
		bad = true
		if !pos.IsValid() {
			pos.Filename = directory(u.pkg)
		}
		if len(u.out.Problems) == most {
			u.problem(&Problem{Pos: pos, Reason: "too many errors", Severity: Error})
			break
		}
		u.problem(&Problem{Pos: pos, Reason: e.Msg, Severity: Error})
	}
	u.out.Problems = sortedProblems(u.out.Problems)
	return bad
}

// position parses file:line:col, where col and line are optional.
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

// unmatched warns about functions that are passed to operators but get no code.
func (u *home) unmatched(targets []lower.Target) {
	lines := map[string]int{} // of the first warning with a rewriting, by its declarations
	for _, f := range u.program.lower.Unmatched(u.pkg.Types, targets) {
		if f.Tested != nil {
			u.askedByTest(f)
			continue
		}
		p := &Problem{Pos: f.Pos, Reason: f.Operator + " is passed a function that gets no code: " + f.Reason,
			Remedy: f.Remedy, Severity: Warning}
		switch c, err := u.program.lifted(f); {
		case c != nil && c.Decls != "" && lines[c.Decls+c.Define] > 0: // another call with the same variable
			p.Remedy = fmt.Sprintf("pass %s, declared as for line %d, or run nabla gen -fix", c.Call,
				lines[c.Decls+c.Define])
		case c != nil:
			p.Remedy = "write the following, or run nabla gen -fix"
			u.out.Rewrites[p] = rewrite(c, f.Arg)
			lines[c.Decls+c.Define] = f.Pos.Line
		case err != nil:
			p.Remedy += "; nabla gen -fix cannot: " + err.Reason
		}
		u.problem(p)
	}
}

// askedByTest warns about a target that a test passes to an operator which computes with a derivative that nothing else
// asks for.
func (u *home) askedByTest(f lower.Unmatched) {
	d, known := demandOf(lower.Use{Operator: f.Operator, Engines: []string{"nabla.Auto"}})
	i := slices.IndexFunc(u.targets, func(t *target) bool { return t.Func == f.Tested })
	if i < 0 || !known {
		return
	}
	t := u.targets[i]
	for _, kind := range u.program.builds {
		if kind.code != "" && kind.part&d&^batches != 0 && kind.part&batches == 0 && !t.wants(kind) {
			u.problem(&Problem{f.Pos, t.of, "only a test calls " + f.Operator + " with it, and tests ask for no code",
				"write //nabla:differentiate " + t.asking(kind) + " above its declaration", Warning})
			return
		}
	}
}

// unfollowed adds problems for malformed loop directives, except for those that a refusal has reported already.
func (u *home) unfollowed() {
	for _, d := range u.program.lower.Directives() {
		if d.In != u.pkg.Types || d.Bad == nil ||
			slices.ContainsFunc(u.out.Problems, func(p *Problem) bool { return p.Pos == d.Pos }) {
			continue
		}
		u.problem(&Problem{Pos: d.Pos, Reason: d.Bad.What + ": " + d.Bad.Reason, Remedy: d.Bad.Remedy, Severity: Error})
	}
}
