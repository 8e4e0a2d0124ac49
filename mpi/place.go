package mpi

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
)

// A Place is where a rank runs.
type Place struct {
	Host string // as Named tells it
	Core int    // the logical CPU to which the rank is bound; -1 if to none, or to several
	CPUs []int  // that the rank may run on, ascending; nil: not known
}

// placesTag is the tag of the messages of Places.
const placesTag = MaxTag

// Places is collective: it returns the places of all ranks in the order of
// ranks, the same on every rank. Ranks of a communicator that is not Named have
// the host's own name; those of one that is not Bound have no CPUs. Equal
// slices of CPUs are shared, and not to be changed.
//
// Places sends and receives with the tag MaxTag, along a binomial tree: some
// 20 bytes per rank, twice log2(Size()) messages one after the other. The result
// takes about 50 bytes per rank on every rank, see GatherPlaces.
func Places(comm Communicator) ([]Place, error) {
	return allPlaces(comm, ownPlace(comm))
}

// GatherPlaces is collective: it returns what Places does, but on rank 0 only,
// and nil on the others, in half the messages. Where thousands of ranks share a
// process, as in a simulation, that is the memory for one list instead of one
// per rank.
func GatherPlaces(comm Communicator) ([]Place, error) {
	text, err := gatherPlaces(comm, ownPlace(comm))
	if err != nil || comm.Rank() != 0 {
		return nil, err
	}
	return decodePlaces(text, comm.Size())
}

// ownPlace is the place of the calling rank.
func ownPlace(comm Communicator) Place {
	own := Place{Core: -1}
	if named, ok := comm.(Named); ok {
		own.Host, own.Core = named.ProcessorName(), named.Core()
	} else {
		own.Host = hostName()
	}
	if bound, ok := comm.(Bound); ok {
		own.CPUs = bound.CPUs()
	}
	return own
}

// hostName is what the kernel calls the host.
func hostName() string {
	host, err := os.Hostname()
	if err != nil || host == "" {
		return "localhost"
	}
	return host
}

// allPlaces is Places of ranks that say of themselves what they are given.
func allPlaces(comm Communicator, own Place) ([]Place, error) {
	text, err := gatherPlaces(comm, own)
	if err != nil {
		return nil, err
	}
	rank := comm.Rank()
	if rank > 0 {
		if text, err = recvAny(comm, rank&(rank-1)); err != nil {
			return nil, fmt.Errorf("mpi: places: %w", err)
		}
	}
	for bit := beyondChildren(comm) >> 1; bit > 0; bit >>= 1 {
		if err := sendAny(comm, text, rank+bit); err != nil {
			return nil, fmt.Errorf("mpi: places: %w", err)
		}
	}
	return decodePlaces(text, comm.Size())
}

// gatherPlaces collects on rank 0 what each rank says of itself. It is nil on
// the others.
func gatherPlaces(comm Communicator, own Place) ([]byte, error) {
	rank := comm.Rank()
	text := appendPlace(nil, own)
	for bit := 1; bit < beyondChildren(comm); bit <<= 1 {
		part, err := recvAny(comm, rank+bit)
		if err != nil {
			return nil, fmt.Errorf("mpi: places: %w", err)
		}
		text = append(text, part...)
	}
	if rank == 0 {
		return text, nil
	}
	if err := sendAny(comm, text, rank&(rank-1)); err != nil {
		return nil, fmt.Errorf("mpi: places: %w", err)
	}
	return nil, nil
}

// beyondChildren is the first bit that is no child's. The children of a rank are
// those that differ from it in one bit below its lowest one, so each has the
// places of consecutive ranks; its parent lacks the lowest one.
func beyondChildren(comm Communicator) int {
	rank, bit := comm.Rank(), 1
	for rank&bit == 0 && rank+bit < comm.Size() {
		bit <<= 1
	}
	return bit
}

// sendAny sends a message of any length, to be received by recvAny.
func sendAny(comm Communicator, text []byte, dst int) error {
	if err := comm.Send(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), dst, placesTag); err != nil {
		return err
	}
	return comm.Send(text, dst, placesTag)
}

func recvAny(comm Communicator, src int) ([]byte, error) {
	length := make([]byte, 8)
	if err := comm.Recv(length, src, placesTag); err != nil {
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint64(length))
	if err := checkCount("Places", comm.Rank(), int(n), src, placesTag); err != nil {
		return nil, err
	}
	text := make([]byte, n)
	return text, comm.Recv(text, src, placesTag)
}

