package main

import compactordv1 "github.com/compactord/compactord/proto/compactord/v1"

func said(role compactordv1.Role, text string) *compactordv1.Message {
	return &compactordv1.Message{Role: role, Parts: []*compactordv1.Part{textPart(text)}}
}

func textPart(text string) *compactordv1.Part {
	return &compactordv1.Part{Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: text}}}
}

func block(name string, place compactordv1.BlockPlace, text string) *compactordv1.ContextBlock {
	return &compactordv1.ContextBlock{Name: name, Place: place, Parts: []*compactordv1.Part{textPart(text)}}
}

// step is a call of a tool and its result.
func step(id, tool, arguments, result string) []*compactordv1.Message {
	return []*compactordv1.Message{
		call(id, tool, arguments),
		{Role: compactordv1.Role_ROLE_TOOL, Parts: []*compactordv1.Part{{Kind: &compactordv1.Part_ToolResult{
			ToolResult: &compactordv1.ToolResult{CallId: id, Parts: []*compactordv1.ResultPart{
				{Kind: &compactordv1.ResultPart_Text{Text: &compactordv1.TextPart{Text: result}}},
			}},
		}}}},
	}
}

func call(id, tool, arguments string) *compactordv1.Message {
	return &compactordv1.Message{Role: compactordv1.Role_ROLE_ASSISTANT, Parts: []*compactordv1.Part{
		{Kind: &compactordv1.Part_ToolCall{ToolCall: &compactordv1.ToolCall{Id: id, Name: tool, Arguments: arguments}}},
	}}
}
