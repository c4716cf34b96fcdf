package coloring

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/nabla-ad/nabla/sparsity"
)

func TestDecompressionDoesNotAllocate(t *testing.T) {
	for _, problem := range problems {
		c := color(t, brusselator(5), problem, Greedy{Postprocess: true})
		d := must(c.Decompressor(Full))
		data := values(c.Pattern(), problem.Structure == Symmetric)
		col, row := c.Compress(data)
		m, n := c.Pattern().Dims()
		if got := testing.AllocsPerRun(10,
			func() { d.Decompress(data, col, c.Forward(), row, c.Reverse()) }); got != 0 {
			t.Errorf("%v: %v allocations", problem, got)
		}
		if problem.Decompression == Substitution {
			continue
		}
		got := testing.AllocsPerRun(10, func() {
			if c.Forward() > 0 {
				_ = d.DecompressColumn(data, col[:m], 1)
			}
			if c.Reverse() > 0 {
				_ = d.DecompressRow(data, row[:n], 1)
			}
		})
		if got != 0 {
			t.Errorf("%v, one colour: %v allocations", problem, got)
		}
	}
}

// TestSharing: one colouring and one decompressor serve many goroutines.
func TestSharing(t *testing.T) {
	for _, problem := range problems {
		c := color(t, brusselator(4), problem, Greedy{Postprocess: true})
		d := must(c.Decompressor(Full))
		data := values(c.Pattern(), problem.Structure == Symmetric)
		col, row := c.Compress(data)
		var wg sync.WaitGroup
		errs := make([]error, 8)
		for w := range errs {
			wg.Go(func() {
				got := nans(len(data))
				d.Decompress(got, col, c.Forward(), row, c.Reverse())
				errs[w] = near(c, got, data)
				if errs[w] == nil {
					errs[w] = verify(c)
				}
			})
		}
		wg.Wait()
		for _, err := range errs {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestSeeds checks that products with the seed matrix equal those of Compress.
func TestSeeds(t *testing.T) {
	p := rows("1 0 1 1", "0 1 0 1", "1 1 0 0")
	c := color(t, p, Problem{Partition: Bidirectional}, Greedy{})
	data := values(p, false)
	col, row := c.Compress(data)
	for k := 1; k <= c.Forward(); k++ {
		s := c.ColumnSeed(nil, k)
		for i := range 3 {
			sum := 0.0
			for j := range 4 {
				if at, ok := p.Index(i, j); ok {
					sum += data[at] * s[j]
				}
			}
			if got := col[i*c.Forward()+k-1]; got != sum {
				t.Errorf("column colour %d, component %d: %v, want %v", k, i, got, sum)
			}
		}
	}
	for k := 1; k <= c.Reverse(); k++ {
		w := c.RowSeed(make([]float64, 3), k)
		for j := range 4 {
			sum := 0.0
			for i := range 3 {
				if at, ok := p.Index(i, j); ok {
					sum += data[at] * w[i]
				}
			}
			if got := row[j*c.Reverse()+k-1]; got != sum {
				t.Errorf("row colour %d, component %d: %v, want %v", k, j, got, sum)
			}
		}
	}
}

// TestSourcesAreForOwnLayouts: the sources are enough to gather from columns.
func TestSourcesAreForOwnLayouts(t *testing.T) {
	c := color(t, sparsity.Banded(5, 5, 1, 1), Problem{Structure: Symmetric}, Greedy{})
	d := must(c.Decompressor(Lower))
	if d.Target() != Lower || d.Coloring() != c || len(d.Sources()) != d.Pattern().NNZ() {
		t.Fatal("a decompressor that does not know itself")
	}
	data := values(c.Pattern(), true)
	col, _ := c.Compress(data)
	want := restrict(c.Pattern(), d.Pattern(), data)
	for k, s := range d.Sources() {
		if got := col[int(s.Index)*c.Forward()+int(s.Color)]; s.Row || got != want[k] {
			t.Errorf("entry %d: %v, want %v", k, got, want[k])
		}
	}
}

func TestPicture(t *testing.T) {
	// The first row is read in one product, the rest of the first column in another.
	p := rows("1 1 1 1 1", "1 0 0 0 0", "1 0 0 0 0", "1 0 0 0 0")
	c := color(t, p, Problem{Partition: Bidirectional}, Greedy{Orders: []Order{Random{0}}, Postprocess: true})
	want := `
  1 1 1 1 1

a a a a a a
- 1 . . . .
- 1 . . . .
- 1 . . . .
`
	if got := c.Picture(); got != want[1:] {
		t.Errorf("got\n%swant%s", got, want)
	}
	c = color(t, whatFig41, Problem{Structure: Symmetric}, Greedy{})
	if got := c.Picture(); !strings.HasPrefix(got, "1 2 1 3 1 1\n\n1 2 . . . .\n2 2 2 . 2 2\n. 2 1 3 . .\n") {
		t.Errorf("got\n%s", got)
	}
	wide := color(t, sparsity.Full(1, 50), Problem{}, Greedy{})
	if got := wide.Picture(); !strings.HasSuffix(got, "#\n") {
		t.Errorf("got\n%s", got)
	}
	if got := color(t, rows("1 0 3", "0 2 0", "4 5 0"), Problem{Partition: Row},
		Greedy{}).Picture(); got != "a a . a\na . a .\nb b b .\n" {
		t.Errorf("got\n%s", got)
	}
}

func TestStrings(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{color(t, whatFig41, Problem{Structure: Symmetric}, Greedy{}).String(),
			"symmetric column direct colouring of 6×6 with 18 entries: 3 colours, Natural"},
		{Greedy{Orders: []Order{LargestFirst{}, Random{4}, SmallestLast}, Postprocess: true}.String(),
			"Greedy(LargestFirst, Random(4), SmallestLast; postprocessed)"},
		{Greedy{}.String(), "Greedy(Natural)"},
		{Optimal{}.String(), "Optimal(1000000)"},
		{Constant{}.String(), "Constant"},
		{fmt.Sprint(Lower), "lower"},
		{Dynamic{Forward: true, Descending: true, ColPack: true}.String(), "Dynamic(forward, descending)(ColPack)"},
		{PerfectElimination{}.String(), "PerfectElimination"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

// TestSubstitutionError: the trees of a band are paths through the whole matrix,
// so the errors along them add up, but no more than that.
func TestSubstitutionError(t *testing.T) {
	const n = 5000
	p := sparsity.Banded(n, n, 5, 5)
	c := color(t, p, Problem{Structure: Symmetric, Decompression: Substitution}, Greedy{})
	d := must(c.Decompressor(Full))
	data := values(p, true)
	col, _ := c.Compress(data)
	got := nans(len(data))
	d.Decompress(got, col, c.Forward(), nil, 0)
	const tolerance = n * 5 * 0x1p-52 // entries on a path · their size · precision
	for k := range data {
		if !(math.Abs(got[k]-data[k]) <= tolerance) {
			t.Fatalf("value %d is %v, want %v", k, got[k], data[k])
		}
	}
}
