package bcast

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"

	"github.com/topocast/topocast/model"
)

// What rank 0 says of its network before it shares it.
const (
	networkNone = iota
	networkWrong
	networkGood
)

// shareNetwork is collective: all ranks get the network of rank 0, or nil, or
// an error that comes of it. It is only sent if some rank does not have it yet.
func shareNetwork(c *crew, n *model.Network) (*model.Network, error) {
	var wrong error
	var head [9]byte // what rank 0 has, and its fingerprint
	if c.parent < 0 && n != nil {
		head[0] = networkGood
		if size := c.exec.comm.Size(); n.Ranks() != size {
			head[0] = networkWrong
			wrong = fmt.Errorf("bcast: new: network of %d ranks, communicator of %d: see model.Network.View", n.Ranks(), size)
		}
		binary.LittleEndian.PutUint64(head[1:], fingerprint(n))
	}
	if err := c.tell(head[:]); err != nil {
		return nil, err
	}
	switch head[0] {
	case networkNone:
		return nil, nil
	case networkWrong:
		if wrong == nil {
			wrong = fmt.Errorf("bcast: new: rank 0 has a network of another number of ranks")
		}
		return nil, wrong
	}
	own, other := []byte{1}, []byte{0} // 1: a rank below lacks the network
	if n != nil && fingerprint(n) == binary.LittleEndian.Uint64(head[1:]) {
		own[0] = 0
	}
	lacks := own[0] != 0
	if err := c.collect(own, other, func(child []byte) { own[0] |= child[0] }); err != nil {
		return nil, err
	}
	if err := c.tell(own); err != nil {
		return nil, err
	}
	if own[0] == 0 {
		return n, nil
	}
	var file bytes.Buffer
	if c.parent < 0 {
		if wrong = n.Write(&file); wrong != nil {
			file.Reset() // the others find that it is empty
		}
	}
	data, err := c.tellAny(file.Bytes())
	switch {
	case err != nil:
		return nil, err
	case wrong != nil:
		return nil, fmt.Errorf("bcast: new: %w", wrong)
	case len(data) == 0:
		return nil, fmt.Errorf("bcast: new: rank 0 has a network that it cannot write")
	case !lacks:
		return n, nil
	}
	if n, err = model.Read(bytes.NewReader(data)); err != nil {
		return nil, fmt.Errorf("bcast: new: network of rank 0: %w", err)
	}
	return n, nil
}

// fingerprint tells networks apart by what broadcasts follow: the groups, and
// the times of the levels.
func fingerprint(n *model.Network) uint64 {
	h := fnv.New64a()
	var word [8]byte
	add := func(x uint64) {
		binary.LittleEndian.PutUint64(word[:], x)
		h.Write(word[:])
	}
	add(uint64(n.Ranks()))
	for _, g := range n.Hierarchy().Groups() {
		add(uint64(g.Level))
		add(uint64(len(g.Hosts)))
		for _, x := range g.Hosts {
			add(uint64(x))
		}
	}
	for _, l := range n.Levels() {
		for _, bytes := range []int64{0, 1 << 10, 1 << 20} {
			add(math.Float64bits(l.Time(bytes)))
		}
	}
	return h.Sum64()
}
