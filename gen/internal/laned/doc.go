// Package laned holds generated tangents of test problems in several directions, whose values and speed are tested and
// measured.
package laned
