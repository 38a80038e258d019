// Package export writes conversations for others: as JSON Lines of a provider's messages, or as Markdown for people.
package export

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"

	"github.com/compactord/compactord/dialects/dialect"
)

// Lines writes a list as JSON Lines: one message, item or content a line. A system prompt that the dialect keeps apart
// stands on the first line, as the object that the request would hold it in, such as {"system":[...]}.
func Lines(w io.Writer, d dialect.Dialect, list *dialect.List) error {
	out := bufio.NewWriter(w)
	if len(list.System) > 0 {
		apart, err := systemLine(d, list)
		if err != nil {
			return err
		}
		if err := line(out, apart); err != nil {
			return err
		}
	}
	for _, raw := range list.Messages {
		if err := line(out, raw); err != nil {
			return err
		}
	}
	return out.Flush()
}

// systemLine is the request's part that holds the system prompt, without the messages.
func systemLine(d dialect.Dialect, list *dialect.List) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	only := d.Document(&dialect.List{System: list.System, SystemAsText: list.SystemAsText})
	if err := json.Unmarshal(only, &fields); err != nil {
		return nil, err
	}
	for key, value := range fields {
		if string(bytes.TrimSpace(value)) == "[]" {
			delete(fields, key)
		}
	}
	return json.Marshal(fields)
}

// line writes a value on a line of its own. As it was written it may be spread over several.
func line(out *bufio.Writer, raw json.RawMessage) error {
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err := out.Write(b.Bytes())
	return err
}
