package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/mpi/simnet"
)

// mostTimes is the greatest factor: beyond it hardly anything moves any more.
const mostTimes = 1e6

// shortestSpell keeps a simulation from doing nothing but turning a fault on and off.
const shortestSpell = time.Microsecond

// values are what stands behind the place of a fault: words, and KEY=VALUE each once.
type values struct {
	words   []string
	options map[string]string
}

func readValues(parts []string) (*values, error) {
	v := &values{options: map[string]string{}}
	for _, part := range parts {
		key, value, isOption := strings.Cut(part, "=")
		if !isOption {
			v.words = append(v.words, part)
			continue
		}
		if key == "at" {
			key = "from"
		}
		if _, twice := v.options[key]; twice {
			return nil, fmt.Errorf("%q: want %s= once", part, key)
		}
		v.options[key] = value
	}
	return v, nil
}

// take returns the value of an option and forgets it, so that what is left at the end is not known.
func (v *values) take(key string) (string, bool) {
	value, is := v.options[key]
	delete(v.options, key)
	return value, is
}

// end refuses what nobody has taken.
func (v *values) end(want string) error {
	for _, word := range v.words {
		return fmt.Errorf("%q: want %s", word, want)
	}
	for _, key := range slices.Sorted(maps.Keys(v.options)) {
		return fmt.Errorf("%q: want %s", key+"="+v.options[key], want)
	}
	return nil
}

// slow reads by how much and when something is slow: "1.5x", or "latency=1.5x", "rate=0.5x" or both.
func (v *values) slow() (s simnet.Slow, err error) {
	const want = "how slow it is: 1.5x, latency=1.5x or rate=0.5x, then from=, until=, over=, on= or every="
	if len(v.words) > 0 {
		if s.Latency, err = factor(v.words[0], v.words[0], 1, mostTimes, "1.5x"); err != nil {
			return s, err
		}
		s.Rate = 1 / s.Latency
		v.words = v.words[1:]
	} else {
		for _, x := range []struct {
			key, example string
			to           *float64
			least, most  float64
		}{{"latency", "1.5x", &s.Latency, 1, mostTimes}, {"rate", "0.5x", &s.Rate, 1 / mostTimes, 1}} {
			if text, is := v.take(x.key); is {
				if *x.to, err = factor(text, x.key+"="+text, x.least, x.most, x.key+"="+x.example); err != nil {
					return s, err
				}
			}
		}
		if s.Latency == 0 && s.Rate == 0 {
			return s, fmt.Errorf("want %s", want)
		}
	}
	if s.When, err = v.when(); err != nil {
		return s, err
	}
	return s, v.end(want)
}

// when reads from=2s until=5s over=1s on=1/3 every=10ms.
func (v *values) when() (w simnet.When, err error) {
	for _, x := range []struct {
		key   string
		to    *float64
		least time.Duration
	}{{"from", &w.From, 0}, {"until", &w.Until, 1}, {"over", &w.Over, 0}, {"every", &w.Every, shortestSpell}} {
		text, is := v.take(x.key)
		if !is {
			continue
		}
		length, err := time.ParseDuration(text)
		if err != nil || length < x.least {
			return w, fmt.Errorf("%q: want a time of at least %s, such as %s=2s", x.key+"="+text, x.least, x.key)
		}
		*x.to = length.Seconds()
	}
	if w.Until > 0 && w.Until <= w.From {
		return w, fmt.Errorf("until=%gs: want later than from=%gs", w.Until, w.From)
	}
	text, is := v.take("on")
	if is {
		if w.Share, err = share("on="+text, text); err == nil && w.Share == 0 {
			err = fmt.Errorf("%q: want above 0", "on="+text)
		}
	}
	if err == nil && w.Every > 0 && w.Share == 0 {
		err = fmt.Errorf("every=: want on= with it, such as on=1/3")
	}
	return w, err
}

// share reads 1/3, 0.3 or 30%: from 0 to 1. The error names the whole.
func share(whole, text string) (float64, error) {
	x, err := quantity.ParseShare(text)
	if err != nil || !(x >= 0 && x <= 1) {
		return 0, fmt.Errorf("%q: want a share such as 1/3, 0.3 or 30%%", whole)
	}
	return x, nil
}

// factor reads a factor such as 1.5x between two bounds. The error names the whole, which holds the factor, and has
// the example as.
func factor(text, whole string, least, most float64, as string) (float64, error) {
	digits, ok := strings.CutSuffix(text, "x")
	x, err := strconv.ParseFloat(digits, 64)
	if err != nil || !ok || !(x >= least && x <= most) {
		return 0, fmt.Errorf("%q: want a factor from %gx to %gx, such as %s", whole, least, most, as)
	}
	return x, nil
}
