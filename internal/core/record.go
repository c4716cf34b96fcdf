package core

import (
	"math"
	"sync/atomic"

	"github.com/nabla-ad/nabla/rules"
)

// A Record is one recorded operation: 12 bytes. Op holds the operation in its low
// 16 bits and, for a guard, the outcome in bit 16. A and B are ids of numbers, or
// the index of a constant with ConstBit set.
type Record struct{ Op, A, B uint32 }

// ConstBit marks an operand that is an index into the constants.
const ConstBit = 1 << 31

// OutcomeBit is set in the Op of a comparison that was true.
const OutcomeBit = 1 << 16

// Operations of a recording beyond the elementary functions. Every record takes
// one id, guards included, so that guards take part in the period of a loop.
const (
	OpArg     = uint32(rules.NumOps) + iota // A: an operand of the next operation that takes more than two
	OpCapture                               // A: index of a captured outer number
	// A: index of the custom rule, B: number of arguments, which stand before it as OpArg
	OpCall
	OpCallOut   // A: position among the outputs of the call before it
	OpGuardLt   // A < B has the outcome of OutcomeBit
	OpGuardLe   // A <= B
	OpGuardEq   // A == B
	OpGuardBits // A has the bits of the constant B
	OpGuardInt  // A truncated to an integer is the constant B
)

const (
	firstChunk = 1 << 10
	fullChunk  = 1 << 16
)

// recording is the raw log of a recorder. Records are stored in chunks, which are never copied.
type recording struct {
	chunks   [][]Record
	view     [][]Record // buffer for Recorded.Chunks
	cur      []Record
	n        int // records used in cur
	used     int // chunks used
	consts   []float64
	keep     bool      // the values of all numbers are stored
	blind    bool      // values must not be read; see record_blind.go
	vals     []float64 // id → value, if keep is set
	captures []Rep
	capIDs   map[capKey]int32
	customs  []Custom
	pulls    bool // pullbacks of the custom rules are kept
	nIn      int
	nParam   int
	runs     []Run                  // see loops.go
	earlier  atomic.Pointer[Tracer] // the open recording before this one
	isListed bool                   // among the open recordings
	// pullbacks holds those that the rules have kept, by custom rule, if pulls is set; nil for the others.
	pullbacks []Pullback
}

// capKey identifies a captured number. It includes the value because in a trace in forward mode x and x+1 share an id,
// as they have the same tangents.
type capKey struct {
	t    *Tracer
	id   int32
	bits uint64
}

// RecordOptions configures a recording.
type RecordOptions struct {
	Nested bool // opened inside another trace: its numbers may be captured
	Keep   bool // store the value of every number
	Blind  bool // values of numbers must not be read
	Loops  bool // generated code says where the iterations of its loops begin
	// Pullbacks says that each call of a custom rule keeps its pullback, if it can, for one use of the recording.
	Pullbacks bool
	Limit     int // maximal number of operations; 0 for the maximum that ids allow
}

// StartRecording opens t as a recorder. Numbers 1 to nIn are the inputs and the next nParam numbers the parameters.
func (t *Tracer) StartRecording(nIn, nParam int, o RecordOptions) {
	t.open(kindRecord, o.Limit)
	t.nested = o.Nested
	t.nIn, t.nParam = nIn, nParam
	t.begin(nIn + nParam + 1)
	t.keep, t.blind, t.pulls = o.Keep, o.Blind, o.Pullbacks
	if o.Keep && cap(t.vals) < int(t.next) {
		t.vals = make([]float64, t.next, 2*int(t.next)+firstChunk)
	}
	t.rewindRecording()
	if o.Loops {
		t.list()
	}
}

// rewindRecording discards all operations. Memory is kept for reuse.
func (t *Tracer) rewindRecording() {
	t.used, t.n = 0, 0
	t.cur = nil
	t.consts = t.consts[:0]
	t.runs = t.runs[:0]
	clear(t.captures)
	t.captures = t.captures[:0]
	clear(t.capIDs)
	clear(t.customs)
	t.customs = t.customs[:0]
	clear(t.pullbacks)
	t.pullbacks = t.pullbacks[:0]
	if t.keep {
		t.vals = t.vals[:t.first]
	}
}

// Input returns number i+1, an input or a parameter, with value v.
func (t *Tracer) Input(i int, v float64) Rep {
	if t.kind == kindRecord && t.keep {
		t.vals[i+1] = v
	}
	return t.number(v, int32(i)+1)
}

