package topology

import (
	"testing"
)

func TestKindsAreReadAsWritten(t *testing.T) {
	for k := KindUnknown; k <= KindSwitch; k++ {
		if got, err := ParseKind(k.String()); err != nil || got != k {
			t.Errorf("ParseKind(%q) = %v, %v, want %v", k.String(), got, err, k)
		}
	}
	for _, text := range []string{"Host", "node", "kind 9"} {
		if _, err := ParseKind(text); err == nil {
			t.Errorf("ParseKind(%q) succeeds, want an error", text)
		}
	}
}

func TestLevelsAreNamedWithTheirKind(t *testing.T) {
	h, err := NewHierarchy(4, []Level{{}, {Name: "level 2", Kind: KindHost}, {Name: "rack", Kind: KindSwitch}, {Name: "host", Kind: KindHost}}, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"level 1", "level 2 (host)", "rack (switch)", "host", "all"} {
		if got := h.LevelName(i); got != want {
			t.Errorf("LevelName(%d) = %q, want %q", i, got, want)
		}
	}
	other, err := h.WithKinds([]Kind{KindCache, KindHost, KindSwitch, KindHost})
	if err != nil {
		t.Fatal(err)
	}
	if other.Levels()[0].Kind != KindCache || h.Levels()[0].Kind != KindUnknown {
		t.Errorf("kinds %v of the new, %v of the old, want cache and none", other.Levels()[0].Kind, h.Levels()[0].Kind)
	}
	if _, err := h.WithKinds(nil); err == nil {
		t.Error("WithKinds takes 0 kinds for 4 levels")
	}
}
