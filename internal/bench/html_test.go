package bench

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestPageSelfContained requires that the page does not refer to anything that would have to be fetched.
func TestPageSelfContained(t *testing.T) {
	var b strings.Builder
	if err := Write(&b, "html", sample()); err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?i)(src|href|action|srcset)\s*=\s*"([^"]*)"|url\(|@import|https?://|fetch\(`).FindAllString(b.String(), -1) {
		if m != `href="data:,"` && !strings.HasPrefix(m, `href="#`) {
			t.Errorf("the page refers to %s", m)
		}
	}
	if strings.Contains(b.String(), "ZgotmplZ") || strings.Contains(b.String(), "<it>") ||
		strings.Contains(b.String(), "<2>") {
		t.Error("something is escaped wrongly")
	}
}

// TestKnownFacts requires that the page shows the known facts about the machine and the measurement, and no others.
func TestKnownFacts(t *testing.T) {
	if got := facts(Info{}); len(got) != 0 {
		t.Errorf("facts of nothing: %v", got)
	}
	names := func(i Info) (names []string) {
		for _, f := range facts(i) {
			names = append(names, f.Name)
		}
		return names
	}
	for _, test := range []struct {
		info Info
		want string
	}{
		{Info{Version: "v0.1.0"}, "nabla"}, {Info{Load: "0.1, 1.2"}, "load before and after"},
		{Info{Go: "go1.26.0"}, "Go"}, {Info{OS: "plan9"}, "system"}, {Info{CPU: "abacus"}, "processor"},
		{Info{CPUs: 1}, "processors used"}, {Info{Budget: 1}, "time per measurement"}, {Info{Date: "today"}, "date"},
	} {
		if got := names(test.info); !slices.Equal(got, []string{test.want}) {
			t.Errorf("facts %q of %+v, want %q", got, test.info, test.want)
		}
	}
}

// harness shows the report in frames of two widths, exercises it, and writes its observations into itself. The frames
// have its own origin, so that it can access their documents.
const harness = `<!DOCTYPE html><meta charset="utf-8"><title>harness</title>
<iframe id="wide" src="report.html" style="width:1280px;height:900px;border:0"></iframe>
<iframe id="narrow" src="report.html" style="width:400px;height:900px;border:0"></iframe>
<script>
window.onload = () => {
  const result = {};
  for (const id of ["wide", "narrow"]) {
    const doc = document.getElementById(id).contentDocument;
    const win = document.getElementById(id).contentWindow;
    const visible = what => [...doc.querySelectorAll(what)].filter(e => e.getClientRects().length > 0);
    const r = result[id] = {
      errors: win.seen,
      charts: visible("figure svg").map(s => s.querySelectorAll(".m").length),
      chartWidths: visible("figure svg").map(s => Math.round(s.getBoundingClientRect().width)),
      rowHeight: Math.max(0, ...visible("figure rect.band").map(s => s.getBoundingClientRect().height)),
      textHeight: Math.min(...visible("figure text").map(t => t.getBoundingClientRect().height)),
      dangling: [...doc.querySelectorAll("a")].map(a => a.getAttribute("href")).filter(h => !doc.getElementById(h.slice(1))),
      cutText: visible("figure text").filter(t => {
        const b = t.getBoundingClientRect(), s = t.ownerSVGElement.getBoundingClientRect();
        return b.left < s.left - 0.5 || b.right > s.right + 0.5 || b.top < s.top - 0.5 || b.bottom > s.bottom + 0.5;
      }).map(t => t.textContent),
      width: win.innerWidth, scrollWidth: doc.documentElement.scrollWidth,
      colors: [...doc.querySelectorAll(".key .m")].map(m => win.getComputedStyle(m).fill),
      sorts: {},
    };
    const table = doc.getElementById("rows");
    const column = head => [...table.tBodies[0].rows].map(row => row.cells[head.cellIndex].textContent);
    for (const head of table.tHead.rows[0].cells) {
      const button = head.querySelector("button");
      button.focus();
      const sort = r.sorts[head.textContent] = { tag: button.tagName, focused: doc.activeElement === button };
      button.click();
      sort.up = column(head); sort.upAria = head.getAttribute("aria-sort");
      button.click();
      sort.down = column(head); sort.downAria = head.getAttribute("aria-sort");
      sort.others = table.querySelectorAll("[aria-sort]").length;
    }
    r.said = doc.getElementById("sorted").textContent;
    const key = doc.querySelector(".key[data-k='1']");
    const shown = () => visible("tbody tr, figure g.k1").length;
    r.shown = [shown()];
    key.click(); r.shown.push(shown()); r.pressed = key.getAttribute("aria-pressed");
    key.click(); r.shown.push(shown());
  }
  const pre = document.createElement("pre");
  pre.id = "result";
  pre.textContent = "RESULT" + JSON.stringify(result) + "END";
  document.body.append(pre);
};
</script>`

