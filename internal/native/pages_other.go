//go:build !(linux || darwin)

package native

import "errors"

func executable(code []byte) ([]byte, error) { return nil, errors.ErrUnsupported }

func release(memory []byte) {}
