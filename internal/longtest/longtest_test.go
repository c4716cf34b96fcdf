package longtest_test

import (
	"slices"
	"testing"

	"github.com/nabla-ad/nabla/internal/longtest"
)

func TestLengths(t *testing.T) {
	list := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	for _, tt := range []struct {
		value  string
		long   bool
		cases  int
		sample []int
		part   []int
	}{
		{"", false, 20, []int{2, 7}, []int{2, 7}},
		{"0", false, 20, []int{2, 7}, []int{2, 7}},
		{"1", true, 30, list, []int{1, 4, 7}},
		{"2", true, 30, list, []int{2, 5, 8}},
		{"3", true, 30, list, []int{0, 3, 6, 9}},
		{"all", true, 30, list, list},
	} {
		t.Setenv(longtest.Variable, tt.value)
		if testing.Short() {
			tt.long, tt.cases, tt.sample, tt.part = false, 10, []int{2, 7}, []int{2, 7}
		}
		if got := longtest.Long(); got != tt.long {
			t.Errorf("%q: long is %v", tt.value, got)
		}
		if got := longtest.Cases(0, 10, 20, 30); got != tt.cases {
			t.Errorf("%q: %d cases", tt.value, got)
		}
		if got := longtest.Cases(7, 10, 20, 30); got != 7 {
			t.Errorf("%q: %d cases, 7 are given", tt.value, got)
		}
		if got := longtest.Sample(list, 2); !slices.Equal(got, tt.sample) {
			t.Errorf("%q: sample %v", tt.value, got)
		}
		if got := longtest.Part(list, 2, 3); !slices.Equal(got, tt.part) {
			t.Errorf("%q: part %v, want %v", tt.value, got, tt.part)
		}
		if got := longtest.Sample(list, 11); !slices.Equal(got, list) {
			t.Errorf("%q: sample of more than there are: %v", tt.value, got)
		}
		if skipped := !t.Run("skip", func(t *testing.T) { longtest.Skip(t, "hunts"); ran = true }) ||
			!ran; skipped == tt.long {
			t.Errorf("%q: skipped is %v", tt.value, skipped)
		}
		ran = false
	}
	t.Run("serial", func(t *testing.T) { longtest.Serial(t); ran = true })
	if ran == testing.Short() {
		t.Errorf("a test without goroutines ran: %v", ran)
	}
}

var ran bool
