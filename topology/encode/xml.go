package encode

import (
	"bytes"
	"encoding/xml"
	"io"
)

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

// IsHwloc tells whether a file is XML of lstopo.
func IsHwloc(data []byte) bool { return XMLRoot(data) == "topology" }

// decodeXML decodes a file of at most some bytes. Its errors have one line.
func decodeXML(r io.Reader, most int64, file any) error {
	text, err := readAtMost(r, most)
	if err != nil {
		return err
	}
	if err := xml.NewDecoder(bytes.NewReader(text)).Decode(file); err != nil {
		return oneLine(err)
	}
	return nil
}
