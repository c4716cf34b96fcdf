package lower

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"
)

// Tables of rules: package variables of type nabla.Rules, which hold rules for functions of any package by their full
// names. A call obeys the exported tables of the packages that the package of the calling function imports, and all
// tables of that package itself, so that what a function computes does not depend on what else is loaded.

// rulesTypeName is the type of tables.
const rulesTypeName = nablaPath + ".Rules"

// A tableEntry is an entry of a table.
type tableEntry struct {
	table *types.Var
	key   string // the full name of the function
	at    token.Pos
	value ast.Expr
	pkg   *packages.Package // of the table
}

// name returns the name of an entry in messages: Table["path.F"].
func (e *tableEntry) name() string { return fmt.Sprintf("%s[%q]", e.table.Name(), e.key) }

// tableName returns the full name of the table.
func (e *tableEntry) tableName() string { return e.pkg.PkgPath + "." + e.table.Name() }

// A ruleTables holds the tables of a package.
type ruleTables struct {
	entries  []*tableEntry
	problems Refusals
}

// tablesIn returns the tables that a package declares.
func (p *Program) tablesIn(pkg *packages.Package) *ruleTables {
	if t := p.tables[pkg]; t != nil {
		return t
	}
	t := &ruleTables{}
	if p.tables == nil {
		p.tables = map[*packages.Package]*ruleTables{}
	}
	p.tables[pkg] = t
	if pkg.Types == nil || pkg.TypesInfo == nil || !p.indexed[pkg] {
		return t
	}
	for _, name := range pkg.Types.Scope().Names() {
		v, ok := pkg.Types.Scope().Lookup(name).(*types.Var)
		if !ok || types.TypeString(types.Unalias(v.Type()), nil) != rulesTypeName {
			continue
		}
		p.readTable(t, v, pkg)
	}
	return t
}

// readTable adds the entries of a table to t, or why they are not known.
func (p *Program) readTable(t *ruleTables, v *types.Var, pkg *packages.Package) {
	refuse := func(at token.Pos, reason, remedy string) {
		t.problems = append(t.problems, p.badTable(v, at, reason, remedy))
	}
	if p.initialisers == nil {
		p.findWrittenVars()
	}
	const literal = "declare it with a literal of nabla.Rules with constant keys, and do not change it"
	lit, ok := ast.Unparen(p.initialisers[v].e).(*ast.CompositeLit)
	if !ok {
		refuse(v.Pos(), "it is not declared with a literal", literal)
		return
	}
	if at := p.assignment(v, pkg); at.IsValid() {
		refuse(at, "it may be changed here", literal)
		return
	}
	for _, e := range lit.Elts {
		kv := e.(*ast.KeyValueExpr)
		key := pkg.TypesInfo.Types[kv.Key].Value
		if key == nil {
			refuse(kv.Key.Pos(), "a key is computed", literal)
			continue
		}
		t.entries = append(t.entries, &tableEntry{v, constant.StringVal(key), kv.Key.Pos(), kv.Value, pkg})
	}
}

// badTable returns a refusal of a table, or of the entry at a position.
func (p *Program) badTable(v *types.Var, at token.Pos, reason, remedy string) *Refusal {
	return &Refusal{p.fset.Position(at), "", "the table of rules " + v.Name(), reason, remedy}
}

// visibleTables returns the tables that functions of a package obey, those of the package itself first. It includes
// some that do not apply there: unexported tables of other packages.
func (p *Program) visibleTables(pkg *packages.Package) (list []*ruleTables) {
	list = append(list, p.tablesIn(pkg))
	for _, path := range slices.Sorted(maps.Keys(pkg.Imports)) {
		list = append(list, p.tablesIn(pkg.Imports[path]))
	}
	return list
}

// entriesFor returns the entries for a function that calls in the source of d obey.
func (p *Program) entriesFor(fn *types.Func, d *decl) (list []*tableEntry) {
	if d.pkg == nil || fn.Pkg() == nil {
		return nil
	}
	name := fn.FullName()
	for _, t := range p.visibleTables(d.pkg) {
		for _, e := range t.entries {
			if e.key == name && (e.table.Exported() || e.pkg == d.pkg) && !p.optsOut(d, e.tableName()) {
				list = append(list, e)
			}
		}
	}
	return list
}

// tableRule returns the rule of the tables for calls of fn in the source of d, nil if there is none.
func (p *Program) tableRule(fn *types.Func, d *decl) *resolvedRule {
	list, pkg := p.entriesFor(fn, d), d.pkg
	if len(list) == 0 {
		return nil
	}
	e := list[0]
	w := p.tableRules[e]
	if w == nil {
		w = p.entryRule(fn, e)
		if p.tableRules == nil {
			p.tableRules = map[*tableEntry]*resolvedRule{}
		}
		p.tableRules[e] = w
		if len(w.refusals) == 0 {
			p.pendingRules = append(p.pendingRules, w)
		}
	}
	other := ""
	switch d := p.ruleOf[fn]; {
	case len(list) > 1:
		other = "the table " + list[1].table.Name() + " at " + position(p.fset.Position(list[1].at))
	case d != nil:
		other = "the directive at " + position(d.Pos)
	default:
		p.noteTable(e, pkg)
		return w
	}
	return &resolvedRule{rule: w.rule, refusals: Refusals{{p.fset.Position(e.at), fn.FullName(),
		"the rule of " + fn.Name(),
		"package " + pkg.Types.Name() + " gets two rules for it: " + e.name() + " and that of " + other,
		"import one of the tables only, or name the other one in //nabla:norule above " + d.fn.Name()}}}
}

