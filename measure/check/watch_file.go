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
	"time"

	"github.com/topocast/topocast/internal/jsonfile"
)

// A watch file is a line that names the format, and a line of JSON for each run. A run ends the line before it, and is
// only ever appended. One that a full disk or a killed job has cut short is passed over.
const (
	watchFormat  = "topocast/watch"
	watchVersion = 1
)

type watchHead struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
}

type watchLine struct {
	Date   time.Time `json:"date"`
	Points struct {
		Short []row `json:"latency,omitempty"`
		Long  []row `json:"long,omitempty"`
	} `json:"points_s"`
}

// A row is a point in a file: from, to, seconds.
type row struct {
	from, to string
	seconds  float64
}

func (r row) MarshalJSON() ([]byte, error) { return json.Marshal([]any{r.from, r.to, r.seconds}) }

func (r *row) UnmarshalJSON(data []byte) error {
	parts := []any{&r.from, &r.to, &r.seconds}
	if err := jsonfile.Unmarshal(data, &parts); err != nil {
		return err
	}
	if len(parts) != 3 || !(r.seconds > 0) || math.IsInf(r.seconds, 1) {
		return fmt.Errorf("%s: want two names and a time above 0", data)
	}
	return nil
}

// ReadRuns reads a watch file. Lines that are cut short or damaged are passed over, and
// lost is how many. It refuses other formats and later versions. Nothing at all is a file without runs.
func ReadRuns(r io.Reader) (runs []Run, lost int, err error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, 0, fmt.Errorf("check: watch file: %w", err)
	}
	first := true
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		var l watchLine
		switch {
		case len(line) == 0:
		case first:
			first = false
			if err := checkHead(line); err != nil {
				return nil, 0, fmt.Errorf("check: watch file: %w", err)
			}
		case jsonfile.Unmarshal(line, &l) != nil:
			lost++
		default:
			run := Run{Date: l.Date}
			for _, p := range l.Points.Short {
				run.Points = append(run.Points, Point{false, p.from, p.to, p.seconds})
			}
			for _, p := range l.Points.Long {
				run.Points = append(run.Points, Point{true, p.from, p.to, p.seconds})
			}
			runs = append(runs, run)
		}
	}
	return runs, lost, nil
}

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

// AppendRun appends a run to a watch file, which it makes if there is none. It refuses files of
// another format, which stay as they are.
func AppendRun(path string, run Run) error {
	if err := appendRun(path, run); err != nil {
		return fmt.Errorf("check: watch file: %w", err)
	}
	return nil
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
	var text []byte
	if len(head) == 0 {
		text, err = json.Marshal(watchHead{watchFormat, watchVersion})
	} else {
		err = checkHead(head)
	}
	if err != nil {
		return err
	}
	line := watchLine{Date: run.Date}
	for _, p := range run.Points {
		rows := &line.Points.Short
		if p.Long {
			rows = &line.Points.Long
		}
		*rows = append(*rows, row{p.From, p.To, p.Seconds})
	}
	added, err := json.Marshal(&line)
	if err != nil {
		return err
	}
	if _, err := f.Write(slices.Concat(text, []byte{'\n'}, added)); err != nil {
		return err
	}
	return f.Sync()
}
