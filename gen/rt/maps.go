package rt

// Operations on maps as functions, which generated code calls.

// MakeMap returns a new map.
func MakeMap[M ~map[K]V, K comparable, V any]() M { return make(M) }

// MapGet returns the element with key k, and whether there is one.
func MapGet[M ~map[K]V, K comparable, V any](m M, k K) (v V, ok bool) {
	v, ok = m[k]
	return v, ok
}

// MapSet sets the element with key k.
func MapSet[M ~map[K]V, K comparable, V any](m M, k K, v V) { m[k] = v }

// MapDelete deletes the element with key k.
func MapDelete[M ~map[K]V, K comparable, V any](m M, k K) { delete(m, k) }

// MapClear deletes all elements.
func MapClear[M ~map[K]V, K comparable, V any](m M) { clear(m) }

// MapLen returns the number of elements.
func MapLen[M ~map[K]V, K comparable, V any](m M) int { return len(m) }

// MapKeys returns the keys in the order of a range statement, which is random.
func MapKeys[M ~map[K]V, K comparable, V any](m M) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	return keys
}
