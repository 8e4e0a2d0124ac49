package progress

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/topocast/topocast/measure"
)

// interval is the least time between two plain lines.
const interval = 5 * time.Second

// A Printer shows progress. It belongs to one goroutine.
type Printer struct {
	w     io.Writer
	label string
	part  string                   // that is shown
	bar   *progressbar.ProgressBar // nil before the first call, and where lines are printed
	draws bool
	last  time.Duration // elapsed time at the last line
	ended bool
}

// New returns a Printer that writes to w: a bar if w is a terminal, lines
// otherwise. The label stands before both, or where it is "", the part that is measured. Errors of w are ignored.
func New(w io.Writer, label string) *Printer {
	f, ok := w.(*os.File)
	return &Printer{w: w, label: label, draws: ok && term.IsTerminal(int(f.Fd()))}
}

// Show takes the news; it is meant for measure.Settings.Progress. The last
// round leaves no bar behind, but a last line if there were lines. Each part, and each measurement, begins anew.
func (p *Printer) Show(now measure.Progress) {
	if now.Part != p.part || now.Done == 0 {
		p.Close()
		p.part, p.bar, p.last, p.ended = now.Part, nil, 0, false
	}
	if p.ended {
		return
	}
	p.ended = now.Done >= now.Total
	if p.draws {
		p.draw(now)
		return
	}
	if now.Elapsed-p.last < interval && (!p.ended || p.last == 0) {
		return
	}
	p.last = now.Elapsed
	fmt.Fprintln(p.w, p.line(now))
}

// Close removes the bar of a measurement that has ended early.
func (p *Printer) Close() {
	if p.bar != nil && !p.ended {
		_ = p.bar.Clear()
	}
	p.ended = true
}

func (p *Printer) line(now measure.Progress) string {
	text := fmt.Sprintf("%s: %d of %d %s, %v", p.title(), now.Done, now.Total, now.Units, now.Elapsed.Round(time.Second))
	if now.TotalPairs > 0 {
		text = fmt.Sprintf("%s: %d of %d pairs in %d of %d %s, %v, %.3g pairs/s",
			p.title(), now.Pairs, now.TotalPairs, now.Done, now.Total, now.Units, now.Elapsed.Round(time.Second), now.Rate)
	}
	if now.Remaining > 0 {
		text += fmt.Sprintf(", about %v left", now.Remaining.Round(time.Second))
	}
	return text
}

// title is what stands before a bar or a line.
func (p *Printer) title() string { return cmp.Or(p.label, p.part) }

func (p *Printer) draw(now measure.Progress) {
	if p.bar == nil {
		p.bar = progressbar.NewOptions(now.Total,
			progressbar.OptionSetWriter(p.w),
			progressbar.OptionSetDescription(p.title()),
			progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(true),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish(),
		)
	}
	// The bar only fails to write; there is nothing to be done about it here.
	_ = p.bar.Set(now.Done)
	if p.ended {
		_ = p.bar.Finish()
	}
}
