package sparsity

import (
	"fmt"
	"math"
	"strings"
)

// String draws the pattern under a line with its size, at most 40 characters wide
// and about as high:
//
//   - up to 20×40, a character for each entry: • or, for none, ·
//   - up to 80×80, a dot of a braille character for each entry
//   - beyond that, a shade ░▒▓█ for a box of entries, dark where they are dense, with
//     a line that says how large the boxes are and how dense a █ is
func (p *Pattern) String() string {
	if p == nil {
		return "no pattern"
	}
	var b strings.Builder
	entries := "entries"
	if p.NNZ() == 1 {
		entries = "entry"
	}
	fmt.Fprintf(&b, "%d×%d pattern, %d %s", p.rows, p.cols, p.NNZ(), entries)
	switch {
	case p.rows == 0 || p.cols == 0:
	case p.rows <= 20 && p.cols <= 40:
		p.drawDots(&b)
	case p.rows <= 80 && p.cols <= 80:
		p.drawBraille(&b)
	default:
		p.drawShades(&b)
	}
	return b.String()
}

// picture returns characters that are all blank, row by row.
func picture(rows, cols int, blank rune) [][]rune {
	lines := make([][]rune, rows)
	for i := range lines {
		lines[i] = []rune(strings.Repeat(string(blank), cols))
	}
	return lines
}

func draw(b *strings.Builder, lines [][]rune) {
	for _, line := range lines {
		b.WriteByte('\n')
		b.WriteString(string(line))
	}
}

func (p *Pattern) drawDots(b *strings.Builder) {
	lines := picture(p.rows, p.cols, '·')
	for j := range p.cols {
		for _, i := range p.Col(j) {
			lines[i][j] = '•'
		}
	}
	draw(b, lines)
}

// drawBraille has eight entries in a character, four rows of two. The dots of a
// braille character are bits, the last row's behind all others.
func (p *Pattern) drawBraille(b *strings.Builder) {
	bits := [4][2]rune{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}
	lines := picture((p.rows+3)/4, (p.cols+1)/2, '\u2800')
	for j := range p.cols {
		for _, i := range p.Col(j) {
			lines[i/4][j/2] |= bits[i%4][j%2]
		}
	}
	draw(b, lines)
}

// drawShades has a box of entries in a character, which is twice as high as wide.
func (p *Pattern) drawShades(b *strings.Builder) {
	side := (max(p.rows, p.cols) + 39) / 40
	high, wide := min(2*side, p.rows), min(side, p.cols)
	count := make([][]int, (p.rows+high-1)/high)
	for i := range count {
		count[i] = make([]int, (p.cols+wide-1)/wide)
	}
	most := 0
	for j := range p.cols {
		for _, i := range p.Col(j) {
			count[i/high][j/wide]++
			most = max(most, count[i/high][j/wide])
		}
	}
	fmt.Fprintf(b, "; boxes of %d×%d, █ is %.3g%% full", high, wide, 100*float64(most)/float64(high)/float64(wide))
	lines := picture(len(count), len(count[0]), ' ')
	for i, line := range count {
		for j, n := range line {
			if n > 0 {
				lines[i][j] = []rune("░▒▓█")[int(math.Ceil(4*float64(n)/float64(most)))-1]
			}
		}
	}
	draw(b, lines)
}
