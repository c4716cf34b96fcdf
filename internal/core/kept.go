package core

import (
	"math"
	"reflect"
	"slices"
)

// A Kept is a copy of a recording, to be compared with later recordings of the same function. The zero value equals
// none. Keep and Same reuse its memory and that of the recording, so that a comparison does not allocate.
type Kept struct {
	records []Record
	consts  []float64
	outs    []keptOutput
	customs []Custom
	made    bool
}

// keptOutput identifies an output of a recording: the id of a number, or the bits of a constant if id is 0.
type keptOutput struct {
	id   int32
	bits uint64
}

func outputOf(y Rep) keptOutput {
	if y.ID == 0 {
		return keptOutput{bits: math.Float64bits(y.V)}
	}
	return keptOutput{id: y.ID}
}

// Keep copies rec, whose outputs are ys.
func (k *Kept) Keep(rec *Recorded, ys []Rep) {
	k.made = true
	k.records = k.records[:0]
	for _, c := range rec.Chunks {
		k.records = append(k.records, c...)
	}
	k.consts = append(k.consts[:0], rec.Consts...)
	k.customs = append(k.customs[:0], rec.Customs...)
	k.outs = k.outs[:0]
	for _, y := range ys {
		k.outs = append(k.outs, outputOf(y))
	}
}

// Same reports whether rec, whose outputs are ys, equals the recording in k. Custom rules are equal only if they are
// comparable values.
func (k *Kept) Same(rec *Recorded, ys []Rep) bool {
	if !k.made || rec.Len != len(k.records) || len(rec.Consts) != len(k.consts) ||
		len(rec.Customs) != len(k.customs) || len(ys) != len(k.outs) {
		return false
	}
	for i, y := range ys {
		if outputOf(y) != k.outs[i] {
			return false
		}
	}
	for i, c := range rec.Customs {
		if t := reflect.TypeOf(c); t != reflect.TypeOf(k.customs[i]) || !t.Comparable() || c != k.customs[i] {
			return false
		}
	}
	for i, v := range rec.Consts {
		if math.Float64bits(v) != math.Float64bits(k.consts[i]) {
			return false
		}
	}
	at := 0
	for _, c := range rec.Chunks {
		if !slices.Equal(c, k.records[at:at+len(c)]) {
			return false
		}
		at += len(c)
	}
	return true
}
