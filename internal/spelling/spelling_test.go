package spelling_test

import (
	"testing"

	"github.com/nabla-ad/nabla/internal/spelling"
)

func TestNearest(t *testing.T) {
	names := []string{"bench", "backends", "test", "T1", "T3"}
	for got, want := range map[string]string{
		"bnech": "bench", "ben": "bench", "BENCH": "bench", "bakcend": "backends", "tset": "test", "t3": "T3",
		"": "", "x": "", "T9": "", "enzyme": "", "laplacian": "",
	} {
		if near := spelling.Nearest(got, names); near != want {
			t.Errorf("Nearest(%q) is %q, want %q", got, near, want)
		}
	}
	for _, c := range []struct {
		a, b string
		d    int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"abcd", "badc", 2}, {"kitten", "sitting", 3},
		{"ca", "abc", 3}} {
		if d, e := spelling.Distance(c.a, c.b), spelling.Distance(c.b, c.a); d != c.d || e != c.d {
			t.Errorf("the distance of %q and %q is %d and %d, want %d", c.a, c.b, d, e, c.d)
		}
	}
}
