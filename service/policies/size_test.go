package policies_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/policies"
)

// manyFileTools returns a policy with this many bytes of names of file tools, or a few more.
func manyFileTools(bytes int) *compactordv1.Policy {
	tools := &compactordv1.FileTools{}
	for range bytes / 256 {
		tools.Tools = append(tools.Tools, &compactordv1.FileTool{
			Names: []string{strings.Repeat("n", 240)}, PathArguments: []string{"p"},
		})
	}
	return &compactordv1.Policy{FileTools: tools}
}

func custom(parameters string) *compactordv1.Strategy {
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_Custom{
		Custom: &compactordv1.CustomStrategy{Name: "ours", ParametersJson: parameters},
	}}
}

// chained returns a policy whose second strategy on append has these parameters.
func chained(parameters string) *compactordv1.Policy {
	return &compactordv1.Policy{OnAppend: &compactordv1.StrategyList{
		Strategies: []*compactordv1.Strategy{custom("{}"), custom(parameters)},
	}}
}

func TestCheckSize(t *testing.T) {
	t.Parallel()
	texts := func(override, contexts, tools int) *compactordv1.Policy {
		s := &compactordv1.SummaryPolicy{
			PromptOverride: proto.String(strings.Repeat("o", override)),
			ToolsJson:      proto.String(strings.Repeat("t", tools)),
			ExtraContext:   &compactordv1.TextList{},
		}
		for range contexts {
			s.ExtraContext.Texts = append(s.ExtraContext.Texts, strings.Repeat("c", 65536))
		}
		return &compactordv1.Policy{Summary: s}
	}
	third := strings.Repeat("p", 30<<10)
	for name, test := range map[string]struct {
		policy *compactordv1.Policy
		field  string
	}{
		"none":                  {nil, ""},
		"small":                 {manyFileTools(60 << 10), ""},
		"large":                 {manyFileTools(70 << 10), "policy.file_tools.tools"},
		"long name":             {&compactordv1.Policy{Preset: proto.String(strings.Repeat("p", 70<<10))}, "policy.preset"},
		"one whole text each":   {texts(65536, 1, 1<<20), ""},
		"texts are large":       {texts(65536, 16, 1<<20), "policy.summary"},
		"long parameters":       {chained(strings.Repeat("p", 70<<10)), "policy.on_append.strategies[1].custom.parameters_json"},
		"three long fields":     {&compactordv1.Policy{Preset: proto.String(third), Strategy: custom(third), OnAppend: chained(third).GetOnAppend()}, "policy"},
		"texts count for texts": {&compactordv1.Policy{Summary: texts(65536, 0, 0).GetSummary(), FileTools: manyFileTools(70 << 10).GetFileTools()}, "policy.file_tools.tools"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, req := range []proto.Message{
				&compactordv1.CreateSessionRequest{Policy: test.policy},
				&compactordv1.UpdateSessionRequest{Policy: test.policy},
				&compactordv1.CompactRequest{Policy: test.policy},
				&compactordv1.GetLLMViewRequest{Policy: test.policy},
			} {
				err := policies.CheckSize(req)
				if test.field == "" {
					require.NoError(t, err)
					continue
				}
				var e *apierror.Error
				require.ErrorAs(t, err, &e)
				require.Len(t, e.Fields, 1)
				require.Equal(t, test.field, e.Fields[0].Field)
			}
		})
	}
	require.NoError(t, policies.CheckSize(&compactordv1.GetSessionRequest{}), "a request without a policy")
}
