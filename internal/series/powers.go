package series

import (
	"math"
	"slices"
)

// powers are the monomials of a Space in several variables.
type powers struct {
	vars   int
	orders []int // highest power of each variable
	order  int
	// blocks[k] holds the exponents of the monomials of degree k, vars numbers for each, in descending lexicographic
	// order: those with high powers of the first variables come first.
	blocks [][]uint8
	index  []map[string]int32 // degree → exponents → position in the block
	tables [][][]int32        // see table
}

// MaxExponent is the highest order of a space in several variables.
const MaxExponent = math.MaxUint8

// Powers returns the space of polynomials in len(orders) variables up to degree order, with variable i up to the power
// orders[i]. Block k has a coefficient for each monomial of degree k. orders must be at least 0 and at most
// MaxExponent. ProductTerms returns how much memory it takes.
func Powers(order int, orders []int) *Space {
	s := Monomials(order, orders)
	p := s.powers
	p.tables = make([][][]int32, s.order+1)
	for i := 1; i <= s.order; i++ {
		p.tables[i] = make([][]int32, s.order+1)
		for j := 1; i+j <= s.order; j++ {
			p.tables[i][j] = p.products(i, j)
		}
	}
	return s
}

// Monomials returns Powers(order, orders) without the tables for products: for coefficients that are only read.
func Monomials(order int, orders []int) *Space {
	total := 0
	for _, o := range orders {
		total += o
	}
	order = min(order, total)
	p := &powers{vars: len(orders), orders: slices.Clone(orders), order: order}
	s := &Space{order: order, off: make([]int, order+2), powers: p}
	p.blocks, p.index = make([][]uint8, order+1), make([]map[string]int32, order+1)
	exps := make([]uint8, p.vars)
	for k := range p.blocks {
		p.fill(k, exps, 0, k)
		p.index[k] = map[string]int32{}
		for i := range p.count(k) {
			p.index[k][string(p.monomial(k, i))] = int32(i)
		}
		if k > 0 {
			s.off[k+1] = s.off[k] + p.count(k)
		}
	}
	return s
}

// fill appends to block k the monomials whose exponents before variable v are those of exps, with left as the sum of
// the others.
func (p *powers) fill(k int, exps []uint8, v, left int) {
	if v == p.vars {
		if left == 0 {
			p.blocks[k] = append(p.blocks[k], exps...)
		}
		return
	}
	for e := min(left, p.orders[v]); e >= 0; e-- {
		exps[v] = uint8(e)
		p.fill(k, exps, v+1, left-e)
	}
	exps[v] = 0
}

// count returns the number of monomials of degree k.
func (p *powers) count(k int) int {
	if p.vars == 0 {
		return 1 - min(k, 1)
	}
	return len(p.blocks[k]) / p.vars
}

// monomial returns the exponents of monomial i of degree k.
func (p *powers) monomial(k, i int) []uint8 { return p.blocks[k][i*p.vars : (i+1)*p.vars] }

// table returns, for each pair of monomials of degrees i and j, in order of the first, the position of their product in
// block i+j, or -1 if it is not in the space.
func (p *powers) table(i, j int) []int32 { return p.tables[i][j] }

// products returns the table of degrees i and j.
func (p *powers) products(i, j int) []int32 {
	exps := make([]uint8, p.vars)
	t := make([]int32, 0, p.count(i)*p.count(j))
	for a := range p.count(i) {
		for b := range p.count(j) {
			at := int32(-1)
			in := true
			for v, e := range p.monomial(i, a) {
				sum := int(e) + int(p.monomial(j, b)[v])
				in = in && sum <= p.orders[v]
				exps[v] = uint8(min(sum, MaxExponent))
			}
			if in {
				at = p.index[i+j][string(exps)]
			}
			t = append(t, at)
		}
	}
	return t
}

// product adds to dst the product of the blocks a and b with the given table.
func (p *powers) product(dst, a, b []float64, table []int32, strong bool) {
	for _, v := range a {
		row := table[:len(b)]
		table = table[len(b):]
		if strong {
			if isStructural(v) {
				continue
			}
			for q, at := range row {
				if at >= 0 {
					dst[at] += strongProduct(v, b[q])
				}
			}
			continue
		}
		for q, at := range row {
			if at >= 0 {
				dst[at] += v * b[q]
			}
		}
	}
}

