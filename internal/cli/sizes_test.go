package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "8": 8, "4096": 4096, " 64 ": 64, "8B": 8, "8 b": 8, "1e3": 1000, "1E3": 1000, "1.5e3": 1500,
		"1k": 1000, "1K": 1000, "1kB": 1000, "1KB": 1000, "1Ki": 1024, "1KiB": 1024, "1 KiB": 1024, "1kib": 1024,
		"64Ki": 65536, "1M": 1e6, "1MB": 1e6, "1MiB": 1 << 20, "1.5Mi": 3 << 19, "2G": 2e9, "2GiB": 2 << 30, "1T": 1e12, "0.1k": 100, "4e3k": 4e6,
	} {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("parseSize(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "k", "KiB", "B", "-1", "-1k", "1.5", "1.0001k", "0x10", "1e99", "inf", "nan", "1_000", "5i", "5iB", "1kk", "1kiki", "1 2", "1e3e3", "1P"} {
		if got, err := ParseSize(text); err == nil || !strings.Contains(err.Error(), "4KiB") {
			t.Errorf("parseSize(%q) = %d, %v, want an error with examples", text, got, err)
		}
	}
	if got, err := ParseSizes("8,1e3, 64Ki"); err != nil || !slices.Equal(got, []int{8, 1000, 65536}) {
		t.Errorf("parseSizes = %v, %v", got, err)
	}
	if got, err := ParseSizes("0,3-24,64KiB-100KiB"); err != nil || !slices.Equal(got, []int{0, 3, 6, 12, 24, 65536}) {
		t.Errorf("parseSizes of ranges = %v, %v", got, err)
	}
	var sizes []int
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	Parse(f, &sizes, "sizes", "8", "", ParseSizes)
	for _, list := range []string{"", "8,", "8;9", "2GiB", "0-8", "8-4", "8-", "-8", "8-16-32", "8-2GiB", "8-64,16"} {
		if err := f.Set("sizes", list); err == nil || !strings.Contains(err.Error(), "--sizes: ") || !slices.Equal(sizes, []int{8}) {
			t.Errorf("parseSizes(%q) = %v, %v, want an error that names the flag", list, sizes, err)
		}
	}
}

// TestSizesAreQuotedWhole: of a range that is none, an error quotes all, and not the end that is wrong.
func TestSizesAreQuotedWhole(t *testing.T) {
	for list, want := range map[string]string{"-1": `"-1": `, "8,4-": `"4-": `, "8-16-32": `"8-16-32": `, "5x-8": `"5x-8": `, "8-4": `"8-4": `} {
		if _, err := ParseSizes(list); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("parseSizes(%q) = %v, want %s", list, err, want)
		}
	}
}
