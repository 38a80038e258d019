package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// SessionsError means that the input has several sessions and none was selected, or that the selected one does not
// exist.
type SessionsError struct {
	// Count is the number of sessions.
	Count int
	// Selected is the number of the selected session, from 1, or 0 where none was.
	Selected int
}

func (e *SessionsError) Error() string {
	switch {
	case e.Selected == 0:
		return fmt.Sprintf("the input holds %d sessions, and only one can be read: select one, from 1 to %d", e.Count, e.Count)
	case e.Count == 1:
		return fmt.Sprintf("there is no session %d: the input holds 1", e.Selected)
	default:
		return fmt.Sprintf("there is no session %d: the input holds %d", e.Selected, e.Count)
	}
}

// choose returns the selected session, or the only one. next returns the sessions one by one, and then io.EOF. Its
// bytes are valid until the next call. choose reads all later sessions, too, to count them.
func (o options) choose(next func() (json.RawMessage, error)) (json.RawMessage, error) {
	wanted := max(o.session, 1)
	var chosen json.RawMessage
	for count := 0; ; count++ {
		session, err := next()
		switch {
		case errors.Is(err, io.EOF) && (count < wanted || o.session == 0 && count > 1):
			return nil, &SessionsError{Count: count, Selected: o.session}
		case errors.Is(err, io.EOF):
			return chosen, nil
		case err != nil:
			return nil, err
		}
		if count+1 == wanted {
			chosen = bytes.Clone(session)
		}
	}
}
