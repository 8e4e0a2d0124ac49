package compare

// regular looks up each specified link between measured hosts, and lists what
// was found besides.
func (c *comparer) regular() []LinkCheck {
	k := c.reference.Hosts()
	check := func(u, v int) LinkCheck {
		p, q := c.joined[u*k+v], c.joined[v*k+u]
		l := LinkCheck{U: u, V: v, Verdict: LinkFound, Probability: (p + q) / 2, Measured: (c.mean[u*k+v] + c.mean[v*k+u]) / 2, Ideal: c.ideal(u, v)}
		switch {
		case p == 0 && q == 0:
			l.Verdict = LinkMissing
		case p == 0 || q == 0:
			l.Verdict = LinkSimplex
		}
		return l
	}
	var links, extra []LinkCheck
	for u := range k {
		for v := u + 1; v < k; v++ {
			specified := c.reference.ArcIndex(u, v) >= 0 || c.reference.ArcIndex(v, u) >= 0
			switch {
			case specified && len(c.members[u]) > 0 && len(c.members[v]) > 0:
				links = append(links, check(u, v))
			case !specified && c.joined[u*k+v]+c.joined[v*k+u] > 0:
				l := check(u, v)
				l.Verdict = LinkExtra
				extra = append(extra, l)
			}
		}
	}
	return append(links, extra...)
}
