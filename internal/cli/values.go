package cli

import (
	"slices"

	"github.com/spf13/pflag"

	"github.com/topocast/topocast/internal/words"
)

// A checked is the value of a flag that is looked at once it is set.
type checked struct {
	pflag.Value
	check func() error
}

// Set refuses what the flag does not take.
func (v *checked) Set(text string) error {
	if err := v.Value.Set(text); err != nil {
		return err
	}
	return v.check()
}

// Check calls a function after a flag was set, whose error ends the command.
func Check(f *pflag.FlagSet, name string, check func() error) {
	flag := f.Lookup(name)
	flag.Value = &checked{flag.Value, check}
	if flag.DefValue == "[]" {
		flag.DefValue = "" // help shows no empty list
	}
}

// Want says what values a flag takes, such as "above 0": those for which ok holds once the flag is set.
func Want(f *pflag.FlagSet, name, want string, ok func() bool) {
	Check(f, name, func() error {
		if !ok() {
			return BadInput("--%s %s: want %s", name, f.Lookup(name).Value, want)
		}
		return nil
	})
}

// Parse adds a flag whose text is read by parse, such as ParseSize. Without the flag the value is that of
// the text byDefault, or stays as it is for "".
func Parse[T any](f *pflag.FlagSet, to *T, name, byDefault, usage string, parse func(string) (T, error)) {
	text := f.String(name, byDefault, usage)
	read := func() error {
		value, err := parse(*text)
		if err != nil {
			return BadInput("--%s: %w", name, err)
		}
		*to = value
		return nil
	}
	Check(f, name, read)
	if byDefault != "" {
		if err := read(); err != nil {
			panic(err) // a mistake of the program
		}
	}
}

// Choice adds a flag that takes one of some names. The value is its index, by default as it is.
func Choice[T ~int](f *pflag.FlagSet, to *T, name string, names []string, usage string) {
	text := f.String(name, names[*to], usage)
	Check(f, name, func() error {
		i := slices.Index(names, *text)
		if i < 0 {
			return BadInput("--%s %q: want %s", name, *text, words.Or(names))
		}
		*to = T(i)
		return nil
	})
}
