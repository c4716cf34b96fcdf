package mmio_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/nabla-ad/nabla/internal/mmio"
)

// read returns the entries of a file as text, one for each.
func read(file string, expand bool) (mmio.Header, []string, error) {
	r, err := mmio.NewReader(strings.NewReader(file))
	if err != nil {
		return mmio.Header{}, nil, err
	}
	var got []string
	err = r.Each(expand, func(i, j int, v complex128) {
		s := fmt.Sprintf("%d,%d=%v", i, j, real(v))
		if imag(v) != 0 {
			s += fmt.Sprintf("%+gi", imag(v))
		}
		got = append(got, s)
	})
	return r.Header, got, err
}

func TestRead(t *testing.T) {
	const mm = "%%MatrixMarket matrix "
	for _, test := range []struct{ name, file, want string }{
		{"real", mm + "coordinate real general\n2 3 2\n1 3 1.5\n2 1 -2e-3\n", "0,2=1.5 1,0=-0.002"},
		{"double", mm + "coordinate double general\n1 1 1\n1 1 3", "0,0=3"},
		{"zero stays", mm + "coordinate real general\n1 1 1\n1 1 0\n", "0,0=0"},
		{"integer", mm + "coordinate integer general\n1 1 1\n1 1 -7\n", "0,0=-7"},
		{"pattern", mm + "coordinate pattern general\n1 2 1\n1 2\n", "0,1=1"},
		{"complex", mm + "coordinate complex general\n1 1 1\n1 1 1 2\n", "0,0=1+2i"},
		{"special", mm + "coordinate real general\n1 2 2\n1 1 NaN\n1 2 -Inf\n", "0,0=NaN 0,1=-Inf"},
		{"symmetric", mm + "coordinate real symmetric\n2 2 2\n1 1 1\n2 1 2\n", "0,0=1 1,0=2 0,1=2"},
		{"skew", mm + "coordinate real skew-symmetric\n2 2 1\n2 1 2\n", "1,0=2 0,1=-2"},
		{"hermitian", mm + "coordinate complex hermitian\n2 2 1\n2 1 2 3\n", "1,0=2+3i 0,1=2-3i"},
		{"array", mm + "array real general\n2 2\n1\n0\n3\n4\n", "0,0=1 0,1=3 1,1=4"},
		{"array symmetric", mm + "array integer symmetric\n2 2\n1\n2\n3\n", "0,0=1 1,0=2 0,1=2 1,1=3"},
		{"array skew", mm + "array real skew-symmetric\n3 3\n1\n2\n3\n", "1,0=1 0,1=-1 2,0=2 0,2=-2 2,1=3 1,2=-3"},
		{"array empty", mm + "array real general\n0 5\n", ""},
		{"twice", mm + "coordinate real general\n1 1 2\n1 1 1\n1 1 2\n", "0,0=1 0,0=2"},
		{"loose", "%%matrixMARKET  Matrix COORDINATE Real General\r\n% a\n\n  % b\n 1\t1 1 \r\n\n% c\n1 1 2\r\n\n%d",
			"0,0=2"},
		{"empty", mm + "coordinate pattern general\n0 0 0\n", ""},
	} {
		_, got, err := read(test.file, true)
		if err != nil || strings.Join(got, " ") != test.want {
			t.Errorf("%s: %s, %v; want %s", test.name, got, err, test.want)
		}
	}
	if _, got, err := read(mm+"coordinate real symmetric\n2 2 1\n2 1 2\n", false); err != nil ||
		!slices.Equal(got, []string{"1,0=2"}) {
		t.Errorf("not expanded: %s, %v", got, err)
	}
}

