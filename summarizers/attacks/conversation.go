package attacks

import (
	"fmt"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// conversation is the log of an agent that works with tools.
type conversation struct{ log []*compactordv1.LoggedMessage }

func (c *conversation) add(m *compactordv1.Message) {
	c.log = append(c.log, &compactordv1.LoggedMessage{Index: uint32(len(c.log)), Message: m, Tokens: 50})
}

func text(said string) *compactordv1.Part {
	return &compactordv1.Part{Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: said}}}
}

func (c *conversation) user(said string) {
	c.add(&compactordv1.Message{Role: compactordv1.Role_ROLE_USER, Origin: compactordv1.Origin_ORIGIN_CLIENT, Parts: []*compactordv1.Part{text(said)}})
}

func (c *conversation) says(said string) {
	c.add(&compactordv1.Message{Role: compactordv1.Role_ROLE_ASSISTANT, Parts: []*compactordv1.Part{text(said)}})
}

// aborted adds a message of the agent that ended in a provider's error.
func (c *conversation) aborted(problem string) {
	c.add(&compactordv1.Message{
		Role: compactordv1.Role_ROLE_ASSISTANT, StopReason: compactordv1.StopReason_STOP_REASON_ERROR, ErrorText: problem,
	})
}

func (c *conversation) runs(command, output string, failed bool) {
	c.calls("bash", object("command", command), output, failed)
}

func (c *conversation) calls(tool, arguments, output string, failed bool) {
	c.returns(tool, arguments, &compactordv1.ToolResult{
		IsError: failed, Parts: []*compactordv1.ResultPart{{Kind: &compactordv1.ResultPart_Text{Text: &compactordv1.TextPart{Text: output}}}},
	})
}

// declares adds a result that says which file the tool changed.
func (c *conversation) declares(path string) {
	c.returns("sync", `{"all":true}`, &compactordv1.ToolResult{Files: []*compactordv1.FileTouch{{Path: path, Modified: true}}})
}

func (c *conversation) returns(tool, arguments string, result *compactordv1.ToolResult) {
	id := fmt.Sprintf("c%d", len(c.log))
	c.add(&compactordv1.Message{Role: compactordv1.Role_ROLE_ASSISTANT, Parts: []*compactordv1.Part{
		{Kind: &compactordv1.Part_ToolCall{ToolCall: &compactordv1.ToolCall{Id: id, Name: tool, Arguments: arguments}}},
	}})
	result.CallId, result.Name = id, tool
	c.add(&compactordv1.Message{Role: compactordv1.Role_ROLE_TOOL, Parts: []*compactordv1.Part{
		{Kind: &compactordv1.Part_ToolResult{ToolResult: result}},
	}})
}
