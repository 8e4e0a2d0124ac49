package cli

import (
	"runtime/debug"
	"testing"
)

func TestDescribeBuild(t *testing.T) {
	got := describeBuild(&debug.BuildInfo{GoVersion: "go1.26", Main: debug.Module{Version: "v1.2.3"}, Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.time", Value: "2026-01-02T03:04:05Z"}, {Key: "vcs.modified", Value: "true"}, {Key: "-tags", Value: "gompi"},
	}})
	if want := "v1.2.3 (abc with changes, 2026-01-02T03:04:05Z) tags gompi go1.26"; got != want {
		t.Errorf("describeBuild = %q, want %q", got, want)
	}
	if got := describeBuild(&debug.BuildInfo{GoVersion: "go1.26"}); got != "(devel) go1.26" {
		t.Errorf("without a version: %q", got)
	}
}
