package draw

import (
	"testing"

	"github.com/topocast/topocast/internal/tooltest"
)

// A browser has the page of a report open.
type browser struct {
	*tooltest.Browser
	t *testing.T
}

// openBrowser opens a report, until its scene has been drawn.
func openBrowser(t *testing.T, path string, width, height int, dark bool) *browser {
	t.Helper()
	return &browser{tooltest.OpenBrowser(t, path, width, height, dark, "document.getElementById('scene').dataset.frames > 0"), t}
}
