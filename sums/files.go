package sums

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"iter"
	"os"
	"strconv"
	"sync"
)

// Lines reads rows that are lines of text files, a [Source]. Parts of a file are read by several goroutines.
type Lines[B any] struct {
	// Files are the names of the files, whose rows come one after the other.
	Files []string
	// Skip is the number of lines at the beginning of each file that are not rows, such as a header.
	Skip int
	// Clear makes b empty, for other rows; it should keep the memory of b.
	Clear func(b *B)
	// Parse appends the row of a line to b. The line has no end of line, and is valid until Parse returns. An error
	// makes the row a bad one, and b must be as before then.
	Parse func(b *B, line []byte) error
	// Rows is the number of lines in a block; 0 is 1000. Lines that are empty are not rows.
	Rows int
	// Part is the size of a part in bytes; 0 is 4 MiB. A part has the lines that begin in it.
	Part int64
}

const (
	defaultRows = 1000
	defaultPart = 4 << 20
)

// Parts implements [Source].
func (l Lines[B]) Parts() ([]iter.Seq2[*B, error], error) {
	if l.Clear == nil || l.Parse == nil {
		return nil, &QueryError{"Lines.Clear or Lines.Parse is nil, want functions that empty a block and append a row"}
	}
	if l.Rows <= 0 {
		l.Rows = defaultRows
	}
	if l.Part <= 0 {
		l.Part = defaultPart
	}
	pool := &sync.Pool{New: func() any { return &lineReader[B]{r: bufio.NewReaderSize(nil, 64<<10)} }}
	var parts []iter.Seq2[*B, error]
	for _, name := range l.Files {
		begin, end, err := l.rowsOf(name)
		if err != nil {
			return nil, err
		}
		for at := begin; at < end; at += l.Part {
			from, to := at, min(at+l.Part, end)
			parts = append(parts, func(yield func(*B, error) bool) {
				r := pool.Get().(*lineReader[B])
				defer pool.Put(r)
				r.read(&l, name, from, to, from == begin, yield)
			})
		}
	}
	return parts, nil
}

// AppendFloats appends the numbers of a line to dst, which are separated by sep, with spaces around them that do not
// count, and returns it: a help for Lines.Parse. Beside an error dst is as before. It allocates nothing else.
func AppendFloats(dst []float64, line []byte, sep byte) ([]float64, error) {
	before := len(dst)
	for field := 1; ; field++ {
		end := bytes.IndexByte(line, sep)
		text := line
		if end >= 0 {
			text = line[:end]
		}
		x, err := strconv.ParseFloat(string(bytes.TrimSpace(text)), 64)
		if err != nil {
			return dst[:before], fmt.Errorf("field %d: %w", field, err)
		}
		if dst = append(dst, x); end < 0 {
			return dst, nil
		}
		line = line[end+1:]
	}
}

// rowsOf returns where the rows of a file begin and end.
func (l *Lines[B]) rowsOf(name string) (begin, end int64, err error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, 0, err
	}
	r := lineReader[B]{r: bufio.NewReader(f)}
	for range l.Skip {
		line, err := r.line()
		if begin += int64(len(line)); err == io.EOF {
			break
		} else if err != nil {
			return 0, 0, &FileError{name, begin, err}
		}
	}
	return begin, info.Size(), nil
}

// A lineReader reads lines, with memory that it reuses.
type lineReader[B any] struct {
	r    *bufio.Reader
	long []byte // a line that is longer than the buffer of r
	b    B
}

// line returns the next line with its end, valid until the next call.
func (r *lineReader[B]) line() ([]byte, error) {
	line, err := r.r.ReadSlice('\n')
	if err != bufio.ErrBufferFull {
		return line, err
	}
	r.long = append(r.long[:0], line...)
	for err == bufio.ErrBufferFull {
		line, err = r.r.ReadSlice('\n')
		r.long = append(r.long, line...)
	}
	return r.long, err
}

