package torture_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"github.com/compactord/compactord/e2e/daemontest"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// attacks are all attacks, each in full or so small that it takes a moment.
func attacks(full bool) []*attack {
	return []*attack{
		manyCompactions(full), largeTexts(full), manyMessages(full), slowPatterns(full), largeViews(full),
		linesToLargeSession(full), busyCores(full),
	}
}

// sized returns how much of something there is in a full attack, or in a small one.
func sized(full bool, much, little int) int {
	if full {
		return much
	}
	return little
}

func said(text string) *compactordv1.Message {
	return &compactordv1.Message{Role: compactordv1.Role_ROLE_USER, Parts: []*compactordv1.Part{
		{Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: text}}},
	}}
}

var vocabulary = strings.Fields(`the agent reads a file and finds that the test fails because path/to/file.go line 42 has
	an error: expected "value" but got nil; it changes the function, runs make test again, and all 17 tests pass`)

// prose is a text of this many bytes at least.
func prose(r *rand.Rand, bytes int) string {
	var b strings.Builder
	for b.Len() < bytes {
		b.WriteString(vocabulary[r.IntN(len(vocabulary))])
		b.WriteByte(" \n"[min(r.IntN(12)/11, 1)])
	}
	return b.String()
}

// manyCompactions compacts 128 sessions at once, and takes each compaction back to compact again.
func manyCompactions(full bool) *attack {
	const turns, resultBytes = 40, 4000
	clients := sized(full, 128, 2)
	session := func(i int) string { return fmt.Sprintf("compacted-%d", i) }
	return &attack{
		name: "128 compactions", clients: clients,
		prepare: func(t *testing.T, d *daemon, _ *rand.Rand) {
			t.Helper()
			for i := range clients {
				d.create(t, session(i), daemontest.Working(turns, resultBytes)...)
			}
		},
		strike: func(ctx context.Context, c *client) error {
			stream, err := c.compactions.Compact(ctx, &compactordv1.CompactRequest{
				Target: &compactordv1.CompactRequest_SessionId{SessionId: session(c.number)},
			})
			for err == nil {
				_, err = stream.Recv()
			}
			if !errors.Is(err, io.EOF) {
				return err
			}
			_, err = c.sessions.RevertToCheckpoint(ctx, &compactordv1.RevertToCheckpointRequest{
				SessionId: session(c.number), Target: &compactordv1.RevertToCheckpointRequest_Undo{Undo: true},
			})
			return err
		},
	}
}

// appending returns an attack of one client that appends the same messages to one session after another.
func appending(name string, messages func(r *rand.Rand) []*compactordv1.Message) *attack {
	var sent []*compactordv1.Message
	return &attack{
		name: name, clients: 1,
		prepare: func(_ *testing.T, _ *daemon, r *rand.Rand) { sent = messages(r) },
		strike: func(ctx context.Context, c *client) error {
			id := fmt.Sprintf("hot-%d", c.round)
			if _, err := c.sessions.CreateSession(ctx, &compactordv1.CreateSessionRequest{SessionId: id}); err != nil {
				return err
			}
			if _, err := c.sessions.AppendMessages(ctx, &compactordv1.AppendMessagesRequest{SessionId: id, Messages: sent}); err != nil {
				return err
			}
			_, err := c.sessions.DeleteSession(ctx, &compactordv1.DeleteSessionRequest{SessionId: id})
			return err
		},
	}
}

func largeTexts(full bool) *attack {
	return appending("texts of 16 MiB", func(r *rand.Rand) []*compactordv1.Message {
		return []*compactordv1.Message{said(prose(r, sized(full, 16<<20, 1<<20)))}
	})
}

func manyMessages(full bool) *attack {
	return appending("appends of 5,000 messages", func(r *rand.Rand) []*compactordv1.Message {
		var all []*compactordv1.Message
		for range sized(full, 5000, 500) {
			all = append(all, said(prose(r, 200)))
		}
		return all
	})
}

// slowPatterns searches for expressions that match little and cost much.
func slowPatterns(full bool) *attack {
	patterns := []string{`(\pL|\pN|\s){1,300}!`, `(a|e|i|o|u|.){1,400}\d{9}!`, `(.*)(.*)(.*)(.*)(.*)[#]`}
	return &attack{
		name: "slow patterns", clients: sized(full, 16, 2),
		prepare: func(t *testing.T, d *daemon, r *rand.Rand) {
			t.Helper()
			long := strings.ReplaceAll(prose(r, sized(full, 1<<20, 10<<10)), "\n", " ")
			d.create(t, "searched", said(long), said(prose(r, 4*len(long))))
		},
		strike: func(ctx context.Context, c *client) error {
			_, err := c.sessions.SearchMessages(ctx, &compactordv1.SearchMessagesRequest{
				SessionId: "searched",
				Query:     &compactordv1.SearchMessagesRequest_Pattern{Pattern: patterns[c.random.IntN(len(patterns))]},
			})
			return err
		},
	}
}

// largeSession creates a session of 20 MB with a window of 200,000 tokens.
func largeSession(t *testing.T, d *daemon, full bool) {
	t.Helper()
	const resultBytes = 10000
	d.create(t, "large", daemontest.Working(sized(full, 2000, 20), resultBytes)...)
	_, err := d.sessions.UpdateSession(t.Context(), &compactordv1.UpdateSessionRequest{
		SessionId: "large", Policy: &compactordv1.Policy{ContextWindow: proto.Uint32(200_000)},
		UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"policy"}},
	})
	require.NoError(t, err)
}

// largeViews draws the first page of views, neutral and in dialects.
func largeViews(full bool) *attack {
	return &attack{
		name: "large views", clients: sized(full, 16, 2),
		prepare: func(t *testing.T, d *daemon, _ *rand.Rand) {
			t.Helper()
			largeSession(t, d, full)
		},
		strike: func(ctx context.Context, c *client) error {
			_, err := c.compactions.GetLLMView(ctx, &compactordv1.GetLLMViewRequest{
				Target:  &compactordv1.GetLLMViewRequest_SessionId{SessionId: "large"},
				Dialect: compactordv1.Dialect(c.random.IntN(len(compactordv1.Dialect_name))),
			})
			return err
		},
	}
}

// linesToLargeSession appends lines to a session that is due for a compaction, which each append plans.
func linesToLargeSession(full bool) *attack {
	return &attack{
		name: "lines to a large session", clients: sized(full, 4, 2),
		prepare: func(t *testing.T, d *daemon, _ *rand.Rand) {
			t.Helper()
			largeSession(t, d, full)
		},
		strike: func(ctx context.Context, c *client) error {
			_, err := c.sessions.AppendMessages(ctx, &compactordv1.AppendMessagesRequest{
				SessionId: "large", Messages: []*compactordv1.Message{said("go on")},
			})
			return err
		},
	}
}

// busyCores keeps two cores busy outside of the daemon. What a bystander feels beside it is the machine: the ratios of other
// attacks that are no larger say nothing about the daemon.
func busyCores(full bool) *attack {
	const work = 10 * time.Millisecond
	return &attack{
		name: "busy cores elsewhere", clients: sized(full, 2, 1),
		strike: func(context.Context, *client) error {
			for began := time.Now(); time.Since(began) < work; {
				sha256.Sum256(nil)
			}
			return nil
		},
	}
}
