package draw

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
)

// A Page is text, tables and figures under headings.
type Page struct {
	Title string
	Lead  []string // sentences below the title
	Parts []Part
}

// A Part of a page has a heading. Those of a depth above 0 belong to the one before them.
type Part struct {
	Title   string
	Depth   int // 0 or 1
	Text    []string
	Tables  []Table
	Figures []*Figure
	After   []string // smaller, below the tables and figures
}

// A Table has a line of names above its rows.
type Table struct {
	Title string
	Note  string // below the title; a report shows it
	Head  []string
	Rows  [][]string
	Left  int // columns whose cells stand on the left, as names do; the others are numbers
}

var (
	//go:embed report/experiments.html
	partsTemplate string
	//go:embed report/experiments.css
	partsStyle string
)

// WritePage writes one HTML page in the style of WriteReport, with its figures in it. The page needs
// no network, and no script: its policy allows its own style alone, and pictures that it carries.
// The same page gives the same bytes.
func WritePage(w io.Writer, p *Page) error {
	t, err := template.New("page").Parse(partsTemplate)
	if err != nil {
		return fmt.Errorf("draw: page: %w", err)
	}
	type picture struct {
		Title string
		Data  template.URL
	}
	type part struct {
		*Part
		ID       string
		Pictures []picture
	}
	style := pageStyle + partsStyle
	filled := struct {
		*Page
		Parts  []part
		Style  template.CSS
		Policy string
	}{Page: p, Style: template.CSS(style)}
	filled.Policy = fmt.Sprintf("default-src 'none'; style-src '%s'; img-src data:; base-uri 'none'; form-action 'none'", hashOf(style))
	for i := range p.Parts {
		one := part{Part: &p.Parts[i], ID: fmt.Sprintf("part%d", i)}
		for _, f := range one.Figures {
			var svg bytes.Buffer
			if err := f.SVG(&svg); err != nil {
				return err
			}
			one.Pictures = append(one.Pictures, picture{f.title, template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(svg.Bytes()))})
		}
		filled.Parts = append(filled.Parts, one)
	}
	if err := t.Execute(w, filled); err != nil {
		return fmt.Errorf("draw: page: %w", err)
	}
	return nil
}
