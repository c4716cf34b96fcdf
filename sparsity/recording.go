package sparsity

import (
	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/rules"
)

// fromRecording is the graph of a recording with the outputs ys. With local, the
// recording has kept its values and they count.
func fromRecording(r core.Recorded, ys []core.Rep, local bool) (g *graph, err error) {
	defer caught(&err)
	g = newGraph(r.NIn, r.Len)
	first := r.NIn + r.NParam + 1
	number := make([]int32, first+r.Len) // by id; parameters and guards stay 0
	for i := range r.NIn {
		number[i+1] = int32(i + 1)
	}
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
					z = args[0] // stands before the record
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

// caught recovers the panic with which a custom rule aborts the recording and stores its error in *err. Other panics
// are passed on.
func caught(err *error) {
	switch v := recover().(type) {
	case nil:
	case core.Abort:
		*err = v.Err
	default:
		panic(v)
	}
}
