package draw

// LayoutWith is Layout with another length of the longest channel, and another gamma.
var LayoutWith = layoutWith

// Notes are the sentences below the title.
func (f *Figure) Notes() []string { return f.notes }
