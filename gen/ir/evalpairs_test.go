package ir_test

import (
	"fmt"
	"math"
)

var pairs = []pair{
	{"continue and break of outer loops", `
func geom.F(x []float64, n int) (r float64) exit {
	for l1, n1 i int = 0; i < n; i += 1 {
		let v float64 = x[i]
		for l2, n2 j int = n - 1; j > -1; j += -1 {
			if x[j] > v + 2 {
				leave n1
			}
			if x[j] < -3 {
				leave l1
			}
			if x[j] == 0 {
				leave exit
			}
			if j == i {
				leave n2
			}
			if r > 50 {
				leave l2
			}
			r += v * x[j]
		}
		r += 0.5
	}
	r = -r
}`, func(x []float64, n int) (r float64) {
		outer := true
	loop:
		for i := 0; i < n && outer; i++ {
			v := x[i]
			for j := n - 1; j >= 0; j-- {
				if x[j] > v+2 {
					continue loop
				}
				if x[j] < -3 {
					break loop
				}
				if x[j] == 0 {
					return r
				}
				if j == i {
					continue
				}
				if r > 50 {
					break
				}
				r += float64(v * x[j])
			}
			r += 0.5
		}
		return -r
	}, []func() []any{
		args([]float64{1, 2, 3}, 3), args([]float64{1, 5, 3, 4}, 4), args([]float64{1, 2, -4}, 3),
		args([]float64{1, 2, 0.5, 0}, 4), args([]float64{9, 8, 9}, 3), args([]float64{1}, 2), args([]float64(nil), 0),
	}},
	{"append", `
func geom.F(x []float64, y []float64) (a []float64, b []float64, same bool) exit {
	a = append(x[:2], 10)
	b = append(a, 20, 30)
	a[0] += 90
	b = append(b, y...)
	b[1] = -1
	a = append(a, a[1:]...)
	same = &a[0] == &x[0]
}`, func(x, y []float64) (a, b []float64, same bool) {
		a = append(x[:2], 10)
		b = append(a, 20, 30)
		a[0] += 90
		b = append(b, y...)
		b[1] = -1
		a = append(a, a[1:]...)
		same = &a[0] == &x[0]
		return
	}, []func() []any{
		func() []any { return []any{floats(1, 2, 3, 4, 5, 6, 7), floats(8)} },
		func() []any { return []any{floats(1, 2), floats(8, 9)} },
		func() []any { return []any{floats(1, 2, 3, 4)[:3], floats()} },
		func() []any { x := floats(1, 2, 3, 4, 5, 6, 7, 8); return []any{x[:4], x[2:5]} },
		func() []any { return []any{floats(1), floats(8, 9)} },
	}},
	{"copy with overlap and clear", `
func geom.F(x []float64, k int) (n int, c int) exit {
	n = copy(x[k:], x)
	let y []float64 = x[1:3:4]
	clear(y)
	c = cap(y) + 10 * len(y)
	copy(x, x[2:])
}`, func(x []float64, k int) (n, c int) {
		n = copy(x[k:], x)
		y := x[1:3:4]
		clear(y)
		c = cap(y) + 10*len(y)
		copy(x, x[2:])
		return
	}, []func() []any{
		func() []any { return []any{floats(1, 2, 3, 4, 5), 1} },
		func() []any { return []any{floats(1, 2, 3, 4, 5), 3} },
		func() []any { return []any{floats(1, 2, 3), 1} },
		func() []any { return []any{floats(1, 2, 3), 7} },
		func() []any { return []any{floats(1, 2, 3), -1} },
	}},
	{"structs are values", `
func geom.F(p geom.Point, q *geom.Point, b geom.Box) (r geom.Point, s float64) exit {
	r = p
	p.X = 7
	let t geom.Point = *q
	q.X += 1
	*q = geom.Point{X: q.Y, Y: t.X}
	let c geom.Box = b
	c.w[1] = 5
	c.lo = r
	c.tags[0] = 8
	c.lo.X = 3
	let a [3]float64 = c.w
	let view []float64 = c.w[:]
	view[2] = 4
	let pw *float64 = &c.w[2]
	*pw += 1
	let d geom.Box = c
	d.w[0] = -7
	c = d
	c.w[1] += 0.5
	s = *pw * 100 + view[0] * 10 + view[1]
	s += a[2] + c.w[2] + b.w[1] + b.tags[0] + c.lo.X + b.lo.X + r.X + p.X
	let same bool = r == p || c.w == a
	if same {
		s = -s
	}
}`, func(p Point, q *Point, b Box) (r Point, s float64) {
		r = p
		p.X = 7
		t := *q
		q.X++
		*q = Point{X: q.Y, Y: t.X}
		c := b
		c.w[1] = 5
		c.lo = r
		c.tags[0] = 8
		c.lo.X = 3
		a := c.w
		view := c.w[:]
		view[2] = 4
		pw := &c.w[2]
		*pw++
		d := c
		d.w[0] = -7
		c = d
		c.w[1] += 0.5
		s = float64(*pw*100) + float64(view[0]*10) + view[1]
		s += a[2] + c.w[2] + b.w[1] + b.tags[0] + c.lo.X + b.lo.X + r.X + p.X
		if r == p || c.w == a {
			s = -s
		}
		return
	}, []func() []any{
		func() []any {
			return []any{Point{1, 2}, &Point{3, 4}, Box{lo: Point{1, 1}, w: [3]float64{1, 2, 3}, tags: floats(5)}}
		},
		func() []any { return []any{Point{7, 2}, &Point{3, 4}, Box{tags: floats(5)}} },
		func() []any { return []any{Point{7, 2}, (*Point)(nil), Box{tags: floats(5)}} },
		func() []any { return []any{Point{7, 2}, &Point{}, Box{}} },
	}},
	{"a list behind pointers", `
func geom.F(head *geom.Node) (s float64, m *geom.Node) exit {
	let p *geom.Node = head
	for l, n {
		if p == nil {
			leave l
		}
		s += p.Val
		p.Val = s
		m = p
		p = p.Next
	}
	m.Next = nil
	let pp **geom.Node = &head
	(*pp).Val = -1
	*pp = nil
	if head == nil {
		s += 0.5
	}
}`, func(head *Node) (s float64, m *Node) {
		for p := head; p != nil; p = p.Next {
			s += p.Val
			p.Val = s
			m = p
		}
		m.Next = nil
		pp := &head
		(*pp).Val = -1
		*pp = nil
		if head == nil {
			s += 0.5
		}
		return s, m
	}, []func() []any{
		args((*Node)(nil)),
		func() []any { return []any{&Node{1, &Node{2, &Node{4, nil}}}} },
		func() []any { return []any{&Node{1, nil}} },
	}},
	{"integers wrap", `
func geom.F(a int8, b uint8, c int32, d uint64, n int, u uint) (r1 int8, r2 uint8, r3 int32, r4 uint64, r5 int64) exit {
	r1 = a * a - a << u
	r2 = b + 250 - uint8(n)
	r3 = c * c ^ c >> u
	r4 = d - 1 + uint64(a) | d << u
	r5 = int64(a) / int64(n) % 7 + int64(r4 % 1000) + int64(^b) + int64(-a)
}`, func(a int8, b uint8, c int32, d uint64, n int, u uint) (r1 int8, r2 uint8, r3 int32, r4 uint64, r5 int64) {
		r1 = a*a - a<<u
		r2 = b + 250 - uint8(n)
		r3 = c*c ^ c>>u
		r4 = d - 1 + uint64(a) | d<<u
		r5 = int64(a)/int64(n)%7 + int64(r4%1000) + int64(^b) + int64(-a)
		return
	}, []func() []any{
		args(int8(-128), uint8(7), int32(123456), uint64(0), 3, uint(3)),
		args(int8(100), uint8(255), int32(-1), uint64(1<<63), -1, uint(70)),
		args(int8(-1), uint8(0), int32(math.MinInt32), uint64(5), 0, uint(0)),
	}},
	{"conversions", `
func geom.F(x float64, i int64, u uint64, f float32) (r1 float32, r2 int, r3 uint8, r4 float64, r5 float32, r6 float32, s string) exit {
	r1 = float32(x) * f + 0.1
	r2 = int(x * 1000)
	r3 = uint8(int(f))
	r4 = float64(f) + float64(u) + float64(i)
	r5 = float32(u)
	r6 = f / 3 * f - f
	s = string(rune(i)) + "é"[1:]
	let b []byte = []byte(s)
	s = s + string(b[1:])
}`, func(x float64, i int64, u uint64, f float32) (r1 float32, r2 int, r3 uint8, r4 float64, r5, r6 float32, s string) {
		r1 = float32(float32(x)*f) + 0.1
		r2 = int(x * 1000)
		r3 = uint8(int(f))
		r4 = float64(f) + float64(u) + float64(i)
		r5 = float32(u)
		r6 = float32(f/3*f) - f
		s = string(rune(i)) + "é"[1:]
		b := []byte(s)
		s = s + string(b[1:])
		return
	}, []func() []any{
		args(0.1, int64(233), uint64(1<<63+1025), float32(0.7)),
		args(-1e6/3, int64(1<<40+65), uint64(3), float32(-77.7)),
		args(16777217.0, int64(16777217), uint64(1<<53+1), float32(1e10)),
		args(1.5, int64(1<<62+1<<38+1), uint64(1<<63+1<<39+1), float32(3)),
	}},
	{"what is rounded and wraps in between", `
func geom.F(f float32, g float32, a int8, c uint32) (r float64, n int, ok bool) exit {
	ok = f + g == f
	r = float64(f * g) - float64(f + g - f) + float64(-f / 3)
	n = int(a * a) + int(a + a) * 1000 + int(-a) + int(c * c >> 3) + int((c - 5) >> 1) + int(^c) + int(a << 1)
	let b int8 = a
	b += a
	n += int(b)
}`, func(f, g float32, a int8, c uint32) (r float64, n int, ok bool) {
		ok = f+g == f
		r = float64(f*g) - float64(f+g-f) + float64(-f/3)
		n = int(a*a) + int(a+a)*1000 + int(-a) + int(c*c>>3) + int((c-5)>>1) + int(^c) + int(a<<1)
		b := a
		b += a
		n += int(b)
		return
	}, []func() []any{
		args(float32(1e8), float32(1), int8(100), uint32(3)),
		args(float32(0.1), float32(0.7), int8(-128), uint32(1<<31+7)),
	}},
	{"appended structs that overlap", `
func geom.F(x []geom.Point) (y []geom.Point) exit {
	y = append(x[:1], x[:3]...)
	y = append(y[:2], y[3], y[2])
	copy(y[1:], y)
	y[0].X = -1
}`, func(x []Point) (y []Point) {
		y = append(x[:1], x[:3]...)
		y = append(y[:2], y[3], y[2])
		copy(y[1:], y)
		y[0].X = -1
		return
	}, []func() []any{
		func() []any { return []any{[]Point{{1, 2}, {3, 4}, {5, 6}, {7, 8}}} },
		func() []any { return []any{[]Point{{1, 2}, {3, 4}, {5, 6}}} },
	}},
	{"NaN, infinities, min and max", `
func geom.F(x float64, y float64) (r1 float64, r2 float64, r3 int, r4 bool) exit {
	r1 = min(x, y, 1) + math.Max(x, y)
	r2 = max(x, y) / x - math.Sin(x) * math.Hypot(x, y)
	if x < y {
		r3 = 1
	} else {
		if x >= y {
			r3 = 2
		} else {
			r3 = max(3, len("ab"))
		}
	}
	r4 = !(x <= y) || x != x && math.IsInf(y, 0) && !math.Signbit(x)
}`, func(x, y float64) (r1, r2 float64, r3 int, r4 bool) {
		r1 = min(x, y, 1) + math.Max(x, y)
		r2 = float64(max(x, y)/x) - float64(math.Sin(x)*math.Hypot(x, y))
		if x < y {
			r3 = 1
		} else if x >= y {
			r3 = 2
		} else {
			r3 = max(3, len("ab"))
		}
		r4 = !(x <= y) || x != x && math.IsInf(y, 0) && !math.Signbit(x)
		return
	}, []func() []any{
		args(1.0, 2.0), args(math.NaN(), 1.0), args(math.NaN(), math.Inf(1)), args(0.0, math.Copysign(0, -1)),
		args(math.Inf(-1), 0.0),
	}},
	{"short circuit and nil", `
func geom.F(p *geom.Point, x []float64, i int) (r float64) exit {
	if p != nil && p.X > 1 || x == nil || x[i] > 3 {
		r = 1
	}
	if i >= 0 && i < len(x) {
		r += x[i]
	}
	r += p.Y
}`, func(p *Point, x []float64, i int) (r float64) {
		if p != nil && p.X > 1 || x == nil || x[i] > 3 {
			r = 1
		}
		if i >= 0 && i < len(x) {
			r += x[i]
		}
		r += p.Y
		return
	}, []func() []any{
		args(&Point{2, 3}, []float64{}, 5), args((*Point)(nil), []float64{}, 5), args((*Point)(nil), []float64(nil), 5),
		args(&Point{0, 3}, []float64{1, 4}, 1), args(&Point{0, 3}, []float64{1, 4}, -1),
		args((*Point)(nil), []float64{1, 4}, 0),
	}},
	{"recursion and calls", `
func geom.F(x []float64, n int) (s float64, p float64) exit {
	p = 1
	if n == 0 {
		leave exit
	}
	s, p = call geom.F(x[1:], n - 1)
	let t float64
	_, t = call geom.F(x, 0)
	let q geom.Point
	q.X = s
	call geom.G(&q, x[:1])
	s = q.X + x[0] * t
	p = p * x[0]
}

func geom.G(q *geom.Point, x []float64) exit {
	q.X += 1
	x[0] = x[0] * 0.5
}`, goF, []func() []any{
		func() []any { return []any{floats(1, 2, 3, 4), 4} },
		func() []any { return []any{floats(1, 2), 3} },
	}},
	{"an index for each iteration, new variables too", `
func geom.F(n int) (r float64) exit {
	let ps []*float64
	for l, m i int = 0; i < n; i += 1 {
		let v float64
		v += float64(i)
		ps = append(ps, &v)
	}
	for l2, m2 i2 int = 0; i2 < len(ps); i2 += 1 {
		r = r * 10 + *ps[i2]
	}
}`, func(n int) (r float64) {
		var ps []*float64
		for i := 0; i < n; i++ {
			v := float64(i)
			ps = append(ps, &v)
		}
		for _, p := range ps {
			r = float64(r*10) + *p
		}
		return
	}, []func() []any{args(4), args(0)}},
	{"runtime errors", `
func geom.F(k int, x []float64, p *geom.Box) (r float64) exit {
	if k == 0 {
		panic("zero")
	}
	if k == 1 {
		panic(opaque[string]("k = %v of %v", k, x))
	}
	if k == 2 {
		let y []float64 = make([]float64, k - 3)
		r = y[0]
	}
	if k == 3 {
		r = float64(k / len(x))
	}
	if k == 4 {
		let w []float64 = x[k:2]
		r = w[0]
	}
	if k == 5 {
		r = p.lo.X
	}
	if k == 6 {
		p.next.w[k] = 1
	}
	if k == 7 {
		let v []float64 = x[2:1:0]
		r = v[0]
	}
	if k == 8 {
		let t string = "abc"[k:]
		r = float64(len(t))
	}
	if k == 9 {
		r = float64(k << (8 - k))
	}
	if k == 10 {
		panic(k)
	}
}`, func(k int, x []float64, p *Box) (r float64) {
		switch k {
		case 0:
			panic("zero")
		case 1:
			panic(fmt.Sprintf("k = %v of %v", k, x))
		case 2:
			r = make([]float64, k-3)[0]
		case 3:
			r = float64(k / len(x))
		case 4:
			r = x[k:2][0]
		case 5:
			r = p.lo.X
		case 6:
			p.next.w[k] = 1
		case 7:
			n := 2
			r = x[n : n-1 : n-2][0]
		case 8:
			s := "abc"
			r = float64(len(s[k:]))
		case 9:
			r = float64(k << (8 - k))
		case 10:
			panic(k)
		}
		return
	}, func() (list []func() []any) {
		for k := range 12 {
			list = append(list, args(k, []float64{}, (*Box)(nil)), args(k, []float64{1, 2.5}, &Box{next: &Box{}}))
		}
		return
	}()},
}

func goF(x []float64, n int) (s, p float64) {
	p = 1
	if n == 0 {
		return
	}
	s, p = goF(x[1:], n-1)
	_, t := goF(x, 0)
	q := Point{X: s}
	goG(&q, x[:1])
	s = q.X + float64(x[0]*t)
	p = p * x[0]
	return
}

func goG(q *Point, x []float64) {
	q.X++
	x[0] = x[0] * 0.5
}
