package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"github.com/topocast/topocast/internal/outcome"
	"github.com/topocast/topocast/internal/outfile"
	"github.com/topocast/topocast/internal/tooltest"
)

// TestToolsExperimentPage: the page of all five sources, of small simulated machines, in Chromium, on a desk and on a telephone: it
// complains of nothing, asks for nothing, shows each source with all of its figures, and its text does not run out of the
// window.
func TestToolsExperimentPage(t *testing.T) {
	tooltest.Need(t, "chromium")
	outcomes, figures := small(t)
	path := filepath.Join(t.TempDir(), "experiments.html")
	if err := outfile.Write(path, func(w io.Writer) error { return outcome.WritePage(w, "Experiments", outcomes...) }); err != nil {
		t.Fatal(err)
	}
	for name, width := range map[string]int{"desk": 1280, "telephone": 390} {
		b := tooltest.OpenBrowser(t, path, width, 900, false, "[...document.images].every((i) => i.complete)")
		b.Shot(filepath.Join(t.ArtifactDir(), name+".png"))
		if drawn := b.Text("[...document.images].filter((i) => i.naturalWidth > 0 && i.clientWidth > 0).length + ' of ' + document.images.length"); drawn != fmt.Sprintf("%d of %d", figures, figures) {
			t.Errorf("%s: %s figures are drawn, want %d", name, drawn, figures)
		}
		if over := b.Text("document.documentElement.scrollWidth - innerWidth"); over != "0" {
			t.Errorf("%s: the page is %s pixels wider than the window", name, over)
		}
		if lost := b.Text("[...document.querySelectorAll('a')].filter((a) => !document.getElementById(a.hash.slice(1))).length"); lost != "0" {
			t.Errorf("%s: %s links lead nowhere", name, lost)
		}
		if lying := b.Text("[...document.querySelectorAll('h2, h3, p, table, figure')].filter((a, i, all) => i > 0 && a.parentNode === all[i-1].parentNode && a.getBoundingClientRect().top < all[i-1].getBoundingClientRect().top).length"); lying != "0" {
			t.Errorf("%s: %s parts lie over what is before them", name, lying)
		}
		heads := b.Text("[...document.querySelectorAll('h2')].map((h) => h.textContent).join('; ')")
		for _, s := range sources() {
			if !strings.Contains(heads, s.name+": ") {
				t.Errorf("%s: no chapter of %s among %s", name, s.name, heads)
			}
		}
		if len(b.Errors) > 0 || len(b.Requests) != 1+figures {
			t.Errorf("%s: complaints %v, %d requests, want those for the page and its %d pictures", name, b.Errors, len(b.Requests), figures)
		}
		for _, r := range b.Requests {
			if !strings.HasPrefix(r, "file://") && !strings.HasPrefix(r, "data:") {
				t.Errorf("%s: the page asked for %s", name, r)
			}
		}
	}
}

// TestSmall: all five sources, on small simulated machines, give tables and figures. As text no line is wider than 80 columns.
func TestSmall(t *testing.T) {
	outcomes, _ := small(t)
	for _, o := range outcomes {
		var text strings.Builder
		if err := o.WriteText(&text); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(text.String()) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
				t.Errorf("%s: %d columns: %s", o.Name, n, line)
			}
		}
	}
}

// small repeats all sources on small simulated machines, and counts their figures.
func small(t *testing.T) (outcomes []*outcome.Outcome, figures int) {
	t.Helper()
	arguments := map[string][]string{
		"servet":    {"core:2 socket:2 host:4 rate=1GBps latency=10us,1us,1us", "--sizes", "64KiB", "--class", "W", "--repetitions", "1"},
		"bannikov":  {"torus:3x3 latency=1us rate=1Gbps", "--sizes", "0"},
		"bufe":      {"core:2 socket:2 host:2", "--samples", "5"},
		"zhu":       {"star:4 rate=1Gbps", "--trials", "1", "--degrees", "1", "--iterations", "2", "--fit", "3", "--interval", "9"},
		"reinfjell": {"core:2 socket:2 host:2", "--reps", "2,4"},
	}
	for _, s := range sources() {
		e, f := s.begin(), pflag.NewFlagSet(s.name, pflag.ContinueOnError)
		e.flags(f)
		if err := f.Parse(arguments[s.name][1:]); err != nil {
			t.Fatal(err)
		}
		o, err := e.simulate(t.Context(), &stage{cluster: arguments[s.name][0], progress: io.Discard})
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		own := 0
		for _, section := range o.Sections {
			own += len(section.Figures)
		}
		if own == 0 {
			t.Errorf("%s draws nothing", s.name)
		}
		figures += own
		outcomes = append(outcomes, o)
	}
	return outcomes, figures
}
