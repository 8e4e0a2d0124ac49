package cli

import (
	"fmt"
	"runtime/debug"
	"strings"
)

// Version says what was built: the module's version, the revision of its
// source where the build knows it, and the version of Go.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(built without module information)"
	}
	return describeBuild(info)
}

// describeBuild is Version of a build.
func describeBuild(info *debug.BuildInfo) string {
	module := info.Main.Version
	if module == "" {
		module = "(devel)"
	}
	parts := []string{module}
	setting := map[string]string{}
	for _, s := range info.Settings {
		setting[s.Key] = s.Value
	}
	if revision := setting["vcs.revision"]; revision != "" {
		if setting["vcs.modified"] == "true" {
			revision += " with changes"
		}
		parts = append(parts, fmt.Sprintf("(%s, %s)", revision, setting["vcs.time"]))
	}
	if tags := setting["-tags"]; tags != "" {
		parts = append(parts, "tags "+tags)
	}
	return strings.Join(append(parts, info.GoVersion), " ")
}
