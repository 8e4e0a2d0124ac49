package encode

import (
	"bytes"
	"encoding/xml"
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
