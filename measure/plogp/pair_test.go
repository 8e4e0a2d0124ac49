package plogp

import (
	"slices"
	"testing"
)

// refine measures sizes of a known gap as pair does.
func refine(s *settings, gap func(size int) float64) (sizes []int) {
	var points []point
	for _, size := range s.Sizes {
		points = append(points, point{size: size, gap: gap(size)})
	}
	for range s.ExtraSizes {
		size, worth := nextSize(points)
		if !worth {
			break
		}
		points = append(points, point{size: size, gap: gap(size)})
		slices.SortFunc(points, func(a, b point) int { return a.size - b.size })
	}
	for _, p := range points {
		sizes = append(sizes, p.size)
	}
	return sizes
}

// TestSizesAreAddedAtAStep: where the gap jumps, sizes close in on it until two
// are at most 32 B apart with the jump between them; where it is a straight
// line, none is added.
func TestSizesAreAddedAtAStep(t *testing.T) {
	plan, err := (&Settings{Longest: 1 << 16, ExtraSizes: 100}).plan()
	if err != nil {
		t.Fatal(err)
	}
	line := func(size int) float64 { return 1e-6 + float64(size)*1e-9 }
	if got := refine(&plan, line); !slices.Equal(got, plan.Sizes) {
		t.Errorf("sizes of a straight line: %v, want %v", got, plan.Sizes)
	}
	const step = 10_000
	got := refine(&plan, func(size int) float64 {
		if size < step {
			return line(size)
		}
		return line(size) + 100e-6
	})
	at, _ := slices.BinarySearch(got, step)
	if got[at]-got[at-1] > finest {
		t.Errorf("sizes around a step at %d B: %d and %d, want at most %d B between them", step, got[at-1], got[at], finest)
	}
	if most := len(plan.Sizes) + 40; len(got) > most {
		t.Errorf("%d sizes, want at most %d: they are to be around the step", len(got), most)
	}
	for i := 1; i < len(got); i++ {
		if got[i] > 64 && got[i]-got[i-1] < finest/2 {
			t.Errorf("sizes %d and %d are nearer than half of %d B", got[i-1], got[i], finest)
		}
	}
}

// TestSizesAreAddedOfEitherDirection: the direction that misses a straight line by more tells the size, whichever of the two it is.
func TestSizesAreAddedOfEitherDirection(t *testing.T) {
	of := func(gaps ...float64) (points []point) {
		for i, gap := range gaps {
			points = append(points, point{size: 1024 * i, gap: gap})
		}
		return points
	}
	line, bend, jump := of(1, 2, 3, 4), of(1, 3, 3, 4), of(1, 2, 3, 9)
	for _, c := range []struct {
		a, b []point
		want int
	}{
		{line, line, 0}, {line, bend, 512}, {bend, line, 512}, {bend, jump, 1536}, {jump, bend, 1536},
	} {
		size, worth := nextSize(c.a, c.b)
		if size != c.want || worth != (c.want > 0) {
			t.Errorf("of %v and %v: size %d, %v, want %d", c.a, c.b, size, worth, c.want)
		}
	}
}

func TestSettingsAreChecked(t *testing.T) {
	for _, s := range []Settings{
		{Longest: -1}, {Longest: 1<<30 + 1}, {Samples: -1},
	} {
		if _, err := s.plan(); err == nil {
			t.Errorf("%+v: want an error", s)
		}
	}
	for _, c := range []struct {
		longest int
		want    []int
	}{
		{1, []int{0, 1}}, {8, []int{0, 1, 2, 4, 8}}, {9, []int{0, 1, 2, 4, 8, 9}},
	} {
		if p, err := (&Settings{Longest: c.longest}).plan(); err != nil || !slices.Equal(p.Sizes, c.want) {
			t.Errorf("up to %d B: sizes %v, %v, want %v", c.longest, p.Sizes, err, c.want)
		}
	}
}
