package coloring

import "github.com/nabla-ad/nabla/sparsity"

// This file has the decompression of the compressed matrices, one product per colour, into the values of the matrix:
// direct recovery reads each entry from one component of a product, recovery by substitution also subtracts entries
// that were found before. Both follow Gebremedhin, Manne and Pothen (2005); the sources are computed once, in
// decompress_prepare.go.

// Target is the part of a symmetric matrix that a Decompressor fills.
type Target uint8

const (
	Full  Target = iota // all entries of the matrix
	Upper               // the entries on and above the diagonal
	Lower               // the entries on and below the diagonal
)

func (t Target) String() string { return name(int(t), "full", "upper", "lower") }

// A Source is the component of a product that an entry is recovered from: component Index of the product of colour
// Color+1, which is a product of rows (Aᵀ·w) if Row is set and of columns (A·s) otherwise. Color is the index of a
// column of the compressed matrix, from 0.
type Source struct {
	Index, Color int32
	Row          bool
}

// A Decompressor recovers the values of a matrix from its products. It holds the source of every entry, so
// decompression is a pass over the entries without searching or allocating. It is immutable and may be shared by
// goroutines.
//
// Products are passed as compressed matrices, stored by rows: col[i*colStride+k] is component i of the product of the
// columns of colour k+1, A·s, and row[j*rowStride+k] is component j of the product of the rows of colour k+1, Aᵀ·w. A
// stride may exceed the number of colours.
type Decompressor struct {
	coloring *Coloring
	target   Target
	pattern  *sparsity.Pattern // of the target
	source   []Source          // direct: entry → its source; substitution: step → its source
	steps    *steps            // nil for direct recovery

	// Direct recovery only: the entries sorted by the colour that they are read from, column colours before row
	// colours: those of colour t, counted from 0, are entries[colorPtr[t]:colorPtr[t+1]].
	colorPtr, entries []int32
}

// Decompressor prepares decompression into the values of a matrix with the coloured pattern or, for symmetric problems,
// with one triangle of it. A triangle of another problem, or an unknown target, is an *UnsupportedError. The cost is
// linear in the entries.
func (c *Coloring) Decompressor(target Target) (*Decompressor, error) {
	if target > Lower {
		return nil, &UnsupportedError{"Decompressor", "an unknown target; use Full, Upper or Lower"}
	}
	if target != Full && c.problem.Structure != Symmetric {
		return nil, &UnsupportedError{"Decompressor",
			"a triangle of a nonsymmetric matrix; use Full, or colour with Structure: Symmetric"}
	}
	d := &Decompressor{coloring: c, target: target}
	if err := d.prepare(); err != nil {
		return nil, err
	}
	return d, nil
}

// Coloring returns the colouring that the decompressor was made from.
func (d *Decompressor) Coloring() *Coloring {
	if d.coloring == nil {
		return new(Coloring)
	}
	return d.coloring
}

// Target returns the part of the matrix that is filled.
func (d *Decompressor) Target() Target { return d.target }

// Pattern returns the pattern of the target, which determines the order of the values: the coloured pattern, or its
// triangle.
func (d *Decompressor) Pattern() *sparsity.Pattern {
	if d.pattern == nil {
		return new(sparsity.Pattern)
	}
	return d.pattern
}

// Sources returns the source of each entry of Pattern, or nil for substitution. The slice belongs to the decompressor:
// do not write to it.
func (d *Decompressor) Sources() []Source {
	if d.steps != nil {
		return nil
	}
	return d.source
}

// Decompress stores the values of the matrix in data, one element for each entry of Pattern. A compressed matrix
// without colours may be nil. col and row must not overlap data. A slice of data of the wrong length, or a compressed
// matrix or stride that is too short, panics with a *LengthError.
func (d *Decompressor) Decompress(data, col []float64, colStride int, row []float64, rowStride int) {
	d.check(data, col, colStride, row, rowStride)
	if d.steps != nil {
		d.substitute(data, col, colStride, row, rowStride)
		return
	}
	source := d.source
	data = data[:len(source)]
	for k, s := range source {
		if s.Row {
			data[k] = row[int(s.Index)*rowStride+int(s.Color)]
		} else {
			data[k] = col[int(s.Index)*colStride+int(s.Color)]
		}
	}
}

