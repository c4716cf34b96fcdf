package race

import (
	"fmt"
	"math"
	"slices"
)

// majority returns the largest set of candidates that agree pairwise. It stores in the other working candidates the
// reason for their rejection, and in those of the set their difference from the reference candidate. Two largest sets
// are an error.
func majority(all []*runner, n int) ([]*runner, error) {
	var work []*runner
	for _, a := range all {
		if a.Err == nil {
			work = append(work, a)
		}
	}
	agree := make([][]bool, len(work))
	for i, a := range work {
		agree[i] = make([]bool, len(work))
		for j, b := range work {
			agree[i][j] = differs(a.y, a.d, b.y, b.d, max(a.Tolerance, b.Tolerance), n) == ""
		}
	}
	best, several := largestClique(agree)
	if several {
		// Without a majority, each candidate reports one that contradicts it.
		for i, a := range work {
			if j := slices.Index(agree[i], false); j >= 0 {
				a.Err = contradiction(a, work[j], n)
			}
		}
		var list error
		for _, a := range all {
			list = appendFailure(list, a.Name, a.Err)
		}
		return nil, fmt.Errorf("%w, and no side has a majority: %w; add a candidate that shares no code with them, "+
			"such as finitediff.Backend{} (nabla.ErrDisagree)", ErrDisagree, list)
	}
	var right []*runner
	for _, i := range best {
		right = append(right, work[i])
	}
	if len(right) == 0 {
		return nil, nil
	}
	reference := right[0] // the first of the most accurate
	for _, a := range right {
		if a.Tolerance < reference.Tolerance {
			reference = a
		}
	}
	for i, a := range work {
		if slices.Contains(best, i) {
			a.Difference = distance(a.d, reference.d)
			continue
		}
		against := reference
		if differs(a.y, a.d, reference.y, reference.d, max(a.Tolerance, reference.Tolerance), n) == "" {
			against = right[slices.IndexFunc(best, func(j int) bool { return !agree[i][j] })]
		}
		a.Err = contradiction(a, against, n)
	}
	return right, nil
}

// contradiction returns the error of a, whose results differ from those of b.
func contradiction(a, b *runner, n int) error {
	at := differs(a.y, a.d, b.y, b.d, max(a.Tolerance, b.Tolerance), n)
	return fmt.Errorf("%w: %s by %s (nabla.ErrDisagree)", ErrDisagree, at, b.Name)
}

// differs returns a description of the first difference between the value y, with the derivative d in rows of n, and y2
// with d2. It returns "" if they agree within tol. The text ends where the caller names the origin of y2 and d2.
func differs(y, d, y2, d2 []float64, tol float64, n int) string {
	for i := range y {
		if !agrees(y[i], y2[i], Agreement, 0) {
			return fmt.Sprintf("output %d is %v, and %v", i, y[i], y2[i])
		}
		row, row2 := d[i*n:(i+1)*n], d2[i*n:(i+1)*n]
		size := max(largest(row), largest(row2))
		for j := range row {
			if agrees(row[j], row2[j], tol, size) {
				continue
			}
			if len(y) == 1 {
				return fmt.Sprintf("component %d is %v, and %v", j, row[j], row2[j])
			}
			return fmt.Sprintf("element (%d, %d) is %v, and %v", i, j, row[j], row2[j])
		}
	}
	return ""
}

// agrees reports whether a and b agree within tol in a row whose largest element has the given size.
func agrees(a, b, tol, size float64) bool {
	if a == b || a != a && b != b {
		return true
	}
	if tol <= Agreement {
		size /= 1000
	}
	if math.IsInf(a, 0) || math.IsInf(b, 0) {
		return false
	}
	return math.Abs(a-b) <= tol*max(math.Abs(a), math.Abs(b), size)
}

// largest returns the largest finite absolute value in v, 0 if there is none.
func largest(v []float64) float64 {
	m := 0.0
	for _, a := range v {
		if a = math.Abs(a); a > m && !math.IsInf(a, 0) {
			m = a
		}
	}
	return m
}

// distance returns the largest difference between a and b, relative to the largest element of b.
func distance(a, b []float64) float64 {
	worst := 0.0
	for i := range a {
		if d := math.Abs(a[i] - b[i]); d > worst {
			worst = d
		}
	}
	if size := largest(b); size > 0 {
		worst /= size
	}
	return worst
}

// largestClique returns the largest set of indices that agree pairwise, and whether there are several of that size.
// agree is symmetric. The search is exhaustive and takes exponential time in the number of candidates.
func largestClique(agree [][]bool) (best []int, several bool) {
	var grow func(set []int, next int)
	grow = func(set []int, next int) {
		switch {
		case len(set) > len(best):
			best, several = slices.Clone(set), false
		case len(set) == len(best) && !slices.Equal(set, best):
			several = true
		}
		for i := next; i < len(agree); i++ {
			if len(set)+len(agree)-i < len(best) {
				return
			}
			if !slices.ContainsFunc(set, func(j int) bool { return !agree[i][j] }) {
				grow(append(set, i), i+1)
			}
		}
	}
	grow(nil, 0)
	return best, several
}