// read yields the blocks of the lines that begin in the bytes from at up to end; at is the beginning of a line if
// first.
func (r *lineReader[B]) read(l *Lines[B], name string, at, end int64, first bool, yield func(*B, error) bool) {
	fail := func(err error) { yield(nil, &FileError{name, at, err}) }
	f, err := os.Open(name)
	if err != nil {
		yield(nil, err)
		return
	}
	defer f.Close()
	if !first {
		at-- // where the byte before is an end of line, a line begins at at
	}
	if _, err := f.Seek(at, io.SeekStart); err != nil {
		fail(err)
		return
	}
	r.r.Reset(f)
	if !first {
		line, err := r.line()
		if at += int64(len(line)); err == io.EOF {
			return
		} else if err != nil {
			fail(err)
			return
		}
	}
	l.Clear(&r.b)
	rows := 0
	flush := func() bool {
		if rows == 0 {
			return true
		}
		rows = 0
		ok := yield(&r.b, nil)
		l.Clear(&r.b)
		return ok
	}
	for at < end {
		line, err := r.line()
		if err != nil && err != io.EOF {
			if flush() {
				fail(err)
			}
			return
		}
		begin := at
		at += int64(len(line))
		if text := bytes.TrimRight(line, "\r\n"); len(text) > 0 {
			if problem := l.Parse(&r.b, text); problem != nil {
				if !flush() || !yield(nil, &RowError{Err: &FileError{name, begin, problem}}) {
					return
				}
			} else if rows++; rows == l.Rows && !flush() {
				return
			}
		}
		if err == io.EOF {
			break
		}
	}
	flush()
}

// Records reads rows that are records of one size in binary files, a [Source]. Parts of a file are read by several
// goroutines.
type Records[B any] struct {
	// Files are the names of the files, whose rows come one after the other.
	Files []string
	// Skip is the number of bytes at the beginning of each file that are not records.
	Skip int64
	// Size is the size of a record in bytes.
	Size int
	// Decode makes b the block of the given records, one after the other; it should keep the memory of b. The bytes are
	// valid until Decode returns. An error ends the sum.
	Decode func(b *B, records []byte) error
	// Rows is the number of records in a block; 0 is 1000.
	Rows int
	// Part is the size of a part in blocks; 0 is what fits in 4 MiB, at least one.
	Part int
}

// Parts implements [Source].
func (l Records[B]) Parts() ([]iter.Seq2[*B, error], error) {
	if l.Decode == nil {
		return nil, &QueryError{"Records.Decode is nil, want a function that decodes records"}
	}
	if l.Size <= 0 {
		return nil, &QueryError{fmt.Sprintf("Records.Size is %d, want the number of bytes in a record", l.Size)}
	}
	if l.Rows <= 0 {
		l.Rows = defaultRows
	}
	if l.Part <= 0 {
		l.Part = max(1, defaultPart/l.Rows/l.Size)
	}
	pool := &sync.Pool{New: func() any { return &recordReader[B]{bytes: make([]byte, l.Rows*l.Size)} }}
	var parts []iter.Seq2[*B, error]
	for _, name := range l.Files {
		info, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		size := int64(l.Rows) * int64(l.Size) * int64(l.Part)
		for at := l.Skip; at < info.Size(); at += size {
			from, to := at, min(at+size, info.Size())
			parts = append(parts, func(yield func(*B, error) bool) {
				r := pool.Get().(*recordReader[B])
				defer pool.Put(r)
				r.read(&l, name, from, to, yield)
			})
		}
	}
	return parts, nil
}

// A recordReader reads records, with memory that it reuses.
type recordReader[B any] struct {
	bytes []byte
	b     B
}

// read yields the blocks of the records in the bytes from at up to end.
func (r *recordReader[B]) read(l *Records[B], name string, at, end int64, yield func(*B, error) bool) {
	f, err := os.Open(name)
	if err != nil {
		yield(nil, err)
		return
	}
	defer f.Close()
	for at < end {
		b := r.bytes[:min(int64(len(r.bytes)), end-at)]
		k, err := f.ReadAt(b, at)
		if err == nil && len(b)%l.Size != 0 || err == io.EOF {
			err = io.ErrUnexpectedEOF // the last record is not whole
		}
		if whole := b[:k-k%l.Size]; len(whole) > 0 {
			if err := l.Decode(&r.b, whole); err != nil {
				yield(nil, &FileError{name, at, err})
				return
			}
			if !yield(&r.b, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, &FileError{name, at + int64(k-k%l.Size), err})
			return
		}
		at += int64(k)
	}
}
