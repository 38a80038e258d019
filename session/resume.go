package session

import (
	"encoding/binary"
)

// Resume says where a view goes on whose client holds a part of it, with what is known of the whole view. So no page is
// drawn for the sake of another one.
type Resume struct {
	// At is the place of the next message.
	At Place
	// Leading reports whether all messages before have roles of leading messages.
	Leading bool
	// Figures are those of the whole view, where the head does not have them.
	Figures *ViewFigures
}

// ViewFigures are figures of a view and of its session.
type ViewFigures struct {
	// View are those of the view that was asked for, Session those of the session's view by its policy.
	View, Session Figures
}

const (
	resumeSize  = 2*4 + 1
	figuresSize = 2 * 7 * 4
)

// append appends the encoding, which begins with its length.
func (r *Resume) append(b []byte) []byte {
	size, leading := resumeSize, byte(0)
	if r.Figures != nil {
		size += figuresSize
	}
	if r.Leading {
		leading = 1
	}
	b = append(b, byte(size))
	b = binary.BigEndian.AppendUint32(b, r.At.Index)
	b = binary.BigEndian.AppendUint32(b, r.At.Skip)
	b = append(b, leading)
	if r.Figures != nil {
		for _, figures := range []*Figures{&r.Figures.View, &r.Figures.Session} {
			for _, figure := range all(figures) {
				b = binary.BigEndian.AppendUint32(b, *figure)
			}
		}
	}
	return b
}

// parseResume returns a Resume and what follows it; nil where there is none.
func parseResume(b []byte) (*Resume, []byte) {
	if len(b) == 0 || len(b) <= int(b[0]) {
		return nil, nil
	}
	size, rest := int(b[0]), b[1:]
	if size != resumeSize && size != resumeSize+figuresSize {
		return nil, nil
	}
	r := &Resume{
		At:      Place{Index: binary.BigEndian.Uint32(rest), Skip: binary.BigEndian.Uint32(rest[4:])},
		Leading: rest[8] == 1,
	}
	if size > resumeSize {
		r.Figures = &ViewFigures{}
		at := rest[resumeSize:]
		for _, figures := range []*Figures{&r.Figures.View, &r.Figures.Session} {
			for _, figure := range all(figures) {
				*figure, at = binary.BigEndian.Uint32(at), at[4:]
			}
		}
	}
	return r, rest[size:]
}
