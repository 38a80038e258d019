package listsync

import (
	"bytes"
	"context"
	"slices"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/intake"
	"github.com/compactord/compactord/session"
)

// plan is what a sync is going to write to a session as it is now.
type plan struct {
	uid   string
	point uint32
	list  *list
	match
	// pieces are those that the list was compared with.
	pieces []piece
	// knownBefore is how many elements come before those that were compared.
	knownBefore int
	// view reports that the list begins with a view.
	view bool
	// lead is the new instructions; newLead reports that there are some.
	lead    []*compactordv1.Message
	newLead bool
	// fresh is the messages to append.
	fresh *intake.List
	// lacking is what must be sent first; nil where nothing is.
	lacking *compactordv1.LackingElements
}

// clean reports whether the log need not go back.
func (p *plan) clean() bool { return len(p.aside) == 0 }

// plan compares a list with a session.
func (s *Syncer) plan(
	ctx context.Context, row *storagev1.Session, l *list, kind compactordv1.Dialect,
) (*plan, error) {
	own := *l
	p := &plan{uid: row.GetUid(), point: session.Point(row.GetHead()), list: &own}
	if goesOn(row, p.list) {
		return p, s.compareRest(ctx, row, p)
	}
	return p, s.compareWhole(ctx, row, p, kind)
}

// compareRest compares what follows the last list, with which this one begins, with what the log holds since.
func (s *Syncer) compareRest(ctx context.Context, row *storagev1.Session, p *plan) (err error) {
	l, last := p.list, row.GetSynced()
	l.leading = int(last.GetLeading())
	leadKnown := bytes.Equal(last.GetLeadingHash(), l.leadingHash(l.leading))
	if sent := l.content == 0 || l.named >= l.leading; !leadKnown && !sent {
		p.lack(len(l.digests), l.leading)
		return nil
	}
	p.knownBefore = int(last.GetElements())
	if l.content > p.knownBefore {
		p.lack(p.knownBefore, 0)
		return nil
	}
	if p.pieces, err = logPieces(ctx, s.Logs, row, last.GetNextIndex()); err != nil {
		return err
	}
	if l.content < p.knownBefore {
		// Read as a part of the whole, a message can begin before these elements and end after them.
		if p.list, err = s.after(ctx, l, p.knownBefore); err != nil {
			return err
		}
	}
	p.match = matched(p.list.sent, p.pieces)
	return s.compareLead(ctx, row, p, leadKnown, nil)
}

func (p *plan) lack(first, leading int) {
	p.lacking = &compactordv1.LackingElements{First: uint32(first), Leading: uint32(leading)}
}

// goesOn reports whether a list begins with the last one, which the log still holds.
func goesOn(row *storagev1.Session, l *list) bool {
	last := row.GetSynced()
	elements, leading := int(last.GetElements()), int(last.GetLeading())
	return elements > 0 && elements <= len(l.digests) && row.GetHead().GetLastRevert() <= last.GetPoint() &&
		bytes.Equal(last.GetHash(), hashed(l.digests[leading:elements]...))
}

// after returns the list after its first elements.
func (s *Syncer) after(ctx context.Context, l *list, elements int) (*list, error) {
	rest, err := s.readPart(ctx, l.req, elements, len(l.digests), nil)
	if err != nil {
		return nil, err
	}
	next := *l
	next.setRest(rest)
	return &next, nil
}

// compareWhole compares a list with the whole log, and with the views that it may begin with.
func (s *Syncer) compareWhole(ctx context.Context, row *storagev1.Session, p *plan, kind compactordv1.Dialect) error {
	all, err := logPieces(ctx, s.Logs, row, 0)
	if err != nil {
		return err
	}
	lead, l := row.GetHead().GetLeadEnd(), p.list
	afterLead := slices.IndexFunc(all, func(p piece) bool { return p.index >= lead })
	log := all[len(all):]
	if afterLead >= 0 {
		log = all[afterLead:]
	}
	if l.content > 0 {
		return s.compareNamed(ctx, row, p, all, log)
	}
	p.pieces = log
	p.match = matched(l.sent, p.pieces)
	var shown [][]key
	if !p.clean() {
		if shown, err = s.compareViews(ctx, row, p, kind, log); err != nil {
			return err
		}
	}
	return s.compareLead(ctx, row, p, false, shown)
}

