package encode

import (
	"errors"
	"fmt"
)

// firstError keeps the first error of a reader, as bufio.Writer does of a writer: the reader goes on to the end of what it does, and then
// looks whether there was one. What it finds after an error is worth nothing, but has to end.
type firstError struct {
	place string // in the file, before the text of an error
	err   error
}

// fail keeps an error at the place if it is the first one.
func (f *firstError) fail(format string, args ...any) {
	if f.err == nil {
		f.err = errors.New(f.place + fmt.Sprintf(format, args...))
	}
}

// check is fail for an error that may be nil.
func (f *firstError) check(err error) {
	if err != nil {
		f.fail("%v", err)
	}
}
