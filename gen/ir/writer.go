package ir

// Writer collects statements, the blocks within others too: passes that make one form from
// another write to one. Its zero value is ready.
type Writer struct {
	Out Block // of the block that is being written
	At  At    // where what it is made from stands
}

// Emit adds statements.
func (w *Writer) Emit(s ...Stmt) { w.Out = append(w.Out, s...) }

// Nested returns what f writes, as a block of its own.
func (w *Writer) Nested(f func()) Block {
	outer := w.Out
	w.Out = nil
	f()
	block := w.Out
	w.Out = outer
	return block
}

// EachStmt returns what stmt writes for each statement of b in turn, as a block of its own.
func (w *Writer) EachStmt(b Block, stmt func(Stmt)) Block {
	return w.Nested(func() {
		for _, s := range b {
			w.At = At{Pos: s.Position()}
			stmt(s)
		}
	})
}