// compareNamed compares a list whose first elements were given by their digest. all has the pieces of the whole log, and
// log those after the leading messages.
func (s *Syncer) compareNamed(ctx context.Context, row *storagev1.Session, p *plan, all, log []piece) error {
	l := p.list
	pieces := log
	// Where no leading message was sent, they are among the elements that only have digests.
	among := l.named == 0 && len(l.lead) == 0
	if among {
		if row.GetHead().GetInstructions() != nil {
			p.lack(0, 0)
			return nil
		}
		pieces = all
	}
	count, named := afterNamed(pieces, l.digests[l.named:l.content])
	if named < l.content-l.named {
		p.lack(l.named+named, l.named)
		return nil
	}
	if among {
		l.leading = elementsBefore(pieces, row.GetHead().GetLeadEnd())
	}
	p.pieces, p.knownBefore = pieces[count:], l.content
	p.match = matched(l.sent, p.pieces)
	if edited, err := s.edited(ctx, row, p); edited || err != nil {
		// Only content tells whether the list holds these messages as views show them.
		p.lack(0, 0)
		return err
	}
	return s.compareLead(ctx, row, p, false, nil)
}

// elementsBefore returns how many elements the messages before an index came from.
func elementsBefore(pieces []piece, index uint32) int {
	elements := 0
	for _, p := range pieces {
		if p.index < index {
			elements += int(p.listed.GetElements())
		}
	}
	return elements
}

// edited reports whether views may show the first message that a list lacks otherwise than the log has it, or elsewhere.
func (s *Syncer) edited(ctx context.Context, row *storagev1.Session, p *plan) (bool, error) {
	if p.clean() {
		return false, nil
	}
	if outOfPlace(p.aside) {
		return true, nil
	}
	first := p.aside[0]
	edits, err := s.Logs.Edits(ctx, row, first.index, first.index+1)
	return first.shortened || len(edits) > 0, err
}

// outOfPlace reports whether pieces have a result without its call. Views show such results at the call's place, or as text
// where that call is no longer open.
func outOfPlace(pieces []piece) bool {
	var calls []string
	for _, p := range pieces {
		for _, id := range p.results {
			if !slices.Contains(calls, id) {
				return true
			}
		}
		calls = append(calls, p.calls...)
	}
	return false
}

// compareViews compares a list with views, and takes the one with which it has most in common, if that is more than with
// the log. It returns the leading messages of the views that it has looked at.
func (s *Syncer) compareViews(
	ctx context.Context, row *storagev1.Session, p *plan, kind compactordv1.Dialect, log []piece,
) (leads [][]key, err error) {
	points, err := s.viewPoints(ctx, row)
	if err != nil {
		return nil, err
	}
	for _, point := range points {
		view, err := s.viewAt(ctx, row, point, kind, log)
		if err != nil {
			return nil, err
		}
		leads = append(leads, view.lead)
		if m := matched(p.list.sent, view.pieces); m.keys > p.keys || m.keys > 0 && m.keys == p.keys && len(m.aside) == 0 {
			p.match, p.pieces, p.view = m, view.pieces, true
		}
		if p.clean() {
			return leads, nil
		}
	}
	return leads, nil
}

// compareLead finds out whether the list has other instructions than the session.
func (s *Syncer) compareLead(
	ctx context.Context, row *storagev1.Session, p *plan, known bool, shown [][]key,
) error {
	if known || len(p.list.lead) == 0 {
		return nil
	}
	var keys []key
	for _, m := range p.list.lead {
		keys = append(keys, keysOf(m)...)
	}
	for _, lead := range shown {
		if slices.Equal(lead, keys) {
			return nil
		}
	}
	now, err := s.instructions(ctx, row)
	if err != nil {
		return err
	}
	var before []key
	for _, m := range now {
		before = append(before, keysOf(m)...)
	}
	if !slices.Equal(before, keys) {
		p.newLead, p.lead = true, p.list.lead
	}
	return nil
}

// instructions returns the instructions in force.
func (s *Syncer) instructions(ctx context.Context, row *storagev1.Session) ([]*compactordv1.Message, error) {
	if row.GetHead().GetInstructions() != nil {
		return s.Logs.Instructions(ctx, row, row.GetHead())
	}
	logged, err := s.Logs.MessagesBefore(ctx, row, row.GetHead().GetLeadEnd())
	var messages []*compactordv1.Message
	for _, l := range logged {
		messages = append(messages, l.GetMessage())
	}
	return messages, err
}
