package figure

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"image/color"
	"image/png"
	"io"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/internal/bench"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// sample has a task with two sizes, one without, and something that never pays.
func sample() []bench.Row {
	row := func(task, engine string, n int, plain, derivative, unprepared, prepare, breakEven float64) bench.Row {
		return bench.Row{
			Task: task, Title: "a function", Engine: engine, N: n, OK: true,
			PlainNS: plain, DerivativeNS: derivative, Ratio: derivative / plain, UnpreparedNS: unprepared, PrepareNS: prepare, BreakEven: breakEven,
		}
	}
	return []bench.Row{
		row("T1", "one", 10, 4, 400, 800, 100, 1), row("T1", "two", 10, 4, 40, 2000, 30e3, 40),
		row("T1", "one", 1000, 400, 400e3, 800e3, 2e3, math.Inf(1)), row("T1", "two", 1000, 400, 3e3, 90e3, 2e6, 25),
		row("T8", "two", 6, 60e3, 200e3, 2e6, 100e6, 60),
	}
}

func drawn(t *testing.T, format string, rows []bench.Row) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, format, rows); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestSVG(t *testing.T) {
	got := drawn(t, "svg", sample())
	if *update {
		if err := os.WriteFile("testdata/sample.svg", got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/sample.svg")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("the picture is not that of testdata/sample.svg (rewrite with -update, and look at it)")
	}
	dec := xml.NewDecoder(bytes.NewReader(got))
	var text strings.Builder
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if s, ok := token.(xml.CharData); ok {
			text.Write(s)
		}
	}
	for _, part := range []string{"T1, a function", "T8 n=6", "unprepared call", "break-even", "never", "plain function", "100 µs", "10×"} {
		if !strings.Contains(text.String(), part) {
			t.Errorf("the picture does not say %q", part)
		}
	}
}

func TestPNG(t *testing.T) {
	if one := sample()[4:]; !bytes.Equal(drawn(t, "png", one), drawn(t, "png", one)) {
		t.Error("two pictures of the same rows differ")
	}
	img, err := png.Decode(bytes.NewReader(drawn(t, "png", sample())))
	if err != nil {
		t.Fatal(err)
	}
	if s := img.Bounds().Size(); s.X < 1200 || s.X > 2000 || s.Y < 900 || s.Y > 3000 {
		t.Errorf("the picture has %v pixels", s)
	}
	pixels := map[[4]uint32]int{}
	for y := range img.Bounds().Dy() {
		for x := 0; x < img.Bounds().Dx(); x += 3 { // marks are wider than that
			r, g, b, a := img.At(x, y).RGBA()
			pixels[[4]uint32{r, g, b, a}]++
		}
	}
	count := func(c color.Color) int {
		r, g, b, a := c.RGBA()
		return pixels[[4]uint32{r, g, b, a}]
	}
	for i, c := range []color.Color{colors[0], colors[1], color.White} {
		if count(c) < 300 {
			t.Errorf("color %d has %d pixels", i, count(c))
		}
	}
	if n := count(colors[2]); n > 0 {
		t.Errorf("%d pixels are of an engine that is not there", n)
	}
}

func TestNothing(t *testing.T) {
	for _, rows := range [][]bench.Row{nil, {{Task: "T1", Engine: "liar", N: 3}}} {
		if err := Write(io.Discard, "png", rows); err == nil || !strings.Contains(err.Error(), "nothing to plot") {
			t.Errorf("%d rows: %v", len(rows), err)
		}
	}
	if err := Write(io.Discard, "gif", sample()); err == nil || !strings.Contains(err.Error(), "svg, png") {
		t.Errorf("gif: %v", err)
	}
}

var errClosed = errors.New("closed")

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, errClosed }

func TestWriteFails(t *testing.T) {
	for _, format := range Formats {
		if err := Write(closed{}, format, sample()[4:]); !errors.Is(err, errClosed) {
			t.Errorf("%s: %v", format, err)
		}
	}
}

// TestApart keeps the plotting library out of what others import.
func TestApart(t *testing.T) {
	const module = "github.com/nabla-ad/nabla"
	out, err := exec.Command("go", "list", "-deps", module, module+"/difftest", module+"/problems", module+"/internal/bench").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "gonum.org/v1/plot") {
			t.Errorf("the library depends on %s", line)
		}
	}
}