// entryRule makes the rule for fn of an entry.
func (p *Program) entryRule(fn *types.Func, e *tableEntry) *resolvedRule {
	w := newRule(fn)
	refuse := func(reason, remedy string) {
		w.refusals = append(w.refusals, &Refusal{p.fset.Position(e.at), fn.FullName(),
			"the rule of " + fn.Name() + " in the table " + e.table.Name(), reason, remedy})
	}
	if isGeneric(fn) {
		refuse("it is generic", "write the rule for a function of one type, and call that")
		return w
	}
	w.rule.Declared, w.rule.Entry = e.table, e.key
	declare := "write " + e.name() + " = {Name: …, Value: …, VJP: …}"
	// The rule itself, or a variable that holds it.
	x := ast.Unparen(e.value)
	if s, ok := x.(*ast.SelectorExpr); ok {
		x = s.Sel
	}
	if id, ok := x.(*ast.Ident); ok {
		if v, ok := e.pkg.TypesInfo.Uses[id].(*types.Var); ok && isGlobal(v) {
			p.completeRule(w, v.Name(), declare, v, refuse)
			return w
		}
	}
	if p.fits(w, e.name(), refuse) {
		p.completeLiteral(w, e.name(), declare, e.table.Name()+fn.Name(), e.value, e.pkg, refuse)
	}
	return w
}

// A UsedRule is a rule of a table that functions of a package obey.
type UsedRule struct {
	Pos      token.Position // of the entry
	Table    string         // path.Table
	Function string         // path.Func
}

// noteTable notes that calls in a package obey an entry.
func (p *Program) noteTable(e *tableEntry, pkg *packages.Package) {
	if p.usedRules == nil {
		p.usedRules = map[*packages.Package][]UsedRule{}
	}
	u := UsedRule{p.fset.Position(e.at), e.tableName(), e.key}
	if !slices.Contains(p.usedRules[pkg], u) {
		p.usedRules[pkg] = append(p.usedRules[pkg], u)
	}
}

// UsedRules returns the rules of tables that functions of a package obey which have been lowered so far, sorted.
func (p *Program) UsedRules(pkg *packages.Package) []UsedRule {
	list := slices.Clone(p.usedRules[pkg])
	slices.SortFunc(list, func(a, b UsedRule) int { return strings.Compare(a.Function, b.Function) })
	return list
}

// TableProblems returns what is wrong with the tables that functions of a package obey, its own and those of imported
// packages: tables that are not known, and entries for functions that do not exist.
func (p *Program) TableProblems(pkg *packages.Package) (own, imported Refusals) {
	for i, t := range p.visibleTables(pkg) {
		list := slices.Clone(t.problems)
		for _, e := range t.entries {
			if !e.table.Exported() && e.pkg != pkg {
				continue
			}
			if reason, remedy := p.missingFunction(e.key); reason != "" {
				list = append(list, p.badTable(e.table, e.at, reason, remedy))
			}
		}
		if i == 0 {
			own = list
		} else {
			imported = append(imported, list...)
		}
	}
	return own, imported
}

// NoRuleProblem returns what is wrong with an argument of //nabla:norule, "" if nothing is.
func (p *Program) NoRuleProblem(name string) (reason, remedy string) {
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		if pkg := p.loaded[name[:i]]; pkg != nil && pkg.Types != nil {
			v, ok := pkg.Types.Scope().Lookup(name[i+1:]).(*types.Var)
			if ok && types.TypeString(types.Unalias(v.Type()), nil) == rulesTypeName {
				return "", ""
			}
		} else {
			return "package " + name[:i] + " is not imported",
				"name functions that the function below calls, or tables of rules, with the paths of their packages"
		}
	}
	if reason, _ = p.missingFunction(name); reason != "" {
		return strconv.Quote(name) + " is neither a function nor a table of rules",
			"write the path of its package and its name: example.com/special.Erfcx"
	}
	return "", ""
}

// missingFunction returns why there is no function with a full name, "" if there is one or its package is not loaded.
func (p *Program) missingFunction(name string) (reason, remedy string) {
	const form = "write the path of its package and its name: example.com/special.Erfcx"
	i := strings.LastIndexByte(name, '.')
	if i <= strings.LastIndexByte(name, '/') {
		return fmt.Sprintf("its key %q is no full name of a function", name), form
	}
	pkg := p.loaded[name[:i]]
	if pkg == nil || pkg.Types == nil {
		return "", ""
	}
	if _, ok := pkg.Types.Scope().Lookup(name[i+1:]).(*types.Func); !ok {
		return fmt.Sprintf("it has a rule for %s, and package %s has no such function", name, name[:i]), form
	}
	return "", ""
}
