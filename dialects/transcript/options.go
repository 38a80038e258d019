package transcript

import "io"

// Option changes how a transcript is read.
type Option func(*options)

type options struct {
	format  Format
	strict  bool
	session int
	through func(io.Reader) io.Reader
}

// As reads a transcript of a format that is known. What is not of that format is a *LineError. Default: the format is
// recognized.
func As(id Format) Option { return func(o *options) { o.format = id } }

// Through makes OpenFile read each file through a reader that wrap makes of it, such as one that counts bytes.
func Through(wrap func(io.Reader) io.Reader) Option { return func(o *options) { o.through = wrap } }

// Strict refuses what cannot be read with a *LineError. Default: what a crash or a full disk left of a line (no JSON, a piece
// of it, half a character) is left out, and so is a record or a field that cannot be read; a line of text stands in the
// place of a part. The notes tell of all of these.
func Strict() Option { return func(o *options) { o.strict = true } }

// Select reads the n-th session, from 1, of an input that holds several. Default: the only one; a *SessionsError where
// there are more.
func Select(n int) Option { return func(o *options) { o.session = n } }

func optionsOf(list []Option) options {
	var o options
	for _, option := range list {
		option(&o)
	}
	return o
}
