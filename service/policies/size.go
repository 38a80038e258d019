package policies

import (
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
)

// A session's answer holds its policy twice, as given and as resolved. With these bounds it stays below gRPC's usual
// limit of 4 MB.
const (
	// MaxBytes is the largest encoding of a policy in a request, without the texts for prompts.
	MaxBytes = 64 << 10
	// MaxTextBytes is the most bytes that a policy's texts for prompts may have together.
	MaxTextBytes = 1280 << 10
)

// CheckSize refuses a request with a policy that is too large. Its error names the field that has most of it. Policies
// that are stored already are not checked: an earlier version took larger ones.
func CheckSize(req proto.Message) error {
	with, ok := req.(interface{ GetPolicy() *compactordv1.Policy })
	if !ok || with.GetPolicy() == nil {
		return nil
	}
	p := with.GetPolicy()
	texts := promptTexts(p)
	if texts > MaxTextBytes {
		return apierror.InvalidField("policy.summary", fmt.Sprintf(
			"prompt_override, extra_context and tools_json have more than %d KiB together", MaxTextBytes>>10))
	}
	if size := proto.Size(p) - texts; size > MaxBytes {
		return apierror.InvalidField(largestField(p), fmt.Sprintf(
			"the policy has more than %d KiB without the texts for prompts", MaxBytes>>10))
	}
	return nil
}

// promptTexts returns the bytes of the texts that go into prompts as they are.
func promptTexts(p *compactordv1.Policy) int {
	summary := p.GetSummary()
	if summary == nil {
		return 0
	}
	return proto.Size(&compactordv1.SummaryPolicy{
		PromptOverride: summary.PromptOverride, ExtraContext: summary.GetExtraContext(), ToolsJson: summary.ToolsJson,
	})
}

// largestField returns the path of the field, or of the element of a list, that has more than half of the policy's bytes,
// and no part of its own that has. It is "policy" when no field has so many. The texts for prompts are left aside.
func largestField(p *compactordv1.Policy) string {
	half := (proto.Size(p) - promptTexts(p)) / 2
	if s := p.GetSummary(); s != nil {
		p = proto.CloneOf(p)
		p.Summary.PromptOverride, p.Summary.ExtraContext, p.Summary.ToolsJson = nil, nil, nil
	}
	return "policy" + largestIn(p.ProtoReflect(), half)
}

// largestIn returns where in a message something has more bytes than this: a path that begins with a point, or nothing.
func largestIn(m protoreflect.Message, bytes int) string {
	path := ""
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if sizeIn(m, f, v) <= bytes {
			return true
		}
		path = "." + string(f.Name())
		switch {
		case f.IsList():
			path += largestElement(m, f, v.List(), bytes)
		case f.Message() != nil && !f.IsMap():
			path += largestIn(v.Message(), bytes)
		}
		return false
	})
	return path
}

func largestElement(m protoreflect.Message, f protoreflect.FieldDescriptor, l protoreflect.List, bytes int) string {
	for i := range l.Len() {
		alone := m.New()
		alone.Mutable(f).List().Append(l.Get(i))
		if proto.Size(alone.Interface()) <= bytes {
			continue
		}
		path := fmt.Sprintf("[%d]", i)
		if f.Message() != nil {
			path += largestIn(l.Get(i).Message(), bytes)
		}
		return path
	}
	return ""
}

// sizeIn returns the bytes that a field of a message has in its encoding.
func sizeIn(m protoreflect.Message, f protoreflect.FieldDescriptor, v protoreflect.Value) int {
	alone := m.New()
	alone.Set(f, v)
	return proto.Size(alone.Interface())
}
