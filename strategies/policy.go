package strategies

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// ErrPolicy says that a policy contradicts itself.
var ErrPolicy = errors.New("policy contradicts itself")

// PolicyError names the field that contradicts another. It is an ErrPolicy.
type PolicyError struct {
	// Field is the path of the field, such as `trigger.reserve_tokens`.
	Field string
	// What says what is wrong, with the figures.
	What string
}

func (e *PolicyError) Error() string { return fmt.Sprintf("%s: %s", e.Field, e.What) }

// Unwrap returns ErrPolicy.
func (e *PolicyError) Unwrap() error { return ErrPolicy }

// Merge returns a new policy: base with the fields that override sets. Messages are merged field by field; lists and oneofs
// are replaced as a whole. Either may be nil.
func Merge(base, override *compactordv1.Policy) *compactordv1.Policy {
	return mergePolicy(base, override)
}

// mergePolicy returns base with the fields that override sets. Messages are merged field by field; lists and oneofs are
// replaced as a whole.
func mergePolicy(base, override *compactordv1.Policy) *compactordv1.Policy {
	if base == nil {
		base = &compactordv1.Policy{}
	}
	merged := proto.CloneOf(base)
	if override != nil {
		merge(merged.ProtoReflect(), proto.CloneOf(override).ProtoReflect())
	}
	return merged
}

func merge(into, from protoreflect.Message) {
	from.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		nested := f.Kind() == protoreflect.MessageKind && !f.IsList() && !f.IsMap()
		if nested && !isOneofWhole(f) && into.Has(f) && !isWellKnown(f.Message()) && !isList(f.Message()) {
			merge(into.Mutable(f).Message(), v.Message())
			return true
		}
		into.Set(f, v)
		return true
	})
}

func isOneofWhole(f protoreflect.FieldDescriptor) bool {
	return f.ContainingOneof() != nil && !f.ContainingOneof().IsSynthetic()
}

// isList says whether a message only consists of a list. A given list replaces the other as a whole, even if it is
// empty: merged by field, an empty list would change nothing.
func isList(m protoreflect.MessageDescriptor) bool {
	return m.Fields().Len() == 1 && m.Fields().Get(0).IsList()
}

// isWellKnown says whether a message is one such as Duration, whose fields only have a meaning together.
func isWellKnown(m protoreflect.MessageDescriptor) bool {
	return m.ParentFile().Package() == "google.protobuf"
}

// checkPolicy returns a PolicyError if a resolved policy contradicts itself.
func checkPolicy(p *compactordv1.Policy) error {
	if err := checkNesting(p); err != nil {
		return err
	}
	if err := checkSections(p); err != nil {
		return err
	}
	t := p.GetTrigger()
	if p.ContextWindow == nil || t == nil || t.ReserveTokens == nil {
		return nil
	}
	if limit := session.ContextLimit(p); t.GetReserveTokens() >= limit {
		of := "a window"
		if limit < p.GetContextWindow() {
			of = "an input limit"
		}
		return &PolicyError{
			Field: "policy.trigger.reserve_tokens",
			What:  fmt.Sprintf("a reserve of %d tokens leaves nothing of %s of %d", t.GetReserveTokens(), of, limit),
		}
	}
	return nil
}
