package coloring

import (
	"slices"
	"testing"
)

// Matrices of "What color is your Jacobian?" (2005) and of "Efficient computation
// of sparse Hessians using coloring and automatic differentiation" (2009), by
// Gebremedhin and coauthors.
var (
	whatFig41 = lists([]int{1, 2}, []int{1, 2, 3, 5, 6}, []int{2, 3, 4}, []int{3, 4, 6}, []int{2, 5}, []int{2, 4, 6})
	whatFig61 = lists([]int{1, 2, 7}, []int{1, 2, 3, 5}, []int{2, 3, 4, 6}, []int{3, 4, 10}, []int{2, 5, 6, 8},
		[]int{3, 5, 6, 9}, []int{1, 7, 8}, []int{5, 7, 8, 9}, []int{6, 8, 9, 10}, []int{4, 9, 10})
)

// TestFigures accepts the colours of the figures and does as well with some order.
func TestFigures(t *testing.T) {
	all := Greedy{Orders: orders}
	for _, c := range []struct {
		name    string
		problem Problem
		colors  []int
		natural bool // the greedy colouring in natural order is the one of the figure
	}{
		{"what, 4.1", Problem{Structure: Symmetric}, []int{1, 2, 1, 3, 1, 1}, true},
		{"what, 6.1", Problem{Structure: Symmetric, Decompression: Substitution}, []int{1, 2, 1, 2, 1, 3, 2, 3, 2, 3},
			false},
		{"efficient, 1", Problem{Structure: Symmetric}, []int{1, 2, 1, 3, 1, 4, 3, 5, 1, 2}, true},
		{"efficient, 4", Problem{Structure: Symmetric, Decompression: Substitution},
			[]int{1, 2, 1, 2, 1, 3, 2, 3, 2, 1}, true},
	} {
		p := whatFig41
		if len(c.colors) == 10 {
			p = whatFig61
		}
		given := color(t, p, c.problem, Constant{Columns: c.colors})
		if err := verify(given); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := color(t, p, c.problem, all); got.Colors() > given.Colors() {
			t.Errorf("%s: %d colours, want %d", c.name, got.Colors(), given.Colors())
		}
		if got := color(t, p, c.problem, Greedy{}); c.natural && !slices.Equal(got.ColumnColors(), c.colors) {
			t.Errorf("%s: %v, want %v", c.name, got.ColumnColors(), c.colors)
		}
	}
}

func TestSmallMatrices(t *testing.T) {
	c := color(t, rows("1 0 2", "0 3 4", "5 0 0"), Problem{}, Greedy{})
	if !slices.Equal(c.ColumnColors(), []int{1, 1, 2}) || c.RowColors() != nil || c.Forward() != 2 || c.Reverse() != 0 {
		t.Errorf("columns %v", c.ColumnColors())
	}
	c = color(t, rows("1 0 3", "0 2 0", "4 5 0"), Problem{Partition: Row}, Greedy{})
	if !slices.Equal(c.RowColors(), []int{1, 1, 2}) || c.ColumnColors() != nil || c.Forward() != 0 || c.Reverse() != 2 {
		t.Errorf("rows %v", c.RowColors())
	}
	// Columns that are empty get no colour, and a zero matrix no product.
	c = color(t, rows("1 0 2", "0 0 0"), Problem{}, Greedy{})
	if !slices.Equal(c.ColumnColors(), []int{1, 0, 2}) {
		t.Errorf("columns %v", c.ColumnColors())
	}
	for _, problem := range problems {
		if c := color(t, rows("0 0", "0 0"), problem, Greedy{}); c.Colors() != 0 {
			t.Errorf("%v: %d colours for a zero matrix", problem, c.Colors())
		}
	}
	// An empty row and column of a symmetric matrix, beside a diagonal entry.
	c = color(t, rows("1 0 0", "0 0 0", "0 0 1"), Problem{Structure: Symmetric}, Greedy{Postprocess: true})
	if !slices.Equal(c.ColumnColors(), []int{1, 0, 1}) {
		t.Errorf("columns %v", c.ColumnColors())
	}
}

