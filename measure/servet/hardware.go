package servet

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"time"
	"unsafe"

	"github.com/topocast/topocast/internal/hostmemory"
	"github.com/topocast/topocast/internal/stats"
)

// Of the real thing.
const (
	lineBytes = 64 // of most caches; where lines are longer, each is visited more than once
	lineWords = lineBytes / 8

	copyPiece   = 1 << 20                // B, copied between two readings of the clock: 20 us and more
	copyWarmUp  = 2 * time.Millisecond   // longer than ranks leave a barrier one after the other
	copyTime    = 10 * time.Millisecond  // some hundred pieces
	walkWarmUp  = 250 * time.Millisecond // most; a pass through 256 MiB at 60 ns per line
	leastPiece  = 16 << 10               // accesses between two readings of the clock: 20 us and more
	mostPiece   = 64 << 10
	walkTime    = 3 * time.Millisecond
	leastPieces = 5 // of which the median passes over two that an interrupt has hit
)

// hardware is the worker that uses the memory of the host.
type hardware struct {
	walks   bool         // through working sets, else it copies
	slot    int          // which of the CPUs that the rank may use, if it may use several
	restore func() error // the binding that was; nil: the thread was not bound yet
	buffer  []byte
	free    func() error // of buffer
	words   []uint64     // of the working set: each line holds the number of the next word to visit
	size    int          // of the working set in B; 0: none
	at      uint64       // where the walk is
	rng     *rand.Rand
}

func newHardware(rank, slot int, walks bool) *hardware {
	return &hardware{walks: walks, slot: slot, rng: rand.New(rand.NewPCG(uint64(rank), 1)), free: func() error { return nil }}
}

// bind binds the calling thread, if it is bound to no single CPU, to one of those that it may use.
func (h *hardware) bind() (err error) {
	if h.restore != nil {
		return nil
	}
	runtime.LockOSThread()
	if h.restore, err = bind(h.slot); err != nil {
		runtime.UnlockOSThread()
	}
	return err
}

// close gives everything back.
func (h *hardware) close() error {
	err := h.free()
	if h.restore != nil {
		err = errors.Join(err, h.restore())
		runtime.UnlockOSThread()
	}
	return err
}

// room makes the buffer as large as that.
func (h *hardware) room(bytes int) error {
	if len(h.buffer) >= bytes {
		return nil
	}
	if err := h.free(); err != nil {
		return err
	}
	var err error
	if h.buffer, h.free, err = allocate(bytes); err != nil {
		h.buffer, h.free = nil, func() error { return nil }
		return fmt.Errorf("%d bytes to measure with: %w", bytes, err)
	}
	h.size = 0
	for i := 0; i < len(h.buffer); i += os.Getpagesize() {
		h.buffer[i] = 1 // pages that nobody has written to are all the same one
	}
	return nil
}

func (h *hardware) warmUp(s stress) error {
	if err := h.bind(); err != nil {
		return err
	}
	if !h.walks {
		if err := h.room(2 * s.bytes); err != nil {
			return err
		}
		h.size = 0
		h.copy(s, copyWarmUp)
		return nil
	}
	if err := h.room(s.bytes); err != nil {
		return err
	}
	if h.size != s.bytes {
		h.chain(s.bytes)
	}
	// One pass, after which caches hold what they can.
	start := time.Now()
	for left := s.bytes / lineBytes; left > 0 && time.Since(start) < walkWarmUp; left -= mostPiece {
		h.walk(min(left, mostPiece))
	}
	return nil
}

func (h *hardware) measure(s stress) (float64, error) {
	if !h.walks {
		return h.copy(s, copyTime), nil
	}
	accesses := min(max(s.bytes/lineBytes, leastPiece), mostPiece)
	return medianTime(walkTime, func() { h.walk(accesses) }) / float64(accesses), nil
}

// medianTime repeats a piece of work for so long, and returns the median of its times in s.
func medianTime(long time.Duration, piece func()) float64 {
	var times []float64
	for start := time.Now(); time.Since(start) < long || len(times) < leastPieces; {
		begin := time.Now()
		piece()
		times = append(times, time.Since(begin).Seconds())
	}
	return stats.MiddleMedian(times)
}

// copy copies from one half of the buffer to the other for the given time. It returns the median rate in
// bytes per second, read and written.
func (h *hardware) copy(s stress, long time.Duration) float64 {
	from, to := h.buffer[:s.bytes], h.buffer[s.bytes:2*s.bytes]
	piece, at := min(copyPiece, s.bytes), 0
	seconds := medianTime(long, func() {
		copy(to[at:at+piece], from[at:at+piece])
		if at += piece; at+piece > s.bytes {
			at = 0
		}
	})
	return 2 * float64(piece) / seconds
}

// chain makes the lines of a working set one cycle in random order, which no prefetcher foresees (Sattolo 1986).
func (h *hardware) chain(bytes int) {
	h.words, h.size, h.at = wordsOf(h.buffer[:bytes]), bytes, 0
	lines := bytes / lineBytes
	next := make([]uint32, lines)
	for i := range next {
		next[i] = uint32(i)
	}
	for i := lines - 1; i > 0; i-- {
		j := h.rng.IntN(i)
		next[i], next[j] = next[j], next[i]
	}
	for i, to := range next {
		h.words[i*lineWords] = uint64(to) * lineWords
	}
}

// wordsOf are the bytes as words. The memory is allocate's, which begins with one.
func wordsOf(memory []byte) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(memory))), len(memory)/8)
}

// walk visits so many lines, each when the one before has told which it is.
func (h *hardware) walk(accesses int) {
	words, at := h.words, h.at
	for range accesses {
		at = words[at]
	}
	h.at = at
}

const (
	usualLast  = 32 << 20  // B; where no cache is told of
	largestSet = 256 << 20 // B; a step should not take seconds
	roomShare  = 4         // of the free memory, a quarter, for all ranks of a host
)

// lastCache is the size of the largest cache that the operating system tells of in B, 0 if it tells of none.
func lastCache() int {
	last := 0
	parts, _ := readSys(os.DirFS(sysPath)) // where there is no such folder, nothing is told
	for _, p := range parts {
		last = max(last, p.Bytes)
	}
	return last
}

// freeMemory is what programs of this host may use in B, math.MaxInt if that is not known.
func freeMemory() int {
	if bytes, known := hostmemory.Available(); known {
		return int(min(bytes, math.MaxInt))
	}
	return math.MaxInt
}
