package rt_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/nabla-ad/nabla/gen/rt"
)

type celsius float64

func (c celsius) String() string { return "warm" }

type embedding struct{ celsius }

// TestIs: types are compared exactly, so a type that embeds another is not that type.
func TestIs(t *testing.T) {
	for _, tt := range []struct {
		x                       fmt.Stringer
		value, pointer, wrapped bool
	}{
		{nil, false, false, false},
		{celsius(1), true, false, false},
		{(*celsius)(nil), false, true, false},
		{embedding{1}, false, false, true},
	} {
		v, p, w := rt.Is[celsius](tt.x), rt.Is[*celsius](tt.x), rt.Is[embedding](tt.x)
		if v != tt.value || p != tt.pointer || w != tt.wrapped {
			t.Errorf("%T: %v, %v, %v", tt.x, v, p, w)
		}
	}
}

func TestUnknownType(t *testing.T) {
	var unknown *rt.UnknownTypeError
	err := rt.UnknownType(embedding{1}, "fmt.Stringer")
	if !errors.As(err, &unknown) || unknown.Interface != "fmt.Stringer" || unknown.Type != "rt_test.embedding" {
		t.Errorf("%#v", err)
	}
	if s := err.Error(); !strings.Contains(s, "nabla gen") || !strings.Contains(s, "rt_test.embedding") {
		t.Error(s)
	}
	defer func() {
		if _, ok := recover().(runtime.Error); !ok {
			t.Error("nil does not panic as a nil dereference")
		}
	}()
	t.Errorf("nil: %v", rt.UnknownType(nil, "fmt.Stringer"))
}