// appendPlace writes a place: the length of the host's name and the name, the
// core, one more than the number of runs of CPUs (0: not known), and of each
// run its length and the distance from the end of the last one.
func appendPlace(text []byte, p Place) []byte {
	text = binary.AppendUvarint(text, uint64(len(p.Host)))
	text = append(text, p.Host...)
	text = binary.AppendVarint(text, int64(p.Core))
	if p.CPUs == nil {
		return binary.AppendUvarint(text, 0)
	}
	type run struct{ start, end int }
	var runs []run
	for _, cpu := range p.CPUs {
		if n := len(runs); n > 0 && runs[n-1].end == cpu {
			runs[n-1].end++
		} else {
			runs = append(runs, run{cpu, cpu + 1})
		}
	}
	text = binary.AppendUvarint(text, uint64(len(runs)+1))
	last := 0
	for _, r := range runs {
		text = binary.AppendUvarint(text, uint64(r.end-r.start))
		text = binary.AppendUvarint(text, uint64(r.start-last))
		last = r.end
	}
	return text
}

var errPlaces = errors.New("mpi: places: a message that is none of places")

// decodePlaces reads the places of so many ranks.
func decodePlaces(text []byte, ranks int) ([]Place, error) {
	const mostCPUs = 1 << 20 // far above what kernels have, far below what fills memory
	number := func() (int, bool) {
		v, n := binary.Uvarint(text)
		if n <= 0 || v > mostCPUs {
			return 0, false
		}
		text = text[n:]
		return int(v), true
	}
	hosts, masks := make(map[string]string), make(map[string][]int) // those read so far
	places := make([]Place, 0, ranks)
	for range ranks {
		length, ok := number()
		if !ok || length > len(text) {
			return nil, errPlaces
		}
		host, known := hosts[string(text[:length])]
		if !known {
			host = string(text[:length])
			hosts[host] = host
		}
		text = text[length:]
		core, n := binary.Varint(text)
		if n <= 0 {
			return nil, errPlaces
		}
		text = text[n:]
		start := text
		runs, ok := number()
		if !ok || runs > len(start) {
			return nil, errPlaces
		}
		var cpus []int
		if runs > 0 {
			cpus = []int{}
		}
		next := 0
		for range runs - 1 {
			count, okCount := number()
			gap, okGap := number()
			if !okCount || !okGap || next+gap+count > mostCPUs {
				return nil, errPlaces
			}
			for next += gap; count > 0; count-- {
				cpus = append(cpus, next)
				next++
			}
		}
		if runs > 0 {
			key := string(start[:len(start)-len(text)])
			if mask, known := masks[key]; known {
				cpus = mask
			}
			masks[key] = cpus
		}
		places = append(places, Place{host, int(core), cpus})
	}
	if len(text) > 0 {
		return nil, errPlaces
	}
	return places, nil
}

// CrowdedHosts returns the names of the hosts on which ranks have to share a CPU, in
// ascending order: those where some of the ranks outnumber all CPUs on which
// these may run. So four ranks that may use the same eight cores are not
// crowded, and two that are bound to one core are, whatever the others of the
// host have. A rank of which only the core is known is bound to that; one of
// which nothing is known is not counted. Times on a crowded host say more of
// its scheduler than of the network.
func CrowdedHosts(places []Place) []string {
	byHost := make(map[string][][]int)
	for _, p := range places {
		switch {
		case len(p.CPUs) > 0:
			byHost[p.Host] = append(byHost[p.Host], p.CPUs)
		case p.Core >= 0:
			byHost[p.Host] = append(byHost[p.Host], []int{p.Core})
		}
	}
	var crowded []string
	for host, masks := range byHost {
		if !haveOwnCPUs(masks) {
			crowded = append(crowded, host)
		}
	}
	slices.Sort(crowded)
	return crowded
}

// haveOwnCPUs tells whether each rank can have a CPU that no other has, which is
// so unless some ranks outnumber the CPUs of their masks (Hall 1935). It tries
// to give each one, and lets those who have one move to another for it.
func haveOwnCPUs(masks [][]int) bool {
	owner := make(map[int]int) // CPU -> the rank that has it
	for rank := range masks {
		asked := make(map[int]bool)
		var give func(rank int) bool
		give = func(rank int) bool {
			for _, cpu := range masks[rank] { // a free one costs nobody a move
				if _, taken := owner[cpu]; !taken {
					owner[cpu] = rank
					return true
				}
			}
			for _, cpu := range masks[rank] {
				if !asked[cpu] {
					asked[cpu] = true
					if give(owner[cpu]) {
						owner[cpu] = rank
						return true
					}
				}
			}
			return false
		}
		if !give(rank) {
			return false
		}
	}
	return true
}
