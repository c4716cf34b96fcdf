package ir_test

import (
	"os"
	"strings"
	"testing"
)

// The golden file covers the whole text form, and prints as itself.
func TestText(t *testing.T) {
	const name = "testdata/all.ir"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	got := printed(t, parse(t, string(text))...)
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	compare(t, got, string(text))
}

func compare(t *testing.T, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Fatalf("line %d:\ngot  %s\nwant %s", i+1, a[i], b[i])
		}
	}
	t.Fatalf("got %d lines, want %d", len(a), len(b))
}
