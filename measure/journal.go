package measure

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/topocast/topocast/internal/jsonfile"
)

// A journal is a measurement under way: one JSON value per line, first the
// header of a file, then readings and, whenever rank 0 has had those of
// all ranks, the number of rounds. Its last line may be cut off.
type journal struct {
	w *bufio.Writer
}

const journalFormat = "topocast/measurement-journal"

// A journalMark says that all readings of so many rounds are above it.
type journalMark struct {
	Rounds int `json:"rounds"`
}

// newJournal begins a journal; nil without a writer. Errors of the writer are
// found by write.
func newJournal(w io.Writer, r *Result) *journal {
	if w == nil {
		return nil
	}
	j := &journal{bufio.NewWriter(w)}
	head := r.header()
	head.Format = journalFormat
	data, err := json.Marshal(head)
	if err != nil {
		panic("measure: a header is no JSON: " + err.Error()) // it has numbers and strings only
	}
	j.w.Write(append(data, '\n')) // bufio keeps the first error for Flush
	return j
}

func (j *journal) write(readings []Reading, rounds int) error {
	var line []byte
	for i := range readings {
		line = append(appendRow(line[:0], &readings[i]), '\n')
		j.w.Write(line)
	}
	fmt.Fprintf(j.w, "{\"rounds\":%d}\n", rounds)
	return j.w.Flush()
}

// decodeJournal reads what a journal has of a measurement.
func decodeJournal(data []byte) (*Result, error) {
	head, lines, _ := bytes.Cut(data, []byte("\n"))
	var f file
	if err := jsonfile.Decode(bytes.NewReader(head), &f.header); err != nil {
		return nil, fmt.Errorf("line 1: %w", err)
	}
	if err := f.check(); err != nil {
		return nil, fmt.Errorf("line 1: %w", err)
	}
	result := f.result()
	f.Repetitions = maxRepetitions // more may have followed than were asked for
	for number := 2; len(lines) > 0; number++ {
		line, rest, whole := bytes.Cut(lines, []byte("\n"))
		lines = rest
		if !whole {
			break // the process ended while it wrote
		}
		if bytes.HasPrefix(line, []byte("{")) {
			var mark journalMark
			if err := jsonfile.Decode(bytes.NewReader(line), &mark); err != nil {
				return nil, fmt.Errorf("line %d: %w", number, err)
			}
			if mark.Rounds < result.Rounds {
				return nil, fmt.Errorf("line %d: rounds: %d after %d", number, mark.Rounds, result.Rounds)
			}
			result.Rounds = mark.Rounds
			continue
		}
		var row []float64
		if err := jsonfile.Decode(bytes.NewReader(line), &row); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		x, err := f.reading(row)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		result.readings = append(result.readings, x)
	}
	slices.SortFunc(result.readings, compareReadings)
	for i := 1; i < len(result.readings); i++ {
		if compareReadings(result.readings[i-1], result.readings[i]) == 0 {
			return nil, fmt.Errorf("the reading from %d to %d is there twice", result.readings[i].From, result.readings[i].To)
		}
	}
	for _, x := range result.readings {
		result.Repetitions = max(result.Repetitions, x.Repetition+1)
	}
	result.TotalRounds = max(result.TotalRounds, result.Rounds)
	result.Stopped = StoppedUnfinished
	result.Warnings = warnings(result)
	return result, nil
}
