package bcast

import (
	"encoding/binary"
	"hash/fnv"
	"os"
	"runtime"

	"github.com/topocast/topocast/mpi"
)

// crowded is collective and tells whether some host has more ranks than cores:
// ranks bound to the same core, or more unbound ranks than a rank may use
// cores. Times then say more of the scheduler than of the network.
func crowded(c *crew) (bool, error) {
	const record = 16 // bytes per rank: host, core, cores
	comm := c.exec.comm
	all := make([]byte, record*comm.Size())
	own := all[record*comm.Rank():]
	host, core := whereabouts(comm)
	binary.LittleEndian.PutUint64(own, host)
	binary.LittleEndian.PutUint32(own[8:], uint32(int32(core)))
	binary.LittleEndian.PutUint32(own[12:], uint32(runtime.NumCPU()))
	err := c.collect(all, make([]byte, len(all)), func(child []byte) {
		for i, x := range child { // every record is set by one rank
			all[i] |= x
		}
	})
	if err != nil {
		return false, err
	}
	var answer [1]byte
	if c.parent < 0 {
		type place struct {
			host uint64
			core int32
		}
		ranks := make(map[place]int)
		for ; len(all) > 0; all = all[record:] {
			at := place{binary.LittleEndian.Uint64(all), int32(binary.LittleEndian.Uint32(all[8:]))}
			cores := 1
			if at.core < 0 {
				cores = int(binary.LittleEndian.Uint32(all[12:]))
			}
			if ranks[at]++; ranks[at] > cores {
				answer[0] = 1
			}
		}
	}
	err = c.tell(answer[:])
	return answer[0] != 0, err
}

// whereabouts is the host of the rank, as a number, and its core or -1.
func whereabouts(comm mpi.Communicator) (host uint64, core int) {
	name, core := "", -1
	if named, ok := comm.(mpi.Named); ok {
		name, core = named.ProcessorName(), named.Core()
	} else if h, err := os.Hostname(); err == nil {
		name = h
	}
	hash := fnv.New64a()
	hash.Write([]byte(name))
	return hash.Sum64(), core
}
