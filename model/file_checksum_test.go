package model

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// TestChecksum: a value that has changed is noticed, white space is none, and who takes the checksum out is not asked
// for it.
func TestChecksum(t *testing.T) {
	var b, indented bytes.Buffer
	if err := twoRacks(t, 4, fullSettings()).Write(&b); err != nil {
		t.Fatal(err)
	}
	whole := b.String()
	if err := json.Indent(&indented, b.Bytes(), " ", "\t"); err != nil {
		t.Fatal(err)
	}
	at := strings.LastIndex(whole, `,"checksum"`)
	if !strings.HasSuffix(whole[at:], "\"}\n") || strings.Count(whole, "checksum") != 1 {
		t.Fatalf("want one checksum, at the end: %s", whole)
	}
	edited := strings.Replace(whole[:at], `"ranks":8`, `"ranks": 8`, 1) + "}"
	for name, c := range map[string]struct{ text, want string }{
		"as written":           {whole, ""},
		"indented":             {indented.String(), ""},
		"edited, without":      {edited, ""},
		"a digit":              {strings.Replace(whole, `"rank_core":[0,`, `"rank_core":[1,`, 1), "damaged"},
		"a digit of it":        {strings.Replace(whole, `"crc32c:`, `"crc32c:0`, 1), "damaged"},
		"of something unknown": {strings.Replace(whole, `"crc32c:`, `"md5:`, 1), "damaged"},
		"no longer the last":   {`{"checksum"` + whole[at+len(`,"checksum"`):len(whole)-2] + "," + whole[1:at] + "}", "damaged"},
		"said to be older":     {strings.Replace(whole, `"version":5`, `"version":3`, 1), "version is 3"},
		"without, of another":  {strings.Replace(edited, `"version":5`, `"version":3`, 1), "version is 3"},
	} {
		_, err := Read(strings.NewReader(c.text))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s: Read = %v, want %q", name, err, c.want)
		}
	}
}
