package evidence

// eachWord calls yield for each word of a name that has three letters or more: what stands between signs, and the words of
// camelCase.
func eachWord(name string, yield func(word string)) {
	start := 0
	end := func(at int) {
		if at-start >= 3 {
			yield(name[start:at])
		}
	}
	for i := range len(name) {
		switch {
		case !isWordByte(name[i]) || name[i] == '_':
			end(i)
			start = i + 1
		case i > start && isUpper(name[i]) && !isUpper(name[i-1]):
			end(i)
			start = i
		}
	}
	end(len(name))
}

// maxSegments is how many segments of a path are looked at, from its end.
const maxSegments = 14

// eachWithin calls yield for the texts within a name that can be names of their own: of a path or a URL consecutive
// segments and words, of a quotation its names. Other names hold none.
func eachWithin(n Name, yield func(part string)) {
	switch n.Kind {
	case Path, URL:
	case Quotation:
		Names(n.Text, func(within Name, _ int) { yield(within.Text) })
		return
	default:
		return
	}
	text := n.Text
	// starts are the offsets of the last segments, and one behind them.
	var offsets [maxSegments + 1]int
	offsets[maxSegments] = len(text) + 1
	first := maxSegments
	for i := len(text) - 1; i >= 0 && first > 0; i-- {
		if i == 0 || text[i-1] == '/' {
			first--
			offsets[first] = i
		}
	}
	starts := offsets[first:]
	for i, from := range starts {
		for _, to := range starts[i+1:] {
			if from < to-1 && to-1-from < len(text) {
				yield(text[from : to-1])
			}
		}
		if from > 0 && from < len(text) {
			yield(text[from-1:])
		}
	}
	from := 0
	for i := 0; i <= len(text); i++ {
		if i == len(text) || !isWordByte(text[i]) {
			if i > from && i-from < len(text) {
				yield(text[from:i])
			}
			from = i + 1
		}
	}
}
