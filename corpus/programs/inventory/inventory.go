// Package inventory has functions of stocks, orders and prices in maps, heaps and tables, as programs have them.
package inventory

import (
	"container/heap"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

var (
	weightsOnce sync.Once
	weights     []float64
)

// loadWeights fills the table of weights.
func loadWeights() {
	weights = make([]float64, 8)
	for i := range weights {
		weights[i] = 1 / float64(1+i*i)
	}
}

// Weighted is a sum with weights that are computed once.
//
//corpus:at 0.3 1.2 0.7
func Weighted(x []float64) (s float64) {
	weightsOnce.Do(loadWeights)
	for i, v := range x {
		s += weights[i] * v * v
	}
	return s
}

var (
	tableOnce sync.Once
	table     map[string]float64
)

// Priced is the price of an order, with a map that is made once by a literal.
//
//corpus:at 0.3 1.2
func Priced(nuts, bolts float64) float64 {
	tableOnce.Do(func() {
		table = map[string]float64{"nut": 0.25, "bolt": 0.4}
	})
	return math.Exp(table["nut"]*nuts) + table["bolt"]*bolts*bolts
}

// A stock is a warehouse with prices and amounts.
type stock struct {
	price, amount float64
	name          string
}

// Totals adds up values in a map from amounts to sums with derivatives.
//
//corpus:at 0.3 1.2 0.7
func Totals(x []float64) float64 {
	byClass := map[float64]float64{}
	for i, v := range x {
		byClass[float64(i%2)] += v * v
	}
	return byClass[0]*byClass[1] + math.Sin(byClass[0])
}

// Sheet values a sheet of stocks in a map of structs.
//
//corpus:at 2.3 1.2 0.7
func Sheet(x []float64) (value float64) {
	sheet := map[string]stock{}
	for i, v := range x {
		name := "part" + strconv.Itoa(i)
		sheet[name] = stock{price: v, amount: float64(i + 1), name: name}
	}
	s := sheet["part1"]
	s.price *= 1.5
	sheet["part1"] = s
	for _, name := range slices.Sorted(maps.Keys(sheet)) {
		s := sheet[name]
		value += s.price * s.price * s.amount
	}
	return value
}

// A tariff is a price per amount.
type tariff interface{ cost(amount float64) float64 }

type flat struct{ price float64 }

type stepped struct{ low, high, limit float64 }

func (f flat) cost(amount float64) float64 { return f.price * amount }

func (s stepped) cost(amount float64) float64 {
	if amount < s.limit {
		return s.low * amount
	}
	return s.low*s.limit + s.high*(amount-s.limit)
}

// Tariffs computes costs with tariffs in a map of interface values.
//
//corpus:at 0.8 0.5 2.5
func Tariffs(x []float64) float64 {
	by := map[string]tariff{"day": flat{x[0]}, "night": stepped{x[0] * 0.5, x[1], 2}}
	total := 0.0
	for _, k := range []string{"day", "night"} {
		if t, ok := by[k]; ok {
			total += t.cost(x[2] * x[2])
		}
	}
	return total
}

// Merged copies and merges maps of prices.
//
//corpus:at 0.8 0.5 2.5
func Merged(x []float64) (s float64) {
	base := map[int]float64{0: x[0], 1: x[1]}
	sale := maps.Clone(base)
	sale[1] = x[2] * x[0]
	maps.Copy(base, map[int]float64{1: x[1] * x[1], 2: x[2]})
	for _, k := range slices.Sorted(maps.Keys(base)) {
		s += base[k] * (sale[k] + 1)
	}
	for v := range maps.Values(sale) {
		s += v * v
	}
	return s
}

// An order waits for its time.
type order struct {
	due   int
	value float64
}

type orders []order

func (o orders) Len() int           { return len(o) }
func (o orders) Less(i, j int) bool { return o[i].due < o[j].due }
func (o orders) Swap(i, j int)      { o[i], o[j] = o[j], o[i] }
func (o *orders) Push(v any)        { *o = append(*o, v.(order)) }
func (o *orders) Pop() any {
	old := *o
	v := old[len(old)-1]
	*o = old[:len(old)-1]
	return v
}

// Queue takes orders from a heap in the order of their times.
//
//corpus:at 0.8 0.5 2.5 1.1
func Queue(x []float64) (s float64) {
	var q orders
	for i, v := range x {
		heap.Push(&q, order{due: i * 7 % 5, value: v})
	}
	discount := 1.0
	for q.Len() > 0 {
		o := heap.Pop(&q).(order)
		s += discount * o.value * o.value
		discount *= 0.9
	}
	return s
}

// byValue sorts stocks.
type byValue []stock

func (b byValue) Len() int           { return len(b) }
func (b byValue) Less(i, j int) bool { return b[i].price*b[i].amount < b[j].price*b[j].amount }
func (b byValue) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }

