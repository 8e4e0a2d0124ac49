package measure

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"os"
	"runtime"
	"slices"

	"github.com/topocast/topocast/mpi"
)

// share sends the bytes of rank 0 to all ranks along a binomial tree, length
// first. It is collective and returns the bytes.
func share(comm mpi.Communicator, data []byte) ([]byte, error) {
	n, rank := comm.Size(), comm.Rank()
	// The parent of a rank is the rank without its lowest bit set; the
	// children of rank 0 and of a rank with lowest bit b add smaller bits.
	low := 1
	for low < n && rank&low == 0 {
		low *= 2
	}
	var head [8]byte
	if rank != 0 {
		parent := rank - low
		if err := comm.Recv(head[:], parent, tagData); err != nil {
			return nil, err
		}
		data = make([]byte, binary.LittleEndian.Uint64(head[:]))
		if err := receiveLong(comm, data, parent); err != nil {
			return nil, err
		}
	}
	binary.LittleEndian.PutUint64(head[:], uint64(len(data)))
	for bit := low / 2; bit > 0; bit /= 2 {
		child := rank + bit
		if child >= n {
			continue
		}
		if err := comm.Send(head[:], child, tagData); err != nil {
			return nil, err
		}
		if err := sendLong(comm, data, child); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// longest is the most that one message carries.
const longest = 1 << 28

func sendLong(comm mpi.Communicator, data []byte, dst int) error {
	for len(data) > 0 {
		part := data[:min(len(data), longest)]
		if err := comm.Send(part, dst, tagData); err != nil {
			return err
		}
		data = data[len(part):]
	}
	return nil
}

func receiveLong(comm mpi.Communicator, data []byte, src int) error {
	for len(data) > 0 {
		part := data[:min(len(data), longest)]
		if err := comm.Recv(part, src, tagData); err != nil {
			return err
		}
		data = data[len(part):]
	}
	return nil
}

// gather sends the bytes of each rank to rank 0, which takes them in turn.
func gather(comm mpi.Communicator, data []byte, take func(rank int, data []byte) error) error {
	var head [8]byte
	if comm.Rank() != 0 {
		binary.LittleEndian.PutUint64(head[:], uint64(len(data)))
		if err := comm.Send(head[:], 0, tagData); err != nil {
			return err
		}
		return sendLong(comm, data, 0)
	}
	if err := take(0, data); err != nil {
		return err
	}
	for rank := 1; rank < comm.Size(); rank++ {
		if err := comm.Recv(head[:], rank, tagData); err != nil {
			return err
		}
		data := make([]byte, binary.LittleEndian.Uint64(head[:]))
		if err := receiveLong(comm, data, rank); err != nil {
			return err
		}
		if err := take(rank, data); err != nil {
			return err
		}
	}
	return nil
}

// rankInfo is what one rank tells of itself.
type rankInfo struct {
	Host       string  `json:"host"`
	Core       int     `json:"core"`
	CPUs       int     `json:"cpus"`
	GOMAXPROCS int     `json:"gomaxprocs"`
	Step       float64 `json:"clock_step_s"`
	Cost       float64 `json:"clock_cost_s"`
}

// collect gathers conditions and readings. It returns the result on rank 0,
// nil on others.
func collect(comm mpi.Communicator, s *Settings, p *plan, q *probe, own []Reading) (*Result, error) {
	info := rankInfo{Core: -1, CPUs: runtime.NumCPU(), GOMAXPROCS: runtime.GOMAXPROCS(0), Step: q.step, Cost: q.cost}
	if named, ok := comm.(mpi.Named); ok {
		info.Host, info.Core = named.ProcessorName(), named.Core()
	} else if host, err := os.Hostname(); err == nil {
		info.Host = host
	}
	data, err := json.Marshal(&info)
	if err != nil {
		return nil, err
	}
	var r *Result
	if comm.Rank() == 0 {
		r = newResult(comm.Size(), s, p)
		r.Timed = q.timed != nil
		if v, ok := comm.(mpi.Versioned); ok && r.Library == "" {
			r.Library = v.LibraryVersion()
		}
	}
	err = gather(comm, data, func(rank int, data []byte) error {
		if err := json.Unmarshal(data, &info); err != nil {
			return err
		}
		r.Hosts[rank], r.Cores[rank], r.CPUs[rank], r.Procs[rank] = info.Host, info.Core, info.CPUs, info.GOMAXPROCS
		r.ClockStep, r.ClockCost = max(r.ClockStep, info.Step), max(r.ClockCost, info.Cost)
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = gather(comm, appendReadings(nil, own), func(rank int, data []byte) error {
		var err error
		r.readings, err = takeReadings(r.readings, rank, data)
		return err
	})
	if err != nil {
		return nil, err
	}
	if r != nil {
		slices.SortFunc(r.readings, compareReadings)
	}
	return r, nil
}

const readingBytes = 5*8 + 6*4

// appendReadings encodes readings of one rank; From is left out.
func appendReadings(data []byte, readings []Reading) []byte {
	for _, r := range readings {
		for _, t := range []float64{r.Min, r.Q1, r.Median, r.Q3, r.Max} {
			data = binary.LittleEndian.AppendUint64(data, math.Float64bits(t))
		}
		for _, i := range []int{r.To, r.Repetition, r.Size, r.Round, r.Count, r.Batch} {
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
		for i, t := range []*float64{&r.Min, &r.Q1, &r.Median, &r.Q3, &r.Max} {
			*t = math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
		}
		for i, v := range []*int{&r.To, &r.Repetition, &r.Size, &r.Round, &r.Count, &r.Batch} {
			*v = int(binary.LittleEndian.Uint32(data[40+4*i:]))
		}
		readings = append(readings, r)
		data = data[readingBytes:]
	}
	return readings, nil
}
