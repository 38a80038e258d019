package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// compactedLife is a store with a session of many turns that was compacted, and has gone on since.
func compactedLife(t *testing.T) func(args ...string) answer {
	t.Helper()
	store := storePath(t)
	on := func(args ...string) answer { return ran(t, append(args, "--store", store)...) }
	on("import", file(t, "talk.jsonl", talk(60)), "--session", "s", "-q").ends(t, exitDone)
	on("compact", "--session", "s", "--keep-recent-tokens", "2000", "-q").ends(t, exitDone)
	return on
}

const grows = "The context grows from "

// A revert that took back two turns doubled the context without a word, since the compaction went with them.
func TestRevertThatUndoesACompactionSaysSoBefore(t *testing.T) {
	on := compactedLife(t)
	r := on("revert", "--session", "s", "--turns", "12").ends(t, exitDone)
	r.says(t, "This undoes:\n  compaction: summarized #0 to #").says(t, grows)
	require.Less(t, strings.Index(r.err, "This undoes:"), strings.Index(r.err, grows))

	// What brings the compaction back makes the context smaller, and its undo is a growth again.
	r = on("undo", "--session", "s").ends(t, exitDone)
	require.NotContains(t, r.err, grows)
	on("undo", "--session", "s", "--json").ends(t, exitDone).says(t, grows)
	require.NotContains(t, on("undo", "--session", "s").ends(t, exitDone).err, grows)
	on("revert", "--session", "s", "--to-point", "12", "--yes").ends(t, exitDone)

	// A clear puts aside all but the instructions: it can only take away.
	require.NotContains(t, on("clear", "--session", "s").ends(t, exitDone).err, grows)
	require.NotContains(t, on("undo", "--session", "s").ends(t, exitDone).err, grows, "what was cleared is wanted back")
}

// Hidden results come back as a compaction's messages do.
func TestUndoOfAPruneSaysThatTheContextGrows(t *testing.T) {
	store := storePath(t)
	on := func(args ...string) answer { return ran(t, append(args, "--store", store)...) }
	on("import", file(t, "long.jsonl", talk(300)), "--session", "s", "-q").ends(t, exitDone)
	on("prune", "--session", "s", "-q").ends(t, exitDone)
	on("undo", "--session", "s").ends(t, exitDone).says(t, "This undoes:\n  prune: ").says(t, grows)
}

// asked runs the program for a person who types an answer.
func asked(t *testing.T, typed string, args ...string) answer {
	t.Helper()
	return runWith(t.Context(), &app{terminal: terminal{stdin: strings.NewReader(typed), asks: true}}, args...)
}

func TestRevertThatGrowsTheContextAsks(t *testing.T) {
	store := storePath(t)
	on := func(args ...string) []string { return append(args, "--session", "s", "--store", store) }
	ran(t, on("import", file(t, "talk.jsonl", talk(60)), "-q")...).ends(t, exitDone)
	ran(t, on("compact", "--keep-recent-tokens", "2000", "-q")...).ends(t, exitDone)
	before := ran(t, on("records", "--json", "-q")...).ends(t, exitDone).out
	for _, typed := range []string{"n\n", "\n", "", "no thanks\n", "yesterday\n"} {
		r := asked(t, typed, on("revert", "--turns", "12")...).ends(t, exitFailed)
		r.says(t, grows).says(t, "Go on? [y/N] ").says(t, "compactord: nothing was changed\n")
		require.Empty(t, r.out)
	}
	require.Equal(t, before, ran(t, on("records", "--json", "-q")...).ends(t, exitDone).out)
	for _, typed := range []string{"y\n", " YES \n", "yes"} {
		contains(t, asked(t, typed, on("revert", "--turns", "12")...).ends(t, exitDone).out, "Reverted session s")
		// Nothing grows, so nothing is asked.
		asked(t, "", on("undo")...).ends(t, exitDone)
	}
	require.NotContains(t, asked(t, "", on("undo", "-y")...).ends(t, exitDone).err, "Go on?")
}

func TestDelete(t *testing.T) {
	store := storePath(t)
	on := func(args ...string) []string { return append(args, "--session", "s", "--store", store) }
	imported := func() {
		ran(t, on("import", file(t, "talk.jsonl", talk(2)), "-q")...).ends(t, exitDone)
	}
	imported()
	ran(t, on("delete")...).ends(t, exitUsage).says(t, "nobody can be asked here").
		says(t, "\nIf that is meant: compactord delete --session s --store "+store+" --yes\n")
	asked(t, "n\n", on("delete")...).ends(t, exitFailed).
		says(t, "Delete session s with 8 messages for good? [y/N] ").says(t, "compactord: nothing was changed\n")
	ran(t, on("view")...).ends(t, exitDone)
	require.Equal(t, "Deleted session s with 8 messages.\n", asked(t, "y\n", on("delete")...).ends(t, exitDone).out)
	ran(t, on("view")...).ends(t, exitFailed).says(t, "(SESSION_NOT_FOUND)")
	ran(t, on("delete", "--yes")...).ends(t, exitFailed).says(t, "(SESSION_NOT_FOUND)")
	imported()
	document(t, ran(t, on("delete", "--yes", "--json")...).ends(t, exitDone).out)

	d := serving(t, "--listen", "127.0.0.1:0", "--store", storePath(t))
	ran(t, "import", file(t, "talk.jsonl", talk(2)), "--session", "s", "--addr", d.addr, "-q").ends(t, exitDone)
	ran(t, "delete", "--session", "s", "--addr", d.addr, "-y").ends(t, exitDone)
	contains(t, ran(t, "sessions", "--addr", d.addr).ends(t, exitDone).out, "There are no sessions.")
	require.Equal(t, exitDone, d.stop())
}

// What is in force at a point is what a reader of the log finds who carries out one record after the other.
func TestRewritesInForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint32Range(1, 30).Draw(t, "records")
		var records []*compactordv1.Record
		inForce := make(map[uint32][]uint32)
		var now []uint32
		for sequence := range n {
			r := &compactordv1.Record{Sequence: sequence}
			switch kind := rapid.IntRange(0, 3).Draw(t, "kind"); {
			case kind == 0:
				r.Kind = &compactordv1.Record_Compaction{Compaction: &compactordv1.CompactionEntry{}}
				now = append([]uint32{sequence}, now...)
			case kind == 1:
				r.Kind = &compactordv1.Record_Prune{Prune: &compactordv1.PruneEntry{}}
				now = append([]uint32{sequence}, now...)
			case kind == 2 && sequence > 0:
				point := rapid.Uint32Range(0, sequence-1).Draw(t, "point")
				r.Kind = &compactordv1.Record_Revert{Revert: &compactordv1.Revert{Point: point}}
				now = inForce[point]
			default:
				r.Kind = &compactordv1.Record_Pin{Pin: &compactordv1.Pin{}}
			}
			records = append(records, r)
			inForce[sequence] = now
		}
		for point := range n {
			var found []uint32
			for _, r := range rewritesInForce(records, point) {
				found = append(found, r.GetSequence())
			}
			require.Equal(t, inForce[point], found, "at point %d", point)
		}
	})
}