// spy records errors in the page.
const spy = `<script>
window.seen = [];
addEventListener("error", e => seen.push("error: " + e.message));
addEventListener("unhandledrejection", e => seen.push("rejection: " + e.reason));
addEventListener("securitypolicyviolation", e => seen.push("policy: " + e.violatedDirective));
for (const level of ["error", "warn"]) console[level] = (...a) => seen.push(level + ": " + a.join(" "));
</script>`

// A frameReport holds the observations of the harness in one frame.
type frameReport struct {
	Errors             []string
	Charts             []int
	ChartWidths        []float64
	TextHeight         float64
	RowHeight          float64  // of charts with dots
	Dangling           []string // links to nothing
	CutText            []string
	Width, ScrollWidth float64
	Colors             []string
	Sorts              map[string]struct {
		Tag              string
		Focused          bool
		Up, Down         []string
		UpAria, DownAria string
		Others           int
	}
	Said    string
	Shown   []int
	Pressed string
}

// TestBrowser opens the page in Chromium, 1280 and 400 pixels wide.
func TestBrowser(t *testing.T) {
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no chromium here: the page is not opened (on Debian: apt-get install chromium)")
	}
	for _, scheme := range []string{"light", "dark"} {
		t.Run(scheme, func(t *testing.T) {
			setting := map[string]string{"light": "1", "dark": "0"}[scheme]
			seen := browse(t, sample(), chromium, "--blink-settings=preferredColorScheme="+setting)
			for name, r := range seen {
				checkFrame(t, name, r)
			}
			if c := seen["wide"].Colors[0]; (c == "rgb(0, 104, 180)") != (scheme == "light") {
				t.Errorf("the first engine is %s in the %s scheme", c, scheme)
			}
			if w, n := seen["wide"], seen["narrow"]; w.Width != 1280 || n.Width != 400 || w.ChartWidths[0] > 700 ||
				n.ChartWidths[0] < 300 {
				t.Errorf("charts %v of %v and %v of %v", w.ChartWidths, w.Width, n.ChartWidths, n.Width)
			}
		})
	}
}

// TestBrowserSparse opens a page with the columns of sparse matrices.
func TestBrowserSparse(t *testing.T) {
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no chromium here: the page is not opened (on Debian: apt-get install chromium)")
	}
	for name, r := range browse(t, sparseSample(), chromium) {
		if len(r.Errors) > 0 || len(r.CutText) > 0 || r.ScrollWidth > r.Width {
			t.Errorf("%s: errors %q, cut labels %q, %v wide in %v", name, r.Errors, r.CutText, r.ScrollWidth, r.Width)
		}
		for head, want := range map[string]string{
			"nnz": "2998;2998;-;-", "colours": "3;-;-;-", "detection": "403 µs;430 µs;-;-", "colouring": "961 µs;-;-;-",
		} {
			if got := strings.Join(r.Sorts[head].Up, ";"); got != want {
				t.Errorf("%s: sorted by %s: %s, want %s", name, head, got, want)
			}
		}
	}
}

func browse(t *testing.T, report Report, chromium string, flags ...string) map[string]frameReport {
	t.Helper()
	var page strings.Builder
	if err := Write(&page, "html", report); err != nil {
		t.Fatal(err)
	}
	// The spy must run first, and the page's policy allows inline scripts.
	html := strings.Replace(page.String(), `<meta charset="utf-8">`, `<meta charset="utf-8">`+spy, 1)
	var mu sync.Mutex
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.URL.Path)
		mu.Unlock()
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		switch r.URL.Path {
		case "/":
			w.Write([]byte(harness))
		case "/report.html":
			w.Write([]byte(html))
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	args := append([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--no-proxy-server", "--window-size=1400,900",
		"--user-data-dir=" + t.TempDir(), "--dump-dom",
	}, flags...)
	cmd := exec.CommandContext(ctx, chromium, append(args, server.URL+"/")...)
	cmd.WaitDelay = time.Second
	dom, err := cmd.Output()
	if err != nil {
		t.Fatalf("chromium: %v", err)
	}
	_, rest, found := strings.Cut(string(dom), `<pre id="result">RESULT`)
	text, _, _ := strings.Cut(rest, "END</pre>")
	if !found {
		t.Fatalf("no result in\n%s", dom)
	}
	text = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(text)
	seen := map[string]frameReport{}
	if err := json.Unmarshal([]byte(text), &seen); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	mu.Lock()
	defer mu.Unlock()
	for _, path := range asked {
		if path != "/" && path != "/report.html" && path != "/favicon.ico" { // the icon is the harness's
			t.Errorf("the page asked for %s", path)
		}
	}
	return seen
}

