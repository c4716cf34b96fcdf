package randprog

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Shrink returns a small case that fails as c does: check returns a [Failure] of the same oracle. It makes at most the
// given number of tries.
func (c *Case) Shrink(check func(*Case) error, tries int) *Case {
	want := failure(check, c)
	if want == nil || c.Program == nil {
		return c
	}
	s := &shrinker{best: c, check: check, oracle: want.Oracle, tries: tries}
	s.keepFailingInput(want.Input)
	for before := 0; s.tries > 0 && before != s.best.Program.size(); {
		before = s.best.Program.size()
		s.pass()
	}
	s.simplifyInput()
	return s.best
}

// failure returns the failure that check reports, nil if there is none.
func failure(check func(*Case) error, c *Case) *Failure {
	var f *Failure
	if errors.As(check(c), &f) {
		return f
	}
	return nil
}

// A shrinker holds the smallest failing case so far.
type shrinker struct {
	best   *Case
	check  func(*Case) error
	oracle string
	tries  int
}

// keepFailingInput removes the inputs other than k, or those after k.
func (s *shrinker) keepFailingInput(k int) {
	for _, only := range [][]*Input{{s.best.Inputs[k]}, s.best.Inputs[:k+1]} {
		c := *s.best
		c.Inputs = only
		if f := failure(s.check, &c); f != nil && f.Oracle == s.oracle {
			s.best = &c
			return
		}
	}
}

// try makes p the best case if it fails too, and reports whether it does.
func (s *shrinker) try(p *Program) bool {
	if s.tries--; s.tries < 0 {
		return false
	}
	list, err := Load([]*Program{p}, 0)
	if err != nil {
		return false
	}
	c := list[0]
	c.Inputs = s.best.Inputs
	if f := failure(s.check, c); f == nil || f.Oracle != s.oracle {
		return false
	}
	s.best = c
	return true
}

// edit tries a change of node i of the program, in the order of nodes.
func (s *shrinker) edit(i int, change func(n *Node)) bool {
	p := s.best.Program.clone()
	change(p.nodes()[i])
	return s.try(p)
}

// nodes returns all nodes, parents first.
func (p *Program) nodes() (out []*Node) {
	p.Body.walk(func(n *Node) { out = append(out, n) })
	for _, f := range p.Own {
		f.walk(func(n *Node) { out = append(out, n) })
	}
	return out
}

// pass tries every simplification once, large pieces first.
func (s *shrinker) pass() {
	for i := len(s.best.Program.Own) - 1; i >= 0; i-- {
		p := s.best.Program.clone()
		p.Own = slices.Delete(p.Own, i, i+1)
		s.try(p)
	}
	for i := 0; i < len(s.best.Program.nodes()); i++ {
		if s.best.Program.nodes()[i].Kind == Block {
			s.dropStatements(i)
		}
	}
	for _, n := range s.best.Program.nodes() {
		if name, _, ok := strings.Cut(n.Text, " := "); ok && n.Kind == Stmt && len(words(name)) == 1 {
			s.dropVariable(name)
		}
	}
	for i := 0; i < len(s.best.Program.nodes()); i++ {
		s.simplifyNode(i)
	}
}

// dropVariable removes a variable with all statements that mention it.
func (s *shrinker) dropVariable(name string) {
	p := s.best.Program.clone()
	dropped := false
	for _, n := range p.nodes() {
		if n.Kind != Block {
			continue
		}
		n.Kids = slices.DeleteFunc(n.Kids, func(k *Node) bool {
			var b strings.Builder
			k.print(&b, "")
			found := slices.Contains(words(b.String()), name)
			dropped = dropped || found
			return found
		})
	}
	if dropped {
		s.try(p)
	}
}

// dropStatements removes statements of the block that is node i, many at once first, and replaces statements by their
// blocks.
func (s *shrinker) dropStatements(i int) {
	block := func() []*Node { return s.best.Program.nodes()[i].Kids }
	for many := len(block()); many > 0; many /= 2 {
		for at := len(block()) - many; at >= 0; at -= many {
			s.edit(i, func(n *Node) { n.Kids = slices.Delete(n.Kids, at, at+many) })
		}
	}
	for at := 0; at < len(block()); at++ {
		for k, kid := range block()[at].Kids {
			if kid.Kind == Block && s.edit(i, func(n *Node) {
				n.Kids = slices.Replace(n.Kids, at, at+1, n.Kids[at].Kids[k].Kids...)
			}) {
				break
			}
		}
	}
}

// plain holds the simplest expressions of each kind.
var plain = map[Kind][]string{
	Float: {"1", "x[0]", "a"}, Int: {"0", "1"}, Bool: {"true", "false"}, Slice: {"x", "y"}, Small: {"1"},
	Struct: {"p", "P{}"}, Pointer: {"q"}, Array: {"[3]float64{}"},
}

// simplifyNode makes node i simpler.
func (s *shrinker) simplifyNode(i int) {
	n := s.best.Program.nodes()[i]
	for _, alt := range n.Alts {
		if s.edit(i, func(n *Node) { n.Text, n.Alts = alt, nil }) {
			break
		}
	}
	if n.Kind == Stmt {
		s.dropLines(i)
		return
	}
	if n.Kind == Block || n.Kind == Decl {
		return
	}
	for _, text := range plain[n.Kind] {
		if n.Text == text || s.edit(i, func(n *Node) { *n = Node{Kind: n.Kind, Text: text} }) {
			return
		}
	}
	for k, kid := range n.Kids {
		if kid.Kind == n.Kind && s.edit(i, func(n *Node) { *n = *n.Kids[k] }) {
			s.simplifyNode(i)
			return
		}
	}
}

// dropLines removes lines of a statement's own text.
func (s *shrinker) dropLines(i int) {
	for k := 0; ; k++ {
		lines := strings.Split(s.best.Program.nodes()[i].Text, "\n")
		if k >= len(lines) || len(lines) == 1 {
			return
		}
		if s.edit(i, func(n *Node) { n.Text = strings.Join(slices.Delete(lines, k, k+1), "\n") }) {
			k--
		}
	}
}

// simplifyInput makes the numbers of the inputs simpler.
func (s *shrinker) simplifyInput() {
	for k := range s.best.Inputs {
		for _, change := range []func(in *Input){
			func(in *Input) { in.N = 0 },
			func(in *Input) { in.N = 1 },
			func(in *Input) {
				for i := range in.Mem {
					in.Mem[i] = float64(i%4) + 0.5
				}
			},
			func(in *Input) {
				for i := range in.Numbers {
					in.Numbers[i] = 1.5
				}
			},
		} {
			in := *s.best.Inputs[k]
			in.Mem, in.Numbers = slices.Clone(in.Mem), slices.Clone(in.Numbers)
			change(&in)
			c := *s.best
			c.Inputs = slices.Clone(c.Inputs)
			c.Inputs[k] = &in
			if f := failure(s.check, &c); f != nil && f.Oracle == s.oracle {
				s.best = &c
			}
		}
	}
}

var blankLines = regexp.MustCompile(`\n\n+`)

func (c *Case) String() string {
	return fmt.Sprintf("%s\n%+v", blankLines.ReplaceAllString(c.Source(), "\n"), c.Inputs)
}
