package rulegen

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/nabla-ad/nabla/rules"
)

// listing returns the table as a page for readers.
func listing() []byte {
	var b bytes.Buffer
	b.WriteString("<!-- " + banner + " -->\n\n# Elementary functions and their derivatives\n\n" +
		"One row of the table in table.go each. x, y, z are the arguments and v is the value; the partials are " +
		"written in\n" +
		"the expression language of the package comment. 0 is a structural zero, with which nothing is multiplied.\n")
	for n, title := range []string{1: "One argument", 2: "Two arguments", 3: "Three arguments"} {
		if n == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\n| op | value | partials | domain | kinks and singular points | source |\n"+
			"|---|---|---|---|---|---|\n", title)
		for _, o := range opsOf(n) {
			r := rules.Info(o)
			partials := "that of the chosen argument"
			if !r.Choice {
				partials = "`" + strings.Join(r.Partials, "`<br>`") + "`"
			}
			row := []string{r.Name, "`" + r.Value + "`", partials, r.Domain, r.Kinks, r.Source}
			for i := range row {
				row[i] = strings.ReplaceAll(row[i], "|", "\\|")
			}
			fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		}
	}
	return b.Bytes()
}
