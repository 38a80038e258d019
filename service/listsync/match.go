package listsync

import (
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
	// calls are the ids of its calls, as views show them.
	calls []string
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
	found        []int
	// aside are the pieces that the list lacks, from the first one that it must have.
	aside []piece
	// message is the first message of the list that is new, and inside how many of its keys are not.
	message, inside int
}

// matched compares a list with pieces.
func matched(list *sent, pieces []piece) match {
	m := match{}
	began := make([]int, 0, len(pieces))
	for ; m.pieces < len(pieces); m.pieces++ {
		p := pieces[m.pieces]
		form := longest(list.keys[m.keys:], p.forms)
		if form < 0 && !p.optional {
			break
		}
		began = append(began, m.keys)
		if form >= 0 {
			m.found = append(m.found, m.pieces)
			m.keys += form
		}
	}
	m.place(list, pieces, began)
	m.aside = required(pieces[m.pieces:])
	for m.goBack(pieces, began) {
		m.place(list, pieces, began)
		m.aside = required(pieces[m.pieces:])
	}
	return m
}

// goBack goes back before the first piece that a Revert of those aside would put aside, too: views show late results before
// what came earlier. It returns false where there is none.
func (m *match) goBack(pieces []piece, began []int) bool {
	if len(m.aside) == 0 {
		return false
	}
	point := m.target()
	for at, piece := range m.found {
		if p := pieces[piece]; !p.own && p.sequence > point {
			m.keys, m.pieces, m.inside, m.found = began[piece], piece, 0, m.found[:at]
			return true
		}
	}
	return false
}

// target returns the point before the first message that the list lacks.
func (m *match) target() uint32 {
	first := m.aside[0].sequence
	for _, p := range m.aside {
		if !p.own && len(p.forms) > 0 {
			first = min(first, p.sequence)
		}
	}
	return first - 1
}

// place finds the first message that is new. began has where in the list each piece begins.
func (m *match) place(list *sent, pieces []piece, began []int) {
	next, exact := slices.BinarySearch(list.starts, m.keys)
	switch {
	case m.keys == len(list.keys):
		m.message = len(list.starts)
		return
	case exact:
		m.message = next + m.silent(list, pieces, next)
		return
	}
	m.message = next - 1
	start := list.starts[m.message]
	m.inside = m.keys - start
	// A message that was changed replaces the old one as a whole, unless it was merged with one that the log has not.
	before, known := slices.BinarySearch(began, start)
	if !known || pieces[before].own {
		return
	}
	m.keys, m.pieces, m.inside = start, before, 0
	m.found = slices.DeleteFunc(m.found, func(at int) bool { return at >= before })
}

// silent returns how many messages without keys, from one on, stand for the pieces without keys that were found last.
func (m *match) silent(list *sent, pieces []piece, next int) int {
	silent := 0
	for i := len(m.found) - 1; i >= 0 && len(pieces[m.found[i]].forms) > 0 && len(pieces[m.found[i]].forms[0]) == 0; i-- {
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

// required returns the pieces from the first one on that a list must have.
func required(pieces []piece) []piece {
	first := slices.IndexFunc(pieces, func(p piece) bool { return !p.optional && !p.own && len(p.forms) > 0 && len(p.forms[0]) > 0 })
	if first < 0 {
		return nil
	}
	return pieces[first:]
}

// renamed returns, for calls that the list and the log have in common, the log's id by the list's, where these differ.
// Results that come later name the list's.
func (m *match) renamed(list *sent, pieces []piece) map[string]string {
	sent := list.calls
	if m.message < len(list.callsBefore) {
		sent = sent[:list.callsBefore[m.message]]
	}
	ids := make(map[string]string)
	for i := len(m.found) - 1; i >= 0 && len(sent) > 0; i-- {
		calls := pieces[m.found[i]].calls
		for at := len(calls) - 1; at >= 0 && len(sent) > 0; at-- {
			last := sent[len(sent)-1]
			sent = sent[:len(sent)-1]
			if _, known := ids[last]; !known {
				ids[last] = calls[at]
			}
		}
	}
	for sent, logged := range ids {
		if sent == logged {
			delete(ids, sent)
		}
	}
	return ids
}
