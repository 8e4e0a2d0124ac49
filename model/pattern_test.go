package model

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Reference: Zhu 2014, section 7.1 and 7.2: up to 57 links in a pattern of 30 nodes
// and d = 3, which is 90 * 0.5 and 2.5 standard deviations.
func TestRandomPattern(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	total := 0
	for range 200 {
		ts := RandomPattern(r, 30, 3, 5)
		total += len(ts)
		for _, x := range ts {
			if x.Src == x.Dst || x.Src < 0 || x.Src >= 30 || x.Dst < 0 || x.Dst >= 30 || x.Bytes != 5 {
				t.Fatalf("transfer %v", x)
			}
		}
	}
	// 200 * 90 draws of probability 1/2: 9000 +- 67.
	if math.Abs(float64(total)-9000) > 5*67 {
		t.Errorf("%d transfers in 200 patterns, want about 9000", total)
	}
}
