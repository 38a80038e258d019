package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// recognizeOpenHands recognizes a run with its history, a list of events, or the log of one completion.
func recognizeOpenHands(b beginning) verdict {
	switch {
	case isSDKEvent(b.Object):
		return yes
	case b.array:
		if isOpenHandsEvent(b.Object) && b.Has("source") {
			return yes
		}
		return no
	case isOpenHandsHistory(b.Object), isCompletionLog(b.Object):
		return yes
	}
	if run, err := b.Sub("metadata"); err == nil && run.Has("agent_class") {
		return yes
	}
	return no
}

func isOpenHandsEvent(o rawjson.Object) bool {
	return rawjson.KindOf(o["action"]) == rawjson.String || rawjson.KindOf(o["observation"]) == rawjson.String
}

// isOpenHandsHistory checks the first event. In old files it is a pair of an action and its observation.
func isOpenHandsHistory(o rawjson.Object) bool {
	events, err := o.Elements("history")
	if err != nil || len(events) == 0 {
		return false
	}
	if pair, err := rawjson.ParseArray(events[0]); err == nil && len(pair) > 0 {
		events = pair
	}
	first, err := rawjson.ParseObject(events[0])
	return err == nil && (isOpenHandsEvent(first) || isSDKEvent(first))
}

// openOpenHands reads one run of an output file, in which each line is a session. It also reads a list of events, or
// the messages and the response of a completion.
func openOpenHands(in *lines, b beginning) (source, error) {
	if isCompletionLog(b.Object) {
		return newCompletionLog(in), nil
	}
	s := newOpenHands(in.notes)
	if b.array {
		return s.source(in, newElements(in, "", nil)), nil
	}
	if isSDKEvent(b.Object) {
		return s.source(in, &eventDocuments{in: in}), nil
	}
	runs := openHandsRuns(in, b)
	line, count := 0, 0
	run, err := in.options.choose(func() (json.RawMessage, error) {
		raw, at, err := runs()
		if count++; count == max(in.options.session, 1) {
			line = at
		}
		return raw, err
	})
	if err != nil {
		return nil, err
	}
	o, err := rawjson.ParseObject(run)
	if err != nil {
		return nil, onLine(line, err)
	}
	in.notes.addMany(runField, len(o.Others("history")))
	if !o.Has("history") {
		// This run failed before its first event.
		o["history"] = json.RawMessage("[]")
	}
	events, err := newParsed(o, "history", line)
	if err != nil {
		return nil, err
	}
	return s.source(in, events), nil
}

// source returns a source that reads events one by one.
func (s *openHands) source(in *lines, events feed) source {
	s.from = &elementSource{notes: in.notes, feed: events, read: s.read, rest: s.rest}
	return s.from
}

// openHandsRuns returns a function that reads the next run, and the line on which it begins. A file with one run can
// have several lines.
func openHandsRuns(in *lines, b beginning) func() (json.RawMessage, int, error) {
	if b.line || !endsWithin(in) {
		return func() (json.RawMessage, int, error) {
			_, line, err := in.object()
			return line, in.line, err
		}
	}
	doc := &document{in: in}
	return func() (json.RawMessage, int, error) {
		if _, err := in.first(); errors.Is(err, io.EOF) {
			return nil, 0, err
		}
		first, err := doc.token()
		if err != nil {
			return nil, 0, err
		}
		raw, err := doc.value(first)
		return raw, doc.at, err
	}
}

// endsWithin reports whether the first line ends in the part of the input that was read to recognize it.
func endsWithin(in *lines) bool {
	// Peek never fails for what is buffered.
	seen, _ := in.in.Peek(in.in.Buffered())
	return bytes.IndexByte(seen, '\n') >= 0
}
