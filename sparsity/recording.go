package sparsity

import (
	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/rules"
)

// fromRecording returns the dependency graph of a recording with the outputs ys, in one pass over the records. If local
// is set, the recording must have kept its values, which then narrow the classes of the operations down. The error is
// that with which a custom rule aborts.
func fromRecording(r core.Recorded, ys []core.Rep, local bool) (g *graph, err error) {
	defer recoverAbort(&err)
	g = newGraph(r.NIn, r.Len)
	first := r.NIn + r.NParam + 1
	number := make([]int32, first+r.Len) // id → number of the graph; 0 for parameters and guards
	for i := range r.NIn {
		number[i+1] = int32(i + 1)
	}
	// read returns the operand of a record: a number by its id, or a constant.
	read := func(a uint32) (o operand) {
		if a&core.ConstBit == 0 {
			o.id = number[a]
			if local {
				o.v = r.Values[a]
			}
		} else if local {
			o.v = r.Consts[a&^core.ConstBit]
		}
		return o
	}
	// args collects the arguments of the next call, and the third operand of a ternary operation.
	var args []operand
	var ids, outs []int32
	id := first
	for _, chunk := range r.Chunks {
		for _, rec := range chunk {
			switch op := rec.Op; {
			case op < uint32(rules.NumOps):
				var x, y, z operand
				x = read(rec.A)
				switch rules.Op(op).Arity() {
				case 3:
					z = args[0] // recorded as an OpArg before the operation
					args = args[:0]
					fallthrough
				case 2:
					y = read(rec.B)
				}
				number[id] = g.operation(rules.Op(op), local, x, y, z)
			case op == core.OpArg:
				args = append(args, read(rec.A))
			case op == core.OpCall:
				ids = ids[:0]
				for _, a := range args {
					ids = append(ids, a.id)
				}
				args = args[:0]
				c := r.Customs[rec.A]
				outs = make([]int32, c.Outputs(len(ids)))
				g.call(c, outs, ids)
			case op == core.OpCallOut:
				number[id] = outs[rec.A]
			}
			id++
		}
	}
	for _, y := range ys {
		g.outs = append(g.outs, number[y.ID])
	}
	return g, nil
}

// recoverAbort recovers the panic with which a custom rule or a task aborts and stores its error in *err. Other panics
// are passed on. It must be deferred directly.
func recoverAbort(err *error) {
	switch v := recover().(type) {
	case nil:
	case core.Abort:
		*err = v.Err
	default:
		panic(v)
	}
}
