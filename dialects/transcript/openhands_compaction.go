package transcript

import (
	"math"
	"time"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

var headCovered = noteText{
	one:  "1 condensation kept the beginning too, which its summary now covers",
	many: "%d condensations kept the beginning too, which their summaries now cover",
}

// condensation makes a record from a compaction of OpenHands, which forgets a range of events.
func (s *openHands) condensation(o rawjson.Object) ([]entry, error) {
	fields, err := openHandsFields(o, "args")
	if err != nil {
		return nil, err
	}
	c := compaction{tool: string(OpenHands)}
	if c.summary, err = fields.Text("summary"); err != nil {
		return nil, rawjson.In("args", err)
	}
	if c.at, err = writtenAt(o, time.Second); err != nil {
		return nil, err
	}
	first, last, err := forgottenEvents(fields)
	if err != nil {
		return nil, rawjson.In("args", err)
	}
	kept := s.firstBehind(last)
	c.firstKept = uint32(kept)
	made, ok := c.entry(s.notes)
	if !ok {
		return nil, nil
	}
	if s.keepsHead(first, kept) {
		s.notes.add(headCovered)
	}
	return []entry{made}, nil
}

// firstBehind returns the position of the first message after the last forgotten event.
func (s *openHands) firstBehind(last int64) int {
	kept := len(s.begun)
	for kept > 0 && int64(s.begun[kept-1].event) > last {
		kept--
	}
	return kept
}

// keepsHead reports whether messages before the forgotten ones are kept. System messages are always kept.
func (s *openHands) keepsHead(first int64, kept int) bool {
	for _, m := range s.begun[:kept] {
		if int64(m.event) < first && m.role != systemRole {
			return true
		}
	}
	return false
}

// forgottenEvents returns the first and the last id that a condensation forgets, from a list or a range. The last is -1
// where it forgets none.
func forgottenEvents(o rawjson.Object) (first, last int64, err error) {
	first, last = math.MaxInt64, -1
	forget := func(holder rawjson.Object, key string) error {
		id, err := holder.Count(key)
		if err == nil && holder.Has(key) {
			first, last = min(first, int64(id)), max(last, int64(id))
		}
		return err
	}
	for _, key := range []string{"forgotten_events_start_id", "forgotten_events_end_id"} {
		if err := forget(o, key); err != nil {
			return 0, 0, err
		}
	}
	ids, err := o.Elements("forgotten_event_ids")
	if err != nil {
		return 0, 0, err
	}
	for i, id := range ids {
		if err := forget(rawjson.Object{"id": id}, "id"); err != nil {
			return 0, 0, rawjson.In("forgotten_event_ids", rawjson.InElement(i, err))
		}
	}
	return first, last, nil
}
