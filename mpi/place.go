package mpi

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"math/big"
	"os"
	"slices"
	"strconv"
)

// A Place is where a rank runs.
type Place struct {
	Host string // name of the host, as the library knows it
	Core int    // the logical CPU to which the rank is bound; -1 if to none, or to several
	CPUs []int  // that the rank may run on, ascending; nil: not known
}

// coreOf is the CPU of a mask that has one, else -1.
func coreOf(cpus []int) int {
	if len(cpus) == 1 {
		return cpus[0]
	}
	return -1
}

// placesTag is the tag of the messages of Places.
const placesTag = MaxTag

// Places is collective: it returns the places of all ranks in the order of ranks, the same on every rank.
// Ranks of a communicator that is not Placed have the host's own name and no CPUs. Equal slices of CPUs are
// shared, and not to be changed.
//
// Places sends and receives with the tag MaxTag, along a binomial tree: some 30 bytes per rank of a host of 64 CPUs, in twice
// log2(Size()) messages one after the other. The result takes about 50 bytes per rank on every rank, see
// GatherPlaces.
func Places(comm Communicator) ([]Place, error) { return allPlaces(comm, ownPlace(comm)) }

// GatherPlaces is collective: it returns what Places does, but on rank 0 only, and nil on the others, in half
// the messages. Where thousands of ranks share a process, as in a simulation, that is the memory for one list
// instead of one per rank.
func GatherPlaces(comm Communicator) ([]Place, error) {
	text, err := gatherPlaces(comm, ownPlace(comm))
	if err != nil || comm.Rank() != 0 {
		return nil, err
	}
	return parsePlaces(text, comm.Size())
}

// ownPlace is the place of the calling rank.
func ownPlace(comm Communicator) Place {
	if placed, ok := comm.(Placed); ok {
		return placed.Place()
	}
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "localhost"
	}
	return Place{Host: host, Core: -1}
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
	return parsePlaces(text, comm.Size())
}

// gatherPlaces collects on rank 0 what each rank says of itself. It is nil on the others.
func gatherPlaces(comm Communicator, own Place) ([]byte, error) {
	rank := comm.Rank()
	text := own.appendText(nil)
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

// beyondChildren is the first bit that is no child's in the binomial tree. The children of a rank differ
// from it in one bit below its lowest one, so each has the places of consecutive ranks; its parent lacks the
// lowest one.
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

// appendText writes a place as a line of CSV: the host, the core, and the CPUs as the bits of a number in base
// 62, which is empty if they are not known.
func (p Place) appendText(text []byte) []byte {
	cpus := ""
	if p.CPUs != nil {
		mask := new(big.Int)
		for _, cpu := range p.CPUs {
			mask.SetBit(mask, cpu, 1)
		}
		cpus = mask.Text(big.MaxBase)
	}
	line := bytes.NewBuffer(text)
	w := csv.NewWriter(line)
	_ = w.Write([]string{p.Host, strconv.Itoa(p.Core), cpus}) // memory takes all
	w.Flush()
	return line.Bytes()
}

// parsePlaces reads the places of a number of ranks. Those with equal CPUs share them.
func parsePlaces(text []byte, ranks int) ([]Place, error) {
	in := csv.NewReader(bytes.NewReader(text))
	in.FieldsPerRecord = 3
	lines, err := in.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("mpi: places: %w", err)
	}
	if len(lines) != ranks {
		return nil, fmt.Errorf("mpi: places: %d lines: want one for each of %d ranks", len(lines), ranks)
	}
	masks := map[string][]int{"": nil}
	places := make([]Place, ranks)
	for r, line := range lines {
		core, err := strconv.Atoi(line[1])
		if err != nil {
			return nil, fmt.Errorf("mpi: places: rank %d: core %w", r, err)
		}
		cpus, known := masks[line[2]]
		if !known {
			mask, ok := new(big.Int).SetString(line[2], big.MaxBase)
			if !ok || mask.Sign() < 0 {
				return nil, fmt.Errorf("mpi: places: rank %d: %.80q are no CPUs", r, line[2])
			}
			cpus = []int{}
			for i := range mask.BitLen() {
				if mask.Bit(i) == 1 {
					cpus = append(cpus, i)
				}
			}
			masks[line[2]] = cpus
		}
		places[r] = Place{line[0], core, cpus}
	}
	return places, nil
}

// NumberHosts returns the number of each place's host, by name, and the names by number. Hosts are numbered in the order of
// their first ranks.
func NumberHosts(places []Place) (hosts []int, names []string) {
	number := make(map[string]int)
	hosts = make([]int, len(places))
	for rank, p := range places {
		i, known := number[p.Host]
		if !known {
			i = len(names)
			number[p.Host], names = i, append(names, p.Host)
		}
		hosts[rank] = i
	}
	return hosts, names
}

// OversubscribedHosts returns, in ascending order, the names of the hosts that have more ranks than CPUs for
// them: hosts where the ranks whose CPUs are among those of some mask outnumber the CPUs of that mask. Four
// ranks that may use the same eight cores have enough, and two that are bound to one core have not, whatever
// the others of the host have. A rank of which only the core is known is bound to that core. A rank of which
// nothing is known is not counted. On an oversubscribed host times are the scheduler's, not the network's.
func OversubscribedHosts(places []Place) []string {
	masksOf := make(map[string][][]int)
	for _, p := range places {
		switch {
		case len(p.CPUs) > 0:
			masksOf[p.Host] = append(masksOf[p.Host], p.CPUs)
		case p.Core >= 0:
			masksOf[p.Host] = append(masksOf[p.Host], []int{p.Core})
		}
	}
	var hosts []string
	for host, masks := range masksOf {
		if !haveCPUs(masks) {
			hosts = append(hosts, host)
		}
	}
	slices.Sort(hosts)
	return hosts
}

// haveCPUs tells whether no mask has more ranks within it than CPUs.
func haveCPUs(masks [][]int) bool {
	ranks := make(map[string]int) // by mask
	distinct := make(map[string][]int)
	for _, mask := range masks {
		key := fmt.Sprint(mask)
		ranks[key]++
		distinct[key] = mask
	}
	for _, mask := range distinct {
		within := 0
		for key, other := range distinct {
			if isSubset(other, mask) {
				within += ranks[key]
			}
		}
		if within > len(mask) {
			return false
		}
	}
	return true
}

// isSubset tells whether all of a are in b. Both ascend.
func isSubset(a, b []int) bool {
	return !slices.ContainsFunc(a, func(cpu int) bool {
		_, found := slices.BinarySearch(b, cpu)
		return !found
	})
}
