package futurereference

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// mediaTokens is the size of an image.
const mediaTokens = 1200

// Tokens estimates the tokens of a text: four characters a token, rounded up.
func Tokens(text string) int { return (utf8.RuneCountInString(text) + 3) / 4 }

// contentText returns the text of a message or of its results, without calls and thinking.
func contentText(m *compactordv1.Message) string {
	var texts []string
	for _, p := range m.GetParts() {
		switch kind := p.GetKind().(type) {
		case *compactordv1.Part_Text:
			texts = append(texts, kind.Text.GetText())
		case *compactordv1.Part_ToolResult:
			for _, r := range kind.ToolResult.GetParts() {
				if text, is := r.GetKind().(*compactordv1.ResultPart_Text); is {
					texts = append(texts, text.Text.GetText())
				}
			}
		default:
		}
	}
	return strings.Join(texts, "\n")
}

// visibleText returns the text of a message and the values of its calls' arguments.
func visibleText(m *compactordv1.Message) string {
	texts := []string{contentText(m)}
	for _, p := range m.GetParts() {
		if call := p.GetToolCall(); call != nil {
			texts = append(texts, argumentsText(call.GetArguments()))
		}
	}
	return joined(texts)
}

// thinkingText returns the thinking of a message.
func thinkingText(m *compactordv1.Message) string {
	var texts []string
	for _, p := range m.GetParts() {
		if thinking := p.GetThinking(); thinking != nil {
			texts = append(texts, thinking.GetText())
		}
	}
	return joined(texts)
}

// joined joins the texts that are not empty.
func joined(texts []string) string {
	kept := texts[:0]
	for _, t := range texts {
		if t != "" {
			kept = append(kept, t)
		}
	}
	return strings.Join(kept, "\n")
}

// ShownText returns what a model reads of a message in a view: text, thinking, and calls with their arguments.
func ShownText(m *compactordv1.Message) string {
	texts := []string{contentText(m), thinkingText(m)}
	for _, p := range m.GetParts() {
		if call := p.GetToolCall(); call != nil {
			texts = append(texts, call.GetName(), argumentsText(call.GetArguments()))
		}
	}
	return joined(texts)
}

// messageTokens returns the size of a message without its thinking.
func messageTokens(m *compactordv1.Message) int {
	tokens := Tokens(contentText(m))
	for _, p := range m.GetParts() {
		switch kind := p.GetKind().(type) {
		case *compactordv1.Part_ToolCall:
			tokens += Tokens(kind.ToolCall.GetArguments()) + Tokens(kind.ToolCall.GetName())
		case *compactordv1.Part_Media:
			tokens += mediaTokens
		case *compactordv1.Part_ToolResult:
			for _, r := range kind.ToolResult.GetParts() {
				if r.GetMedia() != nil {
					tokens += mediaTokens
				}
			}
		default:
		}
	}
	return tokens
}

// argumentsText returns the strings among the arguments of a call, one a line; the arguments themselves if they are no
// JSON. Names of arguments are the tool's schema, and bare numbers its settings: neither is said in the conversation.
func argumentsText(arguments string) string {
	var texts []string
	err := walkJSON(arguments, func(kind jsonLeaf, text string) {
		if kind == jsonString {
			texts = append(texts, text)
		}
	})
	if err != nil {
		return arguments
	}
	return strings.Join(texts, "\n")
}

// schemaNames are the names of tools and arguments as far as the calls show them, and the bare numbers among the
// arguments. An agent knows them from its tools and not from the conversation.
func schemaNames(messages []*compactordv1.Message) map[string]bool {
	names := make(map[string]bool)
	for _, m := range messages {
		for _, p := range m.GetParts() {
			if result := p.GetToolResult(); result != nil {
				names[result.GetName()] = true
			}
			if call := p.GetToolCall(); call != nil {
				names[call.GetName()] = true
				addArgumentNames(names, call.GetArguments())
			}
		}
	}
	return names
}

func addArgumentNames(names map[string]bool, arguments string) {
	var found []string
	err := walkJSON(arguments, func(kind jsonLeaf, text string) {
		if kind != jsonString {
			found = append(found, text)
		}
	})
	if err != nil {
		return
	}
	for _, name := range found {
		names[name] = true
	}
}

// jsonLeaf is a part of a JSON text that walkJSON reports.
type jsonLeaf int

const (
	jsonString jsonLeaf = iota
	jsonKey
	jsonNumber
)

var errNotOneValue = errors.New("more than one JSON value")

// walkJSON reports the keys, strings and numbers of a JSON value in their order.
func walkJSON(text string, leaf func(kind jsonLeaf, text string)) error {
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.UseNumber()
	if err := walkValue(decoder, leaf); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errNotOneValue
	}
	return nil
}

func walkValue(decoder *json.Decoder, leaf func(kind jsonLeaf, text string)) error {
	token, err := decoder.Token()
	if err != nil {
		return err
	}
	switch value := token.(type) {
	case string:
		leaf(jsonString, value)
	case json.Number:
		leaf(jsonNumber, value.String())
	case json.Delim:
		for decoder.More() {
			if value == '{' {
				if err := walkKey(decoder, leaf); err != nil {
					return err
				}
			}
			if err := walkValue(decoder, leaf); err != nil {
				return err
			}
		}
		_, err = decoder.Token()
	}
	return err
}

func walkKey(decoder *json.Decoder, leaf func(kind jsonLeaf, text string)) error {
	token, err := decoder.Token()
	if key, is := token.(string); is {
		leaf(jsonKey, key)
	}
	return err
}