func checkFrame(t *testing.T, name string, r frameReport) {
	if len(r.Errors) > 0 {
		t.Errorf("%s: the console has %q", name, r.Errors)
	}
	// Of T1 two engines at two sizes, of T5 one engine.
	if want := []int{4, 4, 5, 5, 5, 5}; !slices.Equal(r.Charts, want) {
		t.Errorf("%s: marks in charts %v, want %v", name, r.Charts, want)
	}
	if r.ScrollWidth > r.Width {
		t.Errorf("%s: the page is %v wide in a window of %v", name, r.ScrollWidth, r.Width)
	}
	if r.TextHeight < 11 {
		t.Errorf("%s: labels are %.1f pixels high", name, r.TextHeight)
	}
	if r.RowHeight <= 0 || r.RowHeight > 40 {
		t.Errorf("%s: rows are %.1f pixels high", name, r.RowHeight)
	}
	if len(r.Dangling) > 0 {
		t.Errorf("%s: links to nothing: %q", name, r.Dangling)
	}
	if len(r.CutText) > 0 {
		t.Errorf("%s: labels %q stick out of their charts", name, r.CutText)
	}
	if len(r.Sorts) != len(columnsOf(sample().Rows)) {
		t.Errorf("%s: %d columns can be sorted, want %d", name, len(r.Sorts), len(columnsOf(sample().Rows)))
	}
	for head, s := range r.Sorts {
		if s.Tag != "BUTTON" || !s.Focused {
			t.Errorf("%s: %s cannot be reached with the keyboard", name, head)
		}
		if s.UpAria != "ascending" || s.DownAria != "descending" || s.Others != 1 {
			t.Errorf("%s: %s: aria-sort %q, then %q, on %d columns", name, head, s.UpAria, s.DownAria, s.Others)
		}
	}
	for head, want := range map[string][2]string{
		"engine": {"broken, <it> seems | " +
			"so;forwarddiff;forwarddiff;liar;reversediff(compile);reversediff(compile);slow",
			"slow;reversediff(compile);reversediff(compile);liar;forwarddiff;forwarddiff;broken, <it> seems | so"},
		"n":          {"6;10;10;30;330;10000;10000", "10000;10000;330;30;10;10;6"},
		"derivative": {"12.5 ns;17.0 ns;45.3 µs;61.2 ms;3.02 s;-;-", "3.02 s;61.2 ms;45.3 µs;17.0 ns;12.5 ns;-;-"},
		"break-even": {"1;15;48;never;never;-;-", "never;never;48;15;1;-;-"},
		"error":      {"0;0;1.2e-16;1.7e-15;3.7e-05;2.5e-01;NaN", "2.5e-01;3.7e-05;1.7e-15;1.2e-16;0;0;NaN"},
		"check":      {"FAILED;ok;ok;ok;ok;ok;WRONG", "WRONG;ok;ok;ok;ok;ok;FAILED"},
	} {
		if s := r.Sorts[head]; strings.Join(s.Up, ";") != want[0] || strings.Join(s.Down, ";") != want[1] {
			t.Errorf("%s: sorted by %s: %q, then %q", name, head, s.Up, s.Down)
		}
	}
	if !strings.Contains(r.Said, "sorted by check, descending") {
		t.Errorf("%s: said %q", name, r.Said)
	}
	if len(r.Shown) != 3 || r.Shown[0] != r.Shown[2] || r.Shown[1] != r.Shown[0]-3-6 || r.Pressed != "false" {
		t.Errorf("%s: without the second engine %v things are shown, pressed %s", name, r.Shown, r.Pressed)
	}
}
