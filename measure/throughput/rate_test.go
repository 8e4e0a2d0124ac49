package throughput

import (
	"math"
	"testing"
)

// TestTogether: flows of messages of 1 B, numbers by hand. A flow begins where the
// line through its arrivals has no message, but half a round trip after it was asked for at least, and
// three at most, two of messages in bunches, or as much later as its sender was late.
func TestTogether(t *testing.T) {
	for _, tt := range []struct {
		what  string
		flows []flow
		want  float64
	}{
		{"one flow, from 2 s on one per second", []flow{{1, 1, []float64{3, 4, 5, 6}, 0}}, 1},
		{"of which no line can say that it began before it was asked for", []flow{{1, 1, []float64{1, 1, 1, 4}, 0}}, 3 / 0.5 / 1}, // 3 messages by 1 s, from 0.5 s on
		{"whose sender was 9 s late", []flow{{1, 1, []float64{13, 14, 15, 16}, 10}}, 1},
		{"the last message is held up", []flow{{1, 0, []float64{1, 2, 3, 10}, 0}}, 1},
		{"two equal flows share", []flow{{1, 0, []float64{2, 4, 6, 8}, 0}, {1, 0, []float64{2, 4, 6, 8}, 0}}, 1},
		{"one gets two thirds; when it is done the other gets all", []flow{{1, 0, []float64{1.5, 3, 4.5, 6}, 0}, {1, 0, []float64{3, 6, 7, 8}, 0}}, 1},
		{"one is held up elsewhere, its first message is half done when the other ends", []flow{{1, 0, []float64{1, 2, 3, 4}, 0}, {1, 0, []float64{8, 16, 24, 32}, 0}}, 4.5 / 4},
		{"messages come in twos, from two round trips on, where the line through them has none by three", []flow{{1, 1, []float64{4, 4, 6, 6}, 0}}, 1},
		{"messages come in twos", []flow{{1, 0, []float64{4, 4, 8, 8}, 0}, {1, 0, []float64{4, 4, 8, 8}, 0}}, 1},
	} {
		if got := together(tt.flows); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%s: %g B/s, want %g", tt.what, got, tt.want)
		}
	}
}

func TestChosen(t *testing.T) {
	for _, tt := range []struct {
		rates []float64
		want  int
	}{{[]float64{5}, 0}, {[]float64{5, 6}, 1}, {[]float64{5, 6, 7}, 1}, {[]float64{5, 5, 7, 6}, 3}, {[]float64{5, 5, 5}, 1}} {
		if got := chosen(tt.rates); got != tt.want {
			t.Errorf("chosen(%v) = %d, want %d", tt.rates, got, tt.want)
		}
	}
}
