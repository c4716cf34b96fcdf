package page_test

import (
	"errors"
	"testing"

	"github.com/nabla-ad/nabla/internal/page"
)

func TestNamed(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a: x is 3", "a: x is 3 (a.SomeError)"},
		{"a: inside: b: y is 4 (b.OtherError)", "a: inside: b: y is 4 (b.OtherError)"},
		{"a: inside: busy (b.ErrBusy)", "a: inside: busy (b.ErrBusy)"},
		{"a: inside: linear (linalg.Error)", "a: inside: linear (linalg.Error)"},
		{"a: entries (3, 4)", "a: entries (3, 4) (a.SomeError)"},
		{"a: call (b.Error) again", "a: call (b.Error) again (a.SomeError)"},
		{"", " (a.SomeError)"},
	} {
		if got := page.Named("a.SomeError", c.text); got != c.want {
			t.Errorf("Named(%q) = %q, want %q", c.text, got, c.want)
		}
		if got := page.Namef("a.SomeError", "%s", c.text); got != c.want {
			t.Errorf("Namef(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}

func TestSplit(t *testing.T) {
	for _, c := range []struct{ err, text, name string }{
		{"y is 4 (b.OtherError)", "y is 4", "b.OtherError"},
		{"y is (3, 4)", "y is (3, 4)", "a.SomeError"},
		{"", "", "a.SomeError"},
	} {
		if text, name := page.Split(errors.New(c.err), "a.SomeError"); text != c.text || name != c.name {
			t.Errorf("Split(%q) = %q, %q, want %q, %q", c.err, text, name, c.text, c.name)
		}
	}
}
