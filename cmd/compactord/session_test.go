package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// storePath is the path of a store of the test's own, which is not there yet.
func storePath(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "store.db")
}

func TestImportedOnce(t *testing.T) {
	store, path := storePath(t), talkFile(t)
	r := ran(t, "import", path, "--session", "s", "--store", store, "--title", "Talk").ends(t, exitDone)
	require.Equal(t, "Imported 480 messages into session s, which holds 480 now.\n", r.out)
	ran(t, "import", path, "--session", "s", "--store", store).ends(t, exitNothing).
		says(t, `nothing to do: session "s" holds all of `+path+" already")
	other := file(t, "other.jsonl", talk(121))
	r = ran(t, "import", other, "--session", "s", "--store", store).ends(t, exitFailed).
		says(t, `session "s" holds 480 messages already, and they are not the first ones of `+other)
	require.NotContains(t, r.err, "WRONG_NEXT_INDEX")
	doc := document(t, ran(t, "import", path, "--session", "t", "--store", store, "--json").ends(t, exitDone).out)
	require.InDelta(t, 480, at(t, doc, "imported"), 0)
	require.Equal(t, "t", at(t, doc, "session", "session_id"))
}

func TestImportGoesOn(t *testing.T) {
	store, content := storePath(t), talk(300)
	lines := strings.SplitAfter(content, "\n")
	// What broke off after its first batch has that one batch in the store.
	first := file(t, "first.jsonl", strings.Join(lines[:batchMessages], ""))
	ran(t, "import", first, "--session", "s", "--store", store).ends(t, exitDone)
	r := ran(t, "import", file(t, "all.jsonl", content), "--session", "s", "--store", store).ends(t, exitDone)
	require.Equal(t, "Imported 700 messages into session s, which holds 1,200 now.\n", r.out)
	require.Contains(t, ran(t, "check", "--store", store).ends(t, exitDone).out, "is sound")
}

func TestImportIntoADaemonThatTakesLittle(t *testing.T) {
	d := serving(t, "--listen", "127.0.0.1:0", "--store", storePath(t), "--max-message-bytes", "4194304")
	line := `{"role":"user","content":"` + strings.Repeat("x", 500_000) + `"}` + "\n"
	path := file(t, "large.jsonl", strings.Repeat(line, 40))
	for _, code := range []int{exitDone, exitNothing} {
		ran(t, "import", path, "--session", "s", "--addr", d.addr, "-q").ends(t, code)
	}
	require.Contains(t, ran(t, "sessions", "--addr", d.addr).ends(t, exitDone).out, "s        40 ")
	require.Contains(t, ran(t, "view", "--session", "s", "--addr", d.addr).ends(t, exitDone).out, "40 messages")
	tooLarge := file(t, "huge.jsonl", strings.Replace(line, "x", strings.Repeat("x", 5_000_000), 1))
	ran(t, "import", tooLarge, "--session", "t", "--addr", d.addr).ends(t, exitFailed).
		says(t, " bytes and at most 4194304 are taken (LIMIT_EXCEEDED)\nThe daemon's limit is set with")
	require.Equal(t, exitDone, d.stop())
}

func TestBatches(t *testing.T) {
	of := func(bytes int) *compactordv1.Message {
		return &compactordv1.Message{Role: compactordv1.Role_ROLE_USER, Parts: []*compactordv1.Part{{
			Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: strings.Repeat("x", bytes)}},
		}}}
	}
	small := make([]*compactordv1.Message, 2*batchMessages)
	for i := range small {
		small[i] = of(1)
	}
	require.Len(t, nextBatch(small, batchMessages), batchMessages)
	large := []*compactordv1.Message{of(batchBytes / 2), of(batchBytes / 3), of(batchBytes / 3)}
	require.Len(t, nextBatch(large, batchMessages), 2)
	huge := []*compactordv1.Message{of(2 * batchBytes), of(1)}
	require.Len(t, nextBatch(huge, batchMessages), 1, "one message is a batch, however large")

	batch := func(next uint32, messages ...*compactordv1.Message) *compactordv1.AppendMessagesRequest {
		return &compactordv1.AppendMessagesRequest{ExpectedNextIndex: proto.Uint32(next), Messages: messages}
	}
	id, err := batchID(batch(7, small[:3]...))
	require.NoError(t, err)
	again, err := batchID(batch(7, proto.CloneOf(small[0]), small[1], small[2]))
	require.NoError(t, err)
	require.Equal(t, id, again)
	withRecord := batch(7, small[:3]...)
	withRecord.ImportedRecords = []*compactordv1.ImportedRecord{{AfterMessages: 1}}
	for _, other := range []*compactordv1.AppendMessagesRequest{batch(8, small[:3]...), withRecord} {
		otherID, err := batchID(other)
		require.NoError(t, err)
		require.NotEqual(t, id, otherID)
	}
}

