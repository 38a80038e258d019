package transcript

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf16"

	"google.golang.org/protobuf/types/known/timestamppb"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var (
	emptyCompaction = leftOut("compaction without a summary", "compactions without a summary")
	summaryCut      = noteText{one: "1 summary cut to 4 MiB", many: "%d summaries cut to 4 MiB"}
	keptUnknown     = noteText{
		one:  "1 compaction whose first kept message is unknown or missing keeps only what follows it",
		many: "%d compactions whose first kept message is unknown or missing keep only what follows them",
	}
)

// compaction is a compaction that a source made.
type compaction struct {
	// tool is the tool that made it.
	tool    string
	summary string
	// firstKept is an index into the source's messages. Where it equals their number so far, only later messages were
	// kept.
	firstKept    uint32
	tokensBefore uint32
	read         []string
	modified     []string
	at           *timestamppb.Timestamp
}

// entry makes a record. ok is false where there is no summary, which is noted.
func (c compaction) entry(notes *noteCounter) (e entry, ok bool) {
	if strings.TrimSpace(c.summary) == "" {
		notes.add(emptyCompaction)
		return entry{}, false
	}
	summary := cut(c.summary, maxSummary)
	if len(summary) < len(c.summary) {
		notes.add(summaryCut)
	}
	return entry{record: &compactordv1.ImportedRecord{
		Kind: &compactordv1.ImportedRecord_Compaction{Compaction: &compactordv1.ImportedCompaction{
			Summary:        summary,
			FirstKeptIndex: c.firstKept,
			TokensBefore:   c.tokensBefore,
			Tool:           c.tool,
			Files:          fileLists(c.read, c.modified),
			CreatedAt:      c.at,
		}},
	}}, true
}

// checkpoint makes a record of a checkpoint.
func checkpoint(title string) entry {
	return entry{record: &compactordv1.ImportedRecord{
		Kind: &compactordv1.ImportedRecord_Checkpoint{
			Checkpoint: &compactordv1.ImportedCheckpoint{Title: cut(title, maxTitle)},
		},
	}}
}

// fileLists returns the lists as a message of the contract. It returns nil where both are empty.
func fileLists(read, modified []string) *compactordv1.FileLists {
	changed := filePaths(modified)
	seen := slices.DeleteFunc(filePaths(read), func(path string) bool { return slices.Contains(changed, path) })
	if len(seen)+len(changed) == 0 {
		return nil
	}
	return &compactordv1.FileLists{Read: seen, Modified: changed}
}

// filePaths sorts paths by UTF-16 code unit, without repetitions.
func filePaths(paths []string) []string {
	paths = slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return path == "" || len(path) > maxPath })
	slices.SortFunc(paths, func(a, b string) int {
		return cmp.Or(slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b))), strings.Compare(a, b))
	})
	return slices.Compact(paths)
}
