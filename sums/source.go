package sums

import "iter"

// A Source has blocks of rows. It is read once for each sum.
type Source[B any] interface {
	// Parts returns the parts of the data, in order: iterators over the blocks of each. The parts are read by several
	// goroutines, each part by one of them. A block may be used until the next one is asked for, and the iterator may
	// reuse its memory then.
	//
	// An error from Parts, or beside a block, ends the sum with a *[ReadError]. But a *[RowError] beside a nil block
	// stands for one row that cannot be read, which is treated as a bad row; the iterator goes on with the next one.
	//
	// How the data is divided into blocks and parts determines the last bits of the sum. It should not depend on the
	// number of workers.
	Parts() ([]iter.Seq2[*B, error], error)
}

// Slice returns blocks in memory as a source. A block is used by one worker at a time, and its memory may be written by
// the function. The parts are divided by the number of blocks alone.
func Slice[B any](blocks []B) Source[B] { return slice[B](blocks) }

type slice[B any] []B

// Bounds of the number of blocks in a part of a slice, and the number of parts that is aimed at between them.
const maxSlicePart, sliceParts = 256, 64

func (s slice[B]) Parts() ([]iter.Seq2[*B, error], error) {
	size := min(max(1, len(s)/sliceParts), maxSlicePart)
	parts := make([]iter.Seq2[*B, error], 0, (len(s)+size-1)/size)
	for len(s) > 0 {
		part := s[:min(size, len(s))]
		s = s[len(part):]
		parts = append(parts, func(yield func(*B, error) bool) {
			for i := range part {
				if !yield(&part[i], nil) {
					return
				}
			}
		})
	}
	return parts, nil
}

// Stream returns the blocks of seq as a source: a single sequence, which the workers read in turns, a few blocks at a
// time. The worker that evaluates a block does it while the next ones are read, so that seq must yield a block with
// memory of its own each time. Where reading takes longer than evaluating, divide the data into parts instead.
//
// seq begins from the start again for each sum. Errors are as for [Source].
func Stream[B any](seq iter.Seq2[*B, error]) Source[B] { return stream[B](seq) }

type stream[B any] iter.Seq2[*B, error]

// streamPart is the number of blocks in a part of a stream.
const streamPart = 16

func (s stream[B]) Parts() ([]iter.Seq2[*B, error], error) {
	return []iter.Seq2[*B, error]{iter.Seq2[*B, error](s)}, nil
}

// A feed hands the parts of a source out, one at a time.
type feed[B any] interface {
	// next returns the next part, nil after the last.
	next() iter.Seq2[*B, error]
	// close ends the reading.
	close()
	// total returns the number of parts, 0 if it is not known.
	total() int
}

// open starts reading s.
func open[B any](s Source[B]) (feed[B], error) {
	if s, ok := s.(stream[B]); ok {
		h := new(streamFeed[B])
		h.pull, h.stop = iter.Pull2(iter.Seq2[*B, error](s))
		return h, nil
	}
	parts, err := s.Parts()
	return &listFeed[B]{parts: parts, all: len(parts)}, err
}

type listFeed[B any] struct {
	parts []iter.Seq2[*B, error]
	all   int
}

func (h *listFeed[B]) close()     {}
func (h *listFeed[B]) total() int { return h.all }

func (h *listFeed[B]) next() iter.Seq2[*B, error] {
	if len(h.parts) == 0 {
		return nil
	}
	part := h.parts[0]
	h.parts = h.parts[1:]
	return part
}

// streamFeed divides a stream into parts of a few blocks.
type streamFeed[B any] struct {
	pull  func() (*B, error, bool)
	stop  func()
	ended bool
}

func (h *streamFeed[B]) close()     { h.stop() }
func (h *streamFeed[B]) total() int { return 0 }

func (h *streamFeed[B]) next() iter.Seq2[*B, error] {
	type item struct {
		b   *B
		err error
	}
	var items []item
	for len(items) < streamPart && !h.ended {
		b, err, more := h.pull()
		if !more {
			h.ended = true
			break
		}
		items = append(items, item{b, err})
	}
	if len(items) == 0 {
		return nil
	}
	return func(yield func(*B, error) bool) {
		for _, x := range items {
			if !yield(x.b, x.err) {
				return
			}
		}
	}
}
