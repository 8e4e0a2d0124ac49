package measure

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"runtime"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/pingpong"
	"github.com/topocast/topocast/mpi"
)

// rankInfo is what one rank tells of itself.
type rankInfo struct {
	CPUs       int     `json:"cpus"`
	GOMAXPROCS int     `json:"gomaxprocs"`
	Step       float64 `json:"clock_step_s"`
	Cost       float64 `json:"clock_cost_s"`
}

// conditions gathers where and how all ranks run. It returns a result without
// readings on rank 0, nil on others. It is collective.
func conditions(comm mpi.Communicator, s *Settings, p *plan, q *pingpong.Probe) (*Result, error) {
	places, err := mpi.GatherPlaces(comm)
	if err != nil {
		return nil, err
	}
	info := rankInfo{CPUs: runtime.NumCPU(), GOMAXPROCS: runtime.GOMAXPROCS(0), Step: q.Step(), Cost: q.Cost()}
	data, err := json.Marshal(&info)
	if err != nil {
		return nil, err
	}
	var r *Result
	if comm.Rank() == 0 {
		r = newResult(comm.Size(), s, p)
		r.Timed = q.Timed()
		if v, ok := comm.(mpi.Versioned); ok && r.Library == "" {
			r.Library = v.LibraryVersion()
		}
		r.CrowdedHosts = mpi.CrowdedHosts(places)
	}
	err = harness.Gather(comm, data, func(rank int, data []byte) error {
		if err := json.Unmarshal(data, &info); err != nil {
			return err
		}
		r.Hosts[rank], r.Cores[rank], r.CPUs[rank], r.GOMAXPROCS[rank] = places[rank].Host, places[rank].Core, info.CPUs, info.GOMAXPROCS
		r.ClockStep, r.ClockCost = max(r.ClockStep, info.Step), max(r.ClockCost, info.Cost)
		return nil
	})
	return r, err
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
