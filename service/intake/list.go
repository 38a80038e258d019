package intake

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
)

// List is messages that were read, before it is known which of them are new to a log.
type List struct {
	in *input
	// end is the position after the last element, and systemApart reports that the messages are a system prompt that
	// stands apart from the elements.
	end         int
	systemApart bool
}

// ReadList reads the elements of a list from a position to another: neutral messages, or a provider's JSON.
func (i *Intake) ReadList(ctx context.Context, part *compactordv1.CountedMessages, position, end int) (*List, error) {
	in, err := i.read(ctx, part, false)
	if err != nil {
		return nil, ofElements(err, position)
	}
	positions := make([]int, len(in.positions))
	for at, p := range in.positions {
		positions[at] = p + position
	}
	in.positions = positions
	for _, f := range in.findings {
		f.Message += uint32(position)
	}
	return &List{in: in, end: end, systemApart: position == end}, nil
}

// ofElements names, in the error for a malformed message, the element of the list that it is.
func ofElements(err error, position int) error {
	refused := &apierror.Error{}
	if !errors.As(err, &refused) || refused.Reason != compactordv1.ErrorReason_ERROR_REASON_INPUT_MALFORMED {
		return err
	}
	text, field := strings.TrimPrefix(refused.Message, "provider_json: "), "elements"
	if at, err := strconv.Atoi(refused.Metadata["message"]); err == nil && at >= 0 {
		text = strings.TrimPrefix(text, fmt.Sprintf("message %d: ", at))
		field = fmt.Sprintf("elements[%d]", position+at)
		refused.Metadata["message"] = strconv.Itoa(position + at)
	}
	refused.Message = field + ": " + text
	refused.Fields = []apierror.FieldViolation{{Field: field, Description: text}}
	return refused
}

// Messages returns the messages. They must not be changed.
func (l *List) Messages() []*compactordv1.Message { return l.in.messages }

// Position returns the position, in the whole list, of the element that a message came from.
func (l *List) Position(message int) int { return l.in.positions[message] }

// End returns the position after the last element.
func (l *List) End() int { return l.end }

// OfSystem reports that the messages are a system prompt that stands apart from the elements.
func (l *List) OfSystem() bool { return l.systemApart }

// To returns the messages before one.
func (l *List) To(message int) *List {
	next := *l
	in := *l.in
	if message < len(in.messages) {
		next.end = in.positions[message]
	}
	in.messages, in.positions, in.findings = in.messages[:message], in.positions[:message], nil
	next.in = &in
	return &next
}

// With returns the list with other messages in place of its own.
func (l *List) With(messages []*compactordv1.Message) *List {
	next := *l
	in := *l.in
	in.messages = messages
	next.in = &in
	return &next
}

// From returns the messages from one on, the first of them without some of its parts.
func (l *List) From(message, withoutParts int) *List {
	next := *l
	in := *l.in
	in.messages, in.positions = slices.Clone(in.messages[message:]), in.positions[message:]
	if withoutParts > 0 {
		rest := proto.CloneOf(in.messages[0])
		rest.Parts = rest.GetParts()[withoutParts:]
		in.messages[0] = rest
	}
	in.findings = nil
	for _, f := range l.in.findings {
		if len(in.positions) > 0 && int(f.GetMessage()) >= in.positions[0] {
			in.findings = append(in.findings, f)
		}
	}
	next.in = &in
	return &next
}

// CountAhead counts the messages by an estimator, before a session is locked.
func (l *List) CountAhead(ctx context.Context, e compactordv1.Estimator) error {
	counter, err := session.CounterFor(e)
	if err != nil {
		return err
	}
	l.in.estimator = e
	l.in.ahead, err = session.CountAhead(ctx, counter, l.in.messages...)
	return err
}

// AppendTo adds the messages to a write. view is the token of the view that they were made from, or nil. logged is called
// with each message that joins the log. It returns the findings.
func (l *List) AppendTo(
	ctx context.Context, w *sessionlog.Write, view *session.ViewToken, logged func(m *compactordv1.LoggedMessage, at int),
) ([]*compactordv1.Finding, error) {
	in := l.in.unlinked()
	in.logged = logged
	if err := in.appendTo(ctx, w, view, nil); err != nil {
		return nil, err
	}
	return in.reported(), nil
}
