package cpulist

import (
	"fmt"
	"testing"
)

func TestMask(t *testing.T) {
	for text, want := range map[string]string{
		"0x0000000f": "[0 1 2 3]", "0x00000001,0x80000000": "[31 32]", "0x1,,0x1": "[0 64]", "0x0": "[]", ",,": "[]",
	} {
		if got, err := Mask(text); err != nil || fmt.Sprint(got) != want {
			t.Errorf("Mask(%q) = %v, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0xz", "0x1ffffffff", "1-3"} {
		if got, err := Mask(text); err == nil {
			t.Errorf("Mask(%q) = %v, want an error", text, got)
		}
	}
}

func TestList(t *testing.T) {
	for text, want := range map[string]string{"": "[]", "0-3,8": "[0 1 2 3 8]", "8,0-1,1": "[0 1 8]"} {
		if got, err := List(text); err != nil || fmt.Sprint(got) != want {
			t.Errorf("List(%q) = %v, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"3-x", "7-3", "-1", "0-99999999", "x"} {
		if got, err := List(text); err == nil {
			t.Errorf("List(%q) = %v, want an error", text, got)
		}
	}
}
