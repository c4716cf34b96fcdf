package program

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	graphviz "gonum.org/v1/gonum/graph/formats/dot"
	"gonum.org/v1/gonum/graph/formats/dot/ast"

	"github.com/nabla-ad/nabla/internal/core"
	"github.com/nabla-ad/nabla/rules"
)

// parsed reads a graph by the grammar of the language and returns its nodes, by
// name, with their labels, and its edges.
func parsed(t *testing.T, text string) (labels map[string]string, edges map[[2]string]bool) {
	t.Helper()
	file, err := graphviz.ParseString(text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if len(file.Graphs) != 1 || !file.Graphs[0].Directed {
		t.Fatalf("%d graphs in\n%s", len(file.Graphs), text)
	}
	labels, edges = map[string]string{}, map[[2]string]bool{}
	for _, s := range file.Graphs[0].Stmts {
		switch s := s.(type) {
		case *ast.NodeStmt:
			for _, a := range s.Attrs {
				if a.Key == "label" {
					labels[s.Node.ID] = a.Val
				}
			}
		case *ast.EdgeStmt:
			e := [2]string{s.From.(*ast.Node).ID, s.To.Vertex.(*ast.Node).ID}
			if edges[e] {
				t.Errorf("edge %v stands twice", e)
			}
			edges[e] = true
		}
	}
	for e := range edges {
		for _, n := range e {
			if labels[n] == "" {
				t.Errorf("edge %v goes to a node without a label", e)
			}
		}
	}
	return labels, edges
}

func TestDOTGolden(t *testing.T) {
	for _, g := range goldens {
		t.Run(g.name, func(t *testing.T) {
			p := Schedule(Simplify(record(t, g.f, g.x, 3)))
			got := p.DOT()
			parsed(t, got)
			file := filepath.Join("testdata", g.name+".dot")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil || got != string(want) {
				t.Errorf("got\n%s\nwant\n%s%v; run with -update and read the difference", got, want, err)
			}
		})
	}
}

// TestDOTEdges compares the edges with the slots in the text of the statements.
func TestDOTEdges(t *testing.T) {
	slot := regexp.MustCompile(`%(\d+)(:[+-]\d+)?`)
	for _, g := range goldens {
		p := record(t, g.f, g.x, 3)
		for _, p := range []*Program{p, Simplify(VJP(p, VJPOptions{})), JVP(p, JVPOptions{Lanes: 2})} {
			_, edges := parsed(t, p.DOT())
			want := map[[2]string]bool{}
			owner := p.owners()
			for i, line := range strings.Split(strings.TrimSuffix(p.String(), "\n"), "\n") {
				_, reads, ok := strings.Cut(line, " = ")
				lanes := 1
				if i < len(p.Stmts) {
					lanes = int(p.Stmts[i].terms())
				}
				if !ok || strings.HasPrefix(line, "guard") {
					reads = line
				}
				for _, m := range slot.FindAllStringSubmatch(reads, -1) {
					first, _ := strconv.Atoi(m[1])
					stride, n := 0, 1
					if m[2] != "" {
						stride, _ = strconv.Atoi(strings.TrimPrefix(m[2][1:], "+"))
						n = lanes
					}
					for l := range n {
						want[[2]string{"n" + strconv.Itoa(int(owner[first+l*stride])), "n" + strconv.Itoa(i)}] = true
					}
				}
			}
			for e := range want {
				if !edges[e] {
					t.Errorf("%s: no edge %v in\n%s\n%s", g.name, e, p, p.DOT())
				}
			}
			for e := range edges {
				if !want[e] {
					t.Errorf("%s: edge %v is too much in\n%s\n%s", g.name, e, p, p.DOT())
				}
			}
		}
	}
}

func TestDOTQuotes(t *testing.T) {
	r := record(t, func(x, _ []core.Rep) []core.Rep { return []core.Rep{core.Apply1(rules.Sin, x[0])} }, []float64{1},
		0)
	r.Ins[0].Name = "a \"b\" \\N \n<c>\\"
	labels, _ := parsed(t, r.DOT())
	if got, want := labels["n0"], `"%0 = input \"a \\\"b\\\" \\\\N \\n<c>\\\\\""`; got != want {
		t.Errorf("label %s, want %s", got, want)
	}
}

// TestDOTClips: the texts of nodes have at most 60 characters.
func TestDOTClips(t *testing.T) {
	text := strings.Repeat("é", 60)
	if got := clipped(text); got != text {
		t.Errorf("60 characters become %q", got)
	}
	if got, want := clipped(text+"é"), strings.Repeat("é", 59)+"…"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestDOTMalformed draws programs that Check refuses.
func TestDOTMalformed(t *testing.T) {
	p := record(t, goldens[0].f, goldens[0].x, 0)
	for i := range p.Stmts {
		for _, change := range []func(s *Stmt){
			func(s *Stmt) { s.A = Operand{1000, Gather} },
			func(s *Stmt) { s.A = Operand{-7, 3} },
			func(s *Stmt) { s.K = 99 },
			func(s *Stmt) { s.Op = 255 },
		} {
			q := *p
			q.Stmts = append([]Stmt(nil), p.Stmts...)
			change(&q.Stmts[i])
			parsed(t, q.DOT())
		}
	}
	q := *p
	q.Result = nil
	parsed(t, q.DOT())
	for _, n := range []int{-1, 1000} {
		q := *p
		q.Outs = append([]Group{{"z", n}}, p.Outs...)
		parsed(t, q.DOT())
	}
	q = *p
	q.Result = []int32{1000}
	_, edges := parsed(t, q.DOT())
	for e := range edges {
		if e[1] == "n"+strconv.Itoa(len(p.Stmts)) {
			t.Errorf("an edge %v from a slot that is not defined", e)
		}
	}
}

func TestGraphviz(t *testing.T) {
	dot, err := exec.LookPath("dot")
	if err != nil {
		t.Skip("Graphviz is not installed; apt-get install graphviz")
	}
	for _, g := range goldens {
		cmd := exec.Command(dot, "-Tsvg")
		cmd.Stdin = strings.NewReader(record(t, g.f, g.x, 3).DOT())
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "</svg>") {
			t.Errorf("%s: %v\n%s", g.name, err, out)
		}
	}
}
