package encode

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
)

// maxXML bounds the size of a file of XML in bytes.
const maxXML = 256 << 20

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
	text, err := readAtMost(r, maxXML)
	if err != nil {
		return nil, err
	}
	d := xml.NewDecoder(bytes.NewReader(text))
	open := []*element{{}} // elements that are not closed
	for {
		token, err := d.Token()
		if err != nil {
			return nil, oneLine(err)
		}
		last := open[len(open)-1]
		switch token := token.(type) {
		case xml.StartElement:
			line, _ := d.InputPos()
			switch name := token.Name.Local; {
			case len(open) == 1 && name != root:
				return nil, fmt.Errorf("line %d: expected element type <%s> but have <%s>", line, root, name)
			case len(open) > deepestNested:
				return nil, fmt.Errorf("line %d: <%s>: elements nest more than %d deep", line, name, deepestNested)
			}
			e := &element{StartElement: token, line: line}
			last.inside = append(last.inside, e)
			open = append(open, e)
		case xml.CharData:
			last.text = append(last.text, token...)
		case xml.EndElement:
			if open = open[:len(open)-1]; len(open) == 1 {
				return last, nil
			}
		}
	}
}

// XMLRoot returns the name of the root of an XML file, "" for files that are no XML.
func XMLRoot(data []byte) string {
	if data = bytes.TrimLeft(data, "\ufeff \t\r\n"); len(data) == 0 || data[0] != '<' {
		return ""
	}
	d := xml.NewDecoder(bytes.NewReader(data))
	for {
		token, err := d.Token()
		if err != nil {
			return ""
		}
		if root, ok := token.(xml.StartElement); ok {
			return root.Name.Local
		}
	}
}