// TestMatching has edges that meet no other one: whatever the order, they can be read at
// ends of one colour, and the other one goes.
func TestMatching(t *testing.T) {
	p := lists([]int{2}, []int{1}, []int{4}, []int{3}, []int{6}, []int{5})
	for _, d := range []Decompression{Direct, Substitution} {
		for seed := range uint64(20) {
			a := Greedy{Orders: []Order{Random{seed}}, Postprocess: true}
			if c := color(t, p, Problem{Structure: Symmetric, Decompression: d}, a); c.Colors() != 1 {
				t.Errorf("%v, seed %d: %d colours, want 1", d, seed, c.Colors())
			}
		}
	}
}

func TestBidirectionalExamples(t *testing.T) {
	direct := Problem{Partition: Bidirectional}
	substitution := Problem{Partition: Bidirectional, Decompression: Substitution}
	frame := []string{"1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"}
	for range 8 {
		frame = append(frame, "1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1")
	}
	frame = append(frame, frame[0])
	for _, problem := range []Problem{direct, substitution} {
		triangle := rows("1 1 0", "0 1 1", "1 0 1")
		if c := color(t, triangle, problem, Greedy{Postprocess: true, Orders: orders}); c.Colors() != 3 {
			t.Errorf("triangle, %v: %d colours, want 3", problem, c.Colors())
		}
		anti := rows("0 0 0 1", "0 0 1 0", "0 1 0 0", "1 0 0 0")
		for _, post := range []bool{false, true} {
			want := 2
			if post {
				want = 1
			}
			if c := color(t, anti, problem, Greedy{Postprocess: post}); c.Colors() != want {
				t.Errorf("anti-diagonal, %v, postprocessing %t: %d colours, want %d", problem, post, c.Colors(), want)
			}
		}
		// The frame with three colours either way: those of the inner rows and columns
		// are not needed.
		p := rows(frame...)
		six := make([]int32, 30)
		for v := range six {
			six[v] = 1 + int32(v)/20*3
		}
		six[0], six[19], six[20], six[29] = 2, 3, 5, 6
		for _, post := range []bool{false, true} {
			want := 6
			if post {
				want = 4
			}
			c, err := fromVertices(newGraph(p, problem), problem, slices.Clone(six), 6, post)
			if err != nil || c.Colors() != want {
				t.Fatalf("frame, %v, postprocessing %t: %v, %v", problem, post, c, err)
			}
			if err := verify(c); err != nil {
				t.Errorf("frame, %v, postprocessing %t: %v", problem, post, err)
			}
		}
		for seed := range uint64(20) {
			order := []Order{Random{seed}}
			if c := color(t, p, problem, Greedy{Orders: order}); c.Colors() > 6 {
				t.Errorf("frame, %v: %d colours, want at most 6", c, c.Colors())
			}
			if c := color(t, p, problem, Greedy{Orders: order, Postprocess: true}); c.Colors() != 4 {
				t.Errorf("frame, %v: %d colours, want 4", c, c.Colors())
			}
		}
	}
	// Dense rows and columns last: one colour for each, and one for the diagonal.
	if c := color(t, arrowhead(1000), direct,
		Greedy{Orders: []Order{SmallestFirst{}}, Postprocess: true}); c.Colors() != 3 {
		t.Errorf("arrowhead: %v", c)
	}
	for _, post := range []bool{false, true} {
		a := Greedy{Postprocess: post}
		d, s := color(t, arrowhead(10), direct, a).Colors(), color(t, arrowhead(10), substitution, a).Colors()
		if s >= d {
			t.Errorf("arrowhead, postprocessing %t: %d colours with substitution, %d directly", post, s, d)
		}
	}
}

func TestBestOrderWins(t *testing.T) {
	p := readPattern(t, "pattern_ash608.mtx.gz")
	a := Greedy{Orders: []Order{LargestFirst{}, Natural{}, Natural{}}}
	if c := color(t, p, Problem{}, a); c.Colors() != 6 || c.Order() != (Natural{}) {
		t.Errorf("%v", c)
	}
	a = Greedy{Orders: []Order{Random{3}, Random{3}, LargestFirst{}}}
	c := color(t, p, Problem{Partition: Row}, a)
	if c.Order() != (Random{3}) && c.Order() != (LargestFirst{}) {
		t.Errorf("%v", c)
	}
	// The first of equals wins.
	a = Greedy{Orders: []Order{Natural{}, Random{1}}}
	if c := color(t, arrowhead(5), Problem{}, a); c.Order() != (Natural{}) {
		t.Errorf("%v", c)
	}
	if c := color(t, arrowhead(5), Problem{Structure: Symmetric}, a); c.Order() != (Natural{}) {
		t.Errorf("%v", c)
	}
}