func TestMalformed(t *testing.T) {
	const mm = "%%MatrixMarket matrix "
	for _, test := range []struct {
		file string
		line int
		want string
	}{
		{"", 1, "the file is empty"},
		{"\n", 1, "no Matrix Market file"},
		{"1 1 1\n", 1, "no Matrix Market file"},
		{"%%MatrixMarket matrix coordinate real\n", 1, "4 words, want 5"},
		{"%%MatrixMarket vector coordinate real general\n", 1, "want a matrix"},
		{mm + "sparse real general\n", 1, "want coordinate or array"},
		{mm + "coordinate rational general\n", 1, "want real"},
		{mm + "coordinate real diagonal\n", 1, "want general"},
		{mm + "array pattern general\n", 1, "want coordinate pattern"},
		{mm + "coordinate real general\n%\n", 3, "ends before the sizes"},
		{mm + "coordinate real general\n1 1\n", 2, "2 numbers, want 3"},
		{mm + "array real general\n1 1 1\n", 2, "3 numbers, want 2"},
		{mm + "coordinate real general\n-1 1 1\n", 2, `"-1" is no size`},
		{mm + "coordinate real general\n1 99999999999999999999 1\n", 2, "fit an int"},
		{mm + "coordinate real symmetric\n2 3 0\n", 2, "want a square one"},
		{mm + "array real symmetric\n9000000000000000000 9000000000000000000\n", 2, "fit an int"},
		{mm + "coordinate real general\n2 2 1\n\n3 1 1\n", 4, "outside 2×2"},
		{mm + "coordinate real general\n2 2 1\n0 1 1\n", 3, "count from 1"},
		{mm + "coordinate real general\n2 2 1\n1 x 1\n", 3, "no place"},
		{mm + "coordinate real general\n2 2 1\n1\n", 3, "no entry"},
		{mm + "coordinate real general\n2 2 1\n1 1\n", 3, "0 numbers for the value of an entry, want 1"},
		{mm + "coordinate pattern general\n2 2 1\n1 1 1\n", 3, "the field is pattern"},
		{mm + "coordinate real general\n2 2 1\n1 1 x\n", 3, "no real number"},
		{mm + "coordinate real general\n2 2 1\n1 1 1e999\n", 3, "out of range"},
		{mm + "coordinate integer general\n2 2 1\n1 1 1.5\n", 3, "no integer number"},
		{mm + "coordinate real symmetric\n2 2 1\n1 2 1\n", 3, "list it as (2, 1)"},
		{mm + "coordinate real skew-symmetric\n2 2 1\n1 1 0\n", 3, "leave it out"},
		{mm + "coordinate real general\n2 2 2\n1 1 1\n", 4, "after 1 of 2 entries"},
		{mm + "coordinate real general\n2 2 1\n1 1 1\n% c\n1 2 1\n", 5, "follows after the 1 entries"},
		{mm + "coordinate real general\n2 2000000000 1\n1 1 1\n", 4, "drop the empty ones"},
		{mm + "array real general\n0 2000000000\n", 3, "drop the empty ones"},
		{mm + strings.Repeat(" ", 1<<21), 1, "more than 1048576 bytes"},
	} {
		_, _, err := read(test.file, true)
		var e *mmio.Error
		if !errors.As(err, &e) || e.Line != test.line || !strings.Contains(e.Reason, test.want) {
			t.Errorf("%.80q: %v\nwant line %d: … %s …", test.file, err, test.line, test.want)
		}
	}
}

func TestReaderError(t *testing.T) {
	broken := errors.New("broken")
	for _, file := range []string{"", "%%MatrixMarket matrix coordinate real general\n"} {
		in := iotest.DataErrReader(strings.NewReader(file))
		_, err := mmio.NewReader(&failing{in, broken})
		if !errors.Is(err, broken) {
			t.Errorf("%q: %v", file, err)
		}
	}
	r, err := mmio.NewReader(&failing{strings.NewReader("%%MatrixMarket matrix coordinate real general\n1 1 0\n"),
		broken})
	if err == nil {
		err = r.Each(true, nil)
	}
	if !errors.Is(err, broken) {
		t.Errorf("after the sizes: %v", err)
	}
}

// failing is a reader with another error than io.EOF at the end.
type failing struct {
	r   interface{ Read([]byte) (int, error) }
	err error
}

func (f *failing) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err != nil {
		err = f.err
	}
	return n, err
}

func TestWrite(t *testing.T) {
	var b strings.Builder
	h := mmio.Header{Field: mmio.Real, Symmetry: mmio.General, Rows: 2, Cols: 1, Listed: 2}
	err := mmio.Write(&b, h, func(add func(i, j int, v float64)) {
		add(0, 0, math.SmallestNonzeroFloat64)
		add(1, 0, math.NaN())
	})
	const want = "%%MatrixMarket matrix coordinate real general\n2 1 2\n1 1 5e-324\n2 1 NaN\n"
	if err != nil || b.String() != want {
		t.Errorf("%q, %v", b.String(), err)
	}
}
