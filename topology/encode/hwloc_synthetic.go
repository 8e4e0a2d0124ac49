package encode

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// isSynthetic tells whether a file is a synthetic description of hwloc. Levels without types are left to parseSynthetic: numbers may be a
// matrix.
var isSynthetic = regexp.MustCompile(`^\s*(\([^()]*\)\s*)?((\[[A-Za-z0-9]+(\([^()]*\))?\]|[A-Za-z][A-Za-z0-9]*:[0-9]+(\([^()]*\))?)\s+)*(?i:pu):[0-9]+\s*(\([^()]*\))?\s*$`).Match

// parseSynthetic reads a synthetic description of hwloc, as lstopo --of synthetic writes it and lstopo -i takes it, such as
//
//	Package:2 [NUMANode(memory=16GB)] L3Cache:1 Core:8 PU:2
//
// as ReadHwloc does. Each level has so many objects in each of the level before, and the last one is hardware
// threads. A level without a type is one of unknown kind. Of what stands in brackets, indexes of PU count, as
// a list of all numbers of the operating system or as loops. Names of levels there are refused, and sizes passed over.
func parseSynthetic(text string) (*hwlocMachine, error) {
	type level struct {
		hwlocGroup
		objects int // in all
	}
	var levels []level
	objects, indexes, last := 1, "", ""
	for rest := strings.TrimSpace(text); rest != ""; rest = strings.TrimSpace(rest) {
		match := hwlocWord.FindStringSubmatch(rest)
		if match == nil {
			return nil, fmt.Errorf("%q: want levels such as Core:8", shorten(rest))
		}
		rest = rest[len(match[0]):]
		memory, name, count := match[1], match[2], match[3]
		switch {
		case memory == "" && count == "": // of the machine
			continue
		case last == "pu":
			return nil, fmt.Errorf("a level below PU")
		case memory != "":
			name = memory
		default:
			n, err := strconv.Atoi(count)
			if err != nil || n < 1 || n > maxThreads/objects {
				return nil, fmt.Errorf("%s:%s: want from 1 object to %d in all", name, shorten(count), maxThreads)
			}
			objects *= n
			last, indexes = strings.ToLower(name), match[4]
		}
		if last == "pu" || strings.EqualFold(name, "machine") {
			continue
		}
		g, isPart := hwlocGroupOf(name, "")
		if !isPart {
			return nil, fmt.Errorf("type %q: want Package, Die, NUMANode, L1 to L5, Core, Group or PU", shorten(name))
		}
		levels = append(levels, level{g, objects})
	}
	switch {
	case last == "" && len(levels) > 0 && levels[len(levels)-1].objects == objects: // without types: threads
		levels = levels[:len(levels)-1]
	case last != "pu":
		return nil, fmt.Errorf("%q: want PU as the last level", shorten(text))
	}
	cpus, err := hwlocIndexes(indexes, objects)
	if err != nil {
		return nil, err
	}
	m := &hwlocMachine{cpus: slices.Clone(cpus)}
	for depth, l := range levels {
		for l.CPUs = range slices.Chunk(cpus, objects/l.objects) {
			m.add(l.hwlocGroup, depth) // sizes are passed over
		}
	}
	return m, m.err
}

// hwlocWord is one level: [type](attributes) or type:count(attributes).
var hwlocWord = regexp.MustCompile(`^\s*(?:\[\s*([A-Za-z0-9]+)\s*(?:\([^()]*\))?\s*\]|(?:([A-Za-z][A-Za-z0-9]*):)?([0-9]+)\s*(?:\(([^()]*)\))?|\(([^()]*)\))`)

// hwlocIndexes are the numbers of so many threads: those of the attribute indexes, or 0 and so on, which is one loop. The attribute is
// a list of all numbers, or loops such as 2*16:1*2. A loop of step*count numbers the threads 0 to count-1 again and again, each number for
// step threads. The numbers of later loops count as many times more as the loops before have numbers.
func hwlocIndexes(attributes string, threads int) ([]int, error) {
	list := fmt.Sprintf("1*%d", threads)
	for attribute := range strings.FieldsSeq(attributes) {
		if text, isList := strings.CutPrefix(attribute, "indexes="); isList {
			list = text
		}
	}
	fail := fmt.Errorf("indexes=%s: want the numbers of all %d hardware threads, by commas, or loops such as 2*16:1*2", shorten(list), threads)
	cpus := make([]int, threads)
	if !strings.Contains(list, "*") {
		words := strings.Split(list, ",")
		for i, word := range words {
			cpu, err := strconv.Atoi(word)
			if err != nil || len(words) != threads || cpu < 0 || cpu >= maxThreads {
				return nil, fail
			}
			cpus[i] = cpu
		}
		return cpus, nil
	}
	total := 1
	for loop := range strings.SplitSeq(list, ":") {
		var step, count int
		if n, _ := fmt.Sscanf(loop, "%d*%d", &step, &count); n < 2 || step < 1 || count < 1 || count > threads/total {
			return nil, fail
		}
		for i := range cpus {
			cpus[i] += i / step % count * total
		}
		total *= count
	}
	if total != threads {
		return nil, fail
	}
	return cpus, nil
}
