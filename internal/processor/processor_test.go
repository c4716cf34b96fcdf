package processor

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestFlags compares the package with the list of Linux.
func TestFlags(t *testing.T) {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil || runtime.GOARCH != "amd64" {
		t.Skip("no list of the features of amd64 here")
	}
	_, rest, _ := strings.Cut(string(text), "\nflags")
	line, _, _ := strings.Cut(rest, "\n")
	flags := strings.Fields(line)
	for names, got := range map[string]bool{"avx": AVX, "avx2": AVX2, "fma": FMA,
		"avx512f avx512dq avx512vl avx512_vbmi2": AVX512} {
		want := true
		for _, name := range strings.Fields(names) {
			want = want && slices.Contains(flags, name)
		}
		if got != want {
			t.Errorf("%s is %v, want %v", names, got, want)
		}
	}
}
