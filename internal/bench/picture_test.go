package bench

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"
)

// textOf returns the text of an XML document, and fails if it is not well-formed.
func textOf(t *testing.T, document string) string {
	t.Helper()
	dec := xml.NewDecoder(strings.NewReader(document))
	var text strings.Builder
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return text.String()
		} else if err != nil {
			t.Fatal(err)
		}
		if s, ok := token.(xml.CharData); ok {
			text.Write(s)
		}
	}
}

// TestPicture requires that the picture has all charts of the page, refers to nothing outside of it, and contains all
// marks.
func TestPicture(t *testing.T) {
	for _, r := range []Report{sample(), sparseSample()} {
		var b, page strings.Builder
		if err := errors.Join(Write(&b, "svg", r), Write(&page, "html", r)); err != nil {
			t.Fatal(err)
		}
		text := textOf(t, b.String())
		want := []string{"plain function", "never"}
		want = append(want, enginesOf(r.Rows)...)
		for _, c := range Charts(r.Rows) {
			want = append(want, c.Section, c.Title, c.XLabel)
			want = append(want, c.Lines...)
		}
		for _, part := range want {
			if !strings.Contains(text, part) {
				t.Errorf("the picture does not say %q", part)
			}
		}
		for _, m := range regexp.MustCompile(`(?i)(src|href)\s*=|url\(|@import|var\(|[^"]https?://`).FindAllString(b.String(), -1) {
			t.Errorf("the picture refers to %s", m)
		}
		marks := regexp.MustCompile(`class="m" transform`)
		once := regexp.MustCompile(`(?s)<div class="narrow">.*?</div>`).ReplaceAllString(page.String(), "")
		engines := len(enginesOf(r.Rows)) // in the key; that of the page has no positions
		if got, want := len(marks.FindAllString(b.String(), -1)), len(marks.FindAllString(once, -1))+
			engines; got != want {
			t.Errorf("%d marks, want %d", got, want)
		}
	}
}

// TestPictureClasses requires that the style sheet has a colour for every series, the same as the light set of the
// page.
func TestPictureClasses(t *testing.T) {
	light, _, _ := strings.Cut(pageCSS, "@media")
	for k := range palette {
		m := regexp.MustCompile(`--c` + string(rune('0'+k)) + `: (#[0-9a-f]{6})`).FindStringSubmatch(light)
		if m == nil {
			t.Fatalf("the page has no colour %d", k)
		}
		class := ".s" + string(rune('0'+k))
		for _, rule := range []string{class + " polyline { stroke: " + m[1], class + " .m { fill: " + m[1],
			class + " .m .open { fill: #fff; stroke: " + m[1]} {
			if !strings.Contains(pictureCSS, rule) {
				t.Errorf("the picture has no %s }", rule)
			}
		}
	}
}

func TestPictureWithoutData(t *testing.T) {
	for _, rows := range [][]Row{nil, {{Task: "T1", Engine: "liar", N: 3, DerivativeNS: math.NaN()}}} {
		if err := Write(io.Discard, "svg", Report{Rows: rows}); err == nil ||
			!strings.Contains(err.Error(), "nothing to plot") {
			t.Errorf("%d rows: %v", len(rows), err)
		}
	}
}
