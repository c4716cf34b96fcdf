package main

import (
	"fmt"
	"io"

	"github.com/schollz/progressbar/v3"

	"github.com/nabla-ad/nabla/internal/bench"
)

// writeReport writes a report. An existing file is not replaced by a report without rows.
func writeReport(s *sink, format string, r bench.Report) error {
	if len(r.Rows) == 0 && (s.file != nil || format == "svg") {
		s.abandon()
		return nil
	}
	if err := bench.Write(s, format, r); err != nil {
		s.abandon()
		return fmt.Errorf("bench: %w", err)
	}
	return s.deliver()
}

// A bar shows progress on a terminal. It is drawn in the goroutine that reports a step, since one of its own would
// disturb the timings.
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

// step shows that step done of total begins.
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
	const room = 34 // columns; the bar takes the rest of 80
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
