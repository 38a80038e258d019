package conversation

import (
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/dialects/transcript"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// heldBytes is the size of the largest file of which an import holds all messages. A larger one is read twice: first to its
// end, so that an error there is known before anything is stored, and again while its messages are stored.
const heldBytes = 32 << 20

// errShrunk means that a file has fewer messages when it is read again.
var errShrunk = errors.New("it has changed while it was imported: it has fewer messages now")

// scan reads a transcript to its end, and holds none of its messages. They are read again by another reader.
func (t *Transcript) scan(reader *transcript.Reader, again func() (*transcript.Reader, error)) error {
	for {
		_, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		t.count++
	}
	var err error
	t.again, err = again()
	return err
}

// Count returns how many messages the file has.
func (t *Transcript) Count() int { return t.count }

// Close closes the file where it is read again.
func (t *Transcript) Close() error {
	if t.again == nil {
		return nil
	}
	return t.again.Close()
}

// from returns messages from an index on, which are in memory: all, or at least as many as a batch has. Those before it are not
// needed any more.
func (t *Transcript) from(index int) ([]*compactordv1.Message, error) {
	if t.again == nil {
		return t.Messages[index:], nil
	}
	t.Messages, t.first = t.Messages[index-t.first:], index
	size := 0
	for _, m := range t.Messages {
		size += proto.Size(m)
	}
	for len(t.Messages) <= BatchMessages && size <= batchBytes && t.first+len(t.Messages) < t.count {
		m, err := t.again.Next()
		if errors.Is(err, io.EOF) {
			err = errShrunk
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", terminal.Culprit(t.Name, err), err)
		}
		t.Messages = append(t.Messages, m)
		size += proto.Size(m)
	}
	return t.Messages, nil
}

// take returns the message at an index, and releases it from memory. Messages are taken in their order.
func (t *Transcript) take(index int) (*compactordv1.Message, error) {
	if index-t.first >= len(t.Messages) {
		if _, err := t.from(index); err != nil {
			return nil, err
		}
	}
	at := index - t.first
	m := t.Messages[at]
	t.Messages[at] = nil
	return m, nil
}
