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

// As sets the format of a transcript. An input with another format is a *LineError. Default: the format is recognized.
func As(id Format) Option { return func(o *options) { o.format = id } }

// Through makes OpenFile read each file through the reader that wrap returns, such as one that counts bytes.
func Through(wrap func(io.Reader) io.Reader) Option { return func(o *options) { o.through = wrap } }

// Strict refuses what cannot be read with a *LineError. Default: lines that a crash or a full disk left incomplete (no
// JSON, a piece of it, half a character) are left out, and so are records and fields that cannot be read. A line of
// text replaces an unreadable part. The notes mention all of these.
func Strict() Option { return func(o *options) { o.strict = true } }

// Select reads the n-th session, from 1, of an input with several. Default: the only one, or a *SessionsError where
// there are more.
func Select(n int) Option { return func(o *options) { o.session = n } }

func optionsOf(list []Option) options {
	var o options
	for _, option := range list {
		option(&o)
	}
	return o
}