// Parameters returns the id of the first parameter of a recording, or 0 if the trace treats parameters as constants.
func (t *Tracer) Parameters() int32 {
	if t.kind == kindRecord && t.nParam > 0 {
		return int32(t.nIn) + 1
	}
	return 0
}

// grow makes the next chunk the current one. It panics with an Abort that holds a *LimitError at the limit.
func (t *Tracer) grow() {
	room := t.room(t.Bytes)
	if t.used == len(t.chunks) {
		t.chunks = append(t.chunks, make([]Record, min(firstChunk<<min(t.used, 16), fullChunk)))
	}
	t.cur = t.chunks[t.used]
	t.cur = t.cur[:min(len(t.cur), room)] // so that the limit is checked here and not on the hot path
	t.used++
	t.n = 0
}

// Bytes returns the number of bytes that the recording uses.
func (t *Tracer) Bytes() int {
	b := 8*len(t.consts) + 8*len(t.vals) + 12*len(t.runs)
	for _, c := range t.chunks[:t.used] {
		b += 12 * len(c)
	}
	return b
}

// record appends an operation and returns its result, with value v.
func (t *Tracer) record(op, a, b uint32, v float64) Rep {
	if t.n == len(t.cur) {
		t.grow()
	}
	t.cur[t.n] = Record{op, a, b}
	t.n++
	id := t.next
	t.next = id + 1
	if t.keep {
		t.vals = append(t.vals, v)
	}
	return Rep{V: v, Mark: Mark{id, t.gen.Load()}, T: t}
}

// operand returns a, a constant or a number of t, as an operand of a Record.
func (t *Tracer) operand(a Rep) uint32 {
	if a.ID != 0 {
		return uint32(a.ID)
	}
	return t.Constant(a.V)
}

// Constant appends a constant, unless it equals the last one, and returns it as an operand.
func (t *Tracer) Constant(v float64) uint32 {
	if n := len(t.consts); n > 0 && math.Float64bits(t.consts[n-1]) == math.Float64bits(v) {
		return uint32(n-1) | ConstBit
	}
	t.consts = append(t.consts, v)
	return uint32(len(t.consts)-1) | ConstBit
}

// Capture makes r, a number of an earlier trace, an input of this recording and returns it as a number of t. It panics
// with an Abort that holds ErrForeignReal if t is not nested or r belongs to a later trace.
func (t *Tracer) Capture(r Rep) Rep {
	r.live()
	if t.kind != kindRecord || !t.nested || r.T.birth.Load() > t.birth.Load() {
		panic(Abort{ErrForeignReal})
	}
	key := capKey{r.T, r.ID, math.Float64bits(r.V)}
	id, ok := t.capIDs[key]
	if !ok {
		if t.capIDs == nil {
			t.capIDs = make(map[capKey]int32)
		}
		t.captures = append(t.captures, r)
		id = t.record(OpCapture, uint32(len(t.captures)-1), 0, r.V).ID
		t.capIDs[key] = id
	}
	return t.number(r.V, id)
}

// Recorded is the raw form of a recording. It shares memory with the recorder and is valid until the next
// StartRecording.
type Recorded struct {
	NIn, NParam int
	Chunks      [][]Record // in order, the last one cut to its records
	Len         int        // records in all
	Consts      []float64
	Values      []float64 // id → value, if they were kept
	Captures    []Rep
	Customs     []Custom
	Runs        []Run      // that loops may have made, if they were asked for
	Pullbacks   []Pullback // of Customs, if they were asked for; nil where none is kept
}

// Recorded returns the recording.
func (t *Tracer) Recorded() Recorded {
	r := Recorded{NIn: t.nIn, NParam: t.nParam, Consts: t.consts, Values: t.vals, Captures: t.captures,
		Customs: t.customs, Runs: t.runs, Pullbacks: t.pullbacks, Chunks: t.view[:0]}
	for i, c := range t.chunks[:t.used] {
		if i == t.used-1 {
			c = c[:t.n]
		}
		r.Chunks = append(r.Chunks, c)
		r.Len += len(c)
	}
	t.view = r.Chunks
	return r
}

// ParamValues returns the stored values of the parameters. The slice aliases the recording, which must keep values.
func (t *Tracer) ParamValues() []float64 {
	return t.vals[t.nIn+1 : t.nIn+1+t.nParam]
}
