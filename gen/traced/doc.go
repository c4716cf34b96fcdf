// Package traced builds traced forms: from a function in the form of package ir it builds the same function over
// nabla.Real, which the engines that record at run time can differentiate.
//
// The input is a function and a mask of its active parameters; package activity determines the active variables.
// Variables that are active, and the elements of active slices, arrays and structs, have type [ir.Real] where the
// function has float64; composite types get counterparts over Reals. Everything else stays plain. A plain value that
// flows into an active variable is lifted: its numbers become constants of the trace.
//
// A comparison of Reals is a guard of the trace: a replay is valid only if it has the same outcome. So is a value that
// leaves the trace, as an index, as bits or in a message.
//
// A call of a function with a rule becomes a call of its counterpart over Reals, if its rule names one
// ([ir.Rule.Real]). Otherwise the plain form of the function ([ir.Rule.Plain]) or its source is traced. If there is
// neither, it becomes one operation of the trace ([ir.Operation]), with the derivatives of the rule and their traced
// forms, by which it is differentiated again.
package traced
