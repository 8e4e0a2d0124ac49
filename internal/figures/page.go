package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/topocast/topocast/internal/outfile"
	"github.com/topocast/topocast/internal/words"
)

// publish writes the page and its pictures.
func (m *measured) publish(folder string) error {
	for _, p := range m.Pictures {
		for _, dark := range []bool{false, true} {
			picture, err := p.svg(dark)
			if err != nil {
				return fmt.Errorf("%s: %w", p.Name, err)
			}
			err = outfile.Write(filepath.Join(folder, "img", fileOf(p.Name, dark)), func(w io.Writer) error {
				_, err := w.Write(picture)
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return outfile.Write(filepath.Join(folder, "measured.md"), m.markdown)
}

// fileOf is the file of a picture for light or dark backgrounds.
func fileOf(name string, dark bool) string {
	if dark {
		name += "-dark"
	}
	return name + ".svg"
}

// markdown writes the page.
func (m *measured) markdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# What was measured\n\nMade from [measured.json](measured.json) by `make bench`; do not edit.\n\n")
	fmt.Fprintf(&b, "Machine: %s. Compare ratios, not times.\nEmulated hosts are Linux network namespaces on that machine: packets pass the kernel, queues and link rates are real, switches are software.\nNothing was measured on a cluster of physical hosts yet.\n", m.Machine)
	for _, p := range m.Pictures {
		fmt.Fprintf(&b, "\n## %s\n\n<picture>\n  <source media=\"(prefers-color-scheme: dark)\" srcset=\"img/%s\">\n  <img alt=\"%s\" src=\"img/%s\">\n</picture>\n\n%s\n",
			p.Title, fileOf(p.Name, true), p.Title, fileOf(p.Name, false), p.Caption)
	}
	fmt.Fprintf(&b, "\n## All figures\n\n`make bench` measures all of them, `make bench FIGURES=ID` one.\n")
	for _, f := range m.Figures {
		fmt.Fprintf(&b, "\n### %s\n\n%s: **%s**.\n\n    %s\n", f.ID, capital(f.What), f.Claim, f.Command)
		if f.Last != nil {
			f.Last.markdown(&b)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// markdown writes what the last run measured.
func (r *result) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "\nLast run: %s, %s, %s, %s (%s).\n", r.Time.Format(time.DateOnly), words.Count(r.Runs, "run"), r.Machine.System,
		words.Count(r.Machine.CPUs, "CPU"), strings.Join(r.Machine.Versions, "; "))
	if r.Error != "" {
		fmt.Fprintf(b, "\n**Failed: %s**\n", r.Error)
	}
	if len(r.Benchmarks) == 0 {
		return
	}
	fmt.Fprintf(b, "\n| benchmark | median | unit | 95 %% interval | runs |\n|---|---|---|---|---|\n")
	for _, x := range r.Benchmarks {
		interval := ""
		if x.Low != nil {
			interval = fmt.Sprintf("%.4g to %.4g", *x.Low, *x.High)
		}
		fmt.Fprintf(b, "| %s | %.4g | %s | %s | %d |\n", x.Name, x.Median, x.Unit, interval, x.N)
	}
}
