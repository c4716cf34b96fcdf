package ir

// A Writer accumulates statements. Passes that translate one function into another write to one.
// The zero value is ready to use.
type Writer struct {
	Out Block // the current block
	At  At    // position of the statement being translated
}

// Emit appends statements to the current block.
func (w *Writer) Emit(s ...Stmt) { w.Out = append(w.Out, s...) }

// Nested returns the statements that f emits as a new block; the current block is unchanged.
func (w *Writer) Nested(f func()) Block {
	outer := w.Out
	w.Out = nil
	f()
	block := w.Out
	w.Out = outer
	return block
}

// EachStmt returns, as a new block, the statements that stmt emits for each statement of b in turn.
// It sets w.At to the position of each.
func (w *Writer) EachStmt(b Block, stmt func(Stmt)) Block {
	return w.Nested(func() {
		for _, s := range b {
			w.At = At{Pos: s.Position()}
			stmt(s)
		}
	})
}
