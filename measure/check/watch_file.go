package check

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"github.com/topocast/topocast/internal/jsonfile"
)

// A history file is a line that names the format, and a line of JSON for each run. A run ends the line before it, and is
// only ever appended. One that a full disk or a killed job has cut short is passed over.
const (
	watchFormat  = "topocast/watch"
	watchVersion = 1
)

type watchHead struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
}

// ReadRuns reads a history file. Lines that are cut short or damaged are passed over, and
// lost is how many. It refuses other formats and later versions. Nothing at all is a file without runs.
func ReadRuns(r io.Reader) (runs []Run, lost int, err error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, 0, fmt.Errorf("check: history file: %w", err)
	}
	first := true
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		var run Run
		switch {
		case len(line) == 0:
		case first:
			first = false
			if err := checkHead(line); err != nil {
				return nil, 0, fmt.Errorf("check: history file: %w", err)
			}
		case jsonfile.Unmarshal(line, &run) != nil || len(run.Points) == 0 || slices.ContainsFunc(run.Points, Point.isDamaged):
			lost++
		default:
			runs = append(runs, run)
		}
	}
	return runs, lost, nil
}

// isDamaged tells whether a point has no time that a message may take.
func (p Point) isDamaged() bool { return !(p.Seconds > 0) || math.IsInf(p.Seconds, 1) }

// checkHead refuses the first line of other files.
func checkHead(line []byte) error {
	var head watchHead
	if jsonfile.Unmarshal(line, &head) != nil || head.Format != watchFormat {
		return fmt.Errorf("the first line is not that of format %q", watchFormat)
	}
	if head.Version < 1 || head.Version > watchVersion {
		return fmt.Errorf("version is %d, this program reads up to %d", head.Version, watchVersion)
	}
	return nil
}

// AppendRun appends a run to a history file, which it makes if there is none. It refuses files of
// another format, which stay as they are, and runs without points, which ReadRuns would pass over.
func AppendRun(path string, run Run) error {
	if len(run.Points) == 0 {
		return errors.New("check: history file: the run has no points: nothing was measured")
	}
	if err := appendRun(path, run); err != nil {
		return fmt.Errorf("check: history file: %w", err)
	}
	return nil
}

// Write writes a history file of one run.
func (r Run) Write(w io.Writer) error {
	head, err := json.Marshal(watchHead{watchFormat, watchVersion})
	if err != nil {
		return err
	}
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n%s", head, line)
	return err
}

func appendRun(path string, run Run) (err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, f.Close()) }()
	head, err := bufio.NewReader(f).ReadBytes('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	var text bytes.Buffer
	if err := run.Write(&text); err != nil {
		return err
	}
	if len(head) > 0 {
		if err := checkHead(head); err != nil {
			return err
		}
		text.Next(bytes.IndexByte(text.Bytes(), '\n')) // it is there
	}
	if _, err := f.Write(text.Bytes()); err != nil {
		return err
	}
	return f.Sync()
}
