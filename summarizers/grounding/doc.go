// Package grounding finds the names in a model's summary that its source does not have, and marks them. Models invent
// paths, identifiers and quotations, and a reader cannot tell these from the others.
//
//	c := grounding.New(text)
//	for _, source := range sources {
//		c.Read(source)
//	}
//	marked := c.Marked(c.Unsupported())
//
// A name is supported if the source has its words: those of a segment of a path, of an identifier or of a quotation next
// to each other, in any case and with any signs between them. So `src/a.go` supports `/repo/src/a.go` where the source
// names /repo elsewhere, and `readFile` supports `readFile()`. Numbers are not looked up, since models convert and add
// them. What is left unmarked is therefore not proven; what is marked does not occur.
//
// The work is linear in the texts: the source is read once, and only for the words of the summary's names.
package grounding
