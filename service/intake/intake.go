package intake

import (
	"context"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/overflow"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
)

// Intake takes in what requests send.
type Intake struct {
	// Logs hold the sessions that Append appends to.
	Logs *sessionlog.Logs
	// Dialects are those that provider JSON can have.
	Dialects map[compactordv1.Dialect]dialect.Dialect
	// Overflow tells whether the answer of a model is the error of a context that was too large.
	Overflow  *overflow.Classifier
	Compactor Compactor
	// MaxAnswerBytes bounds what a response tells of the answer of a model.
	MaxAnswerBytes int
}

// Compactor is what appending needs of compactions. compaction.Compactor is one.
type Compactor interface {
	// OnUserMessage adds to a write what policy.on_user_message says, and returns it; nil where there is nothing to hide.
	OnUserMessage(ctx context.Context, w *sessionlog.Write) (*compactordv1.PruneEntry, error)
	// CheckProviderBlock refuses an item that its provider would not take in place of a summary.
	CheckProviderBlock(block *compactordv1.OpaquePart, field string) error
}

// Dialect returns the dialect that a field of a request names.
func (i *Intake) Dialect(kind compactordv1.Dialect, field string) (dialect.Dialect, error) {
	if d, known := i.Dialects[kind]; known {
		return d, nil
	}
	return nil, apierror.NotImplemented(field)
}

// sent is the part of a request that has messages.
type sent interface {
	GetMessages() []*compactordv1.Message
	GetProviderJson() *compactordv1.ProviderJson
}

// read takes the messages of a request: neutral ones, or a provider's JSON.
func (i *Intake) read(from sent, strict bool) (*input, error) {
	if from.GetProviderJson() != nil {
		return i.providerInput(from.GetProviderJson(), strict)
	}
	return neutralInput(from.GetMessages(), strict)
}

// Counted are the messages that a request wants counted.
func (i *Intake) Counted(given *compactordv1.CountedMessages) ([]*compactordv1.Message, error) {
	in, err := i.read(given, false)
	if err != nil {
		return nil, apierror.Within("messages", err)
	}
	return in.messages, nil
}