// DecompressFunc is Decompress for products in any layout: at returns a component of a product, and is called once for
// each entry or step. A wrong length of data panics with a *LengthError.
func (d *Decompressor) DecompressFunc(data []float64, at func(Source) float64) {
	d.length("len(data)", len(data), d.Pattern().NNZ())
	if d.steps != nil {
		d.substituteFunc(data, at)
		return
	}
	for k, s := range d.source {
		data[k] = at(s)
	}
}

// DecompressColumn stores in data the values that are read from product, A·s for one column colour counted from 1, and
// leaves the other elements unchanged. So products can be decompressed one at a time, with memory for one; all column
// and row colours together fill the matrix. The cost is linear in the number of values stored.
//
// With substitution a value depends on several products, and the error is an *UnsupportedError. Lengths and colours
// that do not fit panic with a *LengthError.
func (d *Decompressor) DecompressColumn(data, product []float64, color int) error {
	m, _ := d.Coloring().Pattern().Dims()
	return d.single(data, product, color-1, color, d.Coloring().colColors, m)
}

// DecompressRow is DecompressColumn for the product Aᵀ·w of a row colour.
func (d *Decompressor) DecompressRow(data, product []float64, color int) error {
	_, n := d.Coloring().Pattern().Dims()
	return d.single(data, product, d.Coloring().colColors+color-1, color, d.Coloring().rowColors, n)
}

// single stores the values that are read from product, which must have the given length: that of colour number color of
// colors, at position t in colorPtr.
func (d *Decompressor) single(data, product []float64, t, color, colors, length int) error {
	if d.steps != nil {
		return needsAll()
	}
	d.length("len(data)", len(data), len(d.source))
	d.length("len(product)", len(product), length)
	if color < 1 || color > colors {
		panic(&LengthError{"Decompressor", "color", color, colors})
	}
	for _, k := range d.entries[d.colorPtr[t]:d.colorPtr[t+1]] {
		data[k] = product[d.source[k].Index]
	}
	return nil
}

// DecompressPart is DecompressColumn, or if rows is set DecompressRow, for k products at a time, those of the colours
// first to first+k-1, here counted from 0. They are stored by rows: products[i*stride+t] is component i of the product
// of colour first+t.
func (d *Decompressor) DecompressPart(data, products []float64, stride int, rows bool, first, k int) error {
	if d.steps != nil {
		return needsAll()
	}
	c := d.Coloring()
	m, n := c.Pattern().Dims()
	colors, offset := c.colColors, 0
	if rows {
		m, colors, offset = n, c.rowColors, c.colColors
	}
	d.length("len(data)", len(data), len(d.source))
	if first < 0 || k < 0 || first+k > colors {
		panic(&LengthError{"Decompressor", "first+k", first + k, colors})
	}
	d.block("products", len(products), stride, m, k)
	for t := range k {
		for _, e := range d.entries[d.colorPtr[offset+first+t]:d.colorPtr[offset+first+t+1]] {
			data[e] = products[int(d.source[e].Index)*stride+t]
		}
	}
	return nil
}

// needsAll returns the error for decompressing single products when recovery is by substitution.
func needsAll() error {
	return &UnsupportedError{"decompressing some colours",
		"substitution needs all products at once; use Decompress, or colour with Decompression: Direct"}
}

// check panics with a *LengthError if the arguments of Decompress do not fit.
func (d *Decompressor) check(data, col []float64, colStride int, row []float64, rowStride int) {
	c := d.Coloring()
	m, n := c.Pattern().Dims()
	d.length("len(data)", len(data), d.Pattern().NNZ())
	d.block("col", len(col), colStride, m, c.colColors)
	d.block("row", len(row), rowStride, n, c.rowColors)
}

// block panics with a *LengthError if a rows×colors block stored by rows does not fit into got elements with this
// stride.
func (d *Decompressor) block(arg string, got, stride, rows, colors int) {
	if colors == 0 || rows == 0 {
		return
	}
	if stride < colors {
		panic(&LengthError{"Decompressor", arg + "Stride", stride, colors})
	}
	if want := (rows-1)*stride + colors; got < want {
		panic(&LengthError{"Decompressor", "len(" + arg + ")", got, want})
	}
}

// length panics with a *LengthError if got and want differ.
func (d *Decompressor) length(arg string, got, want int) {
	if got != want {
		panic(&LengthError{"Decompressor", arg, got, want})
	}
}
