package mpitest_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
	"github.com/topocast/topocast/mpi/mpitest"
)

// all is what a communicator of mpi/local can do in every mode.
type all interface {
	mpi.Communicator
	mpi.SyncSender
	mpi.NonBlocking
	mpi.Clock
	mpi.Placed
	mpi.Splitter
	mpi.NativeBcast
}

// faulty is a good communicator but for the functions that are set.
type faulty struct {
	all
	send      func(buf []byte, dst, tag int) error
	recv      func(buf []byte, src, tag int) error
	bcast     func(buf []byte, root int) error
	split     func(color, key int) (mpi.Communicator, error)
	dup       func() (mpi.Communicator, error)
	now       func() float64
	name      func() string
	newSet    func() mpi.Requests
	rankValue func() int
}

func (f *faulty) Rank() int {
	if f.rankValue != nil {
		return f.rankValue()
	}
	return f.all.Rank()
}

func (f *faulty) Send(buf []byte, dst, tag int) error {
	if f.send != nil {
		return f.send(buf, dst, tag)
	}
	return f.all.Send(buf, dst, tag)
}

func (f *faulty) Recv(buf []byte, src, tag int) error {
	if f.recv != nil {
		return f.recv(buf, src, tag)
	}
	return f.all.Recv(buf, src, tag)
}

func (f *faulty) Bcast(buf []byte, root int) error {
	if f.bcast != nil {
		return f.bcast(buf, root)
	}
	return f.all.Bcast(buf, root)
}

func (f *faulty) Split(color, key int) (mpi.Communicator, error) {
	if f.dup != nil && color == 0 && key == f.all.Rank() {
		return f.dup()
	}
	if f.split != nil {
		return f.split(color, key)
	}
	return f.all.Split(color, key)
}

func (f *faulty) Now() float64 {
	if f.now != nil {
		return f.now()
	}
	return f.all.Now()
}

func (f *faulty) Place() mpi.Place {
	p := f.all.Place()
	if f.name != nil {
		p.Host = f.name()
	}
	return p
}

func (f *faulty) NewRequests() mpi.Requests {
	if f.newSet != nil {
		return f.newSet()
	}
	return f.all.NewRequests()
}

// A set that forgets its transfers' errors.
type silentSet struct{ mpi.Requests }

func (s silentSet) WaitAll() error {
	s.Requests.WaitAll()
	return nil
}

// The suite finds what breaks the contract, and names the case.
func TestFaultsAreFound(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(f *faulty)
		want  string // name of the case
	}{
		{"a good communicator", func(*faulty) {}, ""},
		{"two ranks of one number", func(f *faulty) { f.rankValue = func() int { return 0 } }, "rank and size"},
		{"a byte is lost", func(f *faulty) {
			f.recv = func(buf []byte, src, tag int) error {
				err := f.all.Recv(buf, src, tag)
				if err == nil && len(buf) > 1000 {
					buf[777] ^= 1
				}
				return err
			}
		}, "all sizes arrive whole"},
		{"large tags are refused", func(f *faulty) {
			f.send = func(buf []byte, dst, tag int) error {
				if tag > 4095 && tag <= mpi.MaxTag {
					return errors.New("no such tag")
				}
				return f.all.Send(buf, dst, tag)
			}
		}, "all tags up to MaxTag arrive"},
		{"wrong tags are taken", func(f *faulty) {
			f.recv = func(buf []byte, src, tag int) error {
				if tag < 0 {
					return nil
				}
				return f.all.Recv(buf, src, tag)
			}
		}, "wrong ranks and tags are refused"},
		{"messages of 2^31 bytes are taken", func(f *faulty) {
			f.send = func(buf []byte, dst, tag int) error {
				if len(buf) > math.MaxInt32 {
					return nil
				}
				return f.all.Send(buf, dst, tag)
			}
		}, "messages that are too long are refused"},
		{"a sentinel without the operation", func(f *faulty) {
			f.send = func(buf []byte, dst, tag int) error {
				if dst == f.Rank() {
					return mpi.ErrRank
				}
				return f.all.Send(buf, dst, tag)
			}
		}, "wrong ranks and tags are refused"},
		{"long messages are cut off in silence", func(f *faulty) {
			f.recv = func(buf []byte, src, tag int) error {
				if err := f.all.Recv(buf, src, tag); !errors.Is(err, mpi.ErrTruncated) {
					return err
				}
				return nil
			}
		}, "message longer than the buffer"},
		{"short messages are taken", func(f *faulty) {
			f.recv = func(buf []byte, src, tag int) error {
				if err := f.all.Recv(buf, src, tag); !errors.Is(err, mpi.ErrLength) {
					return err
				}
				return nil
			}
		}, "message shorter than the buffer"},
		{"the bytes behind the buffer are overwritten", func(f *faulty) {
			f.recv = func(buf []byte, src, tag int) error {
				err := f.all.Recv(buf, src, tag)
				if errors.Is(err, mpi.ErrTruncated) {
					clear(unsafe.Slice(unsafe.SliceData(buf), len(buf)+8))
				}
				return err
			}
		}, "message longer than the buffer"},
		{"a set forgets errors", func(f *faulty) {
			f.newSet = func() mpi.Requests { return silentSet{f.all.NewRequests()} }
		}, "requests: message longer than the buffer"},
		{"a broadcast that does nothing", func(f *faulty) { f.bcast = func([]byte, int) error { return nil } }, "native broadcast"},
		{"a split that ignores its keys", func(f *faulty) {
			f.split = func(color, key int) (mpi.Communicator, error) { return f.all.Split(color, 0) }
		}, "split"},
		{"a duplicate that is none", func(f *faulty) { f.dup = func() (mpi.Communicator, error) { return f, nil } }, "a duplicate is isolated"},
		{"a clock that goes back", func(f *faulty) {
			now := 0.0
			f.now = func() float64 { now--; return now }
		}, "clock"},
		{"a clock of NaN", func(f *faulty) { f.now = func() float64 { return math.NaN() } }, "clock"},
		{"no name", func(f *faulty) { f.name = func() string { return "" } }, "place"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := local.Run(3, nil, func(c mpi.Communicator) error {
				f := &faulty{all: c.(all)}
				tt.spoil(f)
				if f.dup == nil { // what is made of a faulty one is faulty too
					f.dup = func() (mpi.Communicator, error) {
						d, err := f.all.Split(0, f.all.Rank())
						if err != nil {
							return nil, err
						}
						g := &faulty{all: d.(all)}
						tt.spoil(g)
						return g, nil
					}
				}
				return mpitest.Check(f)
			})
			if tt.want == "" {
				if err != nil {
					t.Errorf("Check = %v, want nil", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), "mpitest: "+tt.want+": ") {
				t.Errorf("Check = %v, want a failure of %q", err, tt.want)
			}
		})
	}
}