// ProductTerms returns the number of coefficients of Powers(order, orders) and of the products of two coefficients in
// one multiplication, those that are not in the space included, math.MaxInt if they overflow. Powers takes four bytes
// for each of the latter.
func ProductTerms(order int, orders []int) (size, terms int) {
	// One variable after the other: counts[k] monomials of degree k, and pairs[k] pairs with degrees that add up to k.
	counts, pairs := make([]float64, order+1), make([]float64, order+1)
	counts[0], pairs[0] = 1, 1
	for _, o := range orders {
		for k := order; k >= 0; k-- {
			c, p := 0.0, 0.0
			for e := 0; e <= min(o, k); e++ {
				c += counts[k-e]
			}
			for e := 0; e <= min(2*o, k); e++ { // exponents of two factors
				p += pairs[k-e] * float64(min(e, o)-max(0, e-o)+1)
			}
			counts[k], pairs[k] = c, p
		}
	}
	sum := func(x []float64) int {
		s := 0.0
		for _, v := range x {
			s += v
		}
		if s >= math.MaxInt32 {
			return math.MaxInt
		}
		return int(s)
	}
	return sum(counts), sum(pairs)
}

// Monomial appends to dst the exponents of coefficient i of a Space of Powers, and returns it.
func (s *Space) Monomial(dst []int, i int) []int {
	k := 1
	for i >= s.off[k+1] {
		k++
	}
	for _, e := range s.powers.monomial(k, i-s.off[k]) {
		dst = append(dst, int(e))
	}
	return dst
}

// Find returns the coefficient of a Space of Powers with the given exponents, and -1 for the value. It reports whether
// the space has one.
func (s *Space) Find(exponents []int) (i int, ok bool) {
	p := s.powers
	if len(exponents) != p.vars {
		return 0, false
	}
	var buf [32]uint8
	key, k := buf[:0], 0
	for v, e := range exponents {
		if e < 0 || e > p.orders[v] {
			return 0, false
		}
		key, k = append(key, uint8(e)), k+e
	}
	switch {
	case k > s.order:
		return 0, false
	case k == 0:
		return -1, true
	}
	return s.off[k] + int(p.index[k][string(key)]), true
}

// Polynomial reports whether s is a space of Powers.
func (s *Space) Polynomial() bool { return s.powers != nil }

// Variables returns the number of variables of a Space of Powers.
func (s *Space) Variables() int { return s.powers.vars }

// Differentiate writes the coefficients of the derivative of c by variable v to dst, which may have parts of fewer
// degrees than c, and returns its value. In strong mode structural zeros are preserved.
func (s *Space) Differentiate(dst, c []float64, v int, strong bool) (value float64) {
	clear(dst)
	if strong {
		fillWith(dst, structural)
	}
	s.shift(c, v, func(from, to int, e float64) {
		switch {
		case to < 0:
			value = c[from]
		case to < len(dst):
			if dst[to] = e * c[from]; strong {
				dst[to] = strongMul(c[from], e)
			}
		}
	})
	return value
}

// AddIntegral adds to each coefficient of dst, of degree k, that of variable v times the polynomial with the given
// value and coefficients c, divided by k. Unless degree is 0, it does so for that degree only.
func (s *Space) AddIntegral(dst []float64, value float64, c []float64, v, degree int) {
	k := 1
	s.shift(dst, v, func(from, to int, _ float64) {
		for from >= s.off[k+1] {
			k++
		}
		switch {
		case degree > 0 && k != degree:
		case to < 0:
			dst[from] += value
		case to < len(c):
			dst[from] += c[to] / float64(k)
		}
	})
}

// shift calls f for each coefficient of c with variable v, with its position, that of the monomial without one factor v
// or -1 for the constant one, and the exponent of v.
func (s *Space) shift(c []float64, v int, f func(from, to int, exponent float64)) {
	p := s.powers
	var key []byte
	for k := 1; k <= s.order; k++ {
		for i := range p.count(k) {
			at := s.off[k] + i
			if at >= len(c) {
				return
			}
			e := p.monomial(k, i)
			if e[v] == 0 {
				continue
			}
			to := -1
			if k > 1 {
				key = append(key[:0], e...)
				key[v]--
				to = s.off[k-1] + int(p.index[k-1][string(key)])
			}
			f(at, to, float64(e[v]))
		}
	}
}

// Products calls f for the pairs of coefficients i and j whose product contributes to a coefficient of degree k, that
// at to. Each pair occurs in one order only, and both have a degree of at least 1.
func (s *Space) Products(k int, f func(i, j, to int)) {
	for d := 1; 2*d <= k; d++ {
		e := k - d
		if s.powers == nil {
			for l := range s.off[2] {
				f(s.off[d]+l, s.off[e]+l, s.off[k]+l)
			}
			continue
		}
		table, width := s.powers.table(d, e), s.powers.count(e)
		for at, to := range table {
			i, j := at/width, at%width
			if to >= 0 && (d < e || i <= j) {
				f(s.off[d]+i, s.off[e]+j, s.off[k]+int(to))
			}
		}
	}
}