// Best is the value of the best two stocks.
//
//corpus:at 2.3 1.2 0.7
func Best(x []float64) float64 {
	list := make([]stock, len(x))
	for i, v := range x {
		list[i] = stock{price: math.Exp(v), amount: float64(1 + i)}
	}
	sort.Sort(sort.Reverse(byValue(list)))
	return list[0].price*list[0].amount + 0.5*list[1].price
}

// Parsed reads coefficients from a text with Sscanf.
//
//corpus:at 2.3 1.2
func Parsed(x, y float64) (float64, error) {
	var a, b float64
	var unit string
	if n, err := fmt.Sscanf("2.5 0.5 kg", "%g %g %s", &a, &b, &unit); err != nil || n != 3 {
		return 0, err
	}
	if unit != "kg" {
		return 0, errors.New("unit")
	}
	return a*x*x + b*math.Sin(y), nil
}

// Scanned reads numbers with Sscan into fields of a struct and elements.
//
//corpus:at 2.3 1.2
func Scanned(x, y float64) float64 {
	var s stock
	list := make([]float64, 2)
	if _, err := fmt.Sscan("1.5 3 bolts", &s.price, &s.amount, &s.name); err != nil {
		return 0
	}
	if _, err := fmt.Sscan("0.25 4", &list[0], &list[1]); err != nil {
		return 0
	}
	return s.price*x*x + s.amount*y + list[0]*x*y*list[1]
}

// Labelled builds labels of parts and weighs by their lengths.
//
//corpus:at 2.3 1.2 0.5
func Labelled(x []float64) (s float64) {
	var b strings.Builder
	for i, v := range x {
		b.WriteString("part ")
		b.WriteString(strconv.Itoa(i * 100))
		b.WriteByte(';')
		fmt.Fprintf(&b, "%d,", i)
		s += v * v * float64(b.Len())
	}
	for i, word := range strings.Fields(b.String()) {
		s += x[i%len(x)] * float64(len(word))
	}
	return s
}

// Scheduled discounts payments by the days between dates.
//
//corpus:at 0.05 100 200
func Scheduled(rate, a, b float64) float64 {
	start := time.Date(2024, time.March, 1, 0, 0, 0, 0, time.UTC)
	total := 0.0
	for i, amount := range []float64{a, b} {
		due := start.AddDate(0, 6*(i+1), 0)
		years := due.Sub(start).Hours() / (24 * 365)
		if due.Weekday() == time.Sunday {
			years += 1.0 / 365
		}
		total += amount * math.Exp(-rate*years)
	}
	return total
}

// Deadline computes with durations.
//
//corpus:at 0.5
func Deadline(speed float64) float64 {
	d := 90 * time.Minute
	return speed * speed * d.Hours() * float64(d/time.Second)
}

// A ledger keeps lists of amounts by account.
type ledger struct {
	entries map[string][]float64
	totals  map[string]*float64
}

func (l *ledger) post(account string, v float64) {
	l.entries[account] = append(l.entries[account], v)
	if l.totals[account] == nil {
		l.totals[account] = new(float64)
	}
	*l.totals[account] += v
}

// Ledger posts amounts to accounts.
//
//corpus:at 2.3 1.2 0.5
func Ledger(x []float64) float64 {
	l := &ledger{map[string][]float64{}, map[string]*float64{}}
	for i, v := range x {
		l.post([]string{"cash", "stock"}[i%2], v*x[0])
	}
	s := *l.totals["cash"] * *l.totals["stock"]
	for _, v := range l.entries["cash"] {
		s += v * v
	}
	return s
}

// Collected collects the values of a map.
//
//corpus:at 2.3 1.2 0.5
func Collected(x []float64) float64 {
	m := make(map[string]float64, len(x))
	for i, v := range x {
		m[fmt.Sprint("k", i)] = v * v
	}
	list := slices.Sorted(maps.Values(m))
	return list[len(list)-1] + math.Sin(list[0])
}

// Deleted deletes entries of a map by a condition.
//
//corpus:at 2.3 1.2 0.5
func Deleted(x []float64) (s float64) {
	m := map[int]float64{}
	for i, v := range x {
		m[i] = v
	}
	maps.DeleteFunc(m, func(k int, v float64) bool { return k == 1 })
	for _, k := range slices.Sorted(maps.Keys(m)) {
		s += m[k] * m[k]
	}
	return s
}

// A shape is a figure with an area.
type shape interface{ area() float64 }

type disc struct{ r float64 }

type box struct{ a, b float64 }

func (d *disc) area() float64 { return math.Pi * d.r * d.r }
func (b box) area() float64   { return b.a * b.b }

// Areas sums figures in a map of lists of interface values.
//
//corpus:at 2.3 1.2 0.5
func Areas(x []float64) (s float64) {
	m := map[int][]shape{}
	for i, v := range x {
		if i%2 == 0 {
			m[i%2] = append(m[i%2], &disc{v})
		} else {
			m[i%2] = append(m[i%2], box{v, x[0]})
		}
	}
	for k := range 2 {
		for _, f := range m[k] {
			s += f.area() * float64(k+1)
		}
	}
	return s
}
