// Package entries builds, from a derivative that is linear in a direction, functions that compute the entries of its
// matrix one by one: those of sparse Jacobians from tangents, and of sparse Hessians from tangents of adjoints.
//
// # Method
//
// A tangent is linear in the direction. Each of its scalars that depends on the direction, here called a dot, is a sum
// of elements of the direction times numbers that do not depend on it. Build keeps this sum in place of the dot, as a
// form: a list of terms, each with an index into the direction and a coefficient.
//
//	t = xDot[i]*a + xDot[i+1]      t has the form {i: a, i+1: 1}
//	yDot[k] = t * b                row k has the entries {i: a*b, i+1: b}
//
// A slice of the direction, or of the result, becomes the index of its first element. A dot that is assigned once has a
// form in the generator alone. Another one has slots, variables for an index and a coefficient, to which assignments
// write. There are three kinds:
//
//   - a shared slot has an index that is computed from variables declared before the dot and assigned once, and so is
//     the same wherever the dot is assigned. Branches whose terms have the same indices have the same entries. The
//     coefficient is 0 if a term is absent;
//   - a private slot has a variable for its index, which is [NoColumn] if the term is absent. Private slots that are
//     always assigned together, to the same index, share the variable, so that their terms are added up;
//   - a dot to which each iteration of a loop adds terms is a list, whose terms are in memory.
//
// How many slots there are is found by building the function repeatedly until all terms fit.
//
// The functions suit local code, whose numbers depend on few inputs each. Build refuses a derivative whose forms have
// no fixed length other than such sums, or that keeps dots in memory other than its results.
//
// # Entries and plans
//
// The order in which entries are computed depends on the function's control flow. The plan function runs it and returns
// a list of integers: the number of dots that are lists, and then the records
//
//	2n, row, n columns         n entries of a row, which replace those that it had; 2n+1 if they are added to them
//	ListTerm, list, column     a term of a list
//	ListEntries, n, n columns  further entries of the row before, the n terms of a list
//
// From this list the caller makes a plan for the values function: the index of each list's memory among the entries,
// and then, for each record, where at stands for the index of the value among the entries,
//
//	-1 - row, less 1<<29 if entries are added, and for each entry its column and at
//	math.MinInt32 + list, column
//	-1<<30 - n, and for each entry its at
//
// The values function compares rows, columns and lengths with those that it computes. It returns true at the first
// difference, when control flow has changed. No record can be read as another one, or as several, since the first
// integers of records are negative and columns are not; rows and lengths are less than 1<<29.
//
// Where rows and columns depend on nothing but lengths of slices and integers of parameters, these are compared
// instead, see [Entries.Head]: the list has them after the number of lists, as two integers each, and the plan begins
// with them, followed by nothing but the indices of the values.
package entries
