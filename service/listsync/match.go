package listsync

import (
	"maps"
	"math"
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// piece is a stretch of what a session holds, in the order of a list.
type piece struct {
	// index is that of the message of the log; that of the first one, where the piece stands for several. own reports that
	// it stands for none, such as a summary.
	index uint32
	own   bool
	// optional reports that a list need not have it: the daemon wrote it, or views do not show it.
	optional bool
	// sequence is the message's place in the log.
	sequence uint32
	// forms are the keys by which a list may have it.
	forms [][]key
	// calls are the ids of its calls, as views show them, and results those of the calls whose results it has.
	calls, results []string
	// listed are the elements of an earlier list that it came from; nil where it is not the first message of them.
	listed *compactordv1.ListedElements
	// shortened reports that views never show the message as it is in the log.
	shortened bool
}

// sent is the messages of a list: the keys of all of them, one after the other, and where each message begins.
type sent struct {
	keys   []key
	starts []int
	// calls are the ids of their calls, one after the other, and callsBefore how many of them come before each message.
	calls       []string
	callsBefore []int
}

func (s *sent) add(keys []key, calls []string) {
	s.starts, s.callsBefore = append(s.starts, len(s.keys)), append(s.callsBefore, len(s.calls))
	s.keys, s.calls = append(s.keys, keys...), append(s.calls, calls...)
}

// match is what a list and pieces have in common.
type match struct {
	// keys is how many keys of the list are the same, and pieces how many pieces. found are those of them that the list has.
	keys, pieces int
	found        []found
	// aside are the pieces after these, where the list lacks one that it must have.
	aside []piece
	// message is the first message of the list that is new, and inside how many of its keys are not.
	message, inside int
}

// found is a piece that a list has: its position among the pieces, and where its keys are in the list.
type found struct {
	piece, start, end int
}

// matched compares a list with pieces.
func matched(list *sent, pieces []piece) match {
	m := match{}
	for ; m.pieces < len(pieces); m.pieces++ {
		p := pieces[m.pieces]
		length := longest(list.keys[m.keys:], p.forms)
		if length < 0 && !p.optional {
			break
		}
		if length >= 0 {
			m.found = append(m.found, found{m.pieces, m.keys, m.keys + length})
			m.keys += length
		}
	}
	for {
		m.place(list, pieces)
		if !slices.ContainsFunc(pieces[m.pieces:], piece.required) {
			return m
		}
		m.aside = pieces[m.pieces:]
		if !m.goBack(pieces) {
			return m
		}
	}
}

// required reports whether a list must have the piece.
func (p piece) required() bool { return p.logged() && !p.optional }

// logged reports whether the piece is a message of the log that says something.
func (p piece) logged() bool { return !p.own && len(p.forms) > 0 && len(p.forms[0]) > 0 }

// goBack leaves out of what was found what a Revert of the pieces aside puts aside, too: what stands after the last message
// that the list certainly has, and, since views show late results before what came earlier, what was written later. It
// returns false where there is none of that.
func (m *match) goBack(pieces []piece) bool {
	kept := len(m.found)
	for kept > 0 && m.found[kept-1].start == m.found[kept-1].end {
		kept--
	}
	point := m.target()
	for i, f := range m.found[:kept] {
		if p := pieces[f.piece]; !p.own && p.sequence > point {
			kept = i
			break
		}
	}
	before := m.pieces
	m.keep(kept)
	return m.pieces < before
}

// keep keeps the first of the pieces that were found.
func (m *match) keep(count int) {
	m.found, m.keys, m.pieces = m.found[:count], 0, 0
	if count > 0 {
		last := m.found[count-1]
		m.keys, m.pieces = last.end, last.piece+1
	}
}

// target returns the point before the first message that is put aside.
func (m *match) target() uint32 {
	first := uint32(math.MaxUint32)
	for _, p := range m.aside {
		if !p.own && p.sequence > 0 {
			first = min(first, p.sequence)
		}
	}
	return first - 1
}

// place finds the first message that is new.
func (m *match) place(list *sent, pieces []piece) {
	m.message, m.inside = len(list.starts), 0
	if m.keys == len(list.keys) {
		return
	}
	next, exact := slices.BinarySearch(list.starts, m.keys)
	if exact {
		m.message = next + m.silent(list, next)
		return
	}
	m.message = next - 1
	start := list.starts[m.message]
	m.inside = m.keys - start
	// A message that was changed replaces the old one as a whole, unless it was merged with one that the log has not.
	before := slices.IndexFunc(m.found, func(f found) bool { return f.start == start })
	if before < 0 || pieces[m.found[before].piece].own {
		return
	}
	first := m.found[before].piece
	m.keep(before)
	m.pieces, m.inside = first, 0
}

// silent returns how many messages without keys, from one on, stand for the pieces without keys that were found last.
func (m *match) silent(list *sent, next int) int {
	silent := 0
	for i := len(m.found) - 1; i >= 0 && m.found[i].start == m.found[i].end; i-- {
		silent++
	}
	empty := 0
	for at := next; empty < silent && at+1 < len(list.starts) && list.starts[at+1] == list.starts[at]; at++ {
		empty++
	}
	return empty
}

// longest returns the length of the longest form with which the keys begin; -1 where there is none.
func longest(keys []key, forms [][]key) int {
	best := -1
	for _, form := range forms {
		if len(form) > best && len(form) <= len(keys) && slices.Equal(keys[:len(form)], form) {
			best = len(form)
		}
	}
	return best
}

// renamed returns, for calls that the list and the log have in common, the log's id by the list's, where these differ.
// Results that come later name the list's.
func (m *match) renamed(list *sent, pieces []piece) map[string]string {
	left := list.calls
	if m.message < len(list.callsBefore) {
		left = left[:list.callsBefore[m.message]]
	}
	ids := make(map[string]string)
	for _, f := range slices.Backward(m.found) {
		for _, logged := range slices.Backward(pieces[f.piece].calls) {
			if len(left) == 0 {
				break
			}
			given := left[len(left)-1]
			left = left[:len(left)-1]
			if _, known := ids[given]; !known {
				ids[given] = logged
			}
		}
	}
	maps.DeleteFunc(ids, func(given, logged string) bool { return given == logged })
	return ids
}
