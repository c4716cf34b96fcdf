package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/schollz/progressbar/v3"

	"github.com/nabla-ad/nabla/internal/bench"
	"github.com/nabla-ad/nabla/internal/bench/figure"
)

// An output gets the report.
type output struct {
	w       io.Writer
	file    *os.File // nil for standard output
	created bool     // file did not exist
}

// open opens a file for the report, or standard output where it has no name. What
// the file holds stays until the report is written.
func (a *app) open(name string) (*output, error) {
	if name == "" {
		return &output{w: a.out}, nil
	}
	_, err := os.Stat(name)
	created := errors.Is(err, fs.ErrNotExist)
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return nil, fmt.Errorf("bench: -o: %w", err)
	}
	return &output{f, f, created}, nil
}

// abandon leaves things as they were found.
func (o *output) abandon() {
	if o.file == nil {
		return
	}
	o.file.Close()
	if o.created {
		os.Remove(o.file.Name())
	}
}

// write writes the report. A report without rows does not replace a file.
func (o *output) write(format string, r bench.Report) error {
	plots := slices.Contains(figure.Formats, format)
	if len(r.Rows) == 0 && (o.file != nil || plots) {
		o.abandon()
		return nil
	}
	var page bytes.Buffer // what cannot be made does not replace a file either
	var err error
	if plots {
		err = figure.Write(&page, format, r.Rows)
	} else {
		err = bench.Write(&page, format, r)
	}
	if err != nil {
		o.abandon()
		return err
	}
	if o.file == nil {
		_, err = o.w.Write(page.Bytes())
		return err
	}
	if info, err := o.file.Stat(); err == nil && info.Mode().IsRegular() {
		if err := o.file.Truncate(0); err != nil {
			o.file.Close()
			return err
		}
	}
	_, err = o.file.Write(page.Bytes())
	return cmp.Or(err, o.file.Close())
}

// A bar shows progress on a terminal. It is drawn by those who report a step, and by
// no goroutine of its own, which would disturb what is timed.
type bar struct {
	w   io.Writer // nil for none
	bar *progressbar.ProgressBar
}

func newBar(w io.Writer, terminal bool) *bar {
	if !terminal {
		w = nil
	}
	return &bar{w: w}
}

// step says that step done of total begins.
func (b *bar) step(done, total int, what string) {
	if b.w == nil {
		return
	}
	if b.bar == nil {
		b.bar = progressbar.NewOptions(total,
			progressbar.OptionSetWriter(b.w), progressbar.OptionSetWidth(16), progressbar.OptionUseANSICodes(true),
			progressbar.OptionSetPredictTime(true), progressbar.OptionSetElapsedTime(true),
		)
	}
	const room = 34 // the rest of a line of 80 is for the bar
	if r := []rune(what); len(r) > room {
		what = string(r[:room-1]) + "…"
	}
	b.bar.Describe(fmt.Sprintf("%-*s", room, what))
	b.bar.Set(done)
}

// clear removes the bar.
func (b *bar) clear() {
	if b.bar != nil {
		fmt.Fprint(b.w, "\r\x1b[K")
	}
}
