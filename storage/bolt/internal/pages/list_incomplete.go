package pages

import (
	"encoding/binary"
	"errors"
	"slices"
)

// WriteIncompleteList writes a commit that changes only the list of free pages, to one of none: so a file without a list
// that can be trusted can be written at once. Missing finds out later which pages it lacks, and CompleteList adds them.
func (s *Snapshot) WriteIncompleteList(f file) error { return s.writeList(f, nil, true) }

// LacksFree reports whether not all free pages are known: since WriteIncompleteList no commit has listed all. Where there is
// a list, it lacks some.
func (s *Snapshot) LacksFree() bool { return s.meta.LacksFree }

// Missing returns the pages that are neither in use nor in the list of free pages, nor the list itself: nobody who writes
// the file from this commit on knows them, so that they stay free. It reads what Used does, until ended reports true. The error
// is ErrUnknownUse where not all pages in use can be known.
func (s *Snapshot) Missing(ended func() bool) (missing []uint64, err error) {
	used := s.used(ended)
	list, err := s.freelist()
	switch {
	case err != nil:
		return nil, err
	case used.Unread() != nil:
		return nil, used.Unread()
	case !used.Whole():
		return nil, ErrUnknownUse
	}
	for at := 0; at < len(list); at += 8 {
		used.add(binary.NativeEndian.Uint64(list[at:]))
	}
	for n := range uint64(s.listPages()) {
		used.add(s.meta.Freelist + n)
	}
	for id := uint64(firstPage); id < s.meta.End; id++ {
		if !used.has(id) {
			missing = append(missing, id)
		}
	}
	return missing, nil
}

// ErrUnknownUse means that a page is damaged, and may lead to others.
var ErrUnknownUse = errors.New("a page is damaged, so that not all pages in use can be known")

// CompleteList writes a commit that changes only the list of free pages: to an incomplete one with the pages that it lacks.
// These must be what Missing has returned of the same commit, or of one from which on nobody has looked for free pages.
func (s *Snapshot) CompleteList(f file, missing []uint64) error {
	list, err := s.freelist()
	if err != nil {
		return err
	}
	free := slices.Clone(missing)
	for at := 0; at < len(list); at += 8 {
		free = append(free, binary.NativeEndian.Uint64(list[at:]))
	}
	for n := range uint64(s.listPages()) {
		free = append(free, s.meta.Freelist+n)
	}
	slices.Sort(free)
	twice := false
	for i := range len(free) - 1 {
		twice = twice || free[i] == free[i+1]
	}
	if twice || len(free) > 0 && free[len(free)-1] >= s.meta.End {
		return damaged(s.meta.Freelist, "the list of free pages has some of those that it should lack")
	}
	return s.writeList(f, free, false)
}
