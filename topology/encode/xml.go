package encode

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
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
	d := newXMLDecoder(text)
	open := []*element{{}} // elements that are not closed, in a document
	for {
		token, err := d.Token()
		document := open[0]
		isClosed := len(open) == 1 && len(document.inside) > 0
		if err == io.EOF && isClosed {
			return document.inside[0], nil
		} else if err != nil {
			return nil, oneLine(err)
		}
		last := open[len(open)-1]
		line, _ := d.InputPos()
		switch token := token.(type) {
		case xml.StartElement:
			switch name := token.Name.Local; {
			case isClosed:
				return nil, fmt.Errorf("line %d: the file goes on after </%s>: keep one document", line, root)
			case len(open) == 1 && name != root:
				return nil, fmt.Errorf("line %d: expected element type <%s> but have <%s>", line, root, name)
			case len(open) > deepestNested:
				return nil, fmt.Errorf("line %d: <%s>: elements nest more than %d deep", line, name, deepestNested)
			}
			e := &element{StartElement: token, line: line}
			last.inside = append(last.inside, e)
			open = append(open, e)
		case xml.CharData:
			if isClosed && len(bytes.TrimSpace(token)) > 0 {
				return nil, fmt.Errorf("line %d: the file goes on after </%s>: keep one document", line, root)
			}
			last.text = append(last.text, token...)
		case xml.EndElement:
			open = open[:len(open)-1]
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

// XMLRoot returns the name of the root of an XML file, "" for files that are no XML.
func XMLRoot(data []byte) string {
	if data = bytes.TrimLeft(data, byteOrderMark+" \t\r\n"); len(data) == 0 || data[0] != '<' {
		return ""
	}
	d := xml.NewDecoder(bytes.NewReader(data))
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // a name that is known has the same bytes in all
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
