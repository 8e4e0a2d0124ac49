//go:build !linux

package hostmemory

// Available is not known here.
func Available() (bytes int64, known bool) { return 0, false }
