package service_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func touching(id, tool, path string) []*compactordv1.Message {
	return []*compactordv1.Message{
		assistant(long(300), call(id, tool, `{"path":"`+path+`"}`)), toolResult(id, long(300)),
	}
}

// Seed case 118: files that only the kept part touches are not in this entry's lists, but in those of the next.
func TestCase118FilesOfTheKeptPartComeWithTheNextEntry(t *testing.T) {
	t.Parallel()
	messages := append([]*compactordv1.Message{user(long(300))}, touching("1", "read", "covered.go")...)
	messages = append(messages, user(long(300)))
	messages = append(messages, touching("2", "edit", "kept.go")...)
	d, _ := caseDaemon(t, 700, messages...)
	first := d.completed(nil)
	require.Equal(t, []string{"covered.go"}, first.GetFiles().GetRead())
	require.Empty(t, first.GetFiles().GetModified())
	d.append("s", user(long(900)))
	second := d.completed(nil)
	require.Equal(t, []string{"covered.go"}, second.GetFiles().GetRead())
	require.Equal(t, []string{"kept.go"}, second.GetFiles().GetModified())
}

// Seed case 122: the files of the first part of a split turn are listed.
func TestCase122FilesOfASplitTurnAreListed(t *testing.T) {
	t.Parallel()
	messages := append([]*compactordv1.Message{user(long(300))}, touching("1", "write", "early.go")...)
	messages = append(messages, touching("2", "read", "late.go")...)
	d, _ := caseDaemon(t, 400, append(messages, assistant(long(500)))...)
	entry := d.completed(nil)
	require.NotNil(t, entry.SplitTurnStart)
	require.Contains(t, entry.GetFiles().GetModified(), "early.go")
}
