package fd

import (
	"errors"
	"reflect"
	"sync"

	"github.com/nabla-ad/nabla"
)

// Prepared objects are kept between calls, by function, operator and shape. Functions with generated code are declared
// functions, which their code identifies: closures, of which many share their code, have no generated code, so that no
// prepared object belongs to one.

// An operator identifies the derivative that a prepared object computes.
type operator int

const (
	derivatives operator = iota
	gradients
	hessians
	jacobians
	diagonals
)

// A key identifies prepared objects that can take each other's place.
type key struct {
	code     uintptr // of the function
	operator operator
	n, m     int
}

// pools has a *sync.Pool by key, nil for a function without generated code.
var pools sync.Map

// A kept is a prepared object in use.
type kept[P any] struct {
	prep P
	pool *sync.Pool
}

// give keeps the object for later calls.
func (k *kept[P]) give() { k.pool.Put(k) }

// take returns a prepared object for a function with n inputs and m outputs, which prepare makes if none is free, and
// nil if the function has no generated code. Other errors are panics.
func take[P any](o operator, f any, n, m int, prepare func() (P, error)) *kept[P] {
	id := key{reflect.ValueOf(f).Pointer(), o, n, m}
	pool, known := pools.Load(id)
	if known && pool == nil {
		return nil
	}
	if known {
		if k, ok := pool.(*sync.Pool).Get().(*kept[P]); ok {
			return k
		}
	}
	prep, err := prepare()
	if errors.Is(err, nabla.ErrUnsupported) {
		pools.Store(id, nil)
		return nil
	}
	must(err)
	if !known {
		pool, _ = pools.LoadOrStore(id, new(sync.Pool))
	}
	return &kept[P]{prep, pool.(*sync.Pool)}
}
