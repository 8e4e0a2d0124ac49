package encode

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// An element is an element of XML with everything inside it.
type element struct {
	xml.StartElement
	line   int
	text   []byte // directly inside
	inside []*element
}

// attr is the value of an attribute, "" if the element does not have it.
func (e *element) attr(name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// children lists the elements of the given names directly inside.
func (e *element) children(names ...string) (found []*element) {
	for _, c := range e.inside {
		if slices.Contains(names, c.Name.Local) {
			found = append(found, c)
		}
	}
	return found
}

// readXML reads a file whose root has the given name. Its errors have one line.
func readXML(r io.Reader, root string) (*element, error) {
	text, err := readAtMost(r, maxFile)
	if err != nil {
		return nil, err
	}
	if other := XMLRoot(text); other != "" && other != root {
		return nil, fmt.Errorf("expected element type <%s> but have <%s>", root, other)
	}
	document := &element{}
	err = document.read(newXMLDecoder(text), 0)
	switch {
	case err != io.EOF || len(document.inside) == 0:
		return nil, oneLine(err)
	case len(document.inside) > 1 || len(bytes.TrimSpace(document.text)) > 0:
		return nil, fmt.Errorf("the file goes on after </%s>, or has text before it: keep one document", root)
	}
	return document.inside[0], nil
}

// read reads what stands inside of an element, up to its end; the end of a document is io.EOF.
func (e *element) read(d *xml.Decoder, depth int) error {
	for {
		token, err := d.Token()
		if err != nil {
			return err
		}
		switch token := token.(type) {
		case xml.StartElement:
			c := &element{StartElement: token}
			c.line, _ = d.InputPos()
			if depth > deepestNested {
				return fmt.Errorf("line %d: <%s>: elements nest more than %d deep", c.line, c.Name.Local, deepestNested)
			}
			e.inside = append(e.inside, c)
			if err := c.read(d, depth+1); err != nil {
				return err
			}
		case xml.CharData:
			e.text = append(e.text, token...)
		case xml.EndElement:
			return nil
		}
	}
}

// newXMLDecoder returns a decoder of plain text, whatever encoding the text declares (see PlainText).
func newXMLDecoder(text []byte) *xml.Decoder {
	d := xml.NewDecoder(bytes.NewReader(text))
	d.CharsetReader = func(name string, r io.Reader) (io.Reader, error) {
		if !slices.Contains([]string{"us-ascii", "ascii", "iso-8859-1", "latin1", "windows-1252"}, strings.ToLower(name)) {
			return nil, errors.New("save it as UTF-8")
		}
		return r, nil
	}
	return d
}

// xmlRoot is the beginning of an XML file up to the name of its root: declarations, comments, and a document type with its entities.
var xmlRoot = regexp.MustCompile(`^(?s:\x{feff}|\s|<\?.*?\?>|<!--.*?-->|(?i:<!doctype)[^\[>]*(?:\[.*?\]\s*)?>)*<(?:[\w.-]+:)?([\pL_][\w.-]*)`)

// XMLRoot returns the name of the root of an XML file, "" for files that are no XML.
func XMLRoot(data []byte) string {
	if m := xmlRoot.FindSubmatch(data); m != nil {
		return string(m[1])
	}
	return ""
}
