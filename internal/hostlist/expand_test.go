package hostlist

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// maxNames is as much as readers of files of schedulers allow.
const maxNames = 1 << 17

// usual matches the names of hosts that readers take.
var usual = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// Names and lists by the rules of slurm.conf(5): ranges of numbers at the end of a name, with as
// many digits as the first if that begins with 0.
func TestHostlist(t *testing.T) {
	for _, c := range []struct{ names, list string }{
		{"tux0", "tux0"},
		{"tux0 tux1", "tux[0-1]"},
		{"tux7 tux1 tux0 tux3 tux2", "tux[0-3,7]"},
		{"tux8 tux9 tux10 tux11", "tux[8-11]"},
		{"tux08 tux09 tux10 tux11", "tux[08-11]"},
		{"tux8 tux08 tux9", "tux[08,8-9]"},
		{"tux098 tux099 tux100", "tux[098-100]"},
		{"tux98 tux99 tux100", "tux[98-100]"},
		{"tux09 tux010", "tux[09,010]"},
		{"tux0 tux1 tux2 tux3 tux4 tux5 tux6 tux7 tux8 tux9 tux10", "tux[0-10]"},
		{"tux099 tux1000", "tux[099,1000]"},
		{"login b2 b1 a", "a,b[1-2],login"},
		{"a2 a1 a", "a,a[1-2]"},
		{"a1 a", "a,a1"},
		{"r1n1 r1n2 r2n1", "r1n[1-2],r2n1"},
		{"1 2 3", "[1-3]"},
		{"n1-ib0 n2-ib0", "n1-ib0,n2-ib0"},
		{"n123456789012345678901 n123456789012345678902", "n123[456789012345678901-456789012345678902]"},
	} {
		names := strings.Fields(c.names)
		got := Format(names)
		if got != c.list {
			t.Errorf("hostlist(%s) = %s, want %s", c.names, got, c.list)
		}
		back, err := Expand(got, maxNames)
		slices.Sort(names)
		slices.Sort(back)
		if err != nil || !slices.Equal(back, names) {
			t.Errorf("%s expands to %v, %v; want %v", got, back, err, names)
		}
	}
}

func TestExpandHostlist(t *testing.T) {
	for _, c := range []struct{ list, want string }{
		{"tux[0-3,12,18-20]", "tux0 tux1 tux2 tux3 tux12 tux18 tux19 tux20"},
		{"rack[0-1]_blade[08-09]", "rack0_blade08 rack0_blade09 rack1_blade08 rack1_blade09"},
		{"a,b[1,2],c", "a b1 b2 c"},
		{"n[007-010]-ib", "n007-ib n008-ib n009-ib n010-ib"},
	} {
		got, err := Expand(c.list, maxNames)
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, %v; want %s", c.list, got, err, c.want)
		}
	}
	for _, c := range []struct{ list, want string }{
		{"", "want names between the commas"},
		{"a,,b", "want names between the commas"},
		{"a[1-2", "a bracket is not closed"},
		{"a]1-2[", "a bracket closes that is not open"},
		{"a[[1-2]]", "want numbers"},
		{"a[]", "want numbers"},
		{"a[2-1]", "ascending"},
		{"a[x]", "want numbers"},
		{"a[-1]", "want numbers"},
		{"a[1-2-3]", "want numbers"},
		{"a[0-99999999999]", "more than 131072 names"},
		{"a[0-999999999999999999999]", "want numbers"},
		{"a[0-9999]b[0-9999]", "more than 131072 names"},
		{strings.Repeat("a[0-1]", 60), "more than 131072 names"},
		{"a[0-90000],b[0-90000]", "more than 131072 names"},
		{strings.Repeat("a", 65), "more than 64 bytes"},
	} {
		if names, err := Expand(c.list, maxNames); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40s: %d names, %v; want an error with %q", c.list, len(names), err, c.want)
		}
	}
}

// What we write means what it was made of, whatever the names.
func FuzzHostlist(f *testing.F) {
	f.Add("tux8 tux08 tux9 tux010 tux10 a 7 n1-ib0")
	f.Fuzz(func(t *testing.T, text string) {
		var names []string
		for _, name := range strings.Fields(text) {
			if usual.MatchString(name) {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		if names = slices.Compact(names); len(names) == 0 {
			return
		}
		back, err := Expand(Format(names), maxNames)
		slices.Sort(back)
		if err != nil || fmt.Sprint(back) != fmt.Sprint(names) {
			t.Errorf("%s expands to %v, %v; want %v", Format(names), back, err, names)
		}
	})
}

// Lists from elsewhere are expanded within bounds, or refused.
func FuzzExpandHostlist(f *testing.F) {
	f.Add("tux[0-3,12],rack[0-1]_blade[08-09],a")
	f.Add("a[0-9]b[0-9]c[0-9]d[0-9]e[0-9]f[0-9]")
	f.Fuzz(func(t *testing.T, list string) {
		if names, err := Expand(list, 1000); err == nil && len(names) > 1000 {
			t.Errorf("%d names", len(names))
		}
	})
}
