package sparsity

import (
	"fmt"
	"math"
	"strings"
)

// String draws the pattern below a line with its size, at most 40 characters wide and about as high:
//
//   - up to 20×40, one character for each entry: •, or · for none
//   - up to 80×80, one dot of a braille character for each entry
//   - beyond that, a shade ░▒▓█ for each box of entries, darker for denser ones, and
//     the first line gives the size of the boxes and the density of █
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

// picture returns rows lines of cols characters, all equal to blank.
func picture(rows, cols int, blank rune) [][]rune {
	lines := make([][]rune, rows)
	for i := range lines {
		lines[i] = []rune(strings.Repeat(string(blank), cols))
	}
	return lines
}

// draw appends the lines to b, each after a newline.
func draw(b *strings.Builder, lines [][]rune) {
	for _, line := range lines {
		b.WriteByte('\n')
		b.WriteString(string(line))
	}
}

// drawDots draws one character per entry.
func (p *Pattern) drawDots(b *strings.Builder) {
	lines := picture(p.rows, p.cols, '·')
	for j := range p.cols {
		for _, i := range p.Col(j) {
			lines[i][j] = '•'
		}
	}
	draw(b, lines)
}

// drawBraille draws four rows and two columns of entries in one character. The dots of a braille character are the bits
// of its offset from U+2800; those of the last row are the two highest.
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

// drawShades draws a box of entries in one character. Boxes are twice as high as wide, as characters are. The shade is
// the number of entries relative to the fullest box, in four steps rounded up.
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
