package gen

import (
	"github.com/nabla-ad/nabla/gen/lower"
)

// noRules adds problems for a directive //nabla:norule above a function.
func (u *home) noRules(d lower.Directive) {
	words := d.Words()
	if len(words) == 0 {
		u.problem(&Problem{Pos: d.Pos, Func: d.Func.Name(), Severity: Error, Reason: "//nabla:norule names nothing",
			Remedy: "name the functions whose source is to be differentiated, or tables of rules: //nabla:norule " +
				"example.com/special.Erfcx"})
	}
	for _, w := range words {
		if reason, remedy := u.program.lower.NoRuleProblem(w.Text); reason != "" {
			u.problem(&Problem{Pos: w.Pos, Func: d.Func.Name(), Severity: Error, Reason: "//nabla:norule: " + reason,
				Remedy: remedy})
		}
	}
}

// badTables adds problems of the tables of rules that the package obeys.
func (u *home) badTables() {
	own, imported := u.program.lower.TableProblems(u.pkg)
	for i, list := range []lower.Refusals{own, imported} {
		severity := Error
		if i > 0 { // nobody here may be able to correct it
			severity = Warning
		}
		for _, r := range list {
			u.problem(&Problem{Pos: r.Pos, Reason: r.What + ": " + r.Reason, Remedy: r.Remedy, Severity: severity})
		}
	}
}

// usedTables adds a note for each rule of a table that calls in the package obey.
func (u *home) usedTables() {
	for _, r := range u.program.lower.UsedRules(u.pkg) {
		u.problem(&Problem{Pos: r.Pos, Severity: Note,
			Reason: "calls of " + r.Function + " in package " + u.pkg.PkgPath +
				" have the derivatives of the table of rules " + r.Table,
			Remedy: "to differentiate its source instead, write //nabla:norule " + r.Function + " above the calling " +
				"function"})
	}
}
