package sparsity_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/nabla-ad/nabla/sparsity"
)

func TestString(t *testing.T) {
	for want, p := range map[string]*sparsity.Pattern{
		"0×3 pattern, 0 entries":                          sparsity.Empty(0, 3),
		"1×1 pattern, 1 entry\n•":                         sparsity.Full(1, 1),
		"2×3 pattern, 2 entries\n•··\n·•·":                sparsity.Banded(2, 3, 0, 0),
		"21×3 pattern, 3 entries\n⠑⠄\n⠀⠀\n⠀⠀\n⠀⠀\n⠀⠀\n⠀⠀": sparsity.Banded(21, 3, 0, 0),
		// The first box is full, the third has one of six.
		"2×81 pattern, 7 entries; boxes of 2×3, █ is 100% full\n█ ░" + strings.Repeat(" ", 24): entries(t, 2, 81,
			0, 0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 2, 0, 7),
	} {
		if got := p.String(); got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
	for _, n := range []int{1, 19, 20, 21, 39, 40, 41, 79, 80, 81, 1000, 12345} {
		for _, m := range []int{1, 20, 41, 80, 81, 4000} {
			for _, p := range []*sparsity.Pattern{sparsity.Banded(n, m, 1, 1), sparsity.Banded(m, n, 0, 3)} {
				lines := strings.Split(p.String(), "\n")
				if len(lines) > 21 {
					t.Errorf("%s: %d lines", lines[0], len(lines))
				}
				for _, line := range lines[1:] {
					if utf8.RuneCountInString(line) > 40 ||
						utf8.RuneCountInString(line) != utf8.RuneCountInString(lines[1]) {
						t.Errorf("%s: a line of %d characters", lines[0], utf8.RuneCountInString(line))
					}
				}
			}
		}
	}
}
