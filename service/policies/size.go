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

// CheckSize refuses a request with a policy that is too large. Its error names the largest field. Policies that are
// stored already are not checked: an earlier version took larger ones.
func CheckSize(req proto.Message) error {
	with, ok := req.(interface{ GetPolicy() *compactordv1.Policy })
	if !ok || with.GetPolicy() == nil {
		return nil
	}
	p := with.GetPolicy()
	texts := promptTexts(p)
	if texts > MaxTextBytes {
		return apierror.InvalidField("policy.summary", fmt.Sprintf(
			"prompt_override, extra_context and tools_json have %d bytes together; at most %d are accepted", texts, MaxTextBytes))
	}
	if size := proto.Size(p) - texts; size > MaxBytes {
		return apierror.InvalidField("policy."+largestField(p), fmt.Sprintf(
			"the policy has %d bytes without the texts for prompts, most of them in this field; at most %d are accepted",
			size, MaxBytes))
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

// largestField returns the name of the field with the largest encoding, the texts for prompts left aside.
func largestField(p *compactordv1.Policy) string {
	name, most := "preset", len(p.GetPreset())
	p.ProtoReflect().Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if f.Message() == nil {
			return true
		}
		size := proto.Size(v.Message().Interface())
		if f.Name() == "summary" {
			size -= promptTexts(p)
		}
		if size > most {
			name, most = string(f.Name()), size
		}
		return true
	})
	return name
}
