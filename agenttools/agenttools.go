// Package agenttools runs the tools with which an agent's model reads its own conversation again, also what its view no
// longer shows, and folds what it has finished. Their definitions and texts are those of the clients for other languages.
package agenttools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/compactord/compactord/clients"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Names of tools.
const (
	// Recall reads content of the log word for word.
	Recall = "recall_content"
	// Search searches all of the log, and those of the session's children.
	Search = "search_messages"
	// Fold shows finished work, from a checkpoint on, as the model's own text.
	Fold = "fold_since"
	// DMail takes the conversation back to a checkpoint, with a message. Only the loop of an agent can do that, between two
	// steps: Call does not know it.
	DMail = "send_dmail"
)

// ErrNoTool means that there is no tool with a name.
var ErrNoTool = errors.New("no tool has this name")

// defined are the tools of the clients.
var defined = sync.OnceValue(func() []*Definition {
	all, err := ParseDefinitions(clients.Tools)
	if err != nil {
		// A test parses what is embedded.
		panic(fmt.Sprintf("clients/tools.json: %v", err))
	}
	return all
})

// DefinitionOf returns the definition of a tool; ErrNoTool where there is none.
func DefinitionOf(tool string) (*Definition, error) {
	at := slices.IndexFunc(defined(), func(d *Definition) bool { return d.Name == tool })
	if at < 0 {
		return nil, fmt.Errorf("%s: %w", tool, ErrNoTool)
	}
	return defined()[at], nil
}

// Tools runs the calls of the model of one session. It reads no other sessions than this one and its children.
type Tools struct {
	Sessions    compactordv1.SessionServiceClient
	Compactions compactordv1.CompactionServiceClient
	SessionID   string
}

// Output is what a call tells the model.
type Output struct {
	Text    string
	IsError bool
}

// Call runs a call of Recall, Search or Fold, with the arguments as the model wrote them. What the model can mend, such as
// wrong arguments, is an Output. An error is ErrNoTool, the context's error, or that of a daemon that cannot be reached or
// is broken.
func (t *Tools) Call(ctx context.Context, tool, arguments string) (Output, error) {
	run, ok := map[string]func(context.Context, Arguments) (string, error){
		Recall: t.recall, Search: t.search, Fold: t.fold,
	}[tool]
	if !ok {
		return Output{}, fmt.Errorf("%s: %w", tool, ErrNoTool)
	}
	definition, err := DefinitionOf(tool)
	if err != nil {
		return Output{}, err
	}
	given, err := definition.Parse(arguments)
	if err != nil {
		return refusal(tool, err)
	}
	text, err := run(ctx, given)
	if err != nil {
		return refusal(tool, err)
	}
	return Output{Text: text}, nil
}

// notDone are the names of the texts that say that a call did nothing.
var notDone = map[string]string{Recall: "not_recalled", Search: "not_searched", Fold: "not_folded"}

// refusal returns what a call that failed tells the model; the error where the model cannot mend it.
func refusal(tool string, err error) (Output, error) {
	var told toldError
	switch {
	case errors.As(err, &told):
		return Output{Text: told.text, IsError: true}, nil
	case IsOutage(err):
		return Output{}, err
	default:
		return Output{Text: Text(notDone[tool], "why", status.Convert(err).Message()), IsError: true}, nil
	}
}

// IsOutage reports whether a daemon did not do a call for a reason that another call of the model would not mend.
func IsOutage(err error) bool {
	var wrong *ArgumentError
	refused, ok := status.FromError(err)
	switch {
	case errors.As(err, &wrong):
		return false
	case !ok:
		return true
	}
	return slices.Contains([]codes.Code{
		codes.Unavailable, codes.DeadlineExceeded, codes.Canceled, codes.Unauthenticated, codes.PermissionDenied,
		codes.Internal, codes.DataLoss, codes.Unimplemented, codes.Unknown,
	}, refused.Code())
}

// toldError is an error with the whole text for the model.
type toldError struct{ text string }

func (e toldError) Error() string { return e.text }

// texts are the texts for the model by name.
var texts = sync.OnceValue(func() map[string]string {
	var all map[string]string
	if err := json.Unmarshal(clients.Texts, &all); err != nil {
		// A test parses what is embedded.
		panic(fmt.Sprintf("clients/texts.json: %v", err))
	}
	return all
})

// Text returns a text for the model by its name, with values for its placeholders: pairs of a placeholder's name and its
// value.
func Text(name string, values ...string) string {
	pairs := make([]string, 0, len(values))
	for i := 0; i+1 < len(values); i += 2 {
		pairs = append(pairs, "{"+values[i]+"}", values[i+1])
	}
	return strings.NewReplacer(pairs...).Replace(texts()[name])
}
