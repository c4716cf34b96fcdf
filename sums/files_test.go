package sums_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/sums"
	"github.com/nabla-ad/nabla/sums/internal/coded"
)

// text returns the lines of a file with the rows of b, and some that are not rows.
func text(b coded.Batch, end string) string {
	var s strings.Builder
	s.WriteString("# y, x…" + end)
	k := len(b.X) / len(b.Y)
	for i, y := range b.Y {
		s.WriteString(strconv.FormatFloat(y, 'g', -1, 64))
		for _, x := range b.X[i*k : i*k+k] {
			s.WriteString("," + strconv.FormatFloat(x, 'g', -1, 64))
		}
		s.WriteString(end)
		if i%7 == 0 {
			s.WriteString(end)
		}
	}
	return s.String()
}

// lines returns the source of files with text.
func lines(files []string, rows int, part int64) sums.Lines[coded.Batch] {
	return sums.Lines[coded.Batch]{Files: files, Skip: 1, Rows: rows, Part: part,
		Clear: func(b *coded.Batch) { b.X, b.Y = b.X[:0], b.Y[:0] },
		Parse: func(b *coded.Batch, line []byte) error {
			var row [5]float64
			if numbers, err := sums.AppendFloats(row[:0], line, ','); err != nil {
				return err
			} else if len(numbers) != 5 {
				return fmt.Errorf("%d fields", len(numbers))
			}
			b.X, b.Y = append(b.X, row[1:]...), append(b.Y, row[0])
			return nil
		}}
}

// collect returns the rows of a source, in order, and the errors of rows by index.
func collect(t *testing.T, src sums.Source[coded.Batch]) (all coded.Batch, bad map[int]error, err error) {
	t.Helper()
	parts, err := src.Parts()
	bad = map[int]error{}
	for _, part := range parts {
		for b, err := range part {
			var row *sums.RowError
			switch {
			case err == nil:
				all.X, all.Y = append(all.X, b.X...), append(all.Y, b.Y...)
			case errors.As(err, &row):
				bad[len(all.Y)+len(bad)] = row.Err
			default:
				return all, bad, err
			}
		}
	}
	return all, bad, err
}

// TestLines reads the rows of files in parts of any size.
func TestLines(t *testing.T) {
	dir := t.TempDir()
	all := data(60, 4)
	for _, end := range []string{"\n", "\r\n"} {
		content := text(all, end)
		for _, whole := range []string{content, strings.TrimRight(content, end),
			content + "x" + strings.Repeat("y", 70000)} {
			name := filepath.Join(dir, "rows.csv")
			if err := os.WriteFile(name, []byte(whole), 0o666); err != nil {
				t.Fatal(err)
			}
			for part := int64(1 + len(whole)/1000); part < int64(len(content))+10; part += 1 + part/2 {
				for _, rows := range []int{1, 3, 1000} {
					got, bad, err := collect(t, lines([]string{name, name}, rows, part))
					want := coded.Batch{X: slices.Concat(all.X, all.X), Y: slices.Concat(all.Y, all.Y)}
					if err != nil || !reflect.DeepEqual(got, want) || (len(bad) != 0) != strings.HasSuffix(whole, "y") {
						t.Fatalf("parts of %d bytes, blocks of %d rows: %d rows, bad %v, %v", part, rows,
							len(got.Y), bad, err)
					}
				}
			}
		}
	}
	bad := filepath.Join(dir, "bad.csv")
	if err := os.WriteFile(bad, []byte("h\n1,2,3,4,5\n1,2\n0,1,1,1,z\n\n1,2,3,4,5"), 0o666); err != nil {
		t.Fatal(err)
	}
	src := lines([]string{bad}, 10, 0)
	s, err := sums.NewLocal(coded.Logistic(sums.LeaveOut), src, nil).Sum(background, sums.At(make([]float64, 4), true))
	if err != nil || s.Rows != 2 || s.BadRows != 2 || s.Bad[0].Row != 1 || s.Bad[1].Row != 2 ||
		!strings.Contains(s.Bad[0].Reason, "bad.csv: at byte 12: 2 fields") {
		t.Errorf("%+v, %v", s, err)
	}
	_, err = sums.NewLocal(coded.Logistic(sums.Fail), src, nil).Sum(background, sums.At(make([]float64, 4), true))
	var file *sums.FileError
	var row *sums.RowError
	if !errors.As(err, &row) || row.Row != 1 || !errors.As(err, &file) || file.Offset != 12 {
		t.Errorf("%v", err)
	}
	src.Files = append(src.Files, filepath.Join(dir, "missing"))
	if _, err := sums.NewLocal(coded.Logistic(sums.LeaveOut), src, nil).Sum(background,
		sums.At(make([]float64, 4), true)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	var wrong *sums.QueryError
	if _, err := (sums.Lines[coded.Batch]{}).Parts(); !errors.As(err, &wrong) {
		t.Errorf("no functions: %v", err)
	}
}

// records returns the source of binary files with rows of five numbers.
func records(files []string, rows, part int) sums.Records[coded.Batch] {
	return sums.Records[coded.Batch]{Files: files, Skip: 3, Size: 40, Rows: rows, Part: part,
		Decode: func(b *coded.Batch, bytes []byte) error {
			b.X, b.Y = b.X[:0], b.Y[:0]
			for ; len(bytes) > 0; bytes = bytes[40:] {
				number := func(i int) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(bytes[8*i:])) }
				b.Y = append(b.Y, number(0))
				b.X = append(b.X, number(1), number(2), number(3), number(4))
			}
			return nil
		}}
}

