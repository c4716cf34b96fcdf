package direct

// postorder returns the nodes of a forest, given by their parents (-1 for roots), children before parents and each
// subtree without interruption. Children keep their order.
func postorder(parent []int32) []int32 {
	n := len(parent)
	first, next := make([]int32, n), make([]int32, n)
	for i := range first {
		first[i] = -1
	}
	root := int32(-1)
	for i := int32(n) - 1; i >= 0; i-- {
		if p := parent[i]; p >= 0 {
			next[i], first[p] = first[p], i
		} else {
			next[i], root = root, i
		}
	}
	order := make([]int32, 0, n)
	var stack []int32
	for ; root >= 0; root = next[root] {
		stack = append(stack, root)
		for len(stack) > 0 {
			i := stack[len(stack)-1]
			if child := first[i]; child >= 0 {
				first[i] = next[child]
				stack = append(stack, child)
			} else {
				stack = stack[:len(stack)-1]
				order = append(order, i)
			}
		}
	}
	return order
}

// A columns is a pattern by columns: the rows of column j are row[ptr[j]:ptr[j+1]].
type columns struct {
	ptr []int
	row []int32
}

func (c columns) col(j int) []int32 { return c.row[c.ptr[j]:c.ptr[j+1]] }

// etree returns the parents in the elimination tree of a symmetric matrix from its upper triangle (Liu, SIAM J. Matrix
// Anal. Appl. 11, 1990): the parent of column j is the first row below the diagonal of column j of the Cholesky
// factor, -1 if there is none.
func etree(upper columns) []int32 {
	n := len(upper.ptr) - 1
	parent, ancestor := make([]int32, n), make([]int32, n)
	for j := range int32(n) {
		parent[j], ancestor[j] = -1, -1
		for _, i := range upper.col(int(j)) {
			for i >= 0 && i < j {
				up := ancestor[i]
				ancestor[i] = j // paths to the root are shortened
				if up < 0 {
					parent[i] = j
				}
				i = up
			}
		}
	}
	return parent
}

// columnCounts returns the numbers of entries of the columns of the Cholesky factor, with the diagonal, from the
// lower triangle of a matrix in postorder and its elimination tree. It does not visit the entries of the factor:
// a column counts the row subtrees that begin in it and discounts those that meet (Gilbert, Ng & Peyton, SIAM J. Matrix
// Anal. Appl. 15, 1994).
func columnCounts(lower columns, parent []int32) []int32 {
	n := len(parent)
	count := make([]int32, n)
	first := make([]int32, n)    // first descendant of a node
	furthest := make([]int32, n) // row → largest first descendant of a leaf of its subtree so far
	leaf := make([]int32, n)     // row → previous leaf of its subtree
	ancestor := make([]int32, n)
	for j := range int32(n) {
		first[j], furthest[j], leaf[j], ancestor[j] = j, -1, -1, j
	}
	for j := range int32(n) {
		if first[j] == j {
			count[j] = 1 // a leaf of the tree
		}
		if p := parent[j]; p >= 0 {
			first[p] = min(first[p], first[j])
		}
	}
	for j := range int32(n) {
		if p := parent[j]; p >= 0 {
			count[p]--
		}
		for _, i := range lower.col(int(j)) {
			if i == j || first[j] <= furthest[i] {
				continue // the diagonal, or not a leaf of the subtree of row i
			}
			furthest[i] = first[j]
			count[j]++
			if previous := leaf[i]; previous >= 0 {
				meet := previous
				for meet != ancestor[meet] {
					meet = ancestor[meet]
				}
				for k := previous; k != meet; {
					k, ancestor[k] = ancestor[k], meet
				}
				count[meet]--
			}
			leaf[i] = j
		}
		if p := parent[j]; p >= 0 {
			ancestor[j] = p
		}
	}
	for j, p := range parent {
		if p >= 0 {
			count[p] += count[j]
		}
	}
	return count
}
