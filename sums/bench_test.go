package sums_test

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/nabla-ad/nabla/sums"
	"github.com/nabla-ad/nabla/sums/internal/coded"
)

var rows = flag.Int("rows", 200_000, "rows of the files of BenchmarkFiles")

// writeRows writes rows of five numbers as text or as records.
func writeRows(b *testing.B, name string, text bool) {
	f, err := os.Create(name)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	r := rand.New(rand.NewPCG(5, 5))
	var buf []byte
	for i := range *rows {
		for j := range 5 {
			x := float64(r.IntN(2))
			if j > 0 {
				x = math.Round(1e4*r.NormFloat64()) / 1e4
			}
			if !text {
				buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(x))
				continue
			}
			buf = strconv.AppendFloat(buf, x, 'g', -1, 64)
			buf = append(buf, ",\n"[j/4])
		}
		if len(buf) > 1<<20 || i == *rows-1 {
			if _, err := f.Write(buf); err != nil {
				b.Fatal(err)
			}
			buf = buf[:0]
		}
	}
}

// BenchmarkFiles sums value and gradient over files, by one worker and by two in turn. The metrics are the ratio of
// their times, the time per row of two workers, and the largest heap in use after a part.
func BenchmarkFiles(b *testing.B) {
	dir := b.TempDir()
	csv, bin := filepath.Join(dir, "rows.csv"), filepath.Join(dir, "rows.bin")
	made := false
	for _, c := range []struct {
		name string
		term *sums.Term[coded.Batch]
		n    int
		text bool
	}{
		{"logistic/records", coded.Logistic(sums.Fail), 4, false},
		{"logistic/lines", coded.Logistic(sums.Fail), 4, true},
		{"mixture/records", coded.Mixture(sums.Fail), 25, false},
	} {
		b.Run(c.name, func(b *testing.B) {
			if !made {
				made = true
				writeRows(b, csv, true)
				writeRows(b, bin, false)
			}
			rec := records([]string{bin}, 0, 0)
			rec.Skip = 0
			var src sums.Source[coded.Batch] = rec
			if c.text {
				text := lines([]string{csv}, 0, 0)
				text.Skip = 0
				src = text
			}
			compare(b, c.term, src, c.n, *rows)
		})
	}
}

// compare measures sums by one worker and by two in turn.
func compare(b *testing.B, term *sums.Term[coded.Batch], src sums.Source[coded.Batch], n, rows int) {
	x := make([]float64, n)
	for i := range x {
		x[i] = 0.1 * float64(i%7)
	}
	heap := uint64(0)
	var locals [2]*sums.Local[coded.Batch]
	for i := range locals {
		part := 0
		locals[i] = sums.NewLocal(term, src, &sums.Settings{Workers: i + 1, Progress: func(sums.Progress) {
			if part++; part%512 == 1 {
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				heap = max(heap, m.HeapInuse)
			}
		}})
	}
	var times [2]time.Duration
	for b.Loop() {
		for i, l := range locals {
			begin := time.Now()
			s, err := l.Sum(background, sums.At(x, true))
			if err != nil || s.Rows != int64(rows) {
				b.Fatal(s, err)
			}
			times[i] += time.Since(begin)
		}
	}
	b.ReportMetric(times[0].Seconds()/times[1].Seconds(), "speedup")
	b.ReportMetric(times[1].Seconds()/float64(b.N)/float64(rows)*1e9, "ns/row")
	b.ReportMetric(float64(heap)/1e6, "MB")
}

// BenchmarkMemory sums over blocks in memory, by one worker and by two.
func BenchmarkMemory(b *testing.B) {
	for _, size := range []int{1, 10, 1000} {
		all := data(1_000_000, 4)
		var list []coded.Batch
		for i := 0; i < len(all.Y); i += size {
			list = append(list, coded.Batch{X: all.X[4*i : 4*(i+size)], Y: all.Y[i : i+size]})
		}
		for name, term := range map[string]*sums.Term[coded.Batch]{"logistic": coded.Logistic(sums.Fail)} {
			b.Run(fmt.Sprintf("%s/block=%d", name, size), func(b *testing.B) {
				compare(b, term, sums.Slice(list), 4, len(all.Y))
			})
		}
	}
}

// BenchmarkPoints compares a pass at several points, and with several directions, with one pass for each.
func BenchmarkPoints(b *testing.B) {
	all := data(100_000, 4)
	l := sums.NewLocal(coded.Logistic(sums.Fail), sums.Slice(blocks(all, 1000)), nil)
	for _, k := range []int{1, 4, 16} {
		x := mat.NewDense(k, 4, nil)
		x.Apply(func(i, j int, _ float64) float64 { return float64(i-j) / 10 }, x)
		for name, q := range map[string]*sums.Query{
			"points": {X: x}, "gradients": {X: x, Gradient: true},
			"products": {X: mat.NewDense(1, 4, nil), V: mat.DenseCopyOf(x.T())},
		} {
			b.Run(fmt.Sprintf("%s=%d", name, k), func(b *testing.B) {
				for b.Loop() {
					if _, err := l.Sum(background, q); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
