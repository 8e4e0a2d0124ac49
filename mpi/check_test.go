package mpi

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// tooLong is one byte more than MPI's int holds; on 32 bits, a negative number,
// which is refused alike.
func tooLong() int {
	longest := math.MaxInt32
	return longest + 1
}

func TestCheckPeer(t *testing.T) {
	tests := []struct {
		name         string
		n, peer, tag int
		want         error
	}{
		{"an empty message", 0, 1, 0, nil},
		{"the longest message with the largest tag", math.MaxInt32, 3, MaxTag, nil},
		{"a message too long for MPI's int", tooLong(), 1, 0, ErrCount},
		{"a negative length", -1, 1, 0, ErrCount},
		{"the rank itself", 1, 0, 0, ErrRank},
		{"a negative rank", 1, -1, 0, ErrRank},
		{"a rank beyond the last", 1, 4, 0, ErrRank},
		{"a negative tag", 1, 1, -1, ErrTag},
		{"a tag beyond the largest", 1, 1, MaxTag + 1, ErrTag},
	}
	for _, tt := range tests {
		if err := checkPeer("Send", 0, 4, tt.n, tt.peer, tt.tag); !errors.Is(err, tt.want) {
			t.Errorf("%s: checkPeer(%d bytes, peer %d, tag %d) = %v, want %v", tt.name, tt.n, tt.peer, tt.tag, err, tt.want)
		}
	}
}

func TestCheckRoot(t *testing.T) {
	for root, want := range map[int]error{-1: ErrRank, 0: nil, 2: nil, 3: ErrRank} {
		if err := checkRoot("Bcast", 1, 3, 8, root); !errors.Is(err, want) {
			t.Errorf("checkRoot(root %d of 3) = %v, want %v", root, err, want)
		}
	}
	tooMany := int64(math.MaxInt32) + 1 // bytes; more than an int on 32 bits, where no buffer is as long
	if err := checkRoot("Bcast", 1, 3, int(tooMany), 0); int64(int(tooMany)) == tooMany && !errors.Is(err, ErrCount) {
		t.Errorf("checkRoot(2 GiB) = %v, want %v", err, ErrCount)
	}
}

func TestErrorNamesRankPeerAndCause(t *testing.T) {
	got := checkLength("Recv", 2, 8, 16, 1, 5).Error()
	want := "mpi: Recv on rank 2, peer 1, tag 5: message shorter than the buffer: 8 bytes, want 16"
	if got != want {
		t.Errorf("error = %q, want %q", got, want)
	}
}

func TestReport(t *testing.T) {
	for _, tt := range []struct {
		panicked any
		want     string
	}{
		{"no space", "rank 3: panic: no space\n\nstack"},
		{nil, "rank 3: the goroutine of mpi.Run was ended by runtime.Goexit\n\nstack"},
	} {
		var b strings.Builder
		report(&b, 3, tt.panicked, []byte("stack"))
		if b.String() != tt.want {
			t.Errorf("report(%v) = %q, want %q", tt.panicked, b.String(), tt.want)
		}
	}
}
