// Package cpulist reads sets of CPUs as hwloc and Linux write them.
package cpulist

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/topocast/topocast/internal/hostlist"
)

// Most is above the number of any CPU: far above what kernels have, far below what fills memory.
const Most = 1 << 20

// Mask reads words of 32 bits, the highest first, as hwloc writes them: 0x0000000f, or 0x00000001,0x00000000. A word of
// zeros may be left out.
func Mask(text string) ([]int, error) {
	var cpus []int
	words := strings.Split(text, ",")
	if text == "" || len(words) > Most/32 {
		return nil, fmt.Errorf("cpuset %.40q: want words of 32 bits such as 0x0000000f, at most %d", text, Most/32)
	}
	for i := range words {
		digits, _ := strings.CutPrefix(words[len(words)-1-i], "0x")
		word, err := strconv.ParseUint("0"+digits, 16, 32)
		if err != nil {
			return nil, fmt.Errorf("cpuset %.40q: want words of 32 bits such as 0x0000000f", text)
		}
		for ; word != 0; word &= word - 1 {
			cpus = append(cpus, 32*i+bits.TrailingZeros64(word))
		}
	}
	return cpus, nil
}

// List reads a list as Linux writes it: 0-3,8,10-11. Nothing is none.
func List(text string) ([]int, error) {
	if text == "" {
		return nil, nil
	}
	numbers, err := hostlist.ExpandNumbers(text, Most)
	if err != nil {
		return nil, fmt.Errorf("CPUs %.40q: %w", text, err)
	}
	var cpus []int
	for _, number := range numbers {
		cpu, err := strconv.Atoi(number)
		if err != nil || cpu >= Most {
			return nil, fmt.Errorf("CPUs %.40q: want numbers below %d", text, Most)
		}
		cpus = append(cpus, cpu)
	}
	slices.Sort(cpus)
	return slices.Compact(cpus), nil
}
