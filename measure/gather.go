package measure

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/topocast/topocast/measure/pingpong"
	"github.com/topocast/topocast/measure/record"
	"github.com/topocast/topocast/mpi"
)

// conditions gathers where and how all ranks run. It returns a result without
// readings on rank 0, nil on others. It is collective.
func conditions(comm mpi.Communicator, s *Settings, p *plan, q *pingpong.Probe) (*Result, error) {
	h, err := record.Gather(comm, &record.Conditions{
		Date: s.Date, Library: s.Library, Timed: q.Timed(), ClockStep: q.Step(), ClockCost: q.Cost(),
	})
	if h == nil || err != nil {
		return nil, err
	}
	return &Result{
		Header: *h, Sizes: p.Sizes, Repetitions: p.Repetitions, Samples: p.Samples, Seed: p.Seed,
		WithinGroups: p.Within, OneByOne: len(p.Pairs) > 0, schedule: p.fingerprint(),
	}, nil
}

const (
	readingTimes = 5
	readingInts  = 8
	readingBytes = readingTimes*8 + readingInts*4
)

// appendReadings encodes readings of one rank; From is left out.
func appendReadings(data []byte, readings []Reading) []byte {
	for _, r := range readings {
		for _, t := range [readingTimes]float64{r.Min, r.Q1, r.Median, r.Q3, r.Max} {
			data = binary.LittleEndian.AppendUint64(data, math.Float64bits(t))
		}
		for _, i := range [readingInts]int{r.To, r.Repetition, r.Size, r.Round, r.Count, r.Batch, r.Lots, r.unsure()} {
			data = binary.LittleEndian.AppendUint32(data, uint32(i))
		}
	}
	return data
}

func takeReadings(readings []Reading, from int, data []byte) ([]Reading, error) {
	if len(data)%readingBytes != 0 {
		return nil, errors.New("readings of a wrong length")
	}
	for len(data) > 0 {
		r := Reading{From: from}
		for i, t := range [readingTimes]*float64{&r.Min, &r.Q1, &r.Median, &r.Q3, &r.Max} {
			*t = math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
		}
		var unsure int
		for i, v := range [readingInts]*int{&r.To, &r.Repetition, &r.Size, &r.Round, &r.Count, &r.Batch, &r.Lots, &unsure} {
			*v = int(binary.LittleEndian.Uint32(data[8*readingTimes+4*i:]))
		}
		r.Unsure = unsure != 0
		readings = append(readings, r)
		data = data[readingBytes:]
	}
	return readings, nil
}

// unsure is Unsure as a number.
func (r *Reading) unsure() int {
	if r.Unsure {
		return 1
	}
	return 0
}