// TestRecords reads records in parts of any size, and reports a file that ends within one.
func TestRecords(t *testing.T) {
	dir := t.TempDir()
	all := data(53, 4)
	bytes := []byte("abc")
	for i, y := range all.Y {
		for _, x := range append([]float64{y}, all.X[4*i:4*i+4]...) {
			bytes = binary.LittleEndian.AppendUint64(bytes, math.Float64bits(x))
		}
	}
	name := filepath.Join(dir, "rows")
	for _, cut := range []int{0, 1, 39} {
		if err := os.WriteFile(name, bytes[:len(bytes)-cut], 0o666); err != nil {
			t.Fatal(err)
		}
		rows := 53
		if cut > 0 {
			rows--
		}
		want := coded.Batch{X: all.X[:4*rows], Y: all.Y[:rows]}
		for _, size := range []int{1, 2, 10, 100} {
			for _, part := range []int{0, 1, 3} {
				got, _, err := collect(t, records([]string{name}, size, part))
				if !reflect.DeepEqual(got, want) || (cut > 0) != errors.Is(err, io.ErrUnexpectedEOF) {
					t.Fatalf("blocks of %d rows: %d rows, %v", size, len(got.Y), err)
				}
				if file := (*sums.FileError)(nil); cut > 0 && (!errors.As(err, &file) || file.Offset != 3+52*40) {
					t.Errorf("%v", err)
				}
			}
		}
	}
	var wrong *sums.QueryError
	if _, err := (sums.Records[coded.Batch]{Decode: records(nil, 1, 1).Decode}).Parts(); !errors.As(err, &wrong) {
		t.Errorf("no size: %v", err)
	}
}

// FuzzLines: the rows of a file, and the places of bad ones, do not depend on the sizes of parts and blocks.
func FuzzLines(f *testing.F) {
	f.Add([]byte("h\n1,2,3,4,5\n\n1,2,3,4\r\n5,4,3,2,1"), uint8(3), uint8(2), uint8(1))
	f.Add([]byte(""), uint8(0), uint8(1), uint8(3))
	f.Add([]byte("\r\n\r\n1,2,3,4,5"), uint8(1), uint8(1), uint8(0))
	f.Fuzz(func(t *testing.T, content []byte, part, rows, skip uint8) {
		name := filepath.Join(t.TempDir(), "rows")
		if err := os.WriteFile(name, content, 0o666); err != nil {
			t.Fatal(err)
		}
		read := func(rows int, part int64) (coded.Batch, map[int]error) {
			src := lines([]string{name}, rows, part)
			src.Skip = int(skip % 4)
			all, bad, err := collect(t, src)
			if err != nil {
				t.Fatal(err)
			}
			return all, bad
		}
		all, bad := read(1000, 1<<30)
		got, gotBad := read(1+int(rows%5), 1+int64(part))
		same := func(a, b float64) bool { return a == b || a != a && b != b }
		if !slices.EqualFunc(got.X, all.X, same) || !slices.EqualFunc(got.Y, all.Y, same) || len(bad) != len(gotBad) {
			t.Fatalf("got %v and %v, want %v and %v", got, gotBad, all, bad)
		}
		for i, err := range bad {
			if gotBad[i] == nil || gotBad[i].Error() != err.Error() {
				t.Errorf("row %d: %v, want %v", i, gotBad[i], err)
			}
		}
	})
}

func TestAppendFloats(t *testing.T) {
	dst := []float64{7}
	for line, want := range map[string][]float64{
		"1": {7, 1}, " 1e3 ;-0x1p-2; NaN": {7, 1000, -0.25, math.NaN()}, "": nil,
		"1;": nil, "1;;2": nil, "1,2": nil, "1e999": nil} {
		got, err := sums.AppendFloats(dst, []byte(line), ';')
		same := func(a, b float64) bool { return a == b || a != a && b != b }
		if want == nil {
			if err == nil || len(got) != 1 || got[0] != 7 {
				t.Errorf("%q: got %v, %v", line, got, err)
			}
		} else if err != nil || !slices.EqualFunc(got, want, same) {
			t.Errorf("%q: got %v, %v", line, got, err)
		}
	}
	row := []byte("1.25,-3.5e-7,17,0.1234567,2")
	buf := make([]float64, 0, 5)
	if n := testing.AllocsPerRun(10, func() { buf, _ = sums.AppendFloats(buf[:0], row, ',') }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
