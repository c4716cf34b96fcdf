package main

import (
	"bytes"
	"errors"
	"image/color"
	"image/png"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/internal/bench"
)

// sample has a task with two sizes, one without, and something that never pays.
func sample() []bench.Row {
	row := func(task, engine string, n int, plain, derivative, unprepared, prepare, breakEven float64) bench.Row {
		return bench.Row{
			Task: task, Title: "a function", Engine: engine, N: n, OK: true,
			PlainNS: plain, DerivativeNS: derivative, Ratio: derivative / plain, UnpreparedNS: unprepared,
			PrepareNS: prepare, BreakEven: breakEven,
		}
	}
	return []bench.Row{
		row("T1", "one", 10, 4, 400, 800, 100, 1), row("T1", "two", 10, 4, 40, 2000, 30e3, 40),
		row("T1", "one", 1000, 400, 400e3, 800e3, 2e3, math.Inf(1)), row("T1", "two", 1000, 400, 3e3, 90e3, 2e6, 25),
		row("T8", "two", 6, 60e3, 240e3, 2e6, 100e6, 60),
	}
}

func drawn(t *testing.T, rows []bench.Row) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b, rows); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPNG(t *testing.T) {
	if one := sample()[4:]; !bytes.Equal(drawn(t, one), drawn(t, one)) {
		t.Error("two pictures of the same rows differ")
	}
	img, err := png.Decode(bytes.NewReader(drawn(t, sample())))
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
		if err := write(io.Discard, rows); err == nil || !strings.Contains(err.Error(), "nothing to plot") {
			t.Errorf("%d rows: %v", len(rows), err)
		}
	}
}

var errClosed = errors.New("closed")

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, errClosed }

func TestWriteFails(t *testing.T) {
	if err := write(closed{}, sample()[4:]); !errors.Is(err, errClosed) {
		t.Error(err)
	}
}
