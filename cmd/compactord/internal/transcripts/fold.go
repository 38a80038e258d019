package transcripts

import (
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// foldFlags say which messages to fold in place of a compaction.
type foldFlags struct {
	Fold     string `help:"Fold these messages, by their indexes, into one text where they stand: whole turns, or whole tool groups within one turn. Without LAST: up to the end." placeholder:"FIRST-LAST"`
	FoldText string `help:"The text of the fold; without it, the summarizer writes one." placeholder:"TEXT"`
}

// foldRange returns the range to fold; nil where none is named.
func (f *foldFlags) foldRange(reason string) (*compactordv1.FoldRange, error) {
	switch {
	case f.Fold == "" && f.FoldText == "":
		return nil, nil
	case f.Fold == "":
		return nil, terminal.Usagef("--fold-text needs --fold")
	case reason != "manual":
		return nil, terminal.Usagef("--fold needs --reason manual")
	}
	first, last, found := strings.Cut(f.Fold, "-")
	start, err := strconv.ParseUint(first, 10, 32)
	if err != nil || !found {
		return nil, terminal.Usagef("--fold: %q is not FIRST-LAST, such as 12-40", f.Fold)
	}
	r := &compactordv1.FoldRange{From: &compactordv1.FoldRange_Start{Start: uint32(start)}, Text: f.FoldText}
	if last == "" {
		return r, nil
	}
	end, err := strconv.ParseUint(last, 10, 31)
	if err != nil {
		return nil, terminal.Usagef("--fold: %q is not FIRST-LAST, such as 12-40", f.Fold)
	}
	r.End = proto.Uint32(uint32(end) + 1)
	return r, nil
}
