package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// report writes the tables, and reports whether the outcomes are as the two lists say.
func report(w io.Writer, list []*function, listed, known map[string]string, verbose bool) bool {
	if verbose {
		for _, f := range list {
			fmt.Fprintf(w, "%-8s %s: %s\n", f.outcome, f.name(), f.why)
			for _, r := range f.refusals {
				if f.outcome == refused {
					fmt.Fprintf(w, "         %s: %s: %s; %s\n", r.Pos, r.Func, r.Reason, r.Remedy)
				}
			}
			for _, r := range f.warnings {
				fmt.Fprintf(w, "         %s: warning: %s: %s; %s\n", r.Pos, r.Func, r.Reason, r.Remedy)
			}
		}
		fmt.Fprintln(w)
	}
	type row [warned + 1]int
	rows := map[string]*row{}
	for _, f := range list {
		part, _, _ := strings.Cut(f.dir, "/")
		for _, name := range []string{f.dir, part + ", all", "~all"} {
			if rows[name] == nil {
				rows[name] = &row{}
			}
			rows[name][f.outcome]++
		}
	}
	fmt.Fprintln(w, "| package | functions | right | refused | wrong | warned | unclear | right |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|")
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		r := rows[name]
		n := 0
		for _, k := range r {
			n += k
		}
		fmt.Fprintf(w, "| %s | %d | %d | %d | %d | %d | %d | %.0f %% |\n", strings.TrimPrefix(name, "~"), n,
			r[right], r[refused], r[wrong], r[warned], r[unclear], 100*float64(r[right])/float64(n))
	}
	printReasons(w, list)
	ok := true
	for _, f := range list {
		_, isListed := listed[f.name()]
		why, isKnown := known[f.name()]
		switch {
		case isKnown && f.outcome == wrong:
			fmt.Fprintf(w, "\n%s: %s; known: %s\n", f.name(), f.why, why)
		case isKnown:
			fmt.Fprintf(w, "\n%s is %s; remove it from %s\n", f.name(), f.outcome, wrongFile)
		case f.outcome == wrong || f.outcome == unclear:
			ok = false
			fmt.Fprintf(w, "\n%s is %s: %s\n", f.name(), f.outcome, f.why)
		case isListed && f.outcome != right:
			ok = false
			fmt.Fprintf(w, "\n%s is %s, and right according to %s\n", f.name(), f.outcome, rightFile)
		}
	}
	return ok
}

// printReasons writes the table of the reasons of refusals. A function counts for each of its reasons, and
// separately if it has only one.
func printReasons(w io.Writer, list []*function) {
	type reason struct {
		text, remedy, example string
		any, only             int
	}
	of := map[string]*reason{}
	for _, f := range list {
		if f.outcome != refused {
			continue
		}
		var kinds []string
		for _, r := range f.refusals {
			for _, kind := range reasonKinds(r.Reason) {
				if of[kind] == nil {
					of[kind] = &reason{text: kind, remedy: r.Remedy, example: f.name() + ": " + r.Reason}
				}
				if !slices.Contains(kinds, kind) {
					kinds = append(kinds, kind)
				}
			}
		}
		for _, k := range kinds {
			of[k].any++
			if len(kinds) == 1 {
				of[k].only++
			}
		}
	}
	reasons := slices.SortedFunc(maps.Values(of), func(a, b *reason) int {
		return cmp.Or(b.any-a.any, b.only-a.only, strings.Compare(a.text, b.text))
	})
	fmt.Fprintln(w, "\n| functions | only reason | reason of refusal | remedy | example |")
	fmt.Fprintln(w, "|---|---|---|---|---|")
	for _, r := range reasons {
		fmt.Fprintf(w, "| %d | %d | %s | %s | %s |\n", r.any, r.only, r.text, r.remedy, r.example)
	}
}

// An identifier of code among the words of a reason: with a dot, a bracket, a digit, or an upper-case letter.
var named = regexp.MustCompile(`^[("*\[]*[\w*\[\]/]*[.A-Z\d\[(*][^:;,]*$`)

// namedNouns are words that a name follows.
var namedNouns = []string{"field", "variable", "type", "argument", "parameter"}

// A call of a variable that holds a function.
var held = regexp.MustCompile(`^call of \w+: which function it holds`)

// A value that is taken out of an interface value.
var behind = regexp.MustCompile(`a \S+ is taken out of the interface value \w+,`)

// The end of the reason why the source of a library is refused: the place, and the consequences.
var inner = regexp.MustCompile(` \([^()]*\.go:\d+\).*`)

// Kinds of constructs of libraries, of which refusals list some by name only.
const (
	inLibrary  = "in a library: "
	unexported = inLibrary + "name of a field, variable or type: its package does not export it, and no code can be " +
		"generated there"
	noSource = inLibrary + "call of …: its source is not available and it has no rule"
	noBody   = inLibrary + "function …: it has no body: it is written in assembly or linked from elsewhere"
)

// reasonKinds returns a reason without the names in it, and the kinds of the other constructs that it lists.
func reasonKinds(reason string) []string {
	first, list, _ := strings.Cut(reason, ", and so of ")
	kinds := []string{reasonKind(first)}
	if list == "" {
		return kinds
	}
	for _, what := range strings.Split(list, ", ") {
		kind := inLibrary + "constructs that the refusal does not list"
		switch word, rest, _ := strings.Cut(what, " "); {
		case strings.HasPrefix(rest, "more"):
		case slices.Contains(namedNouns[:3], word):
			kind = unexported
		case strings.HasPrefix(what, "call of interface method"):
			kind = reasonKind("its source cannot be differentiated: " + what)
		case strings.HasPrefix(what, "call of "):
			kind = noSource
		case word == "function":
			kind = noBody
		default:
			kind = reasonKind("its source cannot be differentiated: " + what)
		}
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// reasonKind returns a reason without the names in it.
func reasonKind(reason string) string {
	where := ""
	if _, rest, ok := strings.Cut(reason, "its source cannot be differentiated: "); ok {
		reason, where = inner.ReplaceAllString(rest, ""), inLibrary
		word, _, _ := strings.Cut(reason, " ")
		if strings.Contains(reason, "does not export it") && slices.Contains(namedNouns[:3], word) {
			return unexported
		}
	}
	for _, kind := range []string{"call of interface method", "assignment to function variable"} {
		if strings.HasPrefix(reason, kind) {
			return where + kind + " …"
		}
	}
	reason = held.ReplaceAllString(reason, "call of …: which function it holds")
	reason = behind.ReplaceAllString(reason, "a value is taken out of an interface value,")
	for _, prefix := range []string{"no tangent: ", "no adjoint: "} {
		if rest, ok := strings.CutPrefix(reason, prefix); ok && strings.Contains(rest, "its rule has none") {
			reason = "no derivative: " + rest
		}
	}
	words := strings.Fields(reason)
	for i, word := range words {
		bare := strings.TrimRight(word, ":;,")
		last := ""
		if i > 0 {
			last = words[i-1]
		}
		if named.MatchString(bare) || slices.Contains(namedNouns, last) {
			words[i] = "…" + word[len(bare):]
		}
	}
	words = slices.CompactFunc(words, func(a, b string) bool { return a == "…" && strings.HasPrefix(b, "…") })
	return where + strings.Join(words, " ")
}
