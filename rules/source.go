package rules

import _ "embed"

// Sources holds the Go source of the functions in values of rules that package math lacks, file by file, for those who
// print programs as Go. A top-level name of these files names nothing else in them.
var Sources = []string{valueSource, gammaSource}

//go:embed value.go
var valueSource string

//go:embed gamma.go
var gammaSource string
