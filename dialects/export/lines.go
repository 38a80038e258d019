// Package export writes conversations as JSON Lines of a provider's messages, or as Markdown for people.
package export

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"

	"github.com/compactord/compactord/dialects/dialect"
)

// Lines writes a list as JSON Lines: one message, item or content per line. A system prompt apart from the messages is
// on the first line, in a request body without messages, such as {"system":[...],"messages":[]}.
func Lines(w io.Writer, d dialect.Dialect, list *dialect.List) error {
	out := bufio.NewWriter(w)
	if len(list.System) > 0 {
		apart := d.Document(&dialect.List{System: list.System, SystemAsText: list.SystemAsText})
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

// line writes a value on one line. The original can have several.
func line(out *bufio.Writer, raw json.RawMessage) error {
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err := out.Write(b.Bytes())
	return err
}
