// Package spelling finds the names that misspelled ones are meant to be.
package spelling

import "strings"

// Nearest returns the most likely intended name, or "". Candidates are names that differ from got in case, that begin
// with got, or whose edit distance to got is at most a third of the letters.
func Nearest(got string, names []string) string {
	if len(got) < 2 {
		return ""
	}
	best, least := "", 0
	for _, name := range names {
		if strings.EqualFold(name, got) {
			return name
		}
		d := Distance(strings.ToLower(got), strings.ToLower(name))
		if strings.HasPrefix(strings.ToLower(name), strings.ToLower(got)) {
			d = 1
		} else if d > max(len(got), len(name))/3 {
			continue
		}
		if best == "" || d < least {
			best, least = name, d
		}
	}
	return best
}

// Distance returns the restricted Damerau-Levenshtein distance of a and b: the number of insertions, deletions,
// substitutions and exchanges of neighbours, where no substring is edited twice.
func Distance(a, b string) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			change := row[j]
			if a[i] != b[j] {
				change++
			}
			next[j+1] = min(change, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
