// Package coded has the functions of the scenarios of package difftest as plain Go over float64, with generated code,
// for the conformance test of engines that run such code:
//
//	difftest.Run(t, source.Reverse{}, &difftest.Options{Function: coded.Function})
//
// The command that generates the code depends on it: to rename a function, remove nabla_gen.go before go generate.
package coded

//go:generate go run ../../cmd/nabla gen
