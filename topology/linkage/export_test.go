package linkage

// Corrections are the names of the steps that repair what the others get wrong, in their order.
func Corrections() []string {
	var names []string
	for _, s := range steps() {
		if s.correction != "" {
			names = append(names, s.correction)
		}
	}
	return names
}

// Without is the method without one of the corrections; "" leaves out none.
func Without(correction string) *Robust { return &Robust{without: correction} }
