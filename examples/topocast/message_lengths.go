package main

import (
	"slices"
	"strings"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/topology/encode"
	"github.com/topocast/topocast/topology/spanner"
)

// splitLength takes LENGTH=FILE apart. Other texts are files as they are.
func splitLength(text string) (bytes int64, file string, ok bool) {
	length, file, found := strings.Cut(text, "=")
	bytes, err := cli.ParseSize(length)
	if !found || err != nil {
		return 0, text, false
	}
	return bytes, file, true
}

// readLengths reads matrices of several message lengths, an argument LENGTH=FILE for each. Files of one length are its
// repetitions. It returns nil if no argument names a length.
func readLengths(args []string, unit encode.Unit) (*latencies, error) {
	files := make(map[int64][]string)
	var lengths []int64
	for _, arg := range args {
		bytes, file, ok := splitLength(arg)
		if !ok {
			continue
		}
		if files[bytes] == nil {
			lengths = append(lengths, bytes)
		}
		files[bytes] = append(files[bytes], file)
	}
	if lengths == nil {
		return nil, nil
	}
	slices.Sort(lengths)
	var all *latencies
	for _, bytes := range lengths {
		l, err := readAllLatencies(files[bytes], unit, nil)
		switch {
		case err != nil:
			return nil, err
		case l.measured != nil:
			return nil, cli.BadInput("%s: says the lengths of its messages itself: want matrices with LENGTH=FILE", files[bytes][0])
		case all == nil:
			all = l
		default:
			if err := all.join(l, files[lengths[0]][0]); err != nil {
				return nil, cli.BadInput("%s: %w", files[bytes][0], err)
			}
		}
		all.sizes = append(all.sizes, spanner.Sized{Bytes: bytes, Repetitions: l.matrices})
	}
	return all, nil
}

// checkLengths refuses arguments of which some name a message length and others do not, and methods that take one length.
func checkLengths(method string, search bool, args, repetitions []string) error {
	named := 0
	files := slices.Concat(args, repetitions)
	for _, arg := range files {
		if _, _, ok := splitLength(arg); ok {
			named++
		}
	}
	switch {
	case named == 0 && len(args) > 1:
		return cli.BadInput("unexpected argument %q after %s: further repetitions go to --reps", args[1], args[0])
	case named > 0 && named < len(files):
		return cli.BadInput("want LENGTH=FILE of all files or of none")
	case named > 0 && (method != "greedy" || search):
		return cli.BadInput("%s: want --method greedy, which merges message lengths", args[0])
	}
	return nil
}
