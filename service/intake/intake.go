package intake

import (
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/overflow"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
)

// Intake reads what requests send.
type Intake struct {
	// Logs has the sessions that Append appends to.
	Logs *sessionlog.Logs
	// Dialects are those of provider JSON.
	Dialects map[compactordv1.Dialect]dialect.Dialect
	// Overflow says whether a model's answer is an overflow.
	Overflow  *overflow.Classifier
	Compactor Compactor
	// CheckFirst returns the first rule of the contract that a message breaks, and stops when the context ends.
	CheckFirst func(ctx context.Context, m proto.Message) error
	// MaxAnswerBytes limits the parts of a model's answer in a response.
	MaxAnswerBytes int
}

// Compactor is the part of compaction.Compactor that Intake needs.
type Compactor interface {
	// OnUserMessage applies policy.on_user_message to a write and returns its entry; nil where it changed nothing.
	OnUserMessage(ctx context.Context, w *sessionlog.Write) (*compactordv1.PruneEntry, error)
	// CheckProviderBlock refuses an item that its provider would not accept in place of a summary.
	CheckProviderBlock(block *compactordv1.OpaquePart, field string) error
}

// Dialect returns the dialect that a field of a request names.
func (i *Intake) Dialect(kind compactordv1.Dialect, field string) (dialect.Dialect, error) {
	if d, known := i.Dialects[kind]; known {
		return d, nil
	}
	return nil, apierror.NotImplemented(field)
}

// sent is a part of a request that has messages.
type sent interface {
	GetMessages() []*compactordv1.Message
	GetProviderJson() *compactordv1.ProviderJson
}

// read reads the messages of a request: neutral ones, or a provider's JSON.
func (i *Intake) read(ctx context.Context, from sent, strict bool) (*input, error) {
	if from.GetProviderJson() != nil {
		return i.providerInput(ctx, from.GetProviderJson(), strict)
	}
	return neutralInput(from.GetMessages(), strict)
}

// Counted returns the messages that a request wants counted.
func (i *Intake) Counted(ctx context.Context, given *compactordv1.CountedMessages) ([]*compactordv1.Message, error) {
	in, err := i.read(ctx, given, false)
	if err != nil {
		return nil, apierror.Within("messages", err)
	}
	return in.messages, nil
}
