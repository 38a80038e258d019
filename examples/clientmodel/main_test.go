package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/e2e/daemontest"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/summarizers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// summary is a valid summary.
func summary() string {
	var b strings.Builder
	for _, h := range summarizers.Headings(summarizers.History, session.StandardSections()) {
		b.WriteString(strings.Repeat("#", h.Level) + " " + h.Title + "\nall is well\n")
	}
	return strings.TrimSpace(b.String())
}

// talked starts a daemon with a long session.
func talked(t *testing.T, changes ...func(*compactordv1.Policy)) *daemontest.Daemon {
	t.Helper()
	d := daemontest.Start(t, daemontest.Options{})
	policy := &compactordv1.Policy{Strategy: &compactordv1.Strategy{Kind: &compactordv1.Strategy_Summarize{
		Summarize: &compactordv1.SummarizeStrategy{RecentTurns: proto.Uint32(1)},
	}}}
	for _, change := range changes {
		change(policy)
	}
	var messages []*compactordv1.Message
	for range 10 {
		for _, role := range []compactordv1.Role{compactordv1.Role_ROLE_USER, compactordv1.Role_ROLE_ASSISTANT} {
			messages = append(messages, &compactordv1.Message{Role: role, Parts: []*compactordv1.Part{{
				Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: strings.Repeat("There is much to say. ", 40)}},
			}}})
		}
	}
	d.Create("s", policy, messages...)
	return d
}

func TestProgramAsModel(t *testing.T) {
	d := talked(t)
	file := filepath.Join(t.TempDir(), "answer.md")
	require.NoError(t, os.WriteFile(file, []byte(summary()), 0o600))
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), &out, d.Address, "s", []string{"cat", file}))
	require.Equal(t, "compacted from 4400 tokens to 553; the summary is by client\n", out.String())
	require.Contains(t, d.View("s")[0].GetMessage().GetParts()[0].GetText().GetText(), "all is well")
	require.ErrorContains(t, run(t.Context(), &out, d.Address, "s", []string{"cat", file}), "nothing to do: ")
	require.ErrorContains(t, run(t.Context(), &out, d.Address, "", nil), "name the session")
}

// A refused answer is asked for again with the complaint. The fallback writes after the last try.
func TestModelThatIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		answers []string
		by      string
	}{
		"once":        {[]string{"I'm sorry.", summary()}, "client"},
		"all along":   {[]string{"I'm sorry.", "I'm sorry.", "I'm sorry."}, "extractive"},
		"not at all":  {[]string{summary()}, "client"},
		"it is empty": {[]string{"", "", summary()}, "client"},
	} {
		t.Run(name, func(t *testing.T) {
			d := talked(t)
			asked := 0
			committed, err := compact(t.Context(), d.Compactions, "s",
				func(_ context.Context, system, user, complaint string) (string, error) {
					require.NotEmpty(t, system)
					require.Contains(t, user, "There is much to say.")
					require.Equal(t, asked > 0, complaint != "", complaint)
					asked++
					return c.answers[asked-1], nil
				})
			require.NoError(t, err)
			require.Equal(t, len(c.answers), asked)
			require.Equal(t, c.by, committed.GetCompleted().GetCompaction().GetProvenance().GetSummarizer())
		})
	}
}

// Without a fallback, the model is asked three times, and the error has the last complaint.
func TestModelThatNeverPasses(t *testing.T) {
	d := talked(t, func(p *compactordv1.Policy) {
		p.Summary = &compactordv1.SummaryPolicy{Fallback: compactordv1.SummaryFallback_SUMMARY_FALLBACK_FAIL.Enum()}
	})
	asked := 0
	_, err := compact(t.Context(), d.Compactions, "s", func(context.Context, string, string, string) (string, error) {
		if asked++; asked > 3 {
			return "", errors.New("asked once more")
		}
		return "I'm sorry.", nil
	})
	require.Equal(t, codes.FailedPrecondition, status.Code(err), err)
	require.ErrorContains(t, err, "passed the checks: ")
	require.Equal(t, 3, asked)
}