// Each record goes with exactly one batch, with its place counted within it.
func TestRecordsOfBatches(t *testing.T) {
	at := func(after uint32) *compactordv1.ImportedRecord {
		return &compactordv1.ImportedRecord{AfterMessages: after}
	}
	records := []*compactordv1.ImportedRecord{at(0), at(2), at(4), at(5)}
	var places [][]uint32
	for _, batch := range [][2]uint32{{0, 2}, {2, 4}, {4, 5}} {
		var within []uint32
		for _, r := range recordsBetween(records, batch[0], batch[1]) {
			within = append(within, r.GetAfterMessages())
		}
		places = append(places, within)
	}
	require.Equal(t, [][]uint32{{0, 2}, {2}, {1}}, places)
}

func TestSessionOfAStore(t *testing.T) {
	store := storePath(t)
	on := func(args ...string) answer { return ran(t, append(args, "--store", store)...) }
	on("import", talkFile(t), "--session", "s", "--title", "Long \x1b[31mtalk").ends(t, exitDone)
	require.Contains(t, on("view", "--session", "s").ends(t, exitDone).out, "What the model sees of session s: 480 messages")
	r := on("compact", "--session", "s").ends(t, exitDone)
	require.Contains(t, r.out, "Compacted session s.")
	require.Contains(t, r.out, "of its source")
	on("compact", "--session", "s").ends(t, exitNothing).says(t, "nothing was appended since the last compaction")
	on("prune", "--session", "s").ends(t, exitNothing)
	r = on("sessions").ends(t, exitDone)
	require.Contains(t, r.out, "up to #")
	require.NotContains(t, r.out, "\x1b")
	doc := document(t, on("sessions", "--json", "--changed", "--limit", "5").ends(t, exitDone).out)
	sessions, ok := at(t, doc, "sessions").([]any)
	require.True(t, ok)
	require.Len(t, sessions, 1)
	require.Equal(t, "s", at(t, sessions[0], "session_id"))
	r = on("compact", "--session", "nope").ends(t, exitFailed).
		says(t, "compactord: no session \"nope\" (SESSION_NOT_FOUND)\nThe sessions that there are: compactord sessions --store "+store+"\n")
	require.NotContains(t, r.err, "rpc error")
}

func TestPrune(t *testing.T) {
	temporaryFolder(t)
	path := file(t, "long.jsonl", talk(300))
	r := ran(t, "prune", path).ends(t, exitDone)
	require.Contains(t, r.out, "Pruned "+path)
	require.Contains(t, r.out, "more\n")
	require.Contains(t, ran(t, "prune", path, "--dry-run").ends(t, exitDone).out, "Nothing was changed.")
	doc := document(t, ran(t, "prune", path, "--json").ends(t, exitDone).out)
	require.InDelta(t, 1200, at(t, doc, "messages"), 0)
	require.Contains(t, at(t, doc, "prune"), "edits")
	doc = document(t, ran(t, "prune", file(t, "short.jsonl", talk(2)), "--json").ends(t, exitNothing).out)
	require.Contains(t, at(t, doc, "skipped"), "reason")
}

func TestNoSessions(t *testing.T) {
	store := storePath(t)
	ran(t, "sessions", "--store", store).ends(t, exitFailed).says(t, "there is no store "+store)
	ran(t, "view", "--session", "s", "--store", store).ends(t, exitFailed).says(t, "there is no store "+store)
	require.NoFileExists(t, store, "looking makes no store")
	ran(t, "check", "--store", store).ends(t, exitFailed).says(t, "there is no store "+store)
	ran(t, "check", "--store", file(t, "x.db", "no store")).ends(t, exitFailed).says(t, "is damaged, or no store of compactord")
}

func TestCheckFindsDamage(t *testing.T) {
	store := storePath(t)
	ran(t, "import", talkFile(t), "--session", "s", "--store", store).ends(t, exitDone)
	require.Contains(t, document(t, ran(t, "check", "--store", store, "--json").ends(t, exitDone).out), "problems")
	content, err := os.ReadFile(store)
	require.NoError(t, err)
	// A message that is not what its head counted.
	damaged := bytes.ReplaceAll(content, []byte("Fix the failing test number 7 in"), []byte("Fix the failing test number 7 \xff\xfe"))
	require.NotEqual(t, content, damaged)
	require.NoError(t, os.WriteFile(store, damaged, 0o600))
	r := ran(t, "check", "--store", store).ends(t, exitFailed).says(t, " found in "+store)
	require.NotEmpty(t, r.out)
	r = ran(t, "check", "--store", store, "--json").ends(t, exitFailed)
	problems, ok := at(t, document(t, r.out), "problems").([]any)
	require.True(t, ok)
	require.NotEmpty(t, problems)
}
