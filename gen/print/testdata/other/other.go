// Package other is what functions of other packages are printed for.
package other
