package check

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/topocast/topocast/internal/jsonfile"
)

// A watch file is a line that names the format, and a line of JSON for each run. Lines are only
// ever appended. One that a full disk or a killed job has cut short is passed over. What
// is appended later begins a line of its own.
const (
	watchFormat  = "topocast/watch"
	watchVersion = 1
)

type watchHead struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
}

type watchLine struct {
	Date   time.Time           `json:"date"`
	Points map[PointKind][]row `json:"points_s"`
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
	lines := bufio.NewReader(r)
	first := true
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, 0, fmt.Errorf("check: watch file: %w", err)
		}
		atEnd := err != nil
		line = bytes.TrimSpace(line)
		switch {
		case len(line) == 0:
		case first:
			first = false
			if err := checkHead(line); err != nil {
				return nil, 0, fmt.Errorf("check: watch file: %w", err)
			}
		default:
			var l watchLine
			if jsonfile.Unmarshal(line, &l) != nil {
				lost++
				break
			}
			runs = append(runs, l.run())
		}
		if atEnd {
			return runs, lost, nil
		}
	}
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

// run is the run of a line. Kinds that this program does not know are left out.
func (l *watchLine) run() Run {
	run := Run{Date: l.Date}
	for _, kind := range []PointKind{PointLatency, PointLong} {
		for _, p := range l.Points[kind] {
			run.Points = append(run.Points, Point{kind, p.from, p.to, p.seconds})
		}
	}
	return run
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
	defer func() {
		if closing := f.Close(); err == nil {
			err = closing
		}
	}()
	head, err := bufio.NewReader(f).ReadBytes('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	var text bytes.Buffer
	lines := json.NewEncoder(&text)
	if len(head) == 0 {
		err = lines.Encode(watchHead{watchFormat, watchVersion})
	} else if err = checkHead(head); err == nil {
		err = endLine(f, &text)
	}
	if err != nil {
		return err
	}
	line := watchLine{Date: run.Date, Points: map[PointKind][]row{}}
	for _, p := range run.Points {
		line.Points[p.Kind] = append(line.Points[p.Kind], row{p.From, p.To, p.Seconds})
	}
	if err := lines.Encode(&line); err != nil {
		return err
	}
	if _, err := f.Write(text.Bytes()); err != nil {
		return err
	}
	return f.Sync()
}

// endLine ends the last line of a file in the text that follows, if it was cut short.
func endLine(f *os.File, text *bytes.Buffer) error {
	if _, err := f.Seek(-1, io.SeekEnd); err != nil {
		return err
	}
	last := make([]byte, 1)
	if _, err := f.Read(last); err != nil {
		return err
	}
	if last[0] != '\n' {
		text.WriteByte('\n')
	}
	return nil
}
