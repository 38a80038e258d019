package requests

import (
	"context"
	"fmt"
	"sync"

	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/compactord/compactord/service/apierror"
)

// contractRules is one validator for all servers of a process. It compiles the rules of a message at its first use.
var contractRules = sync.OnceValues(func() (protovalidate.Validator, error) { return protovalidate.New() })

// CompileRules compiles the rules for requests of some kinds. Otherwise the first request of each kind waits for that.
func CompileRules(kinds ...proto.Message) {
	validator, err := contractRules()
	if err != nil {
		return // The first check says so.
	}
	for _, kind := range kinds {
		_ = validator.Validate(kind.ProtoReflect().New().Interface())
	}
}

const (
	// listsViolations is how many values a request may hold so that all its violations are found. Each takes about a
	// kilobyte, so of larger requests only the first one is.
	listsViolations = 10_000
	// lookEvery is after how many messages the rules look whether the call has ended.
	lookEvery = 64
)

// CheckFirst evaluates the contract's rules for a message that was made from a request, up to the first that it breaks. It
// stops when the context ends.
func CheckFirst(ctx context.Context, m proto.Message) error {
	return checkRules(ctx, m, listsViolations+1)
}

// checkRules evaluates the contract's rules for a request that holds so many values, and stops when the context ends.
func checkRules(ctx context.Context, req proto.Message, values int) error {
	if ctx.Err() != nil {
		return apierror.EndCause(ctx)
	}
	if keepsRules(req) {
		return nil
	}
	validator, err := contractRules()
	if err != nil {
		return fmt.Errorf("compile the contract's rules: %w", err)
	}
	until := &untilEnded{ended: func() bool { return ctx.Err() != nil }}
	options := []protovalidate.ValidationOption{protovalidate.WithFilter(until)}
	if values > listsViolations {
		options = append(options, protovalidate.WithFailFast())
	}
	err = validator.Validate(req, options...)
	if until.over {
		return apierror.EndCause(ctx)
	}
	return err
}

// untilEnded lets rules run until the call has ended.
type untilEnded struct {
	ended    func() bool
	messages int
	over     bool
}

// ShouldValidate says whether to go on.
func (u *untilEnded) ShouldValidate(_ protoreflect.Message, d protoreflect.Descriptor) bool {
	if _, isMessage := d.(protoreflect.MessageDescriptor); isMessage && !u.over {
		if u.messages++; u.messages%lookEvery == 0 {
			u.over = u.ended()
		}
	}
	return !u.over
}
